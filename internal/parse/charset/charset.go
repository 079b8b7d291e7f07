// Package charset detects the encoding of a text and decodes it.
package charset

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
	"golang.org/x/text/transform"

	"github.com/contextmem/contextmem/internal/parse/clean"
)

// Detect returns the encoding of data, nil for UTF-8, and the length of a byte order mark. It decides by the mark, then the declared
// charset, then UTF-8 if it is valid, then tests for EBCDIC and UTF-16, then the statistics of guessCharset. A declared UTF-8 that the bytes
// contradict counts as undeclared, because many programs declare it without checking.
func Detect(data []byte, declared string) (encoding.Encoding, int) {
	if enc, skip := BOM(data); enc != nil || skip > 0 {
		return enc, skip
	}
	if declared != "" {
		switch enc := Lookup(declared); {
		case enc == encoding.Nop && MostlyUTF8(data):
			return nil, 0
		case enc != nil && enc != encoding.Nop:
			return enc, 0
		}
	}
	if MostlyUTF8(data) && !bytes.Contains(clean.Head(data, 1<<16), []byte{0}) && sevenBit(data) == nil {
		return nil, 0
	}
	if isEBCDIC(data) {
		return EBCDIC, 0
	}
	if enc := detectUTF16(data); enc != nil {
		return enc, 0
	}
	return guessCharset(data), 0
}

// Decode returns data as UTF-8. If data already is UTF-8, the result shares its memory.
func Decode(data []byte, declared string) []byte {
	enc, skip := Detect(data, declared)
	if enc == nil {
		return ToValid(data[skip:])
	}
	return decodeWith(enc, data[skip:])
}

// Reader returns data as a stream of UTF-8, so that the decoded text need not fit in memory.
func Reader(data []byte, declared string) io.Reader {
	enc, skip := Detect(data, declared)
	return DecodingReader(enc, data[skip:])
}

// DecodingReader returns data as a stream of UTF-8. enc is nil for UTF-8.
func DecodingReader(enc encoding.Encoding, data []byte) io.Reader {
	r := bytes.NewReader(data)
	if enc == nil {
		return r
	}
	return transform.NewReader(r, enc.NewDecoder())
}

// BOM returns the encoding that a byte order mark indicates and the length of the mark. UTF-8 gives (nil, 3).
func BOM(data []byte) (encoding.Encoding, int) {
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return nil, 3
	case bytes.HasPrefix(data, []byte("\xff\xfe\x00\x00")) && len(data)%4 == 0:
		return utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), 4
	case bytes.HasPrefix(data, []byte("\x00\x00\xfe\xff")):
		return utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), 4
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		return UTF16LE, 2
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		return UTF16BE, 2
	}
	return nil, 0
}

var (
	UTF16LE = unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	UTF16BE = unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
)

// Lookup returns the encoding of a name. It returns encoding.Nop for UTF-8 and nil for an unknown name.
func Lookup(name string) encoding.Encoding {
	name = strings.ToLower(strings.Trim(strings.TrimSpace(name), `"'`))
	switch name {
	case "utf-8", "utf8", "us-ascii", "ascii", "unicode-1-1-utf-8", "utf-8-sig", "utf8mb4":
		return encoding.Nop
	case "utf-16", "utf16", "utf-16le", "ucs-2":
		return UTF16LE
	case "utf-16be":
		return UTF16BE
	case "utf-32", "utf-32le":
		return utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)
	case "utf-32be":
		return utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)
	case "":
		return nil
	}
	if strings.HasPrefix(name, "cp12") {
		name = "windows-" + name[2:]
	}
	if enc, err := htmlindex.Get(name); err == nil {
		return enc
	}
	if enc, err := ianaindex.IANA.Encoding(name); err == nil && enc != nil {
		return enc
	}
	return nil
}

// decodeWith decodes data with enc. Bytes that enc cannot decode become U+FFFD.
func decodeWith(enc encoding.Encoding, data []byte) []byte {
	return AppendDecoded(make([]byte, 0, DecodedSize(enc, data)), enc.NewDecoder(), data)
}

