package content

// Explain holds the parts of a score. Parts that did not apply are 0; Score is
// their sum before recency, boosts and weights of sub-tenants are applied.
type Explain struct {
	Semantic   float64 // weighted dense part, in [0,1]
	Keyword    float64 // weighted keyword part, in [0,1]
	Context    float64 // neighbours, reply and session
	Speaker    float64 // the question names the speaker
	Time       float64 // the memory's date matches a date of the question; below 0: the memory only names a condition, and the question asks what happened
	Entity     float64 // entities shared with the query
	Graph      float64 // walk over the entity graph
	Bridge     float64 // second hop
	Expansion  float64 // terms that the best passages share
	Late       float64 // similarity of the question's words to the nearest words of the chunk
	Rerank     float64 // change by Options.Reranker
	App        float64 // part of the search for app items
	Recency    float64 // gain or loss by recency
	Forgetting float64 // gain or loss by use and age, see Options.Forgetting
	Succession float64 // gain from memories that it supersedes, or loss to memories that supersede it
	Feedback   float64 // boosts, see Options.FeedbackBoosts
	RawDense   float64 // inner product
	RawKeyword float64 // BM25
	Refined    bool    // RawDense is a score of Options.Embedder; false: of Options.FastEmbedder, or there is only one embedder
}
