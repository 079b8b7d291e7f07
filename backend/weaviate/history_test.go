package weaviate

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/pipeline"
)

// history is a store's feed as one process has it, and after which changes its epochs began, the first after none.
type history struct {
	backend.Store
	feed   []backend.Change
	begins []uint64
	ids    []uint64 // of the epochs
}

func (h *history) LastSeq() uint64 { return h.feed[len(h.feed)-1].Seq }

func (h *history) Changes(_ context.Context, after uint64, limit int) ([]backend.Change, error) {
	rest := h.feed[min(after, uint64(len(h.feed))):]
	return rest[:min(limit, len(rest))], nil
}

func (h *history) EpochOf(seq uint64) (epoch uint64) {
	for i, begin := range h.begins {
		if begin < seq {
			epoch = h.ids[i]
		}
	}
	return epoch
}

// until is the history before something came after a change.
func (h *history) until(seq uint64) *history {
	return &history{feed: h.feed[:seq], begins: h.begins, ids: h.ids}
}

// withHistory is a workspace over a history.
type withHistory struct {
	backend.IndexSet
	of *history
}

func (w *withHistory) Store() backend.Store { return w.of }

// opened brings indexes up to a history as one does that opens a workspace.
func opened(t *testing.T, set backend.IndexSet, h *history) {
	t.Helper()
	f := pipeline.NewFollower(&withHistory{set, h})
	defer f.Close()
	require.NoError(t, f.Open(t.Context()))
}

// threeEpochs is a feed of 30 changes. Openings of the store began epochs after changes 8 and 20.
func threeEpochs() *history {
	return &history{feed: feedOf(24)[:30], begins: []uint64{0, 8, 20}, ids: []uint64{101, 102, 103}}
}

// requireNotReset looks whether the content was deleted since it was first stored.
func requireNotReset(t *testing.T, set backend.IndexSet, msg string) {
	t.Helper()
	found, err := set.Indexes()[0].(*index).states(t.Context())
	require.NoError(t, err)
	require.Zero(t, found.generation.Epoch, msg)
}

// dies has a process apply a history up to change 8, and then die after so many requests that write.
func dies(t *testing.T, prefix string, urls []string, h *history, after int64) {
	t.Helper()
	var dying watched
	dying.failing.Store(-1)
	x, set := openOn(t, prefix, urls, Options{Retry: time.Millisecond, Client: &http.Client{Transport: &dying}})
	opened(t, set, h.until(8))
	dying.failing.Store(after)
	f := pipeline.NewFollower(&withHistory{set, h})
	require.ErrorIs(t, f.Sync(t.Context()), backend.ErrUnavailable)
	f.Close()
	require.NoError(t, x.Close())
}

// TestDiesInAnotherEpoch: another process's opening has begun an epoch; a process says that it is about to write what came after, and dies. What it
// had finished is of the epoch before. Whoever opens the workspace next does not take the index for one of another history.
func TestDiesInAnotherEpoch(t *testing.T) {
	urls := sharedServer(t).URLs()
	for after := range int64(4) {
		prefix := prefixOf(fmt.Sprint(t.Name(), after))
		h := threeEpochs()
		dies(t, prefix, urls, h.until(20), after)
		_, next := openOn(t, prefix, urls, Options{})
		opened(t, next, h)
		msg := fmt.Sprintf("after %d requests", after)
		requireNotReset(t, next, msg)
		requireLike(t, next, h.feed, msg)
	}
}

// TestDiesWhileOthersGoOn: where the next one begins, which is what the dead one had finished, is of an older epoch than what others have applied since.
func TestDiesWhileOthersGoOn(t *testing.T) {
	urls := sharedServer(t).URLs()
	prefix, h := prefixOf(t.Name()), threeEpochs()
	_, other := openOn(t, prefix, urls, Options{})
	dies(t, prefix, urls, h.until(20), 1)
	opened(t, other, h)
	_, next := openOn(t, prefix, urls, Options{})
	require.EqualValues(t, 8, next.Indexes()[0].Applied())
	opened(t, next, h)
	requireNotReset(t, next, "begins where the dead one had finished")
	requireLike(t, next, h.feed, "by the next one")
}

