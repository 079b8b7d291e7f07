package workspace

import (
	"context"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/internal/meter"
)

// Gauges returns the item counts of all tenants and the number of open ones. For closed tenants it uses the last stored counts.
func (s *Set) Gauges(ctx context.Context) (*meter.Gauges, error) {
	g := &meter.Gauges{Items: map[meter.Item]int{}, IndexBudget: -1, StoreBytes: -1, IndexFileBytes: -1, Damaged: s.damaged.Load()}
	s.losses.Range(func(any, any) bool {
		g.Losses++
		return true
	})
	s.spaces.Each(func(string, *Space) { g.Open++ })
	if err := s.tallies.load(ctx, s.registry); err != nil {
		return nil, err
	}
	if err := s.recount(ctx); err != nil {
		return nil, err
	}
	s.tallies.each(func(_ string, t Tally) {
		for state, n := range t.States {
			if state != string(content.StatusErrored) {
				g.Items[meter.Item{State: state}] += n
				continue
			}
			for code, k := range t.Errors {
				g.Items[meter.Item{State: state, Error: code}] += k
				n -= k
			}
			if n > 0 { // items whose error code the store does not return
				g.Items[meter.Item{State: state}] += n
			}
		}
	})
	if m, ok := s.Backend.(backend.Measurer); ok {
		x := m.Measure()
		for _, k := range x.Sizes {
			g.Sizes = append(g.Sizes, meter.IndexSize(k))
		}
		if x.LimitBytes >= 0 {
			g.IndexMemory, g.IndexBudget, g.Loads, g.Evictions = x.MemoryBytes, x.LimitBytes, x.Loads, x.Evictions
		}
	}
	return g, nil
}
