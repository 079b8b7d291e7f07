package language

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/simd"
)

// AsksWhatHappened reports whether a question is about something that took place: "when did she move", "has the parcel come".
// Questions about plans, conditions and words do not count. Only English questions are recognised.
func AsksWhatHappened(question string) bool {
	past, words := false, 0
	for i := 0; i < len(question) && words < maxGramWords; i++ {
		var word [maxAsked]byte // the current word in lower case, truncated to maxAsked bytes
		n := 0
		for ; i < len(question); i++ {
			c := question[i]
			if (c|0x20 < 'a' || c|0x20 > 'z') && c != '\'' && !strings.HasPrefix(question[i:], "’") {
				break
			}
			if n < maxAsked {
				word[n] = c | 0x20
			}
			if n++; c >= utf8.RuneSelf {
				i += len("’") - 1
			}
		}
		if n == 0 {
			continue
		}
		words++
		switch string(word[:min(n, maxAsked)]) {
		case "did", "was", "were", "has", "have", "had":
			past = true
		case "would", "could", "should", "might", "will", "if", "unless", "condition", "conditions", "depend", "depends", "depended", "going",
			"plan", "plans", "planned", "planning", "want", "wants", "wanted", "hope", "hopes", "hoped", "hoping", "wish", "wishes", "wished", "intend", "intends", "intended",
			"intention", "intentions", "expect", "expects", "expected", "dream", "dreams", "dreamt", "dreamed", "aim", "aims", "aimed", "consider", "considered", "considering",
			"think", "thinks", "thought", "idea", "ideas", "suggest", "suggested", "say", "said", "says", "tell", "told", "mention", "mentioned", "promise", "promised",
			"supposed", "need", "needed", "needs", "goal", "goals", "scheduled", "ask", "asked":
			return false
		}
	}
	return past
}

// maxAsked is one byte more than the longest word that AsksWhatHappened looks for.
const maxAsked = 12

// maxConditional is the number of bytes of a text that Conditional reads.
const maxConditional = 4096

// Conditional returns the share of a text, in [0,1], that is in sentences which name a condition and report no event: "in June, if
// they sign". Only English text is recognised.
func Conditional(text string) float64 {
	if len(text) > maxConditional {
		text = text[:maxConditional]
	}
	if !NamesCondition(text) {
		return 0
	}
	d := newDocument(text, time.Time{})
	defer d.free()
	d.SplitText()
	d.languages()
	d.ReadClauses()
	all, conditional, at := 0, 0, 0
	for k := range d.Sentences {
		s := &d.Sentences[k]
		words := d.wordsIn(s)
		all += words
		if !d.underCondition(s) {
			continue
		}
		for at < len(d.Clauses) && d.Clauses[at].Lo < s.Lo {
			at++
		}
		told := false
		for ; at < len(d.Clauses) && d.Clauses[at].Lo < s.Hi; at++ {
			told = told || d.reportsEvent(s, &d.Clauses[at])
		}
		if !told {
			conditional += words
		}
	}
	if all == 0 {
		return 0
	}
	return float64(conditional) / float64(all)
}

// NamesCondition reports whether a text has one of the words if, unless and provided, without which [Conditional] is 0. It is much
// faster than Conditional: it searches for a pair of letters of each word.
func NamesCondition(text string) bool {
	return conditionPairs.MayHave(text) && (hasWord(text, 'f', "if", 1) || hasWord(text, 'u', "unless", 0) || hasWord(text, 'U', "unless", 0) || hasWord(text, 'v', "provided", 3))
}

// conditionPairs are pairs of letters that occur in if, unless and provided, and in few other words.
var conditionPairs = simd.Pairs{'i', 'f', 'n', 'l', 'v', 'i'}

// hasWord reports whether a text has word, given in lower case; only the first letter may be a capital in the text. letter is the
// letter of word at index place.
func hasWord(text string, letter byte, word string, place int) bool {
	for from := 0; ; {
		at := strings.IndexByte(text[from:], letter)
		if at < 0 {
			return false
		}
		at += from
		from = at + 1
		start, end := at-place, at-place+len(word)
		if start < 0 || end > len(text) || text[start]|0x20 != word[0] || text[start+1:end] != word[1:] {
			continue
		}
		if (start == 0 || !wordByte(text[start-1])) && (end == len(text) || !wordByte(text[end])) {
			return true
		}
	}
}

// wordByte reports whether a byte is part of an English word.
func wordByte(b byte) bool {
	return 'a' <= b|0x20 && b|0x20 <= 'z' || '0' <= b && b <= '9' || b == '_'
}

// reportsEvent reports whether a clause, in a sentence that names a condition, reports something that happened: "if I remember right, we
// moved in May".
func (d *Document) reportsEvent(s *Sentence, c *Clause) bool {
	if d.wouldBeSo(c) {
		return false
	}
	switch c.Mode {
	case extract.ModePast, extract.ModeEnded, extract.ModeCancelled, extract.ModeCorrected:
		return true
	case extract.ModeHypothetical:
		return !d.hasWord(s, c.Lo, c.Lo+2, "if", "unless", "provided", "should", "had") && d.pastVerb(c)
	}
	return false
}

