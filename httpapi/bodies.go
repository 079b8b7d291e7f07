package httpapi

import (
	"net/http"
	"sync"
	"time"
)

// slowestBody is the minimal rate of a long body in bytes per second.
const slowestBody = 64 << 10

// afterBody is the time that a connection has after its body was read, for the response and for anything else that the client sends.
const afterBody = 10 * time.Minute

// bodyWatch stops reading bodies that do not arrive in time. It uses one timer for all bodies. Nearly every body arrives
// at once, and setting a deadline on its connection would cost more than reading it.
type bodyWatch struct {
	mu    sync.Mutex
	first *reading // unordered list of the bodies being read
	timer *time.Timer
	next  time.Time // time at which the timer fires; zero: the timer is stopped
}

// reading is a body that is being read.
type reading struct {
	w          http.ResponseWriter
	until      time.Time // zero: no limit
	late       bool      // reading was stopped
	own        bool      // the connection has a deadline of its own, so the body is not watched
	prev, next *reading
}

// deadline sets the read deadline of the connection of r. It does nothing if the response writer has no connection, as in tests.
func (r *reading) deadline(t time.Time) { _ = http.NewResponseController(r.w).SetReadDeadline(t) }

func (b *bodyWatch) add(r *reading) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.next = b.first; r.next != nil {
		r.next.prev = r
	}
	b.first = r
	if b.next.IsZero() || r.until.Before(b.next) {
		b.goOff(r.until)
	}
}

// remove stops watching r. The deadline of r is not changed afterwards.
func (b *bodyWatch) remove(r *reading) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.next != nil {
		r.next.prev = r.prev
	}
	if r.prev != nil {
		r.prev.next = r.next
	} else {
		b.first = r.next
	}
}

func (b *bodyWatch) goOff(at time.Time) {
	b.next = at
	if b.timer == nil {
		b.timer = time.AfterFunc(time.Until(at), b.check)
		return
	}
	b.timer.Reset(time.Until(at))
}

// check stops reading late bodies, and sets the timer to the next time at which a body may be late.
func (b *bodyWatch) check() {
	b.mu.Lock()
	defer b.mu.Unlock()
	now, next := time.Now(), time.Time{}
	for r := b.first; r != nil; r = r.next {
		switch {
		case r.late:
		case !r.until.After(now):
			r.late = true
			r.deadline(now)
		case next.IsZero() || r.until.Before(next):
			next = r.until
		}
	}
	if b.next = next; !next.IsZero() {
		b.goOff(next)
	}
}

// inTime limits the time in which the client must send the body that the function reads.
func (c *call) inTime(read func() error, last bool) (err error) {
	c.startBody()
	defer func() { c.endBody(last, err) }()
	return read()
}

// startBody sets the time in which the client must send its body: BodyTimeout, and more for long bodies.
func (c *call) startBody() {
	if c.api.o.BodyTimeout < 0 || c.r.ContentLength == 0 {
		return
	}
	size := c.r.ContentLength
	if size < 0 {
		size = max(c.api.o.MaxBodyBytes, 0)
	}
	allowed := c.api.o.BodyTimeout + time.Duration(size/slowestBody)*time.Second
	c.body.w, c.body.until = c.w, c.started.Add(allowed)
	// A server with a shorter request timeout would cut off the body or the response.
	srv, ok := c.r.Context().Value(http.ServerContextKey).(*http.Server)
	if c.body.own = ok && srv.ReadTimeout > 0 && srv.ReadTimeout < allowed+afterBody; c.body.own {
		c.body.deadline(c.body.until)
		return
	}
	c.api.bodies.add(&c.body)
}

// endBody sets the time limit for the connection after the body.
func (c *call) endBody(last bool, err error) {
	r := &c.body
	if r.until.IsZero() {
		return
	}
	if !r.own {
		c.api.bodies.remove(r)
	}
	switch {
	case err != nil: // do not wait any longer for remaining data
		r.deadline(r.until)
	case r.own || r.late || !last:
		r.deadline(time.Now().Add(afterBody))
	}
}
