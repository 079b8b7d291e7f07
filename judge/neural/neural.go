// Package neural implements [judge.Judge] with a transformer inside the process. Its heads compare the mean outputs of the first
// layers of an embedder's encoder for two texts. The mean of a text is cached. Comparing a cached text takes only the heads, a
// fraction of a millisecond per pair.
package neural

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/contextmem/contextmem/internal/transformer"
	"github.com/contextmem/contextmem/judge"
)

// Encoder runs the first layers over texts; [github.com/contextmem/contextmem/embed/neural.Embedder] is one.
type Encoder interface {
	// Model names the encoder and the version of its weights.
	Model() string
	// Dim is the width of a token's vector.
	Dim() int
	// States returns, for each text, the vectors of at most tokens of its tokens after the first layers: [tokens * Dim]float32.
	States(ctx context.Context, texts []string, layers, tokens int) ([][]float32, error)
}

// Files are the contents of a model's files in memory, which must not change.
type Files struct {
	Config  []byte // config.json
	Weights []byte // model.safetensors
	// Rating is rating.json: the last layer of the answers head for [Judge.Rate], with its calibration. Nil: Rate returns what Answers returns. It is not
	// part of Judge.Model, since no decision about statements depends on it.
	Rating []byte
	// Reader is reader.safetensors: what compares a question with a passage token by token for [Judge.Rate]. It must be there exactly if Rating has a
	// factor for its logit. The first and the last vector of Encoder.States must then be of special tokens. Nil: none.
	Reader []byte
}

// Options are the options that the model's files do not contain.
type Options struct {
	// Model is the name of the model. It is required.
	Model string
	// CacheBytes bounds the memory of cached vectors of texts; 0 means 32 MiB, negative no cache. A text takes its own
	// bytes and four times Encoder.Dim, and with Files.Reader some for each of its tokens: 144 with the bundled model. So 32 MiB are about 5,500 texts of 30
	// tokens at 384 dimensions.
	CacheBytes int
	// Threads is how many goroutines a call may use, 1 to 256; 0 means GOMAXPROCS.
	Threads int
}

// Limits and defaults of [Options].
const (
	defaultCache = 32 << 20
	maxThreads   = 256
)

// The heads, and the names of their tensors.
const (
	answers = iota
	replaces
)

var headNames = []string{answers: "answers", replaces: "replaces"}

// config is config.json.
type config struct {
	Encoder       string `json:"encoder"`        // the beginning of the encoder's Model
	EncoderLayers int    `json:"encoder_layers"` // that run before
	MaxTokens     int    `json:"max_text_tokens"`
	// Calibration is, for each head, what makes a logit x a probability: 1/(1+exp(-(Scale*x+Shift))).
	Calibration map[string]scale `json:"calibration"`
}

type scale struct{ Scale, Shift float64 }

// probability is the calibrated probability of a logit.
func (s scale) probability(logit float32) float64 {
	return 1 / (1 + math.Exp(-(s.Scale*float64(logit) + s.Shift)))
}

// Judge is a model that compares texts. It is safe for concurrent use.
type Judge struct {
	model   func() string // once
	set     config
	encoder Encoder
	compare *transformer.Compare
	scales  []scale             // by head
	rating  *transformer.Last   // nil: none
	reader  *transformer.Reader // nil: none
	kept    *kept               // nil without
	threads int
}

var (
	_ judge.Narrow = (*Judge)(nil)
	_ judge.Rater  = (*Judge)(nil)
)

// New makes a judge from files in memory and the encoder with which the model was trained. It checks the layout of the files. The
// weights are read with the first text; weights that are not finite numbers are an error at that time.
func New(f Files, encoder Encoder, o *Options) (*Judge, error) {
	j, err := open(f, encoder, o)
	if err != nil {
		return nil, fmt.Errorf("neural: %w", err)
	}
	return j, nil
}

