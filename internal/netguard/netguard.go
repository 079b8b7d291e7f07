// Package netguard decides which addresses outgoing requests may reach. It checks the literal host of a target when the target
// is saved. It also checks the dialled address of every connection, so that a later change of a name's address does not bypass
// the check.
package netguard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"golang.org/x/net/idna"
)

// ErrForbidden is returned for targets that must not be reached.
var ErrForbidden = errors.New("address is not public")

// blocked are the special-purpose ranges of IPv4 (IANA registry, RFC 6890 and later).
var blocked = mustPrefixes("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
	"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4")

// For IPv6, only global unicast without its special ranges is allowed.
var (
	global6  = netip.MustParsePrefix("2000::/3")
	blocked6 = mustPrefixes("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")
)

func mustPrefixes(ss ...string) []netip.Prefix {
	ps := make([]netip.Prefix, len(ss))
	for i, s := range ss {
		ps[i] = netip.MustParsePrefix(s)
	}
	return ps
}

// Public reports whether an address belongs to the public internet. An IPv4 address inside IPv6 is checked as IPv4. An address
// with a zone is local.
func Public(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" {
		return false
	}
	a = a.Unmap()
	list := blocked
	if a.Is6() {
		if !global6.Contains(a) {
			return false
		}
		list = blocked6
	}
	for _, p := range list {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// Policy lists addresses that may be reached in addition to the public internet. The zero value adds none.
type Policy struct {
	// Any allows every address, also over http.
	Any bool
	// Loopback allows this machine, also over http.
	Loopback bool
	// Networks allows the addresses in these networks, over https.
	Networks []netip.Prefix
}

// Allows reports whether the policy allows an address.
func (p *Policy) Allows(a netip.Addr) bool {
	if p.Any || Public(a) {
		return true
	}
	if !a.IsValid() || a.Zone() != "" {
		return false
	}
	a = a.Unmap()
	return p.Loopback && a.IsLoopback() || slices.ContainsFunc(p.Networks, func(n netip.Prefix) bool { return n.Contains(a) })
}

// CheckURL validates a target when it is saved. The target must be an absolute https URL without user information. Its host
// must not be a local name or a forbidden address in any notation. Plain http is allowed only for this machine, if the policy
// allows this machine. Local names are allowed if the policy has networks, since their address is checked when it is dialled.
func (p *Policy) CheckURL(raw string) error {
	if len(raw) > 2048 {
		return errors.New("is over 2048 bytes")
	}
	u, err := url.Parse(raw)
	if err != nil {
		return errors.New("is not a URL")
	}
	host := u.Hostname()
	switch {
	case u.Opaque != "" || host == "" || !u.IsAbs():
		return errors.New("must be an absolute URL with a host")
	case u.User != nil:
		return errors.New("must not hold user information")
	case u.Fragment != "":
		return errors.New("must not hold a fragment")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return errors.New("has a port out of range")
		}
	}
	name, err := plainHost(host)
	if err != nil {
		return err
	}
	loopback := isLoopback(name)
	switch {
	case u.Scheme == "http" && (p.Any || p.Loopback && loopback), u.Scheme == "https":
	case u.Scheme == "http" && p.Loopback:
		return errors.New("must use https: http is for this machine only")
	default:
		return errors.New("must use https")
	}
	if p.Any || p.Loopback && loopback {
		return nil
	}
	return p.checkHost(name)
}

// plainHost returns the host as HTTP clients write it, in lower case and without a trailing dot.
func plainHost(host string) (string, error) {
	h := strings.ToLower(strings.TrimRight(host, "."))
	if strings.IndexFunc(h, func(r rune) bool { return r > unicode.MaxASCII }) >= 0 {
		a, err := idna.Lookup.ToASCII(h)
		if err != nil {
			return "", errors.New("has a host that is not a valid name")
		}
		h = strings.TrimRight(a, ".")
	}
	return h, nil
}

// isLoopback reports whether a host is a name or address of this machine.
func isLoopback(h string) bool {
	a, ok := literal(h)
	return ok && a.Zone() == "" && a.Unmap().IsLoopback() || h == "localhost" || strings.HasSuffix(h, ".localhost")
}

func (p *Policy) checkHost(h string) error {
	if a, ok := literal(h); ok {
		if !p.Allows(a) {
			return ErrForbidden
		}
		return nil
	}
	if isLoopback(h) || len(p.Networks) == 0 && isLocalName(h) {
		return fmt.Errorf("names a local host: %w", ErrForbidden)
	}
	return nil
}

// isLocalName reports whether a name is of a kind that resolves only inside a private network.
func isLocalName(h string) bool {
	if !strings.ContainsAny(h, ".:") {
		return true
	}
	for _, s := range [...]string{".local", ".internal", ".lan", ".home", ".home.arpa", ".intranet", ".corp"} {
		if strings.HasSuffix(h, s) {
			return true
		}
	}
	return false
}

// literal parses an address in every notation that resolvers accept: IPv6, and dotted or short IPv4 with decimal, octal and
// hexadecimal parts.
func literal(h string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(h); err == nil {
		return a, true
	}
	parts := strings.Split(h, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var v uint64
	for i, p := range parts {
		n, err := parseNumber(p)
		if err != nil {
			return netip.Addr{}, false
		}
		if i == len(parts)-1 {
			rest := uint(8 * (5 - len(parts)))
			if n >= 1<<rest {
				return netip.Addr{}, false
			}
			v = v<<rest | n
		} else {
			if n > 255 {
				return netip.Addr{}, false
			}
			v = v<<8 | n
		}
	}
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}), true
}

// parseNumber parses a part as C resolvers do: the prefix 0x means hexadecimal, any other leading zero octal.
func parseNumber(p string) (uint64, error) {
	lower := strings.ToLower(p)
	switch {
	case strings.HasPrefix(lower, "0x"):
		return strconv.ParseUint(lower[2:], 16, 64)
	case len(p) > 1 && p[0] == '0':
		return strconv.ParseUint(p[1:], 8, 64)
	}
	return strconv.ParseUint(p, 10, 64)
}

// control rejects a connection to a forbidden address. It runs after name resolution and before anything is sent.
func (p *Policy) control(_ context.Context, network, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return ErrForbidden
	}
	if network != "tcp4" && network != "tcp6" || !p.Allows(ap.Addr()) {
		return ErrForbidden
	}
	return nil
}

// Dialer returns a dialer that connects only to allowed addresses.
func (p *Policy) Dialer() *net.Dialer {
	d := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	if !p.Any {
		d.ControlContext = p.control
	}
	return d
}

// Transport returns an HTTP transport that connects only to allowed addresses. It uses no proxy and keeps few idle connections.
func (p *Policy) Transport() *http.Transport {
	return &http.Transport{
		Proxy:                  nil,
		DialContext:            p.Dialer().DialContext,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           64,
		MaxIdleConnsPerHost:    2,
		MaxResponseHeaderBytes: 64 << 10,
		IdleConnTimeout:        60 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		ResponseHeaderTimeout:  15 * time.Second,
		ExpectContinueTimeout:  time.Second,
	}
}
