package parse

import (
	"bytes"
	"strings"

	"github.com/contextmem/contextmem/internal/parse/charset"
	"github.com/contextmem/contextmem/internal/parse/chat"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/mail"
	"github.com/contextmem/contextmem/internal/parse/media"
	"github.com/contextmem/contextmem/internal/parse/ole"
)

// sniffed is the result of detecting the type of a document from its content alone.
type sniffed struct {
	// mediaType is empty for text without a distinguishing beginning, and typeBinary for bytes that are neither text nor a known format.
	mediaType string
	// certain is set if the name and the declared type cannot change the result.
	certain   bool
	encrypted bool
	damaged   bool // an old office document without the directory of its streams
}

// magics are the first bytes of refused formats, and of PDF and RTF. Sources: the formats' specifications.
var magics = []struct {
	at        int
	mark      string
	mediaType string
}{
	{0, "{\\rtf", media.RTF},
	{0, "\x1f\x8b", "application/gzip"},
	{0, "BZh", "application/x-bzip2"},
	{0, "\xfd7zXZ\x00", "application/x-xz"},
	{0, "\x28\xb5\x2f\xfd", "application/zstd"},
	{0, "7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"},
	{0, "Rar!\x1a\x07", "application/vnd.rar"},
	{0, "MSCF\x00\x00", "application/vnd.ms-cab-compressed"},
	{0, "!<arch>\n", "application/x-archive"},
	{0, "\xed\xab\xee\xdb", "application/x-rpm"},
	{257, "ustar", "application/x-tar"},
	{0x8001, "CD001", "application/x-iso9660-image"},
	{0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", media.OLE},
	{0, "\x7fELF", "application/x-elf"},
	{0, "\xca\xfe\xba\xbe", "application/java-vm"},
	{0, "\xfe\xed\xfa\xce", "application/x-mach-binary"},
	{0, "\xfe\xed\xfa\xcf", "application/x-mach-binary"},
	{0, "\xce\xfa\xed\xfe", "application/x-mach-binary"},
	{0, "\xcf\xfa\xed\xfe", "application/x-mach-binary"},
	{0, "\x00asm", "application/wasm"},
	{0, "\x89PNG\r\n\x1a\n", "image/png"},
	{0, "\xff\xd8\xff", "image/jpeg"},
	{0, "GIF87a", "image/gif"},
	{0, "GIF89a", "image/gif"},
	{0, "II*\x00", "image/tiff"},
	{0, "MM\x00*", "image/tiff"},
	{0, "8BPS\x00", "image/vnd.adobe.photoshop"},
	{0, "\x00\x00\x01\x00", "image/x-icon"},
	{0, "\x00\x00\x00\x0cjP  ", "image/jp2"},
	{0, "\xff\x0a\xff", "image/jxl"},
	{8, "WEBP", "image/webp"},
	{8, "WAVE", "audio/wav"},
	{8, "AVI ", "video/x-msvideo"},
	{4, "ftypheic", "image/heic"},
	{4, "ftypheix", "image/heic"},
	{4, "ftypmif1", "image/heif"},
	{4, "ftypavif", "image/avif"},
	{4, "ftypM4A", "audio/mp4"},
	{4, "ftyp", "video/mp4"},
	{4, "moov", "video/quicktime"},
	{0, "ID3", "audio/mpeg"},
	{0, "\xff\xfb", "audio/mpeg"},
	{0, "\xff\xf3", "audio/mpeg"},
	{0, "\xff\xf2", "audio/mpeg"},
	{0, "OggS\x00", "audio/ogg"},
	{0, "fLaC\x00", "audio/flac"},
	{0, "MThd\x00", "audio/midi"},
	{0, "\x1a\x45\xdf\xa3", "video/x-matroska"},
	{0, "FLV\x01", "video/x-flv"},
	{0, "\x00\x00\x01\xba", "video/mpeg"},
	{0, "\x00\x01\x00\x00\x00", "font/ttf"},
	{0, "OTTO\x00", "font/otf"},
	{0, "wOFF", "font/woff"},
	{0, "wOF2", "font/woff2"},
	{0, "SQLite format 3\x00", "application/vnd.sqlite3"},
	{0, "\x89HDF\r\n\x1a\n", "application/x-hdf5"},
	{0, "PAR1\x15", "application/vnd.apache.parquet"},
}

// sniff examines the content. It reads at most a few hundred kilobytes, whatever the size.
func sniff(data []byte) sniffed {
	if bytes.HasPrefix(data, []byte("PK\x03\x04")) || bytes.HasPrefix(data, []byte("PK\x05\x06")) {
		return sniffZip(data)
	}
	for _, m := range magics {
		if len(data) >= m.at+len(m.mark) && string(data[m.at:m.at+len(m.mark)]) == m.mark {
			if m.mediaType != media.RTF && len(m.mark) < 8 && charset.MostlyText(clean.Head(data, 4096)) {
				continue // a text that begins with these letters
			}
			s := sniffed{mediaType: m.mediaType, certain: true}
			s.encrypted = m.mediaType == media.OLE && bytes.Contains(clean.Head(data, 1<<20), utf16le("EncryptedPackage"))
			if m.mediaType == media.OLE && !s.encrypted {
				s.mediaType, s.damaged = sniffOLE(data)
			}
			return s
		}
	}
	if bytes.HasPrefix(data, []byte("MZ")) && len(data) > 64 && bytes.IndexByte(data[:64], 0) >= 0 {
		return sniffed{mediaType: "application/vnd.microsoft.portable-executable", certain: true}
	}
	if bytes.HasPrefix(data, []byte("BM")) && len(data) > 18 && bytes.Equal(data[6:10], []byte{0, 0, 0, 0}) {
		return sniffed{mediaType: "image/bmp", certain: true}
	}
	// Readers accept a PDF header within the first 1,024 bytes. A text about PDF has words before it.
	if i := bytes.Index(clean.Head(data, 1024), []byte("%PDF-")); i >= 0 &&
		(len(bytes.Trim(data[:i], " \t\r\n\x00\xef\xbb\xbf")) == 0 || !charset.MostlyText(clean.Head(data, 8192))) {
		return sniffed{mediaType: media.PDF, certain: true}
	}
	if charset.LooksBinary(clean.Head(data, 64<<10)) {
		return sniffed{mediaType: media.Binary}
	}
	return sniffText(data)
}

// sniffOLE distinguishes old office documents by their streams. damaged reports whether the directory of the streams is missing.
func sniffOLE(data []byte) (mediaType string, damaged bool) {
	f, err := ole.Open(data)
	if err != nil {
		return media.OLE, true
	}
	for _, m := range []struct{ stream, mediaType string }{
		{"WordDocument", media.DOC}, {"Workbook", media.XLS}, {"Book", media.XLS}, {"PowerPoint Document", media.PPT}, {mail.MSGMark, media.MSG},
	} {
		if f.Has(m.stream) {
			return m.mediaType, false
		}
	}
	return media.OLE, f.Cut
}

// sniffText distinguishes marked-up text from plain text.
func sniffText(data []byte) sniffed {
	text := strings.ToLower(charset.ASCIIHead(data, 4096))
	text = strings.TrimLeft(text, " \t\r\n")
	switch {
	case strings.HasPrefix(text, "{\\rtf"):
		return sniffed{mediaType: media.RTF, certain: true}
	case strings.HasPrefix(text, "<?xml"):
		if rootIs(text, "html") || strings.Contains(text, "<!doctype html") {
			return sniffed{mediaType: media.XHTML}
		}
		return sniffed{mediaType: media.XML}
	case strings.HasPrefix(text, "<!doctype html") || rootIs(text, "html") || rootIs(text, "head") || rootIs(text, "body"):
		return sniffed{mediaType: media.HTML}
	case strings.Contains(text, "</") && htmlBeginnings[firstElement(text)]:
		return sniffed{mediaType: media.HTML}
	case strings.HasPrefix(text, "begin:vcalendar"):
		return sniffed{mediaType: media.Calendar}
	case strings.HasPrefix(text, "begin:vcard"):
		return sniffed{mediaType: media.Contacts}
	case strings.HasPrefix(text, "webvtt") && len(text) > 6 && strings.IndexByte(" \t\r\n", text[6]) >= 0:
		return sniffed{mediaType: media.VTT}
	case looksLikeMan(charset.ASCIIHead(data, 16<<10)):
		return sniffed{mediaType: media.Man}
	case chat.IsWhatsApp(charset.ASCIIHead(data, 4096)):
		return sniffed{mediaType: media.WhatsApp}
	case looksLikeMbox(text):
		return sniffed{mediaType: media.MBOX}
	case looksLikeMail(text):
		return sniffed{mediaType: media.EML}
	}
	return sniffed{}
}

// htmlBeginnings are elements that fragments of pages begin with.
var htmlBeginnings = map[string]bool{"title": true, "meta": true, "h1": true, "h2": true, "div": true, "p": true, "table": true,
	"ul": true, "ol": true, "section": true, "article": true, "main": true, "style": true, "script": true, "center": true}

func rootIs(text, name string) bool { return firstElement(text) == name }

// firstElement returns the name of the first element of lower-case markup, after comments and declarations.
func firstElement(text string) string {
	for {
		text = strings.TrimLeft(text, " \t\r\n")
		end := ""
		switch {
		case strings.HasPrefix(text, "<!--"):
			end = "-->"
		case strings.HasPrefix(text, "<?"), strings.HasPrefix(text, "<!"):
			end = ">"
		default:
			rest, ok := strings.CutPrefix(text, "<")
			if n := strings.IndexAny(rest, " \t\r\n>/"); ok && n > 0 {
				return rest[:n]
			}
			return ""
		}
		i := strings.Index(text, end)
		if i < 0 {
			return ""
		}
		text = text[i+len(end):]
	}
}

// mailFields are header fields that only mail has near its beginning. Two of them make a mail.
var mailFields = []string{"received", "message-id", "mime-version", "return-path", "delivered-to", "dkim-signature",
	"from", "to", "subject", "date", "x-mailer", "content-type", "content-transfer-encoding", "reply-to", "cc"}

// looksLikeMail reports whether lower-case text begins with the header of a mail: only header lines, with a sender
// or a transport field among at least three known ones.
func looksLikeMail(text string) bool {
	known, sender, transport := 0, false, false
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(line, "\r")
		if line == "" {
			break
		}
		if i > 0 && (line[0] == ' ' || line[0] == '\t') {
			continue
		}
		name, _, ok := strings.Cut(line, ":")
		if !ok || name == "" || strings.ContainsAny(name, " \t<>\"") {
			if len(text) > 4000 && known >= 3 {
				break // the cut-off last line
			}
			return false
		}
		for j, f := range mailFields {
			if f == name {
				known++
				sender = sender || f == "from"
				transport = transport || j < 6
			}
		}
	}
	return known >= 3 && (transport || sender && strings.Contains(text, "@"))
}

