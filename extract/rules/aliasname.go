package rules

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/contextmem/contextmem/extract"
)

const (
	maxAliases   = 200 // per item
	maxAliasGap  = 48  // bytes between two names that are one
	maxAcronym   = 8   // letters
	minShortName = 3   // letters of a first name that begins a longer one: "Alex", "Alexander"
)

// aliasCues stand between two names of one entity.
var aliasCues = phraseSet(`also known as|aka|a.k.a|a.k.a.|better known as|best known as|commonly known as|known as|also called|nicknamed|who goes by|goes by|going by
	goes by the name|goes by the name of|formerly|formerly known as|formerly called|previously known as|previously called|originally named|born|née|alias
	who is also known as|is also known as|was also known as|is better known as|is known as|was formerly known as|is nicknamed|was born|short for|is short for|abbreviated
	auch bekannt als|bekannt als|genannt|ehemals|también conocido como|también conocida como|conocido como|conocida como|antes llamado|antes llamada
	aussi connu sous le nom de|connu sous le nom de|connue sous le nom de|anciennement|também conhecido como|também conhecida como|conhecido como|conhecida como
	noto come|nota come|anche noto come|anche nota come`)

// formerCues come before an older name, so that the name before them is the one to keep.
var formerCues = phraseSet(`formerly|formerly known as|formerly called|previously known as|previously called|was formerly known as|ehemals|antes llamado|antes llamada|anciennement`)

func phraseSet(list string) map[string]bool {
	m := make(map[string]bool)
	for line := range strings.SplitSeq(list, "\n") {
		for p := range strings.SplitSeq(strings.TrimSpace(line), "|") {
			m[p] = true
		}
	}
	return m
}

// shortNames maps familiar forms of given names to the full ones.
var shortNames = func() map[string][]string {
	m := make(map[string][]string)
	for line := range strings.SplitSeq(`robert bob rob bobby robbie|william bill will billy liam|richard rick dick rich ricky|elizabeth liz beth lizzie betty eliza lisa|margaret maggie meg peggy greta
		katherine kate kathy katie kat|catherine kate cathy cat|james jim jimmy jamie|john jack johnny|michael mike mick mickey|thomas tom tommy|charles charlie chuck|edward ed eddie ted ned
		theodore ted teddy theo|joseph joe joey|anthony tony|daniel dan danny|david dave|patrick pat paddy|patricia pat patty trish|samuel sam|samantha sam|alexander alex sasha|alexandra alex sasha
		andrew andy drew|benjamin ben benny|matthew matt|nicholas nick|christopher chris|christina chris tina|gregory greg|stephen steve|steven steve|jennifer jen jenny|jessica jess|rebecca becky
		susan sue susie|deborah deb debbie|victoria vicky tori|abigail abby|henry harry hank|lawrence larry|leonard leo len|ronald ron|donald don|kenneth ken|timothy tim|philip phil|peter pete
		frederick fred|francis frank|franklin frank|gerald gerry jerry|jeffrey jeff|jonathan jon|nathaniel nate|nathan nate|raymond ray|vincent vince|walter walt|zachary zach|amanda mandy
		barbara barb|cynthia cindy|dorothy dot|eleanor ellie nora|evelyn eve|isabella bella izzy|josephine jo josie|judith judy|kimberly kim|louise lou|mary molly polly|nancy nan|pamela pam
		sarah sally|stephanie steph|teresa terry tess|francisco paco pancho|jose pepe|ignacio nacho|enrique quique|guadalupe lupe|maria mia|johannes hannes hans|giuseppe beppe peppe|francesco ciccio`, "|") {
		for names := range strings.SplitSeq(line, "\n") {
			f := strings.Fields(names)
			for _, short := range f[min(1, len(f)):] {
				m[short] = append(m[short], f[0])
			}
		}
	}
	return m
}()

// statedAliases adds the names that the text says to be one: "Robert Smith, also known as Bob", "Bob (Robert Smith)",
// "International Business Machines (IBM)".
func (d *doc) statedAliases() {
	var last *nameHit
	for i := range d.names {
		h := &d.names[i]
		if h.part {
			continue
		}
		if last != nil && last.sent == h.sent && h.lo >= last.hi {
			d.aliasPair(last, h)
		}
		last = h
	}
	d.bracketedAcronyms()
}

