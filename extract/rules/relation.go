package rules

import (
	"slices"
	"strings"

	"github.com/contextmem/contextmem/extract"
)

// Bounds of one sentence.
const (
	maxObjects  = 5  // "tea, coffee and cake"
	maxTogether = 6  // pairs of names without a verb between them
	maxReach    = 10 // tokens between a verb and its object
)

// statement is a relation on its way out, with what facts need to know of its clause.
type statement struct {
	source, target node
	predicate, raw string
	conf           float32
	clause         *clause
	frame          *frame
}

// relator holds the state of one pass over the sentences. Its slices are used again for the next text.
type relator struct {
	d       *doc
	mem     memoryOf
	nodes   []node
	clauses []clause
	sts     []statement
	names   []nameHit
	dates   []dateHit
}

// free forgets what the last text left.
func (r *relator) free() {
	clear(r.nodes[:cap(r.nodes)])
	clear(r.sts[:cap(r.sts)])
	*r = relator{nodes: r.nodes[:0], clauses: r.clauses[:0], sts: r.sts[:0]}
}

// relations reads every sentence for statements that link two things.
func (d *doc) relations() {
	r := &d.rel
	r.d, r.mem, r.names, r.dates = d, memoryOf{}, d.names, d.dates
	facts := d.in.Infer
	for k := range d.sents {
		s := &d.sents[k]
		r.mem.newSentence(s.para)
		foreign := (d.foreign || d.script) && d.foreignSentence(s)
		r.sentence(k, s)
		if facts && !foreign {
			d.factsOf(k, s, r.sts)
		}
	}
}

func (r *relator) sentence(k int, s *sentence) {
	d := r.d
	for len(r.names) > 0 && r.names[0].sent < k {
		r.names = r.names[1:]
	}
	for len(r.dates) > 0 && r.dates[0].sent < k {
		r.dates = r.dates[1:]
	}
	n, m := 0, 0
	for n < len(r.names) && r.names[n].sent == k {
		n++
	}
	for m < len(r.dates) && r.dates[m].sent == k {
		m++
	}
	r.nodes, r.clauses, r.sts = r.nodes[:0], r.clauses[:0], r.sts[:0]
	r.nodes = d.nodesOf(k, r.nodes, r.names[:n], r.dates[:m], &r.mem)
	if len(r.nodes) == 0 || s.question {
		return
	}
	r.clauses = d.clauses(s, r.nodes, r.clauses)
	for i := range r.clauses {
		r.clauses[i].end = r.clauseEnd(s, &r.clauses[i])
	}
	for i := range r.clauses {
		r.verb(s, &r.clauses[i])
	}
	r.copulas(s)
	r.appositions(s)
	r.kin(s)
	r.together(s)
	d.out.Relations = slices.Grow(d.out.Relations, len(r.sts))
	for i := range r.sts {
		d.emit(s, &r.sts[i], r.dates[:m])
	}
	if n := &r.nodes[0]; n.kind == nodeName && n.lo <= s.lo+2 {
		r.mem.subject, r.mem.hasSubject = *n, true
		r.mem.subject.name = d.surface(n.lo, n.hi)
	}
}

// verb makes the statements of one verb: its direct object and what its prepositions bring in.
func (r *relator) verb(s *sentence, c *clause) {
	d := r.d
	if c.hyp || c.future && c.subject < 0 {
		return
	}
	v := &verbs[d.toks[c.verbTok].w.verb-1]
	end := c.end
	passive := c.passive || r.participle(s, c, v)
	if passive {
		r.byAgent(s, c, v, end)
	}
	if c.subject < 0 {
		return
	}
	for f := range v.frames {
		fr := &v.frames[f]
		switch {
		case fr.passive != passive && (fr.passive || len(fr.preps) == 0):
		case len(fr.preps) == 0 && c.hi-1 > c.verbTok: // "gave up" is not "gave"
		case len(fr.preps) == 0:
			r.objects(s, c, fr, c.hi, end, true)
		default:
			if p := r.preposition(s, c, fr, end); p >= 0 {
				r.objects(s, c, fr, p+1, end, false)
			}
		}
	}
}

