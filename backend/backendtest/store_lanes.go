package backendtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

var storeLaneTests = []namedTest[*storeEnv]{
	{"PutVectors", testPutVectors},
	{"PutVectorsExpects", testPutVectorsExpects},
	{"PutVectorsRefuses", testPutVectorsRefuses},
	{"MissingVectors", testMissingVectors},
	{"IndexInLane", testIndexInLane},
	{"DropLane", testDropLane},
	{"DropFirstLane", testDropFirstLane},
}

var vectorsOnly = backend.Partition{Class: backend.Raw, Sub: "notes"}

// laneVectors returns vectors for the chunks of an item that depend on suffix. The second chunk gets none.
func laneVectors(it item, suffix string) (out [][]float32) {
	for i, text := range it.texts {
		v := Vector(text+suffix, dim/2)
		if i == 1 {
			v = nil
		}
		out = append(out, v)
	}
	return out
}

// fillLane puts laneVectors for an item whose newest version is indexed, and returns them.
func (e *storeEnv) fillLane(lane backend.Lane, it item, suffix string) [][]float32 {
	e.t.Helper()
	vs := laneVectors(it, suffix)
	ok, err := e.PutVectors(e.t.Context(), lane, []backend.LaneVectors{{Source: e.newest(it.Part, it.ID), Vectors: vs}})
	require.NoError(e.t, err)
	require.Equal(e.t, []bool{true}, ok)
	return vs
}

// missing returns the versions that lack a lane, read page by page.
func (e *storeEnv) missing(lane backend.Lane) (nums []int64) {
	e.t.Helper()
	for after := int64(0); ; {
		page, err := e.MissingVectors(e.t.Context(), lane, after, 2)
		require.NoError(e.t, err)
		require.LessOrEqual(e.t, len(page), 2)
		if len(page) == 0 {
			return nums
		}
		nums = append(nums, page...)
		after = page[len(page)-1]
	}
}

// dropLane drops a lane in steps of limit, and returns the number of steps.
func (e *storeEnv) dropLane(lane backend.Lane, limit int) (steps int) {
	e.t.Helper()
	for after := int64(0); ; {
		next, err := e.DropLane(e.t.Context(), lane, after, limit)
		require.NoError(e.t, err)
		steps++
		if next == 0 {
			return steps
		}
		require.Greater(e.t, next, after)
		after = next
	}
}

func vectorsOf(rows []backend.Row) (out [][]float32) {
	for _, r := range rows {
		out = append(out, r.Vector)
	}
	return out
}

func testPutVectors(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	a := memory("a", "one", "two", "three").tagged(3, 4)
	num := e.complete(a)[0]
	before := e.source(notes, "a")
	seq := e.LastSeq()
	want := e.fillLane(1, a, " in lane 1")
	assert.Equal(t, before, e.source(notes, "a"), "the source is what it was")
	put := e.changes(seq)
	require.Equal(t, []string{"vectors a"}, kinds(put))
	assert.Equal(t, backend.Lane(1), put[0].Lane)
	assert.Equal(t, num, put[0].Source)
	assert.ElementsMatch(t, []uint64{3, 4}, put[0].Tags)
	assert.Equal(t, want, vectorsOf(put[0].Rows))
	assert.Equal(t, e.chunkNums(a), []int64{put[0].Rows[0].Chunk, put[0].Rows[1].Chunk, put[0].Rows[2].Chunk})
	assert.Empty(t, put[0].Rows[0].Text)
	cs, err := e.SourceChunks(ctx, num, 0, 9, true)
	require.NoError(t, err)
	assert.Equal(t, a.chunks()[1].Vector, cs[1].Vector, "those of the first lane stay")

	e.fillLane(2, a, " in lane 2")
	want = e.fillLane(1, a, " again")
	assert.Equal(t, []string{"chunks a", "vectors a", "vectors a"}, kinds(e.changes(0)), "each lane once, at its latest place")
	all := e.changes(0)
	assert.Equal(t, []backend.Lane{0, 2, 1}, []backend.Lane{all[0].Lane, all[1].Lane, all[2].Lane})
	assert.Equal(t, want, vectorsOf(all[2].Rows))
	e.reopen()
	assert.Equal(t, all, e.changes(0))

	_, err = e.Delete(ctx, notes, []string{"a"}, backend.DeleteOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{"drop a"}, kinds(e.changes(0)))
	e.complete(memory("b", "x"))
	e.fillLane(3, memory("b", "x"), "")
	e.complete(memory("b", "y"))
	assert.Equal(t, []string{"drop a", "drop b", "chunks b"}, kinds(e.changes(0)), "they go with their version")
}