// looksLikeMan reports whether a text begins with troff requests only, up to the one that sets the title of a manual page.
func looksLikeMan(text string) bool {
	if !strings.HasPrefix(text, ".") && !strings.HasPrefix(text, "'") {
		return false
	}
	macro := false
	for line := range strings.Lines(text) {
		switch {
		case macro:
			macro = line != "..\n"
		case strings.HasPrefix(line, ".TH "), strings.HasPrefix(line, ".Dd "):
			return true
		case !strings.ContainsRune(".'\\\n", rune(line[0])):
			return false
		}
		macro = macro || strings.HasPrefix(line, ".de ")
	}
	return false
}

// looksLikeMbox reports whether lower-case text begins with a "From " line and a mail header.
func looksLikeMbox(text string) bool {
	if !strings.HasPrefix(text, "from ") {
		return false
	}
	_, rest, ok := strings.Cut(text, "\n")
	return ok && looksLikeMail(rest)
}

// candidates returns the types to try in order. source means that the name is that of source code.
func candidates(s sniffed, declared, byName string, source bool, custom map[string]bool) []string {
	switch {
	case s.certain:
		out := []string{s.mediaType}
		// The user may have registered a parser, under a narrower name, for a type that the bundled parsers refuse.
		for _, t := range []string{declared, byName} {
			if custom[t] {
				out = append(out, t)
			}
		}
		return out
	case s.mediaType == media.Binary, s.mediaType == media.ZIP:
		// The file is damaged. The parser of the type that it claims to be reports what is wrong.
		out := []string{}
		for _, t := range []string{declared, byName} {
			if t != "" && t != media.Binary && t != media.ZIP {
				out = append(out, t)
			}
		}
		return append(out, s.mediaType)
	}
	claim := claimed(declared, byName)
	switch {
	case custom[claim]:
		return []string{claim}
	case s.mediaType == "":
		if claim == "" || claim == media.Binary || media.RefusedType(claim) != nil {
			return []string{media.Text}
		}
		return []string{claim, media.Text}
	case isMarkup(s.mediaType):
		return []string{markupType(s.mediaType, claim, source)}
	case s.mediaType == media.EML || s.mediaType == media.MBOX:
		if source || claim == media.Markdown || claim == media.CSV || claim == media.TSV {
			return []string{claim}
		}
	}
	return []string{s.mediaType}
}

// claimed returns the type that a file claims to have. A name says more than a declared type, unless it is the name of a plain text.
func claimed(declared, byName string) string {
	generic := declared == "" || declared == media.Text || declared == media.Binary
	if byName != "" && (generic || byName != media.Text) {
		return byName
	}
	return declared
}

func isMarkup(mediaType string) bool {
	return mediaType == media.HTML || mediaType == media.XML || mediaType == media.XHTML
}

// markupType returns the type of a text that begins with markup. Source code with markup at its top has the type of its name; a web page in a
// .txt file is a web page.
func markupType(found, claim string, source bool) string {
	switch {
	case claim == media.Text && source:
		return media.Text
	case found == media.XHTML && claim == media.XML:
		return media.XHTML
	case isMarkup(claim), claim == media.Markdown, claim == media.EML, claim == media.MBOX:
		return claim
	}
	return found
}

// utf16le encodes an ASCII string.
func utf16le(s string) []byte {
	out := make([]byte, 0, 2*len(s))
	for i := range len(s) {
		out = append(out, s[i], 0)
	}
	return out
}
