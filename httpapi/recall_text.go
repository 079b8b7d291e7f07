package httpapi

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/contextmem/contextmem/internal/simd"
)

// appendValue appends a metadata value as JSON. Object members are sorted.
func appendValue(b []byte, v any) ([]byte, error) {
	switch x := v.(type) {
	case string:
		return appendString(b, x), nil
	case map[string]any:
		return appendObject(b, x)
	case json.Number:
		if x != "" {
			return append(b, x...), nil
		}
	}
	own, err := marshal(v)
	return append(b, own...), err
}

func appendObject(b []byte, m map[string]any) ([]byte, error) {
	if m == nil {
		return append(b, "null"...), nil
	}
	var room [32]string // most objects have fewer members
	b = append(b, '{')
	for i, k := range sortedKeys(room[:0], m) {
		b = append(appendString(comma(b, i), k), ':')
		var err error
		if b, err = appendValue(b, m[k]); err != nil {
			return b, err
		}
	}
	return append(b, '}'), nil
}

// sortedKeys appends the sorted keys of m to keys, which must be empty.
func sortedKeys[V any](keys []string, m map[string]V) []string {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// appendFloat appends f with the fewest digits that identify it among floats of the given bit size.
func appendFloat(b []byte, f float64, bits int) ([]byte, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return b, &json.UnsupportedValueError{Str: "a number has no JSON form"}
	}
	return strconv.AppendFloat(b, f, 'g', -1, bits), nil
}

// appendScore appends f rounded to six decimals, without trailing zeros. It does not round numbers of 1e9 and more. Converting
// an integer number of millionths takes half the time of strconv, which searches for the shortest text.
func appendScore(b []byte, f float64) ([]byte, error) {
	if !(math.Abs(f) < 1e9) {
		return appendFloat(b, f, 64)
	}
	n := int64(math.Round(f * 1e6))
	if n < 0 {
		b, n = append(b, '-'), -n
	}
	whole, rest := n/1e6, uint32(n%1e6)
	if whole < 10 {
		b = append(b, '0'+byte(whole))
	} else {
		b = strconv.AppendInt(b, whole, 10)
	}
	if rest == 0 {
		return b, nil
	}
	// Write two digits at a time. Constant divisors are faster.
	i, j, k := rest/1e4*2, rest/100%100*2, rest%100*2
	b = append(b, '.', twoDigits[i], twoDigits[i+1], twoDigits[j], twoDigits[j+1], twoDigits[k], twoDigits[k+1])
	end := len(b)
	for b[end-1] == '0' {
		end--
	}
	return b[:end], nil
}

// twoDigits contains the numbers from 00 to 99, concatenated.
const twoDigits = "00010203040506070809" +
	"10111213141516171819" +
	"20212223242526272829" +
	"30313233343536373839" +
	"40414243444546474849" +
	"50515253545556575859" +
	"60616263646566676869" +
	"70717273747576777879" +
	"80818283848586878889" +
	"90919293949596979899"

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string.
func appendString(b []byte, s string) []byte {
	return append(appendText(append(b, '"'), s), '"')
}

// appendText appends s as the content of a JSON string, without quotes. It escapes control characters, quotes and
// backslashes, and U+2028 and U+2029, which are line ends in older JavaScript. It replaces invalid UTF-8 by
// U+FFFD.
func appendText(b []byte, s string) []byte {
	if i := simd.Plain(s); i < len(s) {
		return appendEscaped(append(b, s[:i]...), s[i:])
	}
	return append(b, s...) // most texts need no escaping
}

// appendEscaped appends a text whose first byte needs escaping or checking.
func appendEscaped(b []byte, s string) []byte {
	start := 0
	for i := 0; i < len(s); i += simd.Plain(s[i:]) {
		c := s[i]
		if c < utf8.RuneSelf {
			b = append(b, s[start:i]...)
			switch c {
			case '"', '\\':
				b = append(b, '\\', c)
			case '\n':
				b = append(b, '\\', 'n')
			case '\r':
				b = append(b, '\\', 'r')
			case '\t':
				b = append(b, '\\', 't')
			default:
				b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			}
			i++
			start = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b = append(append(b, s[start:i]...), "\ufffd"...)
			start = i + n
		case r == '\u2028', r == '\u2029':
			b = append(append(b, s[start:i]...), '\\', 'u', '2', '0', '2', hexDigits[r&15])
			start = i + n
		}
		i += n
	}
	return append(b, s[start:]...)
}
