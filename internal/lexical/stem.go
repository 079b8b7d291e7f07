package lexical

import (
	"strings"
	"sync/atomic"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

const (
	maxStemBytes  = 40      // longer words are names or noise; stemming them is slow and pointless
	maxCacheBytes = 32      // words above this are not cached, which bounds the cache
	wordCacheSize = 1 << 14 // slots; about 2 MB when every slot is taken
)

// wordEntry remembers what a surface form becomes. Entries are immutable.
type wordEntry struct {
	key  string // lower case if ASCII, else the bytes as they stood
	term string
	stop bool
}

// wordCache is a direct-mapped cache shared by all goroutines: a slot holds the
// last word that fell on it, so its size is bounded and it needs no lock.
var wordCache [wordCacheSize]atomic.Pointer[wordEntry]

// Stem returns the English Snowball (Porter 2) stem of word, or of its base form
// where that is irregular (bought, children, vortices). Words that are not made of
// a to z alone are returned unchanged. Safe for concurrent use.
func Stem(word string) string {
	if len(word) < 3 || len(word) > maxStemBytes {
		return word
	}
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return word
		}
	}
	if base, ok := irregular[word]; ok {
		word = base
	}
	env := snowballstem.NewEnv(word)
	english.Stem(env)
	if s := env.Current(); s != "" {
		return s
	}
	return word
}

// lookupASCII returns the term of an ASCII word in lower case whose hash is h.
func lookupASCII(lower []byte, h uint32) (term string, stop bool) {
	slot := &wordCache[h%wordCacheSize]
	if e := slot.Load(); e != nil && e.key == string(lower) {
		return e.term, e.stop
	}
	key := string(lower)
	e := &wordEntry{key: key, term: ownStem(key), stop: stopWords[key]}
	if len(key) <= maxCacheBytes {
		slot.Store(e)
	}
	return e.term, e.stop
}

// lookupFolded is lookupASCII for a word with other characters, as it stands in
// the text. The term is empty if nothing of the word is left.
func lookupFolded(raw string) (term string, stop bool) {
	h := uint32(hashSeed)
	for i := range len(raw) {
		h = (h ^ uint32(raw[i])) * hashPrime
	}
	slot := &wordCache[hashSlot(h)%wordCacheSize]
	if e := slot.Load(); e != nil && e.key == raw {
		return e.term, e.stop
	}
	folded := clip(fold(raw))
	e := &wordEntry{key: strings.Clone(raw), term: ownStem(folded), stop: stopWords[folded]}
	if len(raw) <= maxCacheBytes {
		slot.Store(e)
	}
	return e.term, e.stop
}

// ownStem is Stem with a result that does not keep a larger buffer alive.
func ownStem(word string) string {
	s := Stem(word)
	if len(s) == len(word) && s == word {
		return word
	}
	return strings.Clone(s)
}

// FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/, folded to fewer bits.
const (
	hashSeed  = 2166136261
	hashPrime = 16777619
)

func hashSlot(h uint32) uint32 { return h ^ h>>15 }
