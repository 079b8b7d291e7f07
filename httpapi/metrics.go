package httpapi

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// tallies counts responses for GET /metrics.
type tallies struct {
	begun time.Time
	by    sync.Map // map from countedBy to *tally
}

// countedBy is the key of a tally: an organisation, or a key that is restricted to tenants.
type countedBy struct{ org, key string }

// tally is the number of answered requests by status class.
type tally struct{ succeeded, refused, failed atomic.Int64 }

func newTallies() *tallies { return &tallies{begun: time.Now()} }

func (t *tallies) of(by countedBy) *tally {
	if x, ok := t.by.Load(by); ok {
		return x.(*tally)
	}
	x, _ := t.by.LoadOrStore(by, new(tally))
	return x.(*tally)
}

func (t *tally) add(status int) {
	switch {
	case status >= http.StatusInternalServerError:
		t.failed.Add(1)
	case status >= http.StatusBadRequest:
		t.refused.Add(1)
	default:
		t.succeeded.Add(1)
	}
}

// answered counts a response to an authenticated caller.
func (c *call) answered(status int) {
	c.observed(status)
	if c.who.Org == "" {
		return
	}
	c.api.tallies.of(countedBy{org: c.who.Org}).add(status)
	if own := c.counted(); own.key != "" {
		c.api.tallies.of(own).add(status)
	}
}

// counted returns the tally that the caller may see. A restricted key sees only its own requests.
func (c *call) counted() countedBy {
	if len(c.who.Key.Tenants) == 0 {
		return countedBy{org: c.who.Org}
	}
	return countedBy{c.who.Org, c.who.ID}
}

// v1Metrics returns the counts of requests since the handler was made, of the organisation or of a restricted key, and the number of
// tenants that the key may see, by state. The published document lists the route without describing its
// response, so the members are our choice.
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
	x := c.api.tallies.of(c.counted())
	a := metricsAnswer{Uptime: int64(time.Since(c.api.tallies.begun).Seconds()), Tenants: tenantCounts{ready, len(ok) - ready, len(failed)}}
	a.Requests = requestCounts{x.succeeded.Load(), x.refused.Load(), x.failed.Load()}
	return a, nil
}

type metricsAnswer struct {
	Uptime   int64         `json:"uptime_seconds"`
	Requests requestCounts `json:"requests"`
	Tenants  tenantCounts  `json:"tenants"`
}

type requestCounts struct {
	Succeeded int64 `json:"succeeded"`
	Refused   int64 `json:"refused"`
	Failed    int64 `json:"failed"`
}

type tenantCounts struct {
	Ready        int `json:"ready"`
	Provisioning int `json:"provisioning"`
	Failed       int `json:"failed"`
}
