// Package neural reranks with a cross-encoder that runs in the process, without cgo and without a network. The model is a BERT or
// XLM-RoBERTa sequence classifier. It reads a question and a passage together and scores how well they fit.
//
// [Load] reads a Hugging Face directory: config.json, tokenizer.json and model.safetensors. Models trained on MS MARCO
// (ms-marco-MiniLM, bge-reranker) have the required single score.
package neural

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/hashicorp/go-multierror"
	"golang.org/x/sync/errgroup"

	"github.com/contextmem/contextmem/internal/checkpoint"
	"github.com/contextmem/contextmem/internal/faults"
	"github.com/contextmem/contextmem/internal/tokenize"
	"github.com/contextmem/contextmem/internal/transformer"
)

// Limits of [Options].
const (
	minTokens  = 16
	maxThreads = 256
)

// Options override a model's configuration. The zero value overrides nothing.
type Options struct {
	// MaxTokens is the maximum number of tokens of question and passage together, special tokens included. The range is 16 to the
	// model's own maximum; 0 means that maximum. Longer input is truncated at the end, the longer of the two texts first.
	MaxTokens int
	// Label is the index of the model output that is the score, from 0.
	Label int
	// Threads is the maximum number of goroutines of a call, 1 to 256. 0 means GOMAXPROCS.
	Threads int
}

// Reranker scores passages for a question. It is safe for concurrent use.
type Reranker struct {
	set       Options
	files     *checkpoint.Checkpoint
	tokenizer *tokenize.Tokenizer
	load      func() (*transformer.Model, error) // runs once
}

// Files holds the contents of a model's files. The bytes are used in place, so they must not change.
type Files struct {
	Config    []byte // config.json
	Tokenizer []byte // tokenizer.json, or its compact form
	Weights   []byte // model.safetensors
}

// Load opens the model in a directory. The weights stay mapped until [Reranker.Close]. A nil o means the defaults.
func Load(dir string, o *Options) (*Reranker, error) {
	files, err := checkpoint.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("neural: %w", err)
	}
	r, err := open(files, o)
	if err != nil {
		return nil, errors.Join(err, files.Close())
	}
	if _, err := r.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("neural: %w", err), files.Close())
	}
	return r, nil
}

// New returns a reranker for files in memory. The first use loads and validates the weights, which takes tens of milliseconds.
func New(f Files, o *Options) (*Reranker, error) {
	files, err := checkpoint.New(checkpoint.Files{Config: f.Config, Tokenizer: f.Tokenizer, Weights: f.Weights})
	if err != nil {
		return nil, fmt.Errorf("neural: %w", err)
	}
	return open(files, o)
}

func open(files *checkpoint.Checkpoint, o *Options) (*Reranker, error) {
	var set Options
	if o != nil {
		set = *o
	}
	if err := set.complete(files); err != nil {
		return nil, fmt.Errorf("neural: %w", err)
	}
	return &Reranker{set: set, files: files, tokenizer: files.Tokenizer, load: sync.OnceValues(files.Load)}, nil
}

// complete fills in the defaults and validates the options.
func (o *Options) complete(files *checkpoint.Checkpoint) error {
	var wrong *multierror.Error
	most := files.Config.MaxTokens()
	if o.MaxTokens == 0 {
		o.MaxTokens = most
	}
	if o.MaxTokens < minTokens || o.MaxTokens > most {
		wrong = multierror.Append(wrong, fmt.Errorf("%d tokens at most, want %d to %d", o.MaxTokens, minTokens, most))
	}
	labels := files.Config.Labels
	if labels == 0 {
		wrong = multierror.Append(wrong, errors.New("config.json: not a model for sequence classification"))
	} else if o.Label < 0 || o.Label >= labels {
		wrong = multierror.Append(wrong, fmt.Errorf("label %d, want 0 to %d", o.Label, labels-1))
	}
	if o.Threads == 0 {
		o.Threads = min(runtime.GOMAXPROCS(0), maxThreads)
	}
	if o.Threads < 1 || o.Threads > maxThreads {
		wrong = multierror.Append(wrong, fmt.Errorf("%d threads, want 1 to %d", o.Threads, maxThreads))
	}
	return faults.Joined(wrong)
}

// Close unmaps the weights of a model from [Load]. The reranker must not be used afterwards. Close does nothing for a reranker
// from [New].
func (r *Reranker) Close() error { return r.files.Close() }

// Rerank returns the score of every text, in the order of texts. A score is the logistic function of the model's output, in
// (0,1). If it fails, it returns no scores. The errors are the context's and errors of loading the weights.
func (r *Reranker) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	logits, err := r.logits(ctx, query, texts)
	if err != nil {
		return nil, err
	}
	scores := make([]float64, len(texts))
	for i, l := range logits {
		scores[i] = 1 / (1 + math.Exp(-float64(l[r.set.Label])))
	}
	return scores, nil
}

// input is the token sequence of a question and a text.
type input struct {
	text       int
	ids, types []int32
}

// logits returns the model's outputs for every text. It distributes the texts over threads by length.
func (r *Reranker) logits(ctx context.Context, query string, texts []string) ([][]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	model, err := r.load()
	if err != nil {
		return nil, fmt.Errorf("neural: %w", err)
	}
	question := r.tokenizer.Append(nil, query)
	inputs := make([]input, len(texts))
	for i, text := range texts {
		ids, types := r.tokenizer.Pair(question, r.tokenizer.Append(nil, text), r.set.MaxTokens)
		inputs[i] = input{i, ids, types}
	}
	out := make([][]float32, len(texts))
	group, ctx := errgroup.WithContext(ctx)
	for _, share := range shares(inputs, r.set.Threads) {
		group.Go(func() error { return classify(ctx, model, share, out) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return out, nil
}

// shares distributes the inputs over at most n threads, longest first, each to the thread with the fewest tokens.
func shares(inputs []input, n int) [][]input {
	slices.SortStableFunc(inputs, func(a, b input) int { return cmp.Compare(len(b.ids), len(a.ids)) })
	out := make([][]input, min(n, len(inputs)))
	tokens := make([]int, len(out))
	for _, in := range inputs {
		least := 0
		for i, t := range tokens {
			if t < tokens[least] {
				least = i
			}
		}
		out[least] = append(out[least], in)
		tokens[least] += len(in.ids)
	}
	return out
}

// classify writes the model's outputs for some inputs to out.
func classify(ctx context.Context, model *transformer.Model, inputs []input, out [][]float32) error {
	ids, types := make([][]int32, len(inputs)), make([][]int32, len(inputs))
	for i, in := range inputs {
		ids[i], types[i] = in.ids, in.types
	}
	logits, err := model.Classify(ctx, ids, types)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("neural: %w", err)
	}
	for i, in := range inputs {
		out[in.text] = logits[i]
	}
	return nil
}
