package rules

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/contextmem/contextmem/extract"
)

// corrections are the words by which somebody takes back what he said just before.
var corrections = [...]string{", i mean ", " i mean ", ", i meant ", " no sorry ", ", no sorry, ", ", sorry, ", " no wait ", ", no wait, ", ", no, "}

// corrected removes from a sentence what the speaker takes back in it: "I drive a Skoda, I mean a Seat" says "I drive a Seat". Both have to be
// names, or numbers: "really allergic" corrects nothing.
func corrected(text string, lo, hi int) []edit {
	s := strings.ToLower(text[lo:hi])
	if len(s) != hi-lo {
		return nil
	}
	for _, cue := range corrections {
		i := strings.Index(s, cue)
		if i < 0 {
			continue
		}
		before, after := text[lo:lo+i], text[lo+i+len(cue):hi]
		from, kind := lastObject(before)
		if kind == 0 || kind != firstKind(after) {
			return nil
		}
		return []edit{{lo + from, lo + i + len(cue), ""}}
	}
	return nil
}

// firstKind returns what an object begins with, behind an article: 'N' for a name, '9' for a number, 0 for anything else.
func firstKind(s string) byte {
	for _, w := range strings.Fields(s) {
		if article := strings.ToLower(w); article == "a" || article == "an" || article == "the" {
			continue
		}
		return kindOf(w)
	}
	return 0
}

func kindOf(word string) byte {
	switch r, _ := utf8.DecodeRuneInString(strings.TrimLeft(word, "£$€")); {
	case unicode.IsDigit(r):
		return '9'
	case unicode.IsUpper(r) && !strings.HasPrefix(word, "I'") && word != "I":
		return 'N'
	}
	return 0
}

// lastObject returns where the name or number at the end of s begins, with its article.
func lastObject(s string) (from int, kind byte) {
	from = len(s)
	for {
		k := strings.LastIndexByte(s[:from], ' ') + 1
		if k == 0 {
			return from, kind
		}
		switch w := s[k:from]; {
		case kindOf(strings.TrimRight(w, ",")) != 0 && (kind == 0 || kind == kindOf(w)):
			kind = kindOf(w)
		case kind != 0 && (w == "a" || w == "an" || w == "the"):
			return k, kind
		default:
			return min(from+1, len(s)), kind
		}
		from = k - 1
	}
}

// restored gives what was read in a completed note the places and the words of the note.
func restored(out *extract.Output, in *extract.Input, whole string, edits []edit) {
	place := func(p int, end bool) int {
		shift := 0 // of the completed text against the note
		for _, e := range edits {
			at := e.lo + shift
			switch {
			case p < at || p == at && end:
				return p - shift
			case p < at+len(e.text) || p == at+len(e.text) && end:
				if end {
					return e.hi
				}
				return e.lo
			}
			shift += len(e.text) - (e.hi - e.lo)
		}
		return min(p-shift, len(in.Text))
	}
	for i := range out.Mentions {
		if m := &out.Mentions[i]; m.Chunk >= 0 {
			m.Start, m.End = place(m.Start, false), place(m.End, true)
		}
	}
	for i := range out.Facts {
		f := &out.Facts[i]
		f.Start, f.End = place(f.Start, false), place(f.End, true)
		f.Evidence = clip(in.Text[f.Start:f.End])
	}
	for i := range out.Dates {
		x := &out.Dates[i]
		x.Start, x.End = place(x.Start, false), place(x.End, true)
		x.Surface = in.Text[x.Start:x.End]
	}
	context := func(c string) string {
		at := strings.Index(whole, c)
		if c == "" || at < 0 {
			return c
		}
		return clip(in.Text[place(at, false):place(at+len(c), true)])
	}
	for i := range out.Relations {
		out.Relations[i].Context = context(out.Relations[i].Context)
	}
	for i := range out.Aliases {
		out.Aliases[i].Context = context(out.Aliases[i].Context)
	}
}
