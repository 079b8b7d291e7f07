package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
)

// Runs searches, a writer, flushes, merges and evictions concurrently until Close.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	m := newModel(4)
	var batches [][]backend.Change
	n := 120
	if testing.Short() {
		n = 60
	}
	for range n {
		var batch []backend.Change
		for range 10 {
			batch = append(batch, m.change())
		}
		batches = append(batches, batch)
	}
	x, err := Open(t.TempDir(), &Options{CacheBytes: 20_000})
	require.NoError(t, err)
	ix := openTest(t, x).(*index)
	done := make(chan struct{})
	var wg sync.WaitGroup
	for worker := range uint64(3) {
		wg.Go(func() {
			q := newModel(100 + worker)
			q.source = 100
			for {
				for _, part := range q.parts {
					if err := searchAll(t.Context(), ix, q, part); err != nil {
						if !errors.Is(err, backend.ErrClosed) {
							t.Error(err)
						}
						return
					}
				}
			}
		})
	}
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				evictAll(ix)
			}
		}
	})
	for i, batch := range batches {
		require.NoError(t, ix.Apply(t.Context(), batch))
		if i%4 == 0 {
			require.NoError(t, ix.Flush(t.Context()))
		}
	}
	close(done)
	require.NoError(t, x.Close())
	wg.Wait()
	require.ErrorIs(t, ix.Flush(t.Context()), backend.ErrClosed)
	require.Zero(t, x.cache.used.Load(), "everything was given back")
}

func searchAll(ctx context.Context, ix *index, q *model, part backend.Partition) error {
	kq := q.keywordQuery(part)
	_, e1 := ix.SearchVectors(ctx, backend.VectorQuery{Part: part, Vector: q.vector(), K: 10, Filter: q.filter()})
	_, e2 := ix.SearchKeywords(ctx, kq)
	_, e3 := ix.SearchSessions(ctx, kq)
	around, e4 := ix.Neighbours(ctx, part, []int64{1, 2, 3, 50, 51})
	var errs []error
	for _, a := range around {
		_, err := ix.SessionChunks(ctx, part, a.Session, 10)
		errs = append(errs, err)
	}
	_, e5 := ix.Mentions(ctx, part, []int64{1, 2, 3})
	_, e6 := ix.MentionedIn(ctx, part, []int64{1, 2, 3}, 5)
	_, e7 := ix.MatchEntities(ctx, part, []string{"key 1"})
	_, e8 := ix.Info(ctx, part)
	_, _, _, e9 := ix.Terms(ctx, part, "harbour")
	return errors.Join(append(errs, e1, e2, e3, e4, e5, e6, e7, e8, e9)...)
}

// Checks recovery after a kill: copies of the folder, taken at random moments, open and
// recover all data.
func TestKilled(t *testing.T) {
	t.Parallel()
	h := newHistory(t, 7, 1)
	x, err := Open(h.dir, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, x.Close()) }()
	ix := openTest(t, x).(*index)
	for range 12 {
		var batch []backend.Change
		for range 30 {
			batch = append(batch, h.m.change())
		}
		h.m.log = append(h.m.log, batch...)
		require.NoError(t, h.want.Apply(t.Context(), batch))
		var flushing sync.WaitGroup
		flushing.Go(func() {
			for i := range batch {
				if err := errors.Join(ix.Apply(t.Context(), batch[i:i+1]), ix.Flush(t.Context())); err != nil {
					t.Error(err)
				}
			}
		})
		copied := &history{m: h.m, dir: t.TempDir(), want: h.want}
		copyMoving(t, h.path(), copied.path())
		flushing.Wait()
		copied.heals(t)
	}
	ix.work.wait()
	h.m.compare(t, h.want, ix)
	require.Equal(t, h.want.Applied(), h.copyTo(t).heals(t), "what was flushed is used")
}

// copyMoving copies a folder while files are created and removed in it.
func copyMoving(t *testing.T, from, to string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(to, 0o700))
	entries, err := os.ReadDir(from)
	require.NoError(t, err)
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(from, e.Name()))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(to, e.Name()), data, 0o600))
	}
}

func TestResetWhileMerging(t *testing.T) {
	t.Parallel()
	m := newModel(9)
	x, err := Open(t.TempDir(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, x.Close()) }()
	ix := openTest(t, x).(*index)
	want := openTest(t, inmem.New())
	for range 6 {
		for range 10 {
			batch := []backend.Change{m.change(), m.change(), m.change(), m.change()}
			require.NoError(t, ix.Apply(t.Context(), batch))
			require.NoError(t, ix.Flush(t.Context()))
		}
		require.NoError(t, ix.Reset(t.Context()))
		require.Zero(t, ix.Applied())
		*m = *newModel(m.seq)
		require.NoError(t, want.Reset(t.Context()))
		ix.work.wait()
		m.compare(t, want, ix)
	}
}

