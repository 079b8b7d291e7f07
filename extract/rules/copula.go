package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
)

// rolePredicates says what "the NOUN of Y" makes of X.
var rolePredicates = map[string]string{
	"founder": "founded", "co-founder": "founded", "cofounder": "founded", "creator": "created", "inventor": "created", "author": "wrote", "writer": "wrote",
	"composer": "wrote", "director": "leads", "ceo": "leads", "cto": "leads", "cfo": "leads", "head": "leads", "president": "leads", "chairman": "leads",
	"chair": "leads", "leader": "leads", "manager": "manages", "mayor": "leads", "king": "leads", "queen": "leads", "owner": "owns", "capital": "capital_of",
	"son": "child_of", "daughter": "child_of", "child": "child_of", "father": "parent_of", "mother": "parent_of", "wife": "married_to", "husband": "married_to",
	"brother": "sibling_of", "sister": "sibling_of", "friend": "friend_of", "member": "member_of", "part": "part_of", "subsidiary": "part_of", "division": "part_of",
	"suburb": "located_in", "city": "located_in", "town": "located_in", "village": "located_in", "district": "part_of", "region": "located_in", "province": "part_of",
	"state": "part_of", "river": "located_in", "student": "studied_at", "professor": "works_at", "engineer": "works_at", "developer": "works_at", "employee": "works_at",
	"teacher": "works_at", "nurse": "works_at", "scientist": "works_at", "researcher": "works_at", "designer": "works_at", "analyst": "works_at", "intern": "works_at",
	"successor": "succeeded", "version": "version_of", "type": "is_a", "kind": "is_a", "species": "is_a", "fork": "derived_from", "sequel": "follows",
}

// copulas reads "X is a Y", "X is the NOUN of Y", "X is in Y", "X is Y's NOUN".
func (r *relator) copulas(s *sentence) {
	d := r.d
	for i := s.lo; i < s.hi; i++ {
		t := &d.toks[i]
		if !t.is(fBe) || d.isWord(s, i, "being") || t.kind == kClitic && d.text[t.end-1] == 's' && !d.contractedIs(s, i) {
			continue
		}
		c := clause{verbTok: i, lo: i, hi: i + 1, subject: -1, hyp: d.hypothetical(s), past: d.isWord(s, i, "was") || d.isWord(s, i, "were"), negated: t.is(fNeg)}
		for c.hi < s.hi && d.toks[c.hi].kind == kWord && d.toks[c.hi].is(fAdv|fNeg) {
			c.negated = c.negated || d.toks[c.hi].is(fNeg)
			c.hi++
		}
		if d.isWord(s, c.hi, "no") && d.isWord(s, c.hi+1, "longer") {
			c.ended = true
			c.hi += 2
		}
		if d.isWord(s, i, "been") || d.isWord(s, i, "be") {
			r.beGroup(s, &c)
		}
		if c.hi >= s.hi || c.hyp || r.status(s, &c) {
			continue
		}
		if n := &d.toks[c.hi]; n.w.verb > 0 && n.w.form&(formPart|formIng) != 0 && nodeAt(r.nodes, c.hi) < 0 {
			continue // passive or progressive: a verb clause
		}
		d.findSubject(s, r.nodes, &c, nil)
		if c.subject < 0 {
			continue
		}
		subject := r.nodes[c.subject]
		cc := new(clause)
		*cc = c
		r.predicateNominal(s, cc, subject, c.hi, confCopula, d.surface(i, c.hi))
	}
}

// beGroup takes the auxiliaries before "be" and "been" into the clause.
func (r *relator) beGroup(s *sentence, c *clause) {
	d := r.d
	for c.lo > s.lo && c.verbTok-c.lo < 4 {
		p := &d.toks[c.lo-1]
		if !p.is(fHave|fModal|fAdv|fNeg) || p.kind == kPunct {
			return
		}
		c.perfect = c.perfect || p.is(fHave)
		c.future = c.future || p.is(fFuture)
		c.hyp = c.hyp || p.is(fHyp)
		c.negated = c.negated || p.is(fNeg)
		c.lo--
	}
}

