package contextmem

import (
	"context"
	"errors"

	"github.com/contextmem/contextmem/embed"
)

// Types of embedders. They are declared in package embed, so that implementations need not import this package.
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
	// Calibration maps the scores of an embedder to their meaning: embed.Calibration.
	Calibration = embed.Calibration
	// Calibrated is an Embedder that knows what its scores mean: embed.Calibrated.
	Calibrated = embed.Calibrated
	// Slow is an Embedder that takes milliseconds a text: embed.Slow.
	Slow = embed.Slow
)

// Multilingual is a [Reranker] that runs in this process and supports only some languages. It is called only for questions and
// texts in these languages; other texts keep their order.
type Multilingual interface {
	// Languages returns the supported languages as ISO 639-1 codes, out of ar, de, en, es, fr, hi, it, ja, ko, nl, pl, pt, ru, th, tr and zh.
	Languages() []string
}

// Reranker reorders candidates in thinking mode.
type Reranker interface {
	// Rerank returns a score for each text. A higher score means closer to the query. Scores
	// are comparable only within one call.
	Rerank(ctx context.Context, query string, texts []string) ([]float64, error)
}

// NoReranker as Options.Reranker means no reranker, even if an imported package registers one.
var NoReranker Reranker = noReranker{}

type noReranker struct{}

// Rerank is never called.
func (noReranker) Rerank(context.Context, string, []string) ([]float64, error) {
	return nil, errors.New("there is no reranker")
}
