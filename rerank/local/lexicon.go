package local

import (
	"strings"
	"sync"

	"github.com/contextmem/contextmem/internal/lexical"
)

// Lexicon caches the words of texts and their vectors across questions. Most texts are candidates for many questions, and
// tokenising a text costs far more than comparing its words. The cache holds about 16 MiB at most and is emptied when full.
// It is safe for concurrent use.
type Lexicon struct {
	words Words
	most  int // maximum bytes of the cache

	mu  sync.Mutex
	cur *kept
}

// maxLexicon is the approximate maximum size of a lexicon, in bytes.
const maxLexicon = 16 << 20

// Approximate sizes of the cache's structures, in bytes, without their texts.
const (
	textBytes = 120
	wordBytes = 160
)

// NewLexicon returns an empty lexicon. Without words (nil), only equal stems match.
func NewLexicon(words Words) *Lexicon { return &Lexicon{words: words, most: maxLexicon} }

// Scorer returns a scorer for the words of a question, as [NewScorer] does. It reuses the memory of again, which no goroutine may
// use any more. again may be nil.
func (l *Lexicon) Scorer(again *Scorer, terms []Term) *Scorer {
	if again == nil {
		again = new(Scorer)
	}
	again.ask(l, terms)
	return again
}

// now returns the current cache.
func (l *Lexicon) now() *kept {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cur == nil {
		l.cur = newKept(l.words, l.most)
	}
	return l.cur
}

// after returns the cache that replaces a full one.
func (l *Lexicon) after(full *kept) *kept {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cur == full {
		l.cur = newKept(l.words, l.most)
	}
	return l.cur
}

// kept is the content of the cache.
type kept struct {
	vectors Words
	most    int // maximum bytes

	mu    sync.RWMutex
	texts map[string][]uint32 // words of a text, as indexes in words
	place map[spelling]uint32 // index in words
	words []word              // append-only; entries never change
	terms map[string]word     // words of questions
	bytes int                 // approximate size of the cache
}

// spelling is a word as written in a text, and its stem.
type spelling struct{ surface, stem string }

// word is a word's stem and vector. The vector is empty if there is none.
type word struct {
	stem string
	vec  []float32
}

func newKept(vectors Words, most int) *kept {
	return &kept{vectors: vectors, most: max(most, 1), texts: map[string][]uint32{}, place: map[spelling]uint32{}, terms: map[string]word{}}
}

// vector returns the vector of a lower-case word.
func vector(words Words, lower string) []float32 {
	if words == nil {
		return nil
	}
	vec, _ := words.AppendWord(nil, lower)
	return vec
}

// term returns the stem and vector of a lower-case word of a question.
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

// read returns the words of a text as indexes in words. ok is false if the cache is full. s lends its buffers.
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

// unknown is a word that is not in the cache, and its position in a text.
type unknown struct {
	spelling
	vec []float32
	at  int
}

// find sets ids to the indexes of the cached words of a text, and returns the words that are not cached.
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
