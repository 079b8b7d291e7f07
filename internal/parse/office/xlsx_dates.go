package office

import (
	"strconv"
	"strings"
	"time"

	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/xmlscan"
)

// dateKind is which parts of a serial date a number format shows.
type dateKind uint8

const (
	notDate dateKind = iota
	dateOnly
	timeOnly
	dateTime
	elapsed // hours, however many
)

// readFormats reads the number formats of cells.
func (r *xlsxReader) readFormats(part string) error {
	x := r.p.scan(part)
	if x == nil {
		return nil
	}
	custom := map[int]cellFormat{}
	inCells := false
	for x.Next() && len(r.formats) < maxCellFormat && len(custom) < maxCellFormat {
		switch {
		case x.Kind == xmlscan.Start && x.Name == "numFmt":
			custom[clean.Int(x.Attr("numFmtId"))] = newCellFormat(x.Attr("formatCode"))
		case x.Name == "cellXfs":
			inCells = x.Kind == xmlscan.Start
		case x.Kind == xmlscan.Start && x.Name == "xf" && inCells:
			id := clean.Int(x.Attr("numFmtId"))
			f, ok := custom[id]
			if !ok {
				f = builtinFormat(id)
			}
			r.formats = append(r.formats, f)
		}
	}
	return scanFault(r.p.File, x)
}

// builtinFormat returns one of the formats that every workbook has (ECMA-376 part 1, 18.8.30).
func builtinFormat(id int) cellFormat {
	switch {
	case id >= 14 && id <= 17, id >= 27 && id <= 31, id == 36, id >= 50 && id <= 54, id >= 57 && id <= 58:
		return cellFormat{date: dateOnly}
	case id == 46: // [h]:mm:ss
		return cellFormat{date: elapsed}
	case id >= 18 && id <= 21, id >= 32 && id <= 35, id == 45, id == 47, id == 55, id == 56:
		return cellFormat{date: timeOnly}
	case id == 22:
		return cellFormat{date: dateTime}
	}
	return newCellFormat(builtinCodes[id])
}

// formatKind determines the kind from the letters of a format code outside quotes, escapes and brackets.
func formatKind(code string) dateKind {
	code, _, _ = strings.Cut(code, ";")
	var letters []byte
	hours := false
	for i := 0; i < len(code); i++ {
		switch c := code[i]; c {
		case '"':
			for i++; i < len(code) && code[i] != '"'; i++ {
			}
		case '\\', '_', '*':
			i++
		case '[':
			from := i
			for ; i < len(code) && code[i] != ']'; i++ {
			}
			if inner := strings.ToLower(code[from:min(i, len(code))]); inner == "[h" || inner == "[hh" || inner == "[mm" || inner == "[ss" || inner == "[m" || inner == "[s" {
				letters = append(letters, 'h')
				hours = hours || inner[1] == 'h'
			}
		default:
			letters = append(letters, c|0x20)
		}
	}
	s := string(letters)
	if strings.Contains(s, "general") {
		return notDate
	}
	day := strings.ContainsAny(s, "yd")
	clock := strings.ContainsAny(s, "hs")
	switch {
	case day && clock:
		return dateTime
	case day, strings.Contains(s, "mmm"):
		return dateOnly
	case hours && !day:
		return elapsed
	case clock:
		return timeOnly
	}
	return notDate
}

// serialDate formats a serial date: days since 1904-01-01, or since 1899-12-30, which compensates for the nonexistent 29 February 1900 that
// the format counts.
func serialDate(s string, kind dateKind, date1904 bool) string {
	days, err := strconv.ParseFloat(s, 64)
	if err != nil || days < 0 || days > 2958466 { // 9999-12-31
		return ""
	}
	epoch := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	if date1904 {
		epoch = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	} else if days < 60 {
		epoch = epoch.AddDate(0, 0, 1)
	}
	whole := int(days)
	seconds := int((days-float64(whole))*86400 + 0.5)
	t := epoch.AddDate(0, 0, whole).Add(time.Duration(seconds) * time.Second)
	clock := "15:04"
	if t.Second() != 0 {
		clock = "15:04:05"
	}
	switch kind {
	case elapsed:
		seconds += whole * 86400
		text := strconv.Itoa(seconds/3600) + ":" + twoDigits(seconds/60%60)
		if seconds%60 != 0 {
			text += ":" + twoDigits(seconds%60)
		}
		return text
	case timeOnly:
		if whole > 0 {
			return "" // a duration of more than a day: the number is clearer
		}
		return t.Format(clock)
	case dateTime:
		return t.Format("2006-01-02 " + clock)
	default:
		return t.Format("2006-01-02")
	}
}

func twoDigits(n int) string { return strconv.Itoa(n/10) + strconv.Itoa(n%10) }
