package memory_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// TestRelativeDatesFollowTheZoneOfTheItem checks that "yesterday" said at half past midnight in Tokyo is the day before
// in Tokyo.
func TestRelativeDatesFollowTheZoneOfTheItem(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]contextmem.Memory{
		"time":     {Time: time.Date(2026, 3, 10, 0, 30, 0, 0, time.FixedZone("", 9*3600))},
		"metadata": {Additional: map[string]any{"timestamp": "2026-03-10T00:30:00+09:00"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, acme := servicetest.Open(t, nil)
			s := acme.Sub("a")
			m.ID, m.Text, m.Infer = "m", "I moved to Lisbon yesterday.", true
			_, err := s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{m}})
			require.NoError(t, err)
			servicetest.Done(t, s, "m")
			page, err := s.GraphRelations(t.Context(), contextmem.GraphRelationsRequest{Class: contextmem.ClassMemory})
			require.NoError(t, err)
			var from []time.Time
			for _, g := range page.Groups {
				for _, e := range g.Relations {
					if !e.ValidFrom.IsZero() {
						from = append(from, e.ValidFrom)
					}
				}
			}
			require.NotEmpty(t, from)
			for _, at := range from {
				require.Equal(t, "2026-03-09", at.Format(time.DateOnly))
			}
		})
	}
}
