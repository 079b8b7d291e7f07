package webapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/connector"
)

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

// client asks f, which gets the number of the try from 1 on.
func client(f func(try int, r *http.Request) (*http.Response, error)) (*Client, *int) {
	n := new(int)
	return &Client{Name: "test", Base: "https://host.example/v1", Token: "secret-token", HTTP: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		*n++
		return f(*n, r)
	})}}, n
}

func TestRequests(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body string
	c, _ := client(func(_ int, r *http.Request) (*http.Response, error) {
		got, body = r, ""
		if r.Body != nil {
			b, err := io.ReadAll(r.Body)
			require.NoError(t, err)
			body = string(b)
		}
		return answer(200, `{"ok":true}`, "Link", `<x>; rel="next"`, "Date", "Mon, 02 Mar 2026 10:00:00 GMT"), nil
	})
	c.Header = []string{"X-Version", "7", "Accept", "application/special"}
	a, err := c.Do(t.Context(), Request{Path: "/a%20b", Query: url.Values{"q": {"x y"}}, ETag: `"e"`, Since: "then"})
	require.NoError(t, err)
	assert.Equal(t, "GET https://host.example/v1/a%20b?q=x+y", got.Method+" "+got.URL.String())
	for name, want := range map[string]string{"Authorization": "Bearer secret-token", "X-Version": "7", "Accept": "application/special", "If-None-Match": `"e"`,
		"If-Modified-Since": "then", "User-Agent": "contextmem", "Content-Type": ""} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, want, got.Header.Get(name), name)
		})
	}
	assert.True(t, a.Next())
	assert.Equal(t, time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC), a.Sent)
	_, err = c.Do(t.Context(), Request{Form: url.Values{"a": {"b&c"}}, Accept: "text/plain"})
	require.NoError(t, err)
	assert.Equal(t, []string{"POST", "a=b%26c", "application/x-www-form-urlencoded", "text/plain"}, []string{got.Method, body, got.Header.Get("Content-Type"), got.Header.Get("Accept")})
	_, err = c.Do(t.Context(), Request{Body: map[string]int{"n": 1}})
	require.NoError(t, err)
	assert.Equal(t, []string{"POST", `{"n":1}`, "application/json"}, []string{got.Method, body, got.Header.Get("Content-Type")})
}

