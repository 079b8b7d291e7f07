// Package llm implements [judge.Judge] with a language model behind an OpenAI-compatible chat endpoint, which decides which statements no
// longer hold.
//
// A request contains several scenes. A scene is a statement with the earlier statements that are similar to it. There is a budget of
// tokens per day. Answers are checked and cached, so no pair is sent twice. If the model fails for a scene (a refusal, a timeout, an
// invalid answer, an exhausted budget), the fallback decides, if there is one. Whether a passage answers a question is always decided by
// the fallback, since a recall does not wait for a language model.
package llm

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/hashicorp/go-multierror"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/contextmem/contextmem/internal/faults"
	"github.com/contextmem/contextmem/internal/modelhttp"
	"github.com/contextmem/contextmem/judge"
)

// Defaults of [Config].
const (
	DefaultTimeout         = 60 * time.Second
	DefaultMaxRetries      = 2
	DefaultMaxAnswerTokens = 2048
	DefaultBatchScenes     = 4
	DefaultKeep            = 50_000
)

// Config has the model's endpoint and the limits of its costs.
type Config struct {
	// BaseURL is the address in front of "/chat/completions", usually ending in "/v1". It must not hold user information, a query or a fragment.
	BaseURL string
	// APIKey is sent as a bearer token; empty sends none. It never appears in errors or logs.
	APIKey string
	// Model is the model's name at the endpoint.
	Model string
	// HTTPClient makes the requests; nil uses one that follows no redirects.
	HTTPClient *http.Client
	// Timeout bounds one request; 0 means DefaultTimeout.
	Timeout time.Duration
	// MaxRetries bounds the further attempts of one request; 0 means DefaultMaxRetries, negative none.
	MaxRetries int
	// MaxTokensPerDay bounds prompt and completion tokens per UTC day; 0 means no bound. A request is counted by an estimate while it runs and by what
	// the endpoint reports afterwards.
	MaxTokensPerDay int64
	// MaxAnswerTokens bounds one answer; 0 means DefaultMaxAnswerTokens.
	MaxAnswerTokens int
	// BatchScenes is how many statements, each with its earlier ones, share a request; 0 means DefaultBatchScenes, at most 32.
	BatchScenes int
	// Keep is how many decided pairs are kept in memory, some 100 bytes each; 0 means DefaultKeep.
	Keep int
	// Fallback decides pairs that the model does not decide, and whether passages answer a question. Nil: Replaces returns an error for
	// such pairs, so that they are tried again later, and recalls compute relevance from scores.
	Fallback judge.Judge
	// Logger gets one line for each failed request, without content; nil is silent.
	Logger *slog.Logger
}

// Judge asks a language model. It is safe for concurrent use and owns no goroutine.
type Judge struct {
	cfg    Config
	http   *modelhttp.Client
	budget modelhttp.Budget
	kept   *lru.Cache[[sha256.Size]byte, float64]
}

var _ judge.Judge = (*Judge)(nil)

const (
	mostScenes    = 32
	mostTokens    = 1 << 20
	firstPause    = 500 * time.Millisecond
	maxPause      = 30 * time.Second
	maxRetryAfter = time.Minute
	answerBytes   = 4 << 20
)

