package backendtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// standsFor returns the key of the entity to which a key leads; empty: there is none.
func (e *storeEnv) standsFor(key string) string {
	e.t.Helper()
	if x := e.entity(key); x != nil {
		return x.Key
	}
	return ""
}

func (e *storeEnv) remove(ids ...string) {
	e.t.Helper()
	_, err := e.Delete(e.t.Context(), notes, ids, backend.DeleteOptions{})
	require.NoError(e.t, err)
}

func (e *storeEnv) merges() []backend.Merge {
	e.t.Helper()
	ms, err := e.Merges(e.t.Context(), notes, 0, 100)
	require.NoError(e.t, err)
	return ms
}

// testAlias checks that an alias holds until the last source that states it is deleted.
func testAlias(t *testing.T, e *storeEnv) {
	asBob := livesIn("Oslo", 10)
	asBob.FromKey = "bob"
	asRobert := livesIn("Lisbon", 20)
	asRobert.FromKey = "robert"
	e.complete(fact("a", asBob).mention(0, "bob"), fact("b", asRobert))
	e.complete(memory("s", "x").mention(0, "bob").alias("bob", "robert").alias("bob", "bob"))
	assert.Equal(t, "robert", e.standsFor("bob"))
	assert.Equal(t, map[string]retired{"Oslo": {at(20), "Lisbon"}, "Lisbon": {}}, e.retirements(), "one subject now")
	ms := e.merges()
	require.Len(t, ms, 1)
	assert.Equal(t, backend.Merge{Num: ms[0].Num, Part: notes, From: "bob", Into: "robert", Reason: "s says so", At: at(7), Stated: true,
		AskedFrom: "bob", AskedInto: "robert"}, ms[0])
	e.complete(memory("c", "x").mention(0, "bob"))
	assert.Equal(t, 5, e.entity("robert").Mentions, "later mentions follow")

	e.complete(memory("s2", "x").mention(0, "bob").alias("bob", "robert"))
	require.Len(t, e.merges(), 1, "it is said already")
	e.remove("s")
	assert.Equal(t, "robert", e.standsFor("bob"), "another source says so")
	e.complete(memory("s2", "changed").mention(0, "robert"))
	assert.Equal(t, "bob", e.standsFor("bob"), "the new version does not")
	assert.Equal(t, map[string]retired{"Oslo": {}, "Lisbon": {}}, e.retirements())
	ms = e.merges()
	require.Len(t, ms, 1)
	assert.True(t, ms[0].Undone)
	require.ErrorIs(t, e.UndoMerge(t.Context(), ms[0].Num), backend.ErrConflict)
	e.complete(memory("s3", "x").mention(0, "bob").alias("bob", "robert"))
	assert.Equal(t, "robert", e.standsFor("bob"), "it is said anew")
	e.complete(memory("s4", "x").mention(0, "bob").alias("tim", "nobody mentioned").mention(0, "tim"))
	e.remove("s3", "s4", "a", "b", "c", "s2")
	assert.Nil(t, e.entity("robert"))
	assert.Nil(t, e.entity("bob"))
}

func testAliasAmbiguous(t *testing.T, e *storeEnv) {
	e.complete(memory("a", "x").mention(0, "bob"), memory("s", "x").alias("bob", "robert smith"))
	assert.Equal(t, "robert smith", e.standsFor("bob"))
	e.complete(memory("s2", "x").alias("bob", "robert jones"))
	assert.Equal(t, "bob", e.standsFor("bob"), "two Roberts")
	e.remove("s")
	assert.Equal(t, "robert jones", e.standsFor("bob"))
	e.complete(memory("s3", "x").alias("bob", "robert smith").alias("bob", "robert jones"))
	assert.Equal(t, "bob", e.standsFor("bob"))
	e.remove("s2", "s3")
	assert.Equal(t, "bob", e.standsFor("bob"))
	assert.Equal(t, 1, e.entity("bob").Mentions)
}

