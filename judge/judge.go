// Package judge is the contract of models that compare what people say: whether a later statement takes the place of an earlier one, and
// whether a passage answers a question. A memory uses such a model to put what holds now before what held once, and to tell questions that it
// can answer from those that it cannot. Everything works without one, by rules.
package judge

import (
	"context"
	"time"
)

// Statement is one thing that somebody said.
type Statement struct {
	// Text is the statement: a message, or a clause of one.
	Text string
	// Before is what was said directly before it in the same conversation, as context. It may be empty.
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
	// Model names the model and the version of its weights; what was decided by another model can be decided anew.
	Model() string
	// Replaces returns, for each pair, the probability in [0, 1] that the earlier statement no longer holds because of the later one. The
	// probabilities are calibrated: of pairs given .9, nine in ten are so.
	Replaces(ctx context.Context, pairs []Pair) ([]float64, error)
	// Answers returns, for each passage, the probability in [0, 1] that it answers the question. The probabilities are calibrated, so that
	// they can be compared between questions.
	Answers(ctx context.Context, question string, passages []string) ([]float64, error)
}

// Narrow is a Judge that sees two texts and nothing else that was said. How far the earlier one stands out among all that is near the later one is then
// weighed in; the probabilities of other judges are taken as they are.
type Narrow interface {
	Judge
	// Narrow reports whether it is one.
	Narrow() bool
}
