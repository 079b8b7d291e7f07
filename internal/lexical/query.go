package lexical

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// Operator says how the terms of a query combine.
type Operator uint8

// The operators. Or is the default.
const (
	Or     Operator = iota // any term; question words are left out of the query
	And                    // every term, stop words included, and every quoted phrase
	Phrase                 // the whole query, stop words included, contiguous and in order
)

// maxQueryTerms bounds the distinct terms of a parsed query; Parse ignores further ones.
const maxQueryTerms = 1024

// hanBoost is the boost of a single Han character, whose pairs have boost 1. A document without
// the pair can be found by the character, but scores less than one with the pair.
const hanBoost = 0.3

// QueryTerm is a term to look for. Boost multiplies its score; a term with a Boost of 0 or
// less scores nothing. Optional terms add to the score, but And does not require them.
type QueryTerm struct {
	Term     string
	Boost    float32
	Optional bool
}

// PhraseTerm is a term of a phrase, Offset positions after its first one.
type PhraseTerm struct {
	Term   string
	Offset int
}

// Query is a keyword query. [Parser.Parse] returns distinct Terms; a search adds up the
// boosts of duplicates. With Op And or Phrase all Phrases must match; with Or a search
// ignores them. A query must not be changed while a search uses it.
type Query struct {
	Terms   []QueryTerm
	Op      Operator
	Phrases [][]PhraseTerm
}

// Parser holds the options of [Parser.Parse]. The zero value is the default.
type Parser struct {
	// FirstPerson keeps I, me and my in Or queries. If the documents are messages of
	// the user who asks, these words distinguish the user's messages from others: on
	// chats with an assistant BM25 gained five points of nDCG@10. On other documents
	// they mean as little as the other question words.
	FirstPerson bool
}

// ParseQuery is Parse of the default Parser.
func ParseQuery(text string, op Operator) *Query { return Parser{}.Parse(text, op) }

// Parse analyzes the text of a query. For Or it removes question words. It keeps those in
// double quotes, "May" inside a sentence, and US and WHO in capitals, and it keeps all words
// if the query has no others. Every occurrence of a word counts: a term that occurs twice
// has Boost 2. Terms may alias the text. Parse is safe for concurrent use.
func (p Parser) Parse(text string, op Operator) *Query {
	a := parsings.Get().(*parsing)
	defer a.free()
	a.text, a.pos, a.stops, a.in = text, 0, op != Or, nil
	if op == Or {
		a.in = queryLanguages(text)
	}
	a.run()
	q := &Query{Op: op}
	if op == Phrase {
		q.addPhrase(a.dst, a.kinds)
		q.addTerms(a, len(a.dst), false)
		return q
	}
	to := 0
	for _, span := range quotedSpans(text) { // both in order of their start
		from := to
		for from < len(a.dst) && a.dst[from].Start < span.start {
			from++
		}
		for to = from; to < len(a.dst) && a.dst[to].Start < span.end; to++ {
			if a.kinds[to] == kindQuestion {
				a.kinds[to] = kindWord
			}
		}
		q.addPhrase(a.dst[from:to], a.kinds[from:to])
	}
	if op == And {
		q.addTerms(a, len(a.dst), false)
		return q
	}
	left := 0
	for i, k := range a.kinds {
		if k == kindQuestion && !p.isForm(text, &a.dst[i]) {
			k = kindWord
			a.kinds[i] = k
		}
		if k != kindQuestion {
			left++
		}
	}
	if left == 0 {
		q.addTerms(a, len(a.dst), false)
	} else {
		q.addTerms(a, left, true)
	}
	return q
}

// parsing is the pooled memory of Parse.
type parsing struct{ analyzer }

var parsings = sync.Pool{New: func() any { return &parsing{analyzer: analyzer{query: true}} }}

// maxParsed bounds the tokens whose memory stays in the pool.
const maxParsed = 1 << 10

func (a *parsing) free() {
	if cap(a.dst) > maxParsed {
		return
	}
	clear(a.dst)
	a.text, a.in, a.dst, a.kinds = "", nil, a.dst[:0], a.kinds[:0]
	parsings.Put(a)
}

