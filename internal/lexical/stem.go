package lexical

import (
	"strings"
	"sync/atomic"
)

const (
	maxStemBytes  = 40      // longer words are not stemmed: most are names or noise
	maxCacheBytes = 32      // words above this are not cached, which bounds the cache
	maxFormBytes  = 6       // longer question words are kept, since they say something of the subject, as "between" does
	wordCacheSize = 1 << 14 // slots; about 2 MB when every slot is taken
)

// cachedTerm is the term of an entry of a cache. As long as the entry stays in its cache, the term of its word is at the same address.
type cachedTerm struct{ term string }

// wordEntry is the cached analysis of a word. Entries are immutable. It holds the word itself, so that a look-up reads one cache line of it.
type wordEntry struct {
	cachedTerm
	key  [maxCacheBytes]byte // the word, in lower case if it is ASCII; zero if it is longer
	n    uint8               // bytes of the word, 0 if it is longer than maxCacheBytes
	stop bool
	kind kind // kindWord or kindQuestion
}

// of reports whether the entry is that of a word, which is not empty.
func (e *wordEntry) of(word []byte) bool { return e != nil && string(e.key[:e.n]) == string(word) }

// wordCache is a cache shared by all goroutines. A set of slots holds the last words that were stored there, so the size is bounded. Slots
// are atomic, so the cache needs no lock.
var wordCache [wordCacheSize / slotsOfSet]entrySet

// slotsOfSet is the number of slots that a word may be in. With one slot, words of the same slot would displace each other again and again.
const slotsOfSet = 2

type entrySet [slotsOfSet]atomic.Pointer[wordEntry]

// Stem returns the English Snowball (Porter 2) stem of word. For an irregular form (bought,
// children, vortices) it returns the stem of the base form. It returns words with characters
// other than a to z unchanged. Stem is safe for concurrent use.
func Stem(word string) string {
	var buf [maxStemBytes]byte
	if stem, ok := stemInto(buf[:0], word); ok && string(stem) != word {
		return string(stem)
	}
	return word
}

// stemOf is Stem. Its result shares the memory of word if the stem is how the word begins, as most are.
func stemOf(word string) string {
	var buf [maxStemBytes]byte
	stem, ok := stemInto(buf[:0], word)
	switch {
	case !ok:
		return word
	case len(stem) <= len(word) && string(stem) == word[:len(stem)]:
		return word[:len(stem)]
	}
	return string(stem)
}

// stemInto appends the stem of a word to dst, which is empty and has room for maxStemBytes. ok is false if the word is its own stem because of its
// length or its characters.
func stemInto(dst []byte, word string) (stem []byte, ok bool) {
	if len(word) < 3 || len(word) > maxStemBytes {
		return nil, false
	}
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return nil, false
		}
	}
	if base, ok := irregular[word]; ok {
		word = base
	}
	if dst = append(dst, word...); len(word) < 3 {
		return dst, true
	}
	return stemEnglish(dst), true
}

// lookupASCII returns the entry of an ASCII word in lower case whose hash is h.
func lookupASCII(lower []byte, h uint32) *wordEntry {
	set := &wordCache[h%uint32(len(wordCache))]
	if e := set[0].Load(); e.of(lower) {
		return e
	}
	if e := set[1].Load(); e.of(lower) {
		return e
	}
	key := string(lower)
	return set.remember(newEntry(key, key))
}

// lookupFolded returns the entry of a word that has other characters too, unchanged from the
// text. The entry's term is empty if folding removes all characters.
func lookupFolded(raw string) *wordEntry {
	h := uint32(hashSeed)
	for i := range len(raw) {
		h = (h ^ uint32(raw[i])) * hashPrime
	}
	set := &wordCache[hashSlot(h)%uint32(len(wordCache))]
	for k := range set {
		if e := set[k].Load(); e != nil && string(e.key[:e.n]) == raw {
			return e
		}
	}
	return set.remember(newEntry(raw, clip(fold(raw))))
}

// newEntry returns the entry of a word whose folded form is given. It may keep the folded form in memory.
func newEntry(key, folded string) *wordEntry {
	e := &wordEntry{stop: stopWords[folded]}
	if len(key) <= maxCacheBytes {
		e.n = uint8(copy(e.key[:], key))
	}
	if e.stop {
		e.term = stopTerm(folded)
		return e
	}
	e.term = stemOf(folded)
	if len(key) <= maxFormBytes && questionWords[strings.ToLower(key)] {
		e.kind = kindQuestion
	}
	return e
}

// remember stores an entry in place of the older one of the set.
func (set *entrySet) remember(e *wordEntry) *wordEntry {
	if e.n > 0 {
		set[1].Store(set[0].Load())
		set[0].Store(e)
	}
	return e
}

// Parameters of FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/.
const (
	hashSeed  = 2166136261
	hashPrime = 16777619
)

func hashSlot(h uint32) uint32 { return h ^ h>>15 }
