package language

import (
	"sync"
	"time"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/placeindex"
)

// Limits of one text. Text beyond them is stored and searchable, but no names, dates or clauses are read from it.
const (
	MaxText          = 4 << 20 // bytes of text that are read
	maxSentence      = 160     // tokens; longer ones are cut
	MaxSpan          = 12      // tokens of a name
	MaxMentions      = 20000   // per text
	smallIndex       = 24      // mentions up to which a linear search beats a map
	smallVocabulary  = 400     // tokens up to which lower-case words are counted by scanning
	lowerCaseAllowed = 2       // a weak name is dropped if its word occurs more often in lower case (docs/recall.md, "Knowledge")
)

// Role says who speaks in a sentence.
type Role uint8

// Roles of turns.
const (
	RoleNone      Role = iota // the text has no turns
	RoleUser                  // the user, or a named speaker
	RoleAssistant             // the assistant
)

// Sentence is the tokens [Lo, Hi).
type Sentence struct {
	Lo, Hi    int
	Paragraph int       // counts empty lines
	Role      Role      // of who says it
	Speaker   string    // the speaker's name; empty if unknown
	Said      time.Time // when the sentence was said, if not at Document.Reference
	Question  bool      // ends with a question mark or has the word order of a question
	Prefix    Span      // the speaker's name before the colon that begins a turn
}

// Span is the tokens [Lo, Hi).
type Span struct{ Lo, Hi int }

// Document is one text and the results of the steps that have run.
type Document struct {
	Text          string
	Reference     time.Time      // relative dates count from here; zero leaves them unresolved
	Chunks        []extract.Span // chunks of the text, for mentions; none means one chunk
	Breaks        []int          // ascending byte offsets that no sentence crosses
	Tokens        []Token
	Sentences     []Sentence
	Dates         []Date
	Names         []Name
	Mentions      []extract.Mention
	upper, lower  int  // numbers of letters
	german        bool // the text looks German, where every noun has a capital
	Foreign       bool // has words of a language with tables
	Script        bool // has letters without case
	dateLanguages []*DateLanguage
	index         placeindex.Index // of Mentions by chunk and key
	vocabulary    map[string]int32 // lower-case words with their counts, once counted is set
	counted       bool
	Clauses       []Clause     // set by ReadClauses
	verbs         []answer     // whether each token is a finite verb; used during ReadClauses
	verbless      Span         // tokens of which hasVerb found that none is a finite verb; used during ReadClauses
	quoted        []Span       // between quotation marks
	phrases       []phraseHit  // phrases in the current sentence
	frameStays    bool         // the frame lasts to the end of the paragraph
	frame         extract.Mode // mode of the following sentences, such as a story that continues
	words         []gramWord   // words of a question
	joined        []byte       // the words of a question joined, see windows
}

var documents = sync.Pool{New: func() any { return new(Document) }}

// newDocument returns a document from the pool, see docs/decisions/0024.
func newDocument(text string, ref time.Time) *Document {
	d := documents.Get().(*Document)
	d.Reset(text, ref)
	return d
}

// free returns d to the pool.
func (d *Document) free() {
	if cap(d.Tokens) <= 1<<16 {
		documents.Put(d)
	}
}

// For a text of at least largeText bytes, memory is reserved for one sentence per bytesOfSentence bytes and one name per bytesOfName.
// Growing the slices instead would leave several times as much garbage.
const largeText, bytesOfSentence, bytesOfName = 256 << 10, 96, 48

// tokensIn estimates the number of tokens of a text; it is rarely too low. It counts those of samples of a large text.
func tokensIn(text string) int {
	const sample, apart = 4 << 10, 16 // a sample of so many bytes in apart times as many
	if len(text) < largeText {
		return len(text)/4 + 4 // words of four letters and a space, with some signs
	}
	n, read := 0, 0
	for at := 0; at < len(text); at += sample * apart {
		part := text[at:min(at+sample, len(text))]
		n, read = n+tokensOf(part), read+len(part)
	}
	n = int(float64(n) / float64(read) * float64(len(text)))
	return n + n/16
}

// tokensOf counts the tokens of a text by a simple rule.
func tokensOf(text string) int {
	n, word := 0, false
	for i := range len(text) {
		switch c := text[i]; {
		case c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c >= 0x80 && c < 0xE0:
			if !word {
				n, word = n+1, true
			}
		case c == ' ' || c == '\n':
			word = false
		default: // a sign, or a character of a script with short words
			n, word = n+1, false
		}
	}
	return n
}

// Reset prepares d for a text and reuses the memory of the previous text.
func (d *Document) Reset(text string, ref time.Time) {
	if len(text) > MaxText {
		text = text[:MaxText]
	}
	load()
	if cap(d.Tokens) == 0 {
		d.Tokens = make([]Token, 0, tokensIn(text))
		if len(text) >= largeText {
			d.Sentences, d.Names = make([]Sentence, 0, len(text)/bytesOfSentence), make([]Name, 0, len(text)/bytesOfName)
		}
	}
	clear(d.Names)
	clear(d.Sentences)
	clear(d.vocabulary)
	d.index.Reset(maxKeptKeys)
	*d = Document{Text: text, Reference: ref, Tokens: d.Tokens[:0], Sentences: d.Sentences[:0], Dates: d.Dates[:0], Names: d.Names[:0], dateLanguages: d.dateLanguages[:0], Clauses: d.Clauses[:0], quoted: d.quoted[:0], phrases: d.phrases[:0],
		verbs: d.verbs[:0], index: d.index, vocabulary: d.vocabulary, words: d.words[:0], joined: d.joined[:0]}
}

// maxKeptKeys is the maximum size of a map that is cleared for reuse; a larger one is replaced, because clearing takes time in
// proportion to the largest size the map had.
const maxKeptKeys = 512

// Forget empties d and keeps most of its memory for the next text.
func (d *Document) Forget() {
	if len(d.vocabulary) > maxKeptKeys {
		d.vocabulary = nil
	}
	d.Reset("", time.Time{})
}

// Read finds tokens, sentences and dates.
func (d *Document) Read() {
	d.SplitText()
	d.ReadDates()
}

// SplitText finds tokens and sentences.
func (d *Document) SplitText() {
	d.tokenize()
	d.split()
}

// ReadDates finds the languages and the dates of the sentences.
func (d *Document) ReadDates() {
	d.languages()
	d.findDates()
}

// ReadNames finds amounts and names.
func (d *Document) ReadNames() {
	d.findAmounts()
	d.findNames()
}

// languages notes which other languages the text may have, and whether it looks like German, where every noun has a capital.
func (d *Document) languages() {
	de, en := 0, 0
	for i := range d.Tokens {
		t := &d.Tokens[i]
		if t.Is(tableFlags) {
			d.Foreign = true
		}
		if t.Kind == KindScript {
			d.Script = true
		}
		if t.Is(German) && t.Is(FunctionWord) {
			de++
		}
		if t.Is(English) {
			en++
		}
	}
	d.german = de > 1 && de > en
}
