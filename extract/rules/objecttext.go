package rules

import (
	"strings"

	"github.com/contextmem/contextmem/internal/language"
)

// listEnd returns the end, at most hi, of an object that begins at lo. It ends at a comma, unless a list continues to "and" or "or".
func (d *doc) listEnd(lo, hi int) int {
	comma := -1
	for i := lo; i < hi; i++ {
		t := &d.Tokens[i]
		switch {
		case t.Kind == language.KindPunct && t.Sign == ',' && comma < 0:
			comma = i
		case comma >= 0 && t.Kind == language.KindWord && (language.FoldEqual(d.TokenText(i), "and") || language.FoldEqual(d.TokenText(i), "or")):
			return hi
		}
	}
	if comma > lo && !(d.Tokens[comma-1].Capital() && comma+1 < hi && d.Tokens[comma+1].Capital()) {
		return comma
	}
	return hi
}

// object returns the words [lo, hi) without signs and date words at the end. It is empty if they are no object.
func (d *doc) object(lo, hi int) string {
	hi = d.withoutAgo(lo, d.listEnd(lo, hi))
	hi = d.withoutDateWords(lo, d.untilStatement(lo, hi))
	if d.in.Memory {
		lo, hi = d.withoutReflexive(lo, hi), d.withoutPhraseEnd(lo, d.untilRegardless(lo, hi))
		if lo < hi && (d.isSign(lo, ',') || d.isSign(lo, ';')) {
			return "" // "stopped drinking, day 12"
		}
	}
	for lo < hi && d.Tokens[lo].Kind == language.KindPunct && d.Tokens[lo].Sign != '$' {
		lo++
	}
	if hi-lo > maxObject {
		if d.in.Memory {
			return "" // what is cut is not whole
		}
		hi = lo + maxObject
	}
	if lo >= hi || d.noObject(lo, hi) {
		return ""
	}
	return d.SpanText(lo, hi)
}

// maxObject is the maximum length of an object in tokens. A longer one is cut in a document and is none in a memory.
const maxObject = 16

// untilStatement returns where something else than an object begins within [lo, hi), or hi.
func (d *doc) untilStatement(lo, hi int) int {
	for i := lo + 1; i < hi; i++ {
		switch {
		case d.isSign(i, ':') && i+1 < hi && d.Tokens[i+1].Gap == language.SpaceGap:
			return i // "got my results: not celiac"
		case d.in.Memory && d.WordKey(i) == "not" && i+1 < hi && (d.WordKey(i+1) == "a" || d.WordKey(i+1) == "an"):
			return i // "a nurse not a doctor"
		case d.slang(i):
			return i // "dairy bc it makes me ill"
		case d.in.Memory && (d.isSign(i, '(') || d.newStatement(i, hi) || d.clauseBegins(i, hi)):
			return i // "Mrs Patel (84, from Kampala)"
		}
	}
	return hi
}

// untilRegardless returns where "regardless" or "regardless of ..." stands within [lo, hi), or hi: "tea regardless of the weather".
func (d *doc) untilRegardless(lo, hi int) int {
	for i := lo; i < hi; i++ {
		switch d.WordKey(i) {
		case "regardless", "nonetheless", "nevertheless":
			return i
		}
	}
	return hi
}

// isSign reports whether token i is the given sign.
func (d *doc) isSign(i int, sign byte) bool {
	return d.Tokens[i].Kind == language.KindPunct && d.Tokens[i].Sign == sign
}

// withoutDateWords cuts signs off the end of an object, and words such as "today" and "right now".
func (d *doc) withoutDateWords(lo, hi int) int {
	for hi > lo && d.dropsAtEnd(lo, hi-1) {
		hi--
	}
	if hi > lo && hi < len(d.Tokens) && language.FoldEqual(d.TokenText(hi-1), "right") && language.FoldEqual(d.TokenText(hi), "now") {
		hi--
	}
	return hi
}

// dropsAtEnd reports whether token i cannot be the end of an object that begins at lo.
func (d *doc) dropsAtEnd(lo, i int) bool {
	t := &d.Tokens[i]
	if t.Kind == language.KindPunct {
		return t.Sign != '%'
	}
	return t.Kind == language.KindWord && i > lo && (t.Is(language.DayWord|language.Preposition|language.Conjunction) || d.isAdverbEnd(i))
}

// noObject reports whether the words [lo, hi) are only a function word, or begin with a conjunction: "died and the boat leans".
func (d *doc) noObject(lo, hi int) bool {
	if d.in.Memory {
		if d.asksOn(lo, hi) {
			return true
		}
		switch d.WordKey(lo) {
		case "and", "but", "or":
			return true
		case "anymore", "anyway", "anyhow", "regardless", "nonetheless", "nevertheless":
			return hi-lo == 1
		}
	}
	t := &d.Tokens[lo]
	if d.in.Memory && t.Is(language.Possessive) && hi-lo > 2 && d.Tokens[lo+1].Kind == language.KindWord && d.Tokens[lo+2].WordIs(language.FormOfBe) {
		return true // "retired & his son is useless"
	}
	return hi-lo == 1 && t.WordIs(language.Preposition|language.Conjunction|language.Adverb) && !t.Is(language.Adjective)
}

func (d *doc) isAdverbEnd(i int) bool {
	switch strings.ToLower(d.TokenText(i)) {
	case "anymore", "too", "either", "now", "again", "lately", "recently", "though", "already", "then", "once", "twice", "together", "yet", "tonight", "btw", "haha", "hahaha", "ha", "lol", "tho", "anyway", "anyhow", "actually", "even", "mostly", "especially", "myself", "meself", "obviously", "finally",
		"instead", "apparently", "honestly", "please", "pls", "hopefully", "probably", "basically", "literally", "seriously", "luckily", "sadly", "thankfully":
		return true
	case "alone":
		return i == 0 || d.WordKey(i-1) != "left" // "I want to be left alone"
	case "ourselves", "himself", "herself", "themselves":
		return i > 0 && !d.Tokens[i-1].Is(language.Preposition) // not "beside herself"
	}
	return false
}

// withoutArticle returns the object from token i on, without its article.
func (d *doc) withoutArticle(i, hi int) string {
	for i < hi-1 && d.Tokens[i].Kind == language.KindWord && (language.FoldEqual(d.TokenText(i), "a") || language.FoldEqual(d.TokenText(i), "an") || language.FoldEqual(d.TokenText(i), "the") || d.Tokens[i].Is(language.Possessive)) {
		i++
	}
	return d.object(i, hi)
}
