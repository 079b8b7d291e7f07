package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// absolute is a URL of this handler with the address under which the caller reached it, unless it has one.
func (c *call) absolute(path string) string {
	if !strings.HasPrefix(path, "/") {
		return path
	}
	scheme, host := "http", c.r.Host
	if c.r.TLS != nil {
		scheme = "https"
	}
	prefix := mountedAt(c.r)
	if c.api.trusts(c.r.RemoteAddr) {
		h := c.r.Header
		if s := nearest(h.Get("X-Forwarded-Proto")); s == "http" || s == "https" {
			scheme = s
		}
		if s := nearest(h.Get("X-Forwarded-Host")); s != "" {
			host = s
		}
		if s := strings.TrimSuffix(nearest(h.Get("X-Forwarded-Prefix")), "/"); strings.HasPrefix(s, "/") {
			prefix = s + prefix
		}
	}
	if !plainHost(host) {
		return path
	}
	return scheme + "://" + host + prefix + path
}

// mountedAt returns the prefix that the program has removed from the path; see http.StripPrefix.
func mountedAt(r *http.Request) string {
	asked, _, _ := strings.Cut(r.RequestURI, "?")
	prefix, ok := strings.CutSuffix(asked, r.URL.EscapedPath())
	if !ok || !strings.HasPrefix(prefix, "/") || strings.HasPrefix(prefix, "//") {
		return ""
	}
	return prefix
}

// trusts reports whether an address is that of a proxy whose headers count.
func (a *api) trusts(remote string) bool {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	ip = ip.Unmap()
	for _, p := range a.o.TrustedProxies {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}

// nearest is the last of several values in one header: that of the proxy which is trusted. The others may be the caller's.
func nearest(s string) string { return strings.TrimSpace(s[strings.LastIndexByte(s, ',')+1:]) }

// plainHost reports whether s is a host, with a port or not, and nothing else.
func plainHost(s string) bool {
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && strings.IndexByte(".-_:[]", c) < 0 {
			return false
		}
	}
	return s != ""
}
