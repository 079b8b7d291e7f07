package chunk

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/simd"
)

func TestSentences(t *testing.T) {
	t.Parallel()
	for _, want := range [][]string{
		{"One.", "Two!", "Three?", "Four"},
		{"Dr. Lee met Mrs. J. R. Smith at 5 p.m. on the corner.", "She left."},
		{"See fig. 3, e.g. the tree, vs. the shrub etc. for more.", "Done."},
		{"Version 1.2.3 of example.org was out.", "It cost 3.50 EUR."},
		{"\"Stop!\"", "(He stopped.)", "\u00abOui.\u00bb", "Fine."},
		{"Wait... what?!", "Yes\u2026", "No."},
		{"It was I.", "So it is."},
		{"1. First things first.", "2. Then the rest."},
		{"We ate bread. and cheese.", "Good."},
		{"\u0646\u0639\u0645\u061f", "\u0644\u0627\u06d4"},
		{"\u0928\u092e\u0938\u094d\u0924\u0947\u0964", "\u0928\u092e\u0938\u094d\u0924\u0947\u0964"},
	} {
		src := strings.Join(want, " ")
		var got []string
		for s := range sentences(src, 0, len(src)) {
			got = append(got, src[s.start:s.end])
		}
		assert.Equal(t, want, got)
	}
}

func TestSentencesWithoutSpaces(t *testing.T) {
	t.Parallel()
	want := []string{"\u6211\u559c\u6b22\u8336\u3002", "\u4f60\u5462\uff1f\uff01", "\u300c\u662f\u7684\u3002\u300d", "\u597d"}
	src := strings.Join(want, "")
	var got []string
	for s := range sentences(src, 0, len(src)) {
		got = append(got, src[s.start:s.end])
	}
	assert.Equal(t, want, got)
	src = "no stop\n\nnext  \r\n \t\nlast"
	got = nil
	for s := range sentences(src, 0, len(src)) {
		got = append(got, src[s.start:s.end])
	}
	assert.Equal(t, []string{"no stop", "next", "last"}, got)
}

func TestCutPoints(t *testing.T) {
	t.Parallel()
	o := Options{TargetBytes: 64, MaxBytes: 64, OverlapBytes: -1}
	for name, c := range map[string]struct{ src, end string }{
		"line":      {strings.Repeat("a", 50) + "\nbb, cc " + strings.Repeat("d", 60), "a"},
		"clause":    {strings.Repeat("a", 45) + " bb, cc dd " + strings.Repeat("d", 60), "bb,"},
		"word":      {strings.Repeat("a", 45) + " bb cc dd " + strings.Repeat("d", 60), "dd"},
		"han":       {strings.Repeat("\u8336", 18) + "\uff0c" + strings.Repeat("\u6c34", 40), "\uff0c"},
		"rune":      {strings.Repeat("\u8336", 60), "\u8336"},
		"combining": {strings.Repeat("e\u0301", 60), "e\u0301"},
		"joined":    {strings.Repeat("\U0001f469\U0001f3fd\u200d\U0001f680", 12), "\U0001f680"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chunks := Split(c.src, false, nil, o)
			check(t, c.src, chunks, o)
			require.Greater(t, len(chunks), 1)
			assert.True(t, strings.HasSuffix(chunks[0].Text, c.end), "%q", chunks[0].Text)
		})
	}
}

// Sentences lie in the text one after the other, however much white space of whatever kind stands between them.
func FuzzSentences(f *testing.F) {
	for _, s := range []string{"One. \n\n\u00a0 Two.", "One!\n \n\u2003\nTwo? \n\n", "A.\r\n\r\nB.", "- a.\n- b.\n\n \u3000\n# c", "Ja. \u2028\n\nNein。\n\u3000\n\n", "a.\n\n\t\v\f\nb", "On day 3, Ann's \t dog (7) slept.", " a", "a\n", "- a.b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		last, n := 0, 0
		for start, end := range Sentences(text) {
			if n++; Unbroken(text) && (n > 1 || start > 0 || end < len(text)) {
				t.Fatalf("sentence %d to %d of %q, which is unbroken", start, end, text)
			}
			if start < last || end <= start || end > len(text) {
				t.Fatalf("sentence %d to %d after %d of %q", start, end, last, text)
			}
			last = end
		}
	})
}

// Eight bytes at a time find what one at a time finds, wherever in a text of whatever length it stands.
func TestBreaks(t *testing.T) {
	t.Parallel()
	for n := range 40 {
		plain := []byte(strings.Repeat("On day 3, Ann's \t dog-like (7) thing\"", 2)[:n])
		require.False(t, simd.Breaks(string(plain)), n)
		for at := range plain {
			for c := range 256 {
				text := slices.Clone(plain)
				text[at] = byte(c)
				require.Equal(t, signs[c]&(stopSign|breakSign) != 0, simd.Breaks(string(text)), "%q", text)
			}
		}
	}
}

func TestUnbroken(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a", "On day 3, Ann's dog slept.", "a; b: c - d?", "a\tb"} {
		t.Run(text, func(t *testing.T) {
			assert.True(t, Unbroken(text), text)
		})
	}
	for _, text := range []string{"", ".", " a", "a ", "a\n", "A. B", "e.g. this", "a\nb", "caf\u00e9", "a\u3002b", "a \u2026"} {
		t.Run(text, func(t *testing.T) {
			assert.False(t, Unbroken(text), text)
		})
	}
}
