package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// Error is an answer of the server other than success. Its message is not kept: it
// may repeat the key or the texts.
type Error struct {
	// StatusCode is that of the HTTP answer.
	StatusCode int

	retryAfter time.Duration // < 0 if the server gave none
}

// Error gives the status.
func (e *Error) Error() string { return fmt.Sprintf("remote: status %d", e.StatusCode) }

// Temporary reports whether the same request may succeed later: the server was
// overloaded, limited the rate, or failed.
func (e *Error) Temporary() bool {
	switch e.StatusCode {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return false
	}
	return e.StatusCode >= 500
}

// Pauses between tries: the n-th is random up to firstPause * 2^n, at least half of
// it. They are short, since somebody waits for the answer.
const (
	firstPause = 100 * time.Millisecond
	maxPause   = 2 * time.Second
	// maxRetryAfter is the longest pause that a server may ask for; a longer one ends
	// the call.
	maxRetryAfter = 10 * time.Second
)

var errTimeout = errors.New("remote: no answer in time")

// batch scores texts into scores, again if need be.
func (r *Reranker) batch(ctx context.Context, query string, texts []string, scores []float64) error {
	body, err := r.body(query, texts)
	if err != nil {
		return errors.New("remote: cannot write the request")
	}
	for try := 0; ; try++ {
		err := r.once(ctx, body, scores)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.Is(err, context.DeadlineExceeded) { // not the caller's
			err = errTimeout
		}
		pause, again := pauseBefore(err, try)
		if !again || try >= r.cfg.MaxRetries {
			return err
		}
		if end, ok := ctx.Deadline(); ok && time.Until(end) <= pause { // the caller would wait for nothing
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C:
		}
	}
}

// pauseBefore says whether err may pass and how long to wait for that.
func pauseBefore(err error, try int) (time.Duration, bool) {
	ceiling := min(maxPause, firstPause<<min(try, 8))
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

// The requests of the dialects.
type (
	cohereRequest struct {
		Model           string   `json:"model"`
		Query           string   `json:"query"`
		Documents       []string `json:"documents"`
		TopN            int      `json:"top_n"`
		ReturnDocuments *bool    `json:"return_documents,omitempty"` // Jina's default is true, Cohere has dropped it
	}
	teiRequest struct {
		Query    string   `json:"query"`
		Texts    []string `json:"texts"`
		Truncate bool     `json:"truncate"`
	}
)

func (r *Reranker) body(query string, texts []string) ([]byte, error) {
	short := make([]string, len(texts))
	for i, t := range texts {
		short[i] = cut(t, r.cfg.MaxTextBytes)
	}
	query = cut(query, r.cfg.MaxTextBytes)
	if r.cfg.Dialect == TEI {
		return json.Marshal(teiRequest{Query: query, Texts: short, Truncate: true})
	}
	req := cohereRequest{Model: r.cfg.Model, Query: query, Documents: short, TopN: len(short)}
	if r.cfg.Dialect == Jina {
		req.ReturnDocuments = new(bool)
	}
	return json.Marshal(req)
}

// once sends the request a single time and checks the answer.
func (r *Reranker) once(ctx context.Context, body []byte, scores []float64) error {
	if r.cfg.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.cfg.Timeout)
		defer cancel()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.endpoint, bytes.NewReader(body))
	if err != nil {
		return errors.New("remote: cannot make the request")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if r.cfg.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+r.cfg.APIKey)
	}
	resp, err := r.cfg.HTTPClient.Do(req)
	if err != nil {
		return fmt.Errorf("remote: request failed: %w", err)
	}
	defer func() { _ = resp.Body.Close() }() // read only
	if resp.StatusCode != http.StatusOK {
		return &Error{StatusCode: resp.StatusCode, retryAfter: retryAfter(resp.Header, time.Now())}
	}
	return r.decode(resp.Body, scores)
}

// retryAfter is the pause that the header asks for, in seconds or as a date; -1 if it
// asks for none.
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