func open(f Files, encoder Encoder, o *Options) (*Judge, error) {
	if o == nil || o.Model == "" {
		return nil, errors.New("Options.Model is required")
	}
	if o.Threads < 0 || o.Threads > maxThreads {
		return nil, fmt.Errorf("Options.Threads must be 0 to %d", maxThreads)
	}
	j := &Judge{encoder: encoder, threads: o.Threads}
	if err := json.Unmarshal(f.Config, &j.set); err != nil {
		return nil, fmt.Errorf("config.json: %w", err)
	}
	var err error
	if j.scales, err = j.set.check(encoder); err != nil {
		return nil, err
	}
	if j.compare, err = transformer.LoadCompare(f.Weights, encoder.Dim(), headNames); err != nil {
		return nil, err
	}
	if f.Rating != nil {
		j.rating = new(transformer.Last)
		if err := json.Unmarshal(f.Rating, j.rating); err != nil {
			return nil, fmt.Errorf("rating.json: %w", err)
		}
		if err := j.compare.Check(answers, j.rating); err != nil {
			return nil, fmt.Errorf("rating.json: %w", err)
		}
	}
	if (f.Reader != nil) != (j.rating != nil && j.rating.Reader != 0) {
		return nil, errors.New("reader.safetensors: needed exactly if rating.json has a factor for it")
	}
	if f.Reader != nil {
		if j.reader, err = transformer.LoadReader(f.Reader, encoder.Dim()); err != nil {
			return nil, fmt.Errorf("reader.safetensors: %w", err)
		}
	}
	if j.threads == 0 {
		j.threads = min(runtime.GOMAXPROCS(0), maxThreads)
	}
	if o.CacheBytes >= 0 {
		size := o.CacheBytes
		if size == 0 {
			size = defaultCache
		}
		if j.kept, err = newKept(size); err != nil {
			return nil, err
		}
	}
	name := o.Model
	j.model = sync.OnceValue(func() string {
		sum := sha256.New()
		_, _ = sum.Write(f.Config) // a hash takes everything
		_, _ = sum.Write(f.Weights)
		_, _ = sum.Write([]byte(encoder.Model()))
		return name + "/" + hex.EncodeToString(sum.Sum(nil)[:4])
	})
	return j, nil
}

// check returns the calibration of the heads.
func (c *config) check(encoder Encoder) ([]scale, error) {
	if c.Encoder == "" || !strings.HasPrefix(encoder.Model(), c.Encoder) {
		return nil, errors.New("config.json: made for another encoder")
	}
	if c.MaxTokens < 3 || c.EncoderLayers < 1 {
		return nil, errors.New("config.json: max_text_tokens must be 3 or more, encoder_layers 1 or more")
	}
	scales := make([]scale, len(headNames))
	for i, name := range headNames {
		s, ok := c.Calibration[name]
		if !ok || s.Scale <= 0 {
			return nil, errors.New("config.json: calibration must have a positive scale for each head")
		}
		scales[i] = s
	}
	return scales, nil
}

// Model returns the model's name with a fingerprint of its weights, its calibration and its encoder.
func (j *Judge) Model() string { return j.model() }

// Narrow returns true, since the judge sees only the two texts of a pair; see [judge.Narrow].
func (j *Judge) Narrow() bool { return true }

// Replaces returns, for each pair, the calibrated probability that the later statement supersedes the earlier one. It reads only the
// beginning of long texts, 128 tokens with the bundled model. It ignores preceding messages and times. Its errors are those of ctx.
func (j *Judge) Replaces(ctx context.Context, pairs []judge.Pair) ([]float64, error) {
	ps := make([]texts, len(pairs))
	for i, p := range pairs {
		ps[i] = texts{want{p.Earlier.Text, false}, want{p.Later.Text, false}}
	}
	return j.score(ctx, ps, j.by(replaces))
}

// Answers returns, for each passage, the calibrated probability that it answers the question. Its errors are those of ctx.
func (j *Judge) Answers(ctx context.Context, q string, passages []string) ([]float64, error) {
	return j.score(ctx, with(q, passages), j.by(answers))
}

// Rate implements [judge.Rater]. Its errors are those of ctx.
func (j *Judge) Rate(ctx context.Context, q string, passages []string) ([]float64, error) {
	if j.rating == nil {
		return j.Answers(ctx, q, passages)
	}
	return j.score(ctx, with(q, passages), func(a, b encoded) float64 {
		logit := j.compare.LogitBy(answers, j.rating, a.text, b.text)
		if j.reader != nil {
			logit += j.rating.Reader * j.reader.Logit(a.question, b.passage)
		}
		return scale{Scale: 1}.probability(logit)
	})
}