// wouldBeSo reports whether a clause says what would happen: "they'd permit it".
func (d *Document) wouldBeSo(c *Clause) bool {
	for i := c.Lo; i < c.Hi; i++ {
		switch strings.ToLower(d.TokenText(i)) {
		case "would", "'d", "’d":
			return i+1 < c.Hi && (d.Tokens[i+1].Word().Form&PastForm == 0 || d.Tokens[i+1].Word().Form&BaseForm != 0) // in "'d gone", 'd is "had"
		}
	}
	return false
}

// pastVerb reports whether a clause has a verb in a form that can only be past.
func (d *Document) pastVerb(c *Clause) bool {
	for i := c.Lo; i < c.Hi; i++ {
		if t := &d.Tokens[i]; t.Kind == KindWord && t.Word().Verb > 0 && t.Word().Form&PastForm != 0 && t.Word().Form&BaseForm == 0 {
			return true
		}
	}
	return false
}

// underCondition reports whether a sentence names a condition: "in June, if they sign". A question that somebody asks or wonders about
// does not count.
func (d *Document) underCondition(s *Sentence) bool {
	for i := s.Lo; i < s.Hi; i++ {
		if !d.hasWord(s, i, i+1, "if", "unless", "provided") {
			continue
		}
		if i == s.Lo || d.Tokens[i-1].Kind == KindPunct {
			return true
		}
		if d.IsWord(s, i, "if") && d.reportsQuestion(s, i) {
			continue
		}
		if d.hasWord(s, i-1, i, "and", "but", "or", "so", "only", "then") {
			return true
		}
		if !d.hasWord(s, i-1, i, "as", "even", "what") && d.IsWord(s, i, "provided") == d.IsWord(s, i+1, "that") {
			return true
		}
	}
	return false
}

// reportsQuestion reports whether the word if at token i means whether: "I wonder if they came", "figure out if it fits", "asked me if I
// smoke", "wonder what it costs and if it's worth it".
func (d *Document) reportsQuestion(s *Sentence, i int) bool {
	at := i
	if at-2 > s.Lo && d.hasWord(s, at-1, at, "and", "or") && d.Tokens[at-2].Kind == KindWord {
		for k := at - 2; k > s.Lo; k-- {
			if d.hasWord(s, k, k+1, "whether") || d.hasWord(s, k, k+1, "what", "how", "who", "which", "where", "when", "why", "if") && d.wondersBefore(s, k) {
				return true
			}
		}
		return false
	}
	return d.wondersBefore(s, at)
}

// wondersBefore reports whether the words before token i ask, doubt or want to know something. An object and particles may stand between:
// "asked me if", "find out if", "decided yet if".
func (d *Document) wondersBefore(s *Sentence, i int) bool {
	for from := i; i > s.Lo && i > from-2 && d.hasWord(s, i-1, i, "me", "him", "her", "us", "them", "you", "around", "about", "yet"); {
		i--
	}
	if i-1 > s.Lo && d.hasWord(s, i-1, i, "out") {
		return d.hasWord(s, i-2, i-1, "figure", "figures", "figured", "figuring", "find", "finds", "found", "finding", "work", "works", "worked", "working",
			"make", "sort", "sorting", "check", "checking", "suss", "try", "trying")
	}
	if i-1 > s.Lo && d.hasWord(s, i-1, i, "idea", "clear") { // not in "a good idea if they came"
		return d.hasWord(s, i-2, i-1, "no", "any", "faintest", "slightest", "not", "n't", "n’t", "isn't", "isn’t", "wasn't", "wasn’t")
	}
	return i > s.Lo && d.hasWord(s, i-1, i, "ask", "asks", "asked", "asking", "wonder", "wonders", "wondered", "wondering", "know", "knows", "knew", "knowing", "see", "seeing",
		"sure", "unsure", "certain", "uncertain", "unclear", "curious", "check", "checks", "checked", "checking", "tell", "tells", "told", "decide", "decides",
		"decided", "deciding", "undecided", "doubt", "doubts", "doubted", "doubting", "debate", "debating", "determine", "determining", "questioning",
		"verify", "verifying", "confirm", "confirming", "clue", "remember", "recall", "forgot", "care", "cares", "matter", "matters", "understand",
		"understanding", "considering", "evaluate", "evaluating", "assess", "assessing", "discuss", "discussing", "testing")
}

// hasWord reports whether one of the tokens [lo, hi) is one of some words in lower case.
func (d *Document) hasWord(s *Sentence, lo, hi int, words ...string) bool {
	for i := lo; i < min(hi, s.Hi); i++ {
		for _, w := range words {
			if d.IsWord(s, i, w) {
				return true
			}
		}
	}
	return false
}

// wordsIn counts the words of a sentence.
func (d *Document) wordsIn(s *Sentence) (n int) {
	for i := s.Lo; i < s.Hi; i++ {
		if d.Tokens[i].Kind == KindWord {
			n++
		}
	}
	return n
}
