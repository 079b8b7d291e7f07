package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/local"
	"github.com/contextmem/contextmem/backend/sqlite"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/move"
	"github.com/contextmem/contextmem/judge"
)

var moveKey = bytes.Repeat([]byte{7}, 32)

func serviceOver(t *testing.T, stores backend.Stores) *contextmem.Service {
	t.Helper()
	indexes, err := local.Open(t.TempDir(), nil)
	require.NoError(t, err)
	svc, err := contextmem.New(t.Context(), backend.Compose(stores, indexes), &contextmem.Options{Judge: judge.None, SecretKey: moveKey, MaxAttempts: 2})
	require.NoError(t, err)
	return svc
}

func remember(t *testing.T, s contextmem.Sub, ms ...contextmem.Memory) {
	t.Helper()
	_, err := s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: ms})
	require.NoError(t, err)
}

// fillDeployment adds items of each kind to a deployment.
func fillDeployment(t *testing.T, svc *contextmem.Service) {
	ctx := t.Context()
	for _, spec := range []contextmem.TenantSpec{{ID: "acme"}, {ID: "vectors", Embeddings: true, Dimension: 3}, {ID: "empty"}, {ID: "gone"}} {
		_, err := svc.CreateTenant(ctx, spec)
		require.NoError(t, err)
		require.NoError(t, svc.Tenant(spec.ID).WaitReady(ctx))
	}
	_, _, err := svc.CreateKey(ctx, contextmem.KeySpec{Owner: "somebody"})
	require.NoError(t, err)
	alice := svc.Tenant("acme").Sub("alice")
	remember(t, alice, contextmem.Memory{ID: "says", Text: "Robert Smith, also known as Bob, met Clara.", Infer: true}, contextmem.Memory{ID: "old", Text: "Bob lives in Lisbon."},
		contextmem.Memory{ID: "new", Text: "Robert Smith moved to Porto."}, contextmem.Memory{ID: "gone", Text: "This goes."}, contextmem.Memory{ID: "big", Text: strings.Repeat("many words. ", 80_000)})
	_, err = svc.Tenant("acme").AddKnowledge(ctx, contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: "large", Name: "large.txt", Data: bytes.Repeat([]byte("One line of a large file about Lisbon.\n"), 40_000)}, {ID: "f", Name: "a.md", Data: []byte("# Title\n\nSome text about **Lisbon** and the river.")}}})
	require.NoError(t, err)
	_, err = svc.Tenant("vectors").InsertVectors(ctx, contextmem.InsertVectorsRequest{Sources: []contextmem.VectorSource{{SourceID: "v", Vectors: []contextmem.Vector{{ChunkID: "v-1", Vector: []float32{1, 2, 3}}}}}})
	require.NoError(t, err)
	require.NoError(t, svc.Drain(ctx))
	_, err = alice.DeleteItems(ctx, contextmem.DeleteItemsRequest{IDs: []string{"gone"}})
	require.NoError(t, err)
	remember(t, alice, contextmem.Memory{ID: "old", Text: "Bob lives in Faro and works for Acme."})
	require.NoError(t, svc.Drain(ctx))
	require.NoError(t, svc.Tenant("gone").Delete(ctx))
}

var exported = regexp.MustCompile(`"exported":"[^"]*"`)

// exportAll returns the exports of the tenants of a deployment, and what is known of Bob.
func exportAll(t *testing.T, svc *contextmem.Service) map[string]string {
	t.Helper()
	out := make(map[string]string)
	for info, err := range svc.Tenants(t.Context()) {
		require.NoError(t, err)
		var b bytes.Buffer
		require.NoError(t, svc.Tenant(info.ID).Export(t.Context(), &b))
		text := exported.ReplaceAllString(b.String(), "")
		out[info.ID] = text[:strings.LastIndex(text, `"sha256"`)]
	}
	ms, err := svc.Tenant("acme").Sub("alice").Merges(t.Context(), facts.MergesRequest{Class: contextmem.ClassMemory})
	require.NoError(t, err)
	out["merges"] = fmt.Sprintf("%+v", ms)
	rs, err := svc.Tenant("acme").Sub("alice").Facts(t.Context(), facts.Request{})
	require.NoError(t, err)
	out["facts"] = fmt.Sprintf("%+v", rs)
	ks, err := svc.Keys(t.Context())
	require.NoError(t, err)
	out["keys"] = fmt.Sprintf("%+v", ks)
	return out
}

