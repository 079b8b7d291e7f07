package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/extract/rules"
)

const secret = "key-that-stays-secret"

// request is the test server's view of a call.
type request struct {
	Model          string `json:"model"`
	Messages       []chatMessage
	MaxTokens      int             `json:"max_tokens"`
	ResponseFormat json.RawMessage `json:"response_format"`
	Items          []promptItem    `json:"-"`
	Gone           <-chan struct{} `json:"-"` // closed when the client gives up
}

// server answers chat calls with what reply returns for the n-th call (from 1).
type server struct {
	*httptest.Server
	calls atomic.Int32
}

func serve(t *testing.T, reply func(w http.ResponseWriter, r request, n int)) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
		n := int(s.calls.Add(1))
		assert.Equal(t, "/v1/chat/completions", hr.URL.Path)
		assert.Equal(t, "Bearer "+secret, hr.Header.Get("Authorization"))
		var r request
		if !assert.NoError(t, json.NewDecoder(hr.Body).Decode(&r)) || !assert.Len(t, r.Messages, 2) {
			return
		}
		var body struct{ Items []promptItem }
		assert.NoError(t, json.Unmarshal([]byte(r.Messages[1].Content), &body))
		r.Items, r.Gone = body.Items, hr.Context().Done()
		reply(w, r, n)
	}))
	t.Cleanup(s.Close)
	return s
}

// say writes a chat response.
func say(w http.ResponseWriter, content, finish string, prompt, completion int) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"choices": []any{map[string]any{"index": 0, "message": map[string]any{"role": "assistant", "content": content}, "finish_reason": finish}},
		"usage":   map[string]any{"prompt_tokens": prompt, "completion_tokens": completion},
	})
}

// about is a valid answer for an item whose text is "NAME lives in PLACE.".
func about(index int, text string) string {
	words := strings.Fields(strings.TrimSuffix(text, "."))
	name, place := words[0], words[len(words)-1]
	return fmt.Sprintf(`{"index":%d,"entities":[{"name":%q,"type":"PERSON"},{"name":%q,"type":"LOCATION"}],
		"relations":[{"source":%q,"target":%q,"predicate":"resides in","raw":"lives in","evidence":%q,"confidence":0.9,"valid_from":"2020-03","valid_to":"","negated":false}],
		"facts":[{"subject":%q,"predicate":"lives_in","object":%q,"kind":"fact","text":"%s lives in %s.","evidence":%q,"confidence":0.9,"valid_from":"","valid_to":"","functional":true,"retracts":false,"negated":false}]}`,
		index, name, place, name, place, text, name, place, name, place, text)
}

func answer(r request) string {
	var parts []string
	for _, it := range r.Items {
		parts = append(parts, about(it.Index, it.Text))
	}
	return `{"items":[` + strings.Join(parts, ",") + `]}`
}

func open(t *testing.T, s *server, change func(*Config)) *Extractor {
	t.Helper()
	c := Config{BaseURL: s.URL + "/v1", APIKey: secret, Model: "test-model", Fallback: rules.New(), RetryDelay: time.Millisecond, Timeout: 5 * time.Second}
	if change != nil {
		change(&c)
	}
	e, err := New(c)
	require.NoError(t, err)
	return e
}

func inputs(texts ...string) []extract.Input {
	in := make([]extract.Input, len(texts))
	for i, s := range texts {
		in[i] = extract.Input{Text: s, Infer: true}
	}
	return in
}