// with returns the pairs of a question and each passage.
func with(q string, passages []string) []texts {
	ps := make([]texts, len(passages))
	for i, p := range passages {
		ps[i] = texts{want{q, true}, want{p, false}}
	}
	return ps
}

// by returns the function that computes the calibrated probability of a head.
func (j *Judge) by(head int) func(a, b encoded) float64 {
	return func(a, b encoded) float64 { return j.scales[head].probability(j.compare.Logit(head, a.text, b.text)) }
}

// want is a text to encode. asked says that it is a question: a reader reads it otherwise than a passage.
type want struct {
	text  string
	asked bool
}

// encoded is an encoded text: its mean and, with a reader, what that reads of a question or a passage.
type encoded struct {
	text     transformer.Text
	question transformer.Question
	passage  transformer.Passage
}

// texts is a pair of texts.
type texts struct{ a, b want }

// blank reports whether there is nothing to compare.
func (t texts) blank() bool {
	return strings.TrimSpace(t.a.text) == "" || strings.TrimSpace(t.b.text) == ""
}

// score returns the probabilities of pairs. Pairs with an empty text have 0.
func (j *Judge) score(ctx context.Context, pairs []texts, probability func(a, b encoded) float64) ([]float64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	found, err := j.encode(ctx, pairs)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(pairs))
	for i, p := range pairs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !p.blank() {
			out[i] = probability(found[p.a], found[p.b])
		}
	}
	return out, nil
}

// encode returns the encodings of all texts of the pairs.
func (j *Judge) encode(ctx context.Context, pairs []texts) (map[want]encoded, error) {
	found := make(map[want]encoded)
	var missing []want
	for _, p := range pairs {
		if p.blank() {
			continue
		}
		for _, t := range []want{p.a, p.b} {
			if _, ok := found[t]; ok {
				continue
			}
			v, ok := j.kept.get(t)
			if found[t] = v; !ok {
				missing = append(missing, t)
			}
		}
	}
	results := make([]encoded, len(missing))
	group, ctx := errgroup.WithContext(ctx)
	for _, share := range shares(missing, j.threads) {
		group.Go(func() error { return j.read(ctx, missing, share, results) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for i, t := range missing {
		found[t] = results[i]
		j.kept.put(t, results[i])
	}
	return found, nil
}

// atOnce is how many texts are encoded together.
const atOnce = 16

// read encodes the texts of a share into results.
func (j *Judge) read(ctx context.Context, all []want, share []int, results []encoded) error {
	for part := range slices.Chunk(share, atOnce) {
		ts := make([]string, len(part))
		for k, i := range part {
			ts[k] = all[i].text
		}
		states, err := j.encoder.States(ctx, ts, j.set.EncoderLayers, j.set.MaxTokens)
		if err != nil {
			return err
		}
		for k, i := range part {
			if results[i], err = j.encoded(all[i], states[k]); err != nil {
				return fmt.Errorf("neural: %w", err)
			}
		}
	}
	return nil
}

// encoded reads the states of a text.
func (j *Judge) encoded(w want, states []float32) (e encoded, err error) {
	if e.text, err = j.compare.Text(states); err != nil || j.reader == nil {
		return e, err
	}
	if w.asked {
		e.question, err = j.reader.Question(states)
	} else {
		e.passage, err = j.reader.Passage(states)
	}
	return e, err
}

// shares distributes the indexes of texts to at most n goroutines. Each text, longest first, goes to the goroutine with the least work.
func shares(texts []want, n int) [][]int {
	order := make([]int, len(texts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(texts[b].text) - len(texts[a].text) })
	out := make([][]int, min(n, len(texts)))
	load := make([]int, len(out))
	for _, i := range order {
		least := 0
		for k, l := range load {
			if l < load[least] {
				least = k
			}
		}
		out[least] = append(out[least], i)
		load[least] += len(texts[i].text)
	}
	return out
}
