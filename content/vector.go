package content

// Vector is a vector that the caller made.
type Vector struct {
	ChunkID string
	Vector  []float32 // the tenant's dimension, finite numbers
}

// VectorSource groups vectors under a source id.
type VectorSource struct {
	SourceID string
	Metadata map[string]any
	Vectors  []Vector // at least one
}

// VectorHit is a vector found.
type VectorHit struct {
	SourceID string
	ChunkID  string
	Vector   []float32 // only when asked for
	Score    float64   // cosine similarity, higher is closer
	Distance float64   // 1 - Score
	Metadata map[string]any
}

// InsertVectorsRequest is what InsertVectors takes: at most 2000 vectors in all.
type InsertVectorsRequest struct {
	Sources []VectorSource
	Upsert  bool // replace existing source ids; without it an existing one is fault.ErrExists
}

// SearchVectorsRequest asks for the vectors nearest to a query by cosine similarity.
type SearchVectorsRequest struct {
	Vector      []float32
	Limit       int            // 1 to 1000; default 10
	Metadata    map[string]any // equality
	WithVectors bool
	Recall      float64 // share of the nearest that is found on average in large sub-tenants, .9 to 1; default Options.VectorRecall
	Exact       bool    // find all of the nearest, whatever it takes
}

// VectorSelection names vectors: exactly one of the two.
type VectorSelection struct {
	SourceID string
	ChunkIDs []string
}
