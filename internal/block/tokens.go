// Package block makes texts of bounded length for a prompt.
package block

import "unicode"

// Tokens estimates how many tokens a model's tokeniser makes of a text, on the safe side: one for four ASCII letters or three digits of a word begun, one for two other letters,
// one for each ideograph, kana or syllable of scripts without spaces, one for each sign and line.
func Tokens(text string) (n int) {
	run, per := 0, 0
	for _, r := range text {
		width := 0
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
			width = 4
		case r >= '0' && r <= '9':
			width = 3
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
			width = 1
		case unicode.IsLetter(r) || unicode.IsMark(r):
			width = 2
		}
		switch {
		case width == 0:
			run = 0
			if !unicode.IsSpace(r) || r == '\n' {
				n++
			}
			continue
		case run == 0 || width != per || run == width:
			n++
			run = 0
		}
		per = width
		run++
	}
	return n
}
