package netguard

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var none Policy

func TestPublic(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"8.8.8.8", "1.1.1.1", "172.15.255.255", "172.32.0.1", "100.63.255.255", "100.128.0.1", "192.167.1.1", "223.255.255.255",
		"2606:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8"} {
		t.Run(s, func(t *testing.T) {
			require.True(t, Public(netip.MustParseAddr(s)), s)
		})
	}
	for _, s := range []string{"0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.255.255.255", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.8",
		"192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "100::1", "2001::1", "2001:20::1", "2001:db8::1",
		"2002:7f00:1::1", "3fff::1", "5f00::1", "fc00::1", "fd12:3456::1", "fe80::1", "fec0::1", "ff02::1", "fe80::1%eth0", "2606:4700::1111%eth0"} {
		t.Run(s, func(t *testing.T) {
			require.False(t, Public(netip.MustParseAddr(s)), s)
		})
	}
	require.False(t, Public(netip.Addr{}))
}

func TestCheckURL(t *testing.T) {
	t.Parallel()
	for _, u := range []string{"https://hooks.example.com", "https://hooks.example.com:8443/a?b=c", "https://8.8.8.8/", "https://[2606:4700::1111]/x", "https://xn--bcher-kva.example/",
		"https://bücher.example/", "https://hooks.example.com./", "https://1.2.3.4.5.example/", "HTTPS://HOOKS.EXAMPLE.COM/"} {
		require.NoError(t, none.CheckURL(u), u)
	}
	for _, u := range []string{"", "hooks.example.com", "/x", "https:", "https://", "https:///x", "https:hooks.example.com", "http://hooks.example.com", "ftp://hooks.example.com", "file:///etc/passwd",
		"https://user@hooks.example.com", "https://user:pw@hooks.example.com", "https://hooks.example.com/#a", "https://hooks.example.com:0", "https://hooks.example.com:65536", "https://hooks.example.com:x",
		"https://localhost", "https://LOCALHOST:8080", "https://localhost.", "https://localhost..", "https://a.localhost", "https://printer", "https://db.internal", "https://nas.local", "https://x.home.arpa", "https://x.lan", "https://x.corp", "https://x.intranet",
		"https://127.0.0.1", "https://127.1", "https://127.0.1", "https://127.000.000.001", "https://0177.0.0.1", "https://017700000001", "https://2130706433", "https://0x7f000001", "https://0x7f.1", "https://0X7F.0.0.1",
		"https://0x7f.0x0.0x0.0x1", "https://0x0b.0.0.0.1.", "https://0xac1b0001", "https://0xc0.0xa8.0x0b.1", "https://10.1", "https://0", "https://0.0.0.0", "https://1", "https://192.168.257", "https://169.254.169.254/latest/meta-data",
		"https://3232235777", "https://030052000401", "https://127.0.0.1.", "https://１２７.0.0.1", "https://127。0。0。1", "https://ⓛocalhost",
		"https://[::1]", "https://[::]", "https://[::ffff:127.0.0.1]", "https://[::ffff:7f00:1]", "https://[0:0:0:0:0:0:0:1]", "https://[::127.0.0.1]", "https://[64:ff9b::7f00:1]", "https://[fe80::1]", "https://[fe80::1%25eth0]", "https://[fd00::1]", "https://[2002:7f00:1::]",
		"https://%31%32%37.0.0.1", "https://a b", "https://hooks.example.com\x00", "https://\xff.example.com", "https://hooks.example.com/" + strings.Repeat("x", 2048)} {
		t.Run(u, func(t *testing.T) {
			err := none.CheckURL(u)
			if u == "https://0x0b.0.0.0.1." { // five parts are a name, which cannot resolve
				require.NoError(t, err, u)
				return
			}
			require.Error(t, err, u)
			require.NotContains(t, err.Error(), "pw", u)
		})
	}
	any := &Policy{Any: true}
	for _, u := range []string{"http://localhost:8080/x", "https://127.0.0.1", "http://printer"} {
		require.NoError(t, any.CheckURL(u), u)
	}
	require.Error(t, any.CheckURL("http://user@localhost"))
	require.Error(t, any.CheckURL("ftp://localhost"))
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	loopback := &Policy{Loopback: true}
	networks := &Policy{Networks: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00:1::/32")}}
	both := &Policy{Loopback: true, Networks: networks.Networks}
	for _, c := range []struct {
		url                     string
		loopback, networks, all bool
	}{
		{"https://hooks.example.com", true, true, true},
		{"http://hooks.example.com", false, false, false},
		{"http://localhost:8080/x", true, false, true},
		{"http://a.localhost", true, false, true},
		{"https://localhost", true, false, true},
		{"http://127.0.0.1:1", true, false, true},
		{"http://127.1", true, false, true},
		{"http://0x7f000001", true, false, true},
		{"http://[::1]", true, false, true},
		{"http://[::ffff:127.0.0.1]", true, false, true},
		{"http://0.0.0.0", false, false, false},
		{"http://169.254.169.254/latest/meta-data", false, false, false},
		{"https://169.254.169.254/latest/meta-data", false, false, false},
		{"http://10.1.2.3", false, false, false},
		{"https://10.1.2.3", false, true, true},
		{"https://[::ffff:10.1.2.3]", false, true, true},
		{"https://0x0a010203", false, true, true},
		{"https://10.2.2.3", false, false, false},
		{"https://[fd00:1::1]", false, true, true},
		{"https://[fd00:1::1%25eth0]", false, false, false},
		{"https://[fd00:2::1]", false, false, false},
		{"https://hooks.internal", false, true, true},
		{"http://hooks.internal", false, false, false},
		{"http://localhost.example.com", false, false, false},
	} {
		t.Run(c.url, func(t *testing.T) {
			for _, p := range []struct {
				name string
				p    *Policy
				want bool
			}{{"loopback", loopback, c.loopback}, {"networks", networks, c.networks}, {"both", both, c.all}} {
				require.Equal(t, p.want, p.p.CheckURL(c.url) == nil, "%s, %s", c.url, p.name)
			}
		})
	}
	for _, c := range []struct {
		address            string
		loopback, networks bool
	}{{"127.0.0.1:1", true, false}, {"[::1]:1", true, false}, {"10.1.2.3:443", false, true}, {"[::ffff:10.1.2.3]:443", false, true}, {"10.2.2.3:443", false, false},
		{"169.254.169.254:80", false, false}, {"8.8.8.8:443", true, true}, {"[fd00:1::1]:443", false, true}, {"[fd00:1::1%eth0]:443", false, false}, {"0.0.0.0:80", false, false}} {
		t.Run(c.address, func(t *testing.T) {
			for name, want := range map[*Policy]bool{loopback: c.loopback, networks: c.networks} {
				require.Equal(t, want, name.control(t.Context(), "tcp4", c.address, nil) == nil, c.address)
			}
		})
	}
}

func FuzzCheckURL(f *testing.F) {
	for _, s := range []string{"https://127.0.0.1", "https://0x7f.1", "https://[::1%25a]", "https://１.1", "https://hooks.example.com"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if none.CheckURL(raw) != nil {
			return
		}
		require.True(t, len(raw) >= 8 && strings.EqualFold(raw[:8], "https://"), raw)
	})
}