func openDir(t *testing.T, dir string, moving bool) *sqlite.DB {
	t.Helper()
	d, err := sqlite.Open(t.Context(), dir, &sqlite.Options{Moving: moving})
	require.NoError(t, err)
	return d
}

func openMoving(t *testing.T, name string) (*DB, move.Side) {
	t.Helper()
	d := openTest(t, name, &Options{Moving: true})
	s, err := d.Side(t.Context())
	require.NoError(t, err)
	return d, s
}

// TestMoveThereAndBack moves a deployment from a directory into the database, adds items there, moves it into another
// directory, and back again.
func TestMoveThereAndBack(t *testing.T) {
	ctx := t.Context()
	first, second := t.TempDir(), t.TempDir()
	d := openDir(t, first, false)
	svc := serviceOver(t, d)
	fillDeployment(t, svc)
	want := exportAll(t, svc)
	require.NoError(t, svc.Close())

	d = openDir(t, first, false)
	pg, side := openMoving(t, t.Name())
	dry, err := move.Run(ctx, move.Config{From: d.Side(), To: side, DryRun: true})
	require.NoError(t, err)
	report, err := move.Run(ctx, move.Config{From: d.Side(), To: side})
	require.NoError(t, err)
	assert.Equal(t, dry.Tables, report.Tables, "what was counted before is what both have")
	assert.Equal(t, 3, report.Tenants)
	for _, c := range report.Tables {
		t.Logf("%s %d %s", c.Table, c.Rows, c.Checksum)
	}
	again, err := move.Run(ctx, move.Config{From: d.Side(), To: side})
	require.NoError(t, err)
	assert.True(t, again.Already)
	require.NoError(t, d.Close())
	require.NoError(t, pg.Close())
	_, err = sqlite.Open(ctx, first, nil)
	require.ErrorIs(t, err, backend.ErrMoved)
	where, err := sqlite.Where(first)
	require.NoError(t, err)
	assert.Equal(t, side.Name(), where)

	pg = openTest(t, t.Name(), nil)
	svc = serviceOver(t, pg)
	assert.Equal(t, want, exportAll(t, svc))
	remember(t, svc.Tenant("acme").Sub("alice"), contextmem.Memory{ID: "later", Text: "Clara works for Acme in Porto."}, contextmem.Memory{ID: "says", Text: "Nothing about names."})
	require.NoError(t, svc.Drain(ctx))
	require.NoError(t, svc.Tenant("empty").Delete(ctx))
	want = exportAll(t, svc)
	require.NoError(t, svc.Close())

	pg, side = openMoving(t, t.Name())
	d = openDir(t, second, false)
	_, err = move.Run(ctx, move.Config{From: side, To: d.Side()})
	require.NoError(t, err)
	require.NoError(t, d.Close())
	require.NoError(t, pg.Close())
	_, err = Open(ctx, database(t, t.Name()), nil)
	require.ErrorIs(t, err, backend.ErrMoved)

	d = openDir(t, second, false)
	svc = serviceOver(t, d)
	assert.Equal(t, want, exportAll(t, svc))
	damage, err := svc.Verify(ctx)
	require.NoError(t, err)
	assert.Empty(t, damage.Problems)
	remember(t, svc.Tenant("acme").Sub("alice"), contextmem.Memory{ID: "last", Text: "Bob plays chess."})
	require.NoError(t, svc.Drain(ctx))
	want = exportAll(t, svc)
	require.NoError(t, svc.Close())

	// What the database has of before is brought up to date.
	pg, side = openMoving(t, t.Name())
	d = openDir(t, second, false)
	report, err = move.Run(ctx, move.Config{From: d.Side(), To: side})
	require.NoError(t, err)
	assert.Less(t, report.Rows, int64(200), "what had not changed was not copied again")
	require.NoError(t, d.Close())
	require.NoError(t, pg.Close())
	svc = serviceOver(t, openTest(t, t.Name(), nil))
	assert.Equal(t, want, exportAll(t, svc))
	require.NoError(t, svc.Close())
}