// aliasPair adds two neighbouring names when what is between them says that they are one.
func (d *doc) aliasPair(a, b *nameHit) {
	from, to := int(d.toks[a.hi-1].end), int(d.toks[b.lo].start)
	if to-from < 2 || to-from > maxAliasGap || len(d.out.Aliases) >= maxAliases {
		return
	}
	between := d.text[from:to]
	cue := strings.ToLower(strings.Join(strings.FieldsFunc(between, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",(\"'“”‘’«»[:", r) }), " "))
	keyA, keyB := d.hitKey(a), d.hitKey(b)
	if keyA == keyB || keyA == "" || keyB == "" || a.typ != b.typ && a.typ != extract.TypeConcept && b.typ != extract.TypeConcept && cue != "" {
		return
	}
	person := (a.typ == extract.TypePerson) != (b.typ == extract.TypePerson)
	switch {
	case person && (formerCues[cue] || cue == "born" || cue == "was born"): // "Anna, formerly Zorblax"
	case aliasCues[cue]:
		if cue == "short for" || cue == "is short for" {
			a, b, keyA, keyB = b, a, keyB, keyA
		} else if !formerCues[cue] && fuller(keyB, keyA) {
			a, b, keyA, keyB = b, a, keyB, keyA
		}
		d.addAlias(b, a, keyB, keyA)
	case cue == "" && strings.HasSuffix(strings.TrimRight(between, " \"“'‘"), "(") && d.isPunct(&d.sents[b.sent], b.hi, ')'):
		if d.onePerson(a, b, keyA, keyB) {
			if fuller(keyB, keyA) {
				a, b, keyA, keyB = b, a, keyB, keyA
			}
			d.addAlias(b, a, keyB, keyA)
		}
	}
}

// fuller reports whether a name has more words than another.
func fuller(a, b string) bool { return strings.Count(a, " ") > strings.Count(b, " ") }

// onePerson reports whether one of two names is a familiar form of the other's first name: Bob of Robert Smith.
func (d *doc) onePerson(a, b *nameHit, keyA, keyB string) bool {
	if fuller(keyB, keyA) {
		a, b, keyA, keyB = b, a, keyB, keyA
	}
	if strings.Contains(keyB, " ") || a.typ != extract.TypePerson && a.typ != extract.TypeConcept || b.typ != extract.TypePerson && b.typ != extract.TypeConcept {
		return false
	}
	first, _, ok := strings.Cut(keyA, " ")
	if !ok {
		return familiar(keyB, keyA) || familiar(keyA, keyB)
	}
	return familiar(keyB, first) || strings.HasSuffix(keyA, " "+keyB)
}

// familiar reports whether short is a short form of a given name.
func familiar(short, full string) bool {
	for _, f := range shortNames[short] {
		if f == full {
			return true
		}
	}
	return len(short) >= minShortName && len(full) > len(short) && strings.HasPrefix(full, short)
}

func (d *doc) hitKey(h *nameHit) string {
	if h.key != "" {
		return h.key
	}
	return extract.Key(d.surface(h.lo, h.hi))
}

// addAlias says that short stands for full.
func (d *doc) addAlias(short, full *nameHit, shortKey, fullKey string) {
	s := &d.sents[full.sent]
	if s.question || len(d.out.Aliases) >= maxAliases {
		return
	}
	if d.hasAlias(shortKey, fullKey) {
		return
	}
	for _, h := range [...]*nameHit{short, full} {
		d.addMention(extract.Mention{Name: d.surface(h.lo, h.hi), Key: d.hitKey(h), Type: h.typ, Start: int(d.toks[h.lo].start), End: int(d.toks[h.hi-1].end)})
	}
	d.out.Aliases = append(d.out.Aliases, extract.Alias{Name: shortKey, Of: fullKey, Context: clip(d.sentenceText(s))})
}

