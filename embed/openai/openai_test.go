package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/modelhttp"
)

const secret = "sk-very-secret"

// answer is the JSON for vectors in the given order of indexes; vector i is
// (i, 1).
func answer(indexes ...int) string {
	var rows []string
	for _, i := range indexes {
		rows = append(rows, fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":[%d, 1.0]}`, i, i))
	}
	return `{"object":"list","data":[` + strings.Join(rows, ",") + `],"model":"m","usage":{"total_tokens":3}}`
}

func newTest(t *testing.T, cfg Config, h http.HandlerFunc) *Embedder {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	cfg.BaseURL, cfg.APIKey = srv.URL+"/v1/", secret
	if cfg.Model == "" {
		cfg.Model = "m"
	}
	if cfg.MaxRetries == 0 {
		cfg.MaxRetries = -1
	}
	e, err := New(cfg)
	require.NoError(t, err)
	return e
}

func TestRequest(t *testing.T) {
	t.Parallel()
	var bodies []map[string]any
	var mu sync.Mutex
	e := newTest(t, Config{Model: "text-small", Dimensions: 2, BatchSize: 2, QueryPrefix: "query: ", DocumentPrefix: "doc: "}, func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "POST /v1/embeddings", r.Method+" "+r.URL.Path)
		assert.Equal(t, "Bearer "+secret, r.Header.Get("Authorization"))
		assert.Equal(t, "application/json", r.Header.Get("Content-Type"))
		var body map[string]any
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&body))
		mu.Lock()
		bodies = append(bodies, body)
		mu.Unlock()
		if len(body["input"].([]any)) == 2 {
			_, _ = io.WriteString(w, answer(1, 0)) // out of order
		} else {
			_, _ = io.WriteString(w, answer(0))
		}
	})
	assert.Equal(t, "text-small", e.Model())
	assert.Equal(t, 2, e.Dim())
	vecs, err := e.EmbedDocuments(t.Context(), []string{"a", "b", "c"})
	require.NoError(t, err)
	assert.Equal(t, [][]float32{{0, 1}, {1, 1}, {0, 1}}, vecs)
	q, err := e.EmbedQuery(t.Context(), "why")
	require.NoError(t, err)
	assert.Equal(t, []float32{0, 1}, q)

	common := func(input ...any) map[string]any {
		return map[string]any{"model": "text-small", "input": input, "encoding_format": "float", "dimensions": 2.0}
	}
	assert.Equal(t, []map[string]any{common("doc: a", "doc: b"), common("doc: c"), common("query: why")}, bodies)
}

func TestDimensionIsLearnt(t *testing.T) {
	t.Parallel()
	var body atomic.Value
	body.Store(answer(0))
	e := newTest(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		var req map[string]any
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&req))
		assert.NotContains(t, req, "dimensions")
		_, _ = io.WriteString(w, body.Load().(string))
	})
	assert.Zero(t, e.Dim())
	_, err := e.EmbedQuery(t.Context(), "x")
	require.NoError(t, err)
	assert.Equal(t, 2, e.Dim())
	body.Store(`{"data":[{"index":0,"embedding":[1,2,3]}]}`)
	_, err = e.EmbedQuery(t.Context(), "x")
	require.ErrorContains(t, err, "3 dimensions, want 2")
	assert.Equal(t, 2, e.Dim())
}

