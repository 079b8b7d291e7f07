package httpapi

import (
	"errors"
	"io"
	"sync/atomic"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
)

const (
	freeBody  = 64 << 10 // bytes of each request that are not counted
	firstRead = 4 << 10
	mostRead  = 1 << 20
)

// held counts the bytes of request bodies in memory, over all requests of a handler.
type held struct {
	limit int64 // negative: no limit
	used  atomic.Int64
}

// take counts n bytes unless the total would exceed the limit.
func (h *held) take(n int64) bool {
	if h.used.Add(n) > h.limit && h.limit >= 0 && n > 0 {
		h.used.Add(-n)
		return false
	}
	return true
}

// hold counts n more bytes for the request. A negative n releases bytes.
func (c *call) hold(n int) bool {
	counted := func(n int) int { return max(0, n-freeBody) }
	if more := counted(c.in.held+n) - counted(c.in.held); more != 0 && !c.api.held.take(int64(more)) {
		return false
	}
	c.in.held += n
	return true
}

// cleanup removes the temporary files of a request, and releases its share of the memory for bodies.
func (c *call) cleanup() {
	for _, f := range c.in.files {
		f.remove()
	}
	c.hold(-c.in.held)
}

// errHeld is returned if bodies of other requests use up the memory for bodies.
var errHeld = &contextmem.Error{Kind: fault.KindUnavailable, Err: errors.New("too many large requests at once")}

// readHeld reads at most limit bytes of r and counts them as held memory. over reports whether r has more. It
// reads a long body in pieces and does not copy it while it grows, so a body over the limit costs no more than limit.
func (c *call) readHeld(r io.Reader, limit int) (body []byte, over bool, err error) {
	var full [][]byte
	size, first := 0, firstRead
	if n := c.r.ContentLength; n >= 0 && n < firstRead {
		first = int(n) + 1 // one extra byte, so that the end of the body is detected in the same read
	}
	for next := first; ; next = min(2*next, mostRead) {
		part := make([]byte, min(next, limit-size+1))
		if !c.hold(len(part)) {
			return nil, false, errHeld
		}
		n := 0
		for n < len(part) && err == nil {
			var m int
			m, err = r.Read(part[n:])
			n += m
		}
		size += n
		if size > limit {
			return nil, true, nil
		}
		if err == nil {
			full = append(full, part)
			continue
		}
		if err != io.EOF { // an early end is another error
			return nil, false, err
		}
		if len(full) == 0 {
			return part[:n], false, nil
		}
		body = make([]byte, 0, size)
		for _, f := range full {
			body = append(body, f...)
		}
		return append(body, part[:n]...), false, nil
	}
}
