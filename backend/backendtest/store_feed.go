package backendtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

var storeFeedTests = []namedTest[*storeEnv]{
	{"Feed", testFeed},
	{"FeedOmitsDeleted", testFeedOmitsDeleted},
	{"FeedPages", testFeedPages},
	{"CompactFeed", testCompactFeed},
	{"CompactFeedInSteps", testCompactFeedSteps},
	{"ReadCompactedFeed", testReadCompactedFeed},
	{"FeedReopen", testFeedReopen},
}

// kinds returns the kind and the source id of each change, for example "chunks a".
func kinds(cs []backend.Change) []string {
	out := []string{}
	for _, c := range cs {
		name := map[backend.ChangeKind]string{
			backend.PutChunks: "chunks", backend.PutTags: "tags", backend.PutGraph: "graph", backend.Drop: "drop", backend.DropSub: "sub",
			backend.PutVectors: "vectors", backend.DropVectors: "drop vectors", backend.FoldEntity: "fold",
		}[c.Kind]
		out = append(out, strings.TrimSuffix(name+" "+c.SourceID, " "))
	}
	return out
}

func testFeed(t *testing.T, e *storeEnv) {
	a := memory("a", "one", "two").tagged(5, 6).mention(1, "red")
	a.Time, a.Session = at(7), "s"
	plain := memory("plain", "x")
	require.Zero(t, e.LastSeq())
	nums := e.complete(a, plain)
	feed := e.changes(0)
	require.ElementsMatch(t, []string{"chunks a", "graph a", "chunks plain"}, kinds(feed)[:3])
	assert.Equal(t, e.LastSeq(), feed[len(feed)-1].Seq)
	for _, c := range feed {
		assert.Equal(t, notes, c.Part)
		if c.SourceID != "a" {
			continue
		}
		assert.Equal(t, []any{nums[0], "title of a", at(7), "s"}, []any{c.Source, c.Title, c.Time, c.Session})
		if c.Kind == backend.PutGraph {
			assert.Equal(t, []backend.MentionRef{{Chunk: e.chunkNums(a)[1], Entity: e.entity("red").Num, Key: "red", Weight: 1}}, c.Mentions)
			continue
		}
		assert.ElementsMatch(t, []uint64{5, 6}, c.Tags)
		var want []backend.Row
		for i, ch := range a.chunks() {
			want = append(want, backend.Row{Chunk: e.chunkNums(a)[i], Ordinal: i, Key: ch.Key, Text: ch.Text, Heading: ch.Heading, Vector: ch.Vector, Extra: ch.Extra})
		}
		assert.Equal(t, want, c.Rows)
	}
	seq := e.LastSeq()
	_, err := e.Delete(t.Context(), notes, []string{"plain"}, backend.DeleteOptions{})
	require.NoError(t, err)
	tomb := e.changes(seq)
	require.Len(t, tomb, 1)
	assert.Equal(t, []any{backend.Drop, nums[1], notes}, []any{tomb[0].Kind, tomb[0].Source, tomb[0].Part})
	assert.Empty(t, e.changes(e.LastSeq()))
	after, err := e.Changes(t.Context(), e.LastSeq()+1000, 10)
	require.NoError(t, err)
	assert.Empty(t, after)
}

func testFeedOmitsDeleted(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	e.complete(memory("gone", "x").mention(0, "red"), memory("replaced", "x").mention(0, "red"), memory("tagged", "x"))
	for i := range 3 {
		_, err := e.UpdateMetadata(ctx, notes, "tagged", e.newest(notes, "tagged"), nil, nil, nil, []uint64{uint64(i)}, at(i))
		require.NoError(t, err)
	}
	_, err := e.UpdateMetadata(ctx, notes, "gone", e.newest(notes, "gone"), nil, nil, nil, []uint64{1}, at(1))
	require.NoError(t, err)
	_, err = e.Delete(ctx, notes, []string{"gone"}, backend.DeleteOptions{})
	require.NoError(t, err)
	e.complete(memory("replaced", "y"))
	live := map[int64]bool{e.source(notes, "replaced").Num: true, e.source(notes, "tagged").Num: true}
	dropped := map[int64]bool{}
	tags := 0
	for _, c := range e.changes(0) {
		if c.Kind == backend.Drop {
			dropped[c.Source] = true
			continue
		}
		assert.True(t, live[c.Source], "a put of version %d (%s), which is gone", c.Source, c.SourceID)
		if c.Kind == backend.PutTags {
			tags++
			assert.Equal(t, []uint64{2}, c.Tags)
		}
	}
	assert.Len(t, dropped, 2)
	assert.LessOrEqual(t, tags, 1)
}

func testFeedPages(t *testing.T, e *storeEnv) {
	var items []item
	for i := range 12 {
		items = append(items, memory(fmt.Sprint("i", i), "a", "b", "c", "d", "e").mention(0, "red"))
	}
	e.complete(items...)
	whole := feedAfter(t, e.Store, 0, 1<<20)
	require.Len(t, whole, 24)
	for _, limit := range []int{1, 7, 30} {
		assert.Equal(t, whole, feedAfter(t, e.Store, 0, limit), "in steps of %d", limit)
		step, err := e.Changes(t.Context(), 0, limit)
		require.NoError(t, err)
		rows := 0
		for _, c := range step {
			rows += len(c.Rows) + len(c.Mentions)
		}
		assert.LessOrEqual(t, rows, limit+6, "about limit rows")
		assert.NotEmpty(t, step)
	}
	assert.Equal(t, whole[5:], feedAfter(t, e.Store, whole[4].Seq, 10))
}

