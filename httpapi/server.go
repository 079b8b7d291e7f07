package httpapi

import (
	"net/http"
	"time"
)

// Connection limits of a server made by NewServer.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 30 * time.Minute // of a body that the handler does not want, too
	writeTimeout      = 5 * time.Minute
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
)

// NewServer returns a server for h with connection limits. Headers must arrive within 10 s and have at most 64 KiB.
// A request may take 30 min, a response 5 min, and an idle connection is closed after 2 min.
// The handler limits bodies more strictly; see Options.BodyTimeout.
// Any other server that mounts the handler should set at least ReadHeaderTimeout and ReadTimeout. Without them, a client that sends a
// byte now and then keeps its connection forever.
func NewServer(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes}
}
