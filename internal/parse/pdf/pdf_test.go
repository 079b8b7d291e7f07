package pdf

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func mustParse(t *testing.T, data []byte) *Result {
	t.Helper()
	res, err := Parse(t.Context(), data, Limits{})
	require.NoError(t, err)
	return res
}

func TestParseFileForms(t *testing.T) {
	t.Parallel()
	b := newBuilder()
	b.page(helvetica, textAt(72, 700, "The first page."))
	b.page(helvetica, textAt(72, 700, "The second page."))
	classic, compressed := b.bytes(), b.compressed()
	tests := []struct {
		name string
		data []byte
	}{
		{"cross-reference table", classic},
		{"object and cross-reference streams", compressed},
		{"older version", []byte(strings.Replace(string(compressed), "%PDF-1.7", "%PDF-1.5", 1))},
		{"hybrid", hybridFile()},
		{"junk before the header", append([]byte("\x00\x01junk\n"), classic...)},
		{"junk behind the end", append(append([]byte{}, classic...), strings.Repeat("\n", 500)...)},
		{"line ends of the Macintosh", []byte(strings.ReplaceAll(string(classic), "endobj\n", "endobj\r"))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res := mustParse(t, tt.data)
			assert.Equal(t, "The first page.\n\nThe second page.", res.Text)
			assert.Equal(t, []Page{{1, 0}, {2, 17}}, res.Pages)
			assert.False(t, res.Images)
			assert.Empty(t, res.Partial)
		})
	}
}

// hybridFile hides its pages, the objects 5 and 6, in an object stream that only its cross-reference stream refers to.
func hybridFile() []byte {
	var out bytes.Buffer
	out.WriteString("%PDF-1.5\n")
	offsets := map[int]int{}
	put := func(num int, body string) {
		offsets[num] = out.Len()
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", num, body)
	}
	streamBody := func(entries, data string) string {
		return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", entries, len(data), data)
	}
	put(1, "<< /Type /Catalog /Pages 2 0 R >>")
	put(2, "<< /Type /Pages /Count 2 /Kids [5 0 R 6 0 R] /Resources << "+helvetica+" >> >>")
	put(3, streamBody("", textAt(72, 700, "The first page.")))
	put(4, streamBody("", textAt(72, 700, "The second page.")))
	first, second := "<< /Type /Page /Contents 3 0 R >> ", "<< /Type /Page /Contents 4 0 R >>"
	head := fmt.Sprintf("5 0 6 %d ", len(first))
	put(7, streamBody(fmt.Sprintf("/Type /ObjStm /N 2 /First %d", len(head)), head+first+second))
	put(8, streamBody("/Type /XRef /Size 9 /W [1 1 1] /Index [5 2]", "\x02\x07\x00\x02\x07\x01"))
	at := out.Len()
	fmt.Fprintf(&out, "xref\n0 9\n0000000005 65535 f \n")
	for num := 1; num < 9; num++ {
		kind := "n"
		if num == 5 || num == 6 {
			kind = "f"
		}
		fmt.Fprintf(&out, "%010d 00000 %s \n", offsets[num], kind)
	}
	fmt.Fprintf(&out, "trailer\n<< /Size 9 /Root 1 0 R /XRefStm %d >>\nstartxref\n%d\n%%%%EOF\n", offsets[8], at)
	return out.Bytes()
}

