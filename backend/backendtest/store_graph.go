package backendtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

var storeGraphTests = []namedTest[*storeEnv]{
	{"Entities", testEntities},
	{"Relations", testRelations},
	{"RelationTimes", testRelationTimes},
	{"Supersession", testSupersession},
	{"SupersessionOutOfOrder", testSupersessionOutOfOrder},
	{"SupersessionAtOnce", testSupersessionAtOnce},
	{"SupersessionByAsserted", testSupersessionByAsserted},
	{"RelationsAsOf", testRelationsAsOf},
	{"SupersessionUndone", testSupersessionUndone},
	{"Retraction", testRetraction},
	{"RetractionAndSupersession", testRetractionAndSupersession},
	{"Merge", testMerge},
	{"MergeChain", testMergeChain},
	{"MergeFacts", testMergeFacts},
	{"Alias", testAlias},
	{"AliasAmbiguous", testAliasAmbiguous},
	{"AliasLikely", testAliasLikely},
	{"AliasUndone", testAliasUndone},
	{"AliasAndMerge", testAliasAndMerge},
	{"AliasChain", testAliasChain},
	{"StatedAliases", testStatedAliases},
	{"ReadUnmerged", testReadUnmerged},
	{"FinishReplacesGraph", testFinishReplacesGraph},
	{"IndexReplacesGraph", testIndexReplacesGraph},
}

func testEntities(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	a := memory("a", "a0", "a1").mention(0, "red").mention(1, "red").mention(1, "blue")
	nums := e.complete(a, memory("b", "b0").mention(0, "red").relate(backend.Relation{FromKey: "red", ToKey: "unmentioned", Predicate: "p"}))
	red := e.entity("red")
	require.NotNil(t, red)
	assert.Equal(t, []any{"red", "The red", "thing", 3}, []any{red.Key, red.Name, red.Type, red.Mentions})
	byNum, err := e.Entities(ctx, []int64{red.Num, 12345})
	require.NoError(t, err)
	assert.Equal(t, []*backend.Entity{red, nil}, byNum)
	bare := e.entity("unmentioned")
	require.NotNil(t, bare, "a relation alone makes an entity")
	assert.Zero(t, bare.Mentions)
	rs := e.relations(backend.RelationQuery{})
	require.Len(t, rs, 1)
	assert.Equal(t, []int64{red.Num, bare.Num}, []int64{rs[0].From, rs[0].To})

	_, err = e.Delete(ctx, notes, []string{"b"}, backend.DeleteOptions{})
	require.NoError(t, err)
	assert.Nil(t, e.entity("unmentioned"))
	assert.Equal(t, 2, e.entity("red").Mentions)
	assert.Equal(t, red.Num, e.entity("red").Num)
	_, err = e.Delete(ctx, notes, []string{"a"}, backend.DeleteOptions{})
	require.NoError(t, err)
	assert.Nil(t, e.entity("red"))
	assert.Nil(t, e.entity("blue"))
	byNum, err = e.Entities(ctx, []int64{red.Num})
	require.NoError(t, err)
	assert.Nil(t, byNum[0])
	assert.Positive(t, nums[0])
}

