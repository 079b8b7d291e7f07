package parse

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"
)

// xmlKind is the kind of an xmlScanner's current token.
type xmlKind int

const (
	xmlStart xmlKind = iota
	xmlEnd
	xmlText
)

// xmlScanner reads XML as a stream of balanced start and end tags and text, in memory that does not depend on the
// size of the document. It forgives what can be forgiven (tags that are not closed or not open, stray ampersands) and
// knows no entity but numeric ones and those of HTML: declarations are skipped, nothing external is touched.
type xmlScanner struct {
	// kind, name, attrs and text describe the current token; attrs and text are valid until the next call.
	kind  xmlKind
	name  string // without its prefix
	attrs []xmlAttr
	text  []byte
	// unexpanded is set when the document uses entities of its own, which stay unread.
	unexpanded bool
	// err is what ended the document early; nil at its regular end.
	err error

	r        io.Reader
	buf      []byte
	pos, end int
	eof      bool
	stack    []string
	maxDepth int
	closing  int  // end tags that are due
	pending  bool // the current start tag was an empty element
	names    map[string]string
	scratch  []byte
}

// xmlAttr is an attribute; prefix and name are split at the colon.
type xmlAttr struct {
	prefix, name string
	value        string
}

const (
	xmlWindow   = 64 << 10
	xmlMaxTag   = 4 << 20
	xmlMaxNames = 4096
	xmlMaxAttrs = 512
)

var (
	errXMLCut   = errors.New("the XML ends too early")
	errXMLLarge = errors.New("an XML tag is too large")
)

// newXMLScanner reads from r, which may be in any charset that the document declares.
func newXMLScanner(r io.Reader, maxDepth int) *xmlScanner {
	x := &xmlScanner{r: r, maxDepth: maxDepth, names: map[string]string{}, buf: make([]byte, xmlWindow)}
	for x.end < 512 && !x.eof {
		x.fill()
	}
	enc, skip := xmlEncoding(x.buf[:x.end])
	x.pos = skip
	if enc != nil {
		rest := io.MultiReader(bytes.NewReader(bytes.Clone(x.buf[x.pos:x.end])), r)
		x.r, x.pos, x.end, x.eof = transform.NewReader(rest, enc.NewDecoder()), 0, 0, false
	}
	return x
}

// xmlEncoding returns the encoding that the first bytes of a document tell, nil for UTF-8, and the length of a mark.
func xmlEncoding(first []byte) (encoding.Encoding, int) {
	enc, skip := bomEncoding(first)
	if enc != nil || skip > 0 {
		return enc, skip
	}
	if bytes.HasPrefix(first, []byte("<\x00?\x00")) {
		return utf16LE, 0
	}
	if bytes.HasPrefix(first, []byte("\x00<\x00?")) {
		return utf16BE, 0
	}
	if m := xmlCharset.FindSubmatch(first); m != nil {
		// A declaration that could be read is not in UTF-16, whatever it says.
		if e := lookupCharset(string(m[1])); e != encoding.Nop && e != utf16LE && e != utf16BE {
			return e, 0
		}
	}
	return nil, 0
}

// declaredReader returns first and then r as UTF-8, decoded as the document's mark or declaration says.
func declaredReader(first []byte, r io.Reader) io.Reader {
	enc, skip := xmlEncoding(first)
	all := io.MultiReader(bytes.NewReader(first[skip:]), r)
	if enc == nil {
		return all
	}
	return transform.NewReader(all, enc.NewDecoder())
}

// fill reads more; it makes room by moving what is left, and grows the buffer when that is all of it.
func (x *xmlScanner) fill() {
	if x.eof {
		return
	}
	if x.pos > 0 && x.end == len(x.buf) {
		copy(x.buf, x.buf[x.pos:x.end])
		x.end -= x.pos
		x.pos = 0
	}
	if x.end == len(x.buf) {
		grown := make([]byte, 2*len(x.buf))
		copy(grown, x.buf)
		x.buf = grown
	}
	for range 100 {
		n, err := x.r.Read(x.buf[x.end:])
		x.end += n
		if err != nil {
			x.eof = true
			if err != io.EOF {
				x.err = err
			}
			return
		}
		if n > 0 {
			return
		}
	}
	x.eof = true
	x.err = io.ErrNoProgress
}

// next moves to the next token and reports whether there is one.
func (x *xmlScanner) next() bool {
	if x.pending {
		x.pending = false
		x.pop()
		return true
	}
	if x.closing > 0 {
		x.closing--
		x.pop()
		return true
	}
	for {
		if x.pos >= x.end {
			x.fill()
			if x.pos >= x.end {
				return x.finish()
			}
		}
		if x.buf[x.pos] != '<' {
			if x.readText() {
				return true
			}
			continue
		}
		switch x.markup() {
		case markToken:
			return true
		case markEnd:
			return x.finish()
		}
	}
}

// finish closes what is open at the end of the input.
func (x *xmlScanner) finish() bool {
	if len(x.stack) == 0 {
		return false
	}
	if x.err == nil {
		x.err = errXMLCut
	}
	x.closing = len(x.stack) - 1
	x.pos, x.end, x.eof = 0, 0, true
	x.pop()
	return true
}

func (x *xmlScanner) pop() {
	x.kind, x.name, x.text = xmlEnd, x.stack[len(x.stack)-1], nil
	x.attrs = x.attrs[:0]
	x.stack = x.stack[:len(x.stack)-1]
}

