package persona

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/embed/static"
	"github.com/contextmem/contextmem/judge/llm"
)

// ana is a person who moves from Oslo to Porto and says so in words that no rule knows.
func ana() *Persona {
	day := func(n int) time.Time { return time.Date(2026, 1, n, 9, 0, 0, 0, time.UTC) }
	return &Persona{ID: "ana", User: "Ana", Docs: []Turn{
		{"t1", "s1", day(1), "user", "Ana", "I live in Oslo, by the harbour."}, {"t2", "s1", day(1), "assistant", "Assistant", "Noted."},
		{"t3", "s2", day(9), "user", "Ana", "First morning in Porto, boxes everywhere, live music below."}, {"t4", "s2", day(9), "assistant", "Assistant", "Enjoy it."}},
		Queries: []Question{{ID: "q1", Text: "Where do I live?", Category: "update", Relevant: map[string]int{"t3": 2}, Stale: []string{"t1"}},
			{ID: "q2", Text: "Where did I live?", Category: "asof", Relevant: map[string]int{"t1": 2}, Stale: []string{"t3"}, AsOf: "2026-01-05T00:00:00Z"},
			{ID: "q3", Text: "Which trumpet do I play?", Category: "absent"}},
		Replaces: [][2]string{{"t3", "t1"}}}
}

// TestRun checks, through judge/llm and a server, that a judge with the right labels finds changes that no rule finds.
func TestRun(t *testing.T) {
	t.Parallel()
	p := ana()
	labels := httptest.NewServer(Labels(p))
	t.Cleanup(labels.Close)
	j, err := llm.New(llm.Config{BaseURL: labels.URL, Model: "labels"})
	require.NoError(t, err)
	for _, pairs := range []bool{false, true} {
		svc, err := contextmem.Open(t.Context(), t.TempDir(), &contextmem.Options{Embedder: static.New(), Judge: j})
		require.NoError(t, err)
		defer svc.Close()
		_, err = svc.EnsureTenant(t.Context(), contextmem.TenantSpec{ID: "x"})
		require.NoError(t, err)
		all, err := Run(t.Context(), svc.Tenant("x").Sub("ana"), p, pairs, contextmem.ModeFast)
		require.NoError(t, err)
		s := Summarise(all)
		assert.Equal(t, 3, s.Questions)
		assert.Equal(t, 2, s.Stale)
		assert.Zero(t, s.StaleFirst)
		assert.InDelta(t, 1, s.Recall1, 1e-9)
		assert.InDelta(t, 1, s.Recall5, 1e-9)
		assert.Zero(t, s.RepeatRate)
		var b bytes.Buffer
		require.NoError(t, s.Print(&b, "all"))
		assert.Contains(t, b.String(), "stale first 0.000 of   2")
		assert.Equal(t, 1, Summarise(all, "asof").Questions)
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	q := &Question{Relevant: map[string]int{"a": 2, "b": 1}, Stale: []string{"c", "a2"}}
	in := map[string]string{"a": "m1", "a2": "m1", "b": "m2", "c": "m3"}
	hit := func(ids ...string) (cs []contextmem.Chunk) {
		for _, id := range ids {
			cs = append(cs, contextmem.Chunk{SourceID: id, Relevance: .5})
		}
		return cs
	}
	for name, x := range map[string]struct {
		hits       []contextmem.Chunk
		first      int
		staleFirst bool
		r5, again  float64
	}{
		"right":           {hit("m1", "m2", "m3"), 0, false, 1, 0},
		"stale first":     {hit("m3", "m1", "m2"), 1, true, 1, 0},
		"a repeat":        {hit("m1", "m1", "m3", "m2"), 0, false, 1, .25},
		"nothing":         {nil, 99, true, 0, 0},
		"one is too late": {hit("m1", "x", "y", "z", "v", "m2"), 0, false, .5, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := judge(q, in, x.hits)
			assert.Equal(t, x.first, a.First)
			assert.True(t, a.HasStale)
			assert.Equal(t, x.staleFirst, a.StaleFirst)
			assert.InDelta(t, x.r5, a.Recall5, 1e-9)
			assert.InDelta(t, x.again, a.Repeats, 1e-9)
		})
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "ana.json")
	b, err := json.Marshal(ana())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, b, 0o600))
	p, err := Load(file)
	require.NoError(t, err)
	assert.Equal(t, ana(), p)
	for _, bad := range []string{"{", "{}"} {
		require.NoError(t, os.WriteFile(file, []byte(bad), 0o600))
		_, err = Load(file)
		require.Error(t, err)
	}
}

func TestLabelsRefuse(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	Labels(ana()).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/chat/completions", bytes.NewBufferString(`{"messages":[]}`)))
	assert.Equal(t, http.StatusBadRequest, w.Code)
}

// TestPrintShowsNoNaN checks that a metric without questions of its kind is a dash as wide as a number.
func TestPrintShowsNoNaN(t *testing.T) {
	t.Parallel()
	asked := Answer{Question: &Question{Category: "update", Relevant: map[string]int{"t3": 2}}, Relevance: .5, Recall5: 1, NDCG: 1}
	var with, without bytes.Buffer
	require.NoError(t, Summarise([]Answer{asked, {Question: &Question{Category: "absent"}}}).Print(&with, "all"))
	require.Contains(t, with.String(), "absent AUROC 1.000")
	require.NoError(t, Summarise([]Answer{asked}).Print(&without, "all"))
	require.Contains(t, without.String(), "absent AUROC     -  repeats")
	require.NotContains(t, without.String(), "NaN")
	require.Len(t, without.String(), len(with.String()))
	without.Reset()
	require.NoError(t, Summarise(nil).Print(&without, "all"))
	require.NotContains(t, without.String(), "NaN")
}