func testRelations(t *testing.T, e *storeEnv) {
	r := func(raw, from, to, kind string, chunk int64) backend.Relation {
		return backend.Relation{Raw: raw, FromKey: from, ToKey: to, Predicate: "p " + raw, Kind: kind, Chunk: chunk}
	}
	full := backend.Relation{
		Num: 77, Source: 88, From: 99, To: 99, // the Store replaces these
		Chunk: 1, FromKey: "u", Predicate: "likes", Raw: "full", Context: "sentence", Confidence: .75, Temporal: "since May",
		Origin: "inferred", Kind: "preference", Object: "tea", Precision: "month", ValidFrom: at(1), ValidTo: at(9), KnownFrom: at(2),
	}
	a := memory("a", "a0", "a1").mention(0, "u").relate(r("ra", "x", "y", "", 0)).relate(full)
	b := memory("b", "b0").relate(r("rb", "y", "z", "fact", 0))
	nums := e.complete(a, b)
	ac := e.chunkNums(a)
	all := e.relations(backend.RelationQuery{})
	require.Len(t, all, 3)
	for i := 1; i < len(all); i++ {
		assert.Greater(t, all[i].Num, all[i-1].Num)
	}
	full.Num, full.Source, full.Chunk, full.From, full.To = all[1].Num, nums[0], ac[1], e.entity("u").Num, 0
	assert.Equal(t, full, *all[1])

	x, y, z := e.entity("x").Num, e.entity("y").Num, e.entity("z").Num
	for _, c := range []struct {
		name string
		q    backend.RelationQuery
		want []string
	}{
		{"all", backend.RelationQuery{}, []string{"ra", "full", "rb"}},
		{"sources", backend.RelationQuery{Sources: []int64{nums[1], 999}}, []string{"rb"}},
		{"no source", backend.RelationQuery{Sources: []int64{}}, []string{}},
		{"entities at either end", backend.RelationQuery{Entities: []int64{y}}, []string{"ra", "rb"}},
		{"entities", backend.RelationQuery{Entities: []int64{x, z, e.entity("u").Num}}, []string{"ra", "full", "rb"}},
		{"zero is no entity", backend.RelationQuery{Entities: []int64{0}}, []string{}},
		{"chunks", backend.RelationQuery{Chunks: []int64{ac[1], 999}}, []string{"full"}},
		{"together", backend.RelationQuery{Entities: []int64{y}, Sources: nums[:1]}, []string{"ra"}},
		{"after", backend.RelationQuery{After: all[0].Num}, []string{"full", "rb"}},
		{"limit", backend.RelationQuery{Limit: 2}, []string{"ra", "full"}},
		{"page", backend.RelationQuery{Limit: 1, After: all[1].Num}, []string{"rb"}},
	} {
		assert.Equal(t, c.want, e.relationsRaw(c.q), c.name)
	}
}

func testRelationTimes(t *testing.T, e *storeEnv) {
	r := func(raw string, from, to time.Time) backend.Relation {
		return backend.Relation{Raw: raw, FromKey: "u", Object: raw, Predicate: "p", ValidFrom: from, ValidTo: to, KnownFrom: at(100)}
	}
	none := time.Time{}
	e.complete(memory("a", "x").relate(r("always", none, none)).relate(r("since 10", at(10), none)).
		relate(r("until 20", none, at(20))).relate(r("10 to 20", at(10), at(20))))
	asOf := func(sec int) []string { return e.relationsRaw(backend.RelationQuery{AsOf: at(sec)}) }
	assert.Equal(t, []string{"always", "until 20"}, asOf(5))
	assert.Equal(t, []string{"always", "since 10", "until 20", "10 to 20"}, asOf(15))
	assert.Equal(t, []string{"always", "since 10"}, asOf(25))
	assert.Len(t, asOf(10), 4, "the first instant counts")
	assert.Equal(t, []string{"since 10", "until 20", "10 to 20"}, e.relationsRaw(backend.RelationQuery{Dated: true}))
	assert.Equal(t, []string{"since 10", "until 20"}, e.relationsRaw(backend.RelationQuery{Dated: true, Limit: 2}), "the limit counts dated ones")
	assert.Equal(t, []string{"since 10"}, e.relationsRaw(backend.RelationQuery{Dated: true, AsOf: at(25)}))
	for _, all := range []bool{false, true} {
		chunks := []int64{e.relations(backend.RelationQuery{})[0].Chunk}
		assert.Equal(t, []string{"since 10", "until 20", "10 to 20"}, e.relationsRaw(backend.RelationQuery{Chunks: chunks, Dated: true, AllTime: all}))
	}
	assert.Empty(t, e.relationsRaw(backend.RelationQuery{KnownAt: at(99)}), "not learnt yet")
	assert.Len(t, e.relationsRaw(backend.RelationQuery{KnownAt: at(100)}), 4)
	assert.Equal(t, []string{"always", "until 20"}, e.relationsRaw(backend.RelationQuery{KnownAt: at(101), AsOf: at(5)}))
}

