// Package remote reranks with a model behind an HTTP endpoint: Cohere, Jina, text-embeddings-inference (TEI), and servers that
// implement one of their APIs (vLLM, LocalAI, Infinity).
//
// Texts are sent in batches within the caller's deadline. Transient failures are retried. Answers are validated before use: each
// index occurs once and is in range, and every text has a finite score. Errors never contain the key, the question or any text.
package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/hashicorp/go-multierror"

	"github.com/contextmem/contextmem/internal/faults"
	"github.com/contextmem/contextmem/internal/modelhttp"
)

// Dialect is the format of requests and answers.
type Dialect string

// The dialects. All of them post to BaseURL + "/rerank".
const (
	Cohere Dialect = "cohere" // {model, query, documents, top_n} -> {results: [{index, relevance_score}]}
	Jina   Dialect = "jina"   // like Cohere, with return_documents off
	TEI    Dialect = "tei"    // {query, texts, truncate} -> [{index, score}]
)

// Defaults of [Config].
const (
	DefaultBatchSize  = 32
	DefaultTimeout    = 2 * time.Second
	DefaultMaxRetries = 1
	DefaultMaxBytes   = 4000
)

// maxBatchSize is the maximum number of documents that Cohere accepts in one request.
const maxBatchSize = 1000

// Config describes an endpoint. BaseURL and Dialect are required. Model is required unless the dialect is TEI.
type Config struct {
	// BaseURL is the URL to which "/rerank" is appended, such as "https://api.cohere.com/v2", "https://api.jina.ai/v1" or
	// "http://localhost:8080". It must not contain user information, a query or a fragment.
	BaseURL string
	// Dialect is the endpoint's dialect.
	Dialect Dialect
	// APIKey is sent as a bearer token. Empty: none is sent.
	APIKey string
	// Model is the server's name of the model. A TEI server has only one model, so TEI ignores it.
	Model string
	// BatchSize is the maximum number of texts in a request, at most 1000. 0 means DefaultBatchSize, which is TEI's default limit.
	// Batches are sent concurrently. The model must score each text on its own, as cross-encoders do.
	BatchSize int
	// MaxTextBytes truncates longer texts at a rune boundary. 0 means DefaultMaxBytes, negative means no limit. Models read a few
	// hundred words.
	MaxTextBytes int
	// Timeout bounds one request including its answer. 0 means DefaultTimeout. Negative: only the context does.
	Timeout time.Duration
	// MaxRetries is the number of retries of a failed request. 0 means DefaultMaxRetries, negative means none.
	MaxRetries int
	// HTTPClient sends the requests. nil: a client with the default transport that follows no redirects, so that no other server
	// receives the key.
	HTTPClient *http.Client
}

// Reranker is a client of one endpoint. It implements contextmem.Reranker. It is safe for concurrent use and needs no closing.
type Reranker struct {
	cfg  Config
	http *modelhttp.Client
}

// New returns a reranker for cfg. It sends no request. The error lists all faults of cfg.
func New(cfg Config) (*Reranker, error) {
	if cfg.BatchSize == 0 {
		cfg.BatchSize = DefaultBatchSize
	}
	if cfg.MaxTextBytes == 0 {
		cfg.MaxTextBytes = DefaultMaxBytes
	}
	cl := &modelhttp.Client{Name: "remote", APIKey: cfg.APIKey, HTTP: cfg.HTTPClient, Timeout: cfg.Timeout, MaxRetries: cfg.MaxRetries,
		FirstPause: firstPause, MaxPause: maxPause, MaxRetryAfter: maxRetryAfter}
	if err := cfg.validate(cl.Complete(cfg.BaseURL, "/rerank", DefaultTimeout, DefaultMaxRetries)); err != nil {
		return nil, err
	}
	return &Reranker{cfg: cfg, http: cl}, nil
}

// validate joins the faults of c with the faults of its endpoint.
func (c Config) validate(endpoint []error) error {
	wrong := multierror.Append(nil, endpoint...)
	switch c.Dialect {
	case TEI:
	case Cohere, Jina:
		if c.Model == "" {
			wrong = multierror.Append(wrong, errors.New("remote: model is empty"))
		}
	default:
		wrong = multierror.Append(wrong, errors.New("remote: dialect must be cohere, jina or tei"))
	}
	if c.BatchSize < 0 || c.BatchSize > maxBatchSize {
		wrong = multierror.Append(wrong, fmt.Errorf("remote: batch size %d, want 0 to %d", c.BatchSize, maxBatchSize))
	}
	return faults.Joined(wrong)
}

// batchesAtOnce bounds the concurrent requests of one call.
const batchesAtOnce = 4

// Rerank returns the model's score of every text, in the order of texts. Scores are comparable only within one call. If one batch
// fails, Rerank returns no scores. The errors are the context's, [*Error], connection errors and errors for invalid answers.
func (r *Reranker) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	scores := make([]float64, len(texts))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	slots := make(chan struct{}, batchesAtOnce)
	done := make(chan error)
	batches := 0
	for start := 0; start < len(texts); start += r.cfg.BatchSize {
		end := min(start+r.cfg.BatchSize, len(texts))
		batches++
		go func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			done <- r.batch(ctx, query, texts[start:end], scores[start:end])
		}()
	}
	var first error
	for range batches { // wait for every batch, so that none writes to scores after the return
		if err := <-done; err != nil && first == nil {
			first = err
			cancel(err)
		}
	}
	if first != nil {
		return nil, first
	}
	return scores, nil
}

// cut truncates a text to at most n bytes at a rune boundary.
func cut(text string, n int) string {
	if n < 0 || len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
