package pdf

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// oneCode is a ToUnicode map of constant length that maps code 65 of n bytes to a letter.
func oneCode(n int, letter rune) string {
	return fmt.Sprintf("1 begincodespacerange <%0*x> <%s> endcodespacerange 1 beginbfchar <%0*x> <%04x> endbfchar", 2*n, 0, strings.Repeat("ff", n), 2*n, 65, letter)
}

// glyphMap is a CIDToGIDMap that maps CID 65 to a glyph.
func glyphMap(glyph byte) string { return strings.Repeat("\x00", 2*65+1) + string(rune(glyph)) }

// oneTrueType is the test font, whose tables are in another order each time that it is made.
var oneTrueType = sync.OnceValue(testTrueType)

// fontPairs are dictionaries of fonts that differ in one thing.
var fontPairs = []struct {
	name, show string
	a, b       func(b *builder) string
}{
	{"ToUnicode", "(A)", simpleMap("", oneCode(1, 'x')), simpleMap("", oneCode(1, 'y'))},
	{"ToUnicode of a composite font", "<0041>", compositeMap(oneCode(2, 'x')), compositeMap(oneCode(2, 'y'))},
	{"the filter of ToUnicode", "(A)", simpleMap("", hexOf(oneCode(1, 'x'))), simpleMap("/Filter /ASCIIHexDecode", hexOf(oneCode(1, 'x')))},
	{"the place of a filter's name", "(A)", simpleMap("/Filter /ASCIIHexDecode", hexOf(oneCode(1, 'x'))), simpleMap("/F /ASCII85Decode", hexOf(oneCode(1, 'x')))},
	{"Differences", "(A)", plainFont("/Subtype /Type1 /Encoding << /Differences [65 /eacute] >>"), plainFont("/Subtype /Type1 /Encoding << /Differences [65 /egrave] >>")},
	{"the code of Differences", "(A)", plainFont("/Subtype /Type1 /Encoding << /Differences [65 /eacute] >>"), plainFont("/Subtype /Type1 /Encoding << /Differences [66 /eacute] >>")},
	{"BaseEncoding", `(\216)`, plainFont("/Subtype /Type1 /Encoding << /BaseEncoding /MacRomanEncoding >>"), plainFont("/Subtype /Type1 /Encoding << /BaseEncoding /WinAnsiEncoding >>")},
	{"Subtype", `(\216)`, plainFont("/Subtype /Type1"), plainFont("/Subtype /TrueType")},
	{"BaseFont", "(a)", plainFont("/Subtype /Type1 /BaseFont /Symbol"), plainFont("/Subtype /Type1 /BaseFont /ZapfDingbats")},
	{"the program", "(B)", program("FontFile2", oneTrueType), program("FontFile3", testCFF)},
	{"a program of the same length", "(A)", program("FontFile", type1("fi")), program("FontFile", type1("fl"))},
	{"the map of glyphs", "<0041>", glyphMapped(1), glyphMapped(2)},
	{"Ordering", "<0CD4>", ordered("Japan1"), ordered("Korea1")},
	{"an embedded CMap", "(A)", embeddedMap(1), embeddedMap(2)},
}

func simpleMap(entries, data string) func(*builder) string {
	return func(b *builder) string {
		return "/Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding /ToUnicode " + refTo(b.stream(entries, data))
	}
}

func compositeMap(data string) func(*builder) string {
	return func(b *builder) string {
		return "/Subtype /Type0 /Encoding /Identity-H /DescendantFonts [<< /DW 500 >>] /ToUnicode " + refTo(b.stream("", data))
	}
}

func hexOf(s string) string { return fmt.Sprintf("%x>", s) }

func plainFont(s string) func(*builder) string { return func(*builder) string { return s } }

func program(key string, data func() []byte) func(*builder) string {
	return func(b *builder) string {
		return "/Subtype /Type1 /FontDescriptor << /Flags 4 /" + key + " " + refTo(b.stream("", string(data()))) + " >>"
	}
}

func type1(glyph string) func() []byte {
	return func() []byte {
		return []byte("%!PS-AdobeFont-1.0: X\n/Encoding 256 array\n0 1 255 {1 index exch /.notdef put} for\ndup 65 /" + glyph + " put\nreadonly def\ncurrentfile eexec ")
	}
}

