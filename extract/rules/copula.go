package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// copulas reads "X is a Y", "X is the NOUN of Y", "X is in Y", "X is Y's NOUN".
func (r *relator) copulas(s *language.Sentence) {
	d := r.d
	for i := s.Lo; i < s.Hi; i++ {
		if !d.isCopula(s, i) || d.in.Memory && d.bearsNoSubject(s, i) {
			continue
		}
		c := r.copulaClause(s, i)
		if c.hi >= s.Hi || c.hyp || r.status(s, &c) {
			continue
		}
		if n := &d.Tokens[c.hi]; n.Word().Verb > 0 && n.Word().Form&(language.Participle|language.IngForm) != 0 && nodeAt(r.nodes, c.hi) < 0 {
			continue // passive or progressive: a verb clause
		}
		d.findSubject(s, r.nodes, &c, nil)
		if c.subject < 0 {
			continue
		}
		subject := r.nodes[c.subject]
		if d.in.Memory && subject.kind == nodePronoun && d.Tokens[subject.lo].Is(language.Neuter) || d.IsWord(s, i-1, "that") && d.IsPunct(s, i-2, ',') {
			continue // "it's a guy called Piotr", "two girls, that's the firm"
		}
		cc := new(clause)
		*cc = c
		p := nominal{r: r, s: s, subject: subject, c: cc, conf: confCopula, raw: d.SpanText(i, c.hi)}
		p.read(c.hi)
	}
}

// isCopula reports whether a form of "be" that can join a subject and a complement stands at token i.
func (d *doc) isCopula(s *language.Sentence, i int) bool {
	t := &d.Tokens[i]
	if !t.Is(language.FormOfBe) || d.IsWord(s, i, "being") {
		return false
	}
	return t.Kind != language.KindClitic || d.Text[t.End-1] != 's' || d.contractedIs(s, i)
}

// bearsNoSubject reports whether the word before the form of "be" at token i leaves it without a subject: "ADHD at 41, there's a letter",
// "they asked me to be the lead".
func (d *doc) bearsNoSubject(s *language.Sentence, i int) bool {
	return d.IsWord(s, i-1, "there") || d.IsWord(s, i, "be") && d.IsOneOf(s, i-1, "to", "rather")
}

// copulaClause returns the clause of the form of "be" at token i.
func (r *relator) copulaClause(s *language.Sentence, i int) clause {
	d := r.d
	c := clause{verbTok: i, lo: i, hi: i + 1, subject: -1, hyp: d.hypothetical(s), past: d.IsOneOf(s, i, "was", "were"), negated: d.Tokens[i].Is(language.Negation)}
	for c.hi < s.Hi && d.Tokens[c.hi].WordIs(language.Adverb|language.Negation) {
		c.negated = c.negated || d.Tokens[c.hi].Is(language.Negation)
		c.hi++
	}
	if d.IsWord(s, c.hi, "no") && d.IsWord(s, c.hi+1, "longer") {
		c.ended = true
		c.hi += 2
	}
	if d.IsWord(s, c.hi, "no") && !c.ended {
		c.negated = true // "I'm no diabetic"
		c.hi++
	}
	if d.IsOneOf(s, i, "been", "be") {
		r.beGroup(s, &c)
	}
	return c
}

// beGroup adds the auxiliaries before "be" and "been" to the clause.
func (r *relator) beGroup(s *language.Sentence, c *clause) {
	d := r.d
	for c.lo > s.Lo && c.verbTok-c.lo < 4 {
		p := &d.Tokens[c.lo-1]
		if !p.Is(language.FormOfHave|language.Modal|language.Adverb|language.Negation) || p.Kind == language.KindPunct {
			return
		}
		c.perfect = c.perfect || p.Is(language.FormOfHave)
		c.future = c.future || p.Is(language.Future)
		c.hyp = c.hyp || p.Is(language.Hypothetical)
		c.negated = c.negated || p.Is(language.Negation)
		c.lo--
	}
}

// contractedIs reports whether "'s" at i means "is": after a pronoun, or before a determiner.
func (d *doc) contractedIs(s *language.Sentence, i int) bool {
	if i == s.Lo || i+1 >= s.Hi {
		return false
	}
	prev, next := &d.Tokens[i-1], &d.Tokens[i+1]
	return prev.Is(language.Masculine|language.Feminine|language.Neuter) || next.Kind == language.KindWord && (d.IsWord(s, i+1, "a") || d.IsWord(s, i+1, "an") || d.IsWord(s, i+1, "the") || d.IsWord(s, i+1, "not"))
}

// snake formats a word as part of a predicate.
func snake(s string) string {
	b := make([]byte, 0, len(s))
	for _, c := range []byte(extract.Key(s)) {
		if c == ' ' || c == '-' || c == '.' || c == '\'' || c == '/' {
			c = '_'
		}
		b = append(b, c)
	}
	return string(b)
}

