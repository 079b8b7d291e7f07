package lexical

import (
	"unicode"
	"unicode/utf8"
)

// zeroWidthJoiner joins emoji to one picture.
const zeroWidthJoiner = 0x200D

// isEmoji reports whether r is a picture that people write as a word. Arrows, bullets, frames and the signs of trade marks are not: they
// structure texts.
func isEmoji(r rune) bool {
	switch {
	case r < 0x231A:
		return false
	case r < 0x2600:
		return r <= 0x231B || r >= 0x23E9 && r <= 0x23FA // clocks, and the buttons of players
	case r < 0x27C0:
		return (r < 0x2794 || r == 0x27B0 || r == 0x27BF) && unicode.Is(unicode.So, r) // weather, games, signs
	case r < 0x1F000:
		return r == 0x2B1B || r == 0x2B1C || r == 0x2B50 || r == 0x2B55
	case r < 0x1FB00:
		switch {
		case isSkinTone(r), r >= 0x1F650 && r < 0x1F680, r >= 0x1F700 && r < 0x1F7E0, r >= 0x1F800 && r < 0x1F900:
			return false // ornaments, alchemy, shapes, arrows
		}
		return unicode.Is(unicode.So, r) || r >= 0x1F900 && !unicode.IsGraphic(r) // a newer picture than Go's tables know
	}
	return false
}

// isSkinTone reports whether r colours the emoji before it.
func isSkinTone(r rune) bool { return r >= 0x1F3FB && r <= 0x1F3FF }

// isFlagLetter reports whether r is one of the letters that make a flag in pairs.
func isFlagLetter(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

// emoji emits the emoji at text[i], which ends at text[end], and returns the offset after it. Its position is that of the word after it, so that a
// phrase goes on behind it. Skin tones and variants do not distinguish emoji; a picture that several emoji are joined to has a term for each,
// but for the signs of man and woman.
func (a *analyzer) emoji(i, end int, r rune) int {
	if next, size := utf8.DecodeRuneInString(a.text[end:]); isFlagLetter(r) && isFlagLetter(next) {
		end += size
	}
	if before, _ := utf8.DecodeLastRuneInString(a.text[:i]); before == zeroWidthJoiner && (r == '♀' || r == '♂') {
		return end
	}
	a.emit(a.text[i:end], nil, kindWord, a.pos, i, end)
	return end
}
