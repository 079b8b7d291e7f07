// Package judge is the contract of models that compare texts. A judge decides whether a later statement supersedes an earlier one, and
// whether a passage answers a question. With a judge, recalls rank current memories before superseded ones more reliably, and recognise
// questions without an answer. Without a judge, rules decide.
package judge

import (
	"context"
	"time"
)

// Statement is one thing that somebody said.
type Statement struct {
	// Text is the statement: a message, or a clause of one.
	Text string
	// Before is the preceding message of the same conversation, as context. It may be empty.
	Before string
	// Time is when it was said; zero if unknown.
	Time time.Time
}

// Pair is two statements of one person, of which Later was said after Earlier.
type Pair struct {
	Earlier, Later Statement
}

// Judge decides about statements and answers. It must be safe for concurrent use and must return early when ctx ends.
type Judge interface {
	// Model returns the name of the model and the version of its weights. Decisions of another model may be made again.
	Model() string
	// Replaces returns, for each pair, the probability in [0, 1] that the earlier statement no longer holds because of the later one. The
	// probabilities are calibrated: of pairs given .9, nine in ten are so.
	Replaces(ctx context.Context, pairs []Pair) ([]float64, error)
	// Answers returns, for each passage, the probability in [0, 1] that it answers the question. The probabilities are calibrated, so that
	// they can be compared between questions.
	Answers(ctx context.Context, question string, passages []string) ([]float64, error)
}

// Narrow is a Judge that sees only the two texts of a pair. For such a judge the caller adjusts the probability: it is higher if the earlier text is much more
// similar to the later one than other texts are. The probabilities of other judges are used unchanged.
type Narrow interface {
	Judge
	// Narrow reports whether it is one.
	Narrow() bool
}

// Rater is a Judge that rates what a search found apart from passages by themselves.
type Rater interface {
	Judge
	// Rate returns, for each of the best passages that a search found, the probability in [0, 1] that it answers the question. Unlike Answers, it expects
	// passages that are near the question in meaning whether or not one of them answers it, and is made for telling these two cases apart.
	Rate(ctx context.Context, question string, passages []string) ([]float64, error)
}

// Rate calls Rate of a [Rater], and Answers of another judge.
func Rate(ctx context.Context, j Judge, question string, passages []string) ([]float64, error) {
	if r, ok := j.(Rater); ok {
		return r.Rate(ctx, question, passages)
	}
	return j.Answers(ctx, question, passages)
}
