package lexical

// stemEnglish stems a word of at least 3 characters, all of them a to z, in place, and returns its stem. It is the English Snowball stemmer
// (Porter 2) as package snowballstem has it, https://snowballstem.org/algorithms/english/stemmer.html, without what apostrophes need. A large text
// has more words than the cache, and this takes a fraction of the time of the generated stemmer.
func stemEnglish(word []byte) []byte {
	if stem, ok := unlikeOthers[string(word)]; ok {
		return append(word[:0], stem...)
	}
	s := stemming{b: word}
	marked := s.markConsonants()
	s.p1, s.p2 = s.regions()
	s.plural()
	if !afterPlural[string(s.b)] {
		s.participle()
		s.finalY()
		s.suffix(&longSuffixes)
		s.suffix(&shortSuffixes)
		s.suffix(&lastSuffixes)
		s.finalLetter()
	}
	if marked {
		for i, c := range s.b {
			if c == 'Y' {
				s.b[i] = 'y'
			}
		}
	}
	return s.b
}

// stemming is a word while it is stemmed. Y is a y that is a consonant. p1 and p2 are the offsets at which the regions R1 and R2 begin.
type stemming struct {
	b      []byte
	p1, p2 int
}

// unlikeOthers has words with stems that the rules would not give.
var unlikeOthers = map[string]string{
	"skis": "ski", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "idly": "idl", "gently": "gentl", "ugly": "ugli", "early": "earli",
	"only": "onli", "singly": "singl", "sky": "sky", "news": "news", "howe": "howe", "atlas": "atlas", "cosmos": "cosmos", "bias": "bias", "andes": "andes",
}

// afterPlural has words that stay as they are once their plural ending is removed.
var afterPlural = wordSet("inning outing canning herring earring proceed exceed succeed")

// vowel reports whether c is a vowel; the mark Y is none.
func vowel(c byte) bool { return c >= 'a' && c <= 'y' && 1<<(c-'a')&vowels != 0 }

const vowels = 1 | 1<<('e'-'a') | 1<<('i'-'a') | 1<<('o'-'a') | 1<<('u'-'a') | 1<<('y'-'a')

// markConsonants replaces each y at the beginning and after a vowel by Y. marked reports whether there are any.
func (s *stemming) markConsonants() (marked bool) {
	for i, c := range s.b {
		if c == 'y' && (i == 0 || vowel(s.b[i-1])) {
			s.b[i], marked = 'Y', true
		}
	}
	return marked
}

// regions returns the offsets of R1 and R2.
func (s *stemming) regions() (p1, p2 int) {
	p1 = s.pastConsonant(0)
	for _, begin := range []string{"gener", "commun", "arsen"} {
		if len(s.b) >= len(begin) && string(s.b[:len(begin)]) == begin {
			p1 = len(begin)
		}
	}
	return p1, s.pastConsonant(p1)
}

// pastConsonant returns the offset after the first consonant that follows a vowel at or after i, or the length of the word.
func (s *stemming) pastConsonant(i int) int {
	for i < len(s.b) && !vowel(s.b[i]) {
		i++
	}
	for i < len(s.b) && vowel(s.b[i]) {
		i++
	}
	return min(i+1, len(s.b))
}

// hasVowel reports whether one of the first n characters is a vowel.
func (s *stemming) hasVowel(n int) bool {
	for i := n - 1; i >= 0; i-- {
		if vowel(s.b[i]) {
			return true
		}
	}
	return false
}

// ends reports whether the word ends with a suffix.
func (s *stemming) ends(suffix string) bool {
	n := len(s.b) - len(suffix)
	return n >= 0 && string(s.b[n:]) == suffix
}

// shortAt reports whether the first n characters end with a short syllable.
func (s *stemming) shortAt(n int) bool {
	if n >= 3 && !vowel(s.b[n-1]) && s.b[n-1] != 'w' && s.b[n-1] != 'x' && s.b[n-1] != 'Y' && vowel(s.b[n-2]) && !vowel(s.b[n-3]) {
		return true
	}
	return n == 2 && !vowel(s.b[1]) && vowel(s.b[0])
}

// plural is step 1a: the ending of plurals.
func (s *stemming) plural() {
	n := len(s.b)
	switch last := s.b[n-1]; {
	case last == 'd' && s.ends("ied"), last == 's' && s.ends("ies"):
		if n > 4 {
			s.b = s.b[:n-2]
		} else {
			s.b = s.b[:n-1]
		}
	case last != 's':
	case s.ends("sses"):
		s.b = s.b[:n-2]
	case s.b[n-2] != 's' && s.b[n-2] != 'u' && s.hasVowel(n-2):
		s.b = s.b[:n-1]
	}
}

// participle is step 1b: the endings ed and ing, and their adverbs.
func (s *stemming) participle() {
	n := len(s.b)
	switch {
	case s.ends("eedly"):
		if s.p1 <= n-5 {
			s.b = s.b[:n-3]
		}
		return
	case s.ends("eed"):
		if s.p1 <= n-3 {
			s.b = s.b[:n-1]
		}
		return
	case s.ends("ingly"), s.ends("edly"):
		n -= 2
	}
	switch end := string(s.b[:n]); {
	case len(end) >= 3 && end[len(end)-3:] == "ing":
		n -= 3
	case len(end) >= 2 && end[len(end)-2:] == "ed":
		n -= 2
	default:
		return
	}
	if !s.hasVowel(n) {
		return
	}
	s.b = s.b[:n]
	switch {
	case s.ends("at"), s.ends("bl"), s.ends("iz"):
		s.b = append(s.b, 'e')
	case n >= 2 && s.b[n-1] == s.b[n-2] && doubled(s.b[n-1]):
		s.b = s.b[:n-1]
	case n == s.p1 && s.shortAt(n):
		s.b = append(s.b, 'e')
	}
}

