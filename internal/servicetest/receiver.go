package servicetest

import (
	"io"
	"net/http"
	"sync/atomic"
)

// Delivery is a request received by a webhook receiver.
type Delivery struct {
	Header http.Header
	Body   []byte
}

// Receiver is a transport in place of a receiver. It passes on each request and answers when released.
type Receiver struct {
	Got    chan Delivery
	Hold   chan struct{} // nil: answers at once
	active atomic.Int32
	Most   atomic.Int32
}

// RoundTrip implements http.RoundTripper.
func (r *Receiver) RoundTrip(req *http.Request) (*http.Response, error) {
	n := r.active.Add(1)
	defer r.active.Add(-1)
	for m := r.Most.Load(); n > m && !r.Most.CompareAndSwap(m, n); m = r.Most.Load() {
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	select {
	case r.Got <- Delivery{req.Header.Clone(), body}:
	default:
	}
	if r.Hold != nil {
		select {
		case <-r.Hold:
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
	}
	return &http.Response{StatusCode: http.StatusNoContent, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
}
