package pdf

import (
	"errors"
	"math"
	"strings"
)

// Errors of the object parser; they do not leave the package.
var (
	errEnd    = errors.New("end of data")
	errSyntax = errors.New("syntax error")
)

// maxElements bounds the values in one array or dictionary, nested ones included, so that an object of a few megabytes cannot become
// gigabytes of interfaces.
const maxElements = 1 << 20

// Marks that close a composite object, as returned by [lexer.object].
const (
	closeArray = keyword("]")
	closeDict  = keyword(">>")
)

// lexer reads objects from bytes. It serves files (refs set: "1 0 R" is one object) and content streams.
type lexer struct {
	b        []byte
	pos      int
	refs     bool
	maxDepth int
	depth    int
	elements int
	content  bool  // it reads a content stream: strings share its memory, which the next page may overwrite
	spare    array // memory for the next top-level array of a content stream
}

// contentWords has the keywords of content streams, so that reading one does not allocate.
var contentWords = func() map[string]any {
	words := map[string]any{}
	for word := range strings.FieldsSeq("b B b* B* BDC BI BMC BT BX c cm CS cs d d0 d1 Do DP EI EMC ET EX f F f* G g gs h i ID j J K k l m " +
		"M MP n q Q re RG rg ri s S SC sc SCN scn sh T* Tc Td TD Tf Tj TJ TL Tm Tr Ts Tw Tz v w W W* y ' \"") {
		words[word] = keyword(word)
	}
	return words
}()

// Classes of bytes (ISO 32000-1, 7.2.2).
const (
	regularByte = iota
	spaceByte
	delimiterByte
)

var byteClass = func() (t [256]uint8) {
	for _, c := range "\x00\t\n\f\r " {
		t[c] = spaceByte
	}
	for _, c := range "()<>[]{}/%" {
		t[c] = delimiterByte
	}
	return t
}()

func isSpace(c byte) bool   { return byteClass[c] == spaceByte }
func isRegular(c byte) bool { return byteClass[c] == regularByte }
func isDigit(c byte) bool   { return '0' <= c && c <= '9' }

// skipSpace moves past white space and comments.
func (l *lexer) skipSpace() {
	for l.pos < len(l.b) {
		c := l.b[l.pos]
		switch {
		case isSpace(c):
			l.pos++
		case c == '%':
			for l.pos < len(l.b) && l.b[l.pos] != '\n' && l.b[l.pos] != '\r' {
				l.pos++
			}
		default:
			return
		}
	}
}

// object reads the next object. A word that is not an object (an operator, "obj", "stream") and a stray closing mark are returned as
// keyword.
func (l *lexer) object() (any, error) {
	l.skipSpace()
	if l.pos >= len(l.b) {
		return nil, errEnd
	}
	switch c := l.b[l.pos]; {
	case isDigit(c) || c == '+' || c == '-' || c == '.':
		return l.numberOrRef(), nil
	case c == '/':
		return l.name(), nil
	case c == '(':
		return l.literal(), nil
	case c == '<':
		if l.pos+1 < len(l.b) && l.b[l.pos+1] == '<' {
			l.pos += 2
			return l.dict()
		}
		return l.hex(), nil
	case c == '>':
		l.pos++
		if l.pos < len(l.b) && l.b[l.pos] == '>' {
			l.pos++
		}
		return closeDict, nil
	case c == '[':
		l.pos++
		return l.array()
	case c == ']':
		l.pos++
		return closeArray, nil
	case !isRegular(c):
		l.pos++
		return keyword(l.b[l.pos-1 : l.pos]), nil
	}
	start := l.pos
	for l.pos < len(l.b) && isRegular(l.b[l.pos]) {
		l.pos++
	}
	if word, ok := contentWords[string(l.b[start:l.pos])]; ok {
		return word, nil
	}
	switch word := string(l.b[start:l.pos]); word {
	case "true":
		return true, nil
	case "false":
		return false, nil
	case "null":
		return nil, nil
	default:
		return keyword(word), nil
	}
}

// numberOrRef reads a number, or a reference "N G R" where references are allowed.
func (l *lexer) numberOrRef() any {
	v := l.number()
	num, ok := v.(int)
	if !l.refs || !ok || num < 0 {
		return v
	}
	save := l.pos
	l.skipSpace()
	if l.pos < len(l.b) && isDigit(l.b[l.pos]) {
		if gen, ok := l.number().(int); ok {
			l.skipSpace()
			if l.pos < len(l.b) && l.b[l.pos] == 'R' && (l.pos+1 == len(l.b) || !isRegular(l.b[l.pos+1])) {
				l.pos++
				return ref{num, gen}
			}
		}
	}
	l.pos = save
	return v
}

