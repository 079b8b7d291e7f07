package parse

import (
	"strconv"
	"strings"
	"time"
)

// dateKind is what a number format shows of a serial date.
type dateKind uint8

const (
	notDate dateKind = iota
	dateOnly
	timeOnly
	dateTime
)

// readFormats finds the cell formats that show dates.
func (r *xlsxReader) readFormats(part string) error {
	x := r.p.scan(part)
	if x == nil {
		return nil
	}
	custom := map[int]dateKind{}
	inCells := false
	for x.next() && len(r.dates) < maxCellFormat && len(custom) < maxCellFormat {
		switch {
		case x.kind == xmlStart && x.name == "numFmt":
			custom[atoi(x.attr("numFmtId"))] = formatKind(x.attr("formatCode"))
		case x.name == "cellXfs":
			inCells = x.kind == xmlStart
		case x.kind == xmlStart && x.name == "xf" && inCells:
			id := atoi(x.attr("numFmtId"))
			kind, ok := custom[id]
			if !ok {
				kind = builtinFormat(id)
			}
			r.dates = append(r.dates, kind)
		}
	}
	return scanFault(r.p.zipFile, x)
}

// builtinFormat returns the kind of the formats that every workbook knows (ECMA-376 part 1, 18.8.30).
func builtinFormat(id int) dateKind {
	switch {
	case id >= 14 && id <= 17, id >= 27 && id <= 31, id == 36, id >= 50 && id <= 54, id >= 57 && id <= 58:
		return dateOnly
	case id >= 18 && id <= 21, id >= 32 && id <= 35, id >= 45 && id <= 47, id == 55, id == 56:
		return timeOnly
	case id == 22:
		return dateTime
	}
	return notDate
}

// formatKind reads a format code: letters outside quotes, escapes and brackets tell.
func formatKind(code string) dateKind {
	code, _, _ = strings.Cut(code, ";")
	var letters []byte
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
	case clock:
		return timeOnly
	}
	return notDate
}

// serialDate formats a serial date: days since 1899-12-30, which makes up for the 29 February 1900 that the format
// believes in, or since 1904-01-01.
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
