package pdf

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// maxHostileTime is generous: the slowest input takes a second, but the race detector and a busy machine make it much longer.
const maxHostileTime = 45 * time.Second

// parseBounded parses within the bounds that every input must keep: time, 256 MiB, a known error or a text.
func parseBounded(t *testing.T, data []byte, lim Limits) (*Result, error) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	res, err := Parse(t.Context(), data, lim)
	elapsed := time.Since(start)
	runtime.ReadMemStats(&after)
	assert.Less(t, elapsed, maxHostileTime)
	assert.Less(t, int64(after.Sys)-int64(before.Sys), int64(256<<20))
	if err != nil {
		assert.NotContains(t, err.Error(), "reader failed", "a panic was caught")
		known := false
		for _, want := range []error{ErrMalformed, ErrEncrypted, ErrLimit, ErrNoText} {
			known = known || isError(err, want)
		}
		assert.True(t, known, "err = %v", err)
	} else {
		assert.NotEmpty(t, res.Text)
	}
	return res, err
}

func TestHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("computes in one goroutine: left out with -short")
	}
	text := textAt(72, 700, "Some text before the trouble.")
	plain := string(onePage(text))
	xref := strings.Index(plain, "xref\n")
	deep := strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000)
	bomb := deflate(deflate(strings.Repeat("\x00", 48<<20)))
	build := func(f func(b *builder)) []byte {
		b := newBuilder()
		b.page(helvetica, text)
		f(b)
		return b.bytes()
	}
	chain := func() []byte {
		var out bytes.Buffer
		out.WriteString(plain)
		prev := xref
		for range 30_000 {
			at := out.Len()
			fmt.Fprintf(&out, "xref\n0 0\ntrailer\n<< /Root 1 0 R /Prev %d >>\nstartxref\n%d\n", prev, at)
			prev = at
		}
		return out.Bytes()
	}
	tests := []struct {
		name string
		data []byte
		text bool // some text is still returned
	}{
		{"page tree with a cycle", build(func(b *builder) {
			b.pages = append(b.pages, b.add("<< /Type /Pages /Kids [2 0 R 2 0 R] >>"))
		}), true},
		{"page tree without end", build(func(b *builder) {
			for range 3000 {
				b.add(fmt.Sprintf("<< /Type /Pages /Kids [%d 0 R] >>", len(b.objs)+2))
			}
			b.pages = append(b.pages, 5)
		}), true},
		{"reference to itself", build(func(b *builder) { b.pages = append(b.pages, b.add(refTo(len(b.objs)+1))) }), true},
		{"length that refers to its own stream", build(func(b *builder) {
			b.objs[2] = strings.Replace(b.objs[2], fmt.Sprintf("/Length %d", len(text)), "/Length 3 0 R", 1)
		}), true},
		{"cycle of previous sections", []byte(strings.Replace(plain, "/Root 1 0 R", fmt.Sprintf("/Root 1 0 R /Prev %d", xref), 1)), true},
		{"long chain of previous sections", chain(), true},
		{"huge count in the table", []byte(strings.Replace(plain, "xref\n0 ", "xref\n0 99999999", 1)), true},
		{"huge object number", build(func(b *builder) { b.info = "/Info 999999999999 0 R" }), true},
		{"deep array", build(func(b *builder) { b.root = "/Deep " + deep }), true},
		{"deep array in a page", onePage(text + deep + " Tj"), true},
		{"deep dictionaries in a page", onePage(text + strings.Repeat("<< /A ", 100_000)), true},
		{"many saved states", onePage(strings.Repeat("q ", 500_000) + text), true},
		{"many marks", onePage(text + strings.Repeat("/A << /ActualText (x) >> BDC ", 100_000) + textAt(72, 600, "More.")), true},
		{"bomb in the content", build(func(b *builder) {
			n := b.add(fmt.Sprintf("<< /Filter [/FlateDecode /FlateDecode] /Length %d >>\nstream\n%s\nendstream", len(bomb), bomb))
			b.objs[3] = strings.Replace(b.objs[3], "/Contents 3 0 R", fmt.Sprintf("/Contents [3 0 R %d 0 R]", n), 1)
		}), true},
		{"many bombs", build(func(b *builder) {
			n := b.add(fmt.Sprintf("<< /Filter [/FlateDecode /FlateDecode] /Length %d >>\nstream\n%s\nendstream", len(bomb), bomb))
			for range 2000 {
				b.pages = append(b.pages, b.add(fmt.Sprintf("<< /Type /Page /Contents %d 0 R >>", n)))
			}
		}), true},
		{"form that shows itself", build(func(b *builder) {
			n := len(b.objs) + 1
			b.stream(fmt.Sprintf("/Subtype /Form /Resources << /XObject << /X %d 0 R >> >>", n), "/X Do /X Do")
			b.page("/XObject << /X "+refTo(n)+" >>", "/X Do")
		}), true},
		{"forms that show ten forms each", build(func(b *builder) {
			for range 12 {
				b.stream(fmt.Sprintf("/Subtype /Form /Resources << /XObject << /X %d 0 R >> >>", len(b.objs)+2), strings.Repeat("/X Do ", 10))
			}
			b.stream("/Subtype /Form /Resources << "+helvetica+" >>", text)
			b.page("/XObject << /X 5 0 R >>", "/X Do")
		}), true},
		{"text without end", onePage(text + "BT /F1 10 Tf " + strings.Repeat("("+strings.Repeat("a", 500)+") Tj ", 10_000)), true},
		{"numbers out of range", onePage(text + "1e308 0 0 1e308 0 0 cm 99999999999999999999999999999999999999999 0 0 1 0 0 cm " + text), true},
		{"objects without end", []byte("%PDF-1.4\n" + strings.Repeat("1 0 obj ( ", 300_000)), false},
		{"streams without end", []byte("%PDF-1.4\n" + strings.Repeat("1 0 obj << /Type /Page /Contents 1 0 R >> stream\n", 50_000)), false},
		{"object stream in itself", []byte("%PDF-1.5\n1 0 obj << /Type /ObjStm /N 1 /First 4 /Length 10 /Extends 1 0 R >> stream\n1 0 1 0 R   \nendstream endobj trailer << /Root 1 0 R >>"), false},
		{"character map without end", build(func(b *builder) {
			n := b.stream("", strings.Repeat("1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfrange <0000> <ffff> <0041> endbfrange ", 30_000))
			b.page(fmt.Sprintf("/Font << /F1 << /Subtype /Type0 /Encoding /Identity-H /ToUnicode %d 0 R >> >>", n), "BT /F1 10 Tf (abcd) Tj ET")
		}), true},
		{"widths without end", build(func(b *builder) {
			n := b.add("[" + strings.Repeat("0 65535 500 ", 80_000) + "]")
			b.page(fmt.Sprintf("/Font << /F1 << /Subtype /Type0 /Encoding /UniJIS-UTF16-H /DescendantFonts [<< /W %d 0 R >>] >> >>", n), "BT /F1 10 Tf (abcd) Tj ET")
		}), true},
		{"many glyphs in one place", onePage(text + "BT /F1 10 Tf " + strings.Repeat("1 0 0 1 72 600 Tm (x) Tj ", 200_000)), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, err := parseBounded(t, tt.data, Limits{})
			if tt.text {
				require.NoError(t, err)
				assert.Contains(t, res.Text, "Some text before the trouble.")
			} else {
				require.Error(t, err)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	pages := newBuilder()
	for i := range 20 {
		pages.page(helvetica, textAt(72, 700, fmt.Sprintf("This is page %d.", i+1)))
	}
	data := pages.compressed()
	filler := strings.Repeat("% filler\n", 10_000)
	large := newBuilder()
	large.page(helvetica, textAt(72, 700, "Early.")+filler+textAt(72, 600, "Late."))
	tests := []struct {
		name          string
		data          []byte
		lim           Limits
		has, lacks    string
		err           error
		wantedPartial bool
	}{
		{"no limit reached", data, Limits{}, "This is page 20.", "nothing", nil, false},
		{"pages", data, Limits{MaxPages: 3}, "This is page 3.", "This is page 4.", nil, true},
		{"output", data, Limits{MaxOutputBytes: 40}, "This is page 1.", "This is page 5.", nil, true},
		{"objects", data, Limits{MaxObjects: 2}, "", "", ErrMalformed, false},
		{"decoded bytes", data, Limits{MaxDecodedBytes: 10}, "", "", ErrLimit, false},
		{"stream, not compressed", large.bytes(), Limits{MaxStreamBytes: 1000}, "Early.", "nothing", nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res, err := Parse(t.Context(), tt.data, tt.lim)
			if tt.err != nil {
				require.ErrorIs(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			assert.Contains(t, res.Text, tt.has)
			assert.NotContains(t, res.Text, tt.lacks)
			assert.Equal(t, tt.wantedPartial, res.Partial != "", "Partial = %q", res.Partial)
			assert.LessOrEqual(t, len(res.Text), tt.lim.withDefaults().MaxOutputBytes)
		})
	}
	t.Run("stream", func(t *testing.T) {
		t.Parallel()
		b := newBuilder()
		b.page(helvetica, "")
		c := deflate(textAt(72, 700, "Early.") + filler + textAt(72, 600, "Late."))
		b.objs[2] = fmt.Sprintf("<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream", len(c), c)
		res, err := Parse(t.Context(), b.bytes(), Limits{MaxStreamBytes: 1000})
		require.NoError(t, err)
		assert.Equal(t, "Early.", res.Text)
		assert.NotEmpty(t, res.Partial)
	})
}

// pageKids returns the list of the pages of a file.
func pageKids(file string) string {
	at := strings.Index(file, "/Kids") + len("/Kids")
	at += strings.IndexByte(file[at:], '[')
	return file[at : at+strings.IndexByte(file[at:], ']')]
}

func TestRepair(t *testing.T) {
	t.Parallel()
	b := newBuilder()
	b.page(helvetica, textAt(72, 700, "The first page."))
	b.page(helvetica, textAt(72, 700, "The second page."))
	plain, packed := string(b.bytes()), string(b.compressed())
	both := "The first page.\n\nThe second page."
	tests := []struct{ name, data, want string }{
		{"no trailer", plain[:strings.Index(plain, "xref\n")], both},
		{"wrong startxref", strings.Replace(plain, "startxref\n", "startxref\n9", 1), both},
		{"wrong offsets", strings.Replace(plain, "%PDF-1.7\n", "%PDF-1.7\n% a line more\n", 1), both},
		{"wrong lengths", strings.ReplaceAll(plain, "/Length ", "/Length 9"), both},
		{"object stream, wrong startxref", strings.Replace(packed, "startxref\n", "startxref\n9", 1), both},
		{"no catalog", strings.Replace(plain[:strings.Index(plain, "xref\n")], "/Catalog", "/Nothing", 1), both},
		{"a page that is something else", strings.Replace(plain, pageKids(plain), "[1 0 R"+pageKids(plain)[strings.Index(pageKids(plain), " R")+2:], 1), "The second page."},
		{"a tree that holds itself", strings.Replace(plain, pageKids(plain), "[2 0 R"+pageKids(plain)[strings.Index(pageKids(plain), " R")+2:], 1), "The second page."},
		{"cut in the second page", plain[:strings.Index(plain, "The second")], "The first page."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res := mustParse(t, []byte(tt.data))
			assert.Equal(t, tt.want, res.Text)
			assert.NotEmpty(t, res.Partial)
		})
	}
}

// TestMutants damages small files at random, with a fixed seed, and expects an error or a text from each.
func TestMutants(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	n := 300
	if testing.Short() {
		n = 50
	}
	for name, seed := range fuzzSeeds() {
		for range n {
			data := mutate(rng, seed)
			res, err := Parse(context.Background(), data, Limits{})
			if err == nil {
				require.NotEmpty(t, res.Text, "%s", name)
				continue
			}
			require.NotContains(t, err.Error(), "reader failed", "%s: a panic was caught", name)
		}
	}
}

// mutate changes a copy of data: cut, overwritten, with a part missing or doubled, or with other digits.
func mutate(rng *rand.Rand, data []byte) []byte {
	data = bytes.Clone(data)
	from := rng.IntN(len(data))
	to := from + rng.IntN(len(data)-from)
	switch rng.IntN(5) {
	case 0:
		return data[:from]
	case 1:
		for range 1 + rng.IntN(40) {
			data[rng.IntN(len(data))] = byte(rng.IntN(256))
		}
	case 2:
		return append(data[:from:from], data[to:]...)
	case 3:
		return append(data[:to:to], data[from:]...)
	case 4:
		for range 20 {
			if p := rng.IntN(len(data)); isDigit(data[p]) {
				data[p] = byte('0' + rng.IntN(10))
			}
		}
	}
	return data
}
