package tokenize

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// step appends the normalised form of src, which is UTF-8, to dst.
type step func(dst, src []byte) []byte

// unicodeForm returns NFC, NFD, NFKC or NFKD.
func unicodeForm(f norm.Form) step {
	return func(dst, src []byte) []byte { return f.Append(dst, src...) }
}

// lower converts each character to lower case on its own.
func lower(dst, src []byte) []byte {
	for i := 0; i < len(src); {
		c := src[i]
		if c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRune(src[i:])
		i += n
		if r == 'İ' { // the only character whose lower case has two characters
			dst = append(dst, "i\u0307"...)
			continue
		}
		dst = utf8.AppendRune(dst, unicode.ToLower(r))
	}
	return dst
}

// stripMarks removes nonspacing marks of the table.
func stripMarks(marks *unicode.RangeTable) step {
	return func(dst, src []byte) []byte {
		for len(src) > 0 {
			r, n := utf8.DecodeRune(src)
			if r < utf8.RuneSelf || !unicode.Is(marks, r) {
				dst = append(dst, src[:n]...)
			}
			src = src[n:]
		}
		return dst
	}
}

// squeeze replaces runs of two or more spaces by one.
func squeeze(dst, src []byte) []byte {
	for len(src) > 0 {
		i := bytes.Index(src, []byte("  "))
		if i < 0 {
			break
		}
		dst = append(dst, src[:i+1]...)
		src = bytes.TrimLeft(src[i:], " ")
	}
	return append(dst, src...)
}

// replace replaces one string by another.
func replace(from, to string) step {
	return func(dst, src []byte) []byte {
		for {
			i := bytes.Index(src, []byte(from))
			if i < 0 {
				return append(dst, src...)
			}
			dst = append(append(dst, src[:i]...), to...)
			src = src[i+len(from):]
		}
	}
}

// strip removes white space at the left or right end, or both.
func strip(left, right bool) step {
	return func(dst, src []byte) []byte {
		if left {
			src = bytes.TrimLeftFunc(src, unicode.IsSpace)
		}
		if right {
			src = bytes.TrimRightFunc(src, unicode.IsSpace)
		}
		return append(dst, src...)
	}
}

// prepend puts a string before a text that is not empty.
func prepend(s string) step {
	return func(dst, src []byte) []byte {
		if len(src) > 0 {
			dst = append(dst, s...)
		}
		return append(dst, src...)
	}
}
