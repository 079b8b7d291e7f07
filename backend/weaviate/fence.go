package weaviate

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// fence keeps a process that has lost the lead from writing. A process may be suspended at any moment, and another one leads
// when it continues. So the lead is checked before each request that writes, and again while the request is being sent. A
// request that ends after the lead has ended may have been carried out after the writes of the next leader: the process
// then says so in its state; see index.confess.
type fence struct {
	leads func() bool // reports whether the process still leads
	late  func()      // called if a request may be carried out after the lead has ended
}

// certainWait is how long a write waits for the process to be certain again that it leads.
const certainWait = time.Second

// errNotLeader is returned instead of a write if the process is not certain to lead.
var errNotLeader = fmt.Errorf("weaviate: another process may apply changes: %w", backend.ErrUnavailable)

// newFence returns the fence of this process's writes: nil if there is no agreed leader. The caller holds mu.
func (x *index) newFence() *fence {
	if x.role != leader {
		return nil
	}
	return &fence{x.stillLeads, func() { x.wroteLate.Store(true) }}
}

// begin checks the lead before a request. The returned context has the lead checked while the request is being sent.
func (f *fence) begin(ctx context.Context) (context.Context, error) {
	if f == nil {
		return ctx, nil
	}
	if !tryFor(ctx, certainWait, f.leads) {
		f.late()
		return nil, errNotLeader
	}
	return context.WithValue(ctx, fenceKey{}, f.leads), nil
}

// end checks the lead after a request.
func (f *fence) end() {
	if f != nil && !f.leads() {
		f.late()
	}
}

type fenceKey struct{}

// fencedTransport is the transport of a cluster's client. It reads the body of a write, and so sends it, only while the
// process leads. A cluster does not carry out a request whose body is cut off.
type fencedTransport struct{ http.RoundTripper }

func (t fencedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	leads, ok := r.Context().Value(fenceKey{}).(func() bool)
	if !ok {
		return t.RoundTripper.RoundTrip(r)
	}
	r = r.Clone(r.Context())
	if r.Body == nil || r.Body == http.NoBody { // a deletion by id
		const empty = "{}"
		r.ContentLength = int64(len(empty))
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(empty)), nil }
		r.Body, _ = r.GetBody() // never fails
	}
	r.Body = &fencedBody{r.Body, leads}
	if again := r.GetBody; again != nil {
		r.GetBody = func() (io.ReadCloser, error) {
			body, err := again()
			return &fencedBody{body, leads}, err
		}
	}
	return t.RoundTripper.RoundTrip(r)
}

// CloseIdleConnections closes those of the inner transport.
func (t fencedTransport) CloseIdleConnections() {
	if c, ok := t.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// fencedClient returns a copy of a client whose transport is fenced.
func fencedClient(c *http.Client) *http.Client {
	out := *c
	if out.Transport == nil {
		out.Transport = http.DefaultTransport
	}
	out.Transport = fencedTransport{out.Transport}
	return &out
}

// fencedBody is the body of a write.
type fencedBody struct {
	io.ReadCloser
	leads func() bool
}

func (b *fencedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if !b.leads() {
		return 0, errNotLeader
	}
	return n, err
}

// confess stores the state of this process once more, marked as ended, if it may have written after its lead has ended and
// has unfinished work. The leader then stores that work again once nothing of it can be carried out any more, although it
// may have completed it before. The caller holds mu.
func (x *index) confess(ctx context.Context) error {
	if !x.wroteLate.Load() {
		return nil
	}
	if x.role == leader && x.stillLeads() { // it was not certain for a moment, and goes on itself
		x.wroteLate.Store(false)
		return nil
	}
	if x.ownState.unfinished() {
		s := x.ownState
		s.Ended = true
		if err := x.storeState(ctx, target{route: route{timeout: oneTimeout}, level: levelQuorum}, s); err != nil {
			return err
		}
		x.ownState.Ended = false
	}
	x.wroteLate.Store(false)
	return nil
}
