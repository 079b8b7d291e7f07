package tokenize

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// bertSteps returns BERT's normaliser: cleaning, spaces around ideographs, accents, lower case. The tables are those of the tokenizers
// library, which uses the categories of Unicode 8.
func bertSteps(clean, ideographs, accents, lowerCase bool) []step {
	var steps []step
	if clean || ideographs {
		steps = append(steps, func(dst, src []byte) []byte { return bertClean(dst, src, clean, ideographs) })
	}
	if accents {
		steps = append(steps, stripAccents)
	}
	if lowerCase {
		steps = append(steps, lower)
	}
	return steps
}

// bertClean removes control characters, turns white space into spaces and puts
// spaces around ideographs.
func bertClean(dst, src []byte, clean, ideographs bool) []byte {
	for len(src) > 0 {
		c := src[0]
		if c < utf8.RuneSelf {
			src = src[1:]
			switch {
			case !clean || c >= ' ' && c != 0x7f:
				dst = append(dst, c)
			case c == '\t' || c == '\n' || c == '\r':
				dst = append(dst, ' ')
			}
			continue
		}
		r, n := utf8.DecodeRune(src)
		switch {
		case clean && (r == utf8.RuneError || unicode.Is(bertControls, r)):
		case clean && unicode.IsSpace(r):
			dst = append(dst, ' ')
		case ideographs && r >= 0x3400 && unicode.Is(bertIdeographs, r):
			dst = append(dst, ' ')
			dst = append(dst, src[:n]...)
			dst = append(dst, ' ')
		default:
			dst = append(dst, src[:n]...)
		}
		src = src[n:]
	}
	return dst
}

// stripAccents decomposes and removes nonspacing marks.
func stripAccents(dst, src []byte) []byte {
	for i, c := range src {
		if c < utf8.RuneSelf {
			continue
		}
		// The rest takes two steps; a mark may follow the ASCII character before it.
		dst = append(dst, src[:max(0, i-1)]...)
		return stripMarks(bertMarks)(dst, norm.NFD.Append(nil, src[max(0, i-1):]...))
	}
	return append(dst, src...)
}

// split appends the words of text to dst; first reports whether text is the beginning of the input.
type split func(dst *words, text []byte, first bool)

// bertSplit separates at white space, which is dropped, and makes every punctuation
// character a word.
func bertSplit(dst *words, text []byte, _ bool) {
	for len(text) > 0 {
		c := text[0]
		if c < utf8.RuneSelf {
			switch {
			case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9':
				dst.text = append(dst.text, c)
			case c == ' ' || '\t' <= c && c <= '\r':
				dst.end()
			case c > ' ' && c < 0x7f:
				dst.end()
				dst.text = append(dst.text, c)
				dst.end()
			default:
				dst.text = append(dst.text, c)
			}
			text = text[1:]
			continue
		}
		r, n := utf8.DecodeRune(text)
		switch {
		case unicode.IsSpace(r):
			dst.end()
		case unicode.Is(bertPunctuation, r):
			dst.end()
			dst.text = append(dst.text, text[:n]...)
			dst.end()
		default:
			dst.text = append(dst.text, text[:n]...)
		}
		text = text[n:]
	}
	dst.end()
}

// whitespaceSplit separates at white space, which is dropped.
func whitespaceSplit(dst *words, text []byte, _ bool) {
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if unicode.IsSpace(r) {
			dst.end()
		} else {
			dst.text = append(dst.text, text[:n]...)
		}
		text = text[n:]
	}
	dst.end()
}
