package language

import (
	"sync"
	"time"

	"github.com/contextmem/contextmem/extract"
)

// Bounds of one text. Beyond them a text is stored and found by its words, but not read.
const (
	MaxText          = 4 << 20 // bytes of text that are read
	maxSentence      = 160     // tokens; longer ones are cut
	MaxSpan          = 12      // tokens of a name
	MaxMentions      = 20000   // per text
	smallIndex       = 24      // mentions up to which a linear search beats a map
	smallVocabulary  = 400     // tokens up to which lower-case words are counted by scanning
	lowerCaseAllowed = 2       // a weak name goes if its word occurs more often in lower case (docs/recall.md, "Knowledge")
)

// Role says who speaks in a sentence.
type Role uint8

// Roles of turns.
const (
	RoleNone      Role = iota // no turns
	RoleUser                  // the user, or a named speaker
	RoleAssistant             // the assistant
)

// Sentence is the tokens [Lo, Hi).
type Sentence struct {
	Lo, Hi    int
	Paragraph int       // counts empty lines
	Role      Role      // of who says it
	Speaker   string    // who says it, empty for no one known
	Said      time.Time // when, where that is not Document.Reference
	Question  bool      // asks, with a question mark or in the order of one
	Prefix    Span      // the speaker's name before the colon that begins a turn
}

// Span is the tokens [Lo, Hi).
type Span struct{ Lo, Hi int }

// Document is one text with what was read of it so far.
type Document struct {
	Text         string
	Reference    time.Time      // relative dates count from here; zero leaves them unresolved
	Chunks       []extract.Span // of the text, for mentions; none means one
	Breaks       []int          // rising bytes of the text over which no sentence goes
	Tokens       []Token
	Sentences    []Sentence
	Dates        []Date
	Names        []Name
	Mentions     []extract.Mention
	upper, lower int  // letters
	german       bool // capitals mark nouns
	Foreign      bool // has words of languages with tables
	Script       bool // has letters without case
	tongues      []*Tongue
	index        map[mentionKey]int32
	vocabulary   map[string]int32 // lower-case words, once counted
	counted      bool
	Clauses      []Clause     // once ReadClauses found them
	verbs        []answer     // of each token, while ReadClauses reads: whether it is a finite verb
	quoted       []Span       // between quotation marks
	phrases      []phraseHit  // of the sentence that is read
	frameStays   bool         // to the end of the paragraph
	frame        extract.Mode // of the sentences that follow: a story goes on
	words        []gramWord   // of a question
	joined       []byte       // those words, see windows
}

type mentionKey struct {
	chunk int
	key   string
}

var documents = sync.Pool{New: func() any { return new(Document) }}

// newDocument takes a document from the pool, see docs/decisions/0024.
func newDocument(text string, ref time.Time) *Document {
	d := documents.Get().(*Document)
	d.Reset(text, ref)
	return d
}

// free gives d back.
func (d *Document) free() {
	if cap(d.Tokens) <= 1<<16 {
		documents.Put(d)
	}
}

// Of a text of at least largeText bytes, for how many bytes room for a sentence and for a name is made: growing would leave several
// times as much behind.
const largeText, bytesOfSentence, bytesOfName = 256 << 10, 96, 48

// tokensIn is about how many tokens a text has, and rarely less.
func tokensIn(text string) int {
	if len(text) < largeText {
		return len(text)/4 + 4 // words of four letters and a space, with some signs
	}
	n, word := 0, false
	for i := range len(text) {
		switch c := text[i]; {
		case c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c >= 0x80 && c < 0xE0:
			if !word {
				n, word = n+1, true
			}
		case c == ' ' || c == '\n':
			word = false
		default: // a sign, or a character of a script in which few make a word
			n, word = n+1, false
		}
	}
	return n + n/32
}

// Reset makes d a document of a text, and keeps the memory of the one before.
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
	clear(d.index)
	*d = Document{Text: text, Reference: ref, Tokens: d.Tokens[:0], Sentences: d.Sentences[:0], Dates: d.Dates[:0], Names: d.Names[:0], tongues: d.tongues[:0], Clauses: d.Clauses[:0], quoted: d.quoted[:0], phrases: d.phrases[:0],
		verbs: d.verbs[:0], index: d.index, vocabulary: d.vocabulary, words: d.words[:0], joined: d.joined[:0]}
}

// maxKeptKeys is how many keys a map has at most that is cleared instead of made anew: clearing takes as long as for its largest text.
const maxKeptKeys = 512

// Forget makes d a document of no text, and keeps most of its memory for the next.
func (d *Document) Forget() {
	if len(d.index) > maxKeptKeys {
		d.index = nil
	}
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

// languages notes which other languages the text may be in, and whether it looks like German, where capitals mark nouns.
func (d *Document) languages() {
	de, en := 0, 0
	for i := range d.Tokens {
		t := &d.Tokens[i]
		if t.Is(tongueFlags) {
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
