package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// Error is an answer of the server other than success.
type Error struct {
	// StatusCode is that of the HTTP answer.
	StatusCode int
	// Code is the error's machine-readable code if the server gave one that is
	// a plain word, such as "rate_limit_exceeded"; else "". The server's message
	// is not kept: it may repeat the key or the texts.
	Code string

	retryAfter time.Duration // < 0 if the server gave none
}

// Error gives the status and the code.
func (e *Error) Error() string {
	s := fmt.Sprintf("openai: status %d", e.StatusCode)
	if e.Code != "" {
		s += " " + e.Code
	}
	return s
}

// Temporary reports whether the same request may succeed later: the server was
// overloaded, limited the rate, or failed.
func (e *Error) Temporary() bool {
	switch e.StatusCode {
	case http.StatusRequestTimeout, http.StatusTooEarly:
		return true
	case http.StatusTooManyRequests:
		return e.Code != "insufficient_quota" // that does not pass by itself
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return false
	}
	return e.StatusCode >= 500
}

// Pauses between tries; the protocol leaves them open. The n-th is random up to
// firstPause * 2^n ("full jitter": Brooker, Exponential Backoff And Jitter,
// 2015), at least half of it.
const (
	firstPause = 500 * time.Millisecond
	maxPause   = 30 * time.Second
	// maxRetryAfter is the longest pause that a server may ask for; a longer one
	// ends the call, whose caller has better means to come back.
	maxRetryAfter = 2 * time.Minute
)

var errTimeout = errors.New("openai: no answer in time")

// embed sends one batch, again if need be.
func (e *Embedder) embed(ctx context.Context, prefix string, texts []string) ([][]float32, error) {
	body, err := e.body(prefix, texts)
	if err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		vecs, err := e.once(ctx, body, len(texts))
		if err == nil {
			return vecs, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if errors.Is(err, context.DeadlineExceeded) { // not the caller's
			err = errTimeout
		}
		pause, again := pauseBefore(err, try)
		if !again || try >= e.cfg.MaxRetries {
			return nil, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		case <-timer.C:
		}
	}
}

// pauseBefore says whether err may pass and how long to wait for that.
func pauseBefore(err error, try int) (time.Duration, bool) {
	ceiling := maxPause
	if try < 16 {
		ceiling = min(maxPause, firstPause<<try)
	}
	pause := ceiling/2 + rand.N(ceiling/2)
	var status *Error
	if errors.As(err, &status) {
		if !status.Temporary() || status.retryAfter > maxRetryAfter {
			return 0, false
		}
		return max(pause, status.retryAfter), true
	}
	var broken *answerError
	if errors.As(err, &broken) {
		return pause, broken.cut
	}
	return pause, true // the connection
}

type request struct {
	Model          string   `json:"model"`
	Input          []string `json:"input"`
	EncodingFormat string   `json:"encoding_format"`
	Dimensions     int      `json:"dimensions,omitempty"`
}

func (e *Embedder) body(prefix string, texts []string) ([]byte, error) {
	input := texts
	if prefix != "" {
		input = make([]string, len(texts))
		for i, t := range texts {
			input[i] = prefix + t
		}
	}
	return json.Marshal(request{Model: e.cfg.Model, Input: input, EncodingFormat: "float", Dimensions: e.cfg.Dimensions})
}

// once sends the request a single time and checks the answer.
func (e *Embedder) once(ctx context.Context, body []byte, n int) ([][]float32, error) {
	if e.cfg.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, e.cfg.Timeout)
		defer cancel()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("openai: cannot make the request")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if e.cfg.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+e.cfg.APIKey)
	}
	resp, err := e.cfg.HTTPClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("openai: request failed: %w", err)
	}
	defer func() { _ = resp.Body.Close() }() // read only
	if resp.StatusCode != http.StatusOK {
		return nil, statusError(resp)
	}
	return e.decode(resp.Body, n)
}

// statusError reads what is worth keeping of an answer that is not a success.
func statusError(resp *http.Response) *Error {
	e := &Error{StatusCode: resp.StatusCode, retryAfter: retryAfter(resp.Header, time.Now())}
	var body struct {
		Error struct{ Code, Type any }
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil || json.Unmarshal(data, &body) != nil {
		return e // the status says enough
	}
	for _, v := range []any{body.Error.Code, body.Error.Type} {
		if code, ok := v.(string); ok && isCode(code) {
			e.Code = code
			break
		}
	}
	return e
}

// isCode accepts only words that cannot be a key or a sentence.
func isCode(s string) bool {
	if s == "" || len(s) > 40 {
		return false
	}
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && c != '_' {
			return false
		}
	}
	return true
}

// retryAfter is the pause that the header asks for, in seconds or as a date; -1
// if it asks for none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil && s >= 0 {
		return time.Duration(min(s, 86400) * float64(time.Second))
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, at.Sub(now))
	}
	return -1
}