// TestTries shows which failures are tried again, how long is waited for that, and what comes of the others.
func TestTries(t *testing.T) {
	t.Parallel()
	limited := func(d time.Duration) func(error) bool {
		return func(err error) bool {
			l, ok := errors.AsType[*connector.RateLimited](err)
			return ok && l.After == d
		}
	}
	text := func(want string) func(error) bool { return func(err error) bool { return err.Error() == want } }
	for name, tc := range map[string]struct {
		answer      func(try int) (*http.Response, error)
		tries       int
		least, most time.Duration
		want        func(error) bool // nil: success
	}{
		"success":          {func(int) (*http.Response, error) { return answer(200, "{}"), nil }, 1, 0, 0, nil},
		"the same":         {func(int) (*http.Response, error) { return answer(304, ""), nil }, 1, 0, 0, nil},
		"overloaded twice": {func(n int) (*http.Response, error) { return answer([]int{0, 502, 503, 200}[n], "{}"), nil }, 3, 375 * time.Millisecond, 750 * time.Millisecond, nil},
		"broken for long":  {func(int) (*http.Response, error) { return answer(500, "secret"), nil }, 3, 375 * time.Millisecond, 750 * time.Millisecond, text("test answered with status 500")},
		"no connection": {func(int) (*http.Response, error) { return nil, errors.New("refused") }, 3, 375 * time.Millisecond, 750 * time.Millisecond,
			text("test: request failed: refused")},
		"a wrong request": {func(int) (*http.Response, error) { return answer(400, `{"code":"validation_error"}`), nil }, 1, 0, 0, text("test answered with status 400, validation_error")},
		"an odd code":     {func(int) (*http.Response, error) { return answer(400, `{"code":"See Secret"}`), nil }, 1, 0, 0, text("test answered with status 400")},
		"credentials":     {func(int) (*http.Response, error) { return answer(401, ""), nil }, 1, 0, 0, func(err error) bool { return errors.Is(err, connector.ErrReauth) }},
		"a revoked grant": {func(int) (*http.Response, error) { return answer(400, `{"error":"invalid_grant"}`), nil }, 1, 0, 0, func(err error) bool { return errors.Is(err, connector.ErrReauth) }},
		"a short pause": {func(n int) (*http.Response, error) {
			return answer([]int{0, 429, 429, 429, 429, 200}[n], "{}", "Retry-After", "2"), nil
		}, 5, 8 * time.Second, 8 * time.Second, nil},
		"a long pause": {func(int) (*http.Response, error) { return answer(429, "", "Retry-After", "61"), nil }, 1, 0, 0, limited(61 * time.Second)},
		"a pause as a date": {func(int) (*http.Response, error) {
			return answer(503, "", "Date", "Mon, 02 Mar 2026 10:00:00 GMT", "Retry-After", "Mon, 02 Mar 2026 10:05:00 GMT"), nil
		}, 1, 0, 0, limited(5 * time.Minute)},
		"a pause too long": {func(int) (*http.Response, error) { return answer(429, "", "Retry-After", "1e300"), nil }, 1, 0, 0, limited(DefaultMaxPause)},
		"a pause unknown":  {func(int) (*http.Response, error) { return answer(429, ""), nil }, 1, 0, 0, limited(DefaultPause)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, n := client(func(try int, _ *http.Request) (*http.Response, error) { return tc.answer(try) })
				c.MaxWait = 10 * time.Second
				begun := time.Now()
				_, err := c.Do(t.Context(), Request{Path: "/private"})
				took := time.Since(begun)
				assert.Equal(t, tc.tries, *n, name)
				assert.True(t, took >= tc.least && took <= tc.most, "%s: %v", name, took)
				if tc.want == nil {
					assert.NoError(t, err, name)
					return
				}
				if assert.Error(t, err, name) {
					assert.True(t, tc.want(err), "%s: %v", name, err)
					for _, leak := range []string{"secret", "host.example", "private", "Secret"} {
						assert.NotContains(t, err.Error(), leak, name)
					}
				}
			})
		})
	}
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, n := client(func(int, *http.Request) (*http.Response, error) { return answer(429, "", "Retry-After", "9"), nil })
		c.MaxWait = time.Minute
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		begun := time.Now()
		_, err := c.Do(ctx, Request{})
		limited, ok := errors.AsType[*connector.RateLimited](err)
		require.True(t, ok, "the third pause would outlast the caller")
		assert.Equal(t, 9*time.Second, limited.After)
		assert.Equal(t, 18*time.Second, time.Since(begun))
		assert.Equal(t, 3, *n)
		stopped, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, stop)
		_, err = c.Do(stopped, Request{})
		assert.ErrorIs(t, err, context.Canceled)
	})
}

func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	c, _ := client(func(int, *http.Request) (*http.Response, error) {
		return answer(200, `"`+strings.Repeat("x", 98)+`"`), nil
	})
	var s string
	c.MaxAnswer = 100
	_, err := c.JSON(t.Context(), Request{}, &s)
	require.NoError(t, err)
	c.MaxAnswer = 99
	_, err = c.JSON(t.Context(), Request{}, &s)
	assert.EqualError(t, err, "test: the answer is too long")
	a, err := c.Do(t.Context(), Request{Limit: 50})
	require.NoError(t, err)
	assert.True(t, a.TooLong)
	assert.Nil(t, a.Body)
	var n int
	_, err = c.JSON(t.Context(), Request{Limit: 100}, &n)
	assert.EqualError(t, err, "test: the answer is not the expected JSON")
}

