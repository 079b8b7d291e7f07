package openai

import (
	"context"
	"errors"
	"time"

	"github.com/contextmem/contextmem/internal/modelhttp"
)

// Error is an answer of the server other than success.
type Error struct {
	// StatusCode is the HTTP status.
	StatusCode int
	// Code is the error's machine-readable code if the server gave one that is
	// a plain word, such as "rate_limit_exceeded"; else "". The server's message
	// is not kept: it may repeat the key or the texts.
	Code string

	status *modelhttp.StatusError
}

// Error gives the status and the code.
func (e *Error) Error() string { return e.status.Error() }

// Temporary reports whether the same request may succeed later: the server was
// overloaded, limited the rate, or failed.
func (e *Error) Temporary() bool { return e.status.Temporary() }

// Pauses between attempts; the protocol does not define them.
const (
	firstPause    = 500 * time.Millisecond
	maxPause      = 30 * time.Second
	maxRetryAfter = 2 * time.Minute
)

type request struct {
	Model          string   `json:"model"`
	Input          []string `json:"input"`
	EncodingFormat string   `json:"encoding_format"`
	Dimensions     int      `json:"dimensions,omitempty"`
}

// embed sends one batch and retries transient failures.
func (e *Embedder) embed(ctx context.Context, prefix string, texts []string) (vecs [][]float32, err error) {
	input := texts
	if prefix != "" {
		input = make([]string, len(texts))
		for i, t := range texts {
			input[i] = prefix + t
		}
	}
	r := request{Model: e.cfg.Model, Input: input, EncodingFormat: "float", Dimensions: e.cfg.Dimensions}
	err = e.http.Post(ctx, r, e.answerLimit(len(texts)), func(data []byte) error {
		vecs, err = e.decode(data, len(texts))
		return err
	})
	var status *modelhttp.StatusError
	if errors.As(err, &status) {
		err = &Error{StatusCode: status.Status, Code: status.Code, status: status}
	}
	if err != nil {
		return nil, err
	}
	return vecs, nil
}
