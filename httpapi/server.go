package httpapi

import (
	"net/http"
	"time"
)

// Bounds of the connections of a server that NewServer makes.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 30 * time.Minute // of a body that the handler does not want, too
	writeTimeout      = 5 * time.Minute
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
)

// NewServer returns a server for h, ready for Serve, whose connections are bounded: headers arrive
// within 10 s and have at most 64 KiB, a request takes at most 30 min, an answer 5 min, and an idle connection stays
// 2 min. Bodies are bounded more tightly by the handler, see Options.BodyTimeout. A server of your own that
// mounts the handler should set at least ReadHeaderTimeout and ReadTimeout, or clients that send a
// byte now and then keep their connections for ever.
func NewServer(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes}
}
