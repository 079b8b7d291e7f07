package local

import (
	"strings"
	"sync"

	"github.com/contextmem/contextmem/internal/lexical"
)

// Lexicon remembers the words of texts and their vectors from one question to the next: most texts are candidates of many
// questions, and reading one costs many times what comparing its words costs. It takes at most about 16 MiB, and then begins anew. It is safe for
// concurrent use.
type Lexicon struct {
	words Words
	most  int // bytes that are remembered

	mu  sync.Mutex
	cur *kept
}

// maxLexicon is how many bytes a lexicon remembers, about.
const maxLexicon = 16 << 20

// About what the structures take without their texts.
const (
	textBytes = 120
	wordBytes = 160
)

// NewLexicon returns a lexicon that remembers nothing yet. Without words (nil) equal stems alone count.
func NewLexicon(words Words) *Lexicon { return &Lexicon{words: words, most: maxLexicon} }

// Scorer returns a scorer for the words of a question, as [NewScorer] does. It uses the memory of again, a scorer that nobody uses any more, or
// nil.
func (l *Lexicon) Scorer(again *Scorer, terms []Term) *Scorer {
	if again == nil {
		again = new(Scorer)
	}
	again.ask(l, terms)
	return again
}

// now returns what is remembered.
func (l *Lexicon) now() *kept {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cur == nil {
		l.cur = newKept(l.words, l.most)
	}
	return l.cur
}

// after returns what is remembered in place of what is full.
func (l *Lexicon) after(full *kept) *kept {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cur == full {
		l.cur = newKept(l.words, l.most)
	}
	return l.cur
}

// kept is what a lexicon remembers.
type kept struct {
	vectors Words
	most    int // bytes

	mu    sync.RWMutex
	texts map[string][]uint32 // the words of a text, as places in words
	place map[spelling]uint32 // of words
	words []word              // nobody changes one that is there
	terms map[string]word     // of questions
	bytes int                 // about what all that takes
}

// spelling is a word as it stands in a text, with its stem.
type spelling struct{ surface, stem string }

// word is a word with its vector, empty where it has none.
type word struct {
	stem string
	vec  []float32
}

func newKept(vectors Words, most int) *kept {
	return &kept{vectors: vectors, most: max(most, 1), texts: map[string][]uint32{}, place: map[spelling]uint32{}, terms: map[string]word{}}
}

// vector returns the vector of a word in lower case.
func vector(words Words, lower string) []float32 {
	if words == nil {
		return nil
	}
	vec, _ := words.AppendWord(nil, lower)
	return vec
}

// term returns the stem of a question's word in lower case, and its vector.
func (k *kept) term(words Words, lower string) (stem string, vec []float32) {
	k.mu.RLock()
	w, ok := k.terms[lower]
	k.mu.RUnlock()
	if !ok {
		w = word{lexical.Stem(lower), vector(words, lower)}
		k.mu.Lock()
		if k.bytes < k.most {
			lower = strings.Clone(lower)
			k.terms[lower] = w
			k.bytes += wordBytes + len(lower) + 4*len(w.vec)
		}
		k.mu.Unlock()
	}
	return w.stem, w.vec
}

// read returns the words of a text as places in words; false: there is no room for one that is new. s lends its memory.
func (k *kept) read(s *Scorer, text string) (ids []uint32, words []word, ok bool) {
	k.mu.RLock()
	ids, ok = k.texts[text]
	words = k.words
	full := k.bytes >= k.most
	k.mu.RUnlock()
	if ok || full {
		return ids, words, ok
	}
	s.toks = lexical.Analyze(s.toks[:0], text)
	ids = make([]uint32, len(s.toks))
	fresh := k.find(s.toks, text, ids)
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range fresh {
		f := &fresh[i]
		at, ok := k.place[f.spelling]
		if !ok {
			at = uint32(len(k.words))
			f.surface, f.stem = strings.Clone(f.surface), strings.Clone(f.stem)
			k.words = append(k.words, word{f.stem, f.vec})
			k.place[f.spelling] = at
			k.bytes += wordBytes + len(f.surface) + len(f.stem) + 4*len(f.vec)
		}
		ids[f.at] = at
	}
	k.texts[strings.Clone(text)] = ids
	k.bytes += textBytes + len(text) + 4*len(ids)
	return ids, k.words, true
}

// unknown is a word that is not remembered yet, which stands at a place of a text.
type unknown struct {
	spelling
	vec []float32
	at  int
}

// find sets ids to the places of the words of a text that are known, and returns the others.
func (k *kept) find(toks []lexical.Token, text string, ids []uint32) (fresh []unknown) {
	k.mu.RLock()
	for i, t := range toks {
		w := spelling{text[t.Start:t.End], t.Term}
		at, ok := k.place[w]
		if !ok {
			fresh = append(fresh, unknown{spelling: w, at: i})
		}
		ids[i] = at
	}
	k.mu.RUnlock()
	for i := range fresh {
		fresh[i].vec = vector(k.vectors, strings.ToLower(fresh[i].surface))
	}
	return fresh
}