// contractedIs reports whether "'s" at i is "is": behind a pronoun, or before a determiner.
func (d *doc) contractedIs(s *sentence, i int) bool {
	if i == s.lo || i+1 >= s.hi {
		return false
	}
	prev, next := &d.toks[i-1], &d.toks[i+1]
	return prev.is(fHe|fShe|fIt) || next.kind == kWord && (d.isWord(s, i+1, "a") || d.isWord(s, i+1, "an") || d.isWord(s, i+1, "the") || d.isWord(s, i+1, "not"))
}

// employment is the frame of "X is a nurse at Y".
var employment = frame{predicate: "works_at", target: extract.TypeOrganization, source: extract.TypePerson, kind: extract.KindFact, functional: true}

// predicateNominal reads what X is said to be from token i on.
func (r *relator) predicateNominal(s *sentence, c *clause, subject node, i int, conf float32, raw string) {
	d := r.d
	link := func(n node, predicate, raw string, turn bool) {
		st := statement{source: subject, target: n, predicate: predicate, raw: raw, conf: conf, clause: c}
		if turn {
			st.source, st.target = n, subject
		}
		if n.kind == nodePhrase {
			st.conf = min(st.conf, confPhrase)
		}
		if predicate == "works_at" && !turn {
			st.frame = &employment
		}
		r.add(st)
	}
	if i < s.hi && d.toks[i].kind == kWord && (d.isWord(s, i, "in") || d.isWord(s, i, "near") || d.isWord(s, i, "at") || d.isWord(s, i, "from")) {
		j := i + 1
		for j < s.hi && d.toks[j].is(fDet) && nodeAt(r.nodes, j) < 0 {
			j++
		}
		if k := nodeAt(r.nodes, j); k >= 0 && r.nodes[k].kind == nodeName {
			predicate := "located_in"
			if d.isWord(s, i, "from") {
				predicate = "from"
			}
			link(r.nodes[k], predicate, raw+" "+d.str(i), false)
		}
		return
	}
	if k := nodeAt(r.nodes, i); k >= 0 {
		n := r.nodes[k]
		if n.hi+1 < s.hi && d.toks[n.hi].kind == kClitic && d.text[d.toks[n.hi].end-1] == 's' {
			if noun := r.kinNoun(s, n.hi+1); noun >= 0 { // "X is Anna's brother"
				link(n, kinPredicates[strings.ToLower(d.str(noun))], d.str(noun), false)
			}
			return
		}
		switch {
		case subject.kind == nodeSpeaker && n.typ == extract.TypePerson:
			link(n, "also_known_as", raw, false) // "I'm Anna"
		case n.kind == nodeName || n.kind == nodeSpeaker:
			link(n, "is", raw, false)
		}
		return
	}
	r.described(s, subject, i, raw, link)
}

