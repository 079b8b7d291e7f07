package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// absolute converts a URL of this handler to an absolute one with the address that the caller used. Absolute URLs are unchanged.
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

// trusts reports whether an address belongs to a trusted proxy.
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

// nearest returns the last value of a header with several values. The trusted proxy added it; the caller may have sent the others.
func nearest(s string) string { return strings.TrimSpace(s[strings.LastIndexByte(s, ',')+1:]) }

// plainHost reports whether s consists only of a host and an optional port.
func plainHost(s string) bool {
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && strings.IndexByte(".-_:[]", c) < 0 {
			return false
		}
	}
	return s != ""
}
