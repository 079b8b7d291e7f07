package remote

import (
	"context"
	"errors"
	"time"

	"github.com/contextmem/contextmem/internal/modelhttp"
)

// Error is an error answer of the server. It does not keep the answer's message, which may repeat the key or the texts.
type Error struct {
	// StatusCode is the HTTP status code.
	StatusCode int

	status *modelhttp.StatusError
}

// Error implements error. It returns the status.
func (e *Error) Error() string { return e.status.Error() }

// Temporary reports whether the same request may succeed later: the server was overloaded, limited the rate, or failed.
func (e *Error) Temporary() bool { return e.status.Temporary() }

// Pauses between attempts. They are short, because a user waits for the answer.
const (
	firstPause    = 100 * time.Millisecond
	maxPause      = 2 * time.Second
	maxRetryAfter = 10 * time.Second
)

// batch writes the scores of texts to scores, with retries.
func (r *Reranker) batch(ctx context.Context, query string, texts []string, scores []float64) error {
	err := r.http.Post(ctx, r.request(query, texts), r.answerLimit(len(texts)), func(data []byte) error { return r.decode(data, scores) })
	var status *modelhttp.StatusError
	if errors.As(err, &status) {
		return &Error{StatusCode: status.Status, status: status}
	}
	return err
}

// Request bodies of the dialects.
type (
	cohereRequest struct {
		Model           string   `json:"model"`
		Query           string   `json:"query"`
		Documents       []string `json:"documents"`
		TopN            int      `json:"top_n"`
		ReturnDocuments *bool    `json:"return_documents,omitempty"` // Jina's default is true; Cohere has removed the field
	}
	teiRequest struct {
		Query    string   `json:"query"`
		Texts    []string `json:"texts"`
		Truncate bool     `json:"truncate"`
	}
)

func (r *Reranker) request(query string, texts []string) any {
	short := make([]string, len(texts))
	for i, t := range texts {
		short[i] = cut(t, r.cfg.MaxTextBytes)
	}
	query = cut(query, r.cfg.MaxTextBytes)
	if r.cfg.Dialect == TEI {
		return teiRequest{Query: query, Texts: short, Truncate: true}
	}
	req := cohereRequest{Model: r.cfg.Model, Query: query, Documents: short, TopN: len(short)}
	if r.cfg.Dialect == Jina {
		req.ReturnDocuments = new(bool)
	}
	return req
}
