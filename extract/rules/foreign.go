package rules

import (
	"strings"
	"time"

	"github.com/contextmem/contextmem/extract"
)

// Confidence of statements by tables: below those of English, which sees whole sentences.
const (
	confForeign      = 0.65
	maxForeignObject = 8 // tokens
)

// foreignSentence reads a sentence in another language by the tables and reports whether it stated anything.
func (d *doc) foreignSentence(s *sentence) bool {
	if s.question || s.role == roleAssistant {
		return false
	}
	if d.script {
		if found, own := d.scriptSentence(s); own {
			return found
		}
	}
	for _, l := range d.languagesOf(s) {
		if d.foreignPhrases(s, l) {
			return true
		}
	}
	return false
}

// foreignPhrases finds the phrases of a language in a sentence.
func (d *doc) foreignPhrases(s *sentence, l *language) bool {
	found := false
	var relative nameHit // the last "my sister Clara", of whom the sentence may go on to speak
	for i := s.lo; i < s.hi; i++ {
		if d.toks[i].kind != kWord {
			continue
		}
		if s.speaker != "" {
			if p, lo, hi, word := d.formAt(s, l, l.firstForms, i); p != nil && !d.unstated(s, l, i) {
				if next := d.foreignStatement(s, l, p, tokSpan{i, lo}, hi, word, s.speaker, nil); next > i {
					found, i = true, next-1
					if p.form.predicate == "kin" {
						relative = nameHit{lo: lo, hi: next}
					}
				}
				continue
			}
		}
		if p, lo, hi, word := d.formAt(s, l, l.thirdForms, i); p != nil && !d.unstated(s, l, i) {
			h := d.nameBefore(s, i)
			if relative.hi == i {
				h = &relative
			}
			if h != nil {
				if next := d.foreignStatement(s, l, p, tokSpan{i, lo}, hi, word, d.surface(h.lo, h.hi), h); next > i {
					found, i = true, next-1
				}
			}
		}
	}
	return found
}

// unstated reports whether what stands before token i makes a question or a wish of it.
func (d *doc) unstated(s *sentence, l *language, i int) bool {
	for j := max(s.lo, i-2); j < i; j++ {
		if l.notSet[d.wordKey(j)] {
			return true
		}
	}
	return false
}

// nameBefore returns the name that ends right before token i. The names of earlier sentences are passed already.
func (d *doc) nameBefore(s *sentence, i int) *nameHit {
	for k := range d.rel.names {
		h := &d.rel.names[k]
		if h.lo >= i {
			return nil
		}
		if h.hi == i && h.lo >= s.lo && !h.part {
			return h
		}
	}
	return nil
}

// foreignStatement adds what a phrase says of a subject and returns the token behind it, 0 for nothing.
func (d *doc) foreignStatement(s *sentence, l *language, p *phrase, at tokSpan, end, word int, subject string, subjectName *nameHit) int {
	f := p.form
	lo, last := at.hi, 0
	for {
		hi := end
		switch {
		case f.predicate == "kin":
			for hi = lo; hi < s.hi && hi < lo+3 && d.toks[hi].capital() && d.toks[hi].gap <= gapSpace; {
				hi++
			}
		case hi == 0:
			hi = d.foreignObject(s, l, lo)
		}
		for lo < hi-1 && l.articleSet[d.wordKey(lo)] {
			lo++
		}
		if lo >= hi || l.articleSet[d.wordKey(lo)] {
			return last
		}
		d.foreignFact(s, l, f, tokSpan{lo, hi}, word, subject, subjectName, at.lo)
		last = hi
		// "me gustan el té y el café"
		if f.kind != extract.KindPreference || end > 0 || hi+1 >= s.hi || !l.joinSet[d.wordKey(hi)] && !d.isPunct(s, hi, ',') {
			return last
		}
		lo = hi + 1
		if l.joinSet[d.wordKey(lo)] {
			lo++
		}
		if next := d.foreignObject(s, l, lo); next == lo || next-lo > 4 || lo >= s.hi {
			return last
		}
		if p, _, _, _ := d.formAt(s, l, l.firstForms, lo); p != nil || l.cutSet[d.wordKey(lo)] {
			return last
		}
		if d.isPunct(s, hi, ',') && !d.listGoesOn(s, l, lo) {
			return last
		}
	}
}

// listGoesOn reports whether what follows a comma is one of several objects: a joining word comes behind it, or a comma.
func (d *doc) listGoesOn(s *sentence, l *language, lo int) bool {
	hi := d.foreignObject(s, l, lo)
	return hi < s.hi && (l.joinSet[d.wordKey(hi)] || d.isPunct(s, hi, ',')) || l.joinSet[d.wordKey(lo-1)]
}

