package postgres

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/backend/local"
	"github.com/contextmem/contextmem/embed/static"
	"github.com/contextmem/contextmem/judge"
)

// rotatedEmbedder is an embedder whose vectors are those of the static one with the coordinates rotated. They are
// unrelated to those of other embedders.
type rotatedEmbedder struct {
	*static.Embedder
	places int
}

func (e rotatedEmbedder) Model() string { return fmt.Sprint("turned/", e.places) }

func (e rotatedEmbedder) rotate(v []float32) []float32 {
	return append(slices.Clone(v[e.places:]), v[:e.places]...)
}

func (e rotatedEmbedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	out, err := e.Embedder.EmbedDocuments(ctx, texts)
	for i := range out {
		out[i] = e.rotate(out[i])
	}
	return out, err
}

func (e rotatedEmbedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	v, err := e.Embedder.EmbedQuery(ctx, text)
	if err != nil {
		return nil, err
	}
	return e.rotate(v), nil
}

// AppendWord hides that of the static embedder.
func (rotatedEmbedder) AppendWord(dst []float32, _ string) ([]float32, bool) { return dst, false }

// process is a service with its own connections and indexes over a shared database. Its calls of the backend can be
// paused.
type process struct {
	*contextmem.Service
	plan  *backendtest.Plan
	write func(ws []backend.RecordWrite) // called before records are written
}

func (p *process) sub() contextmem.Sub { return p.Tenant("acme").Sub("") }

// writeHookBackend is a backend that calls a hook before records are written.
type writeHookBackend struct {
	backend.Backend
	p *process
}

func (w *writeHookBackend) Shares() bool { return w.Backend.(backend.Shared).Shares() }
func (w *writeHookBackend) Watch(ctx context.Context, heard func(uid string)) {
	w.Backend.(backend.Shared).Watch(ctx, heard)
}
func (w *writeHookBackend) Registry() backend.Registry {
	return &writeHookRegistry{w.Backend.Registry(), w.p}
}

type writeHookRegistry struct {
	backend.Registry
	p *process
}

func (r *writeHookRegistry) WriteRecords(ctx context.Context, ws []backend.RecordWrite) error {
	if r.p.write != nil {
		r.p.write(ws)
	}
	return r.Registry.WriteRecords(ctx, ws)
}

func startProcess(t *testing.T, url string, embedder contextmem.Embedder, previous ...contextmem.Embedder) *process {
	t.Helper()
	stores, err := Open(t.Context(), url, nil)
	require.NoError(t, err)
	indexes, err := local.Open(t.TempDir(), nil)
	require.NoError(t, err)
	p := &process{plan: backendtest.NewPlan()}
	be := &writeHookBackend{backendtest.Faulty(backend.Compose(stores, indexes), p.plan), p}
	p.Service, err = contextmem.New(t.Context(), be, &contextmem.Options{Judge: judge.None, Embedder: embedder, PreviousEmbedders: previous, Workers: 2, MaxAttempts: 3, Lease: 30 * time.Second})
	require.NoError(t, err)
	t.Cleanup(func() {
		p.plan.Clear()
		p.plan.Release()
		assert.NoError(t, p.Close())
	})
	return p
}

const turnedItems = 40

func kettleText(i int) string { return fmt.Sprintf("The kettle number %d stands in Oslo.", i) }

func (p *process) add(t *testing.T, ids ...string) {
	t.Helper()
	var ms []contextmem.Memory
	for i, id := range ids {
		ms = append(ms, contextmem.Memory{ID: id, Text: kettleText(i)})
	}
	remember(t, p.sub(), ms...)
}

func (p *process) wait(t *testing.T, ids ...string) {
	t.Helper()
	sts, err := p.sub().Wait(t.Context(), ids...)
	require.NoError(t, err)
	for _, st := range sts {
		require.Equal(t, contextmem.StatusCompleted, st.Status, st.ID)
	}
}

// requireDense checks that vectors alone find the items.
func (p *process) requireDense(t *testing.T, ids ...string) {
	t.Helper()
	r, err := p.sub().Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "kettle in Oslo", Alpha: contextmem.FixedAlpha(1), MaxResults: 400})
	require.NoError(t, err)
	assert.Empty(t, r.Warnings)
	found := make(map[string]bool)
	for _, c := range r.Chunks {
		found[c.SourceID] = true
	}
	for _, id := range ids {
		assert.True(t, found[id], "%s is not found by its vector", id)
	}
}

func ofPrefix(prefix string, n int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprint(prefix, i))
	}
	return ids
}

// deploymentOf creates a deployment with the vectors of an embedder.
func deploymentOf(t *testing.T, name string, e contextmem.Embedder) (url string, ids []string) {
	t.Helper()
	url = database(t, name)
	p := startProcess(t, url, e)
	_, err := p.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	require.NoError(t, p.Tenant("acme").WaitReady(t.Context()))
	ids = ofPrefix("m", turnedItems)
	p.add(t, ids...)
	p.wait(t, ids...)
	require.NoError(t, p.Close())
	return url, ids
}

