package rules

// maxLookup is the longest word in bytes that is looked up; nothing in the lists is longer.
const maxLookup = 24

// lexSlots is the number of slots, a power of two and more than twice the words.
const lexSlots = 1 << 14

// FNV-1a, 32 bits (Fowler, Noll, Vo).
const (
	lexSeed  = 2166136261
	lexPrime = 16777619
)

var lexicon = buildLexicon()

// lexTable is the words of the lexicon. Every word of every text is looked up in it, so it is laid out to touch two places of memory, where
// a map touches four.
type lexTable struct {
	slots [lexSlots]uint16 // places in words, counted from 1: that of a word is in the slot of its hash, or the next free one
	words []lexWord
}

type lexWord struct {
	key  lexKey
	n    uint8 // bytes of key
	word word
}

// lexKey is a word in lower case with zeros behind it.
type lexKey [maxLookup]byte

func newLexTable(m map[string]word) *lexTable {
	t := &lexTable{words: make([]lexWord, 0, len(m))}
	for s, w := range m {
		key, h, ok := lexKeyOf(s)
		if !ok {
			panic("rules: " + s + " is too long to be looked up")
		}
		i := lexSlot(h)
		for t.slots[i] != 0 {
			i = (i + 1) % lexSlots
		}
		t.words = append(t.words, lexWord{key: key, n: uint8(len(s)), word: w})
		t.slots[i] = uint16(len(t.words))
	}
	return t
}

func lexSlot(h uint32) uint32 { return (h ^ h>>15) % lexSlots }

// lexKeyOf returns the key and the hash of a word; false if it is too long for the lists.
func lexKeyOf(s string) (key lexKey, h uint32, ok bool) {
	if len(s) > maxLookup {
		return key, 0, false
	}
	h = lexSeed
	for i := range len(s) {
		key[i] = s[i]
		h = (h ^ uint32(s[i])) * lexPrime
	}
	return key, h, true
}

// get finds a word that is in lower case.
func (t *lexTable) get(s string) (word, bool) {
	key, h, ok := lexKeyOf(s)
	if !ok {
		return word{}, false
	}
	return t.find(&key, len(s), h)
}

// find is get for the key of n bytes with its hash.
func (t *lexTable) find(key *lexKey, n int, h uint32) (word, bool) {
	for i := lexSlot(h); t.slots[i] != 0; i = (i + 1) % lexSlots {
		if w := &t.words[t.slots[i]-1]; int(w.n) == n && w.key == *key {
			return w.word, true
		}
	}
	return word{}, false
}
