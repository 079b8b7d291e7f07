// Package checkpoint opens the parts of a transformer model (config.json, tokeniser and weights) from a Hugging Face directory or from
// memory.
package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/contextmem/contextmem/internal/tokenize"
	"github.com/contextmem/contextmem/internal/transformer"
)

// Names of the files in a directory.
const (
	ConfigFile        = "config.json"
	TokenizerFile     = "tokenizer.json"
	CompactTokenizer  = "tokenizer.bin" // in the compact form; preferred to tokenizer.json
	WeightsFile       = "model.safetensors"
	shardedIndex      = WeightsFile + ".index.json"
	maxConfigBytes    = 1 << 20
	maxTokenizerBytes = 256 << 20
)

// Files are the bytes of a model. They must not change while the model is used: weights and a compact tokeniser are read in place.
type Files struct {
	Config    []byte // config.json
	Tokenizer []byte // tokenizer.json, or its compact form
	Weights   []byte // model.safetensors
	Over      []byte // optional safetensors file whose tensors replace those of Weights
}

// Checkpoint is a model whose weights are not loaded yet.
type Checkpoint struct {
	Config    transformer.Config
	Tokenizer *tokenize.Tokenizer

	weights, over []byte
	unmap         func() error // nil if nothing is mapped
	cached        bool         // see CacheIn
}

// Open opens a directory and maps its weights. Errors contain the names of files without their directory.
func Open(dir string) (*Checkpoint, error) {
	config, err := Read(dir, ConfigFile, maxConfigBytes)
	if err != nil {
		return nil, err
	}
	tokenizer, err := Read(dir, CompactTokenizer, maxTokenizerBytes)
	if errors.Is(err, fs.ErrNotExist) {
		tokenizer, err = Read(dir, TokenizerFile, maxTokenizerBytes)
	}
	if err != nil {
		return nil, err
	}
	weights, unmap, err := mapFile(filepath.Join(dir, WeightsFile))
	if errors.Is(err, fs.ErrNotExist) {
		if _, e := os.Stat(filepath.Join(dir, shardedIndex)); e == nil {
			return nil, fmt.Errorf("%s: weights in several files are not supported", shardedIndex)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", WeightsFile, bare(err))
	}
	c, err := New(Files{Config: config, Tokenizer: tokenizer, Weights: weights})
	if err != nil {
		return nil, errors.Join(err, unmap())
	}
	c.unmap, c.cached = unmap, false
	return c, nil
}

// New makes a checkpoint from bytes in memory.
func New(f Files) (*Checkpoint, error) {
	config, err := transformer.ReadConfig(f.Config)
	if err != nil {
		return nil, err
	}
	c := &Checkpoint{Config: config, weights: f.Weights, over: f.Over, cached: true}
	if tokenize.IsCompact(f.Tokenizer) {
		c.Tokenizer, err = tokenize.Open(f.Tokenizer)
	} else {
		c.Tokenizer, err = tokenize.FromJSON(f.Tokenizer)
	}
	if err != nil {
		return nil, err
	}
	if c.Tokenizer.Size() > config.Vocab {
		return nil, fmt.Errorf("the tokeniser has %d ids, the model only %d", c.Tokenizer.Size(), config.Vocab)
	}
	return c, nil
}

// Load makes a model from the weights.
func (c *Checkpoint) Load() (*transformer.Model, error) {
	if over := c.panels(); len(over) > 0 {
		if m, err := transformer.Load(c.Config, c.weights, over...); err == nil {
			return m, nil
		}
	}
	return transformer.Load(c.Config, c.weights, c.over)
}

// Hash returns the SHA-256 of the weights in hex. It reads all of them.
func (c *Checkpoint) Hash() string {
	h := sha256.New()
	h.Write(c.weights)
	h.Write(c.over)
	return hex.EncodeToString(h.Sum(nil))
}

// Close unmaps the weights. No model loaded from them may be used afterwards.
func (c *Checkpoint) Close() error {
	if c.unmap == nil {
		return nil
	}
	unmap := c.unmap
	c.unmap = nil
	return unmap()
}

// Read reads a file of a directory that has at most limit bytes. Errors contain the name of the file without its directory; a missing
// file is fs.ErrNotExist.
func Read(dir, name string, limit int64) ([]byte, error) {
	path := filepath.Join(dir, filepath.FromSlash(name))
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, bare(err))
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s: %d bytes, want at most %d", name, info.Size(), limit)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, bare(err))
	}
	return data, nil
}

// bare returns err without the path.
func bare(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