func TestRefusalOfTheProviderComesFirst(t *testing.T) {
	t.Parallel()
	c, _ := client(func(int, *http.Request) (*http.Response, error) { return answer(403, "slow down"), nil })
	_, err := c.Do(t.Context(), Request{})
	assert.True(t, HasStatus(err, 404, 403))
	c.Refusal = func(a *Answer) error {
		if strings.Contains(string(a.Body), "slow") {
			return c.LimitedFor(0)
		}
		return nil
	}
	_, err = c.Do(t.Context(), Request{})
	limited, ok := errors.AsType[*connector.RateLimited](err)
	require.True(t, ok)
	assert.Equal(t, time.Second, limited.After)
}

func TestPages(t *testing.T) {
	t.Parallel()
	pages := map[string]string{"": "b", "b": "c", "c": ""}
	walk := func(goOn func(cursor string) bool) (asked []string, err error) {
		err = Pages(t.Context(), func(_ context.Context, cursor string) (string, bool, error) {
			asked = append(asked, cursor)
			if cursor == "fails" {
				return "", true, io.ErrUnexpectedEOF
			}
			return pages[cursor], goOn(cursor), nil
		})
		return asked, err
	}
	all, err := walk(func(string) bool { return true })
	require.NoError(t, err)
	assert.Equal(t, []string{"", "b", "c"}, all)
	all, err = walk(func(c string) bool { return c != "b" })
	require.NoError(t, err)
	assert.Equal(t, []string{"", "b"}, all)
	pages["c"] = "c"
	all, err = walk(func(string) bool { return true })
	require.NoError(t, err)
	assert.Equal(t, []string{"", "b", "c"}, all, "a cursor that comes again ends the listing")
	pages["c"] = "fails"
	_, err = walk(func(string) bool { return true })
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func TestBearer(t *testing.T) {
	t.Parallel()
	assert.NoError(t, Bearer("test", "abc-123"))
	for _, token := range []string{"", "a b", "a\nb", "ü"} {
		t.Run(token, func(t *testing.T) {
			assert.ErrorIs(t, Bearer("test", token), connector.ErrBadCredentials)
		})
	}
	assert.Equal(t, "a", Clip("aü", 2))
	assert.Equal(t, 5, Size(0, 5))
	assert.Equal(t, 3, Size(3, 5))
}

func TestCursor(t *testing.T) {
	t.Parallel()
	type state struct {
		Version int    `json:"v"`
		At      string `json:"a"`
	}
	page, err := Finish(&connector.Page{}, state{CursorVersion, "here"}, nil, false)
	require.NoError(t, err)
	require.False(t, page.More)
	var got state
	require.NoError(t, ReadCursor("x", page.Cursor, &got))
	require.Equal(t, state{CursorVersion, "here"}, got)
	for _, c := range []string{"", "{", "[]", `{"v":2}`, `{"a":"here"}`, `{"v":1,"a":3}`} {
		t.Run(c, func(t *testing.T) {
			require.EqualError(t, ReadCursor("x", c, &got), "x: the cursor is not valid", c)
		})
	}

	limited := &connector.RateLimited{After: time.Second}
	page, err = Finish(&connector.Page{}, state{CursorVersion, "there"}, limited, true)
	require.NoError(t, err, "what was read before the pause is kept")
	require.True(t, page.More)
	_, err = Finish(&connector.Page{}, state{}, limited, false)
	require.ErrorIs(t, err, limited)
	_, err = Finish(&connector.Page{}, state{}, connector.ErrReauth, true)
	require.ErrorIs(t, err, connector.ErrReauth)
}

func TestAtMost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ most, limit, want int64 }{{10, 0, 10}, {10, -1, 10}, {10, 5, 5}, {10, 20, 10}} {
		t.Run(fmt.Sprint(c.most), func(t *testing.T) {
			require.EqualValues(t, c.want, AtMost(c.most, c.limit))
		})
	}
}
