package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
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

const (
	secret   = "key-very-secret"
	question = "private question"
)

var dialects = []Dialect{Cohere, Jina, TEI}

// answer is the JSON of a dialect for scores in the given order of indexes; text i
// scores i + 0.5.
func answer(d Dialect, indexes ...int) string {
	var rows []string
	for _, i := range indexes {
		if d == TEI {
			rows = append(rows, fmt.Sprintf(`{"index":%d,"score":%d.5}`, i, i))
		} else {
			rows = append(rows, fmt.Sprintf(`{"index":%d,"relevance_score":%d.5,"document":{"text":"x"}}`, i, i))
		}
	}
	if d == TEI {
		return "[" + strings.Join(rows, ",") + "]"
	}
	return `{"id":"1","results":[` + strings.Join(rows, ",") + `],"meta":{"api_version":{"version":"2"}}}`
}

func newTest(t *testing.T, cfg Config, h http.HandlerFunc) *Reranker {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	cfg.BaseURL, cfg.APIKey, cfg.Model = srv.URL+"/v9/", secret, "m"
	if cfg.MaxRetries == 0 {
		cfg.MaxRetries = -1
	}
	r, err := New(cfg)
	require.NoError(t, err)
	return r
}

func TestDialects(t *testing.T) {
	t.Parallel()
	want := map[Dialect]string{
		Cohere: `{"model":"m","query":"private question","documents":["a","b","c"],"top_n":3}`,
		Jina:   `{"model":"m","query":"private question","documents":["a","b","c"],"top_n":3,"return_documents":false}`,
		TEI:    `{"query":"private question","texts":["a","b","c"],"truncate":true}`,
	}
	for _, d := range dialects {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			r := newTest(t, Config{Dialect: d}, func(w http.ResponseWriter, req *http.Request) {
				assert.Equal(t, "POST /v9/rerank", req.Method+" "+req.URL.Path)
				assert.Equal(t, "Bearer "+secret, req.Header.Get("Authorization"))
				assert.Equal(t, "application/json", req.Header.Get("Content-Type"))
				body, err := io.ReadAll(req.Body)
				assert.NoError(t, err)
				assert.JSONEq(t, want[d], string(body))
				_, _ = io.WriteString(w, answer(d, 2, 0, 1)) // best first, as servers do
			})
			scores, err := r.Rerank(t.Context(), question, []string{"a", "b", "c"})
			require.NoError(t, err)
			assert.Equal(t, []float64{.5, 1.5, 2.5}, scores)
		})
	}
}

// TestBatches checks that each text gets its own score when the texts are sent in several requests, that at most batchesAtOnce requests are
// running, and that long texts are cut between characters.
func TestBatches(t *testing.T) {
	t.Parallel()
	var under, most atomic.Int32
	r := newTest(t, Config{Dialect: TEI, BatchSize: 3, MaxTextBytes: 4}, func(w http.ResponseWriter, req *http.Request) {
		n := under.Add(1)
		defer under.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		var body teiRequest
		assert.NoError(t, json.NewDecoder(req.Body).Decode(&body))
		assert.LessOrEqual(t, len(body.Texts), 3)
		var rows []string
		for i, text := range body.Texts {
			assert.LessOrEqual(t, len(text), 4)
			rows = append(rows, fmt.Sprintf(`{"index":%d,"score":%s}`, i, strings.TrimSuffix(text, "é")))
		}
		_, _ = io.WriteString(w, "["+strings.Join(rows, ",")+"]")
	})
	var texts []string
	var want []float64
	for i := range 20 {
		texts = append(texts, fmt.Sprintf("%d", 10+i)+"éé") // 6 bytes: the second é goes
		want = append(want, float64(10+i))
	}
	scores, err := r.Rerank(t.Context(), "q", texts)
	require.NoError(t, err)
	assert.Equal(t, want, scores)
	assert.LessOrEqual(t, most.Load(), int32(batchesAtOnce))
	scores, err = r.Rerank(t.Context(), "q", nil)
	require.NoError(t, err)
	assert.Empty(t, scores)
}

