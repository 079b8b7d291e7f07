package backendtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

var storePageTests = []namedTest[*storeEnv]{
	{"Sessions", testSessions},
	{"SessionSources", testSessionSources},
	{"ListEntities", testListEntities},
	{"Mentioned", testMentioned},
	{"RelationsByPredicate", testRelationsByPredicate},
}

// inSession returns a memory of a session.
func inSession(id, session string, t time.Time) item {
	it := memory(id, id)
	it.Session, it.Time = session, t
	return it
}

func testSessions(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	e.complete(inSession("a", "one", at(5)), inSession("b", "two", time.Time{}), inSession("c", "one", at(3)), inSession("d", "", at(1)), inSession("x", "other", at(1)).in(other))
	e.accept(inSession("late", "three", at(9)).expires(at(50)), inSession("a", "one", at(7)))
	list := func(after string, limit, now int) []backend.SessionInfo {
		out, err := e.Sessions(ctx, backend.SessionsQuery{Part: notes, After: after, Limit: limit, Now: at(now)})
		require.NoError(t, err)
		return out
	}
	one := backend.SessionInfo{Session: "one", Sources: 2, First: at(3), Last: at(7)}
	three := backend.SessionInfo{Session: "three", Sources: 1, First: at(9), Last: at(9)}
	two := backend.SessionInfo{Session: "two", Sources: 1}
	assert.Equal(t, []backend.SessionInfo{one, three, two}, list("", 10, 0), "newest versions, by name")
	assert.Equal(t, []backend.SessionInfo{one, two}, list("", 10, 50), "without what is expired")
	assert.Equal(t, []backend.SessionInfo{three}, list("one", 1, 0))
	assert.Empty(t, list("two", 10, 0))
	_, err := e.Delete(ctx, notes, []string{"b"}, backend.DeleteOptions{})
	require.NoError(t, err)
	assert.Equal(t, []backend.SessionInfo{one, three}, list("", 10, 0))
}

func testSessionSources(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	e.complete(inSession("late", "s", at(9)), inSession("untimed", "s", time.Time{}), inSession("early", "s", at(2)), inSession("same", "s", at(9)), inSession("early", "t", at(2)).in(other), inSession("alone", "", at(1)))
	e.accept(inSession("untimed again", "s", time.Time{}), inSession("gone", "s", at(4)).expires(at(50)))
	var ids []string
	q := backend.SessionQuery{Part: notes, Session: "s", Limit: 2, Now: at(50)}
	for {
		page, err := e.SessionSources(ctx, q)
		require.NoError(t, err)
		for _, src := range page {
			ids = append(ids, src.ID)
			q.AfterTime, q.AfterNum = src.Time, src.Num
		}
		if len(page) < q.Limit {
			break
		}
	}
	assert.Equal(t, []string{"untimed", "untimed again", "early", "late", "same"}, ids, "by time, then as they came")
	page, err := e.SessionSources(ctx, backend.SessionQuery{Part: notes, Limit: 5})
	require.NoError(t, err)
	assert.Empty(t, page, "no session has no name")
}

func testListEntities(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	e.complete(memory("a", "x").mention(0, "anna").mention(0, "anton").mention(0, "b%").mention(0, "zoë"), memory("b", "x").mention(0, "anna").mention(0, "bob"))
	_, err := e.MergeEntities(ctx, notes, "anton", "bob", "", at(1))
	require.NoError(t, err)
	keys := func(q backend.EntityQuery) (out []string) {
		q.Part = notes
		es, err := e.ListEntities(ctx, q)
		require.NoError(t, err)
		for _, x := range es {
			out = append(out, x.Key)
		}
		return out
	}
	assert.Equal(t, []string{"anna", "b%", "bob", "zoë"}, keys(backend.EntityQuery{Limit: 10}), "without what stands for another")
	assert.Equal(t, []string{"b%", "bob"}, keys(backend.EntityQuery{After: "anna", Limit: 2}))
	assert.Equal(t, []string{"anna"}, keys(backend.EntityQuery{Prefix: "an", Limit: 10}))
	assert.Equal(t, []string{"b%"}, keys(backend.EntityQuery{Prefix: "b%", Limit: 10}))
	assert.Equal(t, []string{"zoë"}, keys(backend.EntityQuery{Prefix: "zoë", Limit: 10}))
	assert.Equal(t, []string{"bob"}, keys(backend.EntityQuery{Prefix: "b", After: "b%", Limit: 10}))
	assert.Empty(t, keys(backend.EntityQuery{Type: "none", Limit: 10}))
	assert.Len(t, keys(backend.EntityQuery{Type: "thing", Limit: 10}), 4)
	assert.Equal(t, []string{"anna", "anton", "b%"}, keys(backend.EntityQuery{Folded: true, Limit: 3}), "each under its own key")
	es, err := e.ListEntities(ctx, backend.EntityQuery{Part: notes, Prefix: "anna", Limit: 1})
	require.NoError(t, err)
	assert.Equal(t, 2, es[0].Mentions)
}

