package facts

// Block is the text of a result for a prompt.
type Block struct {
	Text    string
	Tokens  int       // of Text; an estimate that is rather too high
	Sources []string  // ids of the sources that are quoted: [1] in Text is the first
	Dropped []Dropped // passages that did not fit, best first
}

// Dropped is a passage that did not fit into a [Block].
type Dropped struct {
	SourceID string
	Tokens   int // size of the passage in tokens
}