// described reads a description such as "the founder of Acme" or "a small town in Bavaria" at token i.
func (r *relator) described(s *sentence, subject node, i int, raw string, link func(n node, predicate, raw string, turn bool)) bool {
	d := r.d
	if i >= s.hi || d.toks[i].kind != kWord {
		return false
	}
	lo, hi, ok := d.phraseAt(s, i)
	if !ok {
		return false
	}
	if _, named := rolePredicates[strings.ToLower(d.str(hi-1))]; lo == i && !d.toks[hi-1].is(fRole|fKin) && !named {
		return false
	}
	if k := nodeAt(r.nodes, lo); k >= 0 && r.nodes[k].hi >= hi {
		return false // "Luxembourg, the Netherlands": another name, no description
	}
	noun := strings.ToLower(d.str(hi - 1))
	found := false
	if hi < s.hi && d.toks[hi].kind == kWord && (d.isWord(s, hi, "of") || d.isWord(s, hi, "at") || d.isWord(s, hi, "for") || d.isWord(s, hi, "in") || d.isWord(s, hi, "from")) {
		j := hi + 1
		for count := 0; count < maxObjects && j < s.hi; count++ {
			k := r.named(s, j)
			if k < 0 || r.nodes[k].kind == nodeDate {
				break
			}
			link(r.nodes[k], nounPredicate(noun, d.str(hi), r.nodes[k].typ), noun+" "+d.str(hi), false)
			found = true
			j = r.nodes[k].hi
			if d.isPunct(s, j, ',') && d.isWord(s, j+1, "and") {
				j++
			}
			if !d.isWord(s, j, "and") {
				break
			}
			j++
		}
	}
	r.placed(s, hi, link)
	n := node{lo: lo, hi: hi, kind: nodePhrase, key: extract.Key(d.surface(lo, hi)), typ: extract.TypeConcept}
	if d.toks[hi-1].is(fAdv|fStop) || d.toks[lo].is(fStop) && hi-lo == 1 {
		return found
	}
	predicate := "is_a"
	if d.toks[hi-1].is(fRole) && (subject.typ == extract.TypePerson || subject.kind == nodeSpeaker || subject.typ == extract.TypeConcept) {
		predicate = "has_role"
	}
	link(n, predicate, raw, false)
	return true
}

// named returns the node that a phrase at token i comes to: "the Canadian province of Nova Scotia" is Nova Scotia.
func (r *relator) named(s *sentence, i int) int {
	d := r.d
	for steps := 0; i < s.hi && steps < 8; steps++ {
		if d.toks[i].kind == kWord && d.toks[i].is(fDet|fAdj) && nodeAt(r.nodes, i) < 0 {
			i++
			continue
		}
		k := nodeAt(r.nodes, i)
		if k < 0 {
			return -1
		}
		hi := d.modifies(s, &r.nodes[k])
		switch {
		case hi == r.nodes[k].hi:
			return k
		case d.isWord(s, hi, "of"):
			i = hi + 1
		case nodeAt(r.nodes, hi) >= 0:
			return nodeAt(r.nodes, hi)
		default:
			return k
		}
	}
	return -1
}

// placed reads the participle behind a description: "a firm based in Porto".
func (r *relator) placed(s *sentence, i int, link func(n node, predicate, raw string, turn bool)) {
	d := r.d
	if i+2 >= s.hi || d.toks[i].kind != kWord || d.toks[i].w.verb == 0 || d.toks[i].w.form&formPart == 0 {
		return
	}
	v := &verbs[d.toks[i].w.verb-1]
	for f := range v.frames {
		fr := &v.frames[f]
		if !fr.passive || !fr.matches(d.str(i+1)) {
			continue
		}
		if k := r.named(s, i+2); k >= 0 {
			link(r.nodes[k], fr.predicate, d.surface(i, i+2), false)
		}
		return
	}
}

// nounPredicate names the relation that "the NOUN of Y" states.
func nounPredicate(noun, prep, typ string) string {
	p, ok := rolePredicates[noun]
	switch {
	case ok && p == "leads" && typ == extract.TypePerson:
		return "related_to"
	case ok && p == "located_in" && typ == extract.TypePerson:
		return "related_to"
	case ok:
		return p
	case prep == "in" && typ != extract.TypePerson && lookup(noun).flags&fRole == 0:
		return "located_in"
	case prep == "at" && typ == extract.TypeOrganization:
		return "works_at"
	}
	return snake(noun) + "_" + prep
}

