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

// slowestBody is the rate in bytes a second that a long body must keep.
const slowestBody = 64 << 10

// afterBody is how long a connection may take for what follows a body that was read: the answer, and
// what the client still sends.
const afterBody = 10 * time.Minute

// boundBody gives the client a time to send its body: BodyTimeout, and more for long ones. The
// function that it returns is for a body that was read: it gives the answer its time.
func (c *call) boundBody() (read func()) {
	if c.api.o.BodyTimeout < 0 || c.r.ContentLength == 0 {
		return func() {}
	}
	size := c.r.ContentLength
	if size < 0 {
		size = max(c.api.o.MaxBodyBytes, 0)
	}
	rc := http.NewResponseController(c.w)
	if rc.SetReadDeadline(time.Now().Add(c.api.o.BodyTimeout+time.Duration(size/slowestBody)*time.Second)) != nil {
		return func() {} // a writer without a connection
	}
	return func() { _ = rc.SetReadDeadline(time.Now().Add(afterBody)) }
}
