package contextmem

import (
	"net/http"

	"github.com/contextmem/contextmem/internal/netguard"
)

// GuardedTransport returns a transport for providers that fetch addresses which users name. It
// dials public addresses only, judged after the name was resolved and at every connection, redirects
// included; with local it dials any. It uses no proxy. Safe for concurrent use.
func GuardedTransport(local bool) http.RoundTripper { return netguard.Transport(local) }
