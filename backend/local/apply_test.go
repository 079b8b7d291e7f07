package local

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// Checks that a writer waits for running searches once per batch of changes, not once per change, and that the next search sees all changes.
func TestRunWaitsOnce(t *testing.T) {
	t.Parallel()
	for _, kind := range []backend.ChangeKind{backend.PutChunks, backend.Drop} {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			t.Parallel()
			_, ix, apply := both(t)
			m := newModel(11)
			var changes []backend.Change
			for range holdEvery - 1 {
				c := m.put(benchPart)
				c.Rows = c.Rows[:1]
				changes = append(changes, c)
			}
			apply(changes...)
			p := ix.find(benchPart).p.Load()
			for i := range changes {
				c := &changes[i]
				c.Seq += uint64(len(changes))
				if c.Kind = kind; kind == backend.PutChunks {
					c.Source += 1000
					c.Rows[0].Chunk += 100_000
				}
			}
			p.mu.RLock() // a search
			var others sync.WaitGroup
			others.Go(func() {
				if err := ix.Apply(t.Context(), changes); err != nil {
					t.Error(err)
				}
			})
			for p.mu.TryRLock() { // until the writer waits
				p.mu.RUnlock()
				runtime.Gosched()
			}
			before := ix.Applied()
			var asking atomic.Int32
			for range 4 {
				others.Go(func() {
					asking.Add(1)
					p.mu.RLock() // behind the writer
					defer p.mu.RUnlock()
					changed := 0
					for i := range changes {
						if _, ok := p.find(changes[i].Source); ok == (kind == backend.PutChunks) {
							changed++
						}
					}
					if changed != 0 && changed != len(changes) {
						t.Errorf("%d of %d changes were made", changed, len(changes))
					}
				})
			}
			for n := 0; n < 100 || asking.Load() < 4; n++ {
				runtime.Gosched()
			}
			p.mu.RUnlock()
			others.Wait()
			require.Equal(t, before+uint64(len(changes)), ix.Applied())
		})
	}
}

// Checks that several changes of one source in a batch apply in order, and that a rejected change does not undo the changes before it.
func TestRunsAreInOrder(t *testing.T) {
	t.Parallel()
	want, ix, apply := both(t)
	m := newModel(12)
	m.parts = []backend.Partition{benchPart}
	for range 30 {
		var run []backend.Change
		for range 8 {
			c := m.put(benchPart)
			run = append(run, c, backend.Change{Kind: backend.PutTags, Part: benchPart, Source: c.Source, Tags: m.tags()})
			switch m.r.IntN(4) {
			case 0:
				run = append(run, backend.Change{Kind: backend.Drop, Part: benchPart, Source: c.Source})
			case 1:
				run = append(run, backend.Change{Kind: backend.Drop, Part: benchPart, Source: c.Source}, c)
			case 2:
				run = append(run, c)
			}
		}
		apply(run...)
	}
	m.compare(t, want, ix)
	seq := ix.Applied()
	good, bad := m.put(benchPart), m.put(benchPart)
	good.Seq, bad.Seq = seq+1, seq+2
	bad.Rows[0].Vector = make([]float32, 5000)
	require.ErrorContains(t, ix.Apply(t.Context(), []backend.Change{good, bad}), "5000 dimensions")
	require.Equal(t, seq+1, ix.Applied())
	require.NoError(t, want.Apply(t.Context(), []backend.Change{good}))
	m.compare(t, want, ix)
	require.NoError(t, ix.Flush(t.Context()))
	evictAll(ix)
	m.compare(t, want, ix)
}

// Checks that a source deleted while a new file is being published stays deleted.
func TestDeletedDuringAdoption(t *testing.T) {
	t.Parallel()
	want, ix, apply := both(t)
	m := newModel(13)
	m.parts = []backend.Partition{benchPart}
	var put []backend.Change
	for range 200 {
		put = append(put, m.put(benchPart))
	}
	apply(put...)
	ix.flushing.Lock()
	require.NoError(t, ix.sealAll())
	next := ix.pending
	require.NoError(t, os.MkdirAll(ix.dir(), 0o700))
	f, err := ix.writeFile(func(w *fileWriter) error { return writeTails(t.Context(), w, next.tails) })
	require.NoError(t, err)
	segments, err := openSegments(f)
	require.NoError(t, err)
	drop := func(from int) {
		for i := from; i < len(put); i += 7 {
			apply(backend.Change{Kind: backend.Drop, Part: benchPart, Source: put[i].Source})
		}
	}
	drop(0)
	require.NoError(t, ix.putOnDisk(next, f))
	drop(1)
	tail := next.tails[0]
	seg, err := tail.p.prepareAdoption(segments[0], tail.from)
	require.NoError(t, err)
	drop(2)
	apply(m.put(benchPart), put[1])
	func() {
		ix.applying.Lock()
		defer ix.applying.Unlock()
		require.NoError(t, ix.settle(tail, f.blocks[0], seg))
	}()
	ix.pending = nil
	ix.flushing.Unlock()
	for _, v := range seg.parts {
		live := 0
		for place := range uint32(v.search.Len()) {
			if tail.p.live.Has(v.row(place)) {
				live++
			}
		}
		require.Equal(t, live, v.live)
	}
	m.compare(t, want, ix)
	require.NoError(t, ix.Flush(t.Context()))
	evictAll(ix)
	m.compare(t, want, ix)
}

// What nobody reads afterwards is let go of while it is applied, and found as what is read on.
func TestTaken(t *testing.T) {
	t.Parallel()
	want, ix, _ := both(t)
	m := newModel(14)
	m.parts = []backend.Partition{benchPart}
	var seq uint64
	for range 20 {
		var run, taken []backend.Change
		for range 8 {
			seq++
			c := m.put(benchPart)
			c.Seq = seq
			run = append(run, c)
			c.Rows = slices.Clone(c.Rows)
			taken = append(taken, c)
		}
		require.NoError(t, want.Apply(t.Context(), run))
		require.NoError(t, ix.Consume(t.Context(), taken))
		for i := range taken {
			require.Len(t, taken[i].Rows, len(run[i].Rows))
			for k := range taken[i].Rows {
				was := &run[i].Rows[k]
				require.Equal(t, backend.Row{Chunk: was.Chunk, Ordinal: was.Ordinal}, taken[i].Rows[k])
			}
		}
	}
	m.compare(t, want, ix)
	other := m.put(benchPart)
	other.Seq, other.Lane = seq+1, 1
	kept := slices.Clone(other.Rows)
	require.NoError(t, want.Apply(t.Context(), []backend.Change{other}))
	require.NoError(t, ix.Consume(t.Context(), []backend.Change{other}))
	require.Equal(t, kept, other.Rows, "a lane takes the vectors later")
	m.compare(t, want, ix)
}
