package output

import (
	"errors"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/contextmem/contextmem/internal/parse/clean"
)

// errTextFull stops a copy to a Collector that has reached its limit.
var errTextFull = errors.New("the text is full")

// Piece is the number of bytes that ReadAll reads at a time, and so the most by which a Collector may exceed its limit.
const Piece = 32 << 10

// Collector collects plain text from writes of any size. The collected text is valid UTF-8.
// It has line feeds as the only line ends and no other control characters except tabs.
type Collector struct {
	Buf       []byte            // the collected text; its capacity may be set before the first Write
	Max       int               // writes are refused once Buf has as many bytes
	cr        bool              // the last piece ended with a carriage return
	bad       bool              // the last character replaced invalid UTF-8
	tail      [utf8.UTFMax]byte // first bytes of a character that the next piece completes
	tailBytes int               // number of bytes in tail
	copy      []byte            // buffer of ReadAll
}

// plainBytes marks the bytes that Collector keeps unchanged, including those of multi-byte characters.
var plainBytes = func() (t [256]bool) {
	for i := range t {
		t[i] = i >= ' ' && i != 0x7f || i == '\n' || i == '\t'
	}
	return t
}()

// Write adds the next piece.
func (t *Collector) Write(p []byte) (int, error) {
	n := len(p)
	for t.tailBytes > 0 && len(p) > 0 {
		t.tail[t.tailBytes], p = p[0], p[1:]
		if t.tailBytes++; utf8.FullRune(t.tail[:t.tailBytes]) {
			whole := t.tail
			size := t.tailBytes
			t.tailBytes = 0
			t.clean(whole[:size])
		}
	}
	for len(p) > 0 && len(t.Buf) < t.Max {
		piece := p[:min(len(p), Piece)]
		if whole := wholeRunes(piece); whole > 0 {
			piece = piece[:whole]
		} else {
			t.tailBytes = copy(t.tail[:], piece)
		}
		p = p[len(piece):]
		if t.tailBytes == 0 {
			t.clean(piece)
		}
	}
	if len(t.Buf) >= t.Max {
		return n, errTextFull
	}
	return n, nil
}

// wholeRunes returns the number of bytes of p before an incomplete last character.
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

// clean adds bytes that end with a whole character.
func (t *Collector) clean(p []byte) {
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

// text appends bytes without control characters.
func (t *Collector) text(s []byte) {
	t.Grow(len(s))
	if utf8.Valid(s) {
		t.Buf = append(t.Buf, s...)
		t.bad = t.bad && len(s) == 0
		return
	}
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		if bad := r == utf8.RuneError && n == 1; !bad {
			t.Buf = append(t.Buf, s[:n]...)
			t.bad = false
		} else if !t.bad {
			t.Buf = append(t.Buf, string(utf8.RuneError)...)
			t.bad = true
		}
		s = s[n:]
	}
}

// Grow makes room for n bytes, and grows by a quarter once the estimate is exceeded.
func (t *Collector) Grow(n int) {
	if cap(t.Buf)-len(t.Buf) < n {
		t.Buf = slices.Grow(t.Buf, max(n, min(cap(t.Buf)/4, t.Max+Piece-len(t.Buf)), 512))
	}
}

// Finish returns the text.
func (t *Collector) Finish() []byte {
	if t.tailBytes > 0 && !t.bad {
		t.Buf = append(t.Buf, string(utf8.RuneError)...)
	}
	t.tailBytes = 0
	return t.Buf
}

// Restart drops the state at the end of the last piece, because the next piece begins another text.
func (t *Collector) Restart() { t.cr, t.bad = false, false }

// ReadAll reads everything from r, up to the limit.
func (t *Collector) ReadAll(r io.Reader) error {
	if _, direct := r.(io.WriterTo); !direct && t.copy == nil {
		t.copy = make([]byte, Piece)
	}
	_, err := io.CopyBuffer(t, r, t.copy)
	if errors.Is(err, errTextFull) {
		return nil
	}
	return err
}

// IsClean reports whether a Collector would keep data unchanged: UTF-8 with no control characters except line feeds and tabs.
func IsClean(data []byte) bool {
	return !clean.HasControls(clean.String(data)) && utf8.Valid(data)
}
