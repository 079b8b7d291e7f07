package rules

import (
	"slices"
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// Limits of one sentence.
const (
	maxObjects = 5  // "tea, coffee and cake"
	maxReach   = 10 // tokens between a verb and its object
)

// statement is a relation before it is added, with the properties of its clause that facts need.
type statement struct {
	source, target node
	predicate, raw string
	conf           float32
	clause         *clause
	frame          *frame
}

// relator holds the state of one pass over the sentences. Its slices are reused for the next sentence.
type relator struct {
	d       *doc
	mem     memoryOf
	nodes   []node
	clauses []clause
	sts     []statement
	names   []language.Name
	dates   []language.Date
	pairs   pairs
}

// relations reads the statements of every sentence that link two things.
func (d *doc) relations() {
	r := &d.rel
	r.d, r.mem, r.names, r.dates, r.pairs = d, memoryOf{}, d.Names, d.Dates, pairs{chunk: -1}
	facts := d.in.Infer
	reference := d.Reference
	defer func() { d.Reference = reference }()
	for k := range d.Sentences {
		s := &d.Sentences[k]
		if d.Reference = reference; !s.Said.IsZero() {
			d.Reference = s.Said
		}
		r.mem.newSentence(s.Paragraph)
		d.stated = len(d.out.Relations)
		unjudged := d.unjudged
		d.unjudged = true // the gate is for English; the phrases of other languages are explicit statements
		foreign := (d.Foreign || d.Script || d.checked() && d.otherTongue(s)) && d.foreignSentence(s)
		d.unjudged = unjudged
		if facts || len(d.out.Relations) < maxRelations {
			r.sentence(k, s)
		}
		if facts && !foreign {
			d.factsOf(k, s, r.sts)
		}
	}
}

func (r *relator) sentence(k int, s *language.Sentence) {
	d := r.d
	for len(r.names) > 0 && r.names[0].Sentence < k {
		r.names = r.names[1:]
	}
	for len(r.dates) > 0 && r.dates[0].Sentence < k {
		r.dates = r.dates[1:]
	}
	n, m := 0, 0
	for n < len(r.names) && r.names[n].Sentence == k {
		n++
	}
	for m < len(r.dates) && r.dates[m].Sentence == k {
		m++
	}
	r.nodes, r.clauses, r.sts = r.nodes[:0], r.clauses[:0], r.sts[:0]
	r.nodes = d.nodesOf(k, r.nodes, r.names[:n], r.dates[:m], &r.mem)
	if len(r.nodes) == 0 || s.Question {
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
	if n := &r.nodes[0]; n.kind == nodeName && n.lo <= s.Lo+2 {
		r.mem.subject, r.mem.hasSubject = *n, true
		r.mem.subject.name = d.SpanText(n.lo, n.hi)
	}
}

// verb adds the statements of one verb: those with its direct object and with its prepositions.
func (r *relator) verb(s *language.Sentence, c *clause) {
	if c.hyp || c.future && c.subject < 0 || r.verbSaysNothing(s, c) {
		return
	}
	d := r.d
	v := framesOf(d.Tokens[c.verbTok].Word())
	passive := c.passive || r.participle(s, c, v)
	if passive {
		r.byAgent(s, c, v, c.end)
	}
	if c.subject < 0 {
		return
	}
	progressive := d.in.Memory && d.gerund(c.verbTok) && !c.past && !c.perfect && d.modeAt(c.verbTok) != extract.ModePlan && c.lo < c.verbTok
	for f := range v {
		fr := &v[f]
		switch {
		case progressive && fr.kind == extract.KindEvent: // "is going back to Lagos" has not happened
		case fr.passive != passive && (fr.passive || len(fr.preps) == 0):
		case len(fr.preps) == 0:
			if !r.particleVerb(s, c) {
				r.objects(s, c, fr, c.hi, c.end, true)
			}
		default:
			if p := r.preposition(s, c, fr, c.end); p >= 0 && !d.detached(s, c, fr, p) {
				r.objects(s, c, fr, p+1, c.end, false)
			}
		}
	}
}

// verbSaysNothing reports whether a verb with the words after it is an idiom or has no object of its own: "have a feeling", "keep losing",
// "got voted shop steward".
func (r *relator) verbSaysNothing(s *language.Sentence, c *clause) bool {
	d := r.d
	base := d.verbName(c.verbTok)
	switch {
	case wordLists()["grasping"][base] && d.abstractObject(c.hi, c.end):
		return true
	case (base == "quit" || base == "stop" || base == "keep") && c.hi < s.Hi && strings.HasSuffix(d.TokenText(c.hi), "ing"):
		return true
	case base == "get" && d.participleAt(c.hi, s.Hi):
		return true
	}
	return d.empty(s, c, base) || d.in.Memory && d.verbBehind(c.hi, c.end)
}

// particleVerb reports whether a particle after a verb gives it another meaning: "gave up" and "took back the keys" are not "gave" and
// "took".
func (r *relator) particleVerb(s *language.Sentence, c *clause) bool {
	d := r.d
	if c.hi-1 > c.verbTok {
		return true
	}
	if !d.in.Memory || c.hi+1 >= s.Hi || !wordLists()["aways"][d.WordKey(c.hi)] || d.IsWord(s, c.hi, "in") {
		return false
	}
	next := &d.Tokens[c.hi+1]
	return next.Kind == language.KindWord && (next.Is(language.Determiner|language.Possessive) || next.Capital())
}

// clauseEnd returns the last place for an object of a verb: before the next verb group, a semicolon or the end of the sentence.
func (r *relator) clauseEnd(s *language.Sentence, c *clause) int {
	end := s.Hi
	for i := range r.clauses {
		if r.clauses[i].lo > c.verbTok {
			end = r.clauses[i].lo
			break
		}
	}
	if lc := r.d.ClauseOf(c.verbTok); lc != nil && lc.Hi > c.hi {
		end = min(end, lc.Hi)
	}
	for i := c.hi; i < end; i++ {
		if t := &r.d.Tokens[i]; t.Kind == language.KindPunct && (t.Sign == ';' || t.Sign == ':' || t.Sign == '(') {
			return i
		}
	}
	return end
}

// participle reports whether a participle without an auxiliary is passive: "the hall, built in 1901", "a firm based in".
func (r *relator) participle(s *language.Sentence, c *clause, v []frame) bool {
	d := r.d
	t := &d.Tokens[c.verbTok]
	if c.lo != c.verbTok || t.Word().Form&language.Participle == 0 || c.hi >= s.Hi || !d.Tokens[c.hi].Is(language.Preposition) {
		return false
	}
	active := false
	for f := range v {
		fr := &v[f]
		if fr.matches(d.TokenText(c.hi)) {
			if fr.passive {
				return t.Word().Form&language.BaseForm == 0
			}
			active = true
		}
	}
	return !active && c.verbTok > s.Lo && d.Tokens[c.verbTok-1].Sign == ',' && d.IsWord(s, c.hi, "by")
}

func (f *frame) matches(prep string) bool {
	for _, p := range f.preps {
		if strings.EqualFold(p, prep) {
			return true
		}
	}
	return false
}

// preposition returns the first preposition of a frame after the verb.
func (r *relator) preposition(s *language.Sentence, c *clause, fr *frame, end int) int {
	d := r.d
	if d.IsWord(s, c.hi-1, "up") && c.hi-1 > c.verbTok && fr.matches("up") {
		if c.hi < s.Hi && d.Tokens[c.hi].Is(language.Preposition) {
			return c.hi
		}
		return c.hi - 1
	}
	if fr.predicate == "lives_in" && c.hi < s.Hi && d.Tokens[c.hi].Kind == language.KindWord && d.Tokens[c.hi].Is(language.Determiner|language.Possessive|language.Neuter|language.ThirdPlural) && !d.dateBegins(s, c.hi) {
		return -1 // "moved the couch to the cellar", "lived it up in Vegas"
	}
	if fr.predicate == "lives_in" && d.in.Memory && d.movedThing(s, c) {
		return -1 // "moved production to Porto", "moved Grandpa to Oslo"
	}
	if fr.predicate == "works_at" && (d.IsWord(s, c.hi-1, "out") || d.IsWord(s, c.hi, "out")) {
		return -1 // "work out at the gym"
	}
	for i := c.hi; i < min(end, c.hi+maxReach+4); i++ {
		t := &d.Tokens[i]
		if t.Kind != language.KindWord || !t.Is(language.Preposition) || nodeAt(r.nodes, i) >= 0 {
			continue
		}
		if fr.matches(d.TokenText(i)) {
			if d.IsWord(s, i, "to") && d.notPreposition(s, i) {
				continue
			}
			return i
		}
		if fr.predicate == "works_at" && (d.IsWord(s, i, "on") || d.IsWord(s, i, "with") || d.IsWord(s, i, "in")) {
			return -1 // "worked on a plan at the café"
		}
	}
	return -1
}

// movedThing reports whether the verb of a clause is one of moving and a noun or a name follows it, which is what moved: not "moved house to York".
func (d *doc) movedThing(s *language.Sentence, c *clause) bool {
	if name := d.verbName(c.verbTok); name != "move" && name != "relocate" || c.hi+1 >= s.Hi || d.Tokens[c.hi].Kind != language.KindWord {
		return false
	}
	t := &d.Tokens[c.hi]
	return d.IsOneOf(s, c.hi+1, "to", "into") && !t.Is(language.Preposition|language.Adverb|language.Conjunction|language.Temporal) &&
		!wordLists()["moving-oneself"][d.WordKey(c.hi)] && !d.dateBegins(s, c.hi) && !d.isAdverbEnd(c.hi)
}

// byAgent reads "X was founded by Y" as a statement with Y as the subject.
func (r *relator) byAgent(s *language.Sentence, c *clause, v []frame, end int) {
	d := r.d
	var direct *frame
	for f := range v {
		if fr := &v[f]; !fr.passive && len(fr.preps) == 0 {
			direct = fr
		} else if fr.passive && fr.matches("by") {
			return
		}
	}
	if direct == nil || c.subject < 0 {
		return
	}
	for i := c.hi; i < min(end, c.hi+maxReach); i++ {
		if !d.IsWord(s, i, "by") {
			continue
		}
		for count, j := 0, i+1; count < maxObjects && j < end; count++ {
			for j < end && d.Tokens[j].Kind == language.KindWord && d.Tokens[j].Is(language.Determiner|language.Adjective) && nodeAt(r.nodes, j) < 0 {
				j++
			}
			k := nodeAt(r.nodes, j)
			if k < 0 || r.nodes[k].kind == nodeDate || k == c.subject {
				return
			}
			r.add(statement{source: r.nodes[k], target: r.nodes[c.subject], predicate: direct.predicate, raw: d.rawVerb(s, c, nil) + " by", conf: confVerb, clause: c, frame: direct})
			j = r.nodes[k].hi
			if j < end && (d.IsPunct(s, j, ',') || d.IsWord(s, j, "and")) {
				j++
				if j < end && d.IsWord(s, j, "and") {
					j++
				}
				continue
			}
			return
		}
		return
	}
}

// rawVerb returns the verb as in the text, with its preposition.
func (d *doc) rawVerb(s *language.Sentence, c *clause, fr *frame) string {
	lo := c.verbTok
	if c.passive && c.lo < c.verbTok {
		lo = c.lo
	}
	raw := d.SpanText(lo, c.hi)
	if fr != nil && len(fr.preps) > 0 {
		for i := c.hi; i < min(s.Hi, c.hi+maxReach); i++ {
			if d.Tokens[i].Kind == language.KindWord && fr.matches(d.TokenText(i)) {
				return raw + " " + d.TokenText(i)
			}
		}
	}
	return raw
}
