// Package transformer runs BERT and XLM-RoBERTa encoders: it turns texts, given as token
// ids, into pooled vectors or into the logits of a sequence classifier.
//
// Weights are int8 with one scale per output channel. Activations are quantised row by row to 8 bits over the range of the row, and
// multiplied exactly in 32-bit integers. Everything between the matrix products is float32. The texts of a call are processed one
// after the other in one batch without padding.
//
// The inner loops have a portable Go version and assembly for the levels of package
// simd: AVX-512 with VNNI, AVX2 with FMA (and AVX-VNNI where the processor has it), NEON with
// the dot product extension. The integer products are the same on all; float32 results
// differ in their last bits, because sums are taken in another order.
package transformer

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Pooling is how the vectors of a text's tokens become the vector of the text.
type Pooling int

// The poolings.
const (
	PoolMean Pooling = iota // the mean over all tokens, special tokens included
	PoolCLS                 // the vector of the first token
)

// Model is an encoder that is ready to run. It is safe for concurrent use; a call runs on the goroutine that makes it.
type Model struct {
	cfg       Config
	words     table
	positions table
	types     table // has no rows if the model has no token types
	norm      norm
	layers    []layer
	head      *classifier // nil for an encoder without a head

	k       *kernels
	scratch sync.Pool // *scratch
}

// layer is one encoder layer.
type layer struct {
	qkv     *linear // queries, keys and values side by side; the weights of the queries include the factor 1/sqrt(head size)
	project *linear // of the attention's result
	norm1   norm
	up      *linear
	down    *linear
	norm2   norm
}

// Config returns what the model was loaded with.
func (m *Model) Config() Config { return m.cfg }

// MaxTokens returns how many tokens, special tokens included, a text may have.
func (m *Model) MaxTokens() int { return m.cfg.MaxTokens() }

// Encode returns one vector of Hidden values, not normalised, for each text. A text is
// its token ids, special tokens included: 1 to MaxTokens of them. Encode stops
// with ctx's error between layers.
func (m *Model) Encode(ctx context.Context, texts [][]int32, pool Pooling) ([][]float32, error) {
	if pool != PoolMean && pool != PoolCLS {
		return nil, errors.New("pooling must be PoolMean or PoolCLS")
	}
	if err := m.check(texts, nil); err != nil {
		return nil, err
	}
	out := vectors(len(texts), m.cfg.Hidden)
	err := m.run(ctx, texts, nil, m.layers, pool == PoolCLS, func(s *scratch, first int) {
		for i, span := range s.spans {
			s.pool(out[first+i], span, pool)
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Classify returns the Labels logits of each text. types has the token types of each text's tokens, or is nil if all are 0. Classify checks
// ctx between layers and returns its error.
func (m *Model) Classify(ctx context.Context, texts, types [][]int32) ([][]float32, error) {
	if m.head == nil {
		return nil, errors.New("the model has no classification head")
	}
	if err := m.check(texts, types); err != nil {
		return nil, err
	}
	out := vectors(len(texts), m.cfg.Labels)
	err := m.run(ctx, texts, types, m.layers, true, func(s *scratch, first int) {
		m.head.logits(m.k, s, out[first:][:len(s.spans)])
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// vectors returns n vectors of a width, in one block of memory.
func vectors(n, width int) [][]float32 {
	block, out := make([]float32, n*width), make([][]float32, n)
	for i := range out {
		out[i] = block[i*width : (i+1)*width : (i+1)*width]
	}
	return out
}

// check reports the first text that the model cannot run.
func (m *Model) check(texts, types [][]int32) error {
	if types != nil && len(types) != len(texts) {
		return errors.New("types must be nil or have one entry per text")
	}
	for i, text := range texts {
		if len(text) < 1 || len(text) > m.MaxTokens() {
			return fmt.Errorf("text %d has %d tokens, must have 1 to %d", i, len(text), m.MaxTokens())
		}
		for _, id := range text {
			if id < 0 || int(id) >= m.cfg.Vocab {
				return fmt.Errorf("text %d has a token outside the vocabulary", i)
			}
		}
		if types == nil {
			continue
		}
		if len(types[i]) != len(text) {
			return fmt.Errorf("text %d has %d tokens and %d token types", i, len(text), len(types[i]))
		}
		for _, t := range types[i] {
			if t != 0 && (t < 0 || int(t) >= m.cfg.TypeVocab) {
				return fmt.Errorf("text %d has a token type outside the model's", i)
			}
		}
	}
	return nil
}
