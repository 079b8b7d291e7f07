package pdf

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// plainWriter is a simple reference for writer that has all blocks at hand.
func plainWriter(w *writer, pages [][]block) (string, []Page) {
	body, boldCounts := w.body(), boldShare*w.bold < w.bytes
	var text string
	var out []Page
	last := -1
	for i, blocks := range pages {
		start := -1
		for k := range blocks {
			b := &blocks[k]
			switch {
			case last < 0:
			case last == blockItem && b.kind == blockItem && k > 0:
				text += "\n"
			default:
				text += "\n\n"
			}
			if k == 0 {
				start = len(text)
			}
			large := b.size >= headingSize*body
			bold := boldCounts && b.bold && b.size >= 0.98*body && !strings.HasSuffix(b.text, ":")
			if mayBeHeading(b) && (large || bold) {
				text += "## "
			}
			text += strings.ToValidUTF8(b.text, "")
			last = b.kind
		}
		out = append(out, Page{Number: i + 1, Start: start})
	}
	next := len(text)
	for i := len(out) - 1; i >= 0; i-- {
		if out[i].Start < 0 {
			out[i].Start = next
		}
		next = out[i].Start
	}
	return text, out
}

func TestWriterMarksHeadings(t *testing.T) {
	t.Parallel()
	texts := []string{"Peas", "The garden:", "Sown in April.", "- beans", "1. carrots", "Beds ... 4", "42", "Gem\xffse", "Äpfel",
		strings.Repeat("The gardener sows rows. ", 9), strings.Repeat("long and without an end ", 9)}
	sizes := []float64{10, 10.04, 11.8, 11.79, 14, 9.8, 8}
	marked := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 7))
		pages := make([][]block, r.IntN(12))
		w := newWriter(1<<20, r.IntN(2)*len(pages))
		for i := range pages {
			for range r.IntN(6) {
				b := block{kind: r.IntN(3), text: texts[r.IntN(len(texts))], size: sizes[min(r.IntN(len(sizes)), r.IntN(len(sizes)))],
					bold: r.IntN(6) == 0, lines: 1 + r.IntN(4)}
				pages[i] = append(pages[i], b)
			}
			w.page(pages[i])
		}
		want, wantPages := plainWriter(w, pages)
		got, gotPages := w.finish()
		require.Equal(t, want, got, "seed %d", seed)
		require.Len(t, gotPages, len(wantPages))
		for i := range wantPages {
			require.Equal(t, wantPages[i], gotPages[i], "seed %d", seed)
		}
		require.True(t, utf8.ValidString(got))
		marked += strings.Count(got, "## ")
	}
	assert.Greater(t, marked, 300)
}

func TestWriterLimit(t *testing.T) {
	t.Parallel()
	w := newWriter(20, 2)
	w.page([]block{{text: "one", size: 10, lines: 1}, {text: "two", size: 10, lines: 1}})
	require.False(t, w.full)
	w.page([]block{{text: strings.Repeat("x", 20), size: 10, lines: 1}, {text: "y", size: 10, lines: 1}})
	require.True(t, w.full)
	text, pages := w.finish()
	assert.Equal(t, "one\n\ntwo", text)
	assert.Equal(t, []Page{{1, 0}, {2, 8}}, pages)
}

// TestWriterReserve checks that the memory reserved for a text is bounded by what it needs, whatever page count the document states.
func TestWriterReserve(t *testing.T) {
	t.Parallel()
	page := []block{{text: strings.Repeat("Peas and beans. ", 250), size: 10, lines: 40}}
	for _, expected := range []int{-1, 0, 500, 1000, 1 << 40} {
		t.Run(fmt.Sprint(expected), func(t *testing.T) {
			w := newWriter(DefaultMaxOutputBytes, expected)
			moved, space := 0, 0
			for i := range 1000 {
				w.page(page)
				if cap(w.text) != space {
					space = cap(w.text)
					if i >= 20 {
						moved++
					}
				}
				require.LessOrEqual(t, cap(w.text), DefaultMaxOutputBytes+DefaultMaxOutputBytes/16)
				if len(w.text) < firstText/2 {
					require.LessOrEqual(t, cap(w.text), firstReserve)
				}
			}
			if expected == 1000 {
				assert.LessOrEqual(t, moved, 2, "the text moves as soon as the pages tell its size, and not after that")
			}
			text, _ := w.finish()
			assert.Len(t, text, 1000*(len(page[0].text)+2)-2)
		})
	}
}

// TestPagesShareSpace checks pages that each reuse the memory of the previous page's content.
func TestPagesShareSpace(t *testing.T) {
	t.Parallel()
	b := newBuilder()
	font := "/Font << /F " + refTo(b.add("<< /Type /Font /Subtype /Type0 /Encoding /UniGB-UTF8-H /DescendantFonts [<< /DW 1000 >>] >>")) + " >>"
	var want []string
	for i := range 40 {
		word := fmt.Sprintf("%c%c%c", '东'+rune(i%3), '北'+rune(i%5), '南'+rune(i%7))
		want = append(want, word)
		content := fmt.Sprintf("BT /F 10 Tf 1 0 0 1 72 700 Tm (%s) Tj ET %s", word, strings.Repeat("0 0 m ", i*i%60))
		packed := b.stream("/Filter /FlateDecode", deflate(content))
		contents := refTo(packed)
		if i%2 == 1 { // several streams, one of them not compressed
			contents = "[" + refTo(b.stream("", "q ")) + " " + contents + " " + refTo(b.stream("/Filter /FlateDecode", deflate("Q"))) + "]"
		}
		b.pages = append(b.pages, b.add(fmt.Sprintf("<< /Type /Page /Parent 2 0 R /Contents %s /Resources << %s >> >>", contents, font)))
	}
	data := b.bytes()
	before := strings.Clone(string(data))
	res := mustParse(t, data)
	assert.Equal(t, strings.Join(want, "\n\n"), res.Text)
	assert.Equal(t, before, string(data), "the input is only read")
}
