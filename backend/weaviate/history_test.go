package weaviate

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/pipeline"
)

// history is a store's feed, with the change after which each epoch began. The first epoch began after change 0.
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

// until returns the history as it was right after change seq.
func (h *history) until(seq uint64) *history {
	return &history{feed: h.feed[:seq], begins: h.begins, ids: h.ids}
}

// withHistory is a workspace whose store is a history.
type withHistory struct {
	backend.IndexSet
	of *history
}

func (w *withHistory) Store() backend.Store { return w.of }

// openWithHistory brings indexes up to date with a history, as opening a workspace does.
func openWithHistory(t *testing.T, set backend.IndexSet, h *history) {
	t.Helper()
	f := pipeline.NewFollower(&withHistory{set, h})
	defer f.Close()
	require.NoError(t, f.Open(t.Context()))
}

// threeEpochs returns a feed of 30 changes. Epochs began after changes 8 and 20.
func threeEpochs() *history {
	return &history{feed: testFeed(24)[:30], begins: []uint64{0, 8, 20}, ids: []uint64{101, 102, 103}}
}

// requireNotReset checks that the content has not been deleted since it was first stored.
func requireNotReset(t *testing.T, set backend.IndexSet, msg string) {
	t.Helper()
	found, err := set.Indexes()[0].(*index).states(t.Context())
	require.NoError(t, err)
	require.Zero(t, found.generation.Epoch, msg)
}

// applyThenDie opens the indexes in a process that applies a history up to change 8, and then dies after so many
// further write requests.
func applyThenDie(t *testing.T, prefix string, urls []string, h *history, after int64) {
	t.Helper()
	var dying failingTransport
	x, set := openMortal(t, prefix, urls, Options{}, &dying)
	openWithHistory(t, set, h.until(8))
	dying.left.Store(after)
	f := pipeline.NewFollower(&withHistory{set, h})
	require.ErrorIs(t, f.Sync(t.Context()), backend.ErrUnavailable)
	f.Close()
	require.NoError(t, x.Close())
}

// TestProcessDiesInALaterEpoch lets a process die after it recorded its intent to write changes of a later epoch. The
// changes that it has finished are of the epoch before. The next process to open the workspace must not take the index
// for one of another history.
func TestProcessDiesInALaterEpoch(t *testing.T) {
	t.Parallel()
	urls := sharedServer(t).URLs()
	for after := range int64(4) {
		prefix := prefixOf(fmt.Sprint(t.Name(), after))
		h := threeEpochs()
		applyThenDie(t, prefix, urls, h.until(20), after)
		_, next := openSet(t, prefix, urls, Options{})
		openWithHistory(t, next, h)
		msg := fmt.Sprintf("after %d requests", after)
		requireNotReset(t, next, msg)
		requireMatchesFeed(t, next, h.feed, msg)
	}
}

// TestProcessDiesWhileOthersContinue checks a process that begins at the last change that a dead process has finished,
// which is of an older epoch than the changes that others have applied since.
func TestProcessDiesWhileOthersContinue(t *testing.T) {
	t.Parallel()
	urls := sharedServer(t).URLs()
	prefix, h := prefixOf(t.Name()), threeEpochs()
	_, other := openSet(t, prefix, urls, Options{})
	applyThenDie(t, prefix, urls, h.until(20), 1)
	openWithHistory(t, other, h)
	_, next := openSet(t, prefix, urls, Options{})
	require.EqualValues(t, 8, next.Indexes()[0].Applied())
	openWithHistory(t, next, h)
	requireNotReset(t, next, "position: the last finished change of the dead process")
	requireMatchesFeed(t, next, h.feed, "by the next one")
}

// TestStateOfAnEarlierRelease checks a state with a single epoch, which is that of its intent.
func TestStateOfAnEarlierRelease(t *testing.T) {
	t.Parallel()
	urls := sharedServer(t).URLs()
	prefix, h := prefixOf(t.Name()), threeEpochs()
	_, first := openSet(t, prefix, urls, Options{Process: "old"})
	openWithHistory(t, first, h.until(8))
	ix := first.Indexes()[0].(*index)
	old := state{Process: "old", Epoch: 102, Seq: 8, Intent: 20, Replicated: 8, Dims: []int{testDim}}
	require.NoError(t, ix.x.batches.put(t.Context(), ix.toAllReplicas(nil), []stored{old.object(ix.x.schema.chunks(), ix.uid, 0)}))
	_, next := openSet(t, prefix, urls, Options{})
	require.EqualValues(t, 8, next.Indexes()[0].Applied())
	openWithHistory(t, next, h)
	requireNotReset(t, next, "the state has no epoch of its last finished change")
	requireMatchesFeed(t, next, h.feed, "by the next one")

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

// TestOlderCopyIsRestored lets a process die while it stores changes, and then restores a copy of the database that has
// only some of them. The index may have the others, so it must be rebuilt. That holds whether or not new changes have
// taken the numbers of lost ones.
func TestOlderCopyIsRestored(t *testing.T) {
	t.Parallel()
	urls := sharedServer(t).URLs()
	for _, name := range []string{"nothing came since", "less came since", "more came since"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			prefix, h := prefixOf(t.Name()), threeEpochs()
			applyThenDie(t, prefix, urls, h.until(20), 3)
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
			_, next := openSet(t, prefix, urls, Options{})
			require.EqualValues(t, 8, next.Indexes()[0].Applied(), "change 8 is in both histories")
			openWithHistory(t, next, back)
			found, err := next.Indexes()[0].(*index).states(t.Context())
			require.NoError(t, err)
			require.NotZero(t, found.generation.Epoch, "rebuilt")
			requireMatchesFeed(t, next, back.feed, "the copy and later changes")
		})
	}
}

// TestSkipsAppliedChangesOfLaterEpochs checks that a process skips what another has applied, also in epochs later than
// its own last change, but applies everything if the history differs.
func TestSkipsAppliedChangesOfLaterEpochs(t *testing.T) {
	t.Parallel()
	urls := sharedServer(t).URLs()
	for _, same := range []bool{true, false} {
		prefix, h := prefixOf(fmt.Sprint(t.Name(), same)), threeEpochs()
		var seen failingTransport
		seen.left.Store(-1)
		_, late := openSet(t, prefix, urls, Options{Client: &http.Client{Transport: &seen}})
		_, first := openSet(t, prefix, urls, Options{})
		openWithHistory(t, first, h)
		if !same {
			h = &history{feed: h.feed, begins: h.begins, ids: []uint64{101, 102, 203}}
		}
		openWithHistory(t, late, h)
		assert.Equal(t, same, seen.writes.Load() == 0)
		requireMatchesFeed(t, late, h.feed, "the process's own history")
	}
}