// TestDialIsChecked: a name that resolves to a private address is refused when it is
// dialled, whatever it resolved to when it was saved.
func TestDialIsChecked(t *testing.T) {
	t.Parallel()
	hit := make(chan struct{}, 10)
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hit <- struct{}{} }))
	defer srv.Close()
	_, port, err := net.SplitHostPort(srv.Listener.Addr().String())
	require.NoError(t, err)
	get := func(rt http.RoundTripper, url string) error {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		require.NoError(t, err)
		res, err := rt.RoundTrip(req)
		if err == nil {
			_ = res.Body.Close()
		}
		return err
	}
	guarded, open := none.Transport(), (&Policy{Any: true}).Transport()
	defer guarded.CloseIdleConnections()
	defer open.CloseIdleConnections()
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]"} {
		t.Run(host, func(t *testing.T) {
			require.ErrorIs(t, get(guarded, "http://"+host+":"+port), ErrForbidden, host)
		})
	}
	require.Empty(t, hit)
	require.NoError(t, get(open, "http://127.0.0.1:"+port))
	require.Len(t, hit, 1)
	require.Nil(t, guarded.Proxy, "a proxy would resolve the name itself")
}

func TestControl(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		network, address string
		ok               bool
	}{{"tcp4", "8.8.8.8:443", true}, {"tcp6", "[2606:4700::1111]:443", true}, {"tcp4", "127.0.0.1:443", false}, {"tcp6", "[::1]:443", false}, {"tcp6", "[::ffff:10.0.0.1]:443", false},
		{"udp4", "8.8.8.8:443", false}, {"unix", "/run/x.sock", false}, {"tcp4", "name:443", false}, {"tcp6", "[fe80::1%eth0]:443", false}} {
		t.Run(c.network, func(t *testing.T) {
			err := none.control(context.Background(), c.network, c.address, nil)
			if c.ok {
				require.NoError(t, err, c.address)
			} else {
				require.ErrorIs(t, err, ErrForbidden, c.address)
			}
		})
	}
}