// AppendDecoded appends the decoded data to out.
func AppendDecoded(out []byte, dec *encoding.Decoder, data []byte) []byte {
	start := len(out)
	for dec.Reset(); ; {
		n, read, err := dec.Transform(out[len(out):cap(out)], data, true)
		out, data = out[:len(out)+n], data[read:]
		if !errors.Is(err, transform.ErrShortDst) {
			break
		}
		out = slices.Grow(out, len(data)+len(data)/4+64)
	}
	if !utf8.Valid(out[start:]) {
		out = append(out[:start], ToValid(out[start:])...)
	}
	return out
}

// ToValid replaces invalid UTF-8 by U+FFFD. It returns valid data unchanged.
func ToValid(data []byte) []byte {
	if utf8.Valid(data) {
		return data
	}
	return bytes.ToValidUTF8(data, []byte("\uFFFD"))
}

// MostlyUTF8 reports whether data is UTF-8 with little damage: at least sixteen multi-byte sequences for each invalid byte. In text of
// another charset such sequences are accidents, so it never passes.
// Mixed reports whether a text in a Latin charset of one byte for each character has parts in UTF-8, which that charset would show as "Ã¼" in place of
// "ü". Three letters or quotation marks of a Western or Central European language suffice, since no such text has their bytes side by side.
func Mixed(enc encoding.Encoding, data []byte) bool {
	if !slices.Contains(latinCharsets, enc) {
		return false
	}
	found := 0
	for i := 0; i+1 < len(data); i++ {
		if b := data[i]; b < 0xC3 || b > 0xC5 && b != 0xE2 {
			continue
		}
		if r, n := utf8.DecodeRune(data[i:]); n > 1 && (r <= 'ž' || r >= '‐' && r <= '…') {
			if found++; found == 3 {
				return true
			}
			i += n - 1
		}
	}
	return false
}

// latinCharsets lists the charsets of Latin letters with one byte for each character that texts may be taken for.
var latinCharsets = []encoding.Encoding{
	charmap.Windows1252, charmap.Windows1250, charmap.Windows1254, charmap.Windows1257, charmap.ISO8859_1, charmap.ISO8859_2, charmap.ISO8859_9, charmap.ISO8859_15,
	charmap.Macintosh, charmap.CodePage850, charmap.CodePage852,
}

func MostlyUTF8(data []byte) bool {
	if utf8.Valid(data) {
		return true
	}
	good, bad := 0, 0
	for i := 0; i < len(data); {
		if data[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			if len(data)-i < utf8.UTFMax && !utf8.FullRune(data[i:]) {
				break // truncated at the end
			}
			bad++
		} else {
			good++
		}
		i += n
	}
	return good > 0 && good >= 16*bad
}

// sevenBit recognises the seven-bit encodings of East Asia by their escape sequences: ISO-2022-JP (RFC 1468) and HZ (RFC 1843). Program
// source may contain single escapes by chance, but not pairs of them around pairs of printable bytes.
func sevenBit(data []byte) encoding.Encoding {
	data = clean.Head(data, 1<<16)
	if bytes.Contains(data, []byte("\x1b$B")) || bytes.Contains(data, []byte("\x1b$@")) {
		return japanese.ISO2022JP
	}
	found := false
	for {
		_, rest, ok := bytes.Cut(data, []byte("~{"))
		if !ok {
			break
		}
		inside, after, closed := bytes.Cut(rest, []byte("~}"))
		if !closed && found {
			inside, after = bytes.TrimRight(rest, "\r\n"), nil // some programs omit the last closing escape
		} else if !closed {
			return nil
		}
		if len(inside) == 0 || len(inside)%2 != 0 {
			return nil
		}
		for i := 0; i < len(inside); i += 2 {
			if inside[i] < 0x21 || inside[i] > 0x77 || inside[i+1] < 0x21 || inside[i+1] > 0x7e {
				return nil
			}
		}
		found, data = true, after
	}
	for _, b := range data {
		if b >= utf8.RuneSelf {
			return nil
		}
	}
	if found {
		return simplifiedchinese.HZGB2312
	}
	return nil
}