func testAliasLikely(t *testing.T, e *storeEnv) {
	e.complete(memory("s", "x").likely("anna", "anna lind"))
	assert.Empty(t, e.merges(), "nothing to fold")
	e.complete(memory("a", "x").mention(0, "anna"))
	assert.Equal(t, "anna lind", e.standsFor("anna"), "as soon as there is")
	e.complete(memory("s2", "x").likely("anna", "anna berg"))
	assert.Equal(t, "anna", e.standsFor("anna"))
	e.complete(memory("s3", "x").alias("anna", "anna roth"))
	assert.Equal(t, "anna roth", e.standsFor("anna"), "what is said outright counts more")
	e.remove("s3", "s")
	assert.Equal(t, "anna berg", e.standsFor("anna"))
	e.remove("a")
	e.complete(memory("a", "x").mention(0, "anna"))
	assert.Equal(t, "anna berg", e.standsFor("anna"))
}

func testAliasUndone(t *testing.T, e *storeEnv) {
	e.complete(memory("a", "x").mention(0, "bob"), memory("s", "x").alias("bob", "robert"))
	require.NoError(t, e.UndoMerge(t.Context(), e.merges()[0].Num))
	assert.Equal(t, "bob", e.standsFor("bob"))
	e.complete(memory("s", "x").alias("bob", "robert"), memory("s2", "x").alias("bob", "robert"))
	assert.Equal(t, "bob", e.standsFor("bob"), "the caller knows better")
	e.remove("s", "s2")
	e.complete(memory("s3", "x").alias("bob", "bobby"))
	assert.Equal(t, "bobby", e.standsFor("bob"), "which says nothing of others")
}

func testAliasAndMerge(t *testing.T, e *storeEnv) {
	e.complete(memory("a", "x").mention(0, "bob"), memory("b", "x").mention(0, "rob"), memory("c", "x").mention(0, "robert"))
	_, err := e.MergeEntities(t.Context(), notes, "bob", "rob", "", at(1))
	require.NoError(t, err)
	e.complete(memory("s", "x").alias("bob", "robert"))
	assert.Equal(t, "rob", e.standsFor("bob"), "the caller's merge stays")
	e.complete(memory("s2", "x").alias("rob", "robert"))
	for _, k := range []string{"bob", "rob", "robert"} {
		assert.Equal(t, "robert", e.standsFor(k))
	}
	e.remove("s2")
	assert.Equal(t, "rob", e.standsFor("bob"))
	assert.Equal(t, "robert", e.standsFor("robert"))
	e.complete(memory("x", "x").mention(0, "p").alias("p", "q"), memory("y", "x").mention(0, "q").alias("q", "p"))
	assert.Equal(t, e.standsFor("p"), e.standsFor("q"), "said both ways")
	e.remove("x", "y")
	n, err := e.DeleteSub(t.Context(), notes.Sub, 1000)
	require.NoError(t, err)
	require.Positive(t, n)
	assert.Empty(t, e.merges())
}

// testAliasChain checks that a chain of two aliases holds as long as both statements exist.
func testAliasChain(t *testing.T, e *storeEnv) {
	e.complete(memory("a", "x").mention(0, "bob").alias("bob", "robert"), memory("b", "x").mention(0, "tim").mention(0, "bob").alias("tim", "bob"))
	assert.Equal(t, []string{"robert", "robert"}, []string{e.standsFor("tim"), e.standsFor("bob")})
	mentions := e.entity("tim").Mentions
	e.complete(memory("c", "x").mention(0, "tim"))
	assert.Equal(t, mentions+1, e.entity("robert").Mentions, "later mentions follow")
	e.remove("a")
	assert.Equal(t, []string{"bob", "bob"}, []string{e.standsFor("tim"), e.standsFor("bob")}, "nobody says that they are robert")
	e.complete(memory("a", "x").mention(0, "bob").alias("bob", "robert"))
	assert.Equal(t, []string{"robert", "robert"}, []string{e.standsFor("tim"), e.standsFor("bob")})
	e.remove("b")
	assert.Equal(t, []string{"tim", "robert"}, []string{e.standsFor("tim"), e.standsFor("bob")})
	e.remove("a", "c")
	assert.Nil(t, e.entity("robert"))
	assert.Nil(t, e.entity("tim"))
}

