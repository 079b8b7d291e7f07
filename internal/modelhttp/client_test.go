package modelhttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type answers func(try int) (*http.Response, error)

// client asks answers with pauses from 1 s to 10 s, five times at most.
func client(t *testing.T, f answers) (*Client, *int) {
	t.Helper()
	n := new(int)
	return &Client{Name: "test", Endpoint: "http://host/x", HTTP: &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		*n++
		return f(*n)
	})}, MaxRetries: 4, FirstPause: time.Second, MaxPause: 10 * time.Second, MaxRetryAfter: time.Minute}, n
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answer(status int, body string, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

func TestPauseIsBounded(t *testing.T) {
	t.Parallel()
	c, _ := client(t, nil)
	for _, try := range []int{0, 6, 15, 16, 1000} {
		t.Run(fmt.Sprint(try), func(t *testing.T) {
			pause, again := c.pause(errors.New("refused"), try)
			assert.True(t, again)
			assert.True(t, pause >= c.FirstPause/2 && pause <= c.MaxPause, "%v", pause)
		})
	}
}

// TestTries shows which failures are tried again, and how long is waited.
func TestTries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer      func(try int) (*http.Response, error)
		tries       int
		least, most time.Duration
		want        string
	}{
		"success": {func(int) (*http.Response, error) { return answer(200, "{}"), nil }, 1, 0, 0, ""},
		"a status that passes": {func(n int) (*http.Response, error) {
			if n < 3 {
				return answer(503, ""), nil
			}
			return answer(200, "{}"), nil
		}, 3, 1500 * time.Millisecond, 3 * time.Second, ""},
		"a status that stays": {func(int) (*http.Response, error) { return answer(500, "secret"), nil }, 5, 7 * time.Second, 15 * time.Second, "test: status 500"},
		"a wrong request":     {func(int) (*http.Response, error) { return answer(400, `{"error":{"code":"bad_model"}}`), nil }, 1, 0, 0, "test: status 400 bad_model"},
		"no quota":            {func(int) (*http.Response, error) { return answer(429, `{"error":{"type":"insufficient_quota"}}`), nil }, 1, 0, 0, "test: status 429 insufficient_quota"},
		"a pause asked for": {func(n int) (*http.Response, error) {
			if n == 1 {
				return answer(429, "", "Retry-After", "30"), nil
			}
			return answer(200, "{}"), nil
		}, 2, 30 * time.Second, 30 * time.Second, ""},
		"too long a pause":          {func(int) (*http.Response, error) { return answer(429, "", "Retry-After", "61"), nil }, 1, 0, 0, "test: status 429"},
		"an answer that is long":    {func(int) (*http.Response, error) { return answer(200, strings.Repeat("secret ", 20)), nil }, 1, 0, 0, "test: bad answer: longer than 100 bytes"},
		"an answer that is cut":     {func(int) (*http.Response, error) { return answer(200, `{"a`), nil }, 5, 7 * time.Second, 15 * time.Second, "test: bad answer: it ends early"},
		"an answer that is no JSON": {func(int) (*http.Response, error) { return answer(200, `secret`), nil }, 1, 0, 0, "test: bad answer: not JSON at byte 1"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cl, n := client(t, c.answer)
				begun := time.Now()
				err := cl.Post(t.Context(), 1, 100, func(data []byte) error {
					var v any
					if err := json.Unmarshal(data, &v); err != nil {
						return cl.Malformed(err, len(data))
					}
					return nil
				})
				if c.want == "" {
					require.NoError(t, err, name)
				} else {
					require.EqualError(t, err, c.want, name)
				}
				require.Equal(t, c.tries, *n, name)
				took := time.Since(begun)
				require.True(t, took >= c.least && took <= c.most, "%s: %v", name, took)
			})
		})
	}
}

// TestNoPauseBeyondTheDeadline: who would be gone by the next try gets the server's error at once.
func TestNoPauseBeyondTheDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, n := client(t, func(int) (*http.Response, error) { return answer(503, "", "Retry-After", "20"), nil })
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		begun := time.Now()
		require.EqualError(t, c.Post(ctx, 1, 100, nil), "test: status 503")
		require.Equal(t, 1, *n)
		require.Zero(t, time.Since(begun))
	})
}

func TestComplete(t *testing.T) {
	t.Parallel()
	c := &Client{Name: "x", APIKey: "key", MaxRetries: -1}
	require.Empty(t, c.Complete("https://host/v1/", "/embeddings", time.Second, 3))
	require.Equal(t, "https://host/v1/embeddings", c.Endpoint)
	require.Equal(t, time.Second, c.Timeout)
	require.Equal(t, -1, c.MaxRetries, "what was set stays")
	require.NotNil(t, c.HTTP)
	for _, u := range []string{"", "host", "ftp://host", "http://", "http://u:p@host", "http://host?q", "http://host#f", ":"} {
		t.Run(u, func(t *testing.T) {
			require.Len(t, new(Client).Complete(u, "/", 0, 0), 1, u)
		})
	}
	require.Len(t, (&Client{APIKey: "a b"}).Complete("", "/", 0, 0), 2)
}
