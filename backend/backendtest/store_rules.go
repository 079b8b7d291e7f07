package backendtest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

var storeRuleTests = []namedTest[*storeEnv]{
	{"Hostile", testStoreHostile},
	{"Copies", testStoreCopies},
	{"Reopen", testStoreReopen},
	{"Cancelled", testStoreCancelled},
	{"CancelledMidway", testStoreCancelledMidway},
	{"Closed", testStoreClosed},
	{"CloseWhileInUse", testStoreCloseWhileInUse},
	{"Workspaces", testWorkspaces},
	{"Concurrent", testStoreConcurrent},
	{"Crash", testStoreCrash},
	{"Bulk", testStoreBulk},
}

// fill stores data of every kind, and returns the universe that dump needs to show it.
func (e *storeEnv) fill() universe {
	e.t.Helper()
	ctx := e.t.Context()
	a := memory("a", "a0", "a1").tagged(1, 2).mention(0, "red").mention(1, "blue").relate(livesIn("Oslo", 10))
	a.blobs = []backend.Blob{{Kind: backend.Original, Data: []byte("orig")}}
	versions := e.complete(a, memory("b", "b0").mention(0, "red").relate(livesIn("Lisbon", 20)), memory("k", "k0").in(files), memory("gone", "x").mention(0, "x"))
	_, err := e.Delete(ctx, notes, []string{"gone"}, backend.DeleteOptions{})
	require.NoError(e.t, err)
	_, err = e.MergeEntities(ctx, notes, "blue", "red", "why", at(1))
	require.NoError(e.t, err)
	nums, token := e.index(memory("half", "h0"), memory("late", "l0"))
	versions = append(versions, nums...)
	ok, err := e.Finish(ctx, []backend.Finished{{Num: nums[1], Token: token, State: backend.Errored, ErrorCode: "E5", Event: true}})
	require.NoError(e.t, err)
	require.Equal(e.t, []bool{true}, ok)
	_, err = e.UpdateMetadata(ctx, notes, "b", e.newest(notes, "b"), []byte("{}"), nil, nil, []uint64{9}, at(40))
	require.NoError(e.t, err)
	versions = append(versions, e.accept(memory("queued").expires(at(50)), memory("a", "newer"), memory("retry"))...)
	claims, err := e.Claim(ctx, "w", at(0), at(100), 3, 0)
	require.NoError(e.t, err)
	require.Len(e.t, claims, 3)
	require.NoError(e.t, e.Defer(ctx, []backend.Deferred{{Num: claims[2].Num, Token: "w", State: backend.Queued, NotBefore: at(70), ErrorCode: "E4"}}))
	require.NoError(e.t, e.Set(ctx, "v", nil, []byte("value")))
	return universe{
		parts: []backend.Partition{notes, files, other}, ids: []string{"a", "b", "k", "gone", "half", "late", "queued", "retry"},
		entities: []string{"red", "blue", "x", "u", "Oslo", "Lisbon"}, versions: versions, values: []string{"v"}, now: at(0),
	}
}

func testStoreReopen(t *testing.T, e *storeEnv) {
	u := e.fill()
	before, seq := dump(t, e.Store, u), e.LastSeq()
	e.reopen()
	require.Equal(t, before, dump(t, e.Store, u))
	assert.Equal(t, seq, e.LastSeq())
	next := e.completeOne(memory("next", "n0").mention(0, "n"))
	assert.Greater(t, next, u.versions[len(u.versions)-1], "numbers go on rising")
	ok, err := e.Index(t.Context(), []backend.Indexed{{Num: u.versions[6], Token: "w", Chunks: memory("queued", "q").chunks()}})
	require.NoError(t, err)
	assert.Equal(t, []bool{false}, ok, "a lapsed lease was taken by another")
}

// completeOne accepts, indexes and finishes one item while other items wait.
func (e *storeEnv) completeOne(it item) int64 {
	e.t.Helper()
	num, token := e.indexOne(it)
	ok, err := e.Finish(e.t.Context(), []backend.Finished{{Num: num, Token: token, State: backend.Completed, Mentions: it.mentions, Relations: it.relations}})
	require.NoError(e.t, err)
	require.Equal(e.t, []bool{true}, ok)
	return num
}

