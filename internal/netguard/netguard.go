// Package netguard decides which addresses outgoing requests may reach. A
// target is judged twice: its literal host when it is saved, and the address
// that is really dialled, at every connection, so that a name that resolves to
// another address later gains nothing.
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

// ErrForbidden is returned for targets that may not be reached.
var ErrForbidden = errors.New("address is not public")

// blocked are the special-purpose ranges of IPv4 (IANA registry, RFC 6890 and later).
var blocked = mustPrefixes("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
	"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4")

// Of IPv6 only global unicast is allowed, less the special ranges inside it.
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

// Public tells whether an address is one of the public internet. An IPv4 address inside
// IPv6 is judged as IPv4; a zone makes it local.
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

// Policy says which addresses may be reached besides those of the public internet. The zero value is none.
type Policy struct {
	// Any lets every address be reached, over http as well.
	Any bool
	// Loopback lets this machine be reached, over http as well.
	Loopback bool
	// Networks lets the addresses in them be reached, over https.
	Networks []netip.Prefix
}

// Allows reports whether the policy lets an address be reached.
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

// CheckURL judges a target as it is saved: an absolute https URL without user
// information whose host is not a local name nor, in any notation, an address
// that the policy does not let be reached. Plain http is for this machine only, where the policy lets it be reached.
// Local names are allowed where the policy has networks: what they stand for is judged when it is dialled.
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

// plainHost is a host as an HTTP client would write it, in lower case and without the dot at its end.
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

// isLoopback reports whether a host is this machine by its name or address.
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

// isLocalName reports whether a name is of a kind that is resolved inside a network only.
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

// literal reads an address in every notation that resolvers take: dotted or short
// IPv4 with decimal, octal and hexadecimal parts, and IPv6.
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

// parseNumber reads a part as C resolvers do: 0x is hexadecimal, another leading zero octal.
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

// control refuses a connection to an address that the policy does not let be reached, after the name was
// resolved and before anything is sent.
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

// Dialer returns a dialer that reaches what the policy lets be reached.
func (p *Policy) Dialer() *net.Dialer {
	d := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	if !p.Any {
		d.ControlContext = p.control
	}
	return d
}

// Transport returns an HTTP transport that reaches what the policy lets be reached. It uses no proxy and keeps few
// connections.
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
