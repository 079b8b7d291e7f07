package recall

import "github.com/contextmem/contextmem/internal/lazyregexp"

// happenedVerb matches verbs of a question for what was or happened.
var happenedVerb = lazyregexp.New(`(?i)\b(did|was|were|had|didn['’]t|wasn['’]t|weren['’]t)\b`)

// nowVerb matches words of a question that also asks for what is so now, or will be.
var nowVerb = lazyregexp.New(`(?i)\b(do|does|is|are|am|will|shall|should|have|has|can|could|would|still|now|currently|these days|['’](s|re|m))\b`)

// lastStateAsked matches questions that a later memory may answer otherwise although they are in the past: whether something came about, what came of it in
// the end, and when or how something was that may have been moved or called off.
var lastStateAsked = lazyregexp.New(`(?i)^\W*((so|and|but|then|ok|okay) )*((did|was|were|had|didn['’]t|wasn['’]t|weren['’]t)\b|(when|how|on (what|which) (day|date)|(what|which) (day|date)) (was|were)\b)` +
	`|\b(actually|really|end(ed)? up|in the end|final|finally|eventually|ever|at last|after all)\b`)

// asksWhatHappened reports whether an English question asks for what was or happened, "how old was I when I stopped?". What was told later seldom
// replaces that, so uncertain hints about it are mostly wrong.
func asksWhatHappened(question string) bool {
	return happenedVerb.MatchString(question) && !nowVerb.MatchString(question) && !lastStateAsked.MatchString(question)
}
