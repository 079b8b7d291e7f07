package postgres

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/local"
	"github.com/contextmem/contextmem/judge"
)

// TestDrainProcessesItemsOfOthers checks that a process that has just started drains items left by another, of which it
// was not notified.
func TestDrainProcessesItemsOfOthers(t *testing.T) {
	open := func(e contextmem.Embedder) *contextmem.Service {
		indexes, err := local.Open(t.TempDir(), nil)
		require.NoError(t, err)
		svc, err := contextmem.New(t.Context(), backend.Compose(openTest(t, t.Name(), nil), indexes),
			&contextmem.Options{Embedder: e, Judge: judge.None, SecretKey: moveKey, Lease: time.Second})
		require.NoError(t, err)
		return svc
	}
	embedder := func(answer func(ctx context.Context, n int) error) contextmem.Embedder {
		return contextmem.EmbedderFunc{Name: "one/1", Length: 1, Embed: func(ctx context.Context, texts []string, _ bool) ([][]float32, error) {
			out := make([][]float32, len(texts))
			for i := range out {
				out[i] = []float32{1}
			}
			return out, answer(ctx, len(texts))
		}}
	}
	asked := make(chan struct{}, 100)
	svc := open(embedder(func(ctx context.Context, _ int) error { // never answers
		asked <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}))
	acme := svc.Tenant("acme")
	_, err := svc.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	require.NoError(t, acme.WaitReady(t.Context()))
	var ids []string
	for i := range 3 {
		ids = append(ids, fmt.Sprint("m", i))
		remember(t, acme.Sub("s"), contextmem.Memory{ID: ids[i], Text: "Ann lives in Rome."})
	}
	<-asked
	require.NoError(t, svc.Close())

	svc = open(embedder(func(context.Context, int) error { return nil }))
	defer func() { require.NoError(t, svc.Close()) }()
	require.NoError(t, svc.Drain(t.Context()))
	st, err := svc.Tenant("acme").Sub("s").Status(t.Context(), ids...)
	require.NoError(t, err)
	for _, s := range st {
		require.Equal(t, contextmem.StatusCompleted, s.Status, s.ID)
	}
}
