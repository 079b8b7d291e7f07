package language

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/contextmem/contextmem/extract"
)

// Word is what the lexicon knows about a word.
type Word struct {
	Flags Flag
	Num   int16 // what it means depends on the flag
	Verb  int16 // its verb, see VerbAt; 0 for none
	Form  Form  // which forms of that verb it can be
}

// maxLookup is the longest word in bytes that is looked up; nothing in the tables is longer.
const maxLookup = 24

// lookup finds a word in any case and with any Latin accents as they are in the tables.
func lookup(s string) Word {
	if len(s) > maxLookup {
		return Word{}
	}
	var key lexKey
	for i := range len(s) {
		c := s[i]
		if c >= utf8.RuneSelf {
			return lookupSlow(s)
		}
		if IsUpperByte(c) {
			c |= 0x20
		}
		key[i] = c
	}
	return lexicon[key]
}

// lexKey is a word in lower case with zeros behind it. A map with such keys touches less memory than one with strings, and
// each word of each text is looked up.
type lexKey [maxLookup]byte

// keyOf returns the key of a word; false if it is too long for the tables.
func keyOf(s string) (key lexKey, ok bool) {
	n := copy(key[:], s)
	return key, n == len(s)
}

// Lookup returns what the lexicon knows about a word in any case, zero if nothing.
func Lookup(s string) Word {
	load()
	return lookup(s)
}

func lookupSlow(s string) Word {
	if w, ok := known(strings.ReplaceAll(strings.ToLower(s), "’", "'")); ok {
		return w
	}
	w, _ := known(extract.Key(s)) // "María" is in the list as "maria"
	return Word{Flags: w.Flags & (GivenName | PlaceName)}
}

// known finds a word as it is in the tables.
func known(s string) (Word, bool) {
	key, ok := keyOf(s)
	if !ok {
		return Word{}, false
	}
	w, ok := lexicon[key]
	return w, ok
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

// load reads the tables of words when the first text comes.
var load = sync.OnceFunc(readTables)

func readTables() {
	m := make(map[string]Word, 6000)
	for _, table := range [...]string{functionTable, cueTable, nameTable} {
		addWords(m, table)
	}
	for i := range tongueTables {
		for w := range strings.FieldsSeq(TableSections(*tongueTables[i].table)["function"]) {
			e := m[w]
			e.Flags |= tongueTables[i].flag
			m[w] = e
		}
	}
	verbs = addVerbs(m, verbsTable)
	lexicon = make(map[lexKey]Word, len(m))
	for s, w := range m {
		key, ok := keyOf(s)
		if !ok {
			panic("language: " + s + " is too long to be looked up")
		}
		lexicon[key] = w
	}
	placePhrases = make(map[string]bool)
	for name := range TableLines(placeTable) {
		placePhrases[extract.Key(name)] = true
	}
}

// What load reads; loaded before a document has a text.
var (
	lexicon      map[lexKey]Word // words in lower case
	verbs        []Verb
	placePhrases map[string]bool // places of more than one word, by key
)

// addWords reads a table of words with flags.
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
