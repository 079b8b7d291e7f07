package office

import (
	"strconv"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"

	"github.com/contextmem/contextmem/internal/parse/charset"
)

// rtfCharsets are the encodings of font charsets (\fcharset).
var rtfCharsets = map[int]encoding.Encoding{
	0: charmap.Windows1252, 77: charmap.Macintosh, 128: japanese.ShiftJIS, 129: korean.EUCKR,
	134: simplifiedchinese.GBK, 136: traditionalchinese.Big5, 161: charmap.Windows1253, 162: charmap.Windows1254,
	163: charmap.Windows1258, 177: charmap.Windows1255, 178: charmap.Windows1256, 186: charmap.Windows1257,
	204: charmap.Windows1251, 222: charmap.Windows874, 238: charmap.Windows1250, 254: charmap.CodePage437,
}

// codePage returns the encoding of a Windows code page number.
func codePage(n int) encoding.Encoding {
	switch n {
	case 932:
		return japanese.ShiftJIS
	case 936:
		return simplifiedchinese.GBK
	case 949:
		return korean.EUCKR
	case 950:
		return traditionalchinese.Big5
	case 10000:
		return charmap.Macintosh
	case 437:
		return charmap.CodePage437
	case 850:
		return charmap.CodePage850
	case 852:
		return charmap.CodePage852
	case 866:
		return charmap.CodePage866
	case 874:
		return charmap.Windows874
	}
	if n >= 1250 && n <= 1258 {
		if e := charset.Lookup("windows-" + strconv.Itoa(n)); e != nil && e != encoding.Nop {
			return e
		}
	}
	return nil
}
