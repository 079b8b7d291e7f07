package language

import (
	"sort"
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/placeindex"
)

// Name is a name in the tokens [Lo, Hi).
type Name struct {
	Lo, Hi   int
	Sentence int    // its index
	Type     string // see extract.Mention, also for the rest
	Key      string // empty until TextMentions
	Weak     bool
	Part     bool
}

// findNames finds the capitalised names of every sentence.
func (d *Document) findNames() {
	if d.upper > d.lower {
		return
	}
	for k := range d.Sentences {
		s := &d.Sentences[k]
		if s.Prefix.Hi > s.Prefix.Lo {
			d.Names = append(d.Names, Name{Lo: s.Prefix.Lo, Hi: s.Prefix.Hi, Sentence: k, Type: extract.TypePerson})
		}
		if d.shouting(s) {
			continue
		}
		for i := s.Lo; i < s.Hi; {
			hi := d.nameAt(s, i)
			if hi == i {
				i++
				continue
			}
			d.name(k, i, hi)
			i = hi
		}
	}
	d.dropWeak()
}

// shouting reports whether a sentence that is long enough has more capitals than small letters.
func (d *Document) shouting(s *Sentence) bool {
	words, loud := 0, 0
	for i := s.Lo; i < s.Hi; i++ {
		if d.Tokens[i].Kind == KindWord {
			words++
			if d.Tokens[i].Shape == UpperCase {
				loud++
			}
		}
	}
	return words >= 4 && loud*2 > words
}

// nameAt returns the end of the name that begins at token i, or i if there is none.
func (d *Document) nameAt(s *Sentence, i int) int {
	t := &d.Tokens[i]
	if !t.Capital() || t.Is(FirstPerson) {
		return i
	}
	first := d.firstWord(s, i)
	multi := i+1 < s.Hi && d.Tokens[i+1].Capital() && d.Tokens[i+1].Gap == SpaceGap
	switch {
	case d.common(t) && (first || !multi || t.Is(Determiner)) && !(t.Is(GivenName) && multi && !first):
		return i
	case t.Is(Starter|DayWord) && first && !(multi && t.Is(GivenName|PlaceName)):
		return i
	case first && multi && t.Word().Verb > 0 && t.Shape == Capitalized && !t.Is(GivenName|PlaceName|PersonTitle):
		return i // "Visit Paris"
	case t.Is(Month|Weekday) && !multi && !t.Is(GivenName):
		return i
	}
	hi := i + 1
	for hi < s.Hi && hi-i < MaxSpan {
		j := d.extend(s, i, hi)
		if j == hi {
			break
		}
		hi = j
	}
	return hi
}

// extend returns the end of the span [lo, hi) after adding the next word of the name, or hi if there is none. Connectors such as "of" may
// stand before the word.
func (d *Document) extend(s *Sentence, lo, hi int) int {
	if hi < s.Hi && d.Tokens[hi].Gap > SpaceGap {
		return hi
	}
	if j := d.joinedPart(s, lo, hi); j > hi {
		return j
	}
	j := hi
	if j < s.Hi && d.joinsName(s, hi) {
		j++
	}
	for connectors := 0; j < s.Hi; j++ {
		t := &d.Tokens[j]
		switch {
		case t.Gap == BlankGap:
			return hi
		case t.Capital() && t.Gap != NoGap && !t.Is(FirstPerson):
			if t.Kind == KindIdentifier && j == hi && d.firstWord(s, hi-1) {
				return hi // "Ticket JIRA-12"
			}
			return j + 1
		case connectors < 2 && d.connects(t, connectors):
			if prev := &d.Tokens[hi-1]; prev.Is(Month|Weekday) && !prev.Is(GivenName) || t.Is(Determiner) && connectors == 0 {
				return hi
			}
			connectors++
		default:
			return hi
		}
	}
	return hi
}

// connects reports whether a word may stand inside a name after the given number of such words: "University of the Arts".
func (d *Document) connects(t *Token, connectors int) bool {
	return t.Kind == KindWord && t.Shape == LowerCase && t.Is(NameConnector) && !t.Used && !(connectors > 0 && t.Is(Conjunction))
}

// joinsName reports whether the sign at token hi, after a name, is part of the name and another word follows: "J. Smith", "Smith & Sons".
func (d *Document) joinsName(s *Sentence, hi int) bool {
	t := &d.Tokens[hi]
	if t.Kind != KindPunct {
		return false
	}
	if t.Sign == '&' {
		return true
	}
	prev := &d.Tokens[hi-1]
	return t.Sign == '.' && t.Gap == NoGap && (prev.Is(Abbreviation) || prev.End-prev.Start == 1 || isDotted(d.TokenText(hi-1))) && hi+1 < s.Hi && d.Tokens[hi+1].Capital()
}

