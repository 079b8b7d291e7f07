package rules

import (
	"strings"

	"github.com/contextmem/contextmem/internal/language"
)

// traits accumulates the traits of a claim: the sum of their weights and, if requested, their names.
type traits struct {
	sum   float32
	model *gateModel
	spell bool
	names []string
}

const traitSeed = 2166136261

// signs maps the signs that are counted to their names.
var signs = [128]string{'.': ".", '!': "!", '?': "?", '"': "quote", ':': "colon", '(': "("}

// traitHash continues the hash of a name (FNV-1a) with s.
func traitHash(h uint32, s string) uint32 {
	for i := 0; i < len(s); i++ {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}

func (t *traits) begin(spell bool) {
	*t = traits{model: gate(), spell: spell, names: t.names[:0]}
}

// add counts the trait "group:value".
func (t *traits) add(group, value string) {
	if t.spell {
		t.names = append(t.names, group+":"+value)
		return
	}
	t.sum += t.model.weight(traitHash(traitHash(traitHash(traitSeed, group), ":"), value))
}

// add2 counts the trait "group:a|b".
func (t *traits) add2(group, a, b string) {
	if t.spell {
		t.names = append(t.names, group+":"+a+"|"+b)
		return
	}
	h := traitHash(traitHash(traitHash(traitSeed, group), ":"), a)
	t.sum += t.model.weight(traitHash(traitHash(h, "|"), b))
}

// bucket returns the name of the size class of a count.
func bucket(n int) string {
	switch {
	case n <= 0:
		return "0"
	case n < 5:
		return "01234"[n : n+1]
	case n < 8:
		return "5"
	case n < 13:
		return "8"
	case n < 21:
		return "13"
	case n < 40:
		return "21"
	}
	return "40"
}

// plain returns the word of token i in lower case, "name" for a capitalised word that is no function word, and "" for signs and the
// like.
func (d *doc) plain(i int) string {
	switch t := &d.Tokens[i]; {
	case t.Kind != language.KindWord && t.Kind != language.KindNumber:
		return ""
	case t.Shape == language.LowerCase || t.Kind == language.KindNumber:
		return d.TokenText(i)
	case d.TokenText(i) == "I":
		return "i"
	case !t.Is(language.FunctionWord):
		return "name"
	}
	return strings.ToLower(d.TokenText(i))
}

// near counts the class of the token at i, and its word if the word is in a short list.
func (d *doc) near(t *traits, s *language.Sentence, group string, i int) {
	if i < s.Lo || i >= s.Hi {
		t.add(group, "none")
		return
	}
	class := d.class(i)
	t.add(group, class)
	switch class {
	case "name", "caps", "number", "literal", "noun", "nouns", "comma", "stop":
	default:
		t.add2(group, "w", d.plain(i))
	}
}

// traitsOf collects the traits of a claim.
func (d *doc) traitsOf(s *language.Sentence, c *claim, t *traits) {
	what := "fact"
	if c.relation {
		what = "relation"
	}
	t.add("is", what)
	t.add("about", c.about)
	t.add2("about", what, c.about)
	t.add("p", c.predicate)
	t.add2("p", c.predicate, c.about)
	t.add2("kind", what, c.kind)
	t.add("mode", string(c.mode))
	t.add2("sure", what, bucket(int(c.confidence*20)-6))
	if c.twice {
		t.add("twice", c.about)
	}
	if c.name != "" {
		d.nameTraits(s, c, t)
	}
	switch {
	case c.ended:
		t.add("holds", "ended")
	case c.negated:
		t.add("holds", "not")
		t.add2("pnot", c.predicate, "")
	}
	if c.relation {
		t.add2("types", c.from, c.to)
		t.add2("to", c.predicate, c.to)
		t.add2("from", c.predicate, c.from)
		if !c.verb {
			t.add2("beside", c.predicate, c.from)
		}
	}
	d.objectTraits(s, c, t)
	d.verbTraits(s, c, t)
	d.placeTraits(s, c, t)
}

// nameTraits adds the traits of the subject's name, and for a pronoun the distance to the name that it refers to.
func (d *doc) nameTraits(s *language.Sentence, c *claim, t *traits) {
	first, _, _ := strings.Cut(c.name, " ")
	w := language.Lookup(strings.ToLower(first))
	kind := "unknown"
	switch {
	case w.Flags&language.GivenName != 0:
		kind = "given"
	case w.Flags&language.PersonTitle != 0:
		kind = "title"
	case w.Flags&language.PlaceName != 0:
		kind = "place"
	case w.Flags != 0 || w.Verb > 0:
		kind = "word"
	}
	t.add2("name", c.about, kind)
	t.add2("namelong", c.about, bucket(strings.Count(c.name, " ")+1))
	t.add2("pname", c.predicate, kind)
	if c.about == "pronoun" {
		if at := strings.LastIndex(d.Text[:d.Tokens[c.at].Start], c.name); at >= 0 {
			t.add("back", bucket((int(d.Tokens[c.at].Start)-at)/12))
		} else {
			t.add("back", "none")
		}
	}
}

// objectTraits adds the traits of the object and of the tokens on both sides of it.
func (d *doc) objectTraits(s *language.Sentence, c *claim, t *traits) {
	if c.hi <= c.lo {
		if c.object == "" {
			t.add("object", "none")
			t.add2("pnone", c.predicate, c.about)
		} else {
			t.add("object", "unseen")
		}
		return
	}
	n := c.hi - c.lo
	t.add("length", bucket(n))
	first, last := d.class(c.lo), d.class(c.hi-1)
	t.add("first", first)
	t.add("last", last)
	t.add2("pfirst", c.predicate, first)
	t.add2("plast", c.predicate, last)
	if n == 1 {
		t.add("only", first)
		t.add2("ponly", c.predicate, first)
	}
	t.add("firstword", d.plain(c.lo))
	t.add("lastword", d.plain(c.hi-1))
	for i := c.lo + 1; i < c.hi; i++ {
		if i < c.hi-1 {
			t.add("inner", d.class(i))
		}
		if d.Tokens[i].Gap == language.NoGap && d.Tokens[i].Kind != language.KindPunct && d.Tokens[i].Kind != language.KindClitic {
			t.add("inner", "joined")
		}
	}
	for i := c.lo; i < c.hi; i++ {
		t.add("word", d.plain(i))
	}
	d.near(t, s, "before", c.lo-1)
	d.near(t, s, "after", c.hi)
	d.near(t, s, "after2", c.hi+1)
	if c.hi < s.Hi {
		t.add2("cut", last, d.class(c.hi))
		t.add2("pafter", c.predicate, d.class(c.hi))
	} else {
		t.add2("cut", last, "end")
		t.add2("pafter", c.predicate, "end")
	}
	if c.lo > s.Lo {
		t.add2("joint", d.class(c.lo-1), first)
	}
	t.add("gap", bucket(c.lo-c.at))
	if c.lo < c.at {
		t.add("gap", "behind")
	}
	for i := c.at + 1; i < c.lo; i++ {
		t.add("between", d.class(i))
	}
}

// verbTraits adds the traits of the verb and of the tokens on both sides of it.
func (d *doc) verbTraits(s *language.Sentence, c *claim, t *traits) {
	v := &d.Tokens[c.at]
	class := d.class(c.at)
	t.add("verb", class)
	if v.Word().Verb > 0 {
		t.add("base", language.VerbAt(v.Word().Verb).Base)
		t.add2("base", language.VerbAt(v.Word().Verb).Base, class)
	} else {
		t.add("noverb", d.plain(c.at))
	}
	d.near(t, s, "verb-1", c.at-1)
	d.near(t, s, "verb-2", c.at-2)
	d.near(t, s, "verb+1", c.at+1)
	d.near(t, s, "verb+2", c.at+2)
	if c.at > s.Lo {
		t.add2("subject", c.about, d.class(c.at-1))
	} else {
		t.add2("subject", c.about, "start")
	}
}

// placeTraits adds the claim's position in the text, and the words of doubt before it.
func (d *doc) placeTraits(s *language.Sentence, c *claim, t *traits) {
	t.add("sentence", bucket(s.Hi-s.Lo))
	t.add("verbat", bucket(c.at-s.Lo))
	d.near(t, s, "opens", s.Lo)
	end := d.Tokens[s.Hi-1]
	switch {
	case end.Kind != language.KindPunct:
		t.add("ends", "none")
	case end.Sign == '!' || end.Sign == '?' || end.Sign == '.':
		t.add("ends", signs[end.Sign])
	default:
		t.add("ends", "sign")
	}
	for i := s.Lo; i < s.Hi; i++ {
		k := &d.Tokens[i]
		side := "left"
		if i > c.at {
			side = "right"
		}
		if k.Kind == language.KindPunct {
			if k.Sign == '"' || k.Sign == ':' || k.Sign == '(' {
				t.add2("sign", side, signs[k.Sign])
			}
			continue
		}
		if i < c.at && k.Is(language.Hypothetical|language.Negation|language.WhWord|language.Conjunction|language.SecondPerson) {
			t.add("doubt", d.plain(i))
		}
		if i < c.at && wordLists()["saying"][d.plain(i)] {
			t.add("said", side)
		}
		if k.Is(language.FirstPerson) && i < c.at {
			t.add("own", side)
		}
	}
	if k := d.ClauseOf(c.at); k != nil {
		t.add2("clause", string(k.Mode), string(k.About))
		t.add2("about2", c.about, string(k.About))
		if k.Lo > s.Lo {
			d.near(t, s, "clause-1", k.Lo-1)
		}
		d.near(t, s, "clause0", k.Lo)
		t.add("clauselong", bucket(k.Hi-k.Lo))
	} else {
		t.add("clause", "none")
	}
	if s.Lo > 0 {
		t.add("previous", d.class(s.Lo-1))
	} else {
		t.add("previous", "start")
	}
	t.add("text", bucket(len(d.Tokens)/4))
	dialect := 0
	for i := s.Lo; i < s.Hi; i++ {
		if wordLists()["dialect"][d.plain(i)] {
			dialect++
		}
	}
	t.add("dialect", bucket(dialect))
	t.add("sentences", bucket(len(d.Sentences)))
	if d.Tokens[s.Lo].Kind == language.KindWord && d.Tokens[s.Lo].Shape == language.LowerCase {
		t.add("case", "lower")
	}
}
