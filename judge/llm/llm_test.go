package llm

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/judge"
)

// server answers as answer says, given the scenes of a request.
func server(t *testing.T, calls *atomic.Int32, answer func(scenes []sceneInput) string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		b, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		var req request
		assert.NoError(t, json.Unmarshal(b, &req))
		assert.Equal(t, "/v1/chat/completions", r.URL.Path)
		assert.Equal(t, "Bearer key", r.Header.Get("Authorization"))
		var body struct{ Scenes []sceneInput }
		assert.NoError(t, json.Unmarshal([]byte(req.Messages[1].Content), &body))
		content := answer(body.Scenes)
		out, err := json.Marshal(map[string]any{"choices": []any{map[string]any{"message": map[string]any{"content": content}}}, "usage": map[string]int{"prompt_tokens": 100, "completion_tokens": 20}})
		assert.NoError(t, err)
		_, _ = w.Write(out)
	}))
	t.Cleanup(s.Close)
	return s
}

// moved answers that a statement with "Porto" is replaced.
func moved(scenes []sceneInput) string {
	type replaced struct {
		Earlier    int     `json:"earlier"`
		Confidence float64 `json:"confidence"`
	}
	type one struct {
		Index    int        `json:"index"`
		Replaced []replaced `json:"replaced"`
	}
	var out []one
	for i := len(scenes) - 1; i >= 0; i-- { // in any order
		o := one{scenes[i].Index, []replaced{}}
		for _, e := range scenes[i].Earlier {
			if strings.Contains(e.Text, "Porto") {
				o.Replaced = append(o.Replaced, replaced{e.Index, .9})
			}
		}
		out = append(out, o)
	}
	b, _ := json.Marshal(map[string]any{"scenes": out})
	return string(b)
}

func pair(earlier, later string) judge.Pair {
	return judge.Pair{Earlier: judge.Statement{Text: earlier}, Later: judge.Statement{Text: later, Time: time.Unix(1, 0)}}
}

var three = []judge.Pair{pair("we live in Porto", "first night in Braga"), pair("I like tea", "first night in Braga"), pair("born in Porto", "Ana called"), pair(" ", "Ana called")}

// fixed is a judge that gives one probability.
type fixed float64

func (fixed) Model() string { return "fixed" }
func (f fixed) Replaces(_ context.Context, ps []judge.Pair) ([]float64, error) {
	return f.all(len(ps)), nil
}
func (f fixed) Answers(_ context.Context, _ string, ps []string) ([]float64, error) {
	return f.all(len(ps)), nil
}
func (f fixed) all(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(f)
	}
	return out
}

// rater rates what a search found twice as high.
type rater struct{ fixed }

func (r rater) Rate(_ context.Context, _ string, ps []string) ([]float64, error) {
	return (2 * r.fixed).all(len(ps)), nil
}

func TestReplaces(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	s := server(t, &calls, moved)
	j, err := New(Config{BaseURL: s.URL + "/v1", APIKey: "key", Model: "m", Fallback: fixed(.3)})
	require.NoError(t, err)
	for range 2 { // the second time from what was kept
		p, err := j.Replaces(t.Context(), three)
		require.NoError(t, err)
		assert.Equal(t, []float64{.9, 0, .9, 0}, p)
	}
	assert.EqualValues(t, 1, calls.Load(), "two scenes share a request, and no pair is asked about twice")
	p, err := j.Answers(t.Context(), "q", []string{"a", "b"})
	require.NoError(t, err)
	assert.Equal(t, []float64{.3, .3}, p)
	p, err = j.Rate(t.Context(), "q", []string{"a", "b"})
	require.NoError(t, err)
	assert.Equal(t, []float64{.3, .3}, p, "what the fallback answers, which has no rating")
	assert.Equal(t, "llm-1:m+fixed", j.Model())
	j, err = New(Config{BaseURL: s.URL + "/v1", APIKey: "key", Model: "m", Fallback: rater{.3}})
	require.NoError(t, err)
	p, err = j.Rate(t.Context(), "q", []string{"a", "b"})
	require.NoError(t, err)
	assert.Equal(t, []float64{.6, .6}, p)
}

