package pdf

import (
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

const (
	// wordGap is the least gap between two words in a line without space characters, and spacedGap in a line with them.
	wordGap, spacedGap = 0.14, 0.19
	// ideographGap is the least gap between two words of ideographs, whose spacing has no meaning otherwise.
	ideographGap = 0.6
	// leastSpacing is the least gap between letters that counts as letter-spacing.
	leastSpacing = 0.04
	// duplicateU and duplicateV are the greatest distances between two copies of a glyph that a page prints twice to look bold.
	duplicateU, duplicateV = 0.12, 0.2
)

// cluster is a character with its marks, or a space.
type cluster struct {
	text  string
	space bool
}

// wordSpace is memory for splitting lines, reused for the next line. Without it a large document needs half as much memory again
// (TestResident).
type wordSpace struct {
	clusters []cluster
	gaps     []float64
	text     []byte
}

var wordSpaces = sync.Pool{New: func() any { return new(wordSpace) }}

// joinSegments returns the words of segments of one line, in logical order.
func joinSegments(segs ...*segment) string {
	if len(segs) == 1 {
		if !segs[0].read {
			segs[0].words, segs[0].read = readSegments(segs), true
		}
		return segs[0].words
	}
	return readSegments(segs)
}

func readSegments(segs []*segment) string {
	sp := wordSpaces.Get().(*wordSpace)
	for i, s := range segs {
		if i > 0 {
			sp.clusters = append(sp.clusters, cluster{text: " ", space: true})
		}
		s.addClusters(sp)
	}
	text := sp.join()
	clear(sp.clusters) // so that it does not keep text of a document alive
	sp.clusters = sp.clusters[:0]
	wordSpaces.Put(sp)
	return text
}

// addClusters appends the characters of a segment from left to right, with spaces between words.
func (s *segment) addClusters(sp *wordSpace) {
	glyphs := s.glyphs
	limit := s.gapLimit(sp)
	out := sp.clusters
	var prev, blank *glyph // the last glyph that is not a space, and the last space after it
	pending := false
	raisedFrom := -1 // where a run of superscripts begins in out
	endRaised := func() {
		if raisedFrom >= 0 {
			run := slices.Clone(out[raisedFrom:])
			out = addRaised(out[:raisedFrom], run)
			raisedFrom = -1
		}
	}
	for i := range glyphs {
		g := &glyphs[i]
		if isBlank(g.text) {
			pending, blank = pending || prev != nil, g
			continue
		}
		text := clean(g.text)
		if text == "" {
			continue
		}
		if prev != nil {
			pending = pending && !takenBack(prev, blank, g)
			if merged, ok := composeAccent(prev, g, out[len(out)-1].text, text); ok && !pending {
				out[len(out)-1].text = merged
				prev = wider(prev, g)
				continue
			}
			gap := g.u0 - prev.u1 - max(0, min(prev.spacing, 0.5*prev.size))
			need := limit * min(max(prev.size, g.size), s.size)
			if ideographs(out[len(out)-1].text, text) {
				need = ideographGap * g.size
			}
			if pending || gap > need {
				endRaised()
				if n := len(out); n > 0 && !out[n-1].space {
					out = append(out, cluster{text: " ", space: true})
				}
			}
		}
		if raised := s.raised(g); raised && raisedFrom < 0 {
			raisedFrom = len(out)
		} else if !raised {
			endRaised()
		}
		out = append(out, cluster{text: text})
		prev, pending = g, false
	}
	endRaised()
	sp.clusters = out
}

// takenBack reports whether g overlaps the space between a and g, so that no space is visible. Some writers show a space and move back, to
// kern.
func takenBack(a, blank, g *glyph) bool {
	w := blank.u1 - blank.u0
	return w > 0.1*g.size && blank.u1-g.u0 > 0.6*w && g.u0-a.u1 < 0.08*g.size
}

// wider returns the glyph that reaches further to the right.
func wider(a, b *glyph) *glyph {
	if b.u1 > a.u1 {
		return b
	}
	return a
}

// dropDuplicates removes, in place, glyphs that are printed twice in the same position. glyphs are in order of u0.
func dropDuplicates(glyphs []glyph) []glyph {
	out := glyphs[:0]
	for i := range glyphs {
		g := &glyphs[i]
		double := false
		for k := len(out) - 1; k >= 0 && k >= len(out)-6; k-- {
			o := &out[k]
			if g.u0-o.u0 > duplicateU*g.size {
				break
			}
			if o.text == g.text && math.Abs(o.v-g.v) < duplicateV*g.size && math.Abs(o.size-g.size) < 0.1*g.size {
				double = true
				break
			}
		}
		if !double {
			out = append(out, *g)
		}
	}
	return out
}

// gapLimit returns the gap, in ems, from which two glyphs belong to two words. Letter-spacing raises it.
func (s *segment) gapLimit(sp *wordSpace) float64 {
	glyphs := s.glyphs
	gaps := sp.gaps[:0]
	spaces := 0
	for i := range glyphs {
		if isBlank(glyphs[i].text) {
			spaces++
			continue
		}
		if i > 0 && isLetter(glyphs[i-1].text) && isLetter(glyphs[i].text) {
			a, b := &glyphs[i-1], &glyphs[i]
			gaps = append(gaps, (b.u0-a.u1-max(0, min(a.spacing, 0.5*a.size)))/b.size)
		}
	}
	sp.gaps = gaps
	limit := wordGap
	if spaces > 0 {
		limit = spacedGap
	}
	if len(gaps) >= 6 {
		wide := 0
		for _, gap := range gaps {
			if gap > leastSpacing {
				wide++
			}
		}
		if len(gaps)-wide > len(gaps)/4 {
			return limit // the gap at a quarter is not wide: there is no need to sort
		}
		slices.Sort(gaps)
		if m := gaps[len(gaps)/4]; m < 0.25 {
			limit += m
		}
	}
	return limit
}

// isBlank reports whether text is only white space.
func isBlank(text string) bool {
	if len(text) == 1 && text[0] > ' ' { // the common case
		return false
	}
	for _, r := range text {
		if !unicode.IsSpace(r) && r != '\u200b' {
			return false
		}
	}
	return true
}

// ligatures are the Latin ones. Presentation forms of other scripts are decomposed by their compatibility mapping.
var ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st",
	"\u2010", "-", "\u2011", "-", "\u00a0", " ", "\u200b", "", "\u200c", "", "\u200d", "", "\u2060", "")

