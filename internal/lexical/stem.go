package lexical

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

const (
	maxStemBytes  = 40      // longer words are names or noise; stemming them is slow and pointless
	maxCacheBytes = 32      // words above this are not cached, which bounds the cache
	maxFormBytes  = 6       // question words above this say something of the subject: between
	wordCacheSize = 1 << 14 // slots; about 2 MB when every slot is taken
)

// wordEntry remembers what a surface form becomes. Entries are immutable.
type wordEntry struct {
	key  string // lower case if ASCII, else the bytes as they stood
	term string
	stop bool
	kind kind // kindWord or kindQuestion
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
	env := envs.Get().(*snowballstem.Env)
	env.SetCurrent(word)
	english.Stem(env)
	s := env.Current()
	env.SetCurrent("")
	envs.Put(env)
	if s != "" {
		return s
	}
	return word
}

// envs are those of stemmers that are not at work.
var envs = sync.Pool{New: func() any { return snowballstem.NewEnv("") }}

// lookupASCII returns what an ASCII word in lower case becomes whose hash is h.
func lookupASCII(lower []byte, h uint32) *wordEntry {
	slot := &wordCache[h%wordCacheSize]
	if e := slot.Load(); e != nil && e.key == string(lower) {
		return e
	}
	key := string(lower)
	return remember(slot, newEntry(key, key))
}

// lookupFolded is lookupASCII for a word with other characters, as it stands in
// the text. The term is empty if nothing of the word is left.
func lookupFolded(raw string) *wordEntry {
	h := uint32(hashSeed)
	for i := range len(raw) {
		h = (h ^ uint32(raw[i])) * hashPrime
	}
	slot := &wordCache[hashSlot(h)%wordCacheSize]
	if e := slot.Load(); e != nil && e.key == raw {
		return e
	}
	return remember(slot, newEntry(strings.Clone(raw), clip(fold(raw))))
}

// newEntry returns what a word becomes that reads folded without its accents.
func newEntry(key, folded string) *wordEntry {
	e := &wordEntry{key: key, term: ownStem(folded), stop: stopWords[folded]}
	if e.stop {
		e.term = stopTerm(folded)
		return e
	}
	if len(key) <= maxFormBytes && questionWords[strings.ToLower(key)] {
		e.kind = kindQuestion
	}
	return e
}

func remember(slot *atomic.Pointer[wordEntry], e *wordEntry) *wordEntry {
	if len(e.key) <= maxCacheBytes {
		slot.Store(e)
	}
	return e
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
