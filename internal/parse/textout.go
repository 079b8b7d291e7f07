package parse

import (
	"errors"
	"io"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"
)

// errTextFull ends the copying to a textOut that holds enough.
var errTextFull = errors.New("the text is full")

// textPiece is how much a textOut takes at a time, and so how far it may go beyond its limit.
const textPiece = 32 << 10

// textOut collects plain text that is written in pieces of any size. What it keeps is valid UTF-8 with line feeds as
// the only line ends and no other control characters but tabs.
type textOut struct {
	buf  []byte
	max  int               // no more is taken once buf has as many bytes
	cr   bool              // the last piece ended with a carriage return
	bad  bool              // the last character stands for bytes that are no UTF-8
	tail [utf8.UTFMax]byte // the beginning of a character that the next piece goes on with
	held int               // bytes of tail
	copy []byte            // space for readAll
}

// plainBytes are those that stay as they are, the bytes of longer characters included.
var plainBytes = func() (t [256]bool) {
	for i := range t {
		t[i] = i >= ' ' && i != 0x7f || i == '\n' || i == '\t'
	}
	return t
}()

// Write takes the next piece.
func (t *textOut) Write(p []byte) (int, error) {
	n := len(p)
	for t.held > 0 && len(p) > 0 {
		t.tail[t.held], p = p[0], p[1:]
		if t.held++; utf8.FullRune(t.tail[:t.held]) {
			whole := t.tail
			size := t.held
			t.held = 0
			t.clean(whole[:size])
		}
	}
	for len(p) > 0 && len(t.buf) < t.max {
		piece := p[:min(len(p), textPiece)]
		if whole := wholeRunes(piece); whole > 0 {
			piece = piece[:whole]
		} else {
			t.held = copy(t.tail[:], piece)
		}
		p = p[len(piece):]
		if t.held == 0 {
			t.clean(piece)
		}
	}
	if len(t.buf) >= t.max {
		return n, errTextFull
	}
	return n, nil
}

// wholeRunes returns how many bytes of p are before a last character that is not complete.
func wholeRunes(p []byte) int {
	for i := len(p) - 1; i >= max(0, len(p)-utf8.UTFMax+1); i-- {
		if utf8.RuneStart(p[i]) {
			if utf8.FullRune(p[i:]) {
				break
			}
			return i
		}
	}
	return len(p)
}

// clean takes bytes that end with a whole character.
func (t *textOut) clean(p []byte) {
	for len(p) > 0 {
		n := 0
		for n < len(p) && plainBytes[p[n]] {
			n++
		}
		if s := p[:n]; n > 0 {
			if t.cr && s[0] == '\n' {
				s = s[1:]
			}
			t.cr = false
			t.text(s)
			p = p[n:]
			continue
		}
		if c := p[0]; c == '\r' || c == '\f' || c == '\v' {
			t.text([]byte{'\n'})
		}
		t.cr = p[0] == '\r'
		p = p[1:]
	}
}

// text appends what holds no control characters.
func (t *textOut) text(s []byte) {
	t.grow(len(s))
	if utf8.Valid(s) {
		t.buf = append(t.buf, s...)
		t.bad = t.bad && len(s) == 0
		return
	}
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		if bad := r == utf8.RuneError && n == 1; !bad {
			t.buf = append(t.buf, s[:n]...)
			t.bad = false
		} else if !t.bad {
			t.buf = append(t.buf, string(utf8.RuneError)...)
			t.bad = true
		}
		s = s[n:]
	}
}

// grow makes room for n bytes, by a quarter when the estimate was wrong.
func (t *textOut) grow(n int) {
	if cap(t.buf)-len(t.buf) < n {
		t.buf = slices.Grow(t.buf, max(n, min(cap(t.buf)/4, t.max+textPiece-len(t.buf)), 512))
	}
}

// finish returns the text.
func (t *textOut) finish() []byte {
	if t.held > 0 && !t.bad {
		t.buf = append(t.buf, string(utf8.RuneError)...)
	}
	t.held = 0
	return t.buf
}

// readAll takes everything that r has, up to the limit.
func (t *textOut) readAll(r io.Reader) error {
	if _, direct := r.(io.WriterTo); !direct && t.copy == nil {
		t.copy = make([]byte, textPiece)
	}
	_, err := io.CopyBuffer(t, r, t.copy)
	if errors.Is(err, errTextFull) {
		return nil
	}
	return err
}

// decodedSize estimates how many bytes of UTF-8 data becomes, from its beginning.
func decodedSize(enc encoding.Encoding, data []byte) int {
	if enc == nil {
		return len(data)
	}
	sample := head(data, 16<<10)
	out, _, err := transform.Bytes(enc.NewDecoder(), sample)
	if err != nil || len(sample) == 0 {
		return len(data)
	}
	return len(data)*len(out)/len(sample) + len(data)/32 + 64
}
