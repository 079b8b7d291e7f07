package httpapi

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/contextmem/contextmem"
)

// ofRequest matches the parts in which two answers to the same request differ.
var ofRequest = regexp.MustCompile(`"latency_ms":[0-9.e-]+|"request_id":"[^"]*"`)

// TestAnswersDoNotMix checks that concurrent requests that reuse buffers, failing ones included, get the same answers as alone.
func TestAnswersDoNotMix(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{Keys: map[string]string{fullKey: contextmem.DefaultOrg}})
	s := f.svc.Tenant("acme").Sub("")
	var batch contextmem.MemoryBatch
	for i := range 60 {
		batch.Memories = append(batch.Memories, contextmem.Memory{ID: fmt.Sprint("b", i), Text: benchText(i)})
	}
	_, err := s.AddMemories(t.Context(), batch)
	require.NoError(t, err)
	require.NoError(t, f.svc.Drain(t.Context()))
	type request struct{ path, body, want string }
	var all []request
	for i := range 24 {
		long := strings.Repeat(`,"unknown_`+fmt.Sprint(i)+`":[{"a":"\n"},`+fmt.Sprint(i)+`]`, i%3)
		for _, r := range []request{
			{path: "/recall/recall_preferences", body: `{"tenant_id":"acme","query":%q,"max_results":` + fmt.Sprint(1+i) + `}`},
			{path: "/query", body: `{"database":"acme","type":"memory","query":%q,"mode":"fast","graph_context":` + fmt.Sprint(i%2 == 0) + long + `}`},
			{path: "/query", body: `{"database":"acme","query":%q,"query_by":"text","mode":"fast"}`},
			{path: "/query", body: `{"database":"acme","type":"memory","query":%q,"mode":"fast","temporal_intent":{"mode":"range","window_start":"2020-01-0` + fmt.Sprint(1+i%9) + `"}}`},
			{path: "/query", body: `{"database":"acme","query":%q,"per_source":-1}`},
			{path: "/recall/full_recall", body: `{"tenant_id":"nobody","query":%q}`},
		} {
			all = append(all, request{path: r.path, body: fmt.Sprintf(r.body, benchQuery(i))})
		}
	}
	ask := func(ctx context.Context, r *request) string {
		req := httptest.NewRequestWithContext(ctx, "POST", r.path, strings.NewReader(r.body))
		req.Header.Set("Authorization", "Bearer "+fullKey)
		w := httptest.NewRecorder()
		f.ServeHTTP(w, req)
		return fmt.Sprint(w.Code, " ", ofRequest.ReplaceAllString(w.Body.String(), ""))
	}
	good := 0
	for i := range all {
		all[i].want = ask(t.Context(), &all[i])
		if strings.HasPrefix(all[i].want, "200 ") && strings.Contains(all[i].want, `"chunk_content"`) {
			good++
		}
	}
	require.Greater(t, good, len(all)/3, "most find something")
	var g errgroup.Group
	for k := range 8 {
		g.Go(func() error {
			rng := rand.New(rand.NewPCG(1, uint64(k)))
			for range 150 {
				r := &all[rng.IntN(len(all))]
				if got := ask(t.Context(), r); got != r.want {
					return fmt.Errorf("%s %s\nwant %s\ngot  %s", r.path, r.body, r.want, got)
				}
			}
			return nil
		})
	}
	require.NoError(t, g.Wait())
}
