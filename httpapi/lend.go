package httpapi

import (
	"context"
	"sync"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/reuse"
)

// desk is the memory of a request, which the next one uses again.
type desk struct {
	slot  *reuse.Slot // with the memory of a recall and its result
	lent  bool        // this request uses slot
	given members     // by the body of the request
	v1    v1RecallRequest
	v2    queryRequest
	mixed hybridOptions
	dated contextmem.Temporal
}

// desks saves recalls of small tenants a quarter of their processor time.
var desks = sync.Pool{New: func() any { return new(call) }}

// maxDesk keeps the memory of a rare large request from being kept.
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

// lend returns a context for a recall whose result is written as the answer, and not used after that.
func (c *call) lend() context.Context {
	if c.slot == nil {
		c.slot = new(reuse.Slot)
	}
	c.lent = true
	return reuse.With(c.ctx, c.slot)
}
