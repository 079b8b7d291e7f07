package contextmem

import (
	"context"
	"errors"
	"math"

	"github.com/contextmem/contextmem/internal/rank"
)

// Embedder turns texts into vectors. It must be safe for concurrent use.
//
// An Embedder may also implement [Covering], [WordEmbedder], [Rated], [Calibrated] and [Slow].
type Embedder interface {
	// Model identifies model and weights, for example "static-en-128/1". It is
	// stored with each tenant; another identity at a later open is an error.
	Model() string
	// Dim is the length of every vector, 1 to 4096.
	Dim() int
	// EmbedDocuments returns a [Dim]float32 vector for each text, in order.
	EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error)
	// EmbedQuery returns a [Dim]float32 vector. The score of a document is the
	// inner product of the two vectors.
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

// Covering is an Embedder that knows how much of a text it understands.
type Covering interface {
	// Coverage is the share of the text's content words that the model knows, in [0,1].
	Coverage(text string) float64
}

// WordEmbedder is an Embedder with cheap vectors of single words, which recall
// uses for late interaction in thinking mode.
type WordEmbedder interface {
	// AppendWord appends the L2-normalised [Dim]float32 vector of a lower-case
	// word to dst, and reports whether the model knows the word.
	AppendWord(dst []float32, word string) ([]float32, bool)
}

// Rated is an Embedder that declares what share of a hybrid score its dense part
// deserves, in (0,1], when alpha is left at its default of 0.8. Without it
// contextmem assumes a sentence model of ordinary quality: 0.8 for both.
type Rated interface {
	Strength() (memory, knowledge float64)
}

// Calibration says what the scores of an embedder mean, measured on pairs of texts.
type Calibration = struct {
	// QueryMean and DocumentMean are the mean vectors of queries and of documents, [Dim]float32.
	QueryMean, DocumentMean []float32
	// UnrelatedMean and UnrelatedStd are mean and standard deviation of the scores of pairs that do not belong together,
	// RelatedMean and RelatedStd of pairs that do, after the means were subtracted and the vectors normalised again.
	UnrelatedMean, UnrelatedStd, RelatedMean, RelatedStd float32
}

// Calibrated is an Embedder with normalised vectors that knows what its scores mean. Recall then weighs a text by how far
// it stands above unrelated ones, not by its share of the best score. Nil is no calibration.
type Calibrated interface{ Calibration() *Calibration }

// unrelated returns how the scores of texts lie that have nothing to do with each other, nil for no calibration. The mean
// inner product of independent vectors is that of their means; the deviations of centred unit vectors shrink by what the
// means take of their length.
func unrelated(c *Calibration) *rank.Spread {
	if c == nil || len(c.QueryMean) == 0 || len(c.QueryMean) != len(c.DocumentMean) || c.UnrelatedStd <= 0 {
		return nil
	}
	mean, query, document := 0.0, 0.0, 0.0
	for i, q := range c.QueryMean {
		d := float64(c.DocumentMean[i])
		mean, query, document = mean+float64(q)*d, query+float64(q)*float64(q), document+d*d
	}
	left := math.Sqrt(max(0, 1-query) * max(0, 1-document))
	return &rank.Spread{Mean: mean, Std: max(.001, float64(c.UnrelatedStd)*left)}
}

// Slow is an Embedder that takes milliseconds a text: see Options.FastEmbedder.
type Slow interface {
	// Slow reports whether it does.
	Slow() bool
}

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