// clean expands ligatures and presentation forms and drops characters without a shape.
func clean(text string) string {
	if len(text) == 1 {
		return text
	}
	text = ligatures.Replace(text)
	for _, r := range text {
		if r >= 0xfb07 && r <= 0xfdff || r >= 0xfe70 && r <= 0xfeff || r >= 0x2e80 && r <= 0x2fdf {
			return norm.NFKC.String(text)
		}
	}
	return norm.NFC.String(text)
}

// accents maps spacing accents to combining ones. TeX's older fonts print an accent and its letter as two glyphs.
var accents = map[string]string{
	"`": "\u0300", "´": "\u0301", "ˆ": "\u0302", "^": "\u0302", "˜": "\u0303", "~": "\u0303", "¯": "\u0304",
	"˘": "\u0306", "˙": "\u0307", "¨": "\u0308", "˚": "\u030a", "˝": "\u030b", "ˇ": "\u030c", "¸": "\u0327", "˛": "\u0328",
}

// composeAccent joins an accent and the letter that it overlaps, in either order.
func composeAccent(a, b *glyph, at, bt string) (string, bool) {
	if isMark(bt) {
		return norm.NFC.String(at + bt), true
	}
	overlap := min(a.u1, b.u1) - max(a.u0, b.u0)
	if overlap < 0.5*min(a.u1-a.u0, b.u1-b.u0) || overlap <= 0 {
		return "", false
	}
	if c, ok := accents[bt]; ok && isLetter(at) {
		return compose(at, c)
	}
	if c, ok := accents[at]; ok && isLetter(bt) {
		return compose(bt, c)
	}
	return "", false
}

// compose returns base with mark if one character exists for both.
func compose(base, mark string) (string, bool) {
	switch base {
	case "ı":
		base = "i"
	case "ȷ":
		base = "j"
	}
	text := norm.NFC.String(base + mark)
	return text, len([]rune(text)) == len([]rune(base))
}

func isMark(text string) bool {
	if len(text) == 1 { // the common case
		return false
	}
	for _, r := range text {
		if !unicode.Is(unicode.Mn, r) {
			return false
		}
	}
	return text != ""
}

func isLetter(text string) bool {
	if len(text) == 1 { // the common case
		return text[0]|0x20 >= 'a' && text[0]|0x20 <= 'z'
	}
	for _, r := range text {
		return unicode.IsLetter(r)
	}
	return false
}

// ideographs reports whether two adjacent texts are of a script that is written without spaces.
func ideographs(a, b string) bool {
	last, first := rune(0), rune(0)
	for _, r := range a {
		last = r
	}
	for _, r := range b {
		first = r
		break
	}
	return ideographic(last) && ideographic(first)
}

func ideographic(r rune) bool {
	return r >= 0x2e80 && r <= 0xa4cf && !unicode.Is(unicode.Hangul, r) || r >= 0xf900 && r <= 0xfaff ||
		r >= 0xff00 && r <= 0xff9f || r >= 0x20000 && r <= 0x3ffff
}
