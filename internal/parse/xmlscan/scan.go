// Package xmlscan reads XML, well-formed or not, in constant memory.
package xmlscan

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"

	"github.com/contextmem/contextmem/internal/lazyregexp"
	"github.com/contextmem/contextmem/internal/parse/charset"
)

// Kind is the kind of a token.
type Kind int

// The kinds of tokens. Every start tag is followed by its end tag, even if the source lacks it.
const (
	Start Kind = iota
	End
	Text
)

// Scanner reads XML as a stream of text and balanced start and end tags. Its memory does not depend on the size of the document. It
// tolerates missing end tags, unexpected end tags and stray ampersands. It expands only numeric entities and those of HTML, skips
// declarations, and never reads anything external.
type Scanner struct {
	// Kind, Name, Attrs and Text describe the current token. Attrs and Text are valid until the next call.
	Kind  Kind
	Name  string // without its prefix
	Attrs []Attr
	Text  []byte
	// Unexpanded is set when the document uses entities of its own, which are not expanded.
	Unexpanded bool
	// Err is the error that ended the document early, nil at its regular end.
	Err error
	// Mismatched is set when an end tag did not match the current element.
	Mismatched bool
	// Started is set from the first element on.
	Started bool

	// Stack holds the names of the open elements, the current one last.
	Stack []string

	r        io.Reader
	buf      []byte
	pos, end int
	eof      bool
	maxDepth int
	closing  int  // end tags still to return
	pending  bool // the current start tag was an empty element
	names    map[string]string
	scratch  []byte
}

// Attr is an attribute; Prefix and Name are split at the colon.
type Attr struct {
	Prefix, Name string
	Value        string
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

// New reads from r, which may be in any charset that the document declares.
func New(r io.Reader, maxDepth int) *Scanner {
	x := &Scanner{r: r, maxDepth: maxDepth, names: map[string]string{}, buf: make([]byte, xmlWindow)}
	for x.end < 512 && !x.eof {
		x.fill()
	}
	enc, skip := Encoding(x.buf[:x.end])
	x.pos = skip
	if enc != nil {
		rest := io.MultiReader(bytes.NewReader(bytes.Clone(x.buf[x.pos:x.end])), r)
		x.r, x.pos, x.end, x.eof = transform.NewReader(rest, enc.NewDecoder()), 0, 0, false
	}
	return x
}

// Encoding returns the encoding that the first bytes of a document indicate, nil for UTF-8, and the length of a byte order mark.
func Encoding(first []byte) (encoding.Encoding, int) {
	enc, skip := charset.BOM(first)
	if enc != nil || skip > 0 {
		return enc, skip
	}
	if bytes.HasPrefix(first, []byte("<\x00?\x00")) {
		return charset.UTF16LE, 0
	}
	if bytes.HasPrefix(first, []byte("\x00<\x00?")) {
		return charset.UTF16BE, 0
	}
	if m := Declaration.FindSubmatch(first); m != nil {
		// If the declaration is readable as ASCII, the document is not in UTF-16, even if it declares that.
		if e := charset.Lookup(string(m[1])); e != encoding.Nop && e != charset.UTF16LE && e != charset.UTF16BE {
			return e, 0
		}
	}
	return nil, 0
}

// Reader returns first and then r as UTF-8, decoded by the document's byte order mark or declaration.
func Reader(first []byte, r io.Reader) io.Reader {
	enc, skip := Encoding(first)
	all := io.MultiReader(bytes.NewReader(first[skip:]), r)
	if enc == nil {
		return all
	}
	return transform.NewReader(all, enc.NewDecoder())
}

// fill reads more. It makes room by moving the unread bytes, and grows the buffer when they fill it.
func (x *Scanner) fill() {
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
				x.Err = err
			}
			return
		}
		if n > 0 {
			return
		}
	}
	x.eof = true
	x.Err = io.ErrNoProgress
}

