package contextmem_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
)

// TestRelease holds that memory of released results goes to other recalls and to nobody
// who still reads.
func TestRelease(t *testing.T) {
	t.Parallel()
	svc, acme := open(t, nil)
	s := acme.Sub("")
	var batch contextmem.MemoryBatch
	for i := range 60 {
		batch.Memories = append(batch.Memories, contextmem.Memory{ID: fmt.Sprint("m", i), Text: fmt.Sprintf("Kettle %d stands on shelf %d.", i, i%7)})
	}
	_, err := s.AddMemories(t.Context(), batch)
	require.NoError(t, err)
	require.NoError(t, svc.Drain(t.Context()))

	ask := func(i int) *contextmem.Result {
		res, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: fmt.Sprintf("which kettle stands on shelf %d?", i%7), MaxResults: 1 + i%20})
		if !assert.NoError(t, err) {
			t.FailNow()
		}
		return res
	}
	show := func(res *contextmem.Result) string {
		text := ""
		for i, c := range res.Chunks {
			text += fmt.Sprintln(c.ID, c.SourceID, c.Text, c.Title, c.Score, *c.Explain, res.Sources[i].ID, res.Sources[i].Title)
		}
		return text
	}
	var want [140]string
	for i := range want {
		want[i] = show(ask(i))
		require.NotEmpty(t, want[i])
	}
	var wg sync.WaitGroup
	for from := range 8 {
		wg.Go(func() {
			for i := range want {
				i = (i + 17*from) % len(want)
				kept, res := ask(i+1), ask(i)
				assert.Equal(t, want[i], show(res))
				res.Release()
				assert.Empty(t, res.Chunks)
				again := ask(i)
				assert.Equal(t, want[i], show(again))
				assert.Equal(t, want[(i+1)%len(want)], show(kept))
				again.Release()
				again.Release() // does nothing
			}
		})
	}
	wg.Wait()
}