// livesIn returns the functional relation that u lives in a place, learnt at at(learnt).
func livesIn(where string, learnt int) backend.Relation {
	return backend.Relation{FromKey: "u", Predicate: "lives_in", Raw: where, ToKey: where, Kind: "fact", Functional: true, KnownFrom: at(learnt)}
}

// fact returns a memory with one chunk and the given relations.
func fact(id string, rs ...backend.Relation) item {
	it := memory(id, "text of "+id)
	for _, r := range rs {
		it = it.relate(r)
	}
	return it
}

// retired says when a relation was retired, and gives the Raw of the relation that retired it. It is zero
// for a relation that holds.
type retired struct {
	at time.Time
	by string
}

// retirements maps the Raw of each relation to its retirement.
func (e *storeEnv) retirements() map[string]retired {
	e.t.Helper()
	rs := e.relations(backend.RelationQuery{AllTime: true})
	names := map[int64]string{}
	for _, r := range rs {
		names[r.Num] = r.Raw
	}
	out := map[string]retired{}
	for _, r := range rs {
		if !r.Retracts {
			out[r.Raw] = retired{r.KnownTo, names[r.SupersededBy]}
		}
	}
	return out
}

func testSupersession(t *testing.T, e *storeEnv) {
	e.complete(fact("a", livesIn("Oslo", 10), backend.Relation{FromKey: "u", Predicate: "likes", Raw: "tea", Object: "tea", KnownFrom: at(10)}))
	e.complete(fact("b", livesIn("Lisbon", 20), backend.Relation{FromKey: "u", Predicate: "likes", Raw: "milk", Object: "milk", KnownFrom: at(20)}))
	someoneElse := livesIn("Quito", 30)
	someoneElse.FromKey = "v"
	worksIn := livesIn("Tallinn", 30)
	worksIn.Predicate = "works_in"
	e.complete(fact("c", someoneElse, worksIn))
	assert.Equal(t, map[string]retired{
		"Oslo": {at(20), "Lisbon"}, "Lisbon": {}, "tea": {}, "milk": {}, "Quito": {}, "Tallinn": {},
	}, e.retirements(), "a newer one of the same subject and predicate retires, where the predicate has one value")
	assert.Equal(t, []string{"tea", "Lisbon", "milk", "Quito", "Tallinn"}, e.relationsRaw(backend.RelationQuery{}), "those believed now")
	lived := backend.RelationQuery{Entities: []int64{e.entity("Oslo").Num, e.entity("Lisbon").Num}}
	for sec, want := range map[int][]string{9: {}, 10: {"Oslo"}, 19: {"Oslo"}, 20: {"Lisbon"}, 99: {"Lisbon"}} {
		lived.KnownAt = at(sec)
		assert.Equal(t, want, e.relationsRaw(lived), "believed at %d", sec)
	}
	lived.KnownAt, lived.AllTime = time.Time{}, true
	assert.Equal(t, []string{"Oslo", "Lisbon"}, e.relationsRaw(lived))
	e.complete(fact("d", livesIn("Lisbon again", 40)))
	assert.Equal(t, retired{at(40), "Lisbon again"}, e.retirements()["Lisbon"])
	assert.Equal(t, retired{at(20), "Lisbon"}, e.retirements()["Oslo"], "what is retired stays as it is")
}

func testSupersessionOutOfOrder(t *testing.T, e *storeEnv) {
	e.complete(fact("late", livesIn("Lisbon", 20)))
	e.complete(fact("early", livesIn("Oslo", 10)))
	assert.Equal(t, map[string]retired{"Oslo": {at(20), "Lisbon"}, "Lisbon": {}}, e.retirements(), "an older one comes in retired")
	e.complete(fact("both", livesIn("Galway", 30), livesIn("Kyoto", 25)))
	assert.Equal(t, map[string]retired{
		"Oslo": {at(20), "Lisbon"}, "Lisbon": {at(25), "Kyoto"}, "Kyoto": {at(30), "Galway"}, "Galway": {},
	}, e.retirements(), "of one source as well")
}

