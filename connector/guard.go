package connector

import (
	"context"
	"net"
	"net/http"

	"github.com/contextmem/contextmem/internal/netguard"
)

// GuardedTransport returns a transport for providers that fetch addresses which users name. It
// dials public addresses only, judged after the name was resolved and at every connection, redirects
// included; with local it dials any. It uses no proxy. Safe for concurrent use.
func GuardedTransport(local bool) http.RoundTripper {
	return (&netguard.Policy{Any: local}).Transport()
}

// GuardedDial is the same for providers that speak another protocol than HTTP: it returns a function that connects
// over TCP to public addresses only, or to any with local.
func GuardedDial(local bool) func(ctx context.Context, network, address string) (net.Conn, error) {
	return (&netguard.Policy{Any: local}).Dialer().DialContext
}
