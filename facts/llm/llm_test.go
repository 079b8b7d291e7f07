package llm

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/block"
)

// endpoint answers with what answer gives, and counts.
type endpoint struct {
	*httptest.Server
	calls atomic.Int32
}

func serve(t *testing.T, answer func(prompt) (status int, content string)) *endpoint {
	t.Helper()
	e := &endpoint{}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.calls.Add(1)
		b, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		var req request
		assert.NoError(t, json.Unmarshal(b, &req))
		assert.Equal(t, "/v1/chat/completions", r.URL.Path)
		assert.Equal(t, "Bearer key", r.Header.Get("Authorization"))
		var a prompt
		assert.NoError(t, json.Unmarshal([]byte(req.Messages[1].Content), &a))
		status, content := answer(a)
		if status != http.StatusOK {
			w.WriteHeader(status)
			return
		}
		out, err := json.Marshal(map[string]any{"choices": []any{map[string]any{"message": map[string]any{"content": content}}}, "usage": map[string]int{"prompt_tokens": 300, "completion_tokens": 40}})
		assert.NoError(t, err)
		_, _ = w.Write(out)
	}))
	t.Cleanup(e.Close)
	return e
}

func summarizer(t *testing.T, e *endpoint, change func(*Config)) *Summarizer {
	t.Helper()
	cfg := Config{BaseURL: e.URL + "/v1", APIKey: "key", Model: "m", MaxRetries: -1}
	if change != nil {
		change(&cfg)
	}
	s, err := New(cfg)
	require.NoError(t, err)
	return s
}

var ana = facts.SummaryRequest{Subject: "Ana", MaxTokens: 40, Statements: []string{"Ana moved to Braga. (since 2024-03-07)", "Ana has 2 dogs."}}

const good = `{"sentences":[{"text":"Ana has lived in Braga since 7 March 2024.","from":[0]},{"text":"She has 2 dogs.","from":[1]}]}`

func always(content string) func(prompt) (int, string) {
	return func(prompt) (int, string) { return http.StatusOK, content }
}

func TestSummarize(t *testing.T) {
	t.Parallel()
	e := serve(t, func(a prompt) (int, string) {
		assert.Equal(t, prompt{"Ana", a.MaxTokens, []statement{{0, ana.Statements[0]}, {1, ana.Statements[1]}}}, a)
		return http.StatusOK, good
	})
	s := summarizer(t, e, nil)
	var all sync.WaitGroup
	for range 8 { // at once: one asks
		all.Go(func() {
			text, err := s.Summarize(t.Context(), ana)
			assert.NoError(t, err)
			assert.Equal(t, "Ana has lived in Braga since 7 March 2024. She has 2 dogs.", text)
		})
	}
	all.Wait()
	assert.EqualValues(t, 1, e.calls.Load(), "what was written is kept")
	more := ana
	more.MaxTokens = 16
	text, err := s.Summarize(t.Context(), more)
	require.NoError(t, err)
	assert.Equal(t, "Ana has lived in Braga since 7 March 2024.", text, "what does not fit is left out")
	assert.LessOrEqual(t, block.Tokens(text), 16)
	assert.EqualValues(t, 2, e.calls.Load(), "another request is asked for")
	assert.Equal(t, "m", s.Model())
	_, err = s.Summarize(t.Context(), facts.SummaryRequest{Subject: "Ana", MaxTokens: 9})
	require.Error(t, err)
}

func TestUngrounded(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]string{
		"a number of nowhere": `{"text":"Ana has 3 dogs.","from":[1]}`,
		"another statement's": `{"text":"Ana has 2 dogs.","from":[0]}`,
		"of nothing":          `{"text":"Ana is kind.","from":[]}`,
		"no such statement":   `{"text":"Ana is kind.","from":[2]}`,
		"before the first":    `{"text":"Ana is kind.","from":[-1]}`,
		"empty":               `{"text":" ","from":[0]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := summarizer(t, serve(t, always(`{"sentences":[`+x+`,{"text":"She lives in Braga.","from":[0]}]}`)), nil)
			text, err := s.Summarize(t.Context(), ana)
			require.NoError(t, err)
			assert.Equal(t, "She lives in Braga.", text)
		})
	}
}

func TestBadAnswers(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"no JSON": "Sure!", "another field": `{"sentences":[],"why":"x"}`, "nothing": `{"sentences":[]}`, "more behind": good + "{}", "only what is not grounded": `{"sentences":[{"text":"Ana is 40.","from":[0]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := serve(t, always(content))
			s := summarizer(t, e, nil)
			now := time.Unix(1e9, 0)
			s.now = func() time.Time { return now }
			for range 3 {
				_, err := s.Summarize(t.Context(), ana)
				require.Error(t, err)
				assert.NotContains(t, err.Error(), "Braga")
			}
			assert.EqualValues(t, 1, e.calls.Load(), "the same is not paid for again at once")
			other := ana
			other.Subject = "Bo"
			_, err := s.Summarize(t.Context(), other)
			require.Error(t, err)
			assert.EqualValues(t, 2, e.calls.Load(), "others are asked about")
			now = now.Add(DefaultRest)
			_, err = s.Summarize(t.Context(), ana)
			require.Error(t, err)
			assert.EqualValues(t, 3, e.calls.Load())
		})
	}
}

func TestRest(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	down.Store(true)
	e := serve(t, func(prompt) (int, string) {
		if down.Load() {
			return http.StatusInternalServerError, ""
		}
		return http.StatusOK, good
	})
	s := summarizer(t, e, nil)
	now := time.Unix(1e9, 0)
	s.now = func() time.Time { return now }
	for i := range 3 {
		r := ana
		r.MaxTokens += i
		_, err := s.Summarize(t.Context(), r)
		require.Error(t, err)
	}
	assert.EqualValues(t, 1, e.calls.Load(), "nobody waits for an endpoint that is down")
	down.Store(false)
	now = now.Add(DefaultRest)
	_, err := s.Summarize(t.Context(), ana)
	require.NoError(t, err)
}

func TestBudget(t *testing.T) {
	t.Parallel()
	e := serve(t, always(good))
	s := summarizer(t, e, func(c *Config) { c.MaxTokensPerDay = 2600 })
	failed := 0
	for i := range 20 {
		r := ana
		r.Statements = append(r.Statements[:2:2], "Ana likes "+strings.Repeat("x", i+1))
		if _, err := s.Summarize(t.Context(), r); err != nil {
			require.ErrorIs(t, err, errBudget)
			failed++
		}
	}
	n := int(e.calls.Load())
	assert.Equal(t, 20, n+failed)
	assert.Greater(t, n, 2, "what a request did not use is given back")
	assert.Less(t, n, 9, "20 requests take more than there is")
}

func TestCanceled(t *testing.T) {
	t.Parallel()
	e := serve(t, always(good))
	s := summarizer(t, e, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Summarize(ctx, ana)
	require.ErrorIs(t, err, context.Canceled)
	_, err = s.Summarize(t.Context(), ana)
	require.NoError(t, err, "a caller that went says nothing of the endpoint")
}

func TestConfig(t *testing.T) {
	t.Parallel()
	_, err := New(Config{BaseURL: "ftp://x", Keep: -1, MaxTokensPerDay: -1, Rest: -1, Timeout: -1})
	for _, what := range []string{"base URL", "model", "keep", "tokens per day", "rest", "timeout"} {
		t.Run(what, func(t *testing.T) {
			require.ErrorContains(t, err, what)
		})
	}
}