// TestMoveOnline moves a deployment while writers run, and interrupts the move again and again. In the end every
// acknowledged item must be there.
func TestMoveOnline(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	d := openDir(t, dir, false)
	svc := serviceOver(t, d)
	const tenants, writers = 4, 4
	for i := range tenants {
		id := fmt.Sprintf("t%d", i)
		_, err := svc.CreateTenant(ctx, contextmem.TenantSpec{ID: id})
		require.NoError(t, err)
		require.NoError(t, svc.Tenant(id).WaitReady(ctx))
	}
	var acked sync.Map
	var count atomic.Int64
	var wg sync.WaitGroup
	leave := make(chan struct{}, 400) // to write once more; what is copied gives more of it
	for range cap(leave) {
		leave <- struct{}{}
	}
	for w := range writers {
		wg.Go(func() {
			for i := 0; ; i++ {
				<-leave
				tenant, id := fmt.Sprintf("t%d", i%tenants), fmt.Sprintf("m-%d-%d", w, i)
				_, err := svc.Tenant(tenant).Sub("s").AddMemories(context.WithoutCancel(ctx), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: id, Text: "Ann number " + id + " lives in Rome."}}})
				if err != nil {
					assert.ErrorIs(t, err, backend.ErrUnavailable, "callers are asked to come again")
					return
				}
				acked.Store(tenant+"/"+id, true)
				count.Add(1)
			}
		})
	}
	require.Eventually(t, func() bool { return count.Load() >= 200 }, time.Minute, 10*time.Millisecond, "there is something to interrupt")
	pg, side := openMoving(t, t.Name())
	cut := 0
	var report *move.Report
	for limit := int64(100); ; limit *= 2 {
		rctx, cancel := context.WithCancel(ctx)
		r, err := move.Run(rctx, move.Config{From: d.Side(), To: side, Progress: func(p move.Progress) {
			if cut < 3 && p.Rows > limit {
				cancel()
			}
			for range 4 {
				select {
				case leave <- struct{}{}:
				default:
				}
			}
		}})
		cancel()
		if err == nil {
			report = r
			break
		}
		require.ErrorIs(t, err, context.Canceled)
		cut++
	}
	close(leave)
	wg.Wait()
	assert.Equal(t, 3, cut)
	if err := svc.Close(); err != nil {
		require.ErrorIs(t, err, backend.ErrMoved)
	}
	require.NoError(t, pg.Close())
	svc = serviceOver(t, openTest(t, t.Name(), nil))
	require.NoError(t, svc.Drain(ctx))
	there := 0
	for i := range tenants {
		id := fmt.Sprintf("t%d", i)
		st, err := svc.Tenant(id).Stats(ctx)
		require.NoError(t, err)
		there += st.Subs[0].Memory
	}
	assert.EqualValues(t, count.Load(), there, "everything that was acknowledged, and nothing twice")
	acked.Range(func(k, _ any) bool {
		tenant, id, _ := strings.Cut(k.(string), "/")
		st, err := svc.Tenant(tenant).Sub("s").Status(ctx, id)
		return assert.NoError(t, err) && assert.Equal(t, contextmem.StatusCompleted, st[0].Status, id)
	})
	res, err := svc.Tenant("t0").Sub("s").Recall(ctx, contextmem.Recall{Class: contextmem.ClassMemory, Query: "where does Ann number m-0-0 live?"})
	require.NoError(t, err)
	require.NotEmpty(t, res.Chunks)
	require.NoError(t, svc.Close())
	t.Logf("%d acknowledged beside a move that was cut off %d times; the last run: %d passes, %d rows, writes waited %v", count.Load(), cut, report.Passes, report.Rows, report.Stopped)
}

func TestMoveIsRefused(t *testing.T) {
	ctx := t.Context()
	a, b := t.TempDir(), t.TempDir()
	da, db := openDir(t, a, false), openDir(t, b, false)
	defer func() { assert.NoError(t, errors.Join(da.Close(), db.Close())) }()
	pg, side := openMoving(t, t.Name())
	defer pg.Close()
	require.NoError(t, pg.Registry().CreateTenant(ctx, backend.Tenant{UID: strings.Repeat("a", 32), ID: "x", State: backend.TenantReady}, 0))
	_, err := move.Run(ctx, move.Config{From: da.Side(), To: side})
	require.ErrorIs(t, err, move.ErrTaken)
	require.NoError(t, side.SetState(ctx, move.State{Name: move.Filling, Peer: da.Side().Name()}))
	_, err = move.Run(ctx, move.Config{From: db.Side(), To: side})
	require.ErrorIs(t, err, move.ErrOther)
	_, err = move.Run(ctx, move.Config{From: side, To: db.Side()})
	require.ErrorIs(t, err, move.ErrOther)
}
