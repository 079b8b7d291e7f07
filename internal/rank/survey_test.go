package rank

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/local"
	"github.com/contextmem/contextmem/internal/language"
)

// Indexes that do not implement [backend.Surveyor].
type (
	apartGraph    struct{ backend.Graph }
	apartKeywords struct{ backend.Keywords }
	apartVectors  struct{ backend.Vectors }
)

// letters embeds a text by the letters in it.
type letters struct{}

func (letters) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	v := make([]float32, 16)
	for i, r := range text {
		v[(int(r)*7+i%3)%len(v)] += 1 - float32(i%5)/3
	}
	return v, nil
}

// TestSurvey ranks random partitions with a survey and with single calls. Both must give the same
// ranking with the same parts.
func TestSurvey(t *testing.T) {
	t.Parallel()
	open, err := local.Open(t.TempDir(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, open.Close()) }()
	rng := rand.New(rand.NewPCG(11, 12))
	e := &Engine{Embedder: letters{}, Coverage: func(string) float64 { return 1 }, Words: twinWords(), MemoryStrength: .5, KnowledgeStrength: .4}
	surveys := 0
	for n := range 60 {
		x, err := open.OpenIndexes(t.Context(), fmt.Sprintf("%032x", n))
		require.NoError(t, err)
		part := backend.Partition{Sub: "s", Class: []backend.Class{backend.Memory, backend.Memory, backend.Knowledge}[n%3]}
		fill(t, rng, x, part, rng.IntN(60))
		whole := Space{Store: storeOf{w: &world{}}, Vectors: x.Vectors(), Keywords: x.Keywords(), Graph: x.Graph()}
		single := Space{Store: whole.Store, Vectors: apartVectors{whole.Vectors}, Keywords: apartKeywords{whole.Keywords}, Graph: apartGraph{whole.Graph}}
		for range 6 {
			text := words(phrase(rng, 1+rng.IntN(5)) + " " + pickOne(rng, "", "when did Maria", "what did you suggest", "in May 2024", "which places"))
			r := Request{Part: part, K: 1 + rng.IntN(40), Thinking: rng.IntN(3) == 0, Auto: rng.IntN(4) == 0, Now: time.Date(2024, 6, 1, 0, 0, 0, 0, time.UTC),
				Alpha: Alpha{Value: []float64{DefaultAlpha, .9, 0, 1, .3}[rng.IntN(5)]}}
			r.Question = e.Ask(strings.Join(text, " "), r.Now, language.AllCues)
			switch rng.IntN(4) {
			case 0:
				r.Filter.All = [][]uint64{{uint64(rng.IntN(3)), uint64(rng.IntN(3))}}
			case 1:
				r.Filter.Not = []uint64{uint64(rng.IntN(3))}
			}
			got, err := e.Search(t.Context(), whole, r)
			require.NoError(t, err)
			if got.work.whole {
				surveys++
			}
			want, err := e.Search(t.Context(), single, r)
			require.NoError(t, err)
			require.False(t, want.work.whole)
			require.Equal(t, want.Thinking, got.Thinking)
			requireSame(t, want, got, fmt.Sprintf("partition %d, %+v, %q", n, r, text))
			got.Release()
			want.Release()
		}
		require.NoError(t, x.Close())
	}
	require.Greater(t, surveys, 200)
}

