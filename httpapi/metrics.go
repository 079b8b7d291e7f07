package httpapi

import (
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// tallies counts answers by organisation, for GET /metrics. Counting takes no lock once an
// organisation is known.
type tallies struct {
	begun time.Time
	by    atomic.Pointer[map[string]*tally] // replaced, never changed
	mu    sync.Mutex                        // held while it is replaced
}

// tally is how many requests of an organisation were answered, by class of status.
type tally struct{ succeeded, refused, failed atomic.Int64 }

func newTallies() *tallies {
	t := &tallies{begun: time.Now()}
	t.by.Store(&map[string]*tally{})
	return t
}

// of returns the tally of an organisation.
func (t *tallies) of(org string) *tally {
	if x, ok := (*t.by.Load())[org]; ok {
		return x
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	known := *t.by.Load()
	if x, ok := known[org]; ok {
		return x
	}
	more := maps.Clone(known)
	more[org] = new(tally)
	t.by.Store(&more)
	return more[org]
}

// answered counts an answer to a caller who is known.
func (c *call) answered(status int) {
	if c.who.Org == "" {
		return
	}
	x := c.api.tallies.of(c.who.Org)
	switch {
	case status >= http.StatusInternalServerError:
		x.failed.Add(1)
	case status >= http.StatusBadRequest:
		x.refused.Add(1)
	default:
		x.succeeded.Add(1)
	}
}

// v1Metrics tells what became of the organisation's requests since the handler was made, and how many
// of its tenants the key may see, by state. The published document lists the route and describes
// nothing of it, so the members are ours.
func v1Metrics(c *call) (any, error) {
	ok, failed, err := c.visibleTenants()
	if err != nil {
		return nil, err
	}
	ready := 0
	for _, t := range ok {
		if t.Ready() {
			ready++
		}
	}
	x := c.api.tallies.of(c.who.Org)
	return map[string]any{
		"uptime_seconds": int64(time.Since(c.api.tallies.begun).Seconds()),
		"requests":       map[string]any{"succeeded": x.succeeded.Load(), "refused": x.refused.Load(), "failed": x.failed.Load()},
		"tenants":        map[string]any{"ready": ready, "provisioning": len(ok) - ready, "failed": len(failed)},
	}, nil
}
