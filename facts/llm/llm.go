// Package llm lets a language model behind any OpenAI-compatible chat endpoint write the summaries of profiles: it implements [facts.Summarizer].
//
// The model gets the numbered statements about a subject. It answers with sentences that name the statements they are made of. A sentence
// that names no statement, or contains a number that none of its statements contains, is left out. Summaries are cached by their
// statements: while the statements stay the same, the model is not asked again. Requests stay within a daily budget of tokens. After an
// error the profile has sentences of the sources instead. After a failure of the endpoint there are no requests for a
// while, so that profiles do not wait for it.
package llm

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/hashicorp/go-multierror"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/faults"
	"github.com/contextmem/contextmem/internal/modelhttp"
)

// Defaults of [Config].
const (
	DefaultTimeout    = 20 * time.Second
	DefaultMaxRetries = 1
	DefaultKeep       = 2000
	DefaultRest       = 30 * time.Second
)

// Config says which model to ask and what it may cost.
type Config struct {
	// BaseURL is the address in front of "/chat/completions", usually ending in "/v1". It must not hold user information, a query or a fragment.
	BaseURL string
	// APIKey is sent as a bearer token; empty sends none. It never appears in errors.
	APIKey string
	// Model is the model's name at the endpoint.
	Model string
	// HTTPClient makes the requests; nil uses one that follows no redirects.
	HTTPClient *http.Client
	// Timeout bounds one request, for which a profile waits; 0 means DefaultTimeout.
	Timeout time.Duration
	// MaxRetries bounds the further attempts of one request; 0 means DefaultMaxRetries, negative none.
	MaxRetries int
	// MaxTokensPerDay bounds prompt and completion tokens per UTC day; 0 means no bound. A request is counted by an estimate while it runs and by what
	// the endpoint reports afterwards.
	MaxTokensPerDay int64
	// Keep is how many summaries are kept in memory; 0 means DefaultKeep.
	Keep int
	// Rest is how long there are no requests after a failure of the endpoint, and how long a request is not repeated after an unusable answer; 0 means DefaultRest.
	Rest time.Duration
}

// Summarizer asks a language model. It is safe for concurrent use and owns no goroutine.
type Summarizer struct {
	cfg    Config
	http   *modelhttp.Client
	budget modelhttp.Budget
	now    func() time.Time

	mu    sync.Mutex
	kept  *lru.Cache[key, written]
	under map[key]chan struct{} // running requests; a channel is closed at the end of its request
	rest  time.Time             // no requests before this time
}

var _ facts.Summarizer = (*Summarizer)(nil)

// key is the hash of the input of a summary.
type key [sha256.Size]byte

// written is a cached summary, or the time until which the request is not repeated.
type written struct {
	text  string
	until time.Time
}

const (
	firstPause    = 200 * time.Millisecond
	maxPause      = 5 * time.Second
	maxRetryAfter = 10 * time.Second
)

var (
	errBudget    = errors.New("facts/llm: the tokens of today are used up")
	errResting   = errors.New("facts/llm: the endpoint failed a moment ago")
	errMalformed = errors.New("facts/llm: the answer is not what was asked for")
)

// New checks the configuration and fills in its defaults; it makes no request. The error joins all faults.
func New(cfg Config) (*Summarizer, error) {
	cl := &modelhttp.Client{Name: "facts/llm", APIKey: cfg.APIKey, HTTP: cfg.HTTPClient, Timeout: cfg.Timeout, MaxRetries: cfg.MaxRetries,
		FirstPause: firstPause, MaxPause: maxPause, MaxRetryAfter: maxRetryAfter}
	wrong := multierror.Append(nil, cl.Complete(cfg.BaseURL, "/chat/completions", DefaultTimeout, DefaultMaxRetries)...)
	if cfg.Model == "" {
		wrong = multierror.Append(wrong, errors.New("facts/llm: model is empty"))
	}
	for _, x := range []struct {
		name        string
		value, most int64
	}{{"tokens per day", cfg.MaxTokensPerDay, 1 << 62}, {"keep", int64(cfg.Keep), 1 << 30}, {"timeout", int64(cfg.Timeout), 1 << 62}, {"rest", int64(cfg.Rest), 1 << 62}} {
		if x.value < 0 || x.value > x.most {
			wrong = multierror.Append(wrong, fmt.Errorf("facts/llm: %s: want 0 to %d, got %d", x.name, x.most, x.value))
		}
	}
	if err := faults.Joined(wrong); err != nil {
		return nil, err
	}
	if cfg.Keep == 0 {
		cfg.Keep = DefaultKeep
	}
	if cfg.Rest == 0 {
		cfg.Rest = DefaultRest
	}
	kept, err := lru.New[key, written](cfg.Keep)
	if err != nil {
		return nil, fmt.Errorf("facts/llm: %w", err)
	}
	return &Summarizer{cfg: cfg, http: cl, budget: modelhttp.Budget{Limit: cfg.MaxTokensPerDay}, now: time.Now, kept: kept, under: map[key]chan struct{}{}}, nil
}

// Model implements [facts.Summarizer].
func (s *Summarizer) Model() string { return s.cfg.Model }

// Summarize implements [facts.Summarizer]. Concurrent calls with the same input share one request.
func (s *Summarizer) Summarize(ctx context.Context, r facts.SummaryRequest) (string, error) {
	if len(r.Statements) == 0 || r.MaxTokens < 1 {
		return "", errors.New("facts/llm: there is nothing to summarise")
	}
	k := keyOf(r)
	for {
		text, wait, err := s.begin(k)
		switch {
		case err != nil:
			return "", err
		case text != "":
			return text, nil
		case wait != nil:
			select {
			case <-wait:
				continue
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
		}
		text, err = s.ask(ctx, r)
		s.end(ctx, k, text, err)
		return text, err
	}
}

// begin returns the cached summary, or the channel of a running request. If it returns neither, the caller makes the request and then calls end.
func (s *Summarizer) begin(k key) (text string, wait <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	w, ok := s.kept.Get(k)
	switch {
	case ok && w.text != "":
		return w.text, nil, nil
	case ok && now.Before(w.until):
		return "", nil, errMalformed
	case s.under[k] != nil:
		return "", s.under[k], nil
	case now.Before(s.rest):
		return "", nil, errResting
	}
	s.under[k] = make(chan struct{})
	return "", nil, nil
}

func (s *Summarizer) end(ctx context.Context, k key, text string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.under[k])
	delete(s.under, k)
	var bad *modelhttp.AnswerError
	switch until := s.now().Add(s.cfg.Rest); {
	case err == nil:
		s.kept.Add(k, written{text: text})
	case ctx.Err() != nil || errors.Is(err, errBudget): // says nothing of the endpoint
	case errors.As(err, &bad):
		s.kept.Add(k, written{until: until})
	default:
		s.rest = until
	}
}

// keyOf returns the key of a request.
func keyOf(r facts.SummaryRequest) (k key) {
	h := sha256.New()
	var n [8]byte
	put := func(x string) {
		h.Write(binary.BigEndian.AppendUint64(n[:0], uint64(len(x))))
		h.Write([]byte(x))
	}
	h.Write(binary.BigEndian.AppendUint64(n[:0], uint64(r.MaxTokens)))
	put(r.Subject)
	for _, x := range r.Statements {
		put(x)
	}
	h.Sum(k[:0])
	return k
}
