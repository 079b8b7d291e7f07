package connector

import (
	"context"
	"net"
	"net/http"

	"github.com/contextmem/contextmem/internal/netguard"
)

// GuardedTransport returns a transport for providers that fetch addresses named by users. It connects to public addresses
// only, or to any address when local is true. It checks the resolved address of every connection, redirects included.
// It uses no proxy. It is safe for concurrent use.
func GuardedTransport(local bool) http.RoundTripper {
	return (&netguard.Policy{Any: local}).Transport()
}

// GuardedDial returns a TCP dial function with the checks of GuardedTransport, for protocols other than HTTP. It connects
// to public addresses only, or to any address when local is true.
func GuardedDial(local bool) func(ctx context.Context, network, address string) (net.Conn, error) {
	return (&netguard.Policy{Any: local}).Dialer().DialContext
}