// joinedPart returns the end of a name [lo, hi) after a number, or after a hyphen or "'s" and a word; it returns hi for none.
func (d *Document) joinedPart(s *Sentence, lo, hi int) int {
	if hi >= s.Hi {
		return hi
	}
	t := &d.Tokens[hi]
	if t.Kind == KindNumber && t.Gap == SpaceGap && d.numbered(s, lo, hi) {
		return hi + 1 // "Apollo 11"
	}
	if hi+1 >= s.Hi || !d.Tokens[hi+1].Capital() {
		return hi
	}
	next := &d.Tokens[hi+1]
	switch {
	case t.Kind == KindPunct && t.Sign == '-' && t.Gap == NoGap && next.Gap == NoGap:
		return hi + 2
	case t.Kind == KindClitic && !next.Is(FunctionWord) && d.TokenText(hi)[1:] == "s":
		return hi + 2
	}
	return hi
}

// numbered reports whether the number at j is part of the name before it: "Apollo 11", not "Berlin 1990".
func (d *Document) numbered(s *Sentence, lo, j int) bool {
	t, prev := &d.Tokens[j], &d.Tokens[j-1]
	n := t.End - t.Start
	if t.Used || n > 4 || prev.Is(Month|Weekday|FunctionWord|PlaceName) {
		return false
	}
	if j+1 < s.Hi {
		next := &d.Tokens[j+1]
		if next.Is(Unit|TimeUnit|Month|ForeignMonth|Currency|Scale|OrdinalEnding) || next.Kind == KindPunct && (next.Sign == '%' || next.Sign == ')') {
			return false
		}
	}
	return j > lo
}

// firstWord reports whether token i is the first word of its sentence.
func (d *Document) firstWord(s *Sentence, i int) bool {
	for j := i - 1; j >= s.Lo; j-- {
		if d.Tokens[j].Kind != KindPunct || d.Tokens[j].Sign == ':' {
			return d.Tokens[j].Kind == KindPunct
		}
	}
	return true
}

// name adds the span [lo, hi) and the parts around its connectors.
func (d *Document) name(sent, lo, hi int) {
	if hi-lo == 1 {
		d.oneWord(sent, lo)
		return
	}
	join := false // joined by "and" or "in": only the parts are names
	var cuts [MaxSpan]int
	n := 0
	for i := lo + 1; i < hi-1; i++ {
		t := &d.Tokens[i]
		if t.Kind == KindClitic || t.Kind == KindWord && t.Shape == LowerCase {
			if n == 0 || cuts[n-1] != i-1 {
				n++
			}
			cuts[n-1] = i
			w := d.TokenText(i)
			join = join || w == "and" || w == "in" || w == "und" || w == "et" || w == "y"
		}
	}
	whole := Name{Lo: lo, Hi: hi, Sentence: sent, Type: d.TypeOf(lo, hi)}
	if join && whole.Type != extract.TypeOrganization {
		whole.Part = true
	}
	d.keep(whole)
	if n == 0 {
		if d.Tokens[hi-1].Kind == KindNumber && hi-1-lo > 0 {
			d.keep(Name{Lo: lo, Hi: hi - 1, Sentence: sent, Type: d.TypeOf(lo, hi-1), Part: true})
		}
		return
	}
	from := lo
	for c := 0; c <= n; c++ {
		to := hi
		if c < n {
			to = cuts[c]
			for to > from && d.Tokens[to-1].Shape == LowerCase && d.Tokens[to-1].Kind == KindWord {
				to--
			}
		}
		if to > from && !(to-from == 1 && d.Tokens[from].Is(FunctionWord)) {
			d.keep(Name{Lo: from, Hi: to, Sentence: sent, Type: d.TypeOf(from, to), Part: !whole.Part})
		}
		if c < n {
			from = cuts[c] + 1
		}
	}
}

// keep adds a name, unless it consists only of nouns in a language that capitalises nouns.
func (d *Document) keep(h Name) {
	if d.german && h.Type == extract.TypeConcept && !d.cued(h.Lo, h.Hi) {
		return
	}
	d.Names = append(d.Names, h)
}