// number reads a number as tolerantly as viewers do: signs may repeat, and a second point or letters end it.
func (l *lexer) number() any {
	neg, real := false, false
	for l.pos < len(l.b) && (l.b[l.pos] == '+' || l.b[l.pos] == '-') {
		neg = neg || l.b[l.pos] == '-'
		l.pos++
	}
	whole, frac, scale := 0.0, 0.0, 1.0
	for ; l.pos < len(l.b); l.pos++ {
		c := l.b[l.pos]
		switch {
		case isDigit(c) && !real:
			whole = whole*10 + float64(c-'0')
		case isDigit(c):
			scale /= 10
			frac += float64(c-'0') * scale
		case c == '.' && !real:
			real = true
			continue
		default:
			if isRegular(c) {
				l.skipNumberTail()
			}
			return makeNumber(neg, real, whole, frac)
		}
	}
	return makeNumber(neg, real, whole, frac)
}

// skipNumberTail skips invalid characters that some writers put after a number: an exponent, a second point, an inner sign.
func (l *lexer) skipNumberTail() {
	for l.pos < len(l.b) {
		if c := l.b[l.pos]; !isDigit(c) && c != '.' && c != '-' {
			return
		}
		l.pos++
	}
}

func makeNumber(neg, real bool, whole, frac float64) any {
	v := whole + frac
	if neg {
		v = -v
	}
	if real || math.Abs(v) > 1<<53 {
		return v
	}
	if n := int(v) + commonInts; 0 <= n && n < len(boxedInts) {
		return boxedInts[n]
	}
	return int(v)
}

// commonInts bounds the integers, of either sign, that are boxed once. Most numbers in content streams are among them.
const commonInts = 1000

var boxedInts = func() (t [2*commonInts + 1]any) {
	for i := range t {
		t[i] = i - commonInts
	}
	return t
}()

// name reads a name and resolves its #xx escapes.
func (l *lexer) name() name {
	l.pos++
	start, escaped := l.pos, false
	for l.pos < len(l.b) && isRegular(l.b[l.pos]) {
		escaped = escaped || l.b[l.pos] == '#'
		l.pos++
	}
	raw := l.b[start:l.pos]
	if !escaped {
		return name(raw)
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] == '#' && i+2 < len(raw) {
			hi, lo := unhex(raw[i+1]), unhex(raw[i+2])
			if hi >= 0 && lo >= 0 {
				out = append(out, byte(hi<<4|lo))
				i += 2
				continue
			}
		}
		out = append(out, raw[i])
	}
	return name(out)
}

// enter counts a level of nesting. The outermost one resets the count of elements.
func (l *lexer) enter() error {
	if l.depth == 0 {
		l.elements = 0
	}
	if l.depth++; l.depth > l.maxDepth {
		l.depth--
		return errSyntax
	}
	return nil
}

// count adds an element to the object that is being read.
func (l *lexer) count() error {
	if l.elements++; l.elements > maxElements {
		return errSyntax
	}
	return nil
}

// array reads up to the closing bracket. The end of the data closes an array whose bracket is missing.
func (l *lexer) array() (any, error) {
	if err := l.enter(); err != nil {
		return nil, err
	}
	defer func() { l.depth-- }()
	out := array{}
	if l.depth == 1 && l.spare != nil {
		out, l.spare = l.spare[:0], nil
	}
	for {
		o, err := l.object()
		if errors.Is(err, errEnd) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		switch o {
		case closeArray:
			return out, nil
		case closeDict, keyword("endobj"), keyword("ET"):
			return out, nil
		}
		if err := l.count(); err != nil {
			return nil, err
		}
		out = append(out, o)
	}
}

// dict reads up to the closing mark. It drops pairs whose key is not a name, and a key without value.
func (l *lexer) dict() (any, error) {
	if err := l.enter(); err != nil {
		return nil, err
	}
	defer func() { l.depth-- }()
	out := dict{}
	for {
		k, err := l.object()
		if errors.Is(err, errEnd) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		key, ok := k.(name)
		if !ok {
			if k == closeDict {
				return out, nil
			}
			if k == keyword("endobj") || k == keyword("stream") {
				l.pos -= len(k.(keyword))
				return out, nil
			}
			continue
		}
		save := l.pos
		v, err := l.object()
		if errors.Is(err, errEnd) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if kw, ok := v.(keyword); ok {
			if kw == closeDict || kw == "endobj" || kw == "stream" {
				l.pos = save
			}
			continue
		}
		if err := l.count(); err != nil {
			return nil, err
		}
		out[key] = v
	}
}
