package contextmem

import "context"

// Embedder turns texts into vectors. It must be safe for concurrent use.
//
// An Embedder may also implement [Covering] and [WordEmbedder].
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
	// word to dst; false when the model does not know it.
	AppendWord(dst []float32, word string) ([]float32, bool)
}

// Rated is an Embedder that declares what share of a hybrid score its dense part
// deserves, in (0,1], when alpha is left at its default of 0.8. Without it
// contextmem assumes a sentence model of ordinary quality: 0.8 for both.
type Rated interface {
	Strength() (memory, knowledge float64)
}

// Reranker reorders candidates in thinking mode.
type Reranker interface {
	// Rerank returns a score for each text, higher is closer to the query. Scores
	// are compared with each other only.
	Rerank(ctx context.Context, query string, texts []string) ([]float64, error)
}
