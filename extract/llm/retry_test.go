package llm

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/extract/rules"
)

// scripted answers requests without a network.
type scripted func(n int) (status int, retryAfter string)

type script struct {
	reply scripted
	at    []time.Time
}

// RoundTrip implements http.RoundTripper.
func (s *script) RoundTrip(hr *http.Request) (*http.Response, error) {
	s.at = append(s.at, time.Now())
	var r request
	if err := json.NewDecoder(hr.Body).Decode(&r); err != nil {
		return nil, err
	}
	_ = hr.Body.Close()
	var body struct{ Items []promptItem }
	if err := json.Unmarshal([]byte(r.Messages[1].Content), &body); err != nil {
		return nil, err
	}
	r.Items = body.Items
	status, wait := s.reply(len(s.at))
	resp := &http.Response{StatusCode: status, Header: http.Header{"Retry-After": {wait}}, Request: hr}
	content, err := json.Marshal(map[string]any{"choices": []any{map[string]any{"message": map[string]any{"content": answer(r)}, "finish_reason": "stop"}}})
	resp.Body = io.NopCloser(strings.NewReader(string(content)))
	return resp, err
}

func TestRetryAfterIsWaitedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		after    func() string
		atLeast  time.Duration
		lessThan time.Duration
	}{
		"seconds":       {func() string { return "7" }, 7 * time.Second, 10 * time.Second},
		"date":          {func() string { return time.Now().Add(9 * time.Second).UTC().Format(http.TimeFormat) }, 8 * time.Second, 12 * time.Second},
		"too far":       {func() string { return "86400" }, maxRetryWait, maxRetryWait + time.Minute},
		"a past date":   {func() string { return "Fri, 31 Dec 1999 23:59:59 GMT" }, 0, time.Second},
		"not a number":  {func() string { return "soon" }, 0, time.Second},
		"less than one": {func() string { return "-3" }, 0, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &script{reply: func(n int) (int, string) {
					if n == 1 {
						return http.StatusTooManyRequests, c.after()
					}
					return http.StatusOK, ""
				}}
				e, err := New(Config{BaseURL: "http://model.test/v1", Model: "m", Fallback: rules.New(), RetryDelay: time.Millisecond, HTTPClient: &http.Client{Transport: s}})
				require.NoError(t, err)
				out, err := e.Extract(t.Context(), inputs("Anna lives in Porto."))
				require.NoError(t, err)
				require.Len(t, s.at, 2)
				assert.Empty(t, out[0].Usage.Fallback)
				waited := s.at[1].Sub(s.at[0])
				assert.GreaterOrEqual(t, waited, c.atLeast)
				assert.Less(t, waited, c.lessThan)
			})
		})
	}
}