// storeCalls returns a call of each method of a store, with arguments that change or find data that
// fill has stored.
func storeCalls(s backend.Store, u universe) []call {
	ignore := func(_ any, err error) error { return err }
	v := u.versions
	red := func(ctx context.Context) error {
		return ignore(s.Relations(ctx, backend.RelationQuery{Part: notes, AllTime: true, Limit: 10}))
	}
	return []call{
		{"Accept", func(ctx context.Context) error {
			return ignore(s.Accept(ctx, []backend.Incoming{{Source: memory("new").Source}, {Source: memory("a").Source}}))
		}},
		{"Claim", func(ctx context.Context) error { return ignore(s.Claim(ctx, "x", at(1e7), at(2e7), 10, 0)) }},
		{"Renew", func(ctx context.Context) error { return s.Renew(ctx, "w", v, at(900)) }},
		{"Index", func(ctx context.Context) error {
			return ignore(s.Index(ctx, []backend.Indexed{{Num: v[6], Token: "w", Chunks: memory("q", "q").chunks()}}))
		}},
		{"Finish", func(ctx context.Context) error {
			return ignore(s.Finish(ctx, []backend.Finished{{Num: v[6], Token: "w", State: backend.Errored, Event: true}}))
		}},
		{"Defer", func(ctx context.Context) error {
			return s.Defer(ctx, []backend.Deferred{{Num: v[6], Token: "w", State: backend.Queued, NotBefore: at(80)}})
		}},
		{"Backlog", func(ctx context.Context) error { _, _, err := s.Backlog(ctx); return err }},
		{"Requeue", func(ctx context.Context) error { return s.Requeue(ctx, notes, "late") }},
		{"Delete", func(ctx context.Context) error {
			return ignore(s.Delete(ctx, notes, []string{"a", "b"}, backend.DeleteOptions{}))
		}},
		{"DeleteSub", func(ctx context.Context) error { return ignore(s.DeleteSub(ctx, "notes", 10)) }},
		{"Expire", func(ctx context.Context) error { _, _, err := s.Expire(ctx, at(1000), 10); return err }},
		{"UpdateMetadata", func(ctx context.Context) error {
			return ignore(s.UpdateMetadata(ctx, notes, "b", backend.Version{Num: v[1], Rev: 2}, []byte("{1}"), nil, nil, nil, at(99)))
		}},
		{"PutVectors", func(ctx context.Context) error {
			return ignore(s.PutVectors(ctx, 1, []backend.LaneVectors{{Source: backend.Version{Num: v[1], Rev: 2}, Vectors: [][]float32{{1}}}}))
		}},
		{"HasVectors", func(ctx context.Context) error { return ignore(s.HasVectors(ctx, 1, []int64{1})) }},
		{"MissingVectors", func(ctx context.Context) error { return ignore(s.MissingVectors(ctx, 1, 0, 10)) }},
		{"Uncompared", func(ctx context.Context) error { return ignore(s.Uncompared(ctx, 1, 0, 10)) }},
		{"Compare", func(ctx context.Context) error {
			return ignore(s.Compare(ctx, 1, []backend.Compared{{Source: backend.Version{Num: v[1], Rev: 2}}}))
		}},
		{"PutSuccession", func(ctx context.Context) error {
			return ignore(s.PutSuccession(ctx, backend.Succession{Later: v[1], Earlier: v[0]}))
		}},
		{"UndoSuccession", func(ctx context.Context) error { return s.UndoSuccession(ctx, 1, at(1)) }},
		{"Successions", func(ctx context.Context) error {
			return ignore(s.Successions(ctx, backend.SuccessionQuery{Part: notes, Limit: 10}))
		}},
		{"DropLane", func(ctx context.Context) error { return ignore(s.DropLane(ctx, 1, 0, 10)) }},
		{"Sources", func(ctx context.Context) error { return ignore(s.Sources(ctx, notes, []string{"a"})) }},
		{"SourcesByNum", func(ctx context.Context) error { return ignore(s.SourcesByNum(ctx, v)) }},
		{"FindSubs", func(ctx context.Context) error { return ignore(s.FindSubs(ctx, backend.Memory, "a")) }},
		{"Content", func(ctx context.Context) error { return ignore(s.Content(ctx, v[0], backend.Original)) }},
		{"List", func(ctx context.Context) error {
			_, _, err := s.List(ctx, backend.ListQuery{Part: notes, Limit: 10})
			return err
		}},
		{"Sessions", func(ctx context.Context) error {
			return ignore(s.Sessions(ctx, backend.SessionsQuery{Part: notes, Limit: 10}))
		}},
		{"SessionSources", func(ctx context.Context) error {
			return ignore(s.SessionSources(ctx, backend.SessionQuery{Part: notes, Session: "s", Limit: 10}))
		}},
		{"ListEntities", func(ctx context.Context) error {
			return ignore(s.ListEntities(ctx, backend.EntityQuery{Part: notes, Limit: 10}))
		}},
		{"Mentioned", func(ctx context.Context) error {
			return ignore(s.Mentioned(ctx, backend.MentionQuery{Part: notes, Keys: []string{"red"}}))
		}},
		{"Chunks", func(ctx context.Context) error { return ignore(s.Chunks(ctx, []int64{1}, at(0))) }},
		{"SourceChunks", func(ctx context.Context) error { return ignore(s.SourceChunks(ctx, v[0], 0, 10, true)) }},
		{"ChunkNums", func(ctx context.Context) error { return ignore(s.ChunkNums(ctx, notes, []string{"a/0"})) }},
		{"Subs", func(ctx context.Context) error { return ignore(s.Subs(ctx)) }},
		{"Stats", func(ctx context.Context) error { return ignore(s.Stats(ctx, backend.Memory)) }},
		{"Entities", func(ctx context.Context) error { return ignore(s.Entities(ctx, []int64{1})) }},
		{"EntitiesByKey", func(ctx context.Context) error { return ignore(s.EntitiesByKey(ctx, notes, []string{"red"})) }},
		{"Relations", red},
		{"MergeEntities", func(ctx context.Context) error {
			return ignore(s.MergeEntities(ctx, notes, "Oslo", "Lisbon", "", at(1)))
		}},
		{"UndoMerge", func(ctx context.Context) error { return s.UndoMerge(ctx, 1) }},
		{"Merges", func(ctx context.Context) error { return ignore(s.Merges(ctx, notes, 0, 10)) }},
		{"Events", func(ctx context.Context) error { return ignore(s.Events(ctx, 10)) }},
		{"Acknowledge", func(ctx context.Context) error { return s.Acknowledge(ctx, 1000) }},
		{"Changes", func(ctx context.Context) error { return ignore(s.Changes(ctx, 0, 10)) }},
		{"CompactFeed", func(ctx context.Context) error { return ignore(s.CompactFeed(ctx, 1000, 1000)) }},
		{"Get", func(ctx context.Context) error { return ignore(s.Get(ctx, "v")) }},
		{"Set", func(ctx context.Context) error { return s.Set(ctx, "v", []byte("value"), []byte("changed")) }},
	}
}

