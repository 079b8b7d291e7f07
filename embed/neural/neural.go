// Package neural embeds texts with a transformer encoder that runs inside the
// process: BERT and XLM-RoBERTa models, their matrices in 8 bits, without cgo and
// without anything to install.
//
// [Load] reads a Hugging Face directory: config.json, tokenizer.json (WordPiece or SentencePiece unigram) and model.safetensors
// (float32, float16, bfloat16, or quantised already). From the files of sentence-transformers it takes the pooling, the prompts and
// the maximum length. Models that come with contextmem are packages of their own, which call [New] with their embedded files.
package neural

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/contextmem/contextmem/internal/checkpoint"
	"github.com/contextmem/contextmem/internal/tokenize"
	"github.com/contextmem/contextmem/internal/transformer"
)

// Embedder turns texts into vectors of unit length. It is safe for concurrent use;
// a call runs on the goroutine that makes it.
type Embedder struct {
	model       string
	set         settings
	files       *checkpoint.Checkpoint
	tokenizer   *tokenize.Tokenizer
	load        func() (*transformer.Model, error)
	calibration *Calibration
	queries     *lru.Cache[string, []float32] // nil when queries are not cached
}

// Load opens the model in a directory and loads its weights. The weights stay mapped until [Embedder.Close]. A nil o means the
// defaults. Load reads all weights to compute the model's identity, unless o gives their SHA-256.
func Load(dir string, o *Options) (*Embedder, error) {
	hints, err := readHints(dir)
	if err != nil {
		return nil, fmt.Errorf("neural: %w", err)
	}
	files, err := checkpoint.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("neural: %w", err)
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("neural: %w", err), files.Close())
	}
	e, err := open(files, hints, filepath.Base(absolute), o)
	if err == nil {
		_, err = e.load()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("neural: %w", err), files.Close())
	}
	return e, nil
}

// Files are the contents of a model's files in memory. They must not change: weights and a compact tokeniser are read in place.
type Files struct {
	Config      []byte // config.json
	Tokenizer   []byte // tokenizer.json, or its compact form
	Weights     []byte // model.safetensors
	Calibration []byte // calibration.json; may be nil
	Over        []byte // optional safetensors file of a fine-tuned model; its tensors replace those of Weights
}

// New makes an embedder of files in memory. The first text loads the weights, which takes tens of milliseconds for a model of 20
// million parameters. Options.Model is required.
func New(f Files, o *Options) (*Embedder, error) {
	if o == nil || o.Model == "" {
		return nil, errors.New("neural: Options.Model is required")
	}
	files, err := checkpoint.New(checkpoint.Files{Config: f.Config, Tokenizer: f.Tokenizer, Weights: f.Weights, Over: f.Over})
	if err != nil {
		return nil, fmt.Errorf("neural: %w", err)
	}
	e, err := open(files, hints{calibration: f.Calibration}, "", o)
	if err != nil {
		return nil, fmt.Errorf("neural: %w", err)
	}
	return e, nil
}

// CacheIn lets models from [New], and those of package rerank/neural, store their packed matrices in files of dir, about one byte per
// weight. Without it each process packs the matrices when a model reads its first text, in tens of milliseconds, and keeps them in its
// own memory. With it the first process packs them, and all processes map the files and share their pages.
//
// CacheIn creates dir if it is missing. Call it before the models are used; "" ends the caching for models that have not read a text
// yet. Where a file cannot be written, the matrices are packed in memory. Files that no model reads any more are not deleted.
func CacheIn(dir string) error {
	if err := checkpoint.CacheIn(dir); err != nil {
		return fmt.Errorf("neural: folder of the cache: %w", err)
	}
	return nil
}

// CacheInHome is [CacheIn] for programs. The folder is dir; "" means contextmem/models below [os.UserCacheDir], "none" means no cache.
// Without a writable cache folder of the user, matrices are packed in memory. A dir that cannot be created is an error.
func CacheInHome(dir string) error {
	switch dir {
	case "none":
		return CacheIn("")
	case "":
		users, err := os.UserCacheDir()
		if err != nil || CacheIn(filepath.Join(users, "contextmem", "models")) != nil {
			return CacheIn("")
		}
		return nil
	}
	return CacheIn(dir)
}

func open(files *checkpoint.Checkpoint, h hints, name string, o *Options) (*Embedder, error) {
	if o == nil {
		o = &Options{}
	}
	set, err := complete(*o, h, files)
	if err != nil {
		return nil, err
	}
	e := &Embedder{set: set, files: files, tokenizer: files.Tokenizer, load: sync.OnceValues(files.Load)}
	if len(h.calibration) > 0 {
		if e.calibration, err = readCalibration(h.calibration, e.Dim()); err != nil {
			return nil, err
		}
	}
	if set.cache > 0 {
		if e.queries, err = lru.New[string, []float32](set.cache); err != nil {
			return nil, err
		}
	}
	if o.Model != "" {
		name = o.Model
	}
	hash := o.WeightsSHA256
	if hash == "" {
		hash = files.Hash()
	}
	e.model = name + "/" + set.fingerprint(hash)
	return e, nil
}

