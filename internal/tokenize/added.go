package tokenize

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// addedToken is an entry of added_tokens.
type addedToken struct {
	ID         int32  `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"` // matches only between characters that are not part of a word
	LStrip     bool   `json:"lstrip"`      // removes the white space before it
	RStrip     bool   `json:"rstrip"`      // removes the white space after it
	Normalized bool   `json:"normalized"`  // is searched in the normalised text
}

// addedTokens holds the tokens searched in the original text, and those searched after normalisation.
type addedTokens struct {
	raw, normalised tokenSet
}

// tokenSet is a set of tokens to search for, the longest first.
type tokenSet []addedToken

// section is a part of a text: a token, or the text between tokens.
type section struct {
	id    int32 // id of the token, -1 for text
	text  string
	first bool // starts at the beginning of the text
}

func newTokenSet(tokens []addedToken) tokenSet {
	slices.SortStableFunc(tokens, func(a, b addedToken) int { return cmp.Compare(len(b.Content), len(a.Content)) })
	return tokens
}

// at returns the longest token that text begins with.
func (ts tokenSet) at(text string) (addedToken, bool) {
	for _, t := range ts {
		if strings.HasPrefix(text, t.Content) {
			return t, true
		}
	}
	return addedToken{}, false
}

// cut splits text into sections and appends them to dst.
func (ts tokenSet) cut(dst []section, text string) []section {
	var begins [256]bool
	for _, t := range ts {
		begins[t.Content[0]] = true
	}
	from := 0 // start of the text that is not yet in a section
	for i := 0; i < len(text); {
		if !begins[text[i]] {
			i++
			continue
		}
		t, ok := ts.at(text[i:])
		if !ok {
			i++
			continue
		}
		start, stop := i, i+len(t.Content)
		i = stop
		if t.SingleWord && (endsWord(text[:start]) || beginsWord(text[stop:])) {
			continue
		}
		if t.LStrip {
			start = max(from, len(strings.TrimRightFunc(text[:start], unicode.IsSpace)))
		}
		if t.RStrip {
			stop = len(text) - len(strings.TrimLeftFunc(text[stop:], unicode.IsSpace))
		}
		if start < from { // the previous token consumed its first characters
			continue
		}
		if from < start {
			dst = append(dst, section{-1, text[from:start], from == 0})
		}
		dst = append(dst, section{t.ID, text[start:stop], false})
		from, i = stop, stop
	}
	if from < len(text) {
		dst = append(dst, section{-1, text[from:], from == 0})
	}
	return dst
}

func endsWord(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return isWordRune(r) && s != ""
}

func beginsWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return isWordRune(r) && s != ""
}

// isWordRune reports whether r matches \w in a Unicode regular expression (UTS 18).
func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.Is(unicode.Nd, r) || unicode.Is(unicode.Pc, r) ||
		unicode.Is(unicode.Other_Alphabetic, r) || unicode.Is(unicode.Join_Control, r) || unicode.Is(unicode.Nl, r)
}
