package servicetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/contextmem/contextmem/embed/static"
)

// Gate is an embedder that a test can make wait or fail.
type Gate struct {
	*static.Embedder
	mu   sync.Mutex
	wait chan struct{} // nil: open
	fail error
	Only string // texts that fail; empty: all
	Told func() // called when documents are to be embedded; nil: not called
}

func NewGate() *Gate { return &Gate{Embedder: static.New()} }

func (g *Gate) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	g.mu.Lock()
	wait, fail, told := g.wait, g.fail, g.Told
	if g.Only != "" && !slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, g.Only) }) {
		fail = nil
	}
	g.mu.Unlock()
	if told != nil {
		told()
	}
	if wait != nil {
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if fail != nil {
		return nil, fail
	}
	return g.Embedder.EmbedDocuments(ctx, texts)
}

func (g *Gate) Set(wait chan struct{}, fail error) {
	g.mu.Lock()
	g.wait, g.fail = wait, fail
	g.mu.Unlock()
}

// HangingEmbedder is an embedder that ignores its context.
type HangingEmbedder struct {
	*static.Embedder
	Release chan struct{}
}

func (h *HangingEmbedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	<-h.Release
	return h.Embedder.EmbedDocuments(ctx, texts)
}

// OtherEmbedder is an embedder with another identity.
type OtherEmbedder struct {
	*Gate
	Name string
	Size int // of the vectors, at most that of the Gate
}

func (r OtherEmbedder) Model() string { return r.Name }

func (r OtherEmbedder) Dim() int { return r.Size }

func (r OtherEmbedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	out, err := r.Gate.EmbedDocuments(ctx, texts)
	for i := range out {
		out[i] = out[i][:r.Size]
	}
	return out, err
}

func (r OtherEmbedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	v, err := r.Gate.EmbedQuery(ctx, text)
	if err != nil {
		return nil, err
	}
	return v[:r.Size], nil
}

// RotatedEmbedder is an embedder whose vectors are those of the static one with the coordinates rotated. Alone it ranks
// alike; its vectors are unrelated to those of another rotation.
type RotatedEmbedder struct {
	*static.Embedder
	places int
	Texts  atomic.Int64 // embedded so far
	Fail   atomic.Bool
}

func NewRotated(places int) *RotatedEmbedder {
	return &RotatedEmbedder{Embedder: static.New(), places: places}
}

func (e *RotatedEmbedder) Model() string { return fmt.Sprint("turned/", e.places) }

func (e *RotatedEmbedder) rotate(v []float32) []float32 {
	return append(slices.Clone(v[e.places:]), v[:e.places]...)
}

func (e *RotatedEmbedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	if e.Fail.Load() {
		return nil, errors.New("out of reach")
	}
	out, err := e.Embedder.EmbedDocuments(ctx, texts)
	for i := range out {
		out[i] = e.rotate(out[i])
	}
	e.Texts.Add(int64(len(texts)))
	return out, err
}

func (e *RotatedEmbedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	v, err := e.Embedder.EmbedQuery(ctx, text)
	if err != nil {
		return nil, err
	}
	return e.rotate(v), nil
}

// AppendWord hides that of the static embedder, whose words are not rotated.
func (e *RotatedEmbedder) AppendWord(dst []float32, _ string) ([]float32, bool) { return dst, false }