// TestBadAnswers checks that only a complete answer gives scores, and that errors repeat no part of an answer.
func TestBadAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ cohere, tei, says string }{
		"no JSON":         {`leak`, `leak`, "not JSON"},
		"cut":             {`{"results":[{"index":0,"relevance_score":1`, `[{"index":0,"score":1`, "ends early"},
		"empty":           {``, ``, "ends early"},
		"another form":    {`["leak"]`, `{"leak":1}`, "not the documented structure"},
		"null":            {`null`, `null`, "0 scores for 2 texts"},
		"too few":         {answer(Cohere, 0), answer(TEI, 0), "1 scores for 2 texts"},
		"too many":        {answer(Cohere, 0, 1, 2), answer(TEI, 0, 1, 2), "3 scores for 2 texts"},
		"index too large": {answer(Cohere, 0, 2), answer(TEI, 0, 2), "outside 0 to 1"},
		"index negative":  {answer(Cohere, 0, -1), answer(TEI, 0, -1), "outside 0 to 1"},
		"index twice":     {answer(Cohere, 1, 1), answer(TEI, 1, 1), "index 1 twice"},
		"no index":        {`{"results":[{"relevance_score":1},{"relevance_score":2}]}`, `[{"score":1},{"score":2}]`, "index is missing"},
		"no score":        {answer(TEI, 0, 1), answer(Cohere, 0, 1), ""},
		"NaN as null":     {`{"results":[{"index":0,"relevance_score":null},{"index":1,"relevance_score":1}]}`, `[{"index":0,"score":null},{"index":1,"score":1}]`, "no number"},
		"infinite":        {`{"results":[{"index":0,"relevance_score":1e999},{"index":1,"relevance_score":1}]}`, `[{"index":0,"score":1e999},{"index":1,"score":1}]`, "not the documented"},
		"word as score":   {`{"results":[{"index":0,"relevance_score":"leak"},{"index":1,"relevance_score":1}]}`, `[{"index":0,"score":"leak"},{"index":1,"score":1}]`, "not the documented"},
		"endless":         {strings.Repeat(" ", 2<<20) + "{}", strings.Repeat(" ", 2<<20) + "[]", "longer than"},
	} {
		for _, d := range dialects {
			t.Run(name+"/"+string(d), func(t *testing.T) {
				t.Parallel()
				r := newTest(t, Config{Dialect: d}, func(w http.ResponseWriter, _ *http.Request) {
					body := c.cohere
					if d == TEI {
						body = c.tei
					}
					_, _ = io.WriteString(w, body)
				})
				scores, err := r.Rerank(t.Context(), question, []string{"first text", "second text"})
				require.Error(t, err)
				assert.Nil(t, scores)
				assert.Contains(t, err.Error(), c.says)
				for _, private := range []string{"leak", secret, question, "first text"} {
					assert.NotContains(t, err.Error(), private)
				}
			})
		}
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	for status, temporary := range map[int]bool{400: false, 401: false, 404: false, 413: false, 422: false, 424: false, 429: true, 500: true, 501: false, 503: true} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			var calls atomic.Int32
			r := newTest(t, Config{Dialect: TEI}, func(w http.ResponseWriter, _ *http.Request) {
				calls.Add(1)
				w.WriteHeader(status)
				_, _ = io.WriteString(w, `{"error":"`+question+secret+`"}`)
			})
			_, err := r.Rerank(t.Context(), question, []string{"a"})
			var e *Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, status, e.StatusCode)
			assert.Equal(t, temporary, e.Temporary())
			assert.Equal(t, fmt.Sprintf("remote: status %d", status), err.Error())
			assert.EqualValues(t, 1, calls.Load())
		})
	}
}

// transport answers without a network, so that time in a synctest bubble is false.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func reply(status int, header http.Header, body string) *http.Response {
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body))}
}

func newBubble(t *testing.T, cfg Config, f transport) *Reranker {
	t.Helper()
	cfg.BaseURL, cfg.Dialect, cfg.HTTPClient = "http://rerank.test", TEI, &http.Client{Transport: f}
	r, err := New(cfg)
	require.NoError(t, err)
	return r
}

func TestRetries(t *testing.T) {
	t.Parallel()
	good := answer(TEI, 0)
	for name, c := range map[string]struct {
		replies []any // *http.Response, or an error of the connection
		calls   int
		waits   time.Duration // at least
		fails   bool
	}{
		"overloaded once":           {[]any{reply(503, nil, ""), reply(200, nil, good)}, 2, firstPause / 2, false},
		"asks for a pause":          {[]any{reply(429, http.Header{"Retry-After": {"7"}}, ""), reply(200, nil, good)}, 2, 7 * time.Second, false},
		"asks for too long a pause": {[]any{reply(429, http.Header{"Retry-After": {"3600"}}, "")}, 1, 0, true},
		"connection breaks":         {[]any{errors.New("reset"), reply(200, nil, good)}, 2, 0, false},
		"answer is cut":             {[]any{reply(200, nil, good[:9]), reply(200, nil, good)}, 2, 0, false},
		"answer is wrong":           {[]any{reply(200, nil, "{}")}, 1, 0, true},
		"refused":                   {[]any{reply(401, nil, "")}, 1, 0, true},
		"stays down":                {[]any{reply(500, nil, ""), reply(500, nil, ""), reply(500, nil, "")}, 3, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				r := newBubble(t, Config{MaxRetries: 2}, func(*http.Request) (*http.Response, error) {
					calls++
					if err, ok := c.replies[calls-1].(error); ok {
						return nil, err
					}
					return c.replies[calls-1].(*http.Response), nil
				})
				start := time.Now()
				scores, err := r.Rerank(t.Context(), "q", []string{"a"})
				assert.Equal(t, c.calls, calls)
				assert.GreaterOrEqual(t, time.Since(start), c.waits)
				if c.fails {
					require.Error(t, err)
					return
				}
				require.NoError(t, err)
				assert.Equal(t, []float64{.5}, scores)
			})
		})
	}
}

