package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/extract/rules"
)

// costly is an extractor that reports a model's use for texts that contain "model".
type costly struct{ *rules.Extractor }

func (c costly) Extract(ctx context.Context, in []extract.Input) ([]extract.Output, error) {
	out, err := c.Extractor.Extract(ctx, in)
	for i := range out {
		if strings.Contains(in[i].Text, "model") {
			out[i].Usage = &extract.Usage{Model: "small", PromptTokens: 120, CompletionTokens: 9, Calls: 2, Fallback: "timeout"}
		}
	}
	return out, err
}

// TestUsageAndWarningsOnTheWire checks that the status of an item has the model's usage and the instructions that were
// not followed.
func TestUsageAndWarningsOnTheWire(t *testing.T) {
	t.Parallel()
	svc, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{Extractor: costly{rules.New()}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, svc.Close()) })
	h, err := New(svc, Options{Keys: map[string]string{fullKey: contextmem.DefaultOrg}})
	require.NoError(t, err)
	_, err = svc.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	tn := svc.Tenant("acme")
	require.NoError(t, tn.WaitReady(t.Context()))
	_, err = tn.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{
		{ID: "plain", Text: "I live in Lisbon.", Infer: true, Instructions: "Only places."},
		{ID: "m", Text: "I built a model of Lisbon.", Infer: true, Instructions: "Be brief. Ignore work."},
	}})
	require.NoError(t, err)
	_, err = tn.Sub("").Wait(t.Context(), "plain", "m")
	require.NoError(t, err)
	get := func(target string) string {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
		r.Header.Set("Authorization", "Bearer "+fullKey)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		require.Equal(t, http.StatusOK, w.Code, w.Body.String())
		require.True(t, json.Valid(w.Body.Bytes()))
		return w.Body.String()
	}
	warned := `"warnings":[{"code":"unheeded_instruction","field":"custom_instructions","message":"\"Be brief\" is not honoured`
	used := `"usage":{"calls":2,"completion_tokens":9,"fallback":"timeout","model":"small","prompt_tokens":120}`
	got := get("/context/inspect?database=acme&id=m&type=memory")
	require.Contains(t, got, warned)
	require.Contains(t, got, used)
	got = get("/context/inspect?database=acme&id=plain&type=memory")
	require.NotContains(t, got, `"warnings"`)
	require.NotContains(t, got, `"usage"`)
	got = get("/context/status?database=acme&ids=m&ids=plain")
	require.Contains(t, got, warned)
	require.Equal(t, 1, strings.Count(got, `"warnings"`))
	require.NotContains(t, got, "I live")
}
