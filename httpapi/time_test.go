package httpapi

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
)

// TestQueryReadsThePast checks that as_of selects the graph facts valid at a time, and known_at those known by then.
func TestQueryReadsThePast(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	s := f.svc.Tenant("acme").Sub("dora")
	for i, m := range []contextmem.Memory{
		{Text: "I live in Lisbon.", Time: time.Date(2020, 3, 1, 0, 0, 0, 0, time.UTC)},
		{Text: "I moved to Porto.", Time: time.Date(2022, 6, 1, 0, 0, 0, 0, time.UTC)},
	} {
		m.ID = fmt.Sprint("home", i)
		_, err := s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{m}})
		require.NoError(t, err)
		wait(t, s, m.ID)
	}
	homes := func(more string) (names []string, chunks int) {
		w := f.do(t, http.MethodPost, "/query", `{"database":"acme","collection":"dora","type":"memory","query":"I live in Lisbon. I moved to Porto.","graph_context":true`+more+`}`)
		require.Equal(t, http.StatusOK, w.Code, w.Body)
		data := decodeAny(t, w.Body.Bytes()).(map[string]any)["data"].(map[string]any)
		for _, p := range data["graph_context"].(map[string]any)["chunk_relations"].([]any) {
			for _, x := range p.(map[string]any)["triplets"].([]any) {
				triplet := x.(map[string]any)
				if triplet["relation"].(map[string]any)["canonical_predicate"] == "lives_in" {
					names = append(names, triplet["target"].(map[string]any)["name"].(string))
				}
			}
		}
		return names, len(data["chunks"].([]any))
	}
	for _, c := range []struct {
		more   string
		want   []string
		chunks int
	}{
		{"", []string{"porto"}, 2},
		{`,"as_of":"2021-01-01T00:00:00Z"`, []string{"lisbon"}, 2},
		{`,"as_of":"2023-01-01T00:00:00Z"`, []string{"porto"}, 2},
		{`,"known_at":"2021-01-01T00:00:00Z"`, []string{"lisbon"}, 1},
		{`,"known_at":"2020-01-01T00:00:00Z"`, nil, 0},
	} {
		t.Run(c.more, func(t *testing.T) {
			names, chunks := homes(c.more)
			require.Equal(t, c.want, names, c.more)
			require.Equal(t, c.chunks, chunks, c.more)
		})
	}
	w := f.do(t, http.MethodPost, "/query", `{"database":"acme","collection":"dora","query":"Where do I live?","type":"memory","as_of":"2019-01-01T00:00:00Z"}`)
	require.Contains(t, w.Body.String(), `"told_later":true`)
	require.Contains(t, w.Body.String(), `"code":"told_later","field":"as_of"`)
	for _, field := range []string{"as_of", "known_at"} {
		t.Run(field, func(t *testing.T) {
			w := f.do(t, http.MethodPost, "/query", `{"database":"acme","query":"x","`+field+`":"yesterday"}`)
			require.Equal(t, http.StatusBadRequest, w.Code, w.Body)
			require.Contains(t, w.Body.String(), field)
		})
	}
}
