package facts

// Block is a result as a text for a prompt.
type Block struct {
	Text    string
	Tokens  int       // of Text, estimated on the safe side
	Sources []string  // ids of the sources that are quoted: [1] in Text is the first
	Dropped []Dropped // what did not fit, best first
}

// Dropped is a passage that did not fit into a [Block].
type Dropped struct {
	SourceID string
	Tokens   int // that it would have taken
}