func glyphMapped(glyph byte) func(*builder) string {
	return func(b *builder) string {
		return "/Subtype /Type0 /Encoding /Identity-H /DescendantFonts [<< /CIDToGIDMap " + refTo(b.stream("", glyphMap(glyph))) +
			" /FontDescriptor << /FontFile2 " + refTo(b.stream("", string(oneTrueType()))) + " >> >>]"
	}
}

func ordered(ordering string) func(*builder) string {
	return plainFont("/Subtype /Type0 /Encoding /Identity-H /DescendantFonts [<< /CIDSystemInfo << /Registry (Adobe) /Ordering (" + ordering + ") >> >>]")
}

func embeddedMap(cid int) func(*builder) string {
	return func(b *builder) string {
		m := b.stream("", fmt.Sprintf("1 begincodespacerange <00> <ff> endcodespacerange 1 begincidrange <41> <41> %d endcidrange", cid))
		return "/Subtype /Type0 /Encoding " + refTo(m) + " /DescendantFonts [<< /FontDescriptor << /FontFile2 " + refTo(b.stream("", string(oneTrueType()))) + " >> >>]"
	}
}

// fontsOf opens a file with the fonts and returns them as the pages get them.
func fontsOf(t *testing.T, dicts ...func(*builder) string) (*fonts, []*font) {
	t.Helper()
	b := newBuilder()
	var refs []ref
	for _, dict := range dicts {
		refs = append(refs, ref{num: b.add("<< /Type /Font " + dict(b) + " >>")})
	}
	b.page("", "")
	d, err := openDocument(t.Context(), b.bytes(), Limits{}.withDefaults())
	require.NoError(t, err)
	fs := newFonts(d)
	var out []*font
	for _, r := range refs {
		out = append(out, fs.get(r))
	}
	return fs, out
}

// same reports whether two fonts are one in memory.
func same(a, b *font) bool {
	if a.simple != nil {
		return a.simple == b.simple
	}
	return a.composite == b.composite
}

func TestEqualFontsAreMadeOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range fontPairs {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, f := fontsOf(t, tt.a, tt.b, tt.a, tt.b, tt.a)
			assert.True(t, same(f[0], f[2]) && same(f[0], f[4]) && same(f[1], f[3]))
			assert.False(t, same(f[0], f[1]))
			for i := range f {
				assert.Equal(t, style(i+1), f[i].style>>2, "each object is a font of its own to the layout")
			}
		})
	}
}

func TestFontsThatDifferReadApart(t *testing.T) {
	t.Parallel()
	read := func(t *testing.T, show string, dicts ...func(*builder) string) string {
		b := newBuilder()
		for _, dict := range dicts {
			f := b.add("<< /Type /Font " + dict(b) + " >>")
			b.page("/Font << /F1 "+refTo(f)+" >>", "BT /F1 10 Tf 72 700 Td "+show+" Tj ET")
		}
		res, _ := Parse(t.Context(), b.bytes(), Limits{})
		return res.Text
	}
	for _, tt := range fontPairs {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, b := read(t, tt.show, tt.a), read(t, tt.show, tt.b)
			require.NotEqual(t, a, b)
			join := func(texts ...string) string {
				return strings.Join(strings.Fields(strings.Join(texts, " ")), "\n\n")
			}
			assert.Equal(t, join(a, b, a, b), read(t, tt.show, tt.a, tt.b, tt.a, tt.b))
			assert.Equal(t, join(b, a, b, a), read(t, tt.show, tt.b, tt.a, tt.b, tt.a))
		})
	}
}