// appositions reads "X, the founder of Y," and "X, a town in Y", "X, Y" for places, and "X (XY)" for short names.
func (r *relator) appositions(s *language.Sentence) {
	d := r.d
	for k := range r.nodes {
		n := r.nodes[k]
		if n.kind != nodeName || n.hi+1 >= s.Hi {
			continue
		}
		switch {
		case d.IsPunct(s, n.hi, ','):
			j := n.hi + 1
			if nk := nodeAt(r.nodes, j); nk == k+1 && r.nodes[nk].kind == nodeName {
				if n.typ == extract.TypeLocation && r.nodes[nk].typ == extract.TypeLocation && !r.listed(s, k) {
					r.add(statement{source: n, target: r.nodes[nk], predicate: "located_in", raw: ",", conf: confApposition})
				}
				continue
			}
			if d.IsWord(s, j, "a") || d.IsWord(s, j, "an") || d.IsWord(s, j, "the") || j < s.Hi && d.Tokens[j].Is(language.Occupation) && d.Tokens[j].Kind == language.KindWord {
				if d.in.Memory && (!d.closed(s, j) || n.typ != extract.TypePerson && d.governed(s, n.lo)) || d.in.Memory && n.typ == extract.TypeLocation && d.Tokens[j].Is(language.Occupation) {
					continue
				}
				p := nominal{r: r, s: s, subject: n, conf: confApposition, raw: ","}
				p.describe(j)
			}
		case d.IsPunct(s, n.hi, '(') && r.lifeDates(s, n):
		case d.IsPunct(s, n.hi, '('):
			if nk := nodeAt(r.nodes, n.hi+1); nk >= 0 && d.IsPunct(s, r.nodes[nk].hi, ')') && r.nodes[nk].hi == n.hi+2 && d.isAcronym(n.lo, n.hi, n.hi+1) {
				r.add(statement{source: n, target: r.nodes[nk], predicate: "also_known_as", raw: "(", conf: confApposition})
			}
		}
	}
}

// lifeDates reads "(born 3 May 1961 in Porto)" and "(3 May 1961 – 8 June 2001)" after a name.
func (r *relator) lifeDates(s *language.Sentence, n node) bool {
	d := r.d
	add := func(i int, predicate string, kind nodeKind) int {
		k := nodeAt(r.nodes, i)
		if k < 0 || r.nodes[k].kind != kind {
			return -1
		}
		r.add(statement{source: n, target: r.nodes[k], predicate: predicate, raw: "(", conf: confApposition, frame: &frame{predicate: predicate, source: extract.TypePerson}})
		return r.nodes[k].hi
	}
	i := n.hi + 1
	if d.IsWord(s, i, "born") {
		i++
		if d.IsWord(s, i, "on") {
			i++
		}
		if end := add(i, "born_on", nodeDate); end > 0 {
			i = end
		}
		if d.IsPunct(s, i, ',') {
			i++
		}
		if d.IsWord(s, i, "in") {
			add(i+1, "born_in", nodeName)
		}
		return true
	}
	k := nodeAt(r.nodes, i)
	if k < 0 || r.nodes[k].kind != nodeDate || !d.IsPunct(s, r.nodes[k].hi, '-') || nodeAt(r.nodes, r.nodes[k].hi+1) < 0 || n.typ == extract.TypeOrganization || n.typ == extract.TypeEvent {
		return false
	}
	add(i, "born_on", nodeDate)
	add(r.nodes[k].hi+1, "died_on", nodeDate)
	return true
}

// listed reports whether node k is part of a list of more than three, or of a list that ends with "and".
func (r *relator) listed(s *language.Sentence, k int) bool {
	d := r.d
	comma := func(a int) bool { // reports a comma between nodes a and a+1; "the" may follow it
		i := r.nodes[a].hi
		if a+1 >= len(r.nodes) || !d.IsPunct(s, i, ',') {
			return false
		}
		return r.nodes[a+1].lo == i+1 || r.nodes[a+1].lo == i+2 && d.Tokens[i+1].Is(language.Determiner)
	}
	lo, hi := k, k+1
	for lo > 0 && comma(lo-1) {
		lo--
	}
	for hi < len(r.nodes)-1 && comma(hi) {
		hi++
	}
	end := r.nodes[hi].hi
	if d.IsPunct(s, end, ',') {
		end++
	}
	return hi-lo > 2 || d.IsWord(s, end, "and") && nodeAt(r.nodes, end+1) >= 0
}

// isAcronym reports whether token a consists of the initials of the words in [lo, hi).
func (d *doc) isAcronym(lo, hi, a int) bool {
	s := d.TokenText(a)
	if d.Tokens[a].Shape != language.UpperCase || len(s) < 2 || len(s) > 8 {
		return false
	}
	k := 0
	for i := lo; i < hi && k < len(s); i++ {
		if d.Tokens[i].Kind == language.KindWord && d.Text[d.Tokens[i].Start] == s[k] {
			k++
		}
	}
	return k == len(s)
}

// greets reports whether a sentence begins with a greeting, after which people say their name.
func (d *doc) greets(s *language.Sentence) bool {
	switch strings.ToLower(d.TokenText(s.Lo)) {
	case "hi", "hello", "hey", "hiya", "greetings":
		return true
	}
	return false
}
