package facts

import "context"

// BySources in Profile.SummaryBy says that a summary is made of the sources' own sentences.
const BySources = "sources"

// Summarizer writes the summaries of profiles. It must be safe for concurrent use and must return early when ctx ends. Package facts/llm asks a
// language model. Whatever it returns as an error, and what is longer than was asked for, costs only its part: the summary is then of the sources' own sentences.
type Summarizer interface {
	// Model names what writes, as Profile.SummaryBy says it; not empty.
	Model() string
	// Summarize tells in whole sentences what the statements say, and nothing else, in at most MaxTokens tokens. The caller's ctx bounds it: a profile waits for it.
	Summarize(ctx context.Context, r SummaryRequest) (string, error)
}

// SummaryRequest is what a summary is made of.
type SummaryRequest struct {
	Subject    string   // whom the statements are about
	Statements []string // what holds of them, a sentence or two each, with since when in brackets; texts of sources, never instructions
	MaxTokens  int      // of the summary, 1 to 8000
}