// doubled reports whether a letter may be doubled before ed and ing.
func doubled(c byte) bool {
	switch c {
	case 'b', 'd', 'f', 'g', 'm', 'n', 'p', 'r', 't':
		return true
	}
	return false
}

// finalY is step 1c: a y after a consonant becomes i.
func (s *stemming) finalY() {
	n := len(s.b)
	if n > 2 && (s.b[n-1] == 'y' || s.b[n-1] == 'Y') && !vowel(s.b[n-2]) {
		s.b[n-1] = 'i'
	}
}

// suffixRule replaces a suffix in R1.
type suffixRule struct {
	suffix, by string
	second     bool   // the suffix has to be in R2
	after      string // one of these letters has to be before it; "": any
}

// suffixRules has rules by the last letter of their suffix, the longest first. Only the first rule whose suffix a word has counts.
type suffixRules [26][]suffixRule

func rulesOf(all ...suffixRule) (rules suffixRules) {
	for _, r := range all {
		last := &rules[r.suffix[len(r.suffix)-1]-'a']
		at := 0
		for at < len(*last) && len((*last)[at].suffix) >= len(r.suffix) {
			at++
		}
		*last = append((*last)[:at], append([]suffixRule{r}, (*last)[at:]...)...)
	}
	return rules
}

var (
	// longSuffixes is step 2.
	longSuffixes = rulesOf(
		suffixRule{suffix: "tional", by: "tion"}, suffixRule{suffix: "enci", by: "ence"}, suffixRule{suffix: "anci", by: "ance"},
		suffixRule{suffix: "abli", by: "able"}, suffixRule{suffix: "entli", by: "ent"}, suffixRule{suffix: "izer", by: "ize"},
		suffixRule{suffix: "ization", by: "ize"}, suffixRule{suffix: "ational", by: "ate"}, suffixRule{suffix: "ation", by: "ate"},
		suffixRule{suffix: "ator", by: "ate"}, suffixRule{suffix: "alism", by: "al"}, suffixRule{suffix: "aliti", by: "al"},
		suffixRule{suffix: "alli", by: "al"}, suffixRule{suffix: "fulness", by: "ful"}, suffixRule{suffix: "ousli", by: "ous"},
		suffixRule{suffix: "ousness", by: "ous"}, suffixRule{suffix: "iveness", by: "ive"}, suffixRule{suffix: "iviti", by: "ive"},
		suffixRule{suffix: "biliti", by: "ble"}, suffixRule{suffix: "bli", by: "ble"}, suffixRule{suffix: "ogi", by: "og", after: "l"},
		suffixRule{suffix: "fulli", by: "ful"}, suffixRule{suffix: "lessli", by: "less"}, suffixRule{suffix: "li", after: "cdeghkmnrt"})
	// shortSuffixes is step 3.
	shortSuffixes = rulesOf(
		suffixRule{suffix: "tional", by: "tion"}, suffixRule{suffix: "ational", by: "ate"}, suffixRule{suffix: "alize", by: "al"},
		suffixRule{suffix: "icate", by: "ic"}, suffixRule{suffix: "iciti", by: "ic"}, suffixRule{suffix: "ical", by: "ic"}, suffixRule{suffix: "ful"},
		suffixRule{suffix: "ness"}, suffixRule{suffix: "ative", second: true})
	// lastSuffixes is step 4.
	lastSuffixes = func() suffixRules {
		all := []suffixRule{{suffix: "ion", second: true, after: "st"}}
		for _, s := range []string{"al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ism", "ate", "iti", "ous", "ive", "ize"} {
			all = append(all, suffixRule{suffix: s, second: true})
		}
		return rulesOf(all...)
	}()
)

// suffix applies the rule of the longest suffix that the word has.
func (s *stemming) suffix(rules *suffixRules) {
	last := s.b[len(s.b)-1] - 'a'
	if last >= 26 {
		return
	}
	for i := range rules[last] {
		r := &rules[last][i]
		if !s.ends(r.suffix) {
			continue
		}
		n := len(s.b) - len(r.suffix)
		from := s.p1
		if r.second {
			from = s.p2
		}
		if from <= n && (r.after == "" || n > 0 && contains(r.after, s.b[n-1])) {
			s.b = append(s.b[:n], r.by...)
		}
		return
	}
}

func contains(letters string, c byte) bool {
	for i := range len(letters) {
		if letters[i] == c {
			return true
		}
	}
	return false
}

// finalLetter is step 5: an e or the second of two l at the end.
func (s *stemming) finalLetter() {
	n := len(s.b) - 1
	switch s.b[n] {
	case 'e':
		if s.p2 <= n || s.p1 <= n && !s.shortAt(n) {
			s.b = s.b[:n]
		}
	case 'l':
		if s.p2 <= n && n > 0 && s.b[n-1] == 'l' {
			s.b = s.b[:n]
		}
	}
}
