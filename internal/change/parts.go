package change

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// A message may tell two matters in one clause: "I'm vegetarian and allergic to hazelnuts". What ends one of them leaves the other.

var (
	// between matches what stands between two parts of a clause.
	between = lazyregexp.New(`(?i)\s*[,;&+•|]\s+(?:(?:and|but|also|plus|und|aber|et|mais|y|pero|mas|ma)\s+)?|\s+[-–—]+\s+|\s+(?:and|but|plus|und|aber|et|mais|y|pero|mas|ma|e|ed|en|maar|ve|och)\s+|\s*\n\s*|\s*[、，；]\s*`)
	// joined matches the joint with which a clause begins.
	joined = lazyregexp.New(`(?i)^(?:and|but|also|plus|und|aber|et|mais|y|pero|mas|ma)\s+`)
	// addsOn matches beginnings of parts that say more of the part before them.
	addsOn = lazyregexp.New(`(?i)^(?:who|which|whose|where|when|because|since|cause|cos|so|that|if|as|though|although|otherwise|instead|again|too|then|not|even|especially|including|like|mainly|mostly|weil|dass|que|qui|che|porque|perché)\b`)
	// ownSubject matches beginnings with a subject of their own.
	ownSubject = lazyregexp.New(`(?i)^(?:i|we|he|she|it|they|you|i['’](?:m|ve|d|ll)|(?:we|they|you)['’](?:re|ve|d|ll)|(?:he|she|it)['’]s|my|our|his|her|their)\b`)
)

// minPart is the least number of terms of a part of a clause without a subject: "hazelnuts and almonds" is one part.
const minPart = 2

// span is the range [start, end) of a text in bytes.
type span struct{ start, end int }

func (p span) of(text string) string { return strings.Trim(text[p.start:p.end], " \t\n,;") }

// parts splits a statement into parts about one thing each: clauses, and within clauses what is joined to another predicate of the same subject.
func (s *statement) parts() (out []span) {
	for _, c := range s.wholeClauses() {
		out = append(out, s.split(c)...)
	}
	if over := len(out) - maxParts; over > 0 {
		out[maxParts-1].end = out[len(out)-1].end
		out = out[:maxParts]
	}
	return out
}

// wholeClauses returns the clauses of a statement with what stands behind them. What says nothing of its own is joined to the clause beside it.
func (s *statement) wholeClauses() (out []span) {
	all := s.parse()
	for i := range all {
		p := span{all[i].Start, len(s.text)}
		if i == 0 {
			p.start = 0
		}
		if i+1 < len(all) {
			p.end = all[i+1].Start
		}
		if i > 0 {
			p.start += len(joined.FindString(s.text[p.start:p.end]))
		}
		text := p.of(s.text)
		if last := len(out) - 1; last >= 0 && (len(termsOf(text)) == 0 || addsOn.MatchString(text) || len(termsOf(out[last].of(s.text))) == 0) {
			out[last].end = p.end
			continue
		}
		out = append(out, p)
	}
	return out
}

// split splits a clause where the words on both sides say something of their own.
func (s *statement) split(c span) (out []span) {
	text := s.text[c.start:c.end]
	joints := between.Compiled().FindAllStringIndex(text, -1)
	from := 0
	for i, at := range joints {
		end := len(text)
		if i+1 < len(joints) {
			end = joints[i+1][0]
		}
		right := text[at[1]:end]
		if first, _ := utf8.DecodeRuneInString(right); addsOn.MatchString(right) || unicode.IsDigit(first) || !ownWords(text[from:at[0]]) || !ownWords(right) {
			continue
		}
		out = append(out, span{c.start + from, c.start + at[0]})
		from = at[1]
	}
	return append(out, span{c.start + from, c.end})
}

// ownWords reports whether words may be a part of their own.
func ownWords(words string) bool {
	n := len(termsOf(words))
	return n >= minPart || n > 0 && ownSubject.MatchString(words)
}

// TellsOnly reports whether a text says nothing beside some of its words.
func TellsOnly(text string, matters []string) bool {
	for _, words := range matters {
		if words != "" {
			text = strings.ReplaceAll(text, words, " ")
		}
	}
	return len(termsOf(text)) == 0
}

// Repeats reports whether a statement that was inferred from a text says what some words of the text say: at least half of its terms are theirs.
func Repeats(statement, words string) bool {
	of, all, same := termsOf(words), termsOf(statement), 0
	for t := range all {
		if of[t] {
			same++
		}
	}
	return same > 0 && 2*same >= len(all)
}