// Next moves to the next token and reports whether there is one.
func (x *Scanner) Next() bool {
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

// finish closes the open elements at the end of the input.
func (x *Scanner) finish() bool {
	if len(x.Stack) == 0 {
		return false
	}
	if x.Err == nil {
		x.Err = errXMLCut
	}
	x.closing = len(x.Stack) - 1
	x.pos, x.end, x.eof = 0, 0, true
	x.pop()
	return true
}

func (x *Scanner) pop() {
	x.Kind, x.Name, x.Text = End, x.Stack[len(x.Stack)-1], nil
	x.Attrs = x.Attrs[:0]
	x.Stack = x.Stack[:len(x.Stack)-1]
}

// readText reads up to the next tag, or one window of a long text.
func (x *Scanner) readText() bool {
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
			// Keep an entity or a character that may continue in the next window.
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

func (x *Scanner) setText(end int) bool {
	raw := x.buf[x.pos:end]
	x.pos = end
	x.Kind, x.Name = Text, ""
	x.Text = x.unescape(raw)
	return len(raw) > 0
}

type markResult int

const (
	markSkip markResult = iota
	markToken
	markEnd
)

// markup reads a construct that begins with "<".
func (x *Scanner) markup() markResult {
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
		x.Kind, x.Name = Text, ""
		x.scratch = append(append(append(x.scratch[:0], '<'), tag...), '>')
		x.Text = x.scratch
		return markToken
	}
	return x.startTag(tag)
}

// tagEnd finds the ">" of a tag and skips those in quoted values.
func (x *Scanner) tagEnd() (int, bool) {
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
			if x.Err == nil {
				x.Err = errXMLCut
			}
			return 0, false
		}
		if x.end-x.pos > xmlMaxTag {
			x.Err, x.eof = errXMLLarge, true
			return 0, false
		}
		off := i - x.pos
		x.fill()
		i = x.pos + off
	}
}

// skipPast skips everything up to and including mark.
func (x *Scanner) skipPast(mark string, from int) markResult {
	x.pos += from
	for {
		if i := bytes.Index(x.buf[x.pos:x.end], []byte(mark)); i >= 0 {
			x.pos += i + len(mark)
			return markSkip
		}
		if x.eof {
			if x.Err == nil {
				x.Err = errXMLCut
			}
			return markEnd
		}
		x.pos = max(x.pos, x.end-len(mark)+1)
		x.fill()
	}
}

// skipDeclaration skips a document type declaration with its internal subset.
func (x *Scanner) skipDeclaration() markResult {
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
			if x.Err == nil {
				x.Err = errXMLCut
			}
			return markEnd
		}
		x.fill()
	}
}

// cdata reads a CDATA section of any length, in windows.
func (x *Scanner) cdata() markResult {
	x.pos += len("<![CDATA[")
	x.Kind, x.Name = Text, ""
	x.scratch = x.scratch[:0]
	for {
		if i := bytes.Index(x.buf[x.pos:x.end], []byte("]]>")); i >= 0 {
			x.scratch = append(x.scratch, x.buf[x.pos:x.pos+i]...)
			x.pos += i + 3
			x.Text = x.scratch
			return markToken
		}
		if x.eof || len(x.scratch) > xmlMaxTag {
			if x.Err == nil {
				x.Err = errXMLCut
				if !x.eof {
					x.Err = errXMLLarge
				}
			}
			x.scratch = append(x.scratch, x.buf[x.pos:x.end]...)
			x.pos, x.eof = x.end, true
			x.Text = x.scratch
			return markToken
		}
		keep := max(x.pos, x.end-2)
		x.scratch = append(x.scratch, x.buf[x.pos:keep]...)
		x.pos = keep
		x.fill()
	}
}

// Skip skips the content of the current start tag and its end tag.
func (x *Scanner) Skip() {
	depth := len(x.Stack)
	for len(x.Stack) >= depth && x.Next() {
	}
}

// ReasonEntities is the text for Document.Partial when Scanner.Unexpanded is set.
const ReasonEntities = "entities that the document declares were not expanded"

// Declaration matches an XML declaration that names an encoding. The name is its first group.
var Declaration = lazyregexp.New(`^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9_:.\-]{2,40})["']`)
