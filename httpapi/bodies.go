package httpapi

import (
	"net/http"
	"sync"
	"time"
)

// slowestBody is the rate in bytes a second that a long body must keep.
const slowestBody = 64 << 10

// afterBody is the time that a connection may take after its body was read: for the response, and for
// anything that the client still sends.
const afterBody = 10 * time.Minute

// bodyWatch stops reading bodies that do not arrive in time. It uses one timer for all bodies. Nearly every body arrives
// at once, and setting a deadline on its connection would cost more than reading it.
type bodyWatch struct {
	mu    sync.Mutex
	first *reading // list of the bodies being read, in no order
	timer *time.Timer
	next  time.Time // when the timer goes off, zero when it does not
}

// reading is a body that is being read.
type reading struct {
	w          http.ResponseWriter
	until      time.Time // zero: it may take any time
	late       bool      // it was ended
	own        bool      // it has a deadline of its connection, and is not watched
	prev, next *reading
}

// deadline bounds how long the client of r may take from now on. Not every writer has a connection.
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

// remove ends the watch over r; its deadline is not touched afterwards.
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

// inTime runs what reads the body, to its last byte or not, and gives the client a time to send it.
func (c *call) inTime(read func() error, last bool) (err error) {
	c.startBody()
	defer func() { c.endBody(last, err) }()
	return read()
}

// startBody gives the client a time to send its body: BodyTimeout, and more for long ones.
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
	// A server with a shorter time for requests would cut the body or the answer off.
	srv, ok := c.r.Context().Value(http.ServerContextKey).(*http.Server)
	if c.body.own = ok && srv.ReadTimeout > 0 && srv.ReadTimeout < allowed+afterBody; c.body.own {
		c.body.deadline(c.body.until)
		return
	}
	c.api.bodies.add(&c.body)
}

// endBody gives the client a time for what follows the body.
func (c *call) endBody(last bool, err error) {
	r := &c.body
	if r.until.IsZero() {
		return
	}
	if !r.own {
		c.api.bodies.remove(r)
	}
	switch {
	case err != nil: // what may still come is not waited for any longer
		r.deadline(r.until)
	case r.own || r.late || !last:
		r.deadline(time.Now().Add(afterBody))
	}
}
