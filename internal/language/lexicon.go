package language

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"iter"
	"math"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/contextmem/contextmem/extract"
)

// Word is what the lexicon says about a word.
type Word struct {
	Flags Flag
	Num   int16 // the meaning depends on the flag
	Verb  int16 // number of its verb, see VerbAt; 0 for none
	Form  Form  // the forms of that verb that the word can be
}

// entry is the index of a Word in entries. Many words have equal entries. A token of a long text keeps an entry, which takes an eighth of
// the space of a Word.
type entry uint16

// word returns the Word of an entry.
func (e entry) word() Word { return entries[e] }

// intern returns the entry of a Word and adds it to entries if it is not there.
func intern(w Word) entry {
	e, ok := entryOf[w]
	if !ok {
		if len(entries) > math.MaxUint16 {
			panic("language: too many different words")
		}
		e = entry(len(entries))
		entries, entryOf[w] = append(entries, w), e
	}
	return e
}

// maxLookup is the maximum length in bytes of a word that is looked up; the tables have no longer words.
const maxLookup = 24

// lookup finds a word in any case. Latin accents must be as in the tables.
func lookup(s string) entry {
	if len(s) <= shortWord {
		key := packLower(s)
		if key&highBits != 0 {
			return lookupSlow(s)
		}
		return lexicon.short[key]
	}
	if len(s) > maxLookup {
		return 0
	}
	key, ok := lowerKey(s)
	if !ok {
		return lookupSlow(s)
	}
	return lexicon.long[key]
}

// wordTable maps lower-case words to values. Most words are short, and a lookup by an integer takes half the time of one by a string.
type wordTable[V any] struct {
	short map[uint64]V // words of up to shortWord bytes, by packLower
	long  map[lexKey]V
}

// shortWord is the number of bytes that fit into a uint64.
const shortWord = 8

// highBits masks the high bit of each byte, which ASCII bytes do not have.
const highBits = 0x8080808080808080

// packLower packs a word of up to shortWord bytes into an integer, the first byte lowest. ASCII letters become lower case.
func packLower(s string) uint64 {
	var w uint64
	switch n := len(s); {
	case n >= 4:
		w = uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
		e := s[n-4:] // may overlap the first four bytes
		w |= (uint64(e[0]) | uint64(e[1])<<8 | uint64(e[2])<<16 | uint64(e[3])<<24) << (8 * uint(n-4))
	case n >= 2:
		w = uint64(s[0]) | uint64(s[1])<<8 | uint64(s[n-1])<<(8*uint(n-1))
	case n == 1:
		w = uint64(s[0])
	}
	const ones = highBits >> 7
	low := w &^ highBits
	upper := (low + (0x80-'A')*ones) &^ (low + (0x7F-'Z')*ones) &^ w & highBits // from A to Z
	return w | upper>>2
}

// lexKey is a lower-case word padded with zeros. A map with such keys touches less memory than one with strings, and every word of
// every text is looked up.
type lexKey [maxLookup]byte

// tableOf builds a table from a map of lower-case words.
func tableOf[V any](m map[string]V) wordTable[V] {
	w := wordTable[V]{short: make(map[uint64]V, len(m)), long: make(map[lexKey]V)}
	for s, v := range m {
		key, ok := keyOf(s)
		switch {
		case !ok:
			panic("language: " + s + " is too long to be looked up")
		case len(s) <= shortWord:
			w.short[packLower(s)] = v
		default:
			w.long[key] = v
		}
	}
	return w
}

// all yields all words, in no particular order.
func (w *wordTable[V]) all() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		var b [shortWord]byte
		for key, v := range w.short {
			binary.LittleEndian.PutUint64(b[:], key)
			if !yield(string(bytes.TrimRight(b[:], "\x00")), v) {
				return
			}
		}
		for key, v := range w.long {
			if !yield(string(bytes.TrimRight(key[:], "\x00")), v) {
				return
			}
		}
	}
}

// find returns the value of a word that is spelled as in the tables.
func (w *wordTable[V]) find(s string) (v V, ok bool) {
	if len(s) <= shortWord {
		v, ok = w.short[packLower(s)]
		return v, ok
	}
	key, ok := keyOf(s)
	if !ok {
		return v, false
	}
	v, ok = w.long[key]
	return v, ok
}

