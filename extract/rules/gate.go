package rules

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// The gate is a classifier that drops statements which are probably wrong. It is a logistic model over the traits of a statement
// (trait.go), trained on statements that a reader labelled right or wrong; models/build/statements has the labels and the training
// script. A statement below the threshold of its kind is dropped.

//go:embed tables/gate.txt
var gateTable string

// gateModel holds the weights of traits in a hash table, and the thresholds for the sum of the weights.
type gateModel struct {
	weights        []traitWeight // open addressing: from the slot of the hash up to the first slot without a weight
	fact, relation float32
}

type traitWeight struct {
	hash   uint32
	weight float32
}

// weight returns the weight of the trait with a hash.
func (m *gateModel) weight(hash uint32) float32 {
	for i := int(hash) & (len(m.weights) - 1); m.weights[i].weight != 0; i = (i + 1) & (len(m.weights) - 1) {
		if m.weights[i].hash == hash {
			return m.weights[i].weight
		}
	}
	return 0
}

func (m *gateModel) add(hash uint32, weight float32) {
	i := int(hash) & (len(m.weights) - 1)
	for m.weights[i].weight != 0 {
		i = (i + 1) & (len(m.weights) - 1)
	}
	m.weights[i] = traitWeight{hash, weight}
}

var gate = sync.OnceValue(func() *gateModel {
	size := 1
	for size < 2*strings.Count(gateTable, "\n") {
		size *= 2
	}
	m := &gateModel{weights: make([]traitWeight, size)}
	for line := range language.TableLines(gateTable) {
		trait, number, _ := strings.Cut(line, " ")
		w, err := strconv.ParseFloat(number, 32)
		switch {
		case err != nil:
			panic("rules: " + line)
		case trait == "threshold:fact":
			m.fact = float32(w)
		case trait == "threshold:relation":
			m.relation = float32(w)
		default:
			m.add(traitHash(traitSeed, trait), float32(w))
		}
	}
	return m
})

// claim is a fact or relation in the form that the gate judges.
type claim struct {
	relation       bool
	about          string // the subject: "i", "name", "pronoun", or "mine" (somebody or something of the speaker)
	predicate      string
	at             int // the token of its clause
	lo, hi         int // the tokens of its object; hi is 0 if they are unknown
	object         string
	kind           string // of a fact
	mode           extract.Mode
	negated, ended bool
	confidence     float32
	from           string // type of the subject of a relation
	to             string // type of its object
	verb           bool   // a relation has a verb
	name           string // of the subject, if that is not the speaker
	twice          bool   // a fact that also is a relation
	said           string // in the form of the labels, for training
}

// judged is a claim with its traits, for training.
type judged struct {
	said     string
	relation bool
	traits   []string
}

// sound reports whether the gate accepts a statement. Only statements of memories and
// conversations are judged. All others are accepted, and so is every statement while unjudged is set.
func (d *doc) sound(s *language.Sentence, c *claim) bool {
	if !d.in.Memory && !d.in.Pairs || d.unjudged || c.at < s.Lo || c.at >= s.Hi || strings.HasPrefix(c.predicate, "wants_assistant_to") {
		return true
	}
	if d.learn == nil && !d.sayable(s, c) {
		return false
	}
	t := &d.traits
	t.begin(d.learn != nil)
	d.traitsOf(s, c, t)
	if d.learn != nil {
		*d.learn = append(*d.learn, judged{c.said, c.relation, append([]string(nil), t.names...)})
		return true
	}
	m := gate()
	limit := m.fact
	if c.relation {
		limit = m.relation
	}
	return t.sum >= limit
}

// soundFact is sound for a fact that is complete except for this check.
func (d *doc) soundFact(s *language.Sentence, f *extract.Fact) bool {
	c := claim{predicate: strings.TrimPrefix(f.Predicate, extract.NotPrefix), at: d.at, object: f.Object, kind: f.Kind, mode: f.Mode, negated: f.Negated, ended: f.Retracts, confidence: f.Confidence}
	if d.learn != nil {
		c.said = believedFact(f).String()
	}
	words := f.Object
	if f.Subject != s.Speaker {
		c.name = f.Subject
	}
	object := extract.Key(f.Object)
	for i := len(d.out.Relations) - 1; i >= 0 && !c.twice && d.out.Relations[i].Context == f.Evidence; i-- {
		c.twice = d.out.Relations[i].Target == object && d.out.Relations[i].Predicate == c.predicate
	}
	switch {
	case f.Subject == s.Speaker:
		c.about = "i"
	case f.Object == s.Speaker:
		c.about, words = "ofme", f.Subject
	case strings.HasPrefix(f.Subject, s.Speaker+"'s "):
		c.about = "mine"
	case d.find(s, f.Subject, s.Lo) >= 0:
		c.about = "name"
	default:
		c.about = "pronoun"
	}
	if words != "" && d.at >= s.Lo && d.at < s.Hi {
		if c.lo = d.find(s, words, d.at); c.lo < 0 {
			c.lo = d.find(s, words, s.Lo)
		}
		if c.lo < 0 {
			c.lo = 0
		} else {
			for c.hi = c.lo + 1; c.hi < s.Hi && int(d.Tokens[c.hi].Start) < int(d.Tokens[c.lo].Start)+len(words); c.hi++ {
			}
		}
	}
	return d.sound(s, &c)
}

// soundRelation is sound for a relation.
func (d *doc) soundRelation(s *language.Sentence, st *statement, mode extract.Mode) bool {
	c := claim{relation: true, predicate: st.predicate, at: st.target.lo, lo: st.target.lo, hi: st.target.hi, object: st.target.key, mode: mode, confidence: st.conf, from: st.source.typ, to: st.target.typ}
	switch {
	case st.source.kind == nodeSpeaker:
		c.about = "i"
	case st.target.kind == nodeSpeaker:
		c.about, c.lo, c.hi = "ofme", st.source.lo, st.source.hi
	case st.source.kind == nodePronoun:
		c.about = "pronoun"
	default:
		c.about = "name"
	}
	if c.about == "name" || c.about == "pronoun" {
		c.name = d.nodeName(&st.source)
	}
	if st.frame != nil {
		c.kind = st.frame.kind
	}
	if d.learn != nil {
		c.said = believed{subject: st.source.key, predicate: st.predicate, object: st.target.key, ended: st.clause != nil && st.clause.ended, denied: st.clause != nil && st.clause.negated && !st.clause.ended}.String()
	}
	if st.clause != nil {
		c.at, c.verb, c.negated, c.ended = st.clause.verbTok, true, st.clause.negated && !st.clause.ended, st.clause.ended
	}
	return d.sound(s, &c)
}

// find returns the token, from i on, at which the given words begin in a sentence, or -1.
func (d *doc) find(s *language.Sentence, words string, i int) int {
	lo, hi := int(d.Tokens[i].Start), int(d.Tokens[s.Hi-1].End)
	at := strings.Index(d.Text[lo:hi], words)
	if at < 0 || words == "" {
		return -1
	}
	for ; i < s.Hi; i++ {
		if int(d.Tokens[i].Start) >= lo+at {
			return i
		}
	}
	return -1
}