func testCompactFeed(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	e.complete(memory("a", "x"), memory("b", "x"), memory("c", "x"))
	early := e.changes(0)[0].Seq
	_, err := e.Delete(ctx, notes, []string{"b"}, backend.DeleteOptions{})
	require.NoError(t, err)
	dropSeq := e.LastSeq()
	_, err = e.Delete(ctx, notes, []string{"c"}, backend.DeleteOptions{})
	require.NoError(t, err)
	last := e.LastSeq()
	e.compact(dropSeq, 10, 1)
	_, err = e.Changes(ctx, early, 10)
	require.ErrorIs(t, err, backend.ErrFeedGone, "an index that missed a tombstone")
	assert.Equal(t, []string{"drop c"}, kinds(e.changes(dropSeq)), "one that did not")
	assert.Equal(t, []string{"chunks a", "drop c"}, kinds(e.changes(0)), "from the start all is there")
	e.compact(last+1000, 10, 1)
	e.compact(last+1000, 10, 0)
	assert.Equal(t, last, e.LastSeq(), "the sequence goes on")
	assert.Equal(t, []string{"chunks a"}, kinds(e.changes(0)))
	assert.Empty(t, e.changes(last))
	e.complete(memory("d", "x"))
	assert.Greater(t, e.LastSeq(), last)
	assert.Equal(t, []string{"chunks d"}, kinds(e.changes(last)))
	_, err = e.Changes(ctx, dropSeq, 10)
	require.ErrorIs(t, err, backend.ErrFeedGone)
	e.reopen()
	_, err = e.Changes(ctx, early, 10)
	require.ErrorIs(t, err, backend.ErrFeedGone)
	assert.Equal(t, []string{"chunks d"}, kinds(e.changes(last)))
}

// compact drops tombstones up to seq, and requires that their number is want.
func (e *storeEnv) compact(seq uint64, limit, want int) {
	e.t.Helper()
	n, err := e.CompactFeed(e.t.Context(), seq, limit)
	require.NoError(e.t, err)
	require.Equal(e.t, want, n, "number of dropped tombstones")
}

// testCompactFeedSteps checks that CompactFeed drops the oldest tombstones first, at most limit.
func testCompactFeedSteps(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	e.complete(memory("a", "x"), memory("b", "x"), memory("c", "x"), memory("d", "x"))
	early := e.changes(0)[0].Seq
	for _, id := range []string{"c", "a", "d"} {
		_, err := e.Delete(ctx, notes, []string{id}, backend.DeleteOptions{})
		require.NoError(t, err)
	}
	e.compact(e.LastSeq(), 0, 0)
	assert.Equal(t, []string{"chunks b", "drop c", "drop a", "drop d"}, kinds(e.changes(0)), "a limit of 0 drops nothing")
	seqs := e.changes(0)
	e.compact(e.LastSeq(), 2, 2)
	assert.Equal(t, []string{"chunks b", "drop d"}, kinds(e.changes(0)))
	_, err := e.Changes(ctx, early, 10)
	require.ErrorIs(t, err, backend.ErrFeedGone)
	_, err = e.Changes(ctx, seqs[1].Seq, 10)
	require.ErrorIs(t, err, backend.ErrFeedGone, "an index that lacks the second tombstone")
	assert.Equal(t, []string{"drop d"}, kinds(e.changes(seqs[2].Seq)))
	e.compact(seqs[2].Seq, 10, 0)
	e.compact(e.LastSeq(), 2, 1)
	assert.Equal(t, []string{"chunks b"}, kinds(e.changes(0)))
}

// testReadCompactedFeed reads the feed from its start in steps after its tombstones were dropped.
func testReadCompactedFeed(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	e.complete(memory("a", "x"), memory("b", "x"), memory("c", "x"), memory("gone", "x"))
	stale := e.changes(0)[1].Seq
	_, err := e.Delete(ctx, notes, []string{"gone"}, backend.DeleteOptions{})
	require.NoError(t, err)
	e.compact(e.LastSeq(), 10, 1)
	assert.Equal(t, []string{"chunks a", "chunks b", "chunks c"}, kinds(feedAfter(t, e.Store, 0, 1)),
		"it reads on, although it stands before the tombstones that were dropped")
	_, err = e.Changes(ctx, stale, 10)
	require.ErrorIs(t, err, backend.ErrFeedGone, "one that came as far before does not")

	step, err := e.Changes(ctx, 0, 1)
	require.NoError(t, err)
	require.Equal(t, []string{"chunks a"}, kinds(step))
	e.reopen()
	rest := feedAfter(t, e.Store, step[0].Seq, 1)
	assert.Equal(t, []string{"chunks b", "chunks c"}, kinds(rest), "after a restart too")
	_, err = e.Delete(ctx, notes, []string{"a"}, backend.DeleteOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{"chunks b", "chunks c", "drop a"}, kinds(feedAfter(t, e.Store, step[0].Seq, 1)))
	e.compact(e.LastSeq(), 10, 1)
	_, err = e.Changes(ctx, step[0].Seq, 10)
	require.ErrorIs(t, err, backend.ErrFeedGone, "it missed a tombstone itself")
	assert.Equal(t, []string{"chunks b", "chunks c"}, kinds(feedAfter(t, e.Store, 0, 1)))
}

func testFeedReopen(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	e.complete(memory("a", "x").mention(0, "red"), memory("b", "y"))
	_, err := e.Delete(ctx, notes, []string{"b"}, backend.DeleteOptions{})
	require.NoError(t, err)
	before, seq := e.changes(0), e.LastSeq()
	e.reopen()
	assert.Equal(t, seq, e.LastSeq())
	assert.Equal(t, before, e.changes(0))
	e.complete(memory("c", "z"))
	assert.Equal(t, []string{"chunks c"}, kinds(e.changes(seq)))
}
