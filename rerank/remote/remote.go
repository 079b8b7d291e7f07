// Package remote reranks with a model behind an HTTP endpoint: Cohere, Jina,
// text-embeddings-inference (TEI), and servers that speak one of their dialects
// (vLLM, LocalAI, Infinity).
//
// Texts are sent in batches inside the caller's deadline, transient failures are
// tried again, and answers are checked before use: one score for every text, each
// index once and in range, every score finite. Errors never hold the key, the
// question or any text.
package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/hashicorp/go-multierror"

	"github.com/contextmem/contextmem/internal/modelhttp"
)

// Dialect is the form of requests and answers.
type Dialect string

// The dialects. All of them post to BaseURL + "/rerank".
const (
	Cohere Dialect = "cohere" // {model, query, documents, top_n} -> {results: [{index, relevance_score}]}
	Jina   Dialect = "jina"   // Cohere's, with return_documents off
	TEI    Dialect = "tei"    // {query, texts, truncate} -> [{index, score}]
)

// Defaults of [Config].
const (
	DefaultBatchSize  = 32
	DefaultTimeout    = 2 * time.Second
	DefaultMaxRetries = 1
	DefaultMaxBytes   = 4000
)

// maxBatchSize is the most documents that Cohere takes in one request.
const maxBatchSize = 1000

// Config describes an endpoint. BaseURL and Dialect are required, Model too unless
// the dialect is TEI.
type Config struct {
	// BaseURL is the address in front of "/rerank": "https://api.cohere.com/v2",
	// "https://api.jina.ai/v1", "http://localhost:8080". It must not hold user
	// information, a query or a fragment.
	BaseURL string
	// Dialect is what the endpoint speaks.
	Dialect Dialect
	// APIKey is sent as a bearer token; "" sends none.
	APIKey string
	// Model is the name of the model at the server; TEI serves one and takes none.
	Model string
	// BatchSize is the most texts in a request, at most 1000: 0 means DefaultBatchSize,
	// which is what TEI takes unless it is told otherwise. Batches go out together;
	// the model must score a text on its own, as cross-encoders do.
	BatchSize int
	// MaxTextBytes cuts longer texts, at a character: 0 means DefaultMaxBytes, negative
	// never. Models read some hundred words.
	MaxTextBytes int
	// Timeout bounds one request, its answer included: 0 means DefaultTimeout, negative
	// means none but that of the context.
	Timeout time.Duration
	// MaxRetries is how often a failed request is tried again: 0 means
	// DefaultMaxRetries, negative means never.
	MaxRetries int
	// HTTPClient sends the requests; nil means a client of our own with the default
	// transport, which follows no redirects, so that the key goes nowhere else.
	HTTPClient *http.Client
}

// Reranker is a client of one endpoint; it implements contextmem.Reranker. It is safe
// for concurrent use, and holds nothing that must be closed.
type Reranker struct {
	cfg  Config
	http *modelhttp.Client
}

// New returns a reranker for cfg. It contacts nobody. All faults of cfg come back
// together.
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

// validate joins what is wrong with c to the faults of its endpoint.
func (c Config) validate(endpoint []error) error {
	faults := multierror.Append(nil, endpoint...)
	switch c.Dialect {
	case TEI:
	case Cohere, Jina:
		if c.Model == "" {
			faults = multierror.Append(faults, errors.New("remote: model is empty"))
		}
	default:
		faults = multierror.Append(faults, errors.New("remote: dialect must be cohere, jina or tei"))
	}
	if c.BatchSize < 0 || c.BatchSize > maxBatchSize {
		faults = multierror.Append(faults, fmt.Errorf("remote: batch size %d, want 0 to %d", c.BatchSize, maxBatchSize))
	}
	return faults.ErrorOrNil()
}

// batchesAtOnce bounds the requests of one call that are under way.
const batchesAtOnce = 4

// Rerank returns the model's score of every text, in the order of texts; scores
// compare within one call. It is all or nothing: when one batch fails no score is
// returned. The errors are those of ctx, [*Error], and those of a connection or of
// an answer that cannot be used.
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
	for range batches { // every batch is waited for: none writes scores behind our back
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

// cut shortens a text to at most n bytes, at a character.
func cut(text string, n int) string {
	if n < 0 || len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