// TestSlow checks that a silent server costs one Timeout per attempt, and never more than the caller's deadline.
func TestSlow(t *testing.T) {
	t.Parallel()
	silent := func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	synctest.Test(t, func(t *testing.T) {
		r := newBubble(t, Config{Timeout: time.Second, MaxRetries: -1}, silent)
		start := time.Now()
		_, err := r.Rerank(t.Context(), question, []string{"a"})
		require.ErrorIs(t, err, modelhttp.ErrTimeout)
		assert.Equal(t, time.Second, time.Since(start))
	})
	synctest.Test(t, func(t *testing.T) {
		r := newBubble(t, Config{Timeout: time.Minute}, silent)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		start := time.Now()
		_, err := r.Rerank(ctx, question, []string{"a"})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 300*time.Millisecond, time.Since(start))
	})
	synctest.Test(t, func(t *testing.T) { // a pause that the deadline does not allow is not begun
		r := newBubble(t, Config{MaxRetries: 3}, func(*http.Request) (*http.Response, error) {
			return reply(429, http.Header{"Retry-After": {"9"}}, ""), nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := r.Rerank(ctx, question, []string{"a"})
		var e *Error
		require.ErrorAs(t, err, &e)
		assert.Zero(t, time.Since(start))
	})
}

// TestOneBatchFails checks that the other requests are cancelled and that no scores are returned.
func TestOneBatchFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		calls := 0
		r := newBubble(t, Config{BatchSize: 1, Timeout: -1, MaxRetries: -1}, func(req *http.Request) (*http.Response, error) {
			mu.Lock()
			calls++
			first := calls == 1
			mu.Unlock()
			if first {
				return reply(400, nil, ""), nil
			}
			<-req.Context().Done()
			return nil, req.Context().Err()
		})
		scores, err := r.Rerank(t.Context(), "q", []string{"a", "b", "c"})
		var e *Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, 400, e.StatusCode)
		assert.Nil(t, scores)
	})
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	ok := Config{BaseURL: "http://localhost:8080", Dialect: Cohere, Model: "m"}
	for says, change := range map[string]func(*Config){
		"not an http":      func(c *Config) { c.BaseURL = "ftp://x" },
		"user information": func(c *Config) { c.BaseURL = "http://u:pass-word@x" },
		"a query":          func(c *Config) { c.BaseURL = "http://x?k=v" },
		"model is empty":   func(c *Config) { c.Model = "" },
		"dialect must be":  func(c *Config) { c.Dialect = "other" },
		"batch size 1001":  func(c *Config) { c.BatchSize = 1001 },
		"API key has":      func(c *Config) { c.APIKey = "a b" },
	} {
		t.Run(says, func(t *testing.T) {
			c := ok
			change(&c)
			_, err := New(c)
			require.ErrorContains(t, err, says)
			assert.NotContains(t, err.Error(), "pass-word")
		})
	}
	_, err := New(Config{BaseURL: "http://x", Dialect: TEI})
	require.NoError(t, err)
	_, err = New(Config{})
	require.ErrorContains(t, err, "base URL")
	require.ErrorContains(t, err, "dialect")
}

// TestRedirect checks that the key is not sent to the target of a redirect.
func TestRedirect(t *testing.T) {
	t.Parallel()
	var leaked atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { leaked.Store(true) }))
	t.Cleanup(other.Close)
	r := newTest(t, Config{Dialect: Jina}, func(w http.ResponseWriter, req *http.Request) {
		http.Redirect(w, req, other.URL, http.StatusTemporaryRedirect)
	})
	_, err := r.Rerank(t.Context(), "q", []string{"a"})
	var e *Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, http.StatusTemporaryRedirect, e.StatusCode)
	assert.False(t, leaked.Load())
}