func TestGoodAnswer(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r request, _ int) {
		assert.Equal(t, "test-model", r.Model)
		assert.Contains(t, string(r.ResponseFormat), `"json_schema"`)
		assert.Contains(t, string(r.ResponseFormat), `"strict":true`)
		assert.Equal(t, DefaultMaxAnswerTokens, r.MaxTokens)
		say(w, answer(r), "stop", 101, 40)
	})
	e := open(t, s, nil)
	assert.Equal(t, "llm-1:test-model", e.Name())
	out, err := e.Extract(t.Context(), inputs("Zorana lives in Qurm.", "Belik lives in Dovra."))
	require.NoError(t, err)
	require.Len(t, out, 2)
	assert.Equal(t, int32(1), s.calls.Load(), "short items share a request")

	r := out[0].Relations
	require.Len(t, r, 1)
	assert.Equal(t, []string{"zorana", "resides_in", "qurm", "lives in", "Zorana lives in Qurm."}, []string{r[0].Source, r[0].Predicate, r[0].Target, r[0].Raw, r[0].Context})
	assert.InDelta(t, 0.9, r[0].Confidence, 1e-6)
	assert.Equal(t, "2020-03-01 month", r[0].ValidFrom.Format("2006-01-02 ")+r[0].Precision)
	require.Len(t, out[1].Facts, 1)
	assert.Equal(t, "Belik lives in Dovra.", out[1].Facts[0].Text)
	assert.True(t, out[1].Facts[0].Functional)
	types := map[string]string{}
	for _, m := range out[0].Mentions {
		types[m.Key] = m.Type
	}
	assert.Equal(t, map[string]string{"zorana": "PERSON", "qurm": "LOCATION"}, types)

	prompt, completion := 0, 0
	for _, o := range out {
		require.NotNil(t, o.Usage)
		assert.Empty(t, o.Usage.Fallback)
		assert.Equal(t, 1, o.Usage.Calls)
		assert.Equal(t, "test-model", o.Usage.Model)
		prompt += o.Usage.PromptTokens
		completion += o.Usage.CompletionTokens
	}
	assert.Equal(t, 101, prompt, "the shares add up")
	assert.Equal(t, 40, completion)
}

func TestAnswerWithWordsAroundIt(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r request, _ int) {
		say(w, "Here you are:\n```json\n"+answer(r)+"\n```\nDone.", "stop", 1, 1)
	})
	out, err := open(t, s, nil).Extract(t.Context(), inputs("Zorana lives in Qurm."))
	require.NoError(t, err)
	assert.Empty(t, out[0].Usage.Fallback)
	assert.Len(t, out[0].Relations, 1)
}

func TestFormatIsLoweredAndRemembered(t *testing.T) {
	t.Parallel()
	var formats []string
	var mu sync.Mutex
	s := serve(t, func(w http.ResponseWriter, r request, _ int) {
		mu.Lock()
		formats = append(formats, string(r.ResponseFormat))
		mu.Unlock()
		if len(r.ResponseFormat) > 0 {
			http.Error(w, `{"error":"response_format"}`, http.StatusBadRequest)
			return
		}
		say(w, answer(r), "stop", 1, 1)
	})
	e := open(t, s, func(c *Config) { c.MaxRetries = -1 })
	for range 2 {
		out, err := e.Extract(t.Context(), inputs("Zorana lives in Qurm."))
		require.NoError(t, err)
		assert.Empty(t, out[0].Usage.Fallback)
	}
	require.Len(t, formats, 4, "schema, object, plain, then plain at once")
	assert.Contains(t, formats[0], "json_schema")
	assert.Contains(t, formats[1], "json_object")
	assert.Empty(t, formats[2])
	assert.Empty(t, formats[3])
}