func TestParseMetadata(t *testing.T) {
	t.Parallel()
	xmp := `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">` +
		`<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:CreateDate="2020-05-06T07:08:09+02:00">` +
		`<dc:title><rdf:Alt><rdf:li xml:lang="x-default">Beds and paths</rdf:li></rdf:Alt></dc:title>` +
		`<dc:creator><rdf:Seq><rdf:li>A. Gardener</rdf:li></rdf:Seq></dc:creator></rdf:Description></rdf:RDF></x:xmpmeta>`
	t.Run("information", func(t *testing.T) {
		t.Parallel()
		b := newBuilder()
		b.page(helvetica, textAt(72, 700, "Text."))
		n := b.add("<< /Title <FEFF00420065006500740065> /Author (M\\374ller\\040\\215x\\216) /CreationDate (D:20210203040506-05'30') /ModDate (D:2022) >>")
		b.info = "/Info " + refTo(n)
		res := mustParse(t, b.bytes())
		assert.Equal(t, "Beete", res.Title)
		assert.Equal(t, "Müller “x”", res.Author)
		assert.Equal(t, time.Date(2021, 2, 3, 9, 35, 6, 0, time.UTC), res.Created)
		assert.Equal(t, time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC), res.Modified)
	})
	t.Run("xmp", func(t *testing.T) {
		t.Parallel()
		b := newBuilder()
		b.page(helvetica, textAt(72, 700, "Text."))
		b.root = "/Metadata " + refTo(b.stream("/Type /Metadata /Subtype /XML", xmp))
		res := mustParse(t, b.bytes())
		assert.Equal(t, "Beds and paths", res.Title)
		assert.Equal(t, "A. Gardener", res.Author)
		assert.Equal(t, time.Date(2020, 5, 6, 5, 8, 9, 0, time.UTC), res.Created)
	})
	t.Run("out of form", func(t *testing.T) {
		t.Parallel()
		for _, s := range []string{"", "D:", "D:20", "D:20219999", "yesterday", "D:202"} {
			assert.Zero(t, parseDate(s), "parseDate(%q)", s)
		}
	})
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	image := newBuilder()
	im := image.stream("/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8", "x")
	image.page("/XObject << /Im1 "+refTo(im)+" >>", "/Im1 Do")
	blank := newBuilder()
	blank.page("", "")
	unknown := newBuilder()
	unknown.page("/Font << /F1 << /Type /Font /Subtype /Type0 /Encoding /Identity-H /DescendantFonts [<< /Subtype /CIDFontType2 >>] >> >>",
		"BT /F1 10 Tf <00410042004300440045004600470048004900500051005200530054005500560057> Tj ET")
	noPages := newBuilder()
	tests := []struct {
		name   string
		data   []byte
		want   error
		images bool
		result bool
	}{
		{"empty", nil, ErrMalformed, false, false},
		{"no header", []byte("just some text"), ErrMalformed, false, false},
		{"header only", []byte("%PDF-1.4\n"), ErrMalformed, false, false},
		{"random bytes", append([]byte("%PDF-1.4\n"), strings.Repeat("\x9c\x01%Z(<[", 500)...), ErrMalformed, false, false},
		{"no pages", noPages.bytes(), ErrMalformed, false, false},
		{"scan", image.bytes(), ErrNoText, true, true},
		{"blank", blank.bytes(), ErrNoText, false, true},
		{"characters without meaning", unknown.bytes(), ErrNoText, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res, err := Parse(t.Context(), tt.data, Limits{})
			require.ErrorIs(t, err, tt.want)
			require.Equal(t, tt.result, res != nil)
			if res != nil {
				assert.Equal(t, tt.images, res.Images)
				assert.Empty(t, res.Text)
			}
		})
	}
}

func TestParseEncrypted(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"rc4-40", "rc4-128", "aes-128", "aes-256", "aes-256-r5"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(filepath.Join("testdata", "encrypted", name+".pdf"))
			require.NoError(t, err)
			res := mustParse(t, data)
			assert.Equal(t, "The key is under the third pot.", res.Text)
			assert.Equal(t, "Sealed", res.Title)
		})
	}
	for _, name := range []string{"locked-rc4-128", "locked-aes-256"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(filepath.Join("testdata", "encrypted", name+".pdf"))
			require.NoError(t, err)
			res, err := Parse(t.Context(), data, Limits{})
			require.ErrorIs(t, err, ErrEncrypted)
			assert.Nil(t, res)
		})
	}
	t.Run("unknown handler", func(t *testing.T) {
		t.Parallel()
		b := newBuilder()
		b.page(helvetica, textAt(72, 700, "Text."))
		b.info = "/Encrypt << /Filter /Certificates >>"
		_, err := Parse(t.Context(), b.bytes(), Limits{})
		require.ErrorIs(t, err, ErrEncrypted)
	})
}

func TestParseContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	res, err := Parse(ctx, onePage(textAt(72, 700, "Text.")), Limits{})
	require.ErrorIs(t, err, context.Canceled)
	assert.Nil(t, res)

	// A deadline in the middle of a long page ends the reading: hardly anything asks for it again.
	long := onePage(strings.Repeat(textAt(72, 700, "Again and again."), 200_000))
	whole := &countedContext{Context: t.Context(), most: math.MaxInt64}
	_, err = Parse(whole, long, Limits{})
	require.NoError(t, err)
	ended := &countedContext{Context: t.Context(), most: whole.asked.Load() / 10}
	_, err = Parse(ended, long, Limits{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Greater(t, ended.most, int64(10))
	assert.Less(t, ended.asked.Load(), 2*ended.most)
}

// countedContext is a context whose deadline passes when its error was asked for most times.
type countedContext struct {
	context.Context
	asked atomic.Int64
	most  int64
}

func (c *countedContext) Err() error {
	if c.asked.Add(1) > c.most {
		return context.DeadlineExceeded
	}
	return c.Context.Err()
}

func TestParseKeepsInput(t *testing.T) {
	t.Parallel()
	b := newBuilder()
	b.page(helvetica, textAt(72, 700, "Text."))
	data := b.compressed()
	before := string(data)
	mustParse(t, data)
	assert.Equal(t, before, string(data))
}
