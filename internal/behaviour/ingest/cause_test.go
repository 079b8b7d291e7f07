package ingest_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/servicetest"
	"github.com/contextmem/contextmem/internal/testtool"
)

// TestWhyAnItemFailed: the message of an item names the kind of cause and no text of the plug-in; the log has that.
func TestWhyAnItemFailed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		embed func(texts []string) ([][]float32, error)
		want  string
	}{
		"its error":  {func([]string) ([][]float32, error) { return nil, errors.New("no quota for sk-secret") }, "embedding failed: the embedder returned an error, whose text is in the log"},
		"panic":      {func([]string) ([][]float32, error) { panic("sk-secret") }, "embedding failed: the embedder panicked"},
		"too short":  {func(t []string) ([][]float32, error) { return make([][]float32, len(t)), nil }, "embedding failed: the embedder answered with vectors of another length"},
		"one vector": {func([]string) ([][]float32, error) { return nil, nil }, "embedding failed: the embedder answered with another number of vectors"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log testtool.Log
				e := contextmem.EmbedderFunc{Name: "mine", Length: 3, Embed: func(_ context.Context, texts []string, _ bool) ([][]float32, error) { return c.embed(texts) }}
				svc, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{Embedder: e, MaxAttempts: 1, RetryFor: time.Minute, Logger: slog.New(slog.NewTextHandler(&log, nil))})
				require.NoError(t, err)
				defer func() { require.NoError(t, svc.Close()) }()
				st, err := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Remember(t.Context(), contextmem.Memory{ID: "m", Text: "The kettle is on the shelf."})
				require.NoError(t, err)
				require.Equal(t, contextmem.StatusErrored, st[0].Status)
				require.Equal(t, "E3002", st[0].ErrorCode)
				require.Equal(t, c.want, st[0].ErrorMessage)
				require.Contains(t, log.String(), "embedding failed")
			})
		})
	}
}

// failing is an extractor that fails.
type failing struct{ err error }

func (f failing) Extract(context.Context, []extract.Input) ([]extract.Output, error) {
	return nil, f.err
}

func (failing) Name() string { return "failing" }

// TestWhyInferenceFailed is TestWhyAnItemFailed for an extractor, of a memory that is inferred from and of one that is not.
func TestWhyInferenceFailed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		svc, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{Extractor: failing{context.DeadlineExceeded}, MaxAttempts: 1, RetryFor: time.Minute})
		require.NoError(t, err)
		defer func() { require.NoError(t, svc.Close()) }()
		st, err := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Remember(t.Context(), contextmem.Memory{ID: "inferred", Text: "The kettle is on the shelf.", Infer: true},
			contextmem.Memory{ID: "plain", Text: "The lamp is on the table."})
		require.NoError(t, err)
		for i, want := range []string{"E4001 inference failed: the extractor did not answer in time", "E5001 graph extraction failed: the extractor did not answer in time"} {
			require.Equal(t, want, st[i].ErrorCode+" "+st[i].ErrorMessage)
		}
	})
}
