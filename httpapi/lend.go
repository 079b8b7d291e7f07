package httpapi

import (
	"context"
	"sync"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/reuse"
)

// desk is the memory of a request, which later requests reuse.
type desk struct {
	slot  *reuse.Slot // memory of a recall and its result
	lent  bool        // whether this request uses slot
	given members     // members of the request body
	v1    v1RecallRequest
	v2    queryRequest
	mixed hybridOptions
	dated contextmem.Temporal
}

// desks pools the memory of requests. The pool saves a quarter of the processor time of recalls of small tenants.
var desks = sync.Pool{New: func() any { return new(call) }}

// maxDesk is the capacity above which the list of body members is not returned to the pool.
const maxDesk = 64

// release returns the memory of a finished request to the pool. After a panic the memory is not used again.
func (c *call) release() {
	d := &c.desk
	if d.lent {
		d.slot.Reset()
	}
	if cap(d.given.list) > maxDesk {
		d.given.list = nil
	}
	clear(d.given.list)
	*c = call{desk: desk{slot: d.slot, given: members{list: d.given.list[:0]}}}
	desks.Put(c)
}

// lend returns a context for a recall that uses the pooled memory. The result must not be used after the response is written.
func (c *call) lend() context.Context {
	if c.slot == nil {
		c.slot = new(reuse.Slot)
	}
	c.lent = true
	return reuse.With(c.ctx, c.slot)
}