func TestIndexMayBeLeftOut(t *testing.T) {
	t.Parallel()
	e := newTest(t, Config{}, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"data":[{"embedding":[1]},{"embedding":[ -2.5e-1 ]}]}`)
	})
	vecs, err := e.EmbedDocuments(t.Context(), []string{"a", "b"})
	require.NoError(t, err)
	assert.Equal(t, [][]float32{{1}, {-0.25}}, vecs)
}

func TestNoTexts(t *testing.T) {
	t.Parallel()
	e := newTest(t, Config{}, func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") })
	vecs, err := e.EmbedDocuments(t.Context(), nil)
	require.NoError(t, err)
	assert.Empty(t, vecs)
}

func TestBadAnswers(t *testing.T) {
	t.Parallel()
	const text = "private words"
	for name, c := range map[string]struct{ body, want string }{
		"empty":          {``, "ends early"},
		"cut":            {answer(0)[:60], "ends early"},
		"not JSON":       {`<html>` + text + secret, "not JSON at byte 1"},
		"other":          {`{"data":"` + text + secret + `"}`, "structure"},
		"no data":        {`{}`, "0 vectors for 1 texts"},
		"too many":       {answer(0, 1), "2 vectors for 1 texts"},
		"index high":     {answer(1), "index 1 for 1 texts"},
		"index negative": {answer(-1), "index -1 for 1 texts"},
		"no vector":      {`{"data":[{"index":0}]}`, "not an array"},
		"base64":         {`{"data":[{"index":0,"embedding":"AACAPw=="}]}`, "not an array"},
		"empty vector":   {`{"data":[{"index":0,"embedding":[]}]}`, "finite numbers"},
		"nested":         {`{"data":[{"index":0,"embedding":[[1,2]]}]}`, "finite numbers"},
		"null":           {`{"data":[{"index":0,"embedding":[1,null]}]}`, "finite numbers"},
		"NaN":            {`{"data":[{"index":0,"embedding":[1,NaN]}]}`, "not JSON"},
		"quoted NaN":     {`{"data":[{"index":0,"embedding":[1,"NaN"]}]}`, "finite numbers"},
		"too large":      {`{"data":[{"index":0,"embedding":[1,1e39]}]}`, "finite numbers"},
		"many dims":      {`{"data":[{"index":0,"embedding":[1` + strings.Repeat(",1", maxDimensions) + `]}]}`, "dimensions"},
		"too long":       {strings.Repeat(" ", maxDimensions*bytesPerNumber+70<<10) + answer(0), "longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newTest(t, Config{}, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, c.body) })
			vecs, err := e.EmbedDocuments(t.Context(), []string{text})
			require.ErrorContains(t, err, c.want)
			assert.Nil(t, vecs)
			assert.NotContains(t, err.Error(), text)
			assert.NotContains(t, err.Error(), secret)
			assert.Zero(t, e.Dim())
		})
	}
	e := newTest(t, Config{}, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer(0, 0)) })
	_, err := e.EmbedDocuments(t.Context(), []string{"a", "b"})
	require.ErrorContains(t, err, "index 0 twice")
}

func TestStatus(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		want   string
		tries  int32
	}{
		"unauthorized": {401, `{"error":{"message":"Incorrect API key ` + secret + `","code":"invalid_api_key"}}`, "openai: status 401 invalid_api_key", 1},
		"type":         {400, `{"error":{"type":"invalid_request_error","code":null}}`, "openai: status 400 invalid_request_error", 1},
		"quota":        {429, `{"error":{"code":"insufficient_quota"}}`, "openai: status 429 insufficient_quota", 1},
		"odd code":     {400, `{"error":{"code":"` + secret + ` private words"}}`, "openai: status 400", 1},
		"number":       {404, `{"error":{"code":404}}`, "openai: status 404", 1},
		"text":         {413, `private words`, "openai: status 413", 1},
		"redirect":     {307, ``, "openai: status 307", 1},
		"missing":      {501, ``, "openai: status 501", 1},
		"server":       {500, ``, "openai: status 500", 2},
		"busy":         {429, ``, "openai: status 429", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var tries atomic.Int32
			e := newTest(t, Config{MaxRetries: 1}, func(w http.ResponseWriter, r *http.Request) {
				tries.Add(1)
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			_, err := e.EmbedDocuments(t.Context(), []string{"private words"})
			require.EqualError(t, err, c.want)
			var status *Error
			require.ErrorAs(t, err, &status)
			assert.Equal(t, c.status, status.StatusCode)
			assert.Equal(t, c.tries, tries.Load())
		})
	}
}

func TestConnectionCutInTheMiddle(t *testing.T) {
	t.Parallel()
	var tries atomic.Int32
	e := newTest(t, Config{MaxRetries: 1}, func(w http.ResponseWriter, _ *http.Request) {
		if tries.Add(1) == 1 {
			w.Header().Set("Content-Length", strconv.Itoa(len(answer(0))))
			_, _ = io.WriteString(w, answer(0)[:20])
			return
		}
		_, _ = io.WriteString(w, answer(0))
	})
	q, err := e.EmbedQuery(t.Context(), "x")
	require.NoError(t, err)
	assert.Equal(t, []float32{0, 1}, q)
}

func TestSlowServer(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	e := newTest(t, Config{Timeout: 30 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, answer(0)[:20])
		_ = http.NewResponseController(w).Flush()
		<-release
	})
	t.Cleanup(func() { close(release) }) // before the server closes
	_, err := e.EmbedQuery(t.Context(), "x")
	require.ErrorIs(t, err, modelhttp.ErrTimeout)
	assert.NotErrorIs(t, err, context.DeadlineExceeded, "that would be the caller's")

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	_, err = e.EmbedQuery(ctx, "x")
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestConfig(t *testing.T) {
	t.Parallel()
	for want, cfg := range map[string]Config{
		"model is empty":   {},
		"not an http":      {Model: "m", BaseURL: "ftp://" + secret},
		"user information": {Model: "m", BaseURL: "http://u:" + secret + "@host/v1"},
		"a query":          {Model: "m", BaseURL: "http://host/v1?k=" + secret},
		"-1 dimensions":    {Model: "m", Dimensions: -1},
		"batch size 5000":  {Model: "m", BatchSize: 5000},
		"cannot be sent":   {Model: "m", APIKey: secret + "\n"},
	} {
		t.Run(want, func(t *testing.T) {
			_, err := New(cfg)
			require.ErrorContains(t, err, want)
			assert.NotContains(t, err.Error(), secret)
		})
	}
	_, err := New(Config{BaseURL: "http://%", Dimensions: -1})
	require.ErrorContains(t, err, "not an http")
	require.ErrorContains(t, err, "model is empty", "all faults come back together")
	e, err := New(Config{Model: "m"})
	require.NoError(t, err)
	assert.Equal(t, "https://api.openai.com/v1/embeddings", e.http.Endpoint)
	assert.Equal(t, 64, e.cfg.BatchSize)
}

// transport answers from a script, without a network, so that it works inside a
// bubble of synthetic time.
type transport func(try int) (*http.Response, error)

func (f transport) client() *http.Client {
	n := 0
	return &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		n++
		return f(n)
	})}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func reply(status int, body string, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script    transport
		low, high time.Duration
		ok        bool
	}{
		"growing": {func(n int) (*http.Response, error) {
			if n <= 4 {
				return reply(503, ""), nil
			}
			return reply(200, answer(0)), nil
		}, 3750 * time.Millisecond, 7500 * time.Millisecond, true},
		"given up": {func(int) (*http.Response, error) { return reply(503, ""), nil },
			3750 * time.Millisecond, 7500 * time.Millisecond, false},
		"connection refused": {func(n int) (*http.Response, error) {
			if n == 1 {
				return nil, errors.New("refused")
			}
			return reply(200, answer(0)), nil
		}, 250 * time.Millisecond, 500 * time.Millisecond, true},
		"retry after seconds": {func(n int) (*http.Response, error) {
			if n == 1 {
				return reply(429, "", "Retry-After", "17"), nil
			}
			return reply(200, answer(0)), nil
		}, 17 * time.Second, 17 * time.Second, true},
		"retry after date": {func(n int) (*http.Response, error) {
			if n == 1 {
				return reply(503, "", "Retry-After", time.Now().Add(40*time.Second).UTC().Format(http.TimeFormat)), nil
			}
			return reply(200, answer(0)), nil
		}, 39 * time.Second, 40 * time.Second, true},
		"retry after nonsense": {func(n int) (*http.Response, error) {
			if n == 1 {
				return reply(503, "", "Retry-After", "soon"), nil
			}
			return reply(200, answer(0)), nil
		}, 250 * time.Millisecond, 500 * time.Millisecond, true},
		"retry after too long": {func(int) (*http.Response, error) { return reply(429, "", "Retry-After", "3600"), nil }, 0, 0, false},
		"not worth it":         {func(int) (*http.Response, error) { return reply(400, ""), nil }, 0, 0, false},
		"cut answer": {func(n int) (*http.Response, error) {
			if n == 1 {
				return reply(200, answer(0)[:30]), nil
			}
			return reply(200, answer(0)), nil
		}, 250 * time.Millisecond, 500 * time.Millisecond, true},
		"wrong answer": {func(int) (*http.Response, error) { return reply(200, answer(3)), nil }, 0, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e, err := New(Config{Model: "m", HTTPClient: c.script.client()})
				require.NoError(t, err)
				begin := time.Now()
				_, err = e.EmbedQuery(t.Context(), "x")
				if c.ok {
					require.NoError(t, err)
				} else {
					require.Error(t, err)
				}
				took := time.Since(begin)
				assert.True(t, c.low <= took && took <= c.high, "took %v, want %v to %v", took, c.low, c.high)
			})
		})
	}
}

func TestCancelDuringPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		script := transport(func(int) (*http.Response, error) { return reply(429, "", "Retry-After", "60"), nil })
		e, err := New(Config{Model: "m", HTTPClient: script.client()})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		defer time.AfterFunc(7*time.Second, cancel).Stop()
		begin := time.Now()
		_, err = e.EmbedDocuments(ctx, []string{"x"})
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, 7*time.Second, time.Since(begin))
	})
}

func BenchmarkEmbedDocuments(b *testing.B) {
	row := strings.Repeat("-0.0123456789,", 767) + "0.5"
	var rows []string
	texts := make([]string, 64)
	for i := range texts {
		texts[i] = "The bakery opens at seven and sells rye bread, rolls and cake."
		rows = append(rows, fmt.Sprintf(`{"index":%d,"embedding":[%s]}`, i, row))
	}
	body := `{"data":[` + strings.Join(rows, ",") + `]}`
	e, err := New(Config{Model: "m", HTTPClient: transport(func(int) (*http.Response, error) { return reply(200, body), nil }).client()})
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = e.EmbedDocuments(b.Context(), texts)
	}
	b.ReportMetric(float64(b.N*len(texts))/b.Elapsed().Seconds(), "texts/s")
}