// testSupersessionAtOnce checks relations learnt at one moment: the source accepted later is the later
// one, and within a source the relation further back.
func testSupersessionAtOnce(t *testing.T, e *storeEnv) {
	e.complete(fact("a", livesIn("Oslo", 10)), fact("b", livesIn("Lisbon", 10)), fact("c", livesIn("Quito", 10), livesIn("Kyoto", 10)))
	assert.Equal(t, map[string]retired{
		"Oslo": {at(10), "Lisbon"}, "Lisbon": {at(10), "Quito"}, "Quito": {at(10), "Kyoto"}, "Kyoto": {},
	}, e.retirements())
	e.complete(fact("a", livesIn("Oslo again", 10)))
	assert.Equal(t, retired{at(10), "Oslo again"}, e.retirements()["Kyoto"], "a new version was accepted later")
	undated := livesIn("Rome", 0)
	undated.KnownFrom = time.Time{}
	other := undated
	other.Raw, other.ToKey = "Bari", "Bari"
	undated.FromKey, other.FromKey = "w", "w"
	e.complete(fact("d", undated), fact("e", other))
	assert.Equal(t, []retired{{}, {}}, []retired{e.retirements()["Rome"], e.retirements()["Bari"]}, "nothing is known of when they were learnt")
}

// testSupersessionByAsserted checks that a relation asserted earlier does not retire one asserted later,
// although it was learnt later.
func testSupersessionByAsserted(t *testing.T, e *storeEnv) {
	late := livesIn("Oslo", 30)
	late.Asserted = at(5)
	e.complete(fact("a", livesIn("Lisbon", 20)), fact("b", late))
	assert.Equal(t, map[string]retired{"Oslo": {at(30), "Lisbon"}, "Lisbon": {}}, e.retirements())
	assert.Equal(t, []string{"Lisbon"}, e.relationsRaw(backend.RelationQuery{KnownAt: at(30)}))
	asserted := livesIn("Quito", 40)
	asserted.Asserted = at(10)
	e.complete(fact("c", asserted))
	assert.Equal(t, map[string]retired{"Oslo": {at(40), "Quito"}, "Quito": {at(40), "Lisbon"}, "Lisbon": {}}, e.retirements())
	_, err := e.Delete(t.Context(), notes, []string{"a"}, backend.DeleteOptions{})
	require.NoError(t, err)
	assert.Equal(t, map[string]retired{"Oslo": {at(40), "Quito"}, "Quito": {}}, e.retirements())
}

// testRelationsAsOf reads the relations that held at one time, as they were known at another.
func testRelationsAsOf(t *testing.T, e *storeEnv) {
	moved := livesIn("Quito", 60)
	moved.ValidFrom = at(50)
	no := livesIn("Quito", 90)
	no.Raw, no.Retracts, no.ValidTo = "not Quito", true, at(80)
	late := livesIn("Bari", 70)
	late.Asserted, late.ValidFrom = at(10), at(10)
	e.complete(fact("a", livesIn("Oslo", 20)), fact("b", livesIn("Lisbon", 40)), fact("c", moved))
	held := func(sec, known int) []string {
		q := backend.RelationQuery{AsOf: at(sec)}
		if known > 0 {
			q.KnownAt = at(known)
		}
		return e.relationsRaw(q)
	}
	for sec, want := range map[int]string{1: "Oslo", 39: "Oslo", 40: "Lisbon", 49: "Lisbon", 50: "Quito", 99: "Quito"} {
		assert.Equal(t, []string{want}, held(sec, 0), "at %d", sec)
	}
	assert.Equal(t, []string{"Lisbon"}, held(55, 45), "the move was not known")
	assert.Empty(t, held(55, 19))
	e.complete(fact("d", no), fact("e", late))
	assert.Equal(t, []string{"Quito"}, held(79, 0))
	assert.Empty(t, held(80, 0), "it ended")
	assert.Equal(t, []string{"Quito"}, held(85, 89), "which was not known yet")
	assert.Empty(t, held(9, 0), "before the first that is dated")
	assert.Equal(t, []string{"Bari"}, held(15, 0))
	assert.Equal(t, []string{"Oslo"}, held(15, 65), "when nothing earlier was known")
	assert.Equal(t, []string{"Oslo"}, held(30, 0))
	_, err := e.Delete(t.Context(), notes, []string{"b"}, backend.DeleteOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{"Oslo"}, held(45, 0))
}

