package workspace_test

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/embed/static"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// waiting is an embedder and an extractor that wait until their call is cancelled.
type waiting struct {
	*static.Embedder
	begun chan struct{}
	once  *sync.Once
}

func (w waiting) wait(ctx context.Context) error {
	w.once.Do(func() { close(w.begun) })
	<-ctx.Done()
	return ctx.Err()
}

func (w waiting) EmbedDocuments(ctx context.Context, _ []string) ([][]float32, error) {
	return nil, w.wait(ctx)
}

func (w waiting) Extract(ctx context.Context, _ []extract.Input) ([]extract.Output, error) {
	return nil, w.wait(ctx)
}

func (w waiting) Name() string { return "waiting" }

// TestClosingIsNoFailure checks that a service that closes while a plug-in works logs no failure of it, and that the item is completed later.
func TestClosingIsNoFailure(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*contextmem.Options, waiting) contextmem.Memory{
		"embedding": func(o *contextmem.Options, w waiting) contextmem.Memory { o.Embedder = w; return contextmem.Memory{} },
		"inference": func(o *contextmem.Options, w waiting) contextmem.Memory {
			o.Extractor = w
			return contextmem.Memory{Infer: true}
		},
		"extraction": func(o *contextmem.Options, w waiting) contextmem.Memory { o.Extractor = w; return contextmem.Memory{} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var log bytes.Buffer
			be, w := inmem.New(), waiting{static.New(), make(chan struct{}), new(sync.Once)}
			o := &contextmem.Options{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))}
			m := set(o, w)
			m.ID, m.Text = "m", "I live in Lisbon."
			svc, err := contextmem.New(ctx, be, o)
			require.NoError(t, err)
			s := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("a")
			_, err = s.AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{m}})
			require.NoError(t, err)
			<-w.begun
			require.NoError(t, svc.Close())
			require.Empty(t, log.String())

			again, err := be.Reopen()
			require.NoError(t, err)
			svc, err = contextmem.New(ctx, again, nil)
			require.NoError(t, err)
			defer func() { require.NoError(t, svc.Close()) }()
			st, err := svc.Tenant("acme").Sub("a").Wait(ctx, "m")
			require.NoError(t, err)
			require.Equal(t, contextmem.StatusCompleted, st[0].Status)
		})
	}
}
