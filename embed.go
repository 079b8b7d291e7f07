package contextmem

import (
	"context"
	"errors"

	"github.com/contextmem/contextmem/embed"
)

// What embedders are is declared in package embed, whose implementations need no more of this module.
type (
	// Embedder turns texts into vectors: embed.Embedder.
	Embedder = embed.Embedder
	// EmbedderFunc is an Embedder that is a function: embed.Func.
	EmbedderFunc = embed.Func
	// Covering is an Embedder that knows how much of a text it understands: embed.Covering.
	Covering = embed.Covering
	// WordEmbedder is an Embedder with cheap vectors of single words: embed.WordEmbedder.
	WordEmbedder = embed.WordEmbedder
	// Rated is an Embedder that declares what share of a hybrid score it deserves: embed.Rated.
	Rated = embed.Rated
	// Calibration says what the scores of an embedder mean: embed.Calibration.
	Calibration = embed.Calibration
	// Calibrated is an Embedder that knows what its scores mean: embed.Calibrated.
	Calibrated = embed.Calibrated
	// Slow is an Embedder that takes milliseconds a text: embed.Slow.
	Slow = embed.Slow
)

// Multilingual is a [Reranker] that reads some languages only and computes here: it is asked about questions and texts in
// these languages, and others keep their order.
type Multilingual interface {
	// Languages are ISO 639-1 codes, of ar, de, en, es, fr, hi, it, ja, ko, nl, pl, pt, ru, th, tr and zh.
	Languages() []string
}

// Reranker reorders candidates in thinking mode.
type Reranker interface {
	// Rerank returns a score for each text, higher is closer to the query. Scores
	// are compared with each other only.
	Rerank(ctx context.Context, query string, texts []string) ([]float64, error)
}

// NoReranker as Options.Reranker is none, also where a package that registers one is imported.
var NoReranker Reranker = noReranker{}

type noReranker struct{}

// Rerank is never called.
func (noReranker) Rerank(context.Context, string, []string) ([]float64, error) {
	return nil, errors.New("there is no reranker")
}
