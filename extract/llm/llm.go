// Package llm extracts knowledge with a language model behind any OpenAI-compatible chat endpoint.
//
// The fallback extractor (the rules) reads every item first and gives names with their exact places, dates and identifiers. The
// model's answer is validated; then its relations and facts replace those of the fallback, and its entities are added. When the model
// fails (a refusal, a timeout, a malformed answer, an exhausted budget), the item's output is that of the fallback, and Usage.Fallback
// gives the reason.
package llm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/faults"
	"github.com/contextmem/contextmem/internal/modelhttp"
	"github.com/hashicorp/go-multierror"
)

// Defaults of Config.
const (
	DefaultTimeout         = 60 * time.Second
	DefaultMaxConcurrent   = 4
	DefaultMaxRetries      = 2
	DefaultRetryDelay      = 500 * time.Millisecond
	DefaultMaxAnswerTokens = 4096
	DefaultMaxItemBytes    = 24 << 10
	DefaultBatchItems      = 8
)

// Config names the model and limits its cost.
type Config struct {
	// BaseURL is the endpoint, such as "https://llm.example.org/v1"; "/v1" is added when no version is there.
	BaseURL string
	// APIKey is sent as a bearer token; empty sends none. It never appears in errors or logs.
	APIKey string
	// Model is the model's name at the endpoint.
	Model string
	// HTTPClient makes the requests; nil uses one that follows no redirects.
	HTTPClient *http.Client
	// Timeout bounds one request; 0 means DefaultTimeout.
	Timeout time.Duration
	// MaxConcurrent bounds the requests in flight over all calls of Extract; 0 means DefaultMaxConcurrent.
	MaxConcurrent int
	// MaxRetries bounds the further attempts of one request after 408, 429, 5xx, network errors and malformed answers;
	// 0 means DefaultMaxRetries, negative none.
	MaxRetries int
	// RetryDelay is the wait before the first retry. It doubles each time, up to 30 s, unless the endpoint asks for another wait. 0
	// means DefaultRetryDelay.
	RetryDelay time.Duration
	// MaxTokensPerDay bounds the prompt and completion tokens per UTC day; 0 means no bound. A running request counts with an
	// estimate, a finished one with what the endpoint reports, so the bound may be exceeded by at most one estimate.
	MaxTokensPerDay int64
	// MaxAnswerTokens bounds one answer; 0 means DefaultMaxAnswerTokens.
	MaxAnswerTokens int
	// MaxItemBytes is the longest text that is sent; longer items use only the fallback. 0 means DefaultMaxItemBytes.
	MaxItemBytes int
	// BatchItems is the maximum number of short items in one request; 0 means DefaultBatchItems, 1 sends each item alone.
	BatchItems int
	// Fallback is the extractor that reads every item first. It is required.
	Fallback extract.Extractor
	// Logger gets one line per failed request, without content; nil is silent.
	Logger *slog.Logger
}

// Extractor implements extract.Extractor; make one with New. It is safe for concurrent use and owns no goroutine
// outside a running call of Extract.
type Extractor struct {
	cfg      Config
	endpoint string
	slots    chan struct{}
	budget   modelhttp.Budget
	format   atomic.Int32 // the best answer format that the endpoint accepts
}

var _ extract.Extractor = (*Extractor)(nil)

// New checks the configuration and fills in its defaults. It makes no request. The error joins all faults of cfg.
func New(cfg Config) (*Extractor, error) {
	var errs *multierror.Error
	endpoint, err := endpointOf(cfg.BaseURL)
	if err != nil {
		errs = multierror.Append(errs, err)
	}
	if cfg.Model == "" {
		errs = multierror.Append(errs, errors.New("model is missing"))
	}
	if cfg.Fallback == nil {
		errs = multierror.Append(errs, errors.New("fallback extractor is missing"))
	}
	if strings.ContainsAny(cfg.APIKey, "\r\n\x00") {
		errs = multierror.Append(errs, errors.New("API key holds control characters"))
	}
	for name, v := range map[string]int64{"timeout": int64(cfg.Timeout), "concurrent requests": int64(cfg.MaxConcurrent), "retry delay": int64(cfg.RetryDelay),
		"tokens per day": cfg.MaxTokensPerDay, "answer tokens": int64(cfg.MaxAnswerTokens), "item bytes": int64(cfg.MaxItemBytes), "batch items": int64(cfg.BatchItems)} {
		if v < 0 {
			errs = multierror.Append(errs, fmt.Errorf("%s: want 0 or more, got %d", name, v))
		}
	}
	if err := faults.Joined(errs); err != nil {
		return nil, fmt.Errorf("llm: configuration: %w", err)
	}
	cfg = withDefaults(cfg)
	return &Extractor{cfg: cfg, endpoint: endpoint, slots: make(chan struct{}, cfg.MaxConcurrent), budget: modelhttp.Budget{Limit: cfg.MaxTokensPerDay}}, nil
}