// detectUTF16 recognises UTF-16 without a mark in data with zeros or control characters, which other texts do not have. It returns the byte
// order under which most code units are likely characters, or nil if there is none.
func detectUTF16(data []byte) encoding.Encoding {
	sample := clean.Head(data, 1<<16)
	sample = sample[:len(sample)&^1]
	if len(sample) < 2 || MostlyText(sample) {
		return nil
	}
	le, be, ascii := 0, 0, false
	for i := 0; i+1 < len(sample); i += 2 {
		ascii = ascii || sample[i] == 0 && printable(sample[i+1]) || sample[i+1] == 0 && printable(sample[i])
		le += unitScore(rune(sample[i+1])<<8 | rune(sample[i]))
		be += unitScore(rune(sample[i])<<8 | rune(sample[i+1]))
	}
	if !ascii && len(sample) < 24 {
		return nil // too short to decide
	}
	// One unlikely code unit in twenty may pass.
	enough := len(sample) / 2 * 4 / 5
	switch {
	case le >= enough && le > be:
		return UTF16LE
	case be >= enough && be > le:
		return UTF16BE
	}
	return nil
}

// unitScore rates a UTF-16 code unit: 2 for ASCII, which the other byte order would turn into rare Han characters; 1 for letters and
// punctuation of living scripts; -3 for code units that are rare in texts. About half of random code units get 1.
func unitScore(u rune) int {
	switch {
	case u >= ' ' && u < 0x7f || u == '\n' || u == '\r' || u == '\t':
		return 2
	case u >= 0xA0 && u <= 0x6FF, u >= 0x900 && u <= 0xDFF, u >= 0xE00 && u <= 0xEFF, u >= 0x1E00 && u <= 0x206F,
		u >= 0x3000 && u <= 0x30FF, u >= 0x4E00 && u <= 0x9FFF, u >= 0xAC00 && u <= 0xD7A3, u >= 0xFF00 && u <= 0xFF9F,
		u == 0x20AC, u == 0x2122, u >= 0x2190 && u <= 0x2199, u >= 0x2500 && u <= 0x257F:
		return 1
	case u >= 0xD800 && u <= 0xDFFF:
		return 0
	}
	return -3
}

// isControl reports whether a byte is a control character that texts do not contain. White space, the escape of terminal colours and of
// ISO-2022, the backspace of manual pages and the DOS end of file do not count.
func isControl(b byte) bool {
	switch b {
	case '\t', '\n', '\r', '\f', '\v', '\b', 0x1a, 0x1b:
		return false
	}
	return b < ' ' || b == 0x7f
}

// LooksBinary reports whether the sample is not text in any charset. Such a sample has three or more control characters,
// more than one in a hundred bytes, and is not UTF-16, UTF-32 or EBCDIC.
func LooksBinary(sample []byte) bool {
	if enc, skip := BOM(sample); enc != nil || skip > 0 {
		return false
	}
	controls := 0
	for _, b := range sample {
		if isControl(b) {
			controls++
		}
	}
	return controls > 2 && controls*100 > len(sample) && detectUTF16(sample) == nil && !isEBCDIC(sample)
}

// ASCIIHead returns up to n bytes of the beginning of the text for sniffing, without a byte order mark and with UTF-16 converted.
func ASCIIHead(data []byte, n int) string {
	sample := clean.Head(data, 2*n)
	enc, skip := BOM(sample)
	if enc == nil && bytes.IndexByte(sample, 0) >= 0 {
		enc = detectUTF16(sample)
	}
	sample = sample[skip:]
	if enc != nil {
		sample, _ = enc.NewDecoder().Bytes(sample)
	}
	return string(clean.Head(sample, n))
}

func printable(b byte) bool { return b >= ' ' && b < 0x7f || b == '\n' }

// DecodedSize estimates the size of data as UTF-8 from its beginning.
func DecodedSize(enc encoding.Encoding, data []byte) int {
	if enc == nil {
		return len(data)
	}
	sample := clean.Head(data, 16<<10)
	out, _, err := transform.Bytes(enc.NewDecoder(), sample)
	if err != nil || len(sample) == 0 {
		return len(data)
	}
	return len(data)*len(out)/len(sample) + len(data)/32 + 64
}

// MostlyText reports whether bytes have no control characters except white space.
func MostlyText(data []byte) bool {
	for _, b := range data {
		if isControl(b) {
			return false
		}
	}
	return true
}