// testStatedAliases checks which versions Stated lists as stating an alias. A recall needs them, since an alias
// counts only for a reader who may see a version that states it.
func testStatedAliases(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	stated := func(limited bool) (out []string) {
		said, err := e.Stated(ctx, backend.StatedQuery{Part: notes, Limited: limited})
		require.NoError(t, err)
		for _, a := range said {
			src, err := e.SourcesByNum(ctx, []int64{a.Source})
			require.NoError(t, err)
			out = append(out, src[0].ID+": "+a.From+" is "+a.Into)
		}
		return out
	}
	open := func(it item) item { return it.tagged(backend.Everybody) }
	e.complete(open(memory("a", "x")).mention(0, "bob").alias("bob", "robert"), memory("b", "x").tagged(7).alias("rob", "robert").mention(0, "rob"))
	assert.Equal(t, []string{"a: bob is robert", "b: rob is robert"}, stated(false))
	assert.Equal(t, []string{"b: rob is robert"}, stated(true))
	edit := func(id string, tags ...uint64) {
		_, err := e.UpdateMetadata(ctx, notes, id, e.newest(notes, id), nil, nil, nil, tags, at(1))
		require.NoError(t, err)
	}
	edit("a", 7)
	edit("b", backend.Everybody)
	assert.Equal(t, []string{"a: bob is robert"}, stated(true), "the access list was edited")
	edit("a", 7, backend.Everybody)
	assert.Empty(t, stated(true))
	e.accept(memory("a", "new").tagged(7))
	assert.Equal(t, []string{"a: bob is robert"}, stated(true), "the newer version may be hidden")
	e.complete(memory("a", "new").tagged(7))
	assert.Equal(t, []string{"b: rob is robert"}, stated(false))
	said, err := e.Stated(ctx, backend.StatedQuery{Part: other})
	require.NoError(t, err)
	assert.Empty(t, said)
}

// testReadUnmerged checks that merged entities can be read as if they had not been merged.
func testReadUnmerged(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	knows := func(from, to string) backend.Relation {
		return backend.Relation{FromKey: from, ToKey: to, Predicate: "knows", Raw: from}
	}
	e.complete(memory("a", "a0", "a1").mention(0, "bob").mention(1, "bob").mention(1, "bob").mention(1, "tim").relate(knows("bob", "tim")),
		memory("b", "b0").mention(0, "robert").relate(knows("robert", "bob")))
	_, err := e.MergeEntities(ctx, notes, "bob", "robert", "", at(1))
	require.NoError(t, err)
	own, err := e.OwnEntities(ctx, notes, []string{"bob", "nobody", "robert"})
	require.NoError(t, err)
	require.Nil(t, own[1])
	bob, robert := own[0], own[2]
	assert.Equal(t, []string{"bob", "robert"}, []string{bob.Key, robert.Key})
	assert.Equal(t, robert.Num, e.entity("bob").Num)
	raw := func(q backend.RelationQuery) (out []string) {
		q.Own = true
		for _, r := range e.relations(q) {
			out = append(out, r.Raw)
			assert.Equal(t, map[string]int64{"bob": bob.Num, "robert": robert.Num}[r.FromKey], r.From)
		}
		return out
	}
	assert.Equal(t, []string{"bob", "robert"}, raw(backend.RelationQuery{}))
	assert.Equal(t, []string{"robert"}, raw(backend.RelationQuery{Entities: []int64{robert.Num}}))
	assert.Equal(t, []string{"bob", "robert"}, raw(backend.RelationQuery{Entities: []int64{bob.Num}}))
	assert.Equal(t, []string{"bob"}, raw(backend.RelationQuery{Entities: []int64{bob.Num}, Predicates: []string{"knows"}}), "of a subject")
	mentions := func(versions int, keys ...string) (out []string) {
		found, err := e.MentionsOf(ctx, notes, keys, versions)
		require.NoError(t, err)
		for _, m := range found {
			rows, err := e.Chunks(ctx, []int64{m.Chunk}, at(0))
			require.NoError(t, err)
			require.Equal(t, rows[0].Src.Num, m.Source)
			out = append(out, keys[m.At]+" in "+rows[0].Key)
			if rows[0].Key == "a1" && keys[m.At] == "bob" {
				assert.InDelta(t, 2*found[0].Weight, m.Weight, 1e-6, "of both mentions")
			}
		}
		return out
	}
	chunks := mentions(10, "bob", "nobody", "robert")
	require.Len(t, chunks, 3)
	assert.Equal(t, chunks[2:], mentions(10, "robert"))
	e.complete(memory("c", "c0").mention(0, "bob"))
	assert.Equal(t, chunks[:2], mentions(1, "bob"), "of the oldest version")
	assert.Len(t, mentions(2, "bob"), 3)
}