func testMentioned(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	typed := func(it item, key, typ string) item {
		it = it.mention(0, key)
		it.mentions[len(it.mentions)-1].Type = typ
		return it
	}
	a := e.complete(typed(typed(typed(memory("a", "x"), "anna", "PERSON"), "anna", "THING"), "bob", "PERSON"))[0]
	b := e.complete(typed(memory("b", "x"), "anna", "PLACE"))[0]
	c := e.complete(typed(memory("c", "x"), "ann", ""))[0]
	said := func(q backend.MentionQuery) []backend.Mentioned {
		q.Part = notes
		out, err := e.Mentioned(ctx, q)
		require.NoError(t, err)
		return out
	}
	anna := []backend.Mentioned{{Key: "anna", Source: a, Type: "PERSON", Count: 2}, {Key: "anna", Source: b, Type: "PLACE", Count: 1}}
	bob := backend.Mentioned{At: 2, Key: "bob", Source: a, Type: "PERSON", Count: 1}
	assert.Equal(t, append(anna[:2:2], bob), said(backend.MentionQuery{Keys: []string{"anna", "none", "bob"}}))
	num, err := e.MergeEntities(ctx, notes, "ann", "anna", "", at(1))
	require.NoError(t, err)
	ann := backend.Mentioned{Key: "ann", Source: c, Count: 1}
	assert.Equal(t, append([]backend.Mentioned{ann}, anna...), said(backend.MentionQuery{Keys: []string{"anna"}}), "with what was folded into it")
	assert.Equal(t, []backend.Mentioned{ann}, said(backend.MentionQuery{Keys: []string{"ann"}}))
	assert.Equal(t, []backend.Mentioned{{At: 1, Key: "anna", Source: b, Type: "PLACE", Count: 1}}, said(backend.MentionQuery{Keys: []string{"anna", "anna"}, Sources: []int64{c, b}}))
	assert.Equal(t, []backend.Mentioned{anna[0], {At: 1, Key: "ann", Source: c, Count: 1}}, said(backend.MentionQuery{Keys: []string{"anna", "ann"}, Oldest: 1}), "the oldest, of the key itself")
	require.NoError(t, e.UndoMerge(ctx, num))
	assert.Equal(t, anna, said(backend.MentionQuery{Keys: []string{"anna"}}))
	e.complete(typed(memory("a", "y"), "bob", "DOG"))
	_, err = e.Delete(ctx, notes, []string{"b"}, backend.DeleteOptions{})
	require.NoError(t, err)
	for _, m := range said(backend.MentionQuery{Keys: []string{"anna"}}) {
		assert.NotEqual(t, b, m.Source, "what is deleted says nothing")
	}
	got, err := e.Mentioned(ctx, backend.MentionQuery{Part: other, Keys: []string{"anna"}})
	require.NoError(t, err)
	assert.Empty(t, got)
}

func testRelationsByPredicate(t *testing.T, e *storeEnv) {
	likes := backend.Relation{FromKey: "u", Predicate: "likes", ToKey: "tea", KnownFrom: at(10)}
	liked := backend.Relation{FromKey: "tea", Predicate: "likes", ToKey: "u", KnownFrom: at(10)}
	e.complete(fact("a", livesIn("Oslo", 10), likes, liked))
	e.complete(fact("b", livesIn("Lisbon", 20)))
	u := []int64{e.entity("u").Num}
	said := func(q backend.RelationQuery) (out []string) {
		q.Part, q.Limit = notes, 10
		rels, err := e.Relations(t.Context(), q)
		require.NoError(t, err)
		for _, r := range rels {
			out = append(out, r.FromKey+" "+r.Predicate+" "+r.ToKey)
		}
		return out
	}
	home := likes.FromKey + " " + livesIn("Oslo", 1).Predicate + " "
	assert.Equal(t, []string{"u likes tea"}, said(backend.RelationQuery{Entities: u, Predicates: []string{"likes"}}), "of the subject")
	assert.Equal(t, []string{"u likes tea", "tea likes u"}, said(backend.RelationQuery{Predicates: []string{"likes"}}))
	assert.Equal(t, []string{"u likes tea", home + livesIn("Lisbon", 1).ToKey}, said(backend.RelationQuery{Entities: u, Predicates: []string{"likes", livesIn("Oslo", 1).Predicate}}))
	assert.Len(t, said(backend.RelationQuery{Entities: u, Predicates: []string{livesIn("Oslo", 1).Predicate}, AllTime: true}), 2)
	assert.Empty(t, said(backend.RelationQuery{Entities: u, Predicates: []string{}}))
}