// testPutVectorsExpects checks that PutVectors refuses vectors for a version that has changed since the
// caller read it.
func testPutVectorsExpects(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	a := memory("a", "one", "two")
	put := func(read backend.Version) bool {
		t.Helper()
		ok, err := e.PutVectors(ctx, 1, []backend.LaneVectors{{Source: read, Vectors: laneVectors(a, "")}, {Source: e.newest(notes, "beside"), Vectors: [][]float32{{1, 2}}}})
		require.NoError(t, err)
		require.True(t, ok[1], "one beside it is stored")
		return ok[0]
	}
	e.complete(a, memory("beside", "x"))
	first := e.newest(notes, "a")
	require.True(t, put(first))
	require.True(t, put(first), "it changes no version")
	e.accept(memory("a", "three", "four"))
	require.True(t, put(first), "the version before is visible until the newer one is indexed")
	waiting := e.newest(notes, "a")
	require.False(t, put(waiting), "it has no chunks yet")
	token, _ := e.claimAll()
	ok, err := e.Index(ctx, []backend.Indexed{{Num: waiting.Num, Token: token, Chunks: a.chunks()}})
	require.NoError(t, err)
	require.Equal(t, []bool{true}, ok)
	require.False(t, put(first), "it is gone")
	require.False(t, put(waiting), "it was indexed since")
	require.True(t, put(e.newest(notes, "a")))
	read := e.newest(notes, "a")
	_, err = e.UpdateMetadata(ctx, notes, "a", read, nil, nil, nil, nil, at(1))
	require.NoError(t, err)
	require.False(t, put(read), "it was edited since")
	require.True(t, put(e.newest(notes, "a")))
	_, err = e.Delete(ctx, notes, []string{"a"}, backend.DeleteOptions{})
	require.NoError(t, err)
	require.False(t, put(e.newest(notes, "a")))
}

func testPutVectorsRefuses(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	a := memory("a", "one", "two")
	e.complete(a, memory("raw", "x").in(vectorsOnly))
	before := e.changes(0)
	item := backend.LaneVectors{Source: e.newest(notes, "a"), Vectors: laneVectors(a, "")}
	for _, lane := range []backend.Lane{0, backend.LaneCount, 200} {
		_, err := e.PutVectors(ctx, lane, []backend.LaneVectors{item})
		require.Error(t, err, "lane %d", lane)
	}
	short := item
	short.Vectors = short.Vectors[:1]
	_, err := e.PutVectors(ctx, 1, []backend.LaneVectors{item, short})
	require.Error(t, err, "fewer vectors than chunks")
	ok, err := e.PutVectors(ctx, 1, []backend.LaneVectors{{Source: e.newest(vectorsOnly, "raw"), Vectors: [][]float32{{1}}}})
	require.NoError(t, err)
	require.Equal(t, []bool{false}, ok, "vectors of the caller have one lane")
	_, err = e.MissingVectors(ctx, backend.LaneCount, 0, 1)
	require.Error(t, err)
	_, err = e.DropLane(ctx, backend.LaneCount, 0, 1)
	require.Error(t, err)
	_, err = e.DropLane(ctx, 1, 0, 0)
	require.Error(t, err, "it would have no end")
	_, err = e.Place(ctx, []backend.Placed{{Incoming: backend.Incoming{Source: memory("p").Source}, Chunks: memory("p", "x").chunks(), Lane: backend.LaneCount}})
	require.Error(t, err)
	_, err = e.Place(ctx, []backend.Placed{{Incoming: backend.Incoming{Source: memory("p").in(vectorsOnly).Source}, Chunks: memory("p", "x").chunks(), Lane: 1}})
	require.Error(t, err)
	require.Equal(t, before, e.changes(0), "nothing changed")
}

func testMissingVectors(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	a, b, c := memory("a", "one"), memory("b", "two").in(files), memory("c", "three").in(other)
	nums := e.complete(a, b, c, memory("empty"), memory("raw", "x").in(vectorsOnly))
	e.accept(memory("waiting", "x"), memory("a", "newer"))
	assert.Empty(t, e.missing(0))
	assert.Equal(t, nums[:3], e.missing(1))
	e.fillLane(1, b, "")
	assert.Equal(t, []int64{nums[0], nums[2]}, e.missing(1))
	assert.Equal(t, nums[:3], e.missing(2))
	page, err := e.MissingVectors(ctx, 1, nums[0], 10)
	require.NoError(t, err)
	assert.Equal(t, []int64{nums[2]}, page, "above a number")
	has, err := e.HasVectors(ctx, 1, []int64{nums[2], nums[1], nums[1] + 1000})
	require.NoError(t, err)
	assert.Equal(t, []bool{false, true, false}, has, "as asked; none of a version that is not there")
	_, err = e.HasVectors(ctx, backend.LaneCount, nums)
	require.Error(t, err)
	e.fillLane(1, c, "")
	token, claims := e.claimAll()
	for _, cl := range claims {
		if cl.ID == "a" {
			ok, err := e.Index(ctx, []backend.Indexed{{Num: cl.Num, Token: token, Chunks: memory("a", "newer").chunks(), Lane: 1}})
			require.NoError(t, err)
			require.Equal(t, []bool{true}, ok)
		}
	}
	assert.Empty(t, e.missing(1), "a newer version came with the lane")
	assert.Equal(t, []int64{e.newest(notes, "a").Num}, e.missing(0))
	e.reopen()
	assert.Empty(t, e.missing(1))
	assert.Equal(t, []int64{e.newest(notes, "a").Num}, e.missing(0))
}