func testSupersessionUndone(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	for i, where := range []string{"Oslo", "Lisbon", "Quito"} {
		e.complete(fact(where, livesIn(where, 10*(i+1))))
	}
	_, err := e.Delete(ctx, notes, []string{"Lisbon"}, backend.DeleteOptions{})
	require.NoError(t, err)
	assert.Equal(t, map[string]retired{"Oslo": {at(30), "Quito"}, "Quito": {}}, e.retirements(),
		"what a deleted one retired is retired by the next")
	e.complete(fact("Quito", backend.Relation{FromKey: "u", Predicate: "likes", Raw: "tea", Object: "tea"}))
	assert.Equal(t, map[string]retired{"Oslo": {}, "tea": {}}, e.retirements(), "a replaced version retires nothing any more")
}

func testRetraction(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	likes := func(what string, learnt int) backend.Relation {
		return backend.Relation{FromKey: "u", Predicate: "likes", Raw: what, Object: what, KnownFrom: at(learnt)}
	}
	knows := backend.Relation{FromKey: "u", Predicate: "likes", Raw: "Anna", ToKey: "anna", KnownFrom: at(10)}
	e.complete(fact("a", likes("tea", 10), likes("milk", 10), knows))
	no := likes("tea", 20)
	no.Raw, no.Retracts = "no tea", true
	e.complete(fact("b", no))
	assert.Equal(t, map[string]retired{"tea": {at(20), "no tea"}, "milk": {}, "Anna": {}}, e.retirements())
	assert.Equal(t, []string{"milk", "Anna"}, e.relationsRaw(backend.RelationQuery{}), "a retraction is not believed")
	assert.Equal(t, []string{"tea", "milk", "Anna", "no tea"}, e.relationsRaw(backend.RelationQuery{AllTime: true}), "but it is kept")
	assert.Equal(t, []string{"tea", "milk", "Anna"}, e.relationsRaw(backend.RelationQuery{KnownAt: at(15)}))

	noAnna := knows
	noAnna.Raw, noAnna.Retracts, noAnna.KnownFrom = "no Anna", true, at(30)
	e.complete(fact("c", noAnna))
	assert.Equal(t, []string{"milk"}, e.relationsRaw(backend.RelationQuery{}), "by entity too")
	again := likes("tea", 40)
	again.Raw = "tea again"
	e.complete(fact("d", again))
	assert.Equal(t, []string{"milk", "tea again"}, e.relationsRaw(backend.RelationQuery{}), "only older ones")
	_, err := e.Delete(ctx, notes, []string{"b"}, backend.DeleteOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{"tea", "milk", "tea again"}, e.relationsRaw(backend.RelationQuery{}))
}

