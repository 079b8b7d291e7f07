package recall

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/contextmem/contextmem/internal/lexical"
	"github.com/contextmem/contextmem/internal/pipeline"
)

// Parameters of the probability that a reply of an assistant answers a question too if the message before it does. "Choir on Mondays from next week" does,
// "What silenced you?" does not. Weights are those of a logistic regression on replies in 79 conversations; docs/recall.md names them. The constant term was raised
// until replies count as much as before on average.
const (
	replyConstant = -1.15
	replyDigit    = .8    // the reply has a digit
	replyShared   = 1.74  // share of its words that the message has
	replyAsks     = -1.59 // share of it that asks
)

// logRepeats returns the logarithm of the probability that a reply answers what the message before it answers.
func logRepeats(message, reply string) float64 {
	return -math.Log1p(math.Exp(-repeatLogit(message, reply)))
}

// repeatLogit returns the logit of the probability of logRepeats.
func repeatLogit(message, reply string) float64 {
	reply = reply[len(pipeline.SpeakerOf(reply)):]
	x := replyConstant + replyShared*sharedWords(message, reply) + replyAsks*asking(reply)
	if strings.ContainsAny(reply, "0123456789") {
		x += replyDigit
	}
	return x
}

// empty reports whether a reply says nothing of the message before it, as "Thanks, noted." does, or asks more than it says.
func empty(message, reply string) bool { return repeatLogit(message, reply) <= replyConstant }

// sharedWords returns the share of the different words of a reply that the message has, without words that only carry form.
func sharedWords(message, reply string) float64 {
	said, words := termsOf(message), termsOf(reply)
	if len(words) == 0 {
		return 0
	}
	both := 0
	for _, w := range words {
		if _, has := slices.BinarySearch(said, w); has {
			both++
		}
	}
	return float64(both) / float64(len(words))
}

// termsOf returns the different terms of a text in ascending order.
func termsOf(text string) []string {
	tokens := lexical.Analyze(nil, text)
	terms := make([]string, 0, len(tokens))
	for i := range tokens {
		if !tokens[i].Uncounted() {
			terms = append(terms, tokens[i].Term)
		}
	}
	slices.Sort(terms)
	return slices.Compact(terms)
}

// asking returns the share of a text that is in sentences which end with a question mark.
func asking(text string) float64 {
	asks, start := 0, 0
	for i, c := range text {
		switch c {
		case '.', '!', '。', '！', '।':
			start = i + utf8.RuneLen(c)
		case '?', '？', '؟':
			end := i + utf8.RuneLen(c)
			asks += end - start
			start = end
		}
	}
	return float64(asks) / float64(max(1, len(text)))
}
