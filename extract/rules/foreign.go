package rules

import (
	"strings"
	"time"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// Confidence of statements found by the tables of phrases. It is lower than for English, where whole sentences are read.
const (
	confForeign      = 0.65
	maxForeignObject = 8 // tokens
)

// foreignSentence reads a sentence in another language with the tables, and reports whether it stated anything.
func (d *doc) foreignSentence(s *language.Sentence) bool {
	if s.Question || s.Role == language.RoleAssistant {
		return false
	}
	if d.Script {
		if found, own := d.scriptSentence(s); own {
			return found
		}
	}
	for _, t := range d.LanguagesOf(s) {
		if !d.writtenIn(s, t.Name) {
			continue
		}
		if d.foreignPhrases(s, phraseTables()[t.Name]) {
			return true
		}
	}
	return false
}

// foreignPhrases finds the phrases of a language in a sentence.
func (d *doc) foreignPhrases(s *language.Sentence, l *phrases) bool {
	found := false
	var relative language.Name // the last "my sister Clara", who may be the subject of what follows
	for i := s.Lo; i < s.Hi; i++ {
		if d.Tokens[i].Kind != language.KindWord {
			continue
		}
		if s.Speaker != "" {
			if p, lo, hi, word := d.formAt(s, l, l.first, i); p != nil && !d.unstated(s, l, i) {
				if next := d.foreignStatement(s, l, p, language.Span{Lo: i, Hi: lo}, hi, word, s.Speaker, nil); next > i {
					found, i = true, next-1
					if p.form.predicate == "kin" {
						relative = language.Name{Lo: lo, Hi: next}
					}
				}
				continue
			}
		}
		if p, lo, hi, word := d.formAt(s, l, l.third, i); p != nil && !d.unstated(s, l, i) {
			h := d.nameBefore(s, i)
			if relative.Hi > 0 && relative.Hi == i {
				h = &relative
			}
			if h != nil {
				if next := d.foreignStatement(s, l, p, language.Span{Lo: i, Hi: lo}, hi, word, d.SpanText(h.Lo, h.Hi), h); next > i {
					found, i = true, next-1
				}
			}
		}
	}
	return found
}

// unstated reports whether the words before token i make it a question or a wish.
func (d *doc) unstated(s *language.Sentence, l *phrases, i int) bool {
	for j := max(s.Lo, i-2); j < i; j++ {
		if l.not[d.WordKey(j)] {
			return true
		}
	}
	return false
}

// nameBefore returns the name that ends right before token i. It skips the names of earlier sentences.
func (d *doc) nameBefore(s *language.Sentence, i int) *language.Name {
	for k := range d.rel.names {
		h := &d.rel.names[k]
		if h.Lo >= i {
			return nil
		}
		if h.Hi == i && h.Lo >= s.Lo && !h.Part {
			return h
		}
	}
	return nil
}

// foreignStatement adds what a phrase says about a subject. It returns the token after the phrase, 0 if there is no statement.
func (d *doc) foreignStatement(s *language.Sentence, l *phrases, p *phrase, at language.Span, end, word int, subject string, subjectName *language.Name) int {
	f := p.form
	lo, last := at.Hi, 0
	for {
		hi := end
		switch {
		case f.predicate == "kin":
			for hi = lo; hi < s.Hi && hi < lo+3 && d.Tokens[hi].Capital() && d.Tokens[hi].Gap <= language.SpaceGap; {
				hi++
			}
		case hi == 0:
			hi = d.foreignObject(s, l, lo)
		}
		for lo < hi-1 && l.articles[d.WordKey(lo)] {
			lo++
		}
		if lo >= hi || l.articles[d.WordKey(lo)] {
			return last
		}
		if !d.phraseSayable(s, f, at, language.Span{Lo: lo, Hi: hi}, subjectName == nil) {
			return last
		}
		d.foreignFact(s, l, f, language.Span{Lo: lo, Hi: hi}, word, subject, subjectName, at.Lo)
		last = hi
		// "me gustan el té y el café"
		if f.kind != extract.KindPreference || end > 0 || hi+1 >= s.Hi || !l.joins[d.WordKey(hi)] && !d.IsPunct(s, hi, ',') {
			return last
		}
		lo = hi + 1
		if l.joins[d.WordKey(lo)] {
			lo++
		}
		if next := d.foreignObject(s, l, lo); next == lo || next-lo > 4 || lo >= s.Hi {
			return last
		}
		if p, _, _, _ := d.formAt(s, l, l.first, lo); p != nil || l.cuts[d.WordKey(lo)] {
			return last
		}
		if d.IsPunct(s, hi, ',') && !d.listGoesOn(s, l, lo) {
			return last
		}
	}
}

// listGoesOn reports whether a comma is followed by another element of a list: a joining word or a comma comes after the element.
func (d *doc) listGoesOn(s *language.Sentence, l *phrases, lo int) bool {
	hi := d.foreignObject(s, l, lo)
	return hi < s.Hi && (l.joins[d.WordKey(hi)] || d.IsPunct(s, hi, ',')) || l.joins[d.WordKey(lo-1)]
}

// foreignObject returns the end of the object that begins at token lo.
func (d *doc) foreignObject(s *language.Sentence, l *phrases, lo int) int {
	hi := lo
	for hi < s.Hi && hi < lo+maxForeignObject {
		t := &d.Tokens[hi]
		if t.Kind == language.KindPunct && t.Sign != '-' && t.Sign != '"' && t.Sign != '\'' || t.Used != d.Tokens[lo].Used && hi > lo {
			break // a date is the whole object, or none of it
		}
		if k := d.WordKey(hi); !t.Used && (l.joins[k] || l.cuts[k] && hi > lo) {
			break
		}
		hi++
	}
	for hi > lo && (d.Tokens[hi-1].Kind == language.KindPunct || l.articles[d.WordKey(hi-1)]) {
		hi--
	}
	return hi
}

// foreignFact adds one statement as a fact and a relation.
func (d *doc) foreignFact(s *language.Sentence, l *phrases, f *tableForm, object language.Span, word int, subject string, name *language.Name, verb int) {
	span := func(lo, hi int) piece { return piece{int(d.Tokens[lo].Start), int(d.Tokens[hi-1].End)} }
	o := d.SpanText(object.Lo, object.Hi)
	at, lower := span(object.Lo, object.Hi), d.Tokens[object.Lo].Shape == language.LowerCase || d.Tokens[object.Lo].Kind != language.KindWord
	place := span(verb, verb+1)
	if name != nil {
		place = span(name.Lo, name.Hi)
	}
	predicate, text := f.predicate, f.text
	switch predicate {
	case "kin":
		relative := kinPredicate(l.kin[d.WordKey(word)])
		if relative == "" || lower {
			return
		}
		d.foreignPair(s, f, relative, o, subject, at, place, false, strings.ReplaceAll(text, "{k}", d.TokenText(word)))
		return
	case "favorite":
		predicate = "favorite_" + strings.ReplaceAll(d.WordKey(word), " ", "_")
		text = strings.ReplaceAll(text, "{k}", d.TokenText(word))
	}
	d.foreignPair(s, f, predicate, subject, o, place, at, lower, text)
}

// foreignPair adds a fact with subject and object and the relation between them, and reports whether it did so. place and at are the
// positions of the subject and the object, or of words that imply them. lower reports whether the object is a common noun.
func (d *doc) foreignPair(s *language.Sentence, f *tableForm, predicate, subject, o string, place, at piece, lower bool, text string) bool {
	from, to := extract.Key(subject), extract.Key(o)
	if from == "" || to == "" || from == to || predicate == "" {
		return false
	}
	if m := d.modeAt(s.Lo); m == extract.ModeQuote || m == extract.ModeFiction {
		return false
	}
	d.at = -1
	var valid language.Date
	var asserted time.Time
	for _, h := range d.datesOf(s) {
		if f.moves && !h.From.IsZero() {
			valid = h
			if h.To.Before(d.Reference) {
				asserted = h.To
			}
			break
		}
	}
	start, end := int(d.Tokens[s.Lo].Start), int(d.Tokens[s.Hi-1].End)
	typ := objectTypes[predicate]
	switch {
	case f.predicate == "kin":
		typ = extract.TypePerson
	case typ == "" || lower:
		typ = extract.TypeConcept
	}
	d.AddMention(extract.Mention{Name: subject, Key: from, Type: extract.TypePerson, Start: place.start, End: place.end})
	d.AddMention(extract.Mention{Name: o, Key: to, Type: typ, Start: at.start, End: at.end, Phrase: lower})
	if len(d.out.Relations) < maxRelations {
		rel := extract.Relation{Source: from, Target: to, Predicate: predicate, Raw: strings.ReplaceAll(predicate, "_", " "), Context: clip(d.Text[start:end]), Confidence: confForeign,
			ValidFrom: valid.From, Asserted: asserted, Precision: valid.Precision, Functional: f.functional, Negated: f.negated || f.retracts, Retracts: f.retracts,
			Temporal: d.temporalWords(s, d.datesOf(s))}
		_, rel.Chunk = language.ChunksAt(d.in.Chunks, start)
		d.out.Relations = append(d.out.Relations, rel)
	}
	if d.in.Infer && s.Speaker != "" {
		d.addFact(s, extract.Fact{Subject: subject, Predicate: predicate, Object: o, Kind: f.kind, Text: strings.NewReplacer("{s}", subject, "{o}", o).Replace(text), Confidence: confForeign,
			ValidFrom: valid.From, Asserted: asserted, Precision: valid.Precision, Functional: f.functional, Retracts: f.retracts, Negated: f.negated})
	}
	return true
}
