package workspace

import (
	"context"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/meter"
)

// Gauges measures the tenants that are open, and what they hold.
func (s *Set) Gauges(ctx context.Context) (*meter.Gauges, error) {
	g := &meter.Gauges{Items: map[string]int{}, IndexBudget: -1, StoreBytes: -1, IndexFileBytes: -1}
	var open []string
	s.spaces.Each(func(name string, _ *Space) { open = append(open, name) })
	g.Open = len(open)
	for _, uid := range open {
		sp, ok := s.AcquireOpen(uid)
		if !ok {
			continue
		}
		counts, _, err := sp.Store.Backlog(ctx)
		s.ReleaseUID(uid)
		if err != nil {
			return nil, err
		}
		for state, k := range counts {
			g.Items[string(item.StatusOf(state))] += k
		}
	}
	if m, ok := s.Backend.(backend.Measurer); ok {
		if x := m.Measure(); x.LimitBytes >= 0 {
			g.IndexMemory, g.IndexBudget, g.Loads, g.Evictions = x.MemoryBytes, x.LimitBytes, x.Loads, x.Evictions
		}
	}
	return g, nil
}
