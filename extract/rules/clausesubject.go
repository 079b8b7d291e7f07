package rules

import (
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// findSubject picks the subject of a verb group. The word before the group says where to look for it; before are the earlier clauses of the
// sentence.
func (d *doc) findSubject(s *language.Sentence, nodes []node, c *clause, before []clause) {
	i := c.lo - 1
	if i < s.Lo {
		return
	}
	switch t := &d.Tokens[i]; {
	case t.WordIs(language.Conjunction) && !t.Is(language.WhWord) && !d.IsWord(s, i, "that") && len(before) > 0:
		d.shareSubject(s, nodes, c, &before[len(before)-1])
		return
	case d.IsOneOf(s, i, "who", "which", "that"):
		if i--; i >= s.Lo && d.Tokens[i].Kind == language.KindPunct {
			i--
		}
		if k, sure := d.antecedent(s, nodes, c, i); sure {
			c.subject = k
			return
		}
	case d.IsPunct(s, i, ','):
		// "Anna Lind, the founder of Acme, lives": the words between the commas are an aside.
		if k := d.openingName(s, nodes, c.lo); k >= 0 {
			c.subject, c.far = k, nodes[k].hi < c.lo-6
			return
		}
		i = d.beforeAside(s, nodes, i)
	case d.IsPunct(s, i, ')'):
		for i > s.Lo && !d.IsPunct(s, i, '(') {
			i--
		}
		i--
	}
	d.searchSubject(s, nodes, c, i)
}

// shareSubject gives a verb after a conjunction the subject of the verb before it: "she sings and dances".
func (d *doc) shareSubject(s *language.Sentence, nodes []node, c, before *clause) {
	c.subject, c.far = before.subject, true
	if d.in.Memory && c.subject >= 0 && d.isMe(s, &nodes[c.subject]) {
		c.subject = -1 // "our helper, who has been with us for years and runs the country"
		return
	}
	if d.IsOneOf(s, c.lo-1, "and", "but", "or") {
		form := d.Tokens[c.verbTok].Word().Form
		c.hyp = c.hyp || before.hyp
		c.passive = c.passive || before.passive && c.lo == c.verbTok && form&language.Participle != 0 && form&language.BaseForm == 0
	}
}

// isMe reports whether a node is "me" or "us", which are no subjects.
func (d *doc) isMe(s *language.Sentence, n *node) bool {
	return n.kind == nodeSpeaker && d.IsOneOf(s, n.lo, "me", "us")
}

// antecedent returns whom "who", "which" or "that" after token i means in a memory, -1 for nobody known. sure is false if the words before
// must be searched.
func (d *doc) antecedent(s *language.Sentence, nodes []node, c *clause, i int) (k int, sure bool) {
	if !d.in.Memory || i < s.Lo {
		return -1, false
	}
	k = nodeAt(nodes, i)
	if k < 0 {
		t := &d.Tokens[i]
		return -1, t.Kind == language.KindWord && t.Shape == language.LowerCase && i == c.lo-2 && !t.Is(language.FormOfBe) && t.Word().Verb == 0 // "somebody who takes"
	}
	n := &nodes[k]
	if n.kind == nodeName && n.typ == extract.TypePerson {
		return k, true // "with Meher, who plays"
	}
	return -1, n.kind == nodeName && d.governed(s, n.lo) // "the lad from Corwen who had"
}

// beforeAside returns the last token before the aside that ends in the comma at token i.
func (d *doc) beforeAside(s *language.Sentence, nodes []node, i int) int {
	j := i - 1
	for j > s.Lo && !d.IsPunct(s, j, ',') {
		j--
	}
	if j > s.Lo && nodeAt(nodes, j-1) >= 0 {
		return j - 1
	}
	return i - 1
}

// searchSubject looks for the subject of a verb group from token i backwards.
func (d *doc) searchSubject(s *language.Sentence, nodes []node, c *clause, i int) {
	who := -1 // whom a pronoun without a node means
	for steps := 0; i >= s.Lo && steps < 10; i, steps = i-1, steps+1 {
		if k := nodeAt(nodes, i); k >= 0 {
			if at, ok := d.startOfPhrase(s, &nodes[k]); ok {
				i = at
				continue
			}
			if k = d.subjectNode(s, nodes, c, k); k >= 0 && (who < 0 || who == k) {
				c.subject, c.far = k, c.far || steps > 3
			}
			return
		}
		t := &d.Tokens[i]
		switch {
		case t.WordIs(language.SecondPerson) && !t.Is(language.Possessive):
			return // "Astrid, you keep mixing them up"
		case d.in.Memory && t.WordIs(language.Masculine|language.Feminine|language.ThirdPlural) && !t.Is(language.Possessive):
			if who = d.lastPerson(nodes, i); who < 0 || t.Is(language.ThirdPlural) {
				return // "gave Lagos to Hulya, she knows them"
			}
		case d.in.Memory && i == c.lo-1 && t.WordIs(language.Neuter) && !t.Is(language.Possessive):
			return // "we're four and it takes nine minutes"
		}
		if t.Kind == language.KindWord && t.Shape == language.LowerCase && !t.Is(language.FunctionWord|language.Adverb) {
			start := d.phraseStart(s, i)
			if start == s.Lo || !d.Tokens[start-1].WordIs(language.Preposition) {
				return // a common noun is the subject
			}
			i = start - 1
			continue
		}
		if d.endsClause(s, i) {
			return
		}
	}
}

// startOfPhrase returns the first token of a date, or of the node with the preposition that governs it. Neither is a subject; ok is false
// for other nodes.
func (d *doc) startOfPhrase(s *language.Sentence, n *node) (i int, ok bool) {
	if n.kind == nodeDate {
		return n.lo, true
	}
	if n.lo > s.Lo && d.governed(s, n.lo) && !d.subjectPronoun(s, n.lo) {
		return d.beforePreposition(s, n.lo), true
	}
	return 0, false
}

// subjectNode returns the subject of a clause if the nearest node before its verb is k, -1 for none.
func (d *doc) subjectNode(s *language.Sentence, nodes []node, c *clause, k int) int {
	n := &nodes[k]
	if n.hi < s.Hi && n.hi < c.lo && d.Tokens[n.hi].Kind == language.KindClitic && d.Text[d.Tokens[n.hi].End-1] == 's' {
		return -1 // "Anna's dog sleeps": Anna is not the one
	}
	if d.Tokens[n.lo].Is(language.Possessive) {
		return -1
	}
	if k > 0 && n.kind == nodeName && n.typ != extract.TypePerson {
		if p := &nodes[k-1]; p.kind == nodeName && p.hi == n.lo-1 && d.IsPunct(s, p.hi, ',') && !d.governed(s, p.lo) {
			k, n = k-1, p // "Port Elder, Northland, lies"
		}
	}
	if d.in.Memory && n.hi-n.lo == 1 && d.Tokens[n.lo].Is(language.Demonym) && n.lo > s.Lo && d.Tokens[n.lo-1].Is(language.FormOfBe) {
		return -1 // "the cook is Filipino, Rodel, makes"
	}
	return k
}

// endsClause reports whether the clause before a verb cannot reach back beyond token i: a sign, a conjunction or another verb.
func (d *doc) endsClause(s *language.Sentence, i int) bool {
	t := &d.Tokens[i]
	switch t.Kind {
	case language.KindPunct:
		if t.Sign == ';' || t.Sign == ':' || t.Sign == '"' {
			return true
		}
	case language.KindWord:
		if t.Is(language.Conjunction|language.WhWord) && !t.Is(language.Preposition) && !d.IsOneOf(s, i, "and", "or") {
			return true
		}
		return t.Word().Verb > 0 && t.Word().Form&(language.PastForm|language.ThirdForm) != 0 && !d.usedAsNoun(s, i) && !t.Is(language.Determiner)
	}
	return false
}

// openingName returns the name that opens a sentence and is followed by an aside: "Anna Lind (born 1961), a poet, lives".
func (d *doc) openingName(s *language.Sentence, nodes []node, before int) int {
	if len(nodes) == 0 || nodes[0].kind != nodeName && nodes[0].kind != nodeSpeaker || nodes[0].lo > s.Lo+1 || nodes[0].hi >= before {
		return -1
	}
	hi := nodes[0].hi
	if !d.IsPunct(s, hi, ',') && !d.IsPunct(s, hi, '(') {
		return -1
	}
	return 0
}

// phraseStart returns the start of the lower-case noun phrase that ends at token i.
func (d *doc) phraseStart(s *language.Sentence, i int) int {
	for i > s.Lo {
		p := &d.Tokens[i-1]
		if p.Kind != language.KindWord || p.Shape != language.LowerCase || p.Is(language.Preposition|language.Conjunction|language.Adverb) && !p.Is(language.Adjective|language.Determiner) || p.Is(language.FunctionWord) && !p.Is(language.Adjective|language.Determiner|language.Possessive) {
			break
		}
		i--
	}
	return i
}

// governed reports whether a preposition governs the node that begins at lo ("the mayor of Berlin").
func (d *doc) governed(s *language.Sentence, lo int) bool {
	i := lo - 1
	for i > s.Lo && d.Tokens[i].Kind == language.KindWord && d.Tokens[i].Is(language.Determiner|language.Adjective) && !d.Tokens[i].Is(language.Preposition) {
		i--
	}
	return i >= s.Lo && d.Tokens[i].Kind == language.KindWord && d.Tokens[i].Is(language.Preposition) && d.Tokens[i].Word().Verb == 0
}

// beforePreposition returns the token before the preposition that governs the node at lo.
func (d *doc) beforePreposition(s *language.Sentence, lo int) int {
	i := lo - 1
	for i > s.Lo && !(d.Tokens[i].Kind == language.KindWord && d.Tokens[i].Is(language.Preposition)) {
		i--
	}
	return i
}
