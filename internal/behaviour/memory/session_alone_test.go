package memory_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/embed/static"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// TestNothingWinsByItsSessionAlone checks that a memory that has nothing of the question, in a session that is all about it, comes after a memory outside
// of sessions that says it.
func TestNothingWinsByItsSessionAlone(t *testing.T) {
	t.Parallel()
	for _, mode := range []contextmem.Mode{contextmem.ModeFast, contextmem.ModeThinking} {
		for at := range 5 {
			t.Run(fmt.Sprintf("%s %d", mode, at), func(t *testing.T) {
				t.Parallel()
				_, acme := servicetest.Open(t, &contextmem.Options{Embedder: static.New()})
				sub := acme.Sub("ana")
				start := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
				talk := []string{
					"I feed the sourdough starter every Sunday.",
					"How often do you feed the sourdough starter?",
					"I feed the sourdough starter every Monday.",
					"When do I feed the sourdough starter?",
				}
				talk = append(talk[:at:at], append([]string{"Mmh, zweiundvierzig."}, talk[at:]...)...)
				var all []contextmem.Memory
				for i, text := range talk {
					all = append(all, contextmem.Memory{ID: fmt.Sprint("s", i), Text: text, Session: "kitchen", Time: start.Add(time.Duration(i) * time.Minute)})
				}
				all = append(all, contextmem.Memory{ID: "exact", Text: "I feed the sourdough starter every Tuesday.", Time: start.AddDate(0, 1, 0)})
				for i := range 20 {
					all = append(all, contextmem.Memory{ID: fmt.Sprint("o", i), Text: fmt.Sprintf("Invoice %d of the plumber was paid.", i), Time: start.AddDate(0, 0, i)})
				}
				servicetest.Remember(t, sub, all...)
				r, err := sub.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "When do I feed the sourdough starter?", Mode: mode})
				require.NoError(t, err)
				rank := map[string]int{}
				for i, c := range r.Chunks {
					rank[c.SourceID] = i + 1
				}
				require.NotZero(t, rank["exact"])
				if alone := rank[fmt.Sprint("s", at)]; alone != 0 {
					assert.Less(t, rank["exact"], alone)
				}
			})
		}
	}
}