func TestFailuresFallBackToRules(t *testing.T) {
	t.Parallel()
	good := func(w http.ResponseWriter, r request) { say(w, answer(r), "stop", 10, 10) }
	for name, c := range map[string]struct {
		reply  func(w http.ResponseWriter, r request, n int)
		change func(*Config)
		reason string
		calls  int32
	}{
		"malformed, then good": {func(w http.ResponseWriter, r request, n int) {
			if n == 1 {
				say(w, `{"items":[{"index":0,`, "stop", 10, 10)
				return
			}
			good(w, r)
		}, nil, "", 2},
		"malformed to the last": {func(w http.ResponseWriter, _ request, _ int) { say(w, "I would rather not.", "stop", 10, 10) }, nil, reasonMalformed, 3},
		"wrong types": {func(w http.ResponseWriter, _ request, _ int) {
			say(w, `{"items":[{"index":"0","entities":{},"relations":[]}]}`, "stop", 1, 1)
		}, nil, reasonMalformed, 3},
		"body is no JSON": {func(w http.ResponseWriter, _ request, _ int) { _, _ = io.WriteString(w, "<html>") }, nil, reasonMalformed, 3},
		"no choices":      {func(w http.ResponseWriter, _ request, _ int) { _, _ = io.WriteString(w, `{"choices":[]}`) }, nil, reasonMalformed, 3},
		"truncated":       {func(w http.ResponseWriter, _ request, _ int) { say(w, `{"items":[{"ind`, "length", 10, 10) }, nil, reasonTruncated, 1},
		"throttled, then good": {func(w http.ResponseWriter, r request, n int) {
			if n < 3 {
				w.Header().Set("Retry-After", "0.001")
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			good(w, r)
		}, nil, "", 3},
		"throttled to the last": {func(w http.ResponseWriter, _ request, _ int) { w.WriteHeader(http.StatusTooManyRequests) }, nil, reasonThrottled, 3},
		"server error":          {func(w http.ResponseWriter, _ request, _ int) { w.WriteHeader(http.StatusBadGateway) }, nil, reasonServer, 3},
		"no retries wanted":     {func(w http.ResponseWriter, _ request, _ int) { w.WriteHeader(http.StatusBadGateway) }, func(c *Config) { c.MaxRetries = -1 }, reasonServer, 1},
		"bad key":               {func(w http.ResponseWriter, _ request, _ int) { w.WriteHeader(http.StatusUnauthorized) }, nil, reasonRefused, 1},
		"redirect": {func(w http.ResponseWriter, _ request, _ int) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(http.StatusFound)
		}, nil, reasonRefused, 1},
		"refusal": {func(w http.ResponseWriter, _ request, _ int) {
			_, _ = io.WriteString(w, `{"choices":[{"message":{"content":null,"refusal":"no"},"finish_reason":"stop"}]}`)
		}, nil, reasonRefused, 1},
		"huge body": {func(w http.ResponseWriter, _ request, _ int) {
			chunk := bytes.Repeat([]byte("x"), 1<<20)
			for range maxAnswerBytes>>20 + 1 {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}, nil, reasonTooLarge, 1},
		"connection breaks off": {func(w http.ResponseWriter, _ request, _ int) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"choices"`)
		}, nil, reasonNetwork, 3},
		"slow": {func(_ http.ResponseWriter, r request, _ int) {
			<-r.Gone
		}, func(c *Config) { c.Timeout, c.MaxRetries = 500*time.Millisecond, 1 }, reasonTimeout, 2},
		"too long":       {func(w http.ResponseWriter, r request, _ int) { good(w, r) }, func(c *Config) { c.MaxItemBytes = 10 }, reasonTooLong, 0},
		"no budget left": {func(w http.ResponseWriter, r request, _ int) { good(w, r) }, func(c *Config) { c.MaxTokensPerDay = 100 }, reasonBudget, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			s := serve(t, c.reply)
			e := open(t, s, func(cfg *Config) {
				cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
				if c.change != nil {
					c.change(cfg)
				}
			})
			text := "Anna lives in Porto."
			out, err := e.Extract(t.Context(), inputs(text))
			require.NoError(t, err)
			require.Len(t, out, 1)
			assert.Equal(t, c.reason, out[0].Usage.Fallback)
			if c.reason != reasonTimeout { // a busy machine may not even have accepted the connection
				assert.Equal(t, c.calls, s.calls.Load())
			}
			assert.Equal(t, int(c.calls), out[0].Usage.Calls)
			require.Len(t, out[0].Relations, 1, "one of the two always answers")
			want := "resides_in"
			if c.reason != "" {
				want = "lives_in"
			}
			assert.Equal(t, want, out[0].Relations[0].Predicate)
			assert.NotContains(t, log.String(), "Porto")
			assert.NotContains(t, log.String(), secret)
		})
	}
}

func TestPartialBatch(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r request, _ int) {
		items := []string{about(2, r.Items[2].Text), `{"index":1,"entities":"none","relations":[]}`, about(7, "Nobody lives in Nowhere."), about(2, "Zorana lives in Qurm.")}
		say(w, `{"items":[`+strings.Join(items, ",")+`]}`, "stop", 30, 30)
	})
	out, err := open(t, s, nil).Extract(t.Context(), inputs("Anna lives in Porto.", "Boris lives in Oslo.", "Clara lives in Turin."))
	require.NoError(t, err)
	assert.Equal(t, []string{reasonMissing, reasonMissing, ""}, []string{out[0].Usage.Fallback, out[1].Usage.Fallback, out[2].Usage.Fallback})
	assert.Equal(t, []string{"lives_in", "lives_in", "resides_in"}, []string{out[0].Relations[0].Predicate, out[1].Relations[0].Predicate, out[2].Relations[0].Predicate})
}

func TestTruncatedBatchIsHalved(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r request, _ int) {
		if len(r.Items) > 1 {
			say(w, `{"items":[{"index":0,"entit`, "length", 10, 10)
			return
		}
		say(w, answer(r), "stop", 10, 10)
	})
	out, err := open(t, s, nil).Extract(t.Context(), inputs("Anna lives in Porto.", "Boris lives in Oslo.", "Clara lives in Turin."))
	require.NoError(t, err)
	for _, o := range out {
		assert.Empty(t, o.Usage.Fallback)
		assert.Equal(t, "resides_in", o.Relations[0].Predicate)
	}
	assert.Equal(t, int32(5), s.calls.Load())
}

func TestAnswerIsCheckedAgainstTheText(t *testing.T) {
	t.Parallel()
	entry := func(source, target, evidence, confidence, from string) string {
		return fmt.Sprintf(`{"source":%q,"target":%q,"predicate":"knows","raw":"","evidence":%q,"confidence":%s,"valid_from":%q,"valid_to":"","negated":false}`, source, target, evidence, confidence, from)
	}
	long := strings.Repeat("x", 300)
	s := serve(t, func(w http.ResponseWriter, _ request, _ int) {
		say(w, `{"items":[{"index":0,"entities":[{"name":"Zorana","type":"PERSON"},{"name":"Belik","type":"PERSON"},{"name":"Invented","type":"PERSON"},{"name":"Qurm","type":"PLANET"},
			{"name":"`+long+`","type":"PERSON"}],"relations":[`+strings.Join([]string{
			entry("Zorana", "Belik", "Zorana\n met  Belik", "0.5", "2021"),
			entry("Zorana", "Invented", "Zorana met Belik", "0.5", ""),
			entry("Zorana", "Qurm", "Zorana met Belik", "0.5", ""),
			entry("Zorana", "Zorana", "Zorana met Belik", "0.5", ""),
			entry("Belik", "Zorana", "they never said so", "0.5", ""),
			entry("Belik", "Zorana", "Zorana met Belik", "1.5", ""),
			entry("Belik", "Zorana", "Zorana met Belik", "0.5", "soon"),
		}, ",")+`],"facts":[{"subject":"Zorana","predicate":"met","object":"Belik","kind":"rumour","text":"x","evidence":"Zorana met Belik","confidence":1}]}]}`, "stop", 1, 1)
	})
	text := "Long ago Zorana met\nBelik in Qurm."
	out, err := open(t, s, nil).Extract(t.Context(), inputs(text))
	require.NoError(t, err)
	require.Len(t, out[0].Relations, 1)
	assert.Equal(t, "Zorana met\nBelik", out[0].Relations[0].Context, "evidence is the text's own words")
	assert.Empty(t, out[0].Facts)
	for _, m := range out[0].Mentions {
		assert.NotEqual(t, "invented", m.Key)
		assert.LessOrEqual(t, len(m.Key), extract.MaxKey)
		assert.GreaterOrEqual(t, m.Start, 0)
		assert.LessOrEqual(t, m.End, len(text))
	}
}

func TestDeniedFacts(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r request, _ int) {
		say(w, strings.Replace(answer(r), `"retracts":false,"negated":false`, `"retracts":false,"negated":true`, 1), "stop", 1, 1)
	})
	out, err := open(t, s, nil).Extract(t.Context(), inputs("Zorana lives in Qurm."))
	require.NoError(t, err)
	require.Len(t, out[0].Facts, 1)
	assert.True(t, out[0].Facts[0].Negated)
	assert.Equal(t, "not_lives_in", out[0].Facts[0].Predicate)
}

func TestFactsOnlyWhenAskedFor(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r request, _ int) {
		assert.Equal(t, "only places", r.Items[0].Instructions)
		assert.Equal(t, "Zorana", r.Items[0].Speaker)
		assert.Empty(t, r.Items[1].Instructions, "instructions guide inference only")
		say(w, answer(r), "stop", 1, 1)
	})
	out, err := open(t, s, nil).Extract(t.Context(), []extract.Input{
		{Text: "Zorana lives in Qurm.", Memory: true, Speaker: "Zorana", Infer: true, Instructions: "only places"},
		{Text: "Belik lives in Dovra.", Instructions: "only places"},
	})
	require.NoError(t, err)
	assert.Len(t, out[0].Facts, 1)
	assert.Empty(t, out[1].Facts)
}

func TestCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	s := serve(t, func(_ http.ResponseWriter, _ request, _ int) {
		cancel()
		<-release
	})
	t.Cleanup(func() { close(release) })
	e := open(t, s, func(c *Config) { c.BatchItems, c.MaxConcurrent = 1, 1 })
	out, err := e.Extract(ctx, inputs("Anna lives in Porto.", "Boris lives in Oslo."))
	require.ErrorIs(t, err, context.Canceled)
	assert.Nil(t, out)
}

func TestNewChecksItsConfiguration(t *testing.T) {
	t.Parallel()
	_, err := New(Config{BaseURL: "ftp://x", APIKey: secret + "\n", Timeout: -1})
	require.Error(t, err)
	for _, want := range []string{"base URL", "model", "fallback", "control characters", "timeout"} {
		t.Run(want, func(t *testing.T) {
			assert.ErrorContains(t, err, want)
		})
	}
	assert.NotContains(t, err.Error(), secret)
	for base, want := range map[string]string{
		"https://llm.example.org":                     "https://llm.example.org/v1/chat/completions",
		"https://llm.example.org/v1/":                 "https://llm.example.org/v1/chat/completions",
		"http://localhost:8080/api/v3":                "http://localhost:8080/api/v3/chat/completions",
		"https://llm.example.org/x/chat/completions":  "https://llm.example.org/x/chat/completions",
		"https://llm.example.org/gateway?version=one": "https://llm.example.org/gateway/v1/chat/completions?version=one",
	} {
		t.Run(base, func(t *testing.T) {
			e, err := New(Config{BaseURL: base, Model: "m", Fallback: rules.New()})
			require.NoError(t, err)
			assert.Equal(t, want, e.endpoint)
		})
	}
}

func FuzzParseAnswer(f *testing.F) {
	in := []extract.Input{{Text: "Zorana lives in Qurm.", Infer: true}, {Text: "Ünïcode text", Memory: true}}
	f.Add(`{"items":[` + about(0, in[0].Text) + `]}`)
	f.Add("```json\n{\"items\":[{\"index\":1,\"entities\":[],\"relations\":[]}]}\n```")
	f.Add(`{"items":[{"index":0,"entities":[{"name":null}],"relations":[{}],"facts":[{}]}]}`)
	f.Add(strings.Repeat(`{"items":[`, 1000))
	f.Fuzz(func(t *testing.T, s string) {
		answers, reason := parseAnswer(s, 2, in, []int{0, 1})
		if reason != "" {
			return
		}
		for i, a := range answers {
			if a == nil {
				continue
			}
			var out extract.Output
			merge(&in[i], &out, a)
			for _, m := range out.Mentions {
				if m.Start < 0 || m.End < m.Start || m.End > len(in[i].Text) {
					t.Fatalf("mention outside of the text: %+v", m)
				}
			}
		}
	})
}