func TestResetWhileFlushing(t *testing.T) {
	t.Parallel()
	m := newModel(10)
	x, err := Open(t.TempDir(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, x.Close()) }()
	ix := openTest(t, x).(*index)
	want := openTest(t, inmem.New())
	for range 6 {
		for range 10 {
			require.NoError(t, ix.Apply(t.Context(), []backend.Change{m.change(), m.change(), m.change(), m.change()}))
		}
		ix.flushing.Lock()
		require.NoError(t, ix.sealAll())
		ix.flushing.Unlock()
		require.NoError(t, ix.Reset(t.Context()))
		require.NoError(t, want.Reset(t.Context()))
		*m = *newModel(m.seq)
		for range 5 {
			batch := []backend.Change{m.change(), m.change()}
			require.NoError(t, errors.Join(ix.Apply(t.Context(), batch), want.Apply(t.Context(), batch)))
		}
		require.NoError(t, ix.Flush(t.Context()))
		ix.work.wait()
		m.compare(t, want, ix)
		evictAll(ix)
		m.compare(t, want, ix)
		require.NoError(t, errors.Join(ix.Reset(t.Context()), want.Reset(t.Context())))
		*m = *newModel(m.seq)
	}
}

// Checks that the memory budget is kept by evicting partitions, whose tails are flushed first.
func TestBudget(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const budget = 200_000
	x, err := Open(dir, &Options{CacheBytes: budget})
	require.NoError(t, err)
	defer func() { require.NoError(t, x.Close()) }()
	ix := openTest(t, x).(*index)
	want := openTest(t, inmem.New())
	changes := benchChanges(3000)
	for i := range changes {
		changes[i].Part.Sub = string(rune('a' + i/100))
		for j := range changes[i].Rows {
			changes[i].Rows[j].Vector = nil
		}
	}
	require.NoError(t, want.Apply(t.Context(), changes))
	for i := range changes {
		require.NoError(t, ix.Apply(t.Context(), changes[i:i+1]))
	}
	ix.flusher.wait()
	ix.work.wait()
	require.Positive(t, ix.flushed, "tails were flushed for room")
	resident := func() (n int) {
		for _, s := range ix.slots {
			if s.p.Load() != nil {
				n++
			}
		}
		return n
	}
	require.NoError(t, ix.Flush(t.Context()))
	require.LessOrEqual(t, ix.cache.used.Load(), int64(budget))
	require.Less(t, resident(), 30)
	for _, c := range changes {
		q := backend.KeywordQuery{Part: c.Part, Text: c.Rows[0].Text, K: 3}
		w, err := want.SearchKeywords(t.Context(), q)
		require.NoError(t, err)
		g, err := ix.SearchKeywords(t.Context(), q)
		require.NoError(t, err)
		sameHits(t, w, g, "%s", c.Part.Sub)
	}
	require.LessOrEqual(t, ix.cache.used.Load(), int64(budget+budget/4))
	for _, s := range ix.slots {
		ix.evict(s)
	}
	require.Zero(t, resident())
	ix.work.wait()
	ix.sleep()
	require.False(t, ix.awake.Load())
	require.Zero(t, ix.cache.used.Load())
}

// Checks that readers can build columns while a writer looks for tails to flush.
func TestColumnsBesideFlush(t *testing.T) {
	t.Parallel()
	h := newHistory(t, 14, 2)
	x, err := Open(h.dir, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, x.Close()) }()
	ix := openTest(t, x).(*index)
	seq := ix.Applied()
	for range 20 {
		var reading sync.WaitGroup
		for _, part := range h.m.parts {
			reading.Go(func() {
				_, err := ix.SearchVectors(t.Context(), backend.VectorQuery{Part: part, Vector: make([]float32, h.m.dim), K: 5})
				_, err2 := ix.Info(t.Context(), part)
				if err := errors.Join(err, err2); err != nil {
					t.Error(err)
				}
			})
		}
		for range 10 {
			seq++
			require.NoError(t, ix.Apply(t.Context(), []backend.Change{{Seq: seq, Kind: backend.Mark}}))
			require.NoError(t, ix.Flush(t.Context()))
			ix.residents(nil)
		}
		reading.Wait()
		evictAll(ix)
	}
}