// TestEarlierRelease: a state whose one epoch is that of the change that its process meant to write.
func TestEarlierRelease(t *testing.T) {
	urls := sharedServer(t).URLs()
	prefix, h := prefixOf(t.Name()), threeEpochs()
	_, first := openOn(t, prefix, urls, Options{Process: "old"})
	opened(t, first, h.until(8))
	ix := first.Indexes()[0].(*index)
	old := state{Process: "old", Epoch: 102, Seq: 8, Intent: 20, Replicated: 8, Dims: []int{testDim}}
	require.NoError(t, ix.x.batches.put(t.Context(), toAllReplicas(nil), []stored{old.object(ix.x.schema.chunks(), ix.uid, 0)}))
	_, next := openOn(t, prefix, urls, Options{})
	require.EqualValues(t, 8, next.Indexes()[0].Applied())
	opened(t, next, h)
	requireNotReset(t, next, "what it had finished is of an epoch that it does not tell")
	requireLike(t, next, h.feed, "by the next one")

	for _, c := range []struct{ is, want state }{
		{state{Epoch: 5, Seq: 8, Intent: 8, Replicated: 8}, state{Epoch: 5, Seq: 8, Intent: 8, IntentEpoch: 5, Replicated: 8, ReplicatedEpoch: 5, SeparateEpochs: true}},
		{state{Epoch: 5, Seq: 8, Intent: 8, Replicated: 6}, state{Epoch: 5, Seq: 8, Intent: 8, IntentEpoch: 5, Replicated: 6, SeparateEpochs: true}},
		{state{Epoch: 5, Seq: 8, Intent: 9, Replicated: 8}, state{Seq: 8, Intent: 9, IntentEpoch: 5, Replicated: 8, SeparateEpochs: true}},
		{state{Epoch: 5, Seq: 8, Intent: 9, IntentEpoch: 6, SeparateEpochs: true}, state{Epoch: 5, Seq: 8, Intent: 9, IntentEpoch: 6, SeparateEpochs: true}},
	} {
		c.is.splitEpochs()
		assert.Equal(t, c.want, c.is)
	}
}

// TestOlderCopyIsPutBack: a process dies while it stores changes; then the database is put back to a copy that has some of them. The index, which
// may have the others, is built anew, whether or not changes came since that have their numbers.
func TestOlderCopyIsPutBack(t *testing.T) {
	urls := sharedServer(t).URLs()
	for _, name := range []string{"nothing came since", "less came since", "more came since"} {
		t.Run(name, func(t *testing.T) {
			prefix, h := prefixOf(t.Name()), threeEpochs()
			dies(t, prefix, urls, h.until(20), 3)
			back := h.until(14)
			back.begins, back.ids = []uint64{0, 8, 14}, []uint64{101, 102, 204}
			for range map[string]int{"less came since": 3, "more came since": 12}[name] {
				c := h.feed[0]
				c.Seq, c.Source = back.LastSeq()+1, 1000+int64(len(back.feed))
				c.Rows = append([]backend.Row(nil), c.Rows...)
				for i := range c.Rows {
					c.Rows[i].Chunk = c.Source*10 + int64(i)
				}
				back.feed = append(back.feed[:len(back.feed):len(back.feed)], c)
			}
			_, next := openOn(t, prefix, urls, Options{})
			require.EqualValues(t, 8, next.Indexes()[0].Applied(), "of both histories")
			opened(t, next, back)
			found, err := next.Indexes()[0].(*index).states(t.Context())
			require.NoError(t, err)
			require.NotZero(t, found.generation.Epoch, "built anew")
			requireLike(t, next, back.feed, "what the copy has, and what came since")
		})
	}
}

// TestFollowsOverEpochs: what another process has applied counts though it is in a later epoch than what this one lacks; not so of another history.
func TestFollowsOverEpochs(t *testing.T) {
	urls := sharedServer(t).URLs()
	for _, same := range []bool{true, false} {
		prefix, h := prefixOf(fmt.Sprint(t.Name(), same)), threeEpochs()
		var seen watched
		seen.failing.Store(-1)
		_, late := openOn(t, prefix, urls, Options{Client: &http.Client{Transport: &seen}})
		_, first := openOn(t, prefix, urls, Options{})
		opened(t, first, h)
		if !same {
			h = &history{feed: h.feed, begins: h.begins, ids: []uint64{101, 102, 203}}
		}
		opened(t, late, h)
		assert.Equal(t, same, seen.writes.Load() == 0)
		requireLike(t, late, h.feed, "what is followed")
	}
}
