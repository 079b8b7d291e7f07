package ingest_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/extract/rules"
	"github.com/contextmem/contextmem/observe"
)

// batchSizes is an observer that keeps how many items each processed batch had.
type batchSizes struct {
	mu   sync.Mutex
	seen []int
}

func (b *batchSizes) Observe(_ context.Context, r *observe.Record) {
	if r.Operation == observe.Process {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.seen = append(b.seen, r.Items)
	}
}

// TestDefaultBatch checks that a worker takes 512 small items at once, and fewer with an extractor of the caller, whose work on a batch is lost
// if the process ends meanwhile.
func TestDefaultBatch(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		extractor extract.Extractor
		want      int
	}{"rules": {nil, 512}, "own": {rules.New(), 256}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sizes := &batchSizes{}
			svc, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{Observer: sizes, Extractor: x.extractor, Workers: 1})
			require.NoError(t, err)
			_, err = svc.EnsureTenant(t.Context(), contextmem.TenantSpec{ID: "t"})
			require.NoError(t, err)
			var m contextmem.MemoryBatch
			for i := range 1000 {
				m.Memories = append(m.Memories, contextmem.Memory{ID: fmt.Sprint(i), Text: fmt.Sprint("Note ", i, " is short.")})
			}
			_, err = svc.Tenant("t").Sub("s").AddMemories(t.Context(), m)
			require.NoError(t, err)
			require.NoError(t, svc.Drain(t.Context()))
			require.NoError(t, svc.Close())
			total, most := 0, 0
			for _, n := range sizes.seen {
				total, most = total+n, max(most, n)
			}
			require.Equal(t, 1000, total)
			require.Equal(t, x.want, most)
		})
	}
}