// oneWord adds a name of one word unless it is a common word. At the start of a sentence the name is weak.
func (d *Document) oneWord(sent, i int) {
	t := &d.Tokens[i]
	if d.common(t) || t.End-t.Start == 1 && t.Kind == KindWord {
		return
	}
	typ := d.TypeOf(i, i+1)
	known := t.Is(GivenName|PlaceName|ProductWord) || t.Shape == MixedCase || t.Kind == KindIdentifier
	if t.Is(PersonTitle|TimeUnit|ClockWord|WhWord|Conjunction|Preposition) && !known && t.Shape != UpperCase {
		return
	}
	weak := !known && d.firstWord(&d.Sentences[sent], i)
	if weak && (t.Word().Verb > 0 || t.Is(Adjective|Adverb|KinNoun|Occupation|NumberWord|Unit)) {
		return
	}
	d.keep(Name{Lo: i, Hi: i + 1, Sentence: sent, Type: typ, Weak: weak})
}

// cued reports whether something marks a span of capitalised nouns as a name.
func (d *Document) cued(lo, hi int) bool {
	for i := lo; i < hi; i++ {
		t := &d.Tokens[i]
		if t.Is(GivenName|PlaceName|OrgWord|LocWord|PersonTitle|ProductWord|Demonym) || t.Shape == UpperCase || t.Shape == MixedCase || t.Kind == KindIdentifier {
			return true
		}
	}
	return false
}

// dropWeak removes weak names whose word occurs in lower case more than lowerCaseAllowed times in the text.
func (d *Document) dropWeak() {
	n := 0
	for _, h := range d.Names {
		if h.Weak && d.lowerCount(d.TokenText(h.Lo)) > lowerCaseAllowed {
			continue
		}
		d.Names[n] = h
		n++
	}
	d.Names = d.Names[:n]
}

// lowerCount counts the lower-case occurrences of name.
func (d *Document) lowerCount(name string) int {
	if len(d.Tokens) <= smallVocabulary {
		n := 0
		for i := range d.Tokens {
			if t := &d.Tokens[i]; t.Kind == KindWord && t.Shape == LowerCase && int(t.End-t.Start) == len(name) && strings.EqualFold(d.TokenText(i), name) {
				n++
			}
		}
		return n
	}
	if !d.counted {
		d.counted = true
		if d.vocabulary == nil {
			d.vocabulary = make(map[string]int32)
		}
		for i := range d.Tokens {
			if t := &d.Tokens[i]; t.Kind == KindWord && t.Shape == LowerCase && !t.Is(FunctionWord) {
				d.vocabulary[d.TokenText(i)]++
			}
		}
	}
	return int(d.vocabulary[strings.ToLower(name)])
}

// AddMention adds a mention of the bytes [start, end) to every chunk that contains start, once per chunk and key.
func (d *Document) AddMention(m extract.Mention) {
	if m.Key == "" || len(d.Mentions) >= MaxMentions {
		return
	}
	if m.Weight == 0 {
		m.Weight = extract.WeightText
	}
	chunks := d.Chunks
	if len(chunks) == 0 {
		d.AddToChunk(m)
		return
	}
	first, last := ChunksAt(chunks, m.Start)
	for c := first; c <= last; c++ {
		m.Chunk = c
		d.AddToChunk(m)
	}
}

// maxOverlap is the maximum number of chunks that overlap at one place.
const maxOverlap = 4

// ChunksAt returns the range of chunks that contain the byte at off, or the last one before it.
func ChunksAt(chunks []extract.Span, off int) (first, last int) {
	last = sort.Search(len(chunks), func(i int) bool { return chunks[i].Start > off }) - 1
	if last < 0 {
		return 0, 0
	}
	first = last
	for first > 0 && last-first < maxOverlap-1 && chunks[first-1].End > off {
		first--
	}
	return first, last
}

// AddToChunk adds a mention to its chunk, or merges it into the mention with the same key there.
func (d *Document) AddToChunk(m extract.Mention) {
	ms := d.Mentions
	if len(ms) < smallIndex {
		for i := range ms {
			if ms[i].Chunk == m.Chunk && ms[i].Key == m.Key {
				strengthen(&ms[i], &m)
				return
			}
		}
		d.Mentions = append(ms, m)
		return
	}
	if d.index.Len() == 0 {
		for i := range ms {
			d.index.Add(placeindex.Hash(int64(ms[i].Chunk), ms[i].Key), i)
		}
	}
	hash := placeindex.Hash(int64(m.Chunk), m.Key)
	if i := d.index.Find(hash, func(i int) bool { return ms[i].Chunk == m.Chunk && ms[i].Key == m.Key }); i >= 0 {
		strengthen(&ms[i], &m)
		return
	}
	d.index.Add(hash, len(ms))
	d.Mentions = append(ms, m)
}

// strengthen merges a later mention of the same entity into the first.
func strengthen(m, later *extract.Mention) {
	m.Weak = m.Weak && later.Weak
	m.Part = m.Part && later.Part
	m.Phrase = m.Phrase && later.Phrase
	if m.Type == extract.TypeConcept {
		m.Type = later.Type
	}
}
