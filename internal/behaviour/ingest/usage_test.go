package ingest_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/extract/llm"
	"github.com/contextmem/contextmem/extract/rules"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// TestModelIsReportedAndNeverLosesAnItem checks that an item completes whatever the model's endpoint does, by the rules
// if needed, and reports the calls of the model.
func TestModelIsReportedAndNeverLosesAnItem(t *testing.T) {
	t.Parallel()
	const good = `{"choices":[{"message":{"content":"{\"items\":[{\"index\":0,\"entities\":[],\"relations\":[],\"facts\":[]}]}"},"finish_reason":"stop"}],"usage":{"prompt_tokens":120,"completion_tokens":9}}`
	for name, c := range map[string]struct {
		status   int
		body     string
		fallback string
		prompt   int
	}{
		"good":      {http.StatusOK, good, "", 120},
		"malformed": {http.StatusOK, `{"choices":[{"message":{"content":"no"},"finish_reason":"stop"}],"usage":{"prompt_tokens":120,"completion_tokens":9}}`, "malformed", 120},
		"down":      {http.StatusBadGateway, "", "server", 0},
		"refused":   {http.StatusUnauthorized, "", "refused", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			}))
			t.Cleanup(srv.Close)
			e, err := llm.New(llm.Config{BaseURL: srv.URL, Model: "small", Fallback: rules.New(), MaxRetries: -1, RetryDelay: time.Millisecond})
			require.NoError(t, err)
			_, acme := servicetest.Open(t, &contextmem.Options{Extractor: e})
			s := acme.Sub("a")
			servicetest.Remember(t, s, contextmem.Memory{ID: "m", Text: "I live in Lisbon.", Infer: true})
			f, err := s.Fetch(t.Context(), contextmem.FetchRequest{ID: "m"})
			require.NoError(t, err)
			require.Equal(t, "I live in Lisbon.", f.Text)
			require.NotNil(t, f.Usage)
			require.Equal(t, []any{"small", c.fallback, c.prompt, 1}, []any{f.Usage.Model, f.Usage.Fallback, f.Usage.PromptTokens, f.Usage.Calls})
			if c.fallback != "" {
				require.Contains(t, f.Inferred, "Lisbon", "the rules read it")
			}
		})
	}
	_, acme := servicetest.Open(t, nil)
	s := acme.Sub("a")
	servicetest.Remember(t, s, contextmem.Memory{ID: "m", Text: "I live in Lisbon.", Infer: true})
	f, err := s.Fetch(t.Context(), contextmem.FetchRequest{ID: "m"})
	require.NoError(t, err)
	require.Nil(t, f.Usage, "rules cost nothing")
}

// TestUnusedInstructionsAreWarnings checks that an item has a warning for custom instructions that the rules do not
// understand.
func TestUnusedInstructionsAreWarnings(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		s := tn.Sub("a")
		servicetest.Remember(t, s, contextmem.Memory{ID: "m", Text: "I live in Lisbon. I like tea.", Infer: true, Instructions: "Only preferences. Write like a poet."},
			contextmem.Memory{ID: "raw", Text: "I live in Lisbon.", Instructions: "Write like a poet."}, contextmem.Memory{ID: "plain", Text: "I like milk.", Infer: true, Instructions: "At most 3 facts"})
		st, err := s.Status(t.Context(), "m", "raw", "plain")
		require.NoError(t, err)
		want := []fault.Warning{{Code: "unheeded_instruction", Field: "Instructions", Message: `"Write like a poet" is not honoured: it is not an instruction that the rules know`}}
		require.Equal(t, want, st[0].Warnings)
		require.Empty(t, st[1].Warnings, "without inference they are ignored")
		require.Empty(t, st[2].Warnings)
		f, err := s.Fetch(t.Context(), contextmem.FetchRequest{ID: "m"})
		require.NoError(t, err)
		require.Equal(t, want, f.Warnings)
		require.Nil(t, f.Usage)
		require.Equal(t, "User likes tea.", f.Inferred, "the rest is honoured")
	})
}