func testStoreCancelled(t *testing.T, e *storeEnv) {
	u := e.fill()
	before, feed := dump(t, e.Store, u), e.changes(0)
	requireEnded(t, storeCalls(e.Store, u))
	require.Equal(t, before, dump(t, e.Store, u), "nothing is left behind")
	require.Equal(t, feed, e.changes(0))
}

// testStoreCancelledMidway cancels contexts at random moments during calls.
func testStoreCancelledMidway(t *testing.T, e *storeEnv) {
	rounds := 40
	if testing.Short() {
		rounds = 10
	}
	for i := range rounds {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*40*time.Microsecond)
		var in []backend.Incoming
		var ids []string
		for j := range 20 {
			it := memory(fmt.Sprintf("r%d-%d", i, j))
			ids = append(ids, it.ID)
			in = append(in, backend.Incoming{Source: it.Source, Blobs: []backend.Blob{{Kind: backend.Original, Data: []byte("content")}}})
		}
		_, err := e.Accept(ctx, in)
		ended := ctx.Err()
		cancel()
		got, readErr := e.Sources(t.Context(), notes, ids)
		require.NoError(t, readErr)
		there := 0
		for _, src := range got {
			if src != nil {
				there++
			}
		}
		if err == nil {
			require.Equal(t, len(ids), there, "what was acknowledged is there")
			continue
		}
		require.Equal(t, ended, err, "the error of the context as it is")
		require.Zero(t, there, "none of it is there after an error")
	}
}