// requireSame compares rankings. Scores may differ by rounding errors, and hits whose scores differ by less may change order.
func requireSame(t *testing.T, want, got *Answer, msg string) {
	t.Helper()
	hits := func(a *Answer) []Scored {
		return slices.SortedFunc(slices.Values(hitsOf(a)), func(a, b Scored) int { return cmp.Compare(a.Chunk, b.Chunk) })
	}
	wanted, found := hits(want), hits(got)
	require.Len(t, found, len(wanted), msg)
	for i, w := range wanted {
		g := found[i]
		require.Equal(t, []int64{w.Chunk, w.Source}, []int64{g.Chunk, g.Source}, msg)
		x, y := want.Parts(&w), got.Parts(&g)
		require.InDelta(t, w.Score, g.Score, 1e-6, "%s: chunk %d: %+v, %+v", msg, w.Chunk, x, y)
		for _, p := range [][2]float64{{x.Semantic, y.Semantic}, {x.Keyword, y.Keyword}, {x.Context, y.Context}, {x.Speaker, y.Speaker}, {x.Time, y.Time},
			{x.Entity, y.Entity}, {x.Graph, y.Graph}, {x.Bridge, y.Bridge}, {x.Expansion, y.Expansion}, {x.Late, y.Late}, {x.RawDense, y.RawDense}, {x.RawKeyword, y.RawKeyword}} {
			require.InDelta(t, p[0], p[1], 1e-6, msg)
		}
	}
}

// fill indexes sources with random texts, sessions, speakers, times and tags, and drops some of them.
func fill(t *testing.T, rng *rand.Rand, x backend.IndexSet, part backend.Partition, sources int) {
	t.Helper()
	begun := time.Date(2024, 5, 1, 9, 0, 0, 0, time.UTC)
	sessions, one := 1+rng.IntN(4), rng.IntN(3) == 0
	chunk, seq := int64(0), uint64(0)
	apply := func(c backend.Change) {
		seq++
		c.Seq, c.Part = seq, part
		for _, s := range x.Indexes() {
			require.NoError(t, s.Apply(t.Context(), []backend.Change{c}))
		}
	}
	for i := range sources {
		c := backend.Change{Kind: backend.PutChunks, Source: int64(i + 1), SourceID: fmt.Sprint(i), Tags: []uint64{uint64(rng.IntN(3))}}
		kind := rng.IntN(4)
		if one && kind < 2 {
			c.Session, kind = "only", 2
		}
		switch kind {
		case 0:
			c.Time = begun.Add(time.Duration(rng.IntN(600)) * time.Minute)
		case 1:
			c.Session, c.Time = fmt.Sprint("session", rng.IntN(sessions)), begun.Add(time.Duration(i)*time.Hour)
		}
		for ordinal := range 1 + rng.IntN(3)*rng.IntN(3) {
			chunk++
			text := phrase(rng, 3+rng.IntN(8))
			vector, _ := letters{}.EmbedQuery(t.Context(), text)
			extra, err := json.Marshal(backend.RowExtra{Speaker: pickOne(rng, "", "", "Maria", "assistant", "Tom Baker"), Question: rng.IntN(5) == 0, HasTime: rng.IntN(5) == 0,
				Asks: rng.IntN(6) == 0, First: rng.IntN(3) == 0, Second: rng.IntN(4) == 0})
			require.NoError(t, err)
			c.Rows = append(c.Rows, backend.Row{Chunk: chunk, Ordinal: ordinal, Text: text, Vector: vector, Extra: extra})
		}
		apply(c)
		if len(c.Rows) > 0 && rng.IntN(2) == 0 {
			apply(backend.Change{Kind: backend.PutGraph, Source: c.Source, Mentions: []backend.MentionRef{
				{Chunk: c.Rows[0].Chunk, Entity: int64(1 + rng.IntN(3)), Key: pickOne(rng, "maria", "harbour", "lantern"), Weight: 1 + float32(rng.IntN(2))}}})
		}
		if rng.IntN(8) == 0 {
			apply(backend.Change{Kind: backend.Drop, Source: int64(1 + rng.IntN(i+1))})
		}
	}
}

func phrase(rng *rand.Rand, n int) string {
	known := []string{"harbour", "lantern", "kettle", "ferry", "maria", "tom", "anchor", "pump", "may", "2024", "garden", "bread", "violin", "storm", "letter"}
	out := make([]string, n)
	for i := range out {
		out[i] = known[rng.IntN(len(known))]
	}
	return strings.Join(out, " ")
}

func pickOne(rng *rand.Rand, of ...string) string { return of[rng.IntN(len(of))] }
