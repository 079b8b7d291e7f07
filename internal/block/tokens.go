// Package block builds texts of bounded length for a prompt.
package block

import "unicode"

// Tokens returns a conservative estimate of the number of tokens in a text. It counts one token for each started group of four
// ASCII letters or three digits of a word, and one for two other letters. Each ideograph, kana, syllable of a script without
// spaces, sign and line counts as one.
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
