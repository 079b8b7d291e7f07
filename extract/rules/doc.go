package rules

import (
	"sync"
	"time"

	"github.com/contextmem/contextmem/extract"
)

// Bounds of one item. Beyond them text is stored and found by its words, but not read by rules.
const (
	maxText          = 4 << 20 // bytes of text that are read
	maxSentence      = 160     // tokens; longer ones are cut
	maxSpan          = 12      // tokens of a name
	maxMentions      = 20000   // per item
	maxRelations     = 10000   // per item, the contract's limit of a supplied graph
	maxFacts         = 2000    // per item
	smallIndex       = 24      // mentions up to which a linear search beats a map
	smallVocabulary  = 400     // tokens up to which lower-case words are counted by scanning
	lowerCaseAllowed = 2       // a weak name goes if its word occurs more often in lower case (recall recipe, step 2b)
)

// role says who speaks in a sentence.
type role uint8

const (
	roleNone role = iota
	roleUser
	roleAssistant
)

// sentence is the tokens [lo, hi).
type sentence struct {
	lo, hi   int
	para     int
	role     role
	speaker  string // who says it, empty for no one known
	question bool
	prefix   tokSpan // the speaker's name before the colon that begins a turn
}

// doc is one text on its way through the rules. It is reused from a pool.
type doc struct {
	text         string
	toks         []token
	sents        []sentence
	dates        []dateHit
	upper, lower int // letters
	german       bool
	foreign      bool // has words of languages with tables
	script       bool // has letters without case
	tongues      []*language
	in           *extract.Input
	own          extract.Input // in of a text that comes without one
	ref          time.Time
	out          extract.Output
	index        map[mentionKey]int32
	vocabulary   map[string]int32 // lower-case words, once counted
	counted      bool
	names        []nameHit
	rel          relator
	words        []gramWord // of a question
	joined       []byte     // those words, see windows
}

// tokSpan is the tokens [lo, hi).
type tokSpan struct{ lo, hi int }

type mentionKey struct {
	chunk int
	key   string
}

var docs = sync.Pool{New: func() any { return new(doc) }}

func newDoc(text string) *doc {
	d := docs.Get().(*doc)
	if len(text) > maxText {
		text = text[:maxText]
	}
	d.text = text
	d.toks, d.sents, d.dates, d.names = d.toks[:0], d.sents[:0], d.dates[:0], d.names[:0]
	d.upper, d.lower, d.german, d.foreign, d.script = 0, 0, false, false, false
	d.in, d.ref, d.out = nil, time.Time{}, extract.Output{}
	clear(d.index)
	clear(d.vocabulary)
	d.counted = false
	return d
}

// ask sets what d is about: a text by itself, and the time of its relative dates.
func (d *doc) ask(ref time.Time) {
	d.own = extract.Input{Text: d.text, Time: ref}
	d.in, d.ref = &d.own, ref
}

// free gives d back; what it put into out belongs to the caller.
func (d *doc) free() {
	if cap(d.toks) > 1<<16 {
		return
	}
	clear(d.names)
	clear(d.sents)
	d.rel.free()
	clear(d.vocabulary)
	clear(d.index)
	d.text, d.in, d.own, d.out = "", nil, extract.Input{}, extract.Output{}
	docs.Put(d)
}

// languages decides whether the text looks like German, where capitals mark nouns.
func (d *doc) languages() {
	de, en := 0, 0
	for i := range d.toks {
		t := &d.toks[i]
		if t.is(fTongues) {
			d.foreign = true
		}
		if t.kind == kOther {
			d.script = true
		}
		if t.is(fGerman) && t.is(fStop) {
			de++
		}
		if t.is(fEnglish) {
			en++
		}
	}
	d.german = de > 1 && de > en
}