// TestReembedWhileAnotherStores lets a process embed items for the old vectors before another begins to embed the
// tenant again, and store them when that is over.
func TestReembedWhileAnotherStores(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a lease to end")
	}
	t.Parallel()
	last, next := rotatedEmbedder{static.New(), 0}, rotatedEmbedder{static.New(), 3}
	url, ids := deploymentOf(t, t.Name(), last)
	b := startProcess(t, url, next, last)
	b.add(t, "first")
	b.wait(t, "first") // it works on the tenant
	b.plan.Add(backendtest.Fault{Method: "Store.Index", Call: b.plan.Calls("Store.Index") + 1, Block: true})
	calls := b.plan.Calls("Store.Index")
	b.add(t, "late")
	require.NoError(t, b.plan.Await(t.Context(), "Store.Index", calls+1))
	a := startProcess(t, url, next, last)
	n, err := a.Tenant("acme").Reembed(t.Context())
	require.NoError(t, err)
	assert.Equal(t, turnedItems+1, n)
	ids = append(ids, "first")
	a.requireDense(t, ids...)
	b.requireDense(t, ids...)
	b.plan.Release()
	b.wait(t, "late")
	for _, p := range []*process{a, b} {
		p.add(t, "more")
		p.wait(t, "more")
		p.requireDense(t, append(ids, "late", "more")...)
	}
	n, err = b.Tenant("acme").Reembed(t.Context())
	require.NoError(t, err)
	assert.Zero(t, n, "nothing was left without vectors")
}

// TestReembedWhileAnotherAccepts lets another process accept items and search at each step of a Reembed.
func TestReembedWhileAnotherAccepts(t *testing.T) {
	t.Parallel()
	for _, at := range []struct {
		method string
		call   int
	}{{"Store.PutVectors", 1}, {"Store.MissingVectors", 3}, {"Store.Set", 2}, {"Store.Set", 3}, {"Store.DropLane", 1}, {"Store.Set", 4}} {
		t.Run(fmt.Sprint(at.method, " ", at.call), func(t *testing.T) {
			t.Parallel()
			last, next := rotatedEmbedder{static.New(), 0}, rotatedEmbedder{static.New(), 3}
			url, ids := deploymentOf(t, t.Name(), last)
			a, b := startProcess(t, url, next, last), startProcess(t, url, next, last)
			b.requireDense(t, ids...)
			a.requireDense(t, ids...)
			a.plan.Add(backendtest.Fault{Method: at.method, Call: a.plan.Calls(at.method) + at.call, Block: true})
			calls := a.plan.Calls(at.method)
			var wg sync.WaitGroup
			wg.Go(func() {
				_, err := a.Tenant("acme").Reembed(t.Context())
				assert.NoError(t, err)
			})
			require.NoError(t, a.plan.Await(t.Context(), at.method, calls+at.call))
			b.requireDense(t, ids...)
			b.add(t, "during")
			if at.method != "Store.Set" { // which what is added may need too
				b.wait(t, "during")
			}
			b.requireDense(t, ids...)
			a.plan.Release()
			wg.Wait()
			b.wait(t, "during")
			ids = append(ids, "during")
			b.requireDense(t, ids...)
			a.requireDense(t, ids...)
			n, err := b.Tenant("acme").Reembed(t.Context())
			require.NoError(t, err)
			assert.Zero(t, n)
			b.requireDense(t, ids...)
		})
	}
}

// TestReembedForAnother checks that a process that cannot use the old vectors serves the tenant once another has made
// new ones.
func TestReembedForAnother(t *testing.T) {
	t.Parallel()
	last, next := rotatedEmbedder{static.New(), 0}, rotatedEmbedder{static.New(), 3}
	url, ids := deploymentOf(t, t.Name(), last)
	b := startProcess(t, url, next)
	_, err := b.sub().AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "x", Text: "x"}}})
	require.ErrorIs(t, err, contextmem.ErrConflict)
	a := startProcess(t, url, next)
	_, err = a.Tenant("acme").Reembed(t.Context())
	require.NoError(t, err)
	b.requireDense(t, ids...)
	b.add(t, "more")
	b.wait(t, "more")
	b.requireDense(t, append(ids, "more")...)
}

// TestRotationWhileAnotherSeals lets a process seal a secret with the old key before another replaces the key, and
// store it when that is over.
func TestRotationWhileAnotherSeals(t *testing.T) {
	t.Parallel()
	url := database(t, t.Name())
	a, b := startProcess(t, url, nil), startProcess(t, url, nil)
	_, err := a.SetWebhook(t.Context(), contextmem.WebhookSpec{URL: "https://example.com/hook"}) // a rotation finds nothing in it
	require.NoError(t, err)
	reached, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	b.write = func(ws []backend.RecordWrite) {
		if ws[0].Kind == "webhook" {
			once.Do(func() {
				close(reached)
				<-release
			})
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := b.SetWebhookSecret(t.Context(), "another secret of the receiver")
		assert.NoError(t, err)
	})
	<-reached
	require.NoError(t, a.RotateSecretKey(t.Context(), nil))
	close(release)
	wg.Wait()
	// A rotation opens everything.
	require.NoError(t, startProcess(t, url, nil).RotateSecretKey(t.Context(), nil))
	require.NoError(t, b.RotateSecretKey(t.Context(), nil))
	require.NoError(t, a.RotateSecretKey(t.Context(), nil))
}