// snake spells a word as part of a predicate.
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
func (r *relator) appositions(s *sentence) {
	d := r.d
	for k := range r.nodes {
		n := r.nodes[k]
		if n.kind != nodeName || n.hi+1 >= s.hi {
			continue
		}
		switch {
		case d.isPunct(s, n.hi, ','):
			j := n.hi + 1
			if nk := nodeAt(r.nodes, j); nk == k+1 && r.nodes[nk].kind == nodeName {
				if n.typ == extract.TypeLocation && r.nodes[nk].typ == extract.TypeLocation && !r.listed(s, k) {
					r.add(statement{source: n, target: r.nodes[nk], predicate: "located_in", raw: ",", conf: confApposition})
				}
				continue
			}
			if d.isWord(s, j, "a") || d.isWord(s, j, "an") || d.isWord(s, j, "the") || j < s.hi && d.toks[j].is(fRole) && d.toks[j].kind == kWord {
				r.described(s, n, j, ",", func(t node, predicate, raw string, _ bool) {
					r.add(statement{source: n, target: t, predicate: predicate, raw: raw, conf: confApposition})
				})
			}
		case d.isPunct(s, n.hi, '(') && r.lifeDates(s, n):
		case d.isPunct(s, n.hi, '('):
			if nk := nodeAt(r.nodes, n.hi+1); nk >= 0 && d.isPunct(s, r.nodes[nk].hi, ')') && r.nodes[nk].hi == n.hi+2 && d.isAcronym(n.lo, n.hi, n.hi+1) {
				r.add(statement{source: n, target: r.nodes[nk], predicate: "also_known_as", raw: "(", conf: confApposition})
			}
		}
	}
}

// lifeDates reads "(born 3 May 1961 in Porto)" and "(3 May 1961 – 8 June 2001)" behind a name.
func (r *relator) lifeDates(s *sentence, n node) bool {
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
	if d.isWord(s, i, "born") {
		i++
		if d.isWord(s, i, "on") {
			i++
		}
		if end := add(i, "born_on", nodeDate); end > 0 {
			i = end
		}
		if d.isPunct(s, i, ',') {
			i++
		}
		if d.isWord(s, i, "in") {
			add(i+1, "born_in", nodeName)
		}
		return true
	}
	k := nodeAt(r.nodes, i)
	if k < 0 || r.nodes[k].kind != nodeDate || !d.isPunct(s, r.nodes[k].hi, '-') || nodeAt(r.nodes, r.nodes[k].hi+1) < 0 || n.typ == extract.TypeOrganization || n.typ == extract.TypeEvent {
		return false
	}
	add(i, "born_on", nodeDate)
	add(r.nodes[k].hi+1, "died_on", nodeDate)
	return true
}

// listed reports whether node k is part of a list of more than three, or of one that ends with "and".
func (r *relator) listed(s *sentence, k int) bool {
	d := r.d
	comma := func(a int) bool { // between nodes a and a+1, perhaps with "the"
		i := r.nodes[a].hi
		if a+1 >= len(r.nodes) || !d.isPunct(s, i, ',') {
			return false
		}
		return r.nodes[a+1].lo == i+1 || r.nodes[a+1].lo == i+2 && d.toks[i+1].is(fDet)
	}
	lo, hi := k, k+1
	for lo > 0 && comma(lo-1) {
		lo--
	}
	for hi < len(r.nodes)-1 && comma(hi) {
		hi++
	}
	end := r.nodes[hi].hi
	if d.isPunct(s, end, ',') {
		end++
	}
	return hi-lo > 2 || d.isWord(s, end, "and") && nodeAt(r.nodes, end+1) >= 0
}

// isAcronym reports whether the capitals of token a are those of the words in [lo, hi).
func (d *doc) isAcronym(lo, hi, a int) bool {
	s := d.str(a)
	if d.toks[a].shape != sUpper || len(s) < 2 || len(s) > 8 {
		return false
	}
	k := 0
	for i := lo; i < hi && k < len(s); i++ {
		if d.toks[i].kind == kWord && d.text[d.toks[i].start] == s[k] {
			k++
		}
	}
	return k == len(s)
}
