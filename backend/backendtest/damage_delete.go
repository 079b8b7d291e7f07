package backendtest

import (
	"fmt"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// deletedDamages are damages of an item by which it can still be found.
var deletedDamages = func() map[string][]Damage {
	out := one(UnreadableSource, UnreadableChunk, GoneChunk, UnreadableVector, UnreadableContent, UnreadableMentions, GoneMentions, GoneEdge, WrongEdge, UnreadableFacts)
	out["nothing"] = nil
	for _, more := range []DamageKind{WrongPartCounts, OtherFacts, StrayAlias, WrongEntity, StrayEntity, GoneMentions} {
		out["a version cannot be read, and "+string(more)] = []Damage{{Kind: UnreadableSource}, {Kind: more}}
	}
	return out
}()

// lives returns a fact about where somebody lives.
func lives(key, city string, day int) backend.Relation {
	return backend.Relation{FromKey: key, Predicate: "lives in", Raw: "lives in", Object: city, Functional: true, Confidence: 1, KnownFrom: at(day)}
}

// told returns a memory that mentions entities and has facts.
func told(id string, keys []string, facts ...backend.Relation) item {
	it := memory(id, "text of "+id)
	it.blobs = []backend.Blob{{Kind: backend.Original, Data: []byte("original of " + id)}}
	for _, key := range keys {
		it = it.mention(0, key)
	}
	for _, f := range facts {
		it = it.relate(f)
	}
	return it
}

// graph returns the entities, merges and facts of notes as lines, and the counters.
func (e *storeEnv) graph() (out []string) {
	e.t.Helper()
	ctx := e.t.Context()
	for _, folded := range []bool{true, false} {
		es, err := e.ListEntities(ctx, backend.EntityQuery{Part: notes, Limit: 100, Folded: folded})
		require.NoError(e.t, err)
		for _, x := range es {
			out = append(out, fmt.Sprintf("entity %s, %s, %d mentions, among all: %v", x.Key, x.Name, x.Mentions, folded))
		}
	}
	merges, err := e.Merges(ctx, notes, 0, 100)
	require.NoError(e.t, err)
	for _, m := range merges {
		if !m.Undone {
			out = append(out, "merge of "+m.From+" into "+m.Into)
		}
	}
	for _, f := range e.relations(backend.RelationQuery{AllTime: true}) {
		out = append(out, fmt.Sprintf("fact %s %s %s, until %v, superseded %v", f.FromKey, f.Predicate, f.Object, f.KnownTo, f.SupersededBy != 0))
	}
	st, err := e.Stats(ctx, backend.Memory)
	require.NoError(e.t, err)
	states, _, err := e.Backlog(ctx)
	require.NoError(e.t, err)
	return append(out, fmt.Sprintf("%+v, %v", st, states))
}

// testDamagedDeleted deletes a damaged item. The graph is then as if the item had never been stored, and the item can be stored again.
func testDamagedDeleted(e *storeEnv, ds []Damage) {
	ctx := e.t.Context()
	others := []item{
		told("ann", []string{"ann", "annie", "nan", "ann"}, lives("ann", "Rome", 0), lives("ann", "Oslo", 4)),
		told("bob", []string{"bob", "rob"}, lives("bob", "Bern", 1)),
		told("tea", []string{"bob"}, backend.Relation{FromKey: "bob", Predicate: "likes", Raw: "likes", Object: "tea", Confidence: 1, KnownFrom: at(0)}),
	}
	bad := told("bad", []string{"annie", "nan", "bob", "eve"}, lives("ann", "Kyiv", 2), lives("bob", "Lima", 5),
		backend.Relation{FromKey: "bob", Predicate: "likes", Raw: "likes", Object: "tea", Retracts: true, Confidence: 1, KnownFrom: at(9)})
	bad = bad.alias("annie", "ann").alias("nan", "annie")
	for _, it := range others {
		e.complete(it)
	}
	want := e.graph()
	num := e.complete(bad)[0]
	require.NotEqual(e.t, want, e.graph())
	e.spoil(of(ds, num, "bob")...)
	out, err := e.Delete(ctx, notes, []string{"bad"}, backend.DeleteOptions{})
	require.NoError(e.t, err)
	require.True(e.t, out[0].Found)
	require.Equal(e.t, want, e.graph())
	require.Empty(e.t, e.findings())
	e.reopen()
	require.Equal(e.t, want, e.graph())
	require.Contains(e.t, kinds(e.changes(0)), "drop bad")

	e.complete(bad)
	require.Equal(e.t, []string{"text of bad"}, e.visible(bad))
	_, err = e.Delete(ctx, notes, []string{"bad"}, backend.DeleteOptions{})
	require.NoError(e.t, err)
	require.Equal(e.t, want, e.graph())

	// Nothing is left once the others are deleted too: beside a damaged item, and one that has changed and still meets the condition.
	num = e.complete(bad)[0]
	ids := []string{"ann", "bad", "bob", "tea"}
	expect := []backend.Version{e.newest(notes, "ann"), e.newest(notes, "bad"), e.newest(notes, "bob"), e.newest(notes, "tea")}
	_, err = e.UpdateMetadata(ctx, notes, "tea", expect[3], nil, nil, nil, nil, at(1))
	require.NoError(e.t, err)
	e.spoil(of(ds, num, "bob")...)
	out, err = e.Delete(ctx, notes, ids, backend.DeleteOptions{Expect: expect, Still: &backend.Condition{}})
	require.NoError(e.t, err)
	for i, r := range out {
		require.True(e.t, r.Found && !r.Conflict, ids[i])
	}
	require.Equal(e.t, []string{"{Chunks:0 Sources:0}, map[]"}, e.graph())
	require.Empty(e.t, e.findings())
}

// testDamageBesideMerges deletes a damaged item beside a chain of merges whose middle nothing mentions. Each merge can then be undone.
func testDamageBesideMerges(e *storeEnv, ds []Damage, order []int) {
	ctx := e.t.Context()
	e.complete(told("a", []string{"a", "a"}), told("b", []string{"b"}), told("c", []string{"c"}))
	bad := e.complete(told("bad", []string{"b", "x"}))[0]
	merges := make([]int64, 2)
	for i, keys := range [][2]string{{"a", "b"}, {"b", "c"}} {
		num, err := e.MergeEntities(ctx, notes, keys[0], keys[1], "same", at(1))
		require.NoError(e.t, err)
		merges[i] = num
	}
	_, err := e.Delete(ctx, notes, []string{"b"}, backend.DeleteOptions{})
	require.NoError(e.t, err)
	e.spoil(of(ds, bad, "x")...)
	_, err = e.Delete(ctx, notes, []string{"bad"}, backend.DeleteOptions{})
	require.NoError(e.t, err)
	require.Empty(e.t, e.findings())
	for _, i := range order {
		require.NoError(e.t, e.UndoMerge(ctx, merges[i]))
		require.Empty(e.t, e.findings())
	}
	graph := e.graph()
	require.Subset(e.t, graph, []string{"entity a, The a, 2 mentions, among all: true", "entity c, The c, 1 mentions, among all: true"})
	require.Len(e.t, graph, 5)
}

// testDamagedSub deletes a sub-tenant with a damaged item.
func testDamagedSub(e *storeEnv, ds []Damage) {
	ctx := e.t.Context()
	e.complete(told("elsewhere", []string{"ann"}).in(other))
	num := e.complete(told("bad", []string{"ann", "bob"}, lives("ann", "Rome", 0)), told("good", []string{"ann"}, lives("ann", "Oslo", 1)))[0]
	_, err := e.MergeEntities(ctx, notes, "bob", "ann", "same", at(1))
	require.NoError(e.t, err)
	e.spoil(of(ds, num, "ann")...)
	for range 5 {
		n, err := e.DeleteSub(ctx, notes.Sub, 1)
		require.NoError(e.t, err)
		if n == 0 {
			break
		}
	}
	require.Empty(e.t, e.findings())
	assert.Equal(e.t, []string{"{Chunks:1 Sources:1}, map[4:1]"}, e.graph())
	subs, err := e.Subs(ctx)
	require.NoError(e.t, err)
	require.Len(e.t, subs, 1)
	e.complete(told("bad", []string{"ann", "bob"}))
	require.Equal(e.t, []string{"text of bad"}, e.visible(memory("bad", "text of bad")))
}