// fingerprint is eight hexadecimal digits that change whenever the vectors of documents may change: with the weights and with the
// settings.
func (s *settings) fingerprint(weights string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d %t %q", weights, s.pooling, s.maxTokens, s.lower, s.documentPrefix))
	return hex.EncodeToString(sum[:4])
}

// Close unmaps the weights of a model from [Load]; the embedder must not be used afterwards. It does nothing for a model from [New].
func (e *Embedder) Close() error { return e.files.Close() }

// Model is the name of the model and a fingerprint of its weights, its pooling, its
// document prefix and its greatest length: "multilingual-e5-small/1f2e3d4c". Vectors of
// different models must not be compared.
func (e *Embedder) Model() string { return e.model }

// Dim is the number of dimensions of every vector.
func (e *Embedder) Dim() int { return e.files.Config.Hidden }

// MaxTokens is the maximum number of tokens in one input, prefix and special tokens included. Longer texts are embedded in overlapping
// windows.
func (e *Embedder) MaxTokens() int { return e.set.maxTokens }

// Calibration describes the distribution of the model's scores; nil if it was not measured.
func (e *Embedder) Calibration() *Calibration { return e.calibration }

// Slow returns true: a text takes milliseconds, so texts become searchable by faster vectors first.
func (e *Embedder) Slow() bool { return true }

// Coverage is the share of the tokens of text that are in the model's vocabulary, in [0,1]; 0 if text has no tokens.
func (e *Embedder) Coverage(text string) float64 {
	ids := e.tokenizer.Append(nil, text)
	known := 0
	for _, id := range ids {
		if id != e.tokenizer.Unknown() {
			known++
		}
	}
	if len(ids) == 0 {
		return 0
	}
	return float64(known) / float64(len(ids))
}

// EmbedDocuments returns one vector of unit length per text, in order: [len(texts)][Dim]float32. A text of white space alone has the
// zero vector. The errors are those of ctx, and of weights that are found to be damaged.
func (e *Embedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	return e.embed(ctx, e.set.documentPrefix, texts)
}

// EmbedQuery returns the vector of a query, [Dim]float32 of unit length; see EmbedDocuments. The most recent queries are cached with
// their vectors.
func (e *Embedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	remember := e.queries != nil && len(text) <= maxCachedBytes
	if remember {
		if v, ok := e.queries.Get(text); ok {
			return append([]float32(nil), v...), nil
		}
	}
	vs, err := e.embed(ctx, e.set.queryPrefix, []string{text})
	if err != nil {
		return nil, err
	}
	if remember {
		e.queries.Add(strings.Clone(text), append([]float32(nil), vs[0]...))
	}
	return vs[0], nil
}

// embed embeds texts, each with a prefix.
func (e *Embedder) embed(ctx context.Context, prefix string, texts []string) ([][]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m, err := e.load()
	if err != nil {
		return nil, fmt.Errorf("neural: %w", err)
	}
	out := make([][]float32, len(texts))
	all := make([]float32, len(texts)*e.Dim())
	var windows [][]int32
	var owners []int // index of the text of each window
	for i, text := range texts {
		out[i] = all[i*e.Dim() : (i+1)*e.Dim() : (i+1)*e.Dim()]
		for _, w := range e.windows(prefix, text) {
			windows, owners = append(windows, w), append(owners, i)
		}
		// Many windows are embedded in batches, to bound the memory for tokens.
		if len(windows) >= maxWaiting || i == len(texts)-1 {
			if err := e.add(ctx, m, out, windows, owners); err != nil {
				return nil, err
			}
			windows, owners = windows[:0], owners[:0]
		}
	}
	for _, v := range out {
		normalise(v)
	}
	return out, nil
}

// maxWaiting is the number of windows in one batch.
const maxWaiting = 1024

// windows makes the model's inputs of a text, none if it is empty.
func (e *Embedder) windows(prefix, text string) [][]int32 {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	text = prefix + text
	if e.set.lower {
		text = strings.ToLower(text)
	}
	return e.tokenizer.Windows(e.tokenizer.Append(nil, text), e.set.maxTokens, e.set.overlap)
}

// add adds the vectors of windows, each weighted by its number of tokens, to the vectors of their texts. owners gives the text of each
// window.
func (e *Embedder) add(ctx context.Context, m *transformer.Model, out [][]float32, windows [][]int32, owners []int) error {
	vs, err := m.Encode(ctx, windows, e.set.pooling)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("neural: %w", err)
	}
	for i, v := range vs {
		to, weight := out[owners[i]], float32(len(windows[i]))
		for k, x := range v {
			to[k] += weight * x
		}
	}
	return nil
}

// normalise gives v unit length; the zero vector stays.
func normalise(v []float32) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return
	}
	f := 1 / math.Sqrt(sum)
	for i, x := range v {
		v[i] = float32(float64(x) * f)
	}
}
