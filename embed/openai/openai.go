// Package openai embeds texts through any server that speaks the OpenAI
// embeddings protocol: OpenAI itself, Ollama, llama.cpp, vLLM, text-embeddings-
// inference and others.
//
// Texts are sent in batches, transient failures are retried with growing,
// jittered pauses, and answers are checked before use: one vector per text, each
// of the expected dimension, every number finite. Errors never hold the key or
// any text.
package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-multierror"

	"github.com/contextmem/contextmem/internal/faults"
	"github.com/contextmem/contextmem/internal/modelhttp"
)

// Defaults of [Config].
const (
	DefaultBaseURL    = "https://api.openai.com/v1"
	DefaultBatchSize  = 64
	DefaultTimeout    = 60 * time.Second
	DefaultMaxRetries = 4
)

// maxBatchSize is the most inputs that OpenAI takes in one request.
const maxBatchSize = 2048

// maxDimensions bounds a vector, and so the size of an answer. It is twice the dimensions of the largest public models.
const maxDimensions = 1 << 14

// Config describes an endpoint. Model is required; everything else has a
// default.
type Config struct {
	// BaseURL is the address in front of "/embeddings", usually ending in "/v1":
	// "http://localhost:11434/v1" for Ollama. "" means DefaultBaseURL. It must
	// not hold user information, a query or a fragment.
	BaseURL string
	// APIKey is sent as a bearer token; "" sends none.
	APIKey string
	// Model is the name of the model at the server.
	Model string
	// Dimensions is requested from the server, and every vector must have it. Only some models can shorten their vectors. 0 requests
	// nothing; the first answer then sets the dimension.
	Dimensions int
	// BatchSize is the most texts in a request: 0 means DefaultBatchSize, at
	// most 2048.
	BatchSize int
	// QueryPrefix and DocumentPrefix are put before every query and document, for models that distinguish the two by a prefix ("query:
	// ", "passage: ").
	QueryPrefix, DocumentPrefix string
	// Timeout bounds one request, its answer included: 0 means DefaultTimeout,
	// negative means none but that of the context.
	Timeout time.Duration
	// MaxRetries is how often a failed request is tried again: 0 means
	// DefaultMaxRetries, negative means never.
	MaxRetries int
	// HTTPClient sends the requests. nil means a client of this package with the default transport, which follows no redirects, so
	// that the key is sent to no other host.
	HTTPClient *http.Client
}

// Embedder is a client of one endpoint and model. It is safe for concurrent
// use, and holds nothing that must be closed.
type Embedder struct {
	cfg  Config
	http *modelhttp.Client
	dim  atomic.Int64 // 0 until known
}

// New returns an embedder for cfg. It makes no request. The error joins all faults of cfg.
func New(cfg Config) (*Embedder, error) {
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultBaseURL
	}
	if cfg.BatchSize == 0 {
		cfg.BatchSize = DefaultBatchSize
	}
	cl := &modelhttp.Client{Name: "openai", APIKey: cfg.APIKey, HTTP: cfg.HTTPClient, Timeout: cfg.Timeout, MaxRetries: cfg.MaxRetries,
		FirstPause: firstPause, MaxPause: maxPause, MaxRetryAfter: maxRetryAfter}
	if err := cfg.validate(cl.Complete(cfg.BaseURL, "/embeddings", DefaultTimeout, DefaultMaxRetries)); err != nil {
		return nil, err
	}
	e := &Embedder{cfg: cfg, http: cl}
	e.dim.Store(int64(cfg.Dimensions))
	return e, nil
}

// validate adds the faults of c to the faults of its endpoint.
func (c Config) validate(endpoint []error) error {
	wrong := multierror.Append(nil, endpoint...)
	if c.Model == "" {
		wrong = multierror.Append(wrong, errors.New("openai: model is empty"))
	}
	if c.Dimensions < 0 || c.Dimensions > maxDimensions {
		wrong = multierror.Append(wrong, fmt.Errorf("openai: %d dimensions, want 0 to %d", c.Dimensions, maxDimensions))
	}
	if c.BatchSize < 0 || c.BatchSize > maxBatchSize {
		wrong = multierror.Append(wrong, fmt.Errorf("openai: batch size %d, want 0 to %d", c.BatchSize, maxBatchSize))
	}
	return faults.Joined(wrong)
}

// Model is the configured name of the model.
func (e *Embedder) Model() string { return e.cfg.Model }

// Dim is the dimension of the vectors: that of Config, else that of the first answer. It is 0 until there is an answer.
func (e *Embedder) Dim() int { return int(e.dim.Load()) }

// EmbedDocuments returns one vector per text, in order, as the server gave them: [len(texts)][Dim]float32, of unit length with most
// models. It returns vectors only if all batches succeed. The errors are those of ctx, an [*Error] for an error status of the server,
// and others for answers that are malformed or missing.
func (e *Embedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	vecs := make([][]float32, 0, len(texts))
	for len(vecs) < len(texts) {
		batch := texts[len(vecs):min(len(texts), len(vecs)+e.cfg.BatchSize)]
		got, err := e.embed(ctx, e.cfg.DocumentPrefix, batch)
		if err != nil {
			return nil, err
		}
		vecs = append(vecs, got...)
	}
	return vecs, ctx.Err()
}

// EmbedQuery returns the vector of a query; see EmbedDocuments.
func (e *Embedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	vecs, err := e.embed(ctx, e.cfg.QueryPrefix, []string{text})
	if err != nil {
		return nil, err
	}
	return vecs[0], nil
}
