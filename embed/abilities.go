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

// Slow is an Embedder that takes milliseconds a text: see Options.FastEmbedder.
type Slow interface {
	// Slow reports whether it does.
	Slow() bool
}

// MemoryEmbedder is an Embedder that reads memories with another model than files and app content: what people say in passing is
// another kind of text than what they write down.
type MemoryEmbedder interface {
	// Memories returns the Embedder of memories and of questions to them, the same one at every call, nil for the MemoryEmbedder
	// itself. It has the same Dim and no Memories of its own; Model of the MemoryEmbedder changes with either.
	Memories() Embedder
}

// MemoryQuerier is an Embedder that looks for memories with another vector than for knowledge: what answers a question about a person
// was said in passing, and mostly long before it was asked.
type MemoryQuerier interface {
	// MemoryQuery returns the [Dim]float32 vector by which memories are looked for, given the vector of EmbedQuery, which it does not
	// change. It must cost next to nothing.
	MemoryQuery(query []float32) []float32
}

// SlotReader is an Embedder that learnt what matters questions are about, by the names of standard slots: see facts.Slot.
type SlotReader interface {
	// QuestionSlot returns the slot that a question asks about, given its [Dim]float32 vector by EmbedQuery, "" for none of those that it knows, and
	// the probability in [0,1] that this is right. It must cost next to nothing.
	QuestionSlot(query []float32) (name string, probability float64)
}

// StatementSlot tells which statements are about a standard slot: see facts.Slot.
type StatementSlot = struct {
	Name string
	// Vector, [Dim]float32, and Bias tell the probability of a statement whose vector by EmbedDocuments is d: 1 / (1 + e^-(Vector·d + Bias)).
	Vector []float32
	Bias   float64
}

// StatementReader is an Embedder that learnt what matters statements are about. Of a MemoryEmbedder the Embedder of memories is asked.
type StatementReader interface {
	// StatementSlots returns the slots that it knows, nil for none. They are one by one: a statement may be about several. They must not be changed.
	StatementSlots() []StatementSlot
}
