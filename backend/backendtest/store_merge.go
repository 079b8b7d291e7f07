package backendtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

func testMerge(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	e.complete(memory("a", "a0").mention(0, "nyc").relate(backend.Relation{FromKey: "nyc", ToKey: "usa", Predicate: "in", Raw: "r"}),
		memory("b", "b0").mention(0, "new york"))
	_, err := e.MergeEntities(ctx, notes, "nyc", "nobody", "", at(1))
	require.ErrorIs(t, err, backend.ErrNotFound)
	_, err = e.MergeEntities(ctx, notes, "nobody", "nyc", "", at(1))
	require.ErrorIs(t, err, backend.ErrNotFound)
	seq := e.LastSeq()
	num, err := e.MergeEntities(ctx, notes, "nyc", "new york", "same place", at(5))
	require.NoError(t, err)
	into := e.entity("new york")
	assert.Equal(t, into, e.entity("nyc"), "an alias")
	assert.Equal(t, []any{"new york", 2}, []any{into.Key, into.Mentions})
	rs := e.relations(backend.RelationQuery{Entities: []int64{into.Num}})
	require.Len(t, rs, 1, "relations follow")
	assert.Equal(t, into.Num, rs[0].From)
	merges, err := e.Merges(ctx, notes, 0, 10)
	require.NoError(t, err)
	assert.Equal(t, []backend.Merge{{Num: num, Part: notes, From: "nyc", Into: "new york", Reason: "same place", At: at(5), AskedFrom: "nyc", AskedInto: "new york"}}, merges)

	changes := e.changes(seq)
	require.Len(t, changes, 1, "indexes hear of the version that was touched")
	assert.Equal(t, backend.PutGraph, changes[0].Kind)
	assert.Equal(t, "a", changes[0].SourceID)
	require.Len(t, changes[0].Mentions, 1)
	assert.Equal(t, into.Num, changes[0].Mentions[0].Entity)

	e.complete(memory("c", "c0").mention(0, "nyc"))
	assert.Equal(t, 3, e.entity("new york").Mentions, "later mentions follow")
	feed := e.changes(0)
	assert.Equal(t, into.Num, feed[len(feed)-1].Mentions[0].Entity)

	require.NoError(t, e.UndoMerge(ctx, num))
	nyc := e.entity("nyc")
	require.NotNil(t, nyc)
	assert.Equal(t, []any{"nyc", 2}, []any{nyc.Key, nyc.Mentions})
	assert.Equal(t, 1, e.entity("new york").Mentions)
	rs = e.relations(backend.RelationQuery{})
	assert.Equal(t, nyc.Num, rs[0].From)
	merges, err = e.Merges(ctx, notes, 0, 10)
	require.NoError(t, err)
	require.Len(t, merges, 1)
	assert.True(t, merges[0].Undone)
	require.Error(t, e.UndoMerge(ctx, num), "it is undone")
	for _, c := range e.changes(0) {
		if c.Kind == backend.PutGraph && c.SourceID != "b" {
			require.Len(t, c.Mentions, 1)
			assert.Equal(t, nyc.Num, c.Mentions[0].Entity, "indexes hear of it")
		}
	}
	again, err := e.MergeEntities(ctx, notes, "new york", "nyc", "", at(6))
	require.NoError(t, err, "the other way round")
	assert.Greater(t, again, num)
	later, err := e.Merges(ctx, notes, num, 10)
	require.NoError(t, err)
	require.Len(t, later, 1)
	assert.Equal(t, again, later[0].Num)
}

func testMergeChain(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	e.complete(memory("a", "x").mention(0, "k1"), memory("b", "x").mention(0, "k2"), memory("c", "x").mention(0, "k3"))
	m1, err := e.MergeEntities(ctx, notes, "k1", "k2", "", at(1))
	require.NoError(t, err)
	_, err = e.MergeEntities(ctx, notes, "k2", "k3", "", at(2))
	require.NoError(t, err)
	for _, k := range []string{"k1", "k2", "k3"} {
		assert.Equal(t, "k3", e.entity(k).Key)
		assert.Equal(t, 3, e.entity(k).Mentions)
	}
	_, err = e.MergeEntities(ctx, notes, "k3", "k1", "", at(3))
	require.Error(t, err, "they are one already")
	require.NoError(t, e.UndoMerge(ctx, m1))
	assert.Equal(t, []any{"k1", 1}, []any{e.entity("k1").Key, e.entity("k1").Mentions})
	assert.Equal(t, []any{"k3", 2}, []any{e.entity("k2").Key, e.entity("k2").Mentions})
	_, err = e.Delete(ctx, notes, []string{"c"}, backend.DeleteOptions{})
	require.NoError(t, err)
	require.NotNil(t, e.entity("k3"), "what was folded into it is live")
	assert.Equal(t, 1, e.entity("k3").Mentions)
	_, err = e.Delete(ctx, notes, []string{"b"}, backend.DeleteOptions{})
	require.NoError(t, err)
	assert.Nil(t, e.entity("k3"))
	assert.Nil(t, e.entity("k2"))
	e.complete(memory("d", "x").mention(0, "k2"))
	require.NotNil(t, e.entity("k2"))
	assert.Equal(t, "k3", e.entity("k2").Key, "an alias catches mentions when nothing else is left")
}

func testMergeFacts(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	asBob := livesIn("Oslo", 10)
	asBob.FromKey = "bob"
	asRobert := livesIn("Lisbon", 20)
	asRobert.FromKey = "robert"
	e.complete(fact("a", asBob), fact("b", asRobert))
	assert.Equal(t, map[string]retired{"Oslo": {}, "Lisbon": {}}, e.retirements())
	num, err := e.MergeEntities(ctx, notes, "bob", "robert", "", at(30))
	require.NoError(t, err)
	assert.Equal(t, map[string]retired{"Oslo": {at(20), "Lisbon"}, "Lisbon": {}}, e.retirements(), "one subject now")
	require.NoError(t, e.UndoMerge(ctx, num))
	assert.Equal(t, map[string]retired{"Oslo": {}, "Lisbon": {}}, e.retirements())
}
