package embed

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

// Rated is an Embedder that declares its weight in a hybrid score: the share of the vector part, in (0,1]. Recall uses it when alpha
// has its default of 0.8. For an Embedder that is not Rated, recall uses 0.8 for memories and for knowledge.
type Rated interface {
	Strength() (memory, knowledge float64)
}

// Calibration says what the scores of an embedder mean, measured on pairs of texts.
type Calibration = struct {
	// QueryMean and DocumentMean are the mean vectors of queries and of documents, [Dim]float32.
	QueryMean, DocumentMean []float32
	// UnrelatedMean and UnrelatedStd are the mean and standard deviation of the scores of unrelated pairs. RelatedMean and RelatedStd
	// are those of related pairs. Scores are measured after the mean vectors were subtracted and the vectors normalised again.
	UnrelatedMean, UnrelatedStd, RelatedMean, RelatedStd float32
}

// Calibrated is an Embedder with normalised vectors that knows the distribution of its scores. Recall then weighs a text by how far
// its score exceeds the scores of unrelated texts, not by its share of the best score. A nil Calibration means that there is none.
type Calibrated interface{ Calibration() *Calibration }

// Slow is an Embedder that may need milliseconds for a text: see Options.FastEmbedder.
type Slow interface {
	// Slow reports whether a text takes milliseconds.
	Slow() bool
}

// MemoryEmbedder is an Embedder that uses another model for memories than for files and app content, because spoken remarks differ
// from written documents.
type MemoryEmbedder interface {
	// Memories returns the Embedder of memories and of questions about them. Every call returns the same one; nil means the
	// MemoryEmbedder itself. The returned Embedder has the same Dim and no Memories of its own. Model of the MemoryEmbedder changes
	// when either model changes.
	Memories() Embedder
}

// MemoryQuerier is an Embedder that searches memories with another query vector than knowledge. The answer to a question about a
// person was often said in passing, long before the question.
type MemoryQuerier interface {
	// MemoryQuery returns the [Dim]float32 vector that searches memories, given the vector of EmbedQuery, which it does not change. It
	// must be fast: recall calls it for every query.
	MemoryQuery(query []float32) []float32
}

// SlotReader is an Embedder that recognises which standard slot a question is about: see facts.Slot.
type SlotReader interface {
	// QuestionSlot returns the slot that a question asks about, given the question's [Dim]float32 vector by EmbedQuery, and the
	// probability in [0,1] that the slot is right. The name is "" when the question is about no slot that the Embedder knows. It must
	// be fast: recall calls it for every query.
	QuestionSlot(query []float32) (name string, probability float64)
}

// StatementSlot is a linear classifier that recognises statements about a standard slot: see facts.Slot.
type StatementSlot = struct {
	Name string
	// Vector, [Dim]float32, and Bias give the probability that a statement is about the slot: 1 / (1 + e^-(Vector·d + Bias)), where d
	// is the statement's vector by EmbedDocuments.
	Vector []float32
	Bias   float64
}

// StatementReader is an Embedder that recognises which standard slots a statement is about. For a MemoryEmbedder, the service uses the
// StatementSlots of its Memories.
type StatementReader interface {
	// StatementSlots returns the slots that the Embedder knows, nil for none. Each has its own probability, as a statement may be
	// about several slots. The caller must not change them.
	StatementSlots() []StatementSlot
}