// testIndexInLane checks that vectors that Index and Place store in a lane above 0 can be read back.
func testIndexInLane(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	a, b := memory("a", "one", "two"), memory("b", "three")
	num := e.accept(a)[0]
	token, _ := e.claimAll()
	ok, err := e.Index(ctx, []backend.Indexed{{Num: num, Token: token, Chunks: a.chunks(), Lane: 2}})
	require.NoError(t, err)
	require.Equal(t, []bool{true}, ok)
	p, err := e.Place(ctx, []backend.Placed{{Incoming: backend.Incoming{Source: b.Source}, Chunks: b.chunks(), Lane: 3}})
	require.NoError(t, err)
	require.Equal(t, backend.Lane(3), p.Changes[0].Lane)
	feed := e.changes(0)
	require.Equal(t, []string{"chunks a", "chunks b"}, kinds(feed))
	assert.Equal(t, []backend.Lane{2, 3}, []backend.Lane{feed[0].Lane, feed[1].Lane})
	assert.Equal(t, a.chunks()[1].Vector, feed[0].Rows[1].Vector)
	assert.Equal(t, b.chunks()[0].Vector, feed[1].Rows[0].Vector)
	cs, err := e.SourceChunks(ctx, num, 1, 2, true)
	require.NoError(t, err)
	assert.Equal(t, a.chunks()[1].Vector, cs[0].Vector)
	claims, err := e.Claim(ctx, "later", at(1e7), at(2e7), 5, 0)
	require.NoError(t, err)
	require.Len(t, claims, 1)
	assert.Equal(t, a.chunks()[0].Vector, claims[0].Chunks[0].Vector)
	want := e.fillLane(2, a, " anew")
	feed = e.changes(0)
	require.Equal(t, []string{"chunks a", "chunks b", "vectors a"}, kinds(feed))
	assert.Equal(t, want, vectorsOf(feed[0].Rows), "both say what is stored now")
	assert.Equal(t, want, vectorsOf(feed[2].Rows))
}

func testDropLane(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	items := []item{memory("a", "one", "two"), memory("b", "three"), memory("c", "four").in(files), memory("d", "five")}
	nums := e.complete(items...)
	for _, it := range items[:3] {
		e.fillLane(1, it, " one")
		e.fillLane(2, it, " two")
	}
	seq := e.LastSeq()
	assert.Equal(t, 2, e.dropLane(1, 2), "three versions, two at a time")
	drop := e.changes(seq)
	require.Equal(t, []string{"drop vectors"}, kinds(drop))
	assert.Equal(t, backend.Change{Seq: drop[0].Seq, Kind: backend.DropVectors, Lane: 1}, drop[0])
	assert.Equal(t, nums, e.missing(1))
	assert.Equal(t, nums[3:], e.missing(2))
	e.fillLane(1, items[0], " again")
	e.dropLane(1, 1)
	e.fillLane(1, items[0], " and again")
	assert.Equal(t, []string{"chunks a", "chunks b", "chunks c", "chunks d", "vectors a", "vectors b", "vectors c", "drop vectors", "vectors a"}, kinds(e.changes(0)))
	n, err := e.DeleteSub(ctx, "", 10)
	require.NoError(t, err)
	require.Zero(t, n)
	e.reopen()
	assert.Equal(t, []string{"drop vectors", "vectors a"}, kinds(e.changes(seq)))
	e.compact(e.LastSeq(), 10, 1)
	assert.Equal(t, []string{"vectors a"}, kinds(e.changes(0)[7:]), "it is a tombstone")
	_, err = e.Changes(ctx, seq, 10)
	require.ErrorIs(t, err, backend.ErrFeedGone)
}

// testDropFirstLane drops lane 0, whose vectors ingestion stored.
func testDropFirstLane(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	a, bare := memory("a", "one", "two"), memory("bare", "")
	num := e.complete(a, bare)[0]
	raw := memory("raw", "x").in(vectorsOnly)
	e.complete(raw)
	want := e.fillLane(1, a, "")
	e.fillLane(1, bare, "")
	e.dropLane(0, 1)
	cs, err := e.SourceChunks(ctx, num, 0, 9, true)
	require.NoError(t, err)
	require.Len(t, cs, 2)
	assert.Nil(t, cs[0].Vector)
	assert.Equal(t, "one", cs[0].Text)
	for _, c := range e.changes(0) {
		switch {
		case c.Kind == backend.PutVectors && c.SourceID == "a":
			assert.Equal(t, want, vectorsOf(c.Rows))
		case c.Kind == backend.PutChunks && c.SourceID == "raw":
			assert.NotNil(t, c.Rows[0].Vector, "vectors of the caller stay")
		case c.Kind == backend.PutChunks:
			assert.Nil(t, c.Rows[0].Vector)
		}
	}
	assert.Len(t, e.missing(0), 2)
	assert.Empty(t, e.missing(1))
}