// lowerKey returns the key of a word in any case; ok is false if the word is not in ASCII. The word must not be longer than maxLookup.
func lowerKey(s string) (key lexKey, ok bool) {
	for i := range len(s) {
		c := s[i]
		if c >= utf8.RuneSelf {
			return key, false
		}
		if IsUpperByte(c) {
			c |= 0x20
		}
		key[i] = c
	}
	return key, true
}

// keyOf returns the key of a word; ok is false if the word is longer than maxLookup.
func keyOf(s string) (key lexKey, ok bool) {
	n := copy(key[:], s)
	return key, n == len(s)
}

// Lookup returns the lexicon's entry for a word in any case, the zero Word if there is none.
func Lookup(s string) Word {
	load()
	return lookup(s).word()
}

func lookupSlow(s string) entry {
	if e, ok := lexicon.find(strings.ReplaceAll(strings.ToLower(s), "’", "'")); ok {
		return e
	}
	e, _ := lexicon.find(extract.Key(s)) // "María" is in the list as "maria"
	return entryOf[Word{Flags: e.word().Flags & (GivenName | PlaceName)}]
}

// firstNamed returns an entry without flags for a word whose part before the hyphen has the entry first: "Jean-Pierre" is a given name.
func (e entry) firstNamed(first entry) entry {
	w := e.word()
	w.Flags = first.word().Flags & GivenName
	return entryOf[w]
}

//go:embed tables/function.txt
var functionTable string

//go:embed tables/cues.txt
var cueTable string

//go:embed tables/names.txt
var nameTable string

//go:embed tables/places.txt
var placeTable string

//go:embed tables/verbs.txt
var verbsTable string

// load reads the word tables when the first text is read.
var load = sync.OnceFunc(readTables)

func readTables() {
	m := make(map[string]Word, 6000)
	for _, table := range [...]string{functionTable, cueTable, nameTable} {
		addWords(m, table)
	}
	for i := range dateTables {
		for w := range strings.FieldsSeq(TableSections(*dateTables[i].table)["function"]) {
			e := m[w]
			e.Flags |= dateTables[i].flag
			m[w] = e
		}
	}
	verbs = addVerbs(m, verbsTable)
	lexicon = internAll(m)
	placePhrases = make(map[string]bool)
	for name := range TableLines(placeTable) {
		placePhrases[extract.Key(name)] = true
	}
}

// internAll builds the lexicon, and adds to entries what lookupSlow and firstNamed return.
func internAll(m map[string]Word) wordTable[entry] {
	entries, entryOf = nil, map[Word]entry{}
	intern(Word{})
	for _, f := range [...]Flag{GivenName, PlaceName, GivenName | PlaceName} {
		intern(Word{Flags: f})
	}
	all := make(map[string]entry, len(m))
	for s, w := range m {
		all[s] = intern(w)
		if w.Flags == 0 {
			w.Flags = GivenName
			intern(w)
		}
	}
	return tableOf(all)
}

// The results of load. It runs before a document gets its text.
var (
	lexicon      wordTable[entry]
	entries      []Word         // of different words; the first is that of a word which the lexicon does not have
	entryOf      map[Word]entry // the index of each in entries
	verbs        []Verb
	placePhrases map[string]bool // places of more than one word, by key
)

// addWords reads a table of words with flags into m.
func addWords(m map[string]Word, table string) {
	var flags Flag
	num, step, numbered := 0, 0, false
	for line := range TableLines(table) {
		if head, ok := strings.CutPrefix(line, "@ "); ok {
			names, number, ok := strings.Cut(head, " = ")
			flags, numbered = 0, ok
			for name := range strings.FieldsSeq(names) {
				f := flagNames[name]
				if f == 0 {
					panic("language: no flag is called " + name)
				}
				flags |= f
			}
			first, by, _ := strings.Cut(number, " ")
			num, _ = strconv.Atoi(first)
			step, _ = strconv.Atoi(by)
			continue
		}
		for list := range strings.FieldsSeq(line) {
			if !numbered {
				e := m[list]
				e.Flags |= flags
				m[list] = e
				continue
			}
			for w := range strings.SplitSeq(list, "/") {
				e := m[w]
				e.Flags |= flags
				e.Num = int16(num)
				m[w] = e
			}
			num += step
		}
	}
}