func testStoreClosed(t *testing.T, e *storeEnv) {
	u := e.fill()
	s := e.Store
	require.NoError(t, s.Close())
	requireClosed(t, storeCalls(s, u))
	assert.NotPanics(t, func() { s.LastSeq() })
	if err := s.Close(); err != nil {
		assert.ErrorIs(t, err, backend.ErrClosed)
	}
	again, err := e.stores.OpenStore(t.Context(), e.uid)
	require.NoError(t, err, "it can be opened again")
	closeAtEnd(t, again)
	e.Store = again
	require.NotNil(t, e.source(notes, "a"))
}

// testStoreCloseWhileInUse closes a store during calls. Each call either takes effect or returns the
// error that the contract names.
func testStoreCloseWhileInUse(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	s := e.Store
	var wg sync.WaitGroup
	var mu sync.Mutex
	acknowledged := map[string]bool{}
	started := make(chan struct{}, 100)
	for w := range 4 {
		wg.Go(func() {
			for i := range 1000 {
				id := fmt.Sprintf("w%d-%d", w, i)
				_, err := s.Accept(ctx, []backend.Incoming{{Source: memory(id).Source}})
				if err == nil {
					_, err = s.Sources(ctx, notes, []string{id})
					mu.Lock()
					acknowledged[id] = true
					mu.Unlock()
				}
				if err != nil {
					assert.ErrorIs(t, err, backend.ErrClosed)
					return
				}
				select {
				case started <- struct{}{}:
				default:
				}
			}
		})
	}
	for range 8 {
		<-started
	}
	require.NoError(t, s.Close())
	wg.Wait()
	again, err := e.stores.OpenStore(ctx, e.uid)
	require.NoError(t, err)
	closeAtEnd(t, again)
	e.Store = again
	for id := range acknowledged {
		require.NotNil(t, e.source(notes, id), "acknowledged before Close: %s", id)
	}
}

