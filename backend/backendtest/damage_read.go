package backendtest

import (
	"fmt"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

var readDamages = []DamageKind{
	UnreadableSource, GoneSource, StraySource, UnreadablePart, GonePart, WrongPartCounts, UnreadableChunk, GoneChunk, UnreadableVector, UnreadableContent, UnreadableMentions,
	GoneMentions, GoneEdge, WrongEdge, UnreadableFacts, OtherFacts, StrayFacts, StrayAlias, WrongEntity, StrayEntity, GoneEntity, GoneChange, UnreadableValue,
}

// testDamageLeftOut reads a store in which rows of an item are damaged. Each read returns the others; it may say that it has left out rows.
// What comes later is stored and found, and items can be deleted.
func testDamageLeftOut(e *storeEnv, ds []Damage) {
	ctx := e.t.Context()
	inSession := func(id string) item {
		it := told(id, []string{"ann", id}, lives("ann", "city of "+id, len(id)), lives(id, "Rome", 1))
		it.Session, it.Time = "s", at(len(id))
		return it
	}
	bad := e.complete(inSession("bad").in(other))[0] // the partition of the damaged item is not that of the others
	nums := append(e.complete(inSession("worse")), e.complete(inSession("second"), inSession("third"))...)
	require.NoError(e.t, e.Set(ctx, "value", nil, []byte("value")))
	for _, part := range []backend.Partition{notes, other} {
		_, err := e.MergeEntities(ctx, part, map[bool]string{true: "second", false: "bad"}[part == notes], "ann", "same", at(1))
		require.NoError(e.t, err)
	}
	_, err := e.PutSuccession(ctx, backend.Succession{Later: nums[2], Earlier: nums[1], Created: at(1)})
	require.NoError(e.t, err)
	damaged := of(ds, bad, "ann")
	if k := ds[0].Kind; k != UnreadablePart && k != GonePart {
		damaged = append(damaged, of(ds, nums[0], "ann")...)
	}
	e.spoil(damaged...)

	for _, part := range []backend.Partition{notes, other} {
		e.readAll(part, append(nums, bad))
	}
	list, _, err := e.List(ctx, backend.ListQuery{Part: notes, Limit: 10, Now: at(0)})
	require.NoError(e.t, backend.Undamaged(err))
	ids := []string{}
	for _, src := range list {
		ids = append(ids, src.ID)
	}
	require.Subset(e.t, ids, []string{"second", "third"})
	session, err := e.SessionSources(ctx, backend.SessionQuery{Part: notes, Session: "s", Limit: 10, Now: at(0)})
	require.NoError(e.t, backend.Undamaged(err))
	require.GreaterOrEqual(e.t, len(session), 2)
	facts, err := e.Relations(ctx, backend.RelationQuery{Part: notes, AllTime: true, Limit: 100})
	require.NoError(e.t, backend.Undamaged(err))
	objects := []string{}
	for _, f := range facts {
		objects = append(objects, f.Object)
	}
	if k := ds[0].Kind; k != GoneEntity && k != StrayEntity && k != StrayFacts { // these are facts about the damaged entity
		require.Subset(e.t, objects, []string{"city of second", "city of third"})
	}
	subs, err := e.Subs(ctx)
	require.NoError(e.t, backend.Undamaged(err))
	assert.Contains(e.t, fmt.Sprint(subs), notes.Sub)
	_, err = e.Stats(ctx, backend.Memory)
	require.NoError(e.t, backend.Undamaged(err))
	if ds[0].Kind != GoneChange {
		require.Subset(e.t, kinds(e.changes(0)), []string{"chunks second", "chunks third", "graph third"})
	}

	e.complete(inSession("later"))
	require.Equal(e.t, []string{"text of later"}, e.visible(inSession("later")))
	require.Contains(e.t, kinds(e.changes(0)), "chunks later")
	out, err := e.Delete(ctx, notes, []string{"worse", "second", "later"}, backend.DeleteOptions{})
	require.NoError(e.t, err)
	require.True(e.t, out[1].Found && out[2].Found)
	require.Equal(e.t, []string{"text of third"}, e.visible(inSession("third")))
}

// readAll calls all reads of a partition. None fails.
func (e *storeEnv) readAll(part backend.Partition, nums []int64) {
	e.t.Helper()
	ctx, s := e.t.Context(), e.Store
	fine := func(what string) func(_ any, err error) {
		return func(_ any, err error) {
			e.t.Helper()
			require.NoError(e.t, backend.Undamaged(err), what)
		}
	}
	fine("sources")(s.Sources(ctx, part, []string{"bad", "worse", "second"}))
	fine("sources by num")(s.SourcesByNum(ctx, nums))
	fine("sessions")(s.Sessions(ctx, backend.SessionsQuery{Part: part, Limit: 10, Now: at(0)}))
	fine("session")(s.SessionSources(ctx, backend.SessionQuery{Part: part, Session: "s", Limit: 10, Now: at(0)}))
	fine("entities")(s.ListEntities(ctx, backend.EntityQuery{Part: part, Limit: 10, Folded: true}))
	fine("entities by key")(s.EntitiesByKey(ctx, part, []string{"ann", "bad", "second"}))
	fine("own entities")(s.OwnEntities(ctx, part, []string{"ann", "bad", "second"}))
	fine("mentioned")(s.Mentioned(ctx, backend.MentionQuery{Part: part, Keys: []string{"ann", "second"}}))
	fine("mentions of keys")(s.MentionsOf(ctx, part, []string{"ann", "second"}, 10))
	fine("merges")(s.Merges(ctx, part, 0, 10))
	fine("successions")(s.Successions(ctx, backend.SuccessionQuery{Part: part, Limit: 10}))
	fine("stated aliases")(s.Stated(ctx, backend.StatedQuery{Part: part}))
	fine("find subs")(s.FindSubs(ctx, backend.Memory, "second"))
	fine("missing vectors")(s.MissingVectors(ctx, 1, 0, 10))
	fine("uncompared")(s.Uncompared(ctx, 1, 0, 10))
	fine("chunk numbers")(s.ChunkNums(ctx, part, []string{"bad/0", "second/0"}))
	fine("chunks")(s.Chunks(ctx, []int64{1, 2, 3, 4}, at(0)))
	for _, num := range nums {
		fine("chunks of a version")(s.SourceChunks(ctx, num, 0, 10, true))
	}
	for _, q := range []backend.RelationQuery{{AllTime: true}, {AsOf: at(3)}, {KnownAt: at(3)}, {Sources: nums}, {Own: true}} {
		q.Part, q.Limit = part, 100
		fine("relations")(s.Relations(ctx, q))
	}
	_, _, err := s.Backlog(ctx)
	require.NoError(e.t, err)
}

// testDamagedWaits claims items of which one is damaged. The others can be processed, and the damaged one ends.
func testDamagedWaits(e *storeEnv, ds []Damage) {
	ctx := e.t.Context()
	nums := e.accept(told("bad", nil).in(other), told("second", nil), told("third", nil))
	e.spoil(of(ds, nums[0], "")...)
	claimed := map[string]int{}
	for round := range 4 {
		token := fmt.Sprint("round ", round)
		claims, err := e.Claim(ctx, token, at(1000*round+1), at(1000*round+500), 10, 0)
		require.NoError(e.t, err)
		for _, c := range claims {
			claimed[c.ID]++
			require.Equal(e.t, "original of "+c.ID, string(c.Blobs[0].Data), "the content of another item")
			ok, err := e.Finish(ctx, []backend.Finished{{Num: c.Num, Token: token, State: backend.Completed, Event: true}})
			require.NoError(e.t, err)
			require.Equal(e.t, []bool{true}, ok)
		}
	}
	require.Equal(e.t, map[string]int{"second": 1, "third": 1}, claimed)
	states, next, err := e.Backlog(ctx)
	require.NoError(e.t, err)
	require.Equal(e.t, map[backend.State]int{backend.Completed: 2, backend.Errored: 1}, states)
	require.Zero(e.t, next, "nothing is due")
	events, err := e.Events(ctx, 10)
	require.NoError(e.t, err)
	require.GreaterOrEqual(e.t, len(events), 2)
}

// testDamagedExpires lets items expire of which one is damaged. All are removed, and nothing is due afterwards.
func testDamagedExpires(e *storeEnv, ds []Damage) {
	ctx := e.t.Context()
	num := e.complete(told("bad", []string{"ann"}).in(other).expires(at(60)))[0]
	e.complete(told("second", []string{"ann"}).expires(at(60)), told("third", []string{"ann"}).expires(at(3600)))
	e.spoil(of(ds, num, "ann")...)
	n := 0
	for range 4 {
		m, next, err := e.Expire(ctx, at(120), 1)
		require.NoError(e.t, err)
		n += m
		require.False(e.t, m == 0 && !next.IsZero() && !next.After(at(120)), "nothing was removed, and %v is due", next)
	}
	require.Equal(e.t, 2, n)
	require.NotNil(e.t, e.version(e.newest(notes, "third").Num))
	m, next, err := e.Expire(ctx, at(7200), 10)
	require.NoError(e.t, err)
	require.Equal(e.t, 1, m)
	require.Zero(e.t, next)
	require.Zero(e.t, e.entity("ann"))
}

// testDamagedValue stores a value again that cannot be read.
func testDamagedValue(e *storeEnv, ds []Damage) {
	ctx := e.t.Context()
	require.NoError(e.t, e.Set(ctx, "value", nil, []byte("value")))
	e.spoil(ds...)
	_, err := e.Get(ctx, "value")
	require.ErrorIs(e.t, err, backend.ErrCorrupt)
	require.ErrorIs(e.t, e.Set(ctx, "value", []byte("value"), []byte("other")), backend.ErrCorrupt)
	require.NoError(e.t, e.Set(ctx, "value", nil, []byte("again")))
	value, err := e.Get(ctx, "value")
	require.NoError(e.t, err)
	require.Equal(e.t, "again", string(value))
	require.Empty(e.t, e.findings())
}