// New checks the configuration and fills in its defaults; it makes no request. The error joins all faults.
func New(cfg Config) (*Judge, error) {
	cl := &modelhttp.Client{Name: "judge/llm", APIKey: cfg.APIKey, HTTP: cfg.HTTPClient, Timeout: cfg.Timeout, MaxRetries: cfg.MaxRetries,
		FirstPause: firstPause, MaxPause: maxPause, MaxRetryAfter: maxRetryAfter}
	wrong := multierror.Append(nil, cl.Complete(cfg.BaseURL, "/chat/completions", DefaultTimeout, DefaultMaxRetries)...)
	if cfg.Model == "" {
		wrong = multierror.Append(wrong, errors.New("judge/llm: model is empty"))
	}
	for _, x := range []struct {
		name        string
		value, most int64
	}{{"tokens per day", cfg.MaxTokensPerDay, 1 << 62}, {"answer tokens", int64(cfg.MaxAnswerTokens), mostTokens}, {"batch scenes", int64(cfg.BatchScenes), mostScenes}, {"keep", int64(cfg.Keep), 1 << 30},
		{"timeout", int64(cfg.Timeout), 1 << 62}} {
		if x.value < 0 || x.value > x.most {
			wrong = multierror.Append(wrong, fmt.Errorf("judge/llm: %s: want 0 to %d, got %d", x.name, x.most, x.value))
		}
	}
	if err := faults.Joined(wrong); err != nil {
		return nil, err
	}
	for _, d := range []struct {
		v *int
		d int
	}{{&cfg.MaxAnswerTokens, DefaultMaxAnswerTokens}, {&cfg.BatchScenes, DefaultBatchScenes}, {&cfg.Keep, DefaultKeep}} {
		if *d.v == 0 {
			*d.v = d.d
		}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	kept, err := lru.New[[sha256.Size]byte, float64](cfg.Keep)
	if err != nil {
		return nil, fmt.Errorf("judge/llm: %w", err)
	}
	return &Judge{cfg: cfg, http: cl, budget: modelhttp.Budget{Limit: cfg.MaxTokensPerDay}, kept: kept}, nil
}

// Model returns the name of the model, the version of the prompt, and the fallback.
func (j *Judge) Model() string {
	name := "llm-1:" + j.cfg.Model
	if j.cfg.Fallback != nil {
		name += "+" + j.cfg.Fallback.Model()
	}
	return name
}

// Answers returns the answers of the fallback. Without a fallback it returns an error.
func (j *Judge) Answers(ctx context.Context, question string, passages []string) ([]float64, error) {
	if j.cfg.Fallback == nil {
		return nil, errors.New("judge/llm: no fallback tells whether passages answer")
	}
	return j.cfg.Fallback.Answers(ctx, question, passages)
}

// Rate returns the rating of the fallback; see [judge.Rater]. Without a fallback it returns an error.
func (j *Judge) Rate(ctx context.Context, question string, passages []string) ([]float64, error) {
	if j.cfg.Fallback == nil {
		return j.Answers(ctx, question, passages)
	}
	return judge.Rate(ctx, j.cfg.Fallback, question, passages)
}

// scene is a statement with the earlier ones that it may replace.
type scene struct {
	later judge.Statement
	pairs []int // of the call
}

// Replaces calls the model for pairs that are not cached. Its errors are those of ctx and of the fallback, or without a fallback the error of the model.
func (j *Judge) Replaces(ctx context.Context, pairs []judge.Pair) ([]float64, error) {
	out := make([]float64, len(pairs))
	var scenes []scene
	at := map[judge.Statement]int{}
	for i, p := range pairs {
		if strings.TrimSpace(p.Earlier.Text) == "" || strings.TrimSpace(p.Later.Text) == "" {
			continue
		}
		if known, ok := j.kept.Get(keyOf(p)); ok {
			out[i] = known
			continue
		}
		k, ok := at[p.Later]
		if !ok || len(scenes[k].pairs) >= mostEarlier {
			k = len(scenes)
			at[p.Later], scenes = k, append(scenes, scene{later: p.Later})
		}
		scenes[k].pairs = append(scenes[k].pairs, i)
	}
	var left []int // pairs that the model did not decide
	var why error
	for len(scenes) > 0 {
		part := scenes[:min(len(scenes), j.cfg.BatchScenes)]
		scenes = scenes[len(part):]
		err := j.ask(ctx, pairs, part, out)
		if err == nil {
			continue
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		j.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "a language model did not decide", slog.Int("statements", len(part)), slog.String("err", err.Error()))
		why = err
		for _, s := range part {
			left = append(left, s.pairs...)
		}
	}
	if len(left) == 0 {
		return out, nil
	}
	if j.cfg.Fallback == nil {
		return nil, why
	}
	rest := make([]judge.Pair, len(left))
	for k, i := range left {
		rest[k] = pairs[i]
	}
	probs, err := j.cfg.Fallback.Replaces(ctx, rest)
	if err != nil {
		return nil, err
	}
	if len(probs) != len(rest) {
		return nil, errors.New("judge/llm: the fallback gave another number of probabilities")
	}
	for k, i := range left {
		out[i] = probs[k]
	}
	return out, nil
}

// keyOf identifies a pair.
func keyOf(p judge.Pair) (k [sha256.Size]byte) {
	h := sha256.New()
	for _, s := range []judge.Statement{p.Earlier, p.Later} {
		_, _ = fmt.Fprintf(h, "%d\x00%s\x00%d\x00%s\x00%d\x00", len(s.Text), s.Text, len(s.Before), s.Before, s.Time.UnixMicro()) // a hash takes everything
	}
	h.Sum(k[:0])
	return k
}