func testRetractionAndSupersession(t *testing.T, e *storeEnv) {
	no := func(where string, learnt int) backend.Relation {
		r := livesIn(where, learnt)
		r.Raw, r.Functional, r.Retracts = "not "+where, false, true
		return r
	}
	e.complete(fact("a", livesIn("Oslo", 10)), fact("b", no("Oslo", 20)), fact("c", livesIn("Lisbon", 30)), fact("d", no("Lisbon", 50)))
	assert.Equal(t, map[string]retired{"Oslo": {at(20), "not Oslo"}, "Lisbon": {at(50), "not Lisbon"}}, e.retirements(), "the first that retires counts")
	e.complete(fact("e", livesIn("Quito", 40)))
	assert.Equal(t, retired{at(40), "Quito"}, e.retirements()["Lisbon"])
	_, err := e.Delete(t.Context(), notes, []string{"b"}, backend.DeleteOptions{})
	require.NoError(t, err)
	assert.Equal(t, retired{at(30), "Lisbon"}, e.retirements()["Oslo"])
	undated := no("Quito", 0)
	undated.KnownFrom, undated.Raw = time.Time{}, "undated"
	e.complete(fact("f", undated))
	assert.Equal(t, []string{"Quito"}, e.relationsRaw(backend.RelationQuery{}), "a retraction of unknown time is none either")
}

func testFinishReplacesGraph(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	it := memory("a", "x").mention(0, "old").relate(livesIn("Oslo", 10))
	nums, token := e.index(it)
	ok, err := e.Finish(ctx, []backend.Finished{{Num: nums[0], Token: token, State: backend.Errored, Mentions: it.mentions, Relations: it.relations}})
	require.NoError(t, err)
	require.Equal(t, []bool{true}, ok)
	require.NotNil(t, e.entity("old"))
	require.NoError(t, e.Requeue(ctx, notes, "a"))
	assert.Equal(t, []string{"x"}, e.visible(it), "what was indexed stays visible")
	token, claims := e.claimAll()
	require.Len(t, claims, 1)
	ok, err = e.Finish(ctx, []backend.Finished{{Num: nums[0], Token: token, State: backend.Completed,
		Mentions: []backend.Mention{{Chunk: 0, Key: "new", Name: "New"}}}})
	require.NoError(t, err)
	require.Equal(t, []bool{true}, ok)
	assert.Nil(t, e.entity("old"))
	assert.NotNil(t, e.entity("new"))
	assert.Empty(t, e.relationsRaw(backend.RelationQuery{AllTime: true}))
	graphs := 0
	for _, c := range e.changes(0) {
		if c.Kind == backend.PutGraph {
			graphs++
			require.Len(t, c.Mentions, 1)
			assert.Equal(t, "new", c.Mentions[0].Key)
		}
	}
	assert.Equal(t, 1, graphs, "the one before is no longer in the feed")
}

// testIndexReplacesGraph checks that indexing a version again removes its graph.
func testIndexReplacesGraph(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	it := memory("a", "x", "y").mention(1, "old").relate(livesIn("Oslo", 10))
	nums, token := e.index(it)
	ok, err := e.Finish(ctx, []backend.Finished{{Num: nums[0], Token: token, State: backend.Errored, Mentions: it.mentions, Relations: it.relations}})
	require.NoError(t, err)
	require.Equal(t, []bool{true}, ok)
	_, err = e.UpdateMetadata(ctx, notes, "a", e.newest(notes, "a"), nil, nil, nil, []uint64{7}, at(1))
	require.NoError(t, err)
	require.NoError(t, e.Requeue(ctx, notes, "a"))
	token, claims := e.claimAll()
	require.Len(t, claims, 1)
	require.Len(t, claims[0].Chunks, 2, "a claim shows what was indexed")
	again := memory("a", "z")
	ok, err = e.Index(ctx, []backend.Indexed{{Num: nums[0], Token: token, Chunks: again.chunks()}})
	require.NoError(t, err)
	require.Equal(t, []bool{true}, ok)
	assert.Nil(t, e.entity("old"), "mentions and relations stood on chunks that are gone")
	assert.Empty(t, e.relationsRaw(backend.RelationQuery{AllTime: true}))
	feed := e.changes(0)
	require.Equal(t, []string{"chunks a"}, kinds(feed))
	assert.Equal(t, []uint64{7}, feed[0].Tags)
}