// clauseEnd returns where the reach of a verb ends: the next verb group, a semicolon or the end of the sentence.
func (r *relator) clauseEnd(s *sentence, c *clause) int {
	end := s.hi
	for i := range r.clauses {
		if r.clauses[i].lo > c.verbTok {
			end = r.clauses[i].lo
			break
		}
	}
	for i := c.hi; i < end; i++ {
		if t := &r.d.toks[i]; t.kind == kPunct && (t.ch == ';' || t.ch == ':' || t.ch == '(') {
			return i
		}
	}
	return end
}

// participle reports whether a verb without an auxiliary is passive: "the hall, built in 1901", "a firm based in".
func (r *relator) participle(s *sentence, c *clause, v *verb) bool {
	d := r.d
	t := &d.toks[c.verbTok]
	if c.lo != c.verbTok || t.w.form&formPart == 0 || c.hi >= s.hi || !d.toks[c.hi].is(fPrep) {
		return false
	}
	active := false
	for f := range v.frames {
		fr := &v.frames[f]
		if fr.matches(d.str(c.hi)) {
			if fr.passive {
				return t.w.form&formBase == 0
			}
			active = true
		}
	}
	return !active && c.verbTok > s.lo && d.toks[c.verbTok-1].ch == ',' && d.isWord(s, c.hi, "by")
}

func (f *frame) matches(prep string) bool {
	for _, p := range f.preps {
		if strings.EqualFold(p, prep) {
			return true
		}
	}
	return false
}

// preposition finds the first preposition of a frame behind the verb.
func (r *relator) preposition(s *sentence, c *clause, fr *frame, end int) int {
	d := r.d
	if d.isWord(s, c.hi-1, "up") && c.hi-1 > c.verbTok && fr.matches("up") {
		if c.hi < s.hi && d.toks[c.hi].is(fPrep) {
			return c.hi
		}
		return c.hi - 1
	}
	for i := c.hi; i < min(end, c.hi+maxReach+4); i++ {
		t := &d.toks[i]
		if t.kind != kWord || !t.is(fPrep) || nodeAt(r.nodes, i) >= 0 {
			continue
		}
		if fr.matches(d.str(i)) {
			if d.isWord(s, i, "to") && d.notPreposition(s, i) {
				continue
			}
			return i
		}
		if fr.predicate == "works_at" && (d.isWord(s, i, "on") || d.isWord(s, i, "with") || d.isWord(s, i, "in")) {
			return -1 // "worked on a plan at the café"
		}
	}
	return -1
}

// notPreposition reports whether "to" at i begins an infinitive or ends "due to" and the like.
func (d *doc) notPreposition(s *sentence, i int) bool {
	if i+1 < s.hi && d.toks[i+1].shape == sLower && d.toks[i+1].w.verb > 0 && d.toks[i+1].w.form&formBase != 0 {
		return true
	}
	return d.isWord(s, i-1, "due") || d.isWord(s, i-1, "next") || d.isWord(s, i-1, "up") || d.isWord(s, i-1, "according") || d.isWord(s, i-1, "thanks")
}

// objects adds the statements for the objects that begin at token i: names, and for a direct object or a speaker noun
// phrases.
func (r *relator) objects(s *sentence, c *clause, fr *frame, i, end int, direct bool) {
	d := r.d
	for count := 0; count < maxObjects && i < end; count++ {
		n, next, ok := r.object(s, c, i, end, direct)
		if !ok {
			return
		}
		r.link(s, c, fr, n)
		// more of the same: "tea, coffee and cake"
		j := next
		if j < end && d.isPunct(s, j, ',') {
			j++
		}
		if j < end && (d.isWord(s, j, "and") || d.isWord(s, j, "or")) {
			j++
		}
		if j == next || j >= end || d.toks[j].kind == kWord && (d.toks[j].w.verb > 0 && nodeAt(r.nodes, j) < 0 && !d.gerund(j) || d.toks[j].is(fConj|fWh|fAdv|fI|fWe|fHe|fShe|fIt|fThey|fYou)) {
			return
		}
		i = j
	}
}