func TestBadAnswers(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"no JSON":            "Sure!",
		"another scene":      `{"scenes":[{"index":7,"replaced":[]},{"index":0,"replaced":[]}]}`,
		"a scene is missing": `{"scenes":[{"index":0,"replaced":[]}]}`,
		"a scene twice":      `{"scenes":[{"index":0,"replaced":[]},{"index":0,"replaced":[]}]}`,
		"nothing replaced":   `{"scenes":[{"index":0},{"index":1,"replaced":[]}]}`,
		"no such statement":  `{"scenes":[{"index":0,"replaced":[{"earlier":2,"confidence":1}]},{"index":1,"replaced":[]}]}`,
		"too sure":           `{"scenes":[{"index":0,"replaced":[{"earlier":0,"confidence":9}]},{"index":1,"replaced":[]}]}`,
		"another field":      `{"scenes":[{"index":0,"replaced":[],"why":"x"},{"index":1,"replaced":[]}]}`,
		"more behind":        moved([]sceneInput{{Index: 0}, {Index: 1}}) + "{}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int32
			s := server(t, &calls, func([]sceneInput) string { return answer })
			cfg := Config{BaseURL: s.URL + "/v1", APIKey: "key", Model: "m", MaxRetries: -1}
			j, err := New(cfg)
			require.NoError(t, err)
			_, err = j.Replaces(t.Context(), three)
			require.Error(t, err, "nobody else decides")
			assert.NotContains(t, err.Error(), "Porto")
			cfg.Fallback = fixed(.3)
			j, err = New(cfg)
			require.NoError(t, err)
			p, err := j.Replaces(t.Context(), three)
			require.NoError(t, err)
			assert.Equal(t, []float64{.3, .3, .3, 0}, p, "the fallback decides what the model does not")
		})
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	s := server(t, &calls, moved)
	j, err := New(Config{BaseURL: s.URL + "/v1", APIKey: "key", Model: "m", MaxTokensPerDay: 1500, MaxAnswerTokens: 500, BatchScenes: 1, Fallback: fixed(.3)})
	require.NoError(t, err)
	var pairs []judge.Pair
	for i := range 20 {
		pairs = append(pairs, pair("we live in Porto", "night "+string(rune('a'+i))))
	}
	p, err := j.Replaces(t.Context(), pairs)
	require.NoError(t, err)
	n := int(calls.Load())
	assert.Greater(t, n, 2, "what a request did not use is given back")
	assert.Less(t, n, 12, "20 requests take more than there is")
	for i := range p {
		assert.InDelta(t, map[bool]float64{true: .9, false: .3}[i < n], p[i], 1e-9, i)
	}
}

func TestCanceled(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	s := server(t, &calls, moved)
	j, err := New(Config{BaseURL: s.URL + "/v1", APIKey: "key", Model: "m", Fallback: fixed(.3)})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = j.Replaces(ctx, three)
	require.ErrorIs(t, err, context.Canceled)
}

func TestConfig(t *testing.T) {
	t.Parallel()
	_, err := New(Config{BaseURL: "ftp://x", BatchScenes: 99, Keep: -1, MaxTokensPerDay: -1})
	for _, what := range []string{"base URL", "model", "batch scenes", "keep", "tokens per day"} {
		t.Run(what, func(t *testing.T) {
			require.ErrorContains(t, err, what)
		})
	}
	j, err := New(Config{BaseURL: "http://127.0.0.1:1/v1", Model: "m"})
	require.NoError(t, err)
	_, err = j.Answers(t.Context(), "q", []string{"a"})
	require.Error(t, err)
	_, err = j.Rate(t.Context(), "q", []string{"a"})
	require.Error(t, err)
}