func testWorkspaces(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	e.complete(memory("a", "x"))
	second, err := e.stores.OpenStore(ctx, UID("second"))
	require.NoError(t, err)
	_, err = second.Accept(ctx, []backend.Incoming{{Source: memory("theirs").Source}})
	require.NoError(t, err)
	assert.Nil(t, e.source(notes, "theirs"))
	require.NoError(t, second.Close())
	require.NoError(t, e.stores.RemoveStore(ctx, UID("second")))
	require.NoError(t, e.stores.RemoveStore(ctx, UID("second")), "an interrupted removal can be repeated")
	require.NoError(t, e.stores.RemoveStore(ctx, UID("never there")))
	second, err = e.stores.OpenStore(ctx, UID("second"))
	require.NoError(t, err)
	closeAtEnd(t, second)
	srcs, err := second.Sources(ctx, notes, []string{"theirs"})
	require.NoError(t, err)
	assert.Nil(t, srcs[0], "removed")
	assert.NotNil(t, e.source(notes, "a"))
	for _, uid := range []string{"", "..", "../../etc", strings.Repeat("A", 32), strings.Repeat("g", 32), UID("x") + "0", UID("x")[:31] + "/", "\x00"} {
		_, err := e.stores.OpenStore(ctx, uid)
		assert.Error(t, err, "workspace %q", uid)
		assert.Error(t, e.stores.RemoveStore(ctx, uid), "workspace %q", uid)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	_, err = e.stores.OpenStore(cancelled, UID("third"))
	assert.Equal(t, context.Canceled, err)
	assert.Equal(t, context.Canceled, e.stores.RemoveStore(cancelled, UID("third")))
}

func testStoreConcurrent(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	const writers, each = 4, 12
	var mu sync.Mutex
	finished := map[int64]int{}
	var producers, wg sync.WaitGroup
	done := make(chan struct{})
	for w := range writers {
		producers.Go(func() {
			for i := range each {
				_, err := e.Accept(ctx, []backend.Incoming{{Source: memory(fmt.Sprintf("w%d-%d", w, i)).Source}, {Source: memory("contested").Source}})
				assert.NoError(t, err)
			}
		})
		wg.Go(func() {
			token := fmt.Sprint("worker", w)
			for idle := false; !idle; {
				select {
				case <-done:
					idle = true
				default:
				}
				claims, err := e.Claim(ctx, token, at(0), at(1000), 5, 0)
				if !assert.NoError(t, err) {
					return
				}
				if len(claims) > 0 {
					idle = false
				}
				for _, c := range claims {
					it := memory(c.ID, "text of "+c.ID).mention(0, "red")
					ok, err := e.Index(ctx, []backend.Indexed{{Num: c.Num, Token: token, Chunks: it.chunks()}})
					if !assert.NoError(t, err) || !ok[0] {
						continue
					}
					ok, err = e.Finish(ctx, []backend.Finished{{Num: c.Num, Token: token, State: backend.Completed, Mentions: it.mentions, Event: true}})
					if assert.NoError(t, err) && ok[0] {
						mu.Lock()
						finished[c.Num]++
						mu.Unlock()
					}
				}
			}
		})
		wg.Go(func() {
			for last := uint64(0); ; {
				select {
				case <-done:
					return
				default:
				}
				_, _, err := e.List(ctx, backend.ListQuery{Part: notes, Limit: 5})
				assert.NoError(t, err)
				seq := e.LastSeq()
				assert.GreaterOrEqual(t, seq, last)
				last = seq
				changes, err := e.Changes(ctx, 0, 20)
				if !assert.NoError(t, err) {
					return
				}
				for _, c := range changes {
					for _, r := range c.Rows {
						assert.Equal(t, "text of "+c.SourceID, r.Text)
					}
				}
			}
		})
	}
	producers.Wait()
	close(done)
	wg.Wait()
	for num, times := range finished {
		assert.Equal(t, 1, times, "version %d is finished once", num)
	}
	ids, total := e.list(backend.ListQuery{Part: notes, Limit: 1000})
	assert.Equal(t, writers*each+1, total)
	for _, id := range ids {
		assert.Equal(t, backend.Completed, e.source(notes, id).State, id)
	}
	events, err := e.Events(ctx, 1000)
	require.NoError(t, err)
	assert.Len(t, events, len(finished))
	x := newOracleIndex(t)
	x.follow(t, e.Store)
	assert.Len(t, x.search(t, notes, "text"), total)
	assert.Equal(t, total, e.entity("red").Mentions)
}

// testStoreCrash copies the files of an open store and opens the copy. Every acknowledged write must be
// there. The test does nothing for a backend without files.
func testStoreCrash(t *testing.T, e *storeEnv) {
	u := e.fill()
	before, feed := dump(t, e.Store, u), e.changes(0)
	copied := t.TempDir()
	if copyFiles(t, e.dir, copied) == 0 {
		return
	}
	stores := e.h.Open(t, copied)
	closeAtEnd(t, stores)
	s, err := stores.OpenStore(t.Context(), e.uid)
	require.NoError(t, err)
	closeAtEnd(t, s)
	require.Equal(t, before, dump(t, s, u))
	require.Equal(t, feed, feedAfter(t, s, 0, 100))
	require.Equal(t, e.LastSeq(), s.LastSeq())
}