// readText reads up to the next tag, or a window's worth of a long text.
func (x *xmlScanner) readText() bool {
	from := 0
	for {
		if i := bytes.IndexByte(x.buf[x.pos+from:x.end], '<'); i >= 0 {
			return x.setText(x.pos + from + i)
		}
		from = x.end - x.pos
		if x.eof {
			return x.setText(x.end)
		}
		if from >= xmlWindow/2 {
			cut := x.end
			// Keep an entity or a character that may go on.
			if i := bytes.LastIndexByte(x.buf[max(x.pos, cut-16):cut], '&'); i >= 0 {
				cut = max(x.pos, cut-16) + i
			}
			for cut > x.pos && cut > x.end-4 && x.buf[cut-1] >= utf8.RuneSelf {
				cut--
			}
			if cut > x.pos {
				return x.setText(cut)
			}
		}
		x.fill()
	}
}

func (x *xmlScanner) setText(end int) bool {
	raw := x.buf[x.pos:end]
	x.pos = end
	x.kind, x.name = xmlText, ""
	x.text = x.unescape(raw)
	return len(raw) > 0
}

type markResult int

const (
	markSkip markResult = iota
	markToken
	markEnd
)

// markup reads what begins with "<".
func (x *xmlScanner) markup() markResult {
	for x.end-x.pos < 9 && !x.eof {
		x.fill()
	}
	rest := x.buf[x.pos:x.end]
	switch {
	case bytes.HasPrefix(rest, []byte("<!--")):
		return x.skipPast("-->", 4)
	case bytes.HasPrefix(rest, []byte("<?")):
		return x.skipPast("?>", 2)
	case bytes.HasPrefix(rest, []byte("<![CDATA[")):
		return x.cdata()
	case bytes.HasPrefix(rest, []byte("<!")):
		return x.skipDeclaration()
	}
	end, ok := x.tagEnd()
	if !ok {
		return markEnd
	}
	tag := x.buf[x.pos+1 : end]
	x.pos = end + 1
	if len(tag) > 0 && tag[0] == '/' {
		return x.endTag(tag[1:])
	}
	if len(tag) == 0 || !nameByte(tag[0]) {
		// A bare "<" is text.
		x.kind, x.name = xmlText, ""
		x.scratch = append(append(append(x.scratch[:0], '<'), tag...), '>')
		x.text = x.scratch
		return markToken
	}
	return x.startTag(tag)
}

// tagEnd finds the ">" of a tag, stepping over quoted values.
func (x *xmlScanner) tagEnd() (int, bool) {
	quote := byte(0)
	i := x.pos + 1
	for {
		for ; i < x.end; i++ {
			switch c := x.buf[i]; {
			case quote != 0:
				if c == quote {
					quote = 0
				}
			case c == '"' || c == '\'':
				quote = c
			case c == '>':
				return i, true
			}
		}
		if x.eof {
			if x.err == nil {
				x.err = errXMLCut
			}
			return 0, false
		}
		if x.end-x.pos > xmlMaxTag {
			x.err, x.eof = errXMLLarge, true
			return 0, false
		}
		off := i - x.pos
		x.fill()
		i = x.pos + off
	}
}

// skipPast steps over everything up to and including mark.
func (x *xmlScanner) skipPast(mark string, from int) markResult {
	x.pos += from
	for {
		if i := bytes.Index(x.buf[x.pos:x.end], []byte(mark)); i >= 0 {
			x.pos += i + len(mark)
			return markSkip
		}
		if x.eof {
			if x.err == nil {
				x.err = errXMLCut
			}
			return markEnd
		}
		x.pos = max(x.pos, x.end-len(mark)+1)
		x.fill()
	}
}

// skipDeclaration steps over a document type with its internal subset.
func (x *xmlScanner) skipDeclaration() markResult {
	depth, quote := 0, byte(0)
	x.pos += 2
	for {
		for x.pos < x.end {
			c := x.buf[x.pos]
			x.pos++
			switch {
			case quote != 0:
				if c == quote {
					quote = 0
				}
			case c == '"' || c == '\'':
				quote = c
			case c == '[':
				depth++
			case c == ']':
				depth--
			case c == '<' && depth > 0 && bytes.HasPrefix(x.buf[x.pos:x.end], []byte("!--")):
				if r := x.skipPast("-->", 0); r == markEnd {
					return r
				}
			case c == '>' && depth <= 0:
				return markSkip
			}
		}
		if x.eof {
			if x.err == nil {
				x.err = errXMLCut
			}
			return markEnd
		}
		x.fill()
	}
}

// cdata reads a section of literal text, of any length in windows.
func (x *xmlScanner) cdata() markResult {
	x.pos += len("<![CDATA[")
	x.kind, x.name = xmlText, ""
	x.scratch = x.scratch[:0]
	for {
		if i := bytes.Index(x.buf[x.pos:x.end], []byte("]]>")); i >= 0 {
			x.scratch = append(x.scratch, x.buf[x.pos:x.pos+i]...)
			x.pos += i + 3
			x.text = x.scratch
			return markToken
		}
		if x.eof || len(x.scratch) > xmlMaxTag {
			if x.err == nil {
				x.err = errXMLCut
				if !x.eof {
					x.err = errXMLLarge
				}
			}
			x.scratch = append(x.scratch, x.buf[x.pos:x.end]...)
			x.pos, x.eof = x.end, true
			x.text = x.scratch
			return markToken
		}
		keep := max(x.pos, x.end-2)
		x.scratch = append(x.scratch, x.buf[x.pos:keep]...)
		x.pos = keep
		x.fill()
	}
}

// skip steps over the content of the current start tag and its end tag.
func (x *xmlScanner) skip() {
	depth := len(x.stack)
	for len(x.stack) >= depth && x.next() {
	}
}