func (d *doc) gerund(i int) bool { return d.toks[i].w.form&formIng != 0 }

// object reads one object at token i.
func (r *relator) object(s *sentence, c *clause, i, end int, direct bool) (node, int, bool) {
	d := r.d
	for j, steps := i, 0; j < end && steps < 6; j, steps = j+1, steps+1 {
		if k := nodeAt(r.nodes, j); k >= 0 {
			n := r.nodes[k]
			if n.kind == nodeDate && (direct || j > i) {
				break // "went to a workshop this month"
			}
			if k == c.subject {
				return node{}, 0, false
			}
			if hi := d.modifies(s, &n); hi > n.hi && hi <= end {
				if k := nodeAt(r.nodes, hi); k >= 0 && r.nodes[k].kind == nodeName {
					return r.nodes[k], r.nodes[k].hi, true // "the Korean band Nightfall"
				}
				return node{lo: n.lo, hi: hi, kind: nodePhrase, key: extract.Key(d.surface(n.lo, hi)), typ: extract.TypeConcept}, hi, true
			}
			if d.toks[n.lo].is(fPoss) || n.hi < s.hi && d.toks[n.hi].kind == kClitic && d.text[d.toks[n.hi].end-1] == 's' {
				break // "his brother", "Anna's book": the phrase is the object
			}
			return n, n.hi, true
		}
		t := &d.toks[j]
		if t.kind == kNumber || t.kind == kPunct && t.ch == '"' {
			continue
		}
		if t.kind != kWord || t.is(fPrep|fConj) && !t.is(fAdj) || t.is(fAdv) && j > i && !t.is(fAdj) || t.w.verb > 0 && t.w.form&formIng == 0 && !d.usedAsNoun(s, j) && j > i {
			break
		}
		if t.is(fKin | fRole) {
			break
		}
	}
	if !direct && r.nodes[c.subject].kind != nodeSpeaker {
		return node{}, 0, false
	}
	for i < end && d.toks[i].is(fAdv) && !d.toks[i].is(fAdj|fNeg) {
		i++
	}
	n, ok := d.phraseNode(s, i)
	if !ok || n.hi > end || nodeAt(r.nodes, n.hi-1) >= 0 {
		return node{}, 0, false
	}
	return n, n.hi, true
}

// modifies returns where the noun phrase ends that a name only begins ("Harbor Street bakery"), or the end of the name.
func (d *doc) modifies(s *sentence, n *node) int {
	if n.kind != nodeName || n.typ == extract.TypePerson {
		return n.hi
	}
	hi := n.hi
	for hi < s.hi && hi-n.lo < 8 {
		t := &d.toks[hi]
		if t.kind != kWord || t.gap != gapSpace || t.shape != sLower || t.used || t.is(fStop|fAdv|fConj|fPrep|fTemporal|fTimeUnit|fRetract|fDayWord) || d.isAdverbEnd(hi) || t.w.verb > 0 && t.w.form&(formBase|formIng) == 0 {
			break
		}
		hi++
	}
	return hi
}

// residence is the frame of where a person is based.
var residence = frame{predicate: "lives_in", target: extract.TypeLocation, kind: extract.KindFact, functional: true}

// link adds a statement between a clause's subject and an object.
func (r *relator) link(s *sentence, c *clause, fr *frame, object node) {
	subject := r.nodes[c.subject]
	if object.kind == nodeSpeaker && fr.target != extract.TypePerson {
		return // "brings us together"
	}
	if fr.predicate == "located_in" && subject.kind == nodeSpeaker {
		fr = &residence // "I'm based in Lisbon"
	}
	conf := float32(confVerb)
	if object.kind == nodePhrase {
		conf = confPhrase
	}
	if c.far {
		conf *= factorFar
	}
	st := statement{source: subject, target: object, predicate: fr.predicate, raw: r.d.rawVerb(s, c, fr), conf: conf, clause: c, frame: fr}
	if fr.swap {
		st.source, st.target = st.target, st.source
	}
	r.add(st)
}