// bracketedAcronyms reads "International Business Machines (IBM)" and "IBM (International Business Machines)".
func (d *doc) bracketedAcronyms() {
	for k := range d.sents {
		s := &d.sents[k]
		for i := s.lo + 1; i+2 < s.hi; i++ {
			if !d.isPunct(s, i, '(') {
				continue
			}
			closing := i + 1
			for closing < s.hi && closing < i+maxSpan && !d.isPunct(s, closing, ')') {
				closing++
			}
			if !d.isPunct(s, closing, ')') {
				continue
			}
			if closing == i+2 && d.acronym(i+1) {
				if lo := d.spelledBefore(s, i, d.str(i+1)); lo < i {
					d.acronymAlias(k, tokSpan{i + 1, i + 2}, tokSpan{lo, i})
				}
			} else if d.acronym(i-1) && d.initialsAre(i+1, closing, d.str(i-1)) {
				d.acronymAlias(k, tokSpan{i - 1, i}, tokSpan{i + 1, closing})
			}
		}
	}
}

func (d *doc) acronymAlias(sent int, short, full tokSpan) {
	a := nameHit{lo: short.lo, hi: short.hi, sent: sent, typ: extract.TypeConcept}
	b := nameHit{lo: full.lo, hi: full.hi, sent: sent, typ: d.typeOf(full.lo, full.hi)}
	a.typ = b.typ
	if keyA, keyB := d.hitKey(&a), d.hitKey(&b); keyA != "" && keyB != "" && keyA != keyB {
		d.addAlias(&a, &b, keyA, keyB)
	}
}

// acronym reports whether token i is two to eight capitals.
func (d *doc) acronym(i int) bool {
	w := d.str(i)
	if len(w) < 2 || len(w) > maxAcronym || d.toks[i].kind != kWord && d.toks[i].kind != kIdent {
		return false
	}
	for j := range len(w) {
		if !isUpperByte(w[j]) {
			return false
		}
	}
	return true
}

// spelledBefore returns where the words before token i begin whose initials are those of an acronym, or i.
func (d *doc) spelledBefore(s *sentence, i int, acronym string) int {
	for lo := i - 1; lo >= s.lo && lo >= i-maxSpan; lo-- {
		if d.initialsAre(lo, i, acronym) {
			return lo
		}
	}
	return i
}

// initialsAre reports whether the capitalised words [lo, hi) begin with the letters of an acronym; small words between
// them may be left out of it.
func (d *doc) initialsAre(lo, hi int, acronym string) bool {
	at, words := 0, 0
	for i := lo; i < hi; i++ {
		t := &d.toks[i]
		if t.kind == kPunct && (t.ch == '&' || t.ch == '-' || t.ch == '.' && t.gap == gapNone) && i > lo {
			continue
		}
		if t.kind != kWord {
			return false
		}
		r, _ := utf8.DecodeRuneInString(d.str(i))
		switch {
		case at < len(acronym) && unicode.IsUpper(r) && unicode.ToUpper(r) == rune(acronym[at]):
			at++
			words++
		case i > lo && t.shape == sLower && t.is(fConn|fPrep|fConj|fDet):
			if at < len(acronym) && unicode.ToUpper(r) == rune(acronym[at]) && i+1 < hi && !d.startsWith(i+1, acronym[at]) {
				at++ // "Department of Defense (DOD)"
			}
		default:
			return false
		}
	}
	return at == len(acronym) && words > 1
}

func (d *doc) startsWith(i int, c byte) bool { return d.str(i)[0] == c }

// likelyAliases lets the first name of a person stand for the full name, in memories: whoever has one name in them is
// spoken of by it. The Store drops it where two people have that first name.
func (d *doc) likelyAliases() {
	if !d.in.Memory {
		return
	}
	self, _, _ := strings.Cut(extract.Key(d.in.Speaker), " ")
	for i := range d.out.Mentions {
		m := &d.out.Mentions[i]
		if m.Type != extract.TypePerson || m.Part || m.Phrase || len(d.out.Aliases) >= maxAliases {
			continue
		}
		first, _, ok := nameWords(m.Key)
		if !ok || first == "" || first == self {
			continue
		}
		if w := lookup(first); w.flags&fGiven == 0 || w.flags&(fPlace|fMonth|fWeekday|fSeason) != 0 {
			continue
		}
		if d.hasAlias(first, m.Key) {
			continue
		}
		d.out.Aliases = append(d.out.Aliases, extract.Alias{Name: first, Of: m.Key, Likely: true})
	}
}

func (d *doc) hasAlias(name, of string) bool {
	for _, a := range d.out.Aliases {
		if a.Name == name && a.Of == of {
			return true
		}
	}
	return false
}