// addTerms adds the first n tokens, without question words if dropQuestion is set. The boosts of a
// term's occurrences add up.
func (q *Query) addTerms(a *parsing, n int, dropQuestion bool) {
	q.Terms = make([]QueryTerm, 0, min(n, maxQueryTerms))
	var places map[string]int // index of each term, made once there are many terms
	for i := range a.dst {
		k, term := a.kinds[i], a.dst[i].Term
		if dropQuestion && k == kindQuestion || q.Op != Or && k == kindHan {
			continue
		}
		boost := float32(1)
		switch k {
		case kindHan:
			boost = hanBoost
		case kindStem:
			boost = stemBoost
		}
		optional := k == kindExtra || k == kindHan || k == kindStem
		if at := q.place(term, places); at >= 0 {
			q.Terms[at].Boost += boost
			q.Terms[at].Optional = q.Terms[at].Optional && optional
			continue
		}
		if len(q.Terms) == maxQueryTerms {
			return
		}
		q.Terms = append(q.Terms, QueryTerm{Term: term, Boost: boost, Optional: optional})
		switch {
		case places != nil:
			places[term] = len(q.Terms) - 1
		case len(q.Terms) == listTerms:
			places = make(map[string]int, n)
			for at, t := range q.Terms {
				places[t.Term] = at
			}
		}
	}
}

// place returns the index of a term in q.Terms, or -1.
func (q *Query) place(term string, places map[string]int) int {
	if places != nil {
		if at, ok := places[term]; ok {
			return at
		}
		return -1
	}
	for at := range q.Terms {
		if q.Terms[at].Term == term {
			return at
		}
	}
	return -1
}

// addPhrase adds the tokens as a phrase if more than one of them must match.
func (q *Query) addPhrase(tokens []Token, kinds []kind) {
	var phrase []PhraseTerm
	first := 0
	for i, t := range tokens {
		if kinds[i] > kindQuestion {
			continue
		}
		if len(phrase) == maxQueryTerms {
			break
		}
		if phrase == nil {
			first = t.Pos
		}
		phrase = append(phrase, PhraseTerm{Term: t.Term, Offset: t.Pos - first})
	}
	if len(phrase) > 1 {
		q.Phrases = append(q.Phrases, phrase)
	}
}

// isForm reports whether a question word only makes the text a question and says nothing of its subject.
func (p Parser) isForm(text string, t *Token) bool {
	switch text[t.Start:t.End] {
	case "US", "WHO":
		return false
	case "I", "i", "me", "my", "Me", "My":
		return !p.FirstPerson
	case "May", "MAY":
		return !insideSentence(text, t.Start)
	}
	return true
}

// insideSentence reports whether a word before text[at] belongs to the same sentence.
func insideSentence(text string, at int) bool {
	for at > 0 {
		r, size := utf8.DecodeLastRuneInString(text[:at])
		switch {
		case r == '.' || r == '?' || r == '!' || r == '\n':
			return false
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			return true
		}
		at -= size
	}
	return false
}

type textSpan struct{ start, end int }

// quotedSpans returns the spans between double quotes, straight or typographic. A straight
// quote opens only after a gap and closes only before one, so the 5" of a length is no quote.
func quotedSpans(text string) []textSpan {
	if !mayQuote(text) {
		return nil
	}
	var spans []textSpan
	open, closer := -1, rune(0)
	var before rune = ' '
	for i, r := range text {
		size := utf8.RuneLen(r)
		switch {
		case open < 0:
			if c := quoteCloser(r); c != 0 && (r != '"' || !unicode.IsLetter(before) && !unicode.IsNumber(before)) {
				open, closer = i+size, c
			}
		case r == closer || closer == '”' && r == '“':
			next, _ := utf8.DecodeRuneInString(text[i+size:])
			if r != '"' || !unicode.IsLetter(next) && !unicode.IsNumber(next) {
				if i > open {
					spans = append(spans, textSpan{open, i})
				}
				open = -1
			}
		}
		before = r
	}
	return spans
}

// mayQuote reports whether a text has a character that may open a quote.
func mayQuote(text string) bool {
	for i := range len(text) {
		if text[i] == '"' || text[i] >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

// quoteCloser returns the closing quote for the opening quote r, or 0 if r is none.
func quoteCloser(r rune) rune {
	switch r {
	case '"':
		return '"'
	case '“', '„':
		return '”'
	case '«':
		return '»'
	case '»':
		return '«'
	case '「':
		return '」'
	case '『':
		return '』'
	}
	return 0
}
