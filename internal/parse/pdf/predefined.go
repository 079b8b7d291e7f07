package pdf

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// charset is the character set that a predefined CMap (ISO 32000-1, table 118) is named after. It gives the text of a code without the
// tables that map codes to CIDs.
type charset struct {
	enc      encoding.Encoding // nil for the Unicode forms
	unicode  int               // 8, 16 or 32: UTF form
	shift    bool              // seven-bit JIS: the high bits are added before enc decodes
	vertical bool
}

// charsetMaps maps the beginning of a CMap's name to its character set. The first match counts.
var charsetMaps = []struct {
	prefix string
	enc    encoding.Encoding
}{
	{"83pv-RKSJ", japanese.ShiftJIS}, {"90ms-RKSJ", japanese.ShiftJIS}, {"90msp-RKSJ", japanese.ShiftJIS},
	{"90pv-RKSJ", japanese.ShiftJIS}, {"Add-RKSJ", japanese.ShiftJIS}, {"Ext-RKSJ", japanese.ShiftJIS},
	{"EUC-", japanese.EUCJP},
	{"GBKp-EUC", simplifiedchinese.GBK}, {"GBK-EUC", simplifiedchinese.GBK}, {"GBK2K", simplifiedchinese.GB18030},
	{"GB-EUC", simplifiedchinese.GBK}, {"GBpc-EUC", simplifiedchinese.GBK},
	{"B5pc", traditionalchinese.Big5}, {"HKscs-B5", traditionalchinese.Big5}, {"ETen-B5", traditionalchinese.Big5},
	{"ETenms-B5", traditionalchinese.Big5},
	{"KSC-EUC", korean.EUCKR}, {"KSCms-UHC", korean.EUCKR}, {"KSCpc-EUC", korean.EUCKR},
}

// predefinedCharset returns the character set of a predefined CMap, or nil.
func predefinedCharset(n string) *charset {
	c := &charset{vertical: strings.HasSuffix(n, "-V") || n == "V"}
	switch {
	case n == "H" || n == "V":
		c.enc, c.shift = japanese.EUCJP, true
	case strings.HasPrefix(n, "Uni") && strings.Contains(n, "UTF32"):
		c.unicode = 32
	case strings.HasPrefix(n, "Uni") && strings.Contains(n, "UTF8"):
		c.unicode = 8
	case strings.HasPrefix(n, "Uni") && (strings.Contains(n, "UCS2") || strings.Contains(n, "UTF16")):
		c.unicode = 16
	default:
		for _, m := range charsetMaps {
			if strings.HasPrefix(n, m.prefix) {
				c.enc = m.enc
				return c
			}
		}
		return nil
	}
	return c
}

// next splits the first code off s and returns its text.
func (c *charset) next(s str) (code uint32, n int, text string) {
	n = c.length(s)
	for i := range n {
		code = code<<8 | uint32(s[i])
	}
	switch {
	case c.unicode == 32 || c.unicode == 16 && n == 2:
		text = string(rune(code))
	case c.unicode == 16 && n == 4:
		text = string(utf16.DecodeRune(rune(code>>16), rune(code&0xffff)))
	case c.unicode == 8:
		text = strings.Clone(string(s[:n])) // it must outlive the content that s is part of
	case c.shift:
		b := []byte(s[:n])
		for i := range b {
			b[i] |= 0x80
		}
		text = decodeWith(c.enc, b)
	default:
		text = decodeWith(c.enc, []byte(s[:n]))
	}
	for _, r := range text {
		if !usable(r) {
			return code, n, ""
		}
	}
	return code, n, text
}

// length returns the length in bytes of the first code of s, by the lead bytes of each character set.
func (c *charset) length(s str) int {
	want := 2
	lead := s[0]
	switch {
	case c.unicode == 32:
		want = 4
	case c.unicode == 16:
		if lead >= 0xd8 && lead < 0xdc {
			want = 4
		}
	case c.unicode == 8:
		_, want = utf8.DecodeRuneInString(string(s[:min(len(s), utf8.UTFMax)]))
	case c.shift:
	case c.enc == japanese.ShiftJIS:
		if lead < 0x81 || lead >= 0xa0 && lead < 0xe0 || lead > 0xfc {
			want = 1
		}
	case lead < 0x81:
		want = 1
	case c.enc == simplifiedchinese.GB18030 && len(s) >= 4 && s[1] >= '0' && s[1] <= '9':
		want = 4
	}
	return min(want, len(s))
}

func decodeWith(e encoding.Encoding, b []byte) string {
	out, err := e.NewDecoder().Bytes(b)
	if err != nil {
		return ""
	}
	return string(out)
}
