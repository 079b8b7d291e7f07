package office

import (
	"math"
	"strconv"
	"strings"
)

// cellFormat is a number format. The zero value is General.
type cellFormat struct {
	date     dateKind
	shown    bool // the fields below apply
	percent  bool
	decimals int
	scale    int    // how often the number is divided by a thousand
	padded   int    // least number of digits before the point, if 2 or more, as in article numbers
	prefix   string // a currency sign or the like
	suffix   string
}

// maxScale bounds how often a format divides by a thousand.
const maxScale = 4

// maxPadded bounds the leading zeros that a format adds.
const maxPadded = 20

// builtinCodes are the number formats that every workbook has (ECMA-376 part 1, 18.8.30).
var builtinCodes = map[int]string{1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%",
	37: "#,##0", 38: "#,##0", 39: "#,##0.00", 40: "#,##0.00"}

// newCellFormat parses a format code. It returns General for a code that it does not know.
func newCellFormat(code string) cellFormat {
	if kind := formatKind(code); kind != notDate {
		return cellFormat{date: kind}
	}
	code, _, _ = strings.Cut(code, ";") // the section for positive numbers
	var f cellFormat
	digits, point, literal := 0, false, ""
	place := func(text string) {
		if digits == 0 && !point {
			f.prefix += text
		} else {
			literal += text
		}
	}
	for i := 0; i < len(code); i++ {
		switch c := code[i]; c {
		case '0', '#', '?':
			if c == '0' && !point {
				f.padded++
			}
			digits++
			if point {
				f.decimals++
			}
		case '.':
			point = true
		case ',':
			if digits > 0 && (i+1 == len(code) || !strings.ContainsRune("0#?", rune(code[i+1]))) && f.scale < maxScale {
				f.scale++ // the sheet says elsewhere that it is in thousands
			}
		case '%':
			f.percent = true
			literal += "%"
		case '"':
			end := strings.IndexByte(code[i+1:], '"')
			if end < 0 {
				return cellFormat{}
			}
			place(code[i+1 : i+1+end])
			i += end + 1
		case '\\':
			if i++; i < len(code) {
				place(string(code[i]))
			}
		case '_', '*':
			i++
		case '[':
			end := strings.IndexByte(code[i:], ']')
			if end < 0 {
				return cellFormat{}
			}
			if sign, ok := strings.CutPrefix(code[i:i+end], "[$"); ok {
				sign, _, _ = strings.Cut(sign, "-")
				place(sign)
			}
			i += end
		case 'E', 'e', '/', '@', 'G', 'g':
			return cellFormat{} // scientific, fractions, text, General
		default:
			place(string(c))
		}
	}
	if digits == 0 {
		return cellFormat{}
	}
	f.shown, f.suffix = true, strings.TrimRight(literal, " ")
	f.prefix = strings.TrimLeft(f.prefix, " ")
	return f
}

// number writes a stored number as the format shows it.
func (f cellFormat) number(s string) string {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !f.shown || math.IsInf(v, 0) || math.IsNaN(v) || math.Abs(v) >= 1e15 {
		return plainNumber(s)
	}
	if f.percent {
		v *= 100
	}
	for range f.scale {
		v /= 1000
	}
	// Spreadsheets round half away from zero, after 15 digits.
	text := strconv.FormatFloat(v*(1+1e-15), 'f', min(f.decimals, 15), 64)
	if !f.percent && strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if strings.Trim(text, "-0.") == "" && v != 0 {
		return plainNumber(s) // the format rounds to zero, so show the stored number
	}
	text = strings.TrimPrefix(text, "-")
	if whole, _, _ := strings.Cut(text, "."); f.padded > len(whole) && f.padded > 1 && f.padded <= maxPadded {
		text = strings.Repeat("0", f.padded-len(whole)) + text
	}
	if v < 0 {
		return "-" + f.prefix + text + f.suffix
	}
	return f.prefix + text + f.suffix
}
