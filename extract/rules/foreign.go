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
		if l := clauseTongue(d, s); l != nil {
			return d.clauseSentence(s, l)
		}
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
	return d.checked() && d.guessedPhrases(s)
}

// guessedPhrases reads a sentence in a language that has phrases and no dates, which only a guess can tell.
func (d *doc) guessedPhrases(s *language.Sentence) bool {
	if !d.otherTongue(s) {
		return false
	}
	code := language.Guess(d.Text[d.Tokens[s.Lo].Start:d.Tokens[s.Hi-1].End])
	if code == "" {
		code = d.textTongue()
	}
	switch code {
	case "nl":
		return d.foreignPhrases(s, phraseTables()["dutch"])
	case "pl":
		return d.foreignPhrases(s, phraseTables()["polish"])
	case "ru":
		return d.foreignPhrases(s, phraseTables()["russian"])
	case "tr":
		return d.clauseSentence(s, turkish())
	}
	return false
}

// foreignPhrases finds the phrases of a language in a sentence.
func (d *doc) foreignPhrases(s *language.Sentence, l *phrases) bool {
	found := false
	var about phraseSubject // of the last statement, who may be the subject of what follows
	for i := s.Lo; i < s.Hi; i++ {
		if d.Tokens[i].Kind != language.KindWord {
			continue
		}
		if s.Speaker != "" {
			if p, lo, hi, word := d.formAt(s, l, l.first, i); p != nil && !d.unstated(s, l, i) && !d.othersDeed(s, l, p, i) {
				if next := d.foreignStatement(s, l, p, language.Span{Lo: i, Hi: lo}, hi, word, s.Speaker, nil); next > i {
					found, i = true, next-1
					if about = (phraseSubject{}); p.form.predicate == "kin" {
						about = phraseSubject{name: language.Name{Lo: lo, Hi: next}, hi: next}
					}
				}
				continue
			}
		}
		if p, lo, hi, word := d.formAt(s, l, l.third, i); p != nil && !d.unstated(s, l, i) {
			h := d.phraseSubjectAt(s, l, p.form, i, about)
			if h.hi == 0 {
				continue
			}
			if next := d.foreignStatement(s, l, p, language.Span{Lo: i, Hi: lo}, hi, word, h.text(d), &h.name); next > i {
				found, i = true, next-1
				about = h
				about.hi = next
			}
		}
	}
	return found
}

// unstated reports whether the words before token i make it a question or a wish. Memories are checked by unsaidPhrase.
func (d *doc) unstated(s *language.Sentence, l *phrases, i int) bool {
	if d.in.Memory || d.in.Pairs {
		return false
	}
	for j := max(s.Lo, i-2); j < i; j++ {
		if l.not[d.WordKey(j)] {
			return true
		}
	}
	return false
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
			if h.Yearless && h.From.After(d.Reference) { // who has moved did so last year
				h.From, h.To = h.From.AddDate(-1, 0, 0), h.To.AddDate(-1, 0, 0)
			}
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
	if !strings.HasPrefix(subject, s.Speaker+"'s ") || s.Speaker == "" { // "Ana's hermana" is no name of the graph
		d.AddMention(extract.Mention{Name: subject, Key: from, Type: extract.TypePerson, Start: place.start, End: place.end})
		d.AddMention(extract.Mention{Name: o, Key: to, Type: typ, Start: at.start, End: at.end, Phrase: lower})
		if len(d.out.Relations) < maxRelations {
			rel := extract.Relation{Source: from, Target: to, Predicate: predicate, Raw: strings.ReplaceAll(predicate, "_", " "), Context: clip(d.Text[start:end]), Confidence: confForeign,
				ValidFrom: valid.From, Asserted: asserted, Precision: valid.Precision, Functional: f.functional, Negated: f.negated || f.retracts, Retracts: f.retracts,
				Temporal: d.temporalWords(s, d.datesOf(s))}
			_, rel.Chunk = language.ChunksAt(d.in.Chunks, start)
			d.out.Relations = append(d.out.Relations, rel)
		}
	}
	if d.in.Infer && s.Speaker != "" {
		d.addFact(s, extract.Fact{Subject: subject, Predicate: predicate, Object: o, Kind: f.kind, Text: strings.NewReplacer("{s}", subject, "{o}", o).Replace(text), Confidence: confForeign,
			ValidFrom: valid.From, Asserted: asserted, Precision: valid.Precision, Functional: f.functional, Retracts: f.retracts, Negated: f.negated})
	}
	return true
}
