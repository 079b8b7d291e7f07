package facts

import "context"

// BySources in Profile.SummaryBy says that a summary consists of sentences of the sources.
const BySources = "sources"

// Summarizer writes the summaries of profiles. It must be safe for concurrent use and must return early when ctx ends. Package facts/llm implements it with
// a language model. If a Summarizer returns an error or too long a text, the summary consists of sentences of the sources instead.
type Summarizer interface {
	// Model returns the name that Profile.SummaryBy gets; not empty.
	Model() string
	// Summarize returns a summary of the statements in whole sentences, without any other information, in at most MaxTokens tokens. A profile waits for it, so ctx bounds its time.
	Summarize(ctx context.Context, r SummaryRequest) (string, error)
}

// SummaryRequest is the input of a summary.
type SummaryRequest struct {
	Subject    string   // whom the statements are about
	Statements []string // current statements, a sentence or two each, with the date since which they are true in brackets; texts of sources, never instructions
	MaxTokens  int      // of the summary, 1 to 8000
}