func withDefaults(c Config) Config {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&c.MaxConcurrent, DefaultMaxConcurrent)
	def(&c.MaxRetries, DefaultMaxRetries)
	def(&c.MaxAnswerTokens, DefaultMaxAnswerTokens)
	def(&c.MaxItemBytes, DefaultMaxItemBytes)
	def(&c.BatchItems, DefaultBatchItems)
	c.MaxRetries = max(c.MaxRetries, 0)
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.RetryDelay == 0 {
		c.RetryDelay = DefaultRetryDelay
	}
	if c.HTTPClient == nil {
		c.HTTPClient = modelhttp.NoRedirects()
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// endpointOf returns the chat completions URL of a base URL.
func endpointOf(base string) (string, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return "", errors.New("base URL: want http(s)://host[/path] without credentials")
	}
	path := strings.TrimRight(u.Path, "/")
	switch last := path[strings.LastIndexByte(path, '/')+1:]; {
	case strings.HasSuffix(path, "/chat/completions"):
	case len(last) > 1 && last[0] == 'v' && last[1] >= '0' && last[1] <= '9':
		path += "/chat/completions"
	default:
		path += "/v1/chat/completions"
	}
	u.Path = path
	return u.String(), nil
}

// Name names the model and the version of the prompt.
func (e *Extractor) Name() string { return "llm-1:" + e.cfg.Model }

// Extract runs the fallback over all items, then asks the model about them in batches. The only errors are those of the fallback and
// of an ended ctx. Failures of the model are reported in Usage.Fallback of the items.
func (e *Extractor) Extract(ctx context.Context, in []extract.Input) ([]extract.Output, error) {
	out, err := e.cfg.Fallback.Extract(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("llm: fallback extractor: %w", err)
	}
	if len(out) != len(in) {
		return nil, fmt.Errorf("llm: fallback extractor: %d outputs for %d items", len(out), len(in))
	}
	var wg sync.WaitGroup
	for _, b := range e.batches(in, out) {
		select {
		case e.slots <- struct{}{}:
		case <-ctx.Done():
			wg.Wait()
			return nil, ctx.Err()
		}
		wg.Go(func() {
			defer func() { <-e.slots }()
			e.run(ctx, in, out, b)
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return out, nil
}

// batchBytes bounds the text of one request that holds several items.
const batchBytes = 8 << 10

// batches groups the items that should be sent; a batch holds indices into in.
func (e *Extractor) batches(in []extract.Input, out []extract.Output) [][]int {
	var all [][]int
	var cur []int
	size := 0
	for i := range in {
		out[i].Usage = &extract.Usage{Model: e.cfg.Model}
		n := len(in[i].Text) + len(in[i].Title) + len(in[i].Instructions)
		switch {
		case strings.TrimSpace(in[i].Text) == "":
			out[i].Usage.Fallback = reasonEmpty
			continue
		case n > e.cfg.MaxItemBytes:
			out[i].Usage.Fallback = reasonTooLong
			continue
		}
		if len(cur) > 0 && (len(cur) >= e.cfg.BatchItems || size+n > batchBytes) {
			all, cur, size = append(all, cur), nil, 0
		}
		cur, size = append(cur, i), size+n
	}
	if len(cur) > 0 {
		all = append(all, cur)
	}
	return all
}

// run asks about one batch. When the answer was cut off, it splits the batch in two and asks again.
func (e *Extractor) run(ctx context.Context, in []extract.Input, out []extract.Output, batch []int) {
	answers, reason := e.ask(ctx, in, out, batch)
	if reason == reasonTruncated && len(batch) > 1 {
		half := len(batch) / 2
		e.run(ctx, in, out, batch[:half])
		e.run(ctx, in, out, batch[half:])
		return
	}
	for k, i := range batch {
		switch {
		case reason != "":
			out[i].Usage.Fallback = reason
		case answers[k] == nil:
			out[i].Usage.Fallback = reasonMissing
		default:
			merge(&in[i], &out[i], answers[k])
		}
	}
}
