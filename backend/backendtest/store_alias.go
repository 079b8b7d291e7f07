package backendtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// standsFor is the key of the entity that a key stands for, empty for none.
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

// testAlias: what a source says holds for as long as it is there, or another says so too.
func testAlias(t *testing.T, e *storeEnv) {
	asBob := lives("Oslo", 10)
	asBob.FromKey = "bob"
	asRobert := lives("Lisbon", 20)
	asRobert.FromKey = "robert"
	e.complete(fact("a", asBob).mention(0, "bob"), fact("b", asRobert))
	e.complete(memory("s", "x").mention(0, "bob").alias("bob", "robert").alias("bob", "bob"))
	assert.Equal(t, "robert", e.standsFor("bob"))
	assert.Equal(t, map[string]retired{"Oslo": {at(20), "Lisbon"}, "Lisbon": {}}, e.beliefs(), "one subject now")
	ms := e.merges()
	require.Len(t, ms, 1)
	assert.Equal(t, backend.Merge{Num: ms[0].Num, Part: notes, From: "bob", Into: "robert", Reason: "s says so", At: at(7), Stated: true}, ms[0])
	e.complete(memory("c", "x").mention(0, "bob"))
	assert.Equal(t, 5, e.entity("robert").Mentions, "later mentions follow")

	e.complete(memory("s2", "x").mention(0, "bob").alias("bob", "robert"))
	require.Len(t, e.merges(), 1, "it is said already")
	e.remove("s")
	assert.Equal(t, "robert", e.standsFor("bob"), "another source says so")
	e.complete(memory("s2", "changed").mention(0, "robert"))
	assert.Equal(t, "bob", e.standsFor("bob"), "the new version does not")
	assert.Equal(t, map[string]retired{"Oslo": {}, "Lisbon": {}}, e.beliefs())
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
