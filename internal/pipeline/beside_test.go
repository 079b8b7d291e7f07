package pipeline

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/chunk"
)

// journal is an embedder, an extractor that reads at most limit bytes of a text, and an index. It notes what is called.
type journal struct {
	touchy
	backend.Index
	limit int
	fails int // number of calls of Extract that fail
	lines []string

	reading chan struct{} // closed by the first call of Extract
	began   sync.Once
}

func (x *journal) note(line string) {
	if len(x.lines) == 0 || x.lines[len(x.lines)-1] != line {
		x.lines = append(x.lines, line)
	}
}

func (x *journal) MaxBytes() int { return x.limit }

func (x *journal) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	x.note("embed")
	return x.touchy.EmbedDocuments(ctx, texts)
}

func (x *journal) Flush(ctx context.Context) error {
	x.note("flush")
	return x.Index.Flush(ctx)
}

func (x *journal) Extract(_ context.Context, in []extract.Input) ([]extract.Output, error) {
	x.began.Do(func() { close(x.reading) })
	if x.fails > 0 {
		x.fails--
		x.note("extraction fails")
		return nil, errors.New("no")
	}
	out := make([]extract.Output, len(in))
	for i := range in {
		name := in[i].Text[:5]
		x.note("extract " + name)
		out[i].Mentions = []extract.Mention{{Key: name, Name: name, Type: extract.TypePerson, Weight: extract.WeightText}}
		if len(in[i].Text) > x.limit {
			x.note("too long")
		}
	}
	return out, nil
}

// besides is a Store that stores chunks only after the extractor has begun to read.
type besides struct {
	backend.Store
	of *journal
}

func (x *besides) Index(ctx context.Context, items []backend.Indexed) ([]bool, error) {
	select {
	case <-x.of.reading:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return x.Store.Index(ctx, items)
}

// TestExtractBeside checks when the graphs of a large batch are extracted: while the Store writes its chunks if they have at most MaxBytes bytes
// together. Then the indexes need not be flushed first. What is left, or has failed, is extracted once it is searchable. All are completed with
// their graphs.
func TestExtractBeside(t *testing.T) {
	t.Parallel()
	large := func(name string, size int) string {
		return name + " # a" + strings.Repeat("\n\nThe kettle stands on the stove, and the tea is in the cupboard.", size/64)
	}
	for name, x := range map[string]struct {
		limit, fails int
		texts        []string
		want         []string
	}{
		"one":             {4 << 20, 0, []string{large("first", 9<<20)}, []string{"embed", "extract first"}},
		"small":           {4 << 20, 0, []string{large("first", 1<<20)}, []string{"embed", "extract first"}},
		"fails once":      {4 << 20, 1, []string{large("first", 9<<20)}, []string{"embed", "extraction fails", "flush", "extract first"}},
		"not all at once": {6 << 20, 0, []string{large("first", 5<<20), large("again", 5<<20)}, []string{"embed", "extract first", "flush", "extract again"}},
		"all at once":     {10 << 20, 0, []string{large("first", 8<<20), large("again", 1<<20)}, []string{"embed", "extract first", "extract again"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ws, err := inmem.New().OpenWorkspace(t.Context(), strings.Repeat("a", 32))
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, ws.Close()) })
			told := &journal{Index: ws.Indexes()[0], limit: x.limit, fails: x.fails, reading: make(chan struct{})}
			c, s := pipe(), space(t, inmem.New())
			c.Extractor, c.BatchBytes, c.Chunking = told, 1<<30, chunk.Options{TargetBytes: 50_000, MaxBytes: 100_000}
			s.Embedder, s.Store, s.Follower = told, ws.Store(), newFollower(ws.Store(), []backend.Index{told})
			if name != "small" {
				s.Store = &besides{ws.Store(), told}
			}
			var ids []string
			for _, text := range x.texts {
				ids = append(ids, text[:5])
				accept(t, s, backend.Knowledge, "application/x-crash", map[string]string{text[:5]: text})
			}
			n, err := c.Step(t.Context(), s, "t")
			require.NoError(t, err)
			require.Equal(t, len(ids), n)
			require.Equal(t, x.want, told.lines)
			changes, err := s.Store.Changes(t.Context(), 0, 1<<20)
			require.NoError(t, err)
			for id, src := range states(t, s, backend.Knowledge, ids...) {
				require.Equal(t, backend.Completed, src.State, id)
				require.True(t, slices.ContainsFunc(changes, func(c backend.Change) bool { return c.Source == src.Num && len(c.Mentions) > 0 }), "%s has no graph", id)
			}
		})
	}
}