// add keeps a statement unless it says nothing or was said already.
func (r *relator) add(st statement) {
	if st.source.key == st.target.key || st.source.key == "" || st.target.key == "" {
		return
	}
	if st.source.kind == nodePronoun {
		st.conf *= factorPronoun
	}
	if st.target.kind == nodePronoun {
		st.conf *= factorPronoun
	}
	for i := range r.sts {
		o := &r.sts[i]
		if o.source.key == st.source.key && o.target.key == st.target.key && (o.predicate == st.predicate || st.predicate == "related_to") {
			return
		}
		if st.predicate == "related_to" && o.source.key == st.target.key && o.target.key == st.source.key {
			return
		}
	}
	r.sts = append(r.sts, st)
}

// byAgent turns "X was founded by Y" around.
func (r *relator) byAgent(s *sentence, c *clause, v *verb, end int) {
	d := r.d
	var direct *frame
	for f := range v.frames {
		if fr := &v.frames[f]; !fr.passive && len(fr.preps) == 0 {
			direct = fr
		} else if fr.passive && fr.matches("by") {
			return
		}
	}
	if direct == nil || c.subject < 0 {
		return
	}
	for i := c.hi; i < min(end, c.hi+maxReach); i++ {
		if !d.isWord(s, i, "by") {
			continue
		}
		for count, j := 0, i+1; count < maxObjects && j < end; count++ {
			for j < end && d.toks[j].kind == kWord && d.toks[j].is(fDet|fAdj) && nodeAt(r.nodes, j) < 0 {
				j++
			}
			k := nodeAt(r.nodes, j)
			if k < 0 || r.nodes[k].kind == nodeDate || k == c.subject {
				return
			}
			r.add(statement{source: r.nodes[k], target: r.nodes[c.subject], predicate: direct.predicate, raw: d.rawVerb(s, c, nil) + " by", conf: confVerb, clause: c, frame: direct})
			j = r.nodes[k].hi
			if j < end && (d.isPunct(s, j, ',') || d.isWord(s, j, "and")) {
				j++
				if j < end && d.isWord(s, j, "and") {
					j++
				}
				continue
			}
			return
		}
		return
	}
}

// rawVerb spells the verb as the text has it, with its preposition.
func (d *doc) rawVerb(s *sentence, c *clause, fr *frame) string {
	lo := c.verbTok
	if c.passive && c.lo < c.verbTok {
		lo = c.lo
	}
	raw := d.surface(lo, c.hi)
	if fr != nil && len(fr.preps) > 0 {
		for i := c.hi; i < min(s.hi, c.hi+maxReach); i++ {
			if d.toks[i].kind == kWord && fr.matches(d.str(i)) {
				return raw + " " + d.str(i)
			}
		}
	}
	return raw
}

// together links strong names of one sentence that no verb links, at low confidence.
func (r *relator) together(s *sentence) {
	n := 0
	for i := range r.nodes {
		a := &r.nodes[i]
		if a.kind != nodeName || a.weak {
			continue
		}
		for j := i + 1; j < len(r.nodes) && j <= i+3; j++ {
			b := &r.nodes[j]
			if b.kind != nodeName || b.weak || n >= maxTogether {
				continue
			}
			before := len(r.sts)
			if !r.linked(a.key, b.key) && !(r.stated(a.key) && r.stated(b.key)) {
				r.add(statement{source: *a, target: *b, predicate: "related_to", raw: "mentioned with", conf: confTogether})
			}
			n += len(r.sts) - before
		}
	}
}

// stated reports whether a verb or noun already says something about a name.
func (r *relator) stated(key string) bool {
	for i := range r.sts {
		if st := &r.sts[i]; st.clause != nil && (st.source.key == key || st.target.key == key) {
			return true
		}
	}
	return false
}

func (r *relator) linked(a, b string) bool {
	for i := range r.sts {
		x, y := r.sts[i].source.key, r.sts[i].target.key
		if x == a && y == b || x == b && y == a {
			return true
		}
	}
	return false
}