func TestFontsThatDifferInWidthsStayApart(t *testing.T) {
	t.Parallel()
	for name, entries := range map[string][2]string{
		"Widths":          {"/Subtype /Type1 /FirstChar 65 /Widths [500]", "/Subtype /Type1 /FirstChar 65 /Widths [600]"},
		"Widths by a ref": {"/Subtype /Type1 /FirstChar 65 /Widths [1 0 R]", "/Subtype /Type1 /FirstChar 65 /Widths [500]"},
		"numbers":         {"/Subtype /Type1 /FirstChar 65 /Widths [500 60]", "/Subtype /Type1 /FirstChar 65 /Widths [5006 0]"},
		"FirstChar":       {"/Subtype /Type1 /FirstChar 65 /Widths [500]", "/Subtype /Type1 /FirstChar 66 /Widths [500]"},
		"MissingWidth":    {"/Subtype /Type1 /FontDescriptor << /MissingWidth 400 >>", "/Subtype /Type1 /FontDescriptor << /MissingWidth 500 >>"},
		"Flags":           {"/Subtype /Type1 /FontDescriptor << /Flags 1 >>", "/Subtype /Type1 /FontDescriptor << /Flags 4 >>"},
		"FontMatrix":      {"/Subtype /Type3 /FontMatrix [.001 0 0 .001 0 0]", "/Subtype /Type3 /FontMatrix [.01 0 0 .01 0 0]"},
		"FontBBox":        {"/Subtype /Type3 /FontBBox [0 0 9 700]", "/Subtype /Type3 /FontBBox [0 0 9 900]"},
		"W":               {"/Subtype /Type0 /DescendantFonts [<< /W [1 [500]] >>]", "/Subtype /Type0 /DescendantFonts [<< /W [1 2 500] >>]"},
		"DW":              {"/Subtype /Type0 /DescendantFonts [<< /DW 500 >>]", "/Subtype /Type0 /DescendantFonts [<< /DW 600 >>]"},
		"DW2":             {"/Subtype /Type0 /DescendantFonts [<< /DW2 [0 500] >>]", "/Subtype /Type0 /DescendantFonts [<< /DW2 [0 600] >>]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, f := fontsOf(t, plainFont(entries[0]), plainFont(entries[1]), plainFont(entries[0]))
			assert.False(t, same(f[0], f[1]))
			assert.True(t, same(f[0], f[2]))
		})
	}
}

func TestFontsOfEncryptedFilesAreNotShared(t *testing.T) {
	t.Parallel()
	fs, f := fontsOf(t, plainFont("/Subtype /Type1"), plainFont("/Subtype /Type1"))
	require.True(t, same(f[0], f[1]))
	fs.d.crypt = &decrypter{streamMethod: cryptRC4}
	_, ok := fs.describe(dict{"Subtype": name("Type1")}, fontEntries)
	assert.False(t, ok)
}

func TestSharedFontsAreBounded(t *testing.T) {
	t.Parallel()
	var many []func(*builder) string
	for i := range 3 * maxAlike {
		many = append(many, simpleMap("", oneCode(1, rune('a'+i))))
	}
	fs, f := fontsOf(t, many...)
	require.Len(t, fs.shared, 1)
	for _, alike := range fs.shared {
		assert.Len(t, alike, maxAlike)
	}
	for i := range f {
		assert.Equal(t, string(rune('a'+i)), f[i].simple[65].text)
	}
	loop := dict{}
	loop["Encoding"] = loop
	_, ok := fs.describe(loop, fontEntries)
	assert.False(t, ok, "a dictionary that holds itself has no description")
	_, ok = fs.describe(dict{"W": make(array, maxDescription+2)}, fontEntries)
	assert.False(t, ok, "a very long one has none either")
	var large []func(*builder) string
	for i := range maxCachedFonts + 9 {
		large = append(large, plainFont(fmt.Sprintf("/Subtype /Type1 /FirstChar %d /Widths [1]", i)))
	}
	fs, _ = fontsOf(t, large...)
	assert.LessOrEqual(t, len(fs.shared), maxCachedFonts)
}

// TestDescriptionsHaveAllEntries finds the entries that the code reads to make fonts and to decode their streams.
func TestDescriptionsHaveAllEntries(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"font.go", "cidfont.go", "cmap.go", "predefined.go", "filter.go", "predict.go"} {
		t.Run(file, func(t *testing.T) {
			source, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, m := range regexp.MustCompile(`(?:\["|param\(")(\w+)"`).FindAllSubmatch(source, -1) {
				key := name(m[1])
				if key == "Type" || key == "Name" {
					continue // they matter to encrypted streams
				}
				assert.Contains(t, programEntries, key)
			}
		})
	}
}