// foreignObject returns where the object that begins at token lo ends.
func (d *doc) foreignObject(s *sentence, l *language, lo int) int {
	hi := lo
	for hi < s.hi && hi < lo+maxForeignObject {
		t := &d.toks[hi]
		if t.kind == kPunct && t.ch != '-' && t.ch != '"' && t.ch != '\'' || t.used != d.toks[lo].used && hi > lo {
			break // a date is the whole object, or none of it
		}
		if k := d.wordKey(hi); !t.used && (l.joinSet[k] || l.cutSet[k] && hi > lo) {
			break
		}
		hi++
	}
	for hi > lo && (d.toks[hi-1].kind == kPunct || l.articleSet[d.wordKey(hi-1)]) {
		hi--
	}
	return hi
}

// foreignFact adds one statement as a fact and a relation.
func (d *doc) foreignFact(s *sentence, l *language, f *tableForm, object tokSpan, word int, subject string, name *nameHit, verb int) {
	span := func(lo, hi int) piece { return piece{int(d.toks[lo].start), int(d.toks[hi-1].end)} }
	o := d.surface(object.lo, object.hi)
	at, lower := span(object.lo, object.hi), d.toks[object.lo].shape == sLower || d.toks[object.lo].kind != kWord
	place := span(verb, verb+1)
	if name != nil {
		place = span(name.lo, name.hi)
	}
	predicate, text := f.predicate, f.text
	switch predicate {
	case "kin":
		relative := kinPredicates[l.kinWords[d.wordKey(word)]]
		if relative == "" || lower {
			return
		}
		d.foreignPair(s, f, relative, o, subject, at, place, false, strings.ReplaceAll(text, "{k}", d.str(word)))
		return
	case "favorite":
		predicate = "favorite_" + strings.ReplaceAll(d.wordKey(word), " ", "_")
		text = strings.ReplaceAll(text, "{k}", d.str(word))
	}
	d.foreignPair(s, f, predicate, subject, o, place, at, lower, text)
}

// foreignPair adds a fact with subject and object and the relation between them, and reports whether it did. place and at
// are where the two stand, or the words that imply them; lower says that the object is a common noun.
func (d *doc) foreignPair(s *sentence, f *tableForm, predicate, subject, o string, place, at piece, lower bool, text string) bool {
	from, to := extract.Key(subject), extract.Key(o)
	if from == "" || to == "" || from == to || predicate == "" {
		return false
	}
	var valid period
	var asserted time.Time
	for _, h := range d.datesOf(s) {
		if f.moves && !h.from.IsZero() {
			valid = period{h.from, h.to, h.prec}
			if h.to.Before(d.ref) {
				asserted = h.to
			}
			break
		}
	}
	start, end := int(d.toks[s.lo].start), int(d.toks[s.hi-1].end)
	typ := objectTypes[predicate]
	switch {
	case f.predicate == "kin":
		typ = extract.TypePerson
	case typ == "" || lower:
		typ = extract.TypeConcept
	}
	d.addMention(extract.Mention{Name: subject, Key: from, Type: extract.TypePerson, Start: place.start, End: place.end})
	d.addMention(extract.Mention{Name: o, Key: to, Type: typ, Start: at.start, End: at.end, Phrase: lower})
	if len(d.out.Relations) < maxRelations {
		rel := extract.Relation{Source: from, Target: to, Predicate: predicate, Raw: strings.ReplaceAll(predicate, "_", " "), Context: clip(d.text[start:end]), Confidence: confForeign,
			ValidFrom: valid.from, Asserted: asserted, Precision: valid.prec, Functional: f.functional, Negated: f.negated || f.retracts, Retracts: f.retracts,
			Temporal: d.temporalWords(s, d.datesOf(s))}
		_, rel.Chunk = chunksAt(d.in.Chunks, start)
		d.out.Relations = append(d.out.Relations, rel)
	}
	if d.in.Infer && s.speaker != "" {
		d.addFact(s, extract.Fact{Subject: subject, Predicate: predicate, Object: o, Kind: f.kind, Text: strings.NewReplacer("{s}", subject, "{o}", o).Replace(text), Confidence: confForeign,
			ValidFrom: valid.from, Asserted: asserted, Precision: valid.prec, Functional: f.functional, Retracts: f.retracts, Negated: f.negated})
	}
	return true
}
