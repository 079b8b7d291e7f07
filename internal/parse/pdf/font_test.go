package pdf

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fontText shows codes in a font given by its dictionary and returns the text.
func fontText(t *testing.T, show string, fontDict func(b *builder) string) string {
	t.Helper()
	b := newBuilder()
	d := fontDict(b)
	b.page("/Font << /F1 << /Type /Font "+d+" >> >>", "BT /F1 10 Tf 72 700 Td "+show+" Tj ET")
	res := mustParse(t, b.bytes())
	assert.Empty(t, res.Partial)
	return res.Text
}

func TestSimpleFonts(t *testing.T) {
	t.Parallel()
	widths := "/FirstChar 0 /Widths [" + strings.Repeat("500 ", 256) + "]"
	fixed := func(s string) func(*builder) string {
		return func(*builder) string { return s + " " + widths }
	}
	tests := []struct {
		name, show, want string
		font             func(b *builder) string
	}{
		{"WinAnsi", `(caf\351 \223x\224 \200)`, "café “x” €", fixed("/Subtype /TrueType /Encoding /WinAnsiEncoding")},
		{"MacRoman", `(caf\216 \322x\323)`, "café “x”", fixed("/Subtype /TrueType /Encoding /MacRomanEncoding")},
		{"Standard", `(\341 \256 \301\341)`, "Æ fi `Æ", fixed("/Subtype /Type1 /BaseFont /X /Encoding /StandardEncoding")},
		{"Standard by default", `(It's \252x\272)`, "It’s “x”", fixed("/Subtype /Type1 /BaseFont /X")},
		{"Symbol", `(abg \345)`, "αβγ ∑", fixed("/Subtype /Type1 /BaseFont /Symbol")},
		{"ZapfDingbats", `(\0413)`, "✁✓", fixed("/Subtype /Type1 /BaseFont /ZapfDingbats")},
		{"ZapfDingbats by name", `(A)`, "✓", fixed("/Subtype /Type1 /BaseFont /ZapfDingbats /Encoding << /Differences [65 /a19] >>")},
		{"Differences", `(ABCDEFGH)`, "Éfi–ẞ♭ffi1x", fixed("/Subtype /Type1 /Encoding << /Differences [65 /Eacute /f_i /endash /Germandbls 69 /uni266D /ffi /oneoldstyle /x.alt] >>")},
		{"Differences over an encoding", `(A\351)`, "Ωé", fixed("/Subtype /Type1 /Encoding << /BaseEncoding /WinAnsiEncoding /Differences [65 /Omega] >>")},
		{"TeX names", `(ABC)`, "≼↗∗", fixed("/Subtype /Type1 /Encoding << /Differences [65 /precedesequal /arrownortheast /asteriskmath] >>")},
		{"codes as names", `(A\014)`, "Afi", fixed("/Subtype /Type3 /FontMatrix [0.001 0 0 0.001 0 0] /Encoding << /Differences [12 /#0C 65 /A] >>")},
		{"ToUnicode before the encoding", `(AB)`, "xB", func(b *builder) string {
			n := b.stream("", "1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfchar <41> <0078> endbfchar")
			return "/Subtype /Type1 /Encoding /WinAnsiEncoding /ToUnicode " + refTo(n) + " " + widths
		}},
		{"ToUnicode that says nothing", `(AB)`, "AB", func(b *builder) string {
			n := b.stream("", "1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfrange <41> <42> [<0000> <FFFD>] endbfrange")
			return "/Subtype /Type1 /Encoding /WinAnsiEncoding /ToUnicode " + refTo(n) + " " + widths
		}},
		{"Type 1 program", `(\001\002)`, "fiß", func(b *builder) string {
			n := b.stream("", "%!PS-AdobeFont-1.0: X\n/Encoding 256 array\n0 1 255 {1 index exch /.notdef put} for\ndup 1 /fi put\ndup 2 /germandbls put\nreadonly def\ncurrentfile eexec ")
			return "/Subtype /Type1 /FontDescriptor << /Flags 4 /FontFile " + refTo(n) + " >> " + widths
		}},
		{"CFF program", `(ABC)`, "AßΩ", func(b *builder) string {
			n := b.stream("/Subtype /Type1C", string(testCFF()))
			return "/Subtype /Type1 /FontDescriptor << /Flags 4 /FontFile3 " + refTo(n) + " >> " + widths
		}},
		{"T1 codes as decimal names", `(K\344se \377 \034)`, "Käse ß fi", fixed("/Subtype /Type3 /FontMatrix [0.001 0 0 0.001 0 0] /Encoding << /Differences [28 /a28 32 /a32 75 /a75 101 /a101 115 /a115 228 /a228 255 /a255] >>")},
		{"T1 codes as hexadecimal names", `(K\344se)`, "Käse", fixed("/Subtype /Type3 /FontMatrix [0.001 0 0 0.001 0 0] /Encoding << /Differences [75 /x4B 101 /x65 115 /x73 228 /xE4] >>")},
		{"OT1 codes as names", `(o\016ce \012)`, "office Ω", fixed("/Subtype /Type3 /FontMatrix [0.001 0 0 0.001 0 0] /Encoding << /Differences [10 /a10 14 /a14 32 /a32 99 /a99 101 /a101 111 /a111] >>")},
		{"the bullet of TeX", `(\210)`, "•", fixed("/Subtype /Type3 /FontMatrix [0.001 0 0 0.001 0 0] /Encoding << /Differences [136 /a136] >>")},
		{"codes as names of another font", `(caf\351)`, "café", fixed("/Subtype /Type1 /Encoding << /Differences [97 /c97 99 /c99 102 /c102 233 /c233] >>")},
		{"glyph numbers as names", `(AB)`, "Bé", func(b *builder) string {
			n := b.stream("", string(testTrueType()))
			return "/Subtype /TrueType /FontDescriptor << /Flags 4 /FontFile2 " + refTo(n) + " >> /Encoding << /Differences [65 /g2 /g3] >> " + widths
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tt.want, fontText(t, tt.show, tt.font))
		})
	}
}

func TestCompositeFonts(t *testing.T) {
	t.Parallel()
	descendant := "/DescendantFonts [<< /Subtype /CIDFontType2 /DW 500 >>]"
	collection := func(ordering string) func(*builder) string { // not embedded, without ToUnicode
		return func(*builder) string {
			return "/Subtype /Type0 /Encoding /Identity-H /DescendantFonts [<< /Subtype /CIDFontType0 /DW 1000 /CIDSystemInfo << /Registry (Adobe) /Ordering (" + ordering + ") /Supplement 2 >> >>]"
		}
	}
	named := func(enc string) func(*builder) string {
		return func(*builder) string { return "/Subtype /Type0 /Encoding /" + enc + " " + descendant }
	}
	tests := []struct {
		name, show, want string
		font             func(b *builder) string
	}{
		{"ranges, lists and pairs", `<0001000200030004000500090006>`, "ABCfl𝐀 é", func(b *builder) string {
			n := b.stream("", "1 begincodespacerange <0000> <ffff> endcodespacerange 2 beginbfrange <0001> <0003> <0041> <0004> <0005> [<0066006C> <D835DC00>] endbfrange\n"+
				"2 beginbfchar <0009> <0020> <0006> /eacute endbfchar")
			return "/Subtype /Type0 /Encoding /Identity-H /ToUnicode " + refTo(n) + " " + descendant
		}},
		{"symbols in the private use area", `<000300010002>`, "x• ✓", func(b *builder) string {
			n := b.stream("", "1 begincodespacerange <0000> <ffff> endcodespacerange 3 beginbfchar <0003> <0078> <0001> <F0B70020> <0002> <F0FC> endbfchar")
			return "/Subtype /Type0 /Encoding /Identity-H /ToUnicode " + refTo(n) + " " + descendant
		}},
		{"glyphs that are silent on purpose", "<0001" + strings.Repeat("0002", 40) + ">", "whole", func(b *builder) string {
			n := b.stream("", "1 begincodespacerange <0000> <ffff> endcodespacerange 2 beginbfchar <0001> <00770068006F006C0065> <0002> <> endbfchar")
			return "/Subtype /Type0 /Encoding /Identity-H /ToUnicode " + refTo(n) + " " + descendant
		}},
		{"ToUnicode is Identity", `<00480069>`, "Hi", func(*builder) string {
			return "/Subtype /Type0 /Encoding /Identity-H /ToUnicode /Identity-H " + descendant
		}},
		{"embedded CMap over TrueType", `(ab)`, "AB", func(b *builder) string {
			m := b.stream("", "1 begincodespacerange <00> <ff> endcodespacerange 1 begincidrange <61> <62> 1 endcidrange")
			n := b.stream("", string(testTrueType()))
			return "/Subtype /Type0 /Encoding " + refTo(m) + " /DescendantFonts [<< /DW 500 /FontDescriptor << /FontFile2 " + refTo(n) + " >> >>]"
		}},
		{"TrueType without a map", `<000100020003>`, "ABé", func(b *builder) string {
			n := b.stream("", string(testTrueType()))
			return "/Subtype /Type0 /Encoding /Identity-H /DescendantFonts [<< /DW 500 /CIDToGIDMap /Identity /FontDescriptor << /FontFile2 " + refTo(n) + " >> >>]"
		}},
		{"TrueType through a glyph map", `<0001>`, "B", func(b *builder) string {
			m := b.stream("", "\x00\x00\x00\x02")
			n := b.stream("", string(testTrueType()))
			return "/Subtype /Type0 /Encoding /Identity-H /DescendantFonts [<< /DW 500 /CIDToGIDMap " + refTo(m) + " /FontDescriptor << /FontFile2 " + refTo(n) + " >> >>]"
		}},
		{"CFF without a map", `<00020003>`, "ßΩ", func(b *builder) string {
			n := b.stream("/Subtype /CIDFontType0C", string(testCFF()))
			return "/Subtype /Type0 /Encoding /Identity-H /DescendantFonts [<< /DW 500 /FontDescriptor << /FontFile3 " + refTo(n) + " >> >>]"
		}},
		{"Shift JIS", `<93FA967B 41>`, "日本A", named("90ms-RKSJ-H")},
		{"EUC-JP", `<C6FCCBDC>`, "日本", named("EUC-H")},
		{"JIS", `<467C4B5C>`, "日本", named("H")},
		{"GBK", `<D6D0B9FA>`, "中国", named("GBK-EUC-H")},
		{"GB 18030", `<D6D0B9FA>`, "中国", named("GBK2K-H")},
		{"Big5", `<A4A4B0EA>`, "中國", named("ETen-B5-H")},
		{"Korean", `<C7D1B1B9>`, "한국", named("KSCms-UHC-H")},
		{"UCS-2", `<4E2D56FD>`, "中国", named("UniGB-UCS2-H")},
		{"UTF-16", `<4E2DD842DFB7>`, "中𠮷", named("UniJIS-UTF16-H")},
		{"UTF-8", `<E4B8AD41>`, "中A", named("UniGB-UTF8-H")},
		{"UTF-32", `<00004E2D>`, "中", named("UniGB-UTF32-H")},
		{"CIDs of Japan1", `<0CD40E8A03770022>`, "日本のA", collection("Japan1")},
		{"CIDs of GB1", `<11CF075310D4>`, "中国语", collection("GB1")},
		{"CIDs of CNS1", `<02950A3710A7>`, "中國語", collection("CNS1")},
		{"CIDs of Korea1", `<0CE004B409AF>`, "한국어", collection("Korea1")},
		{"CIDs of KR", `<0B130161075F>`, "한국어", collection("KR")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tt.want, fontText(t, tt.show, tt.font))
		})
	}
}

func TestCIDWidths(t *testing.T) {
	t.Parallel()
	d := &document{}
	f := &cidFont{defaultWidth: 1, widths: map[int]float64{}}
	d.cidWidths(f, array{1, array{500, 600.0}, 10, 20, 250, 30})
	for cid, want := range map[int]float64{1: 0.5, 2: 0.6, 3: 1, 10: 0.25, 20: 0.25, 21: 1, 30: 1} {
		t.Run(fmt.Sprint(cid), func(t *testing.T) {
			assert.InDelta(t, want, f.width(cid, 2), 1e-9, "CID %d", cid)
		})
	}
	f.vertical, f.advance = true, -1
	assert.InDelta(t, -1, f.width(1, 2), 1e-9)
}

func TestStandardWidths(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		font, text string
		want       float64
	}{
		{"Helvetica", "A", 667}, {"Arial-BoldMT", "A", 722}, {"Times-Roman", "A", 722}, {"TimesNewRomanPS-BoldItalicMT", "A", 667},
		{"Times-Italic", "é", 444}, {"Courier-Bold", "i", 600}, {"Helvetica", "ﬁ", 500}, {"Helvetica", "Ж", 500}, {"Helvetica", "", 0},
	} {
		t.Run(tt.font, func(t *testing.T) {
			assert.InDelta(t, tt.want, widthsOf(tt.font).width(tt.text, 0), 0.01, "%s %q", tt.font, tt.text)
		})
	}
	assert.InDelta(t, 631, widthsOf("Symbol").width("", 'a'), 0.01)
}

func TestGlyphText(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"A": "A", "eacute": "é", "uni00410042": "AB", "u1F600": "😀", "f_f_i": "ffi", "a.sc": "a", "Asmall": "A", "threeoldstyle": "3",
		"afii10017": "А", "uniD800": "", ".notdef": "", "nosuchname": "", "uni12": "", "f_nosuchname": "",
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, want, glyphText(name), "glyphText(%q)", name)
		})
	}
}

func TestTrueTypeTables(t *testing.T) {
	t.Parallel()
	tt := parseTrueType(testTrueType())
	require.NotNil(t, tt)
	assert.Equal(t, map[int]rune{1: 'A', 2: 'B'}, tt.unicode)
	assert.Equal(t, "é", tt.glyph(3))
	assert.Empty(t, tt.glyph(99))
	assert.Nil(t, parseTrueType([]byte("no font")))
	format6 := append(words16(0, 1, 1, 0, 0, 12), words16(6, 14, 0, 65, 2, 5, 6)...)
	format12 := append(words16(0, 1, 3, 10, 0, 12), words16(12, 0, 0, 28, 0, 0, 0, 1, 1, 0xf600, 1, 0xf601, 0, 7)...)
	format0 := append(words16(0, 1, 1, 0, 0, 12), append(words16(0, 262, 0), append(make([]byte, 65), 9)...)...)
	symbol := append(words16(0, 1, 3, 0, 0, 12), words16(4, 32, 0, 4, 0, 0, 0, 0xf041, 0xffff, 0, 0xf041, 0xffff, 0, 1, 4, 0, 8)...)
	assert.Equal(t, map[int]int{65: 5, 66: 6}, parseTrueType(sfnt(map[string][]byte{"cmap": format6})).mac)
	assert.Equal(t, map[int]rune{7: 0x1f600, 8: 0x1f601}, parseTrueType(sfnt(map[string][]byte{"cmap": format12})).unicode)
	assert.Equal(t, map[int]int{65: 9}, parseTrueType(sfnt(map[string][]byte{"cmap": format0})).mac)
	assert.Equal(t, map[int]int{0x41: 8}, parseTrueType(sfnt(map[string][]byte{"cmap": symbol})).symbol)
}

func TestCodespaces(t *testing.T) {
	t.Parallel()
	d, err := openDocument(t.Context(), onePage(""), Limits{}.withDefaults())
	require.NoError(t, err)
	m := d.parseCMap([]byte("2 begincodespacerange <00> <80> <8140> <9ffc> endcodespacerange 1 begincidrange <8140> <817e> 633 endcidrange 1 begincidchar <20> 1 endcidchar /WMode 1 def"))
	assert.True(t, m.vertical)
	for _, tt := range []struct {
		in   string
		code uint32
		n    int
	}{{"\x20\x81", 0x20, 1}, {"\x81\x40\x20", 0x8140, 2}, {"\xff\xff", 0xff, 1}, {"\x81", 0x81, 1}} {
		t.Run(tt.in, func(t *testing.T) {
			code, n := m.next(str(tt.in))
			assert.Equal(t, fmt.Sprint(tt.code, tt.n), fmt.Sprint(code, n), "%x", tt.in)
		})
	}
	cid, ok := m.cid(0x8141, 2)
	assert.True(t, ok)
	assert.Equal(t, 634, cid)
	_, ok = m.cid(0x9000, 2)
	assert.False(t, ok)
}

func TestCIDTables(t *testing.T) {
	t.Parallel()
	for ordering, want := range map[string]int{"Japan1": 23060, "GB1": 30284, "CNS1": 19179, "Korea1": 18352, "KR": 22897} {
		t.Run(ordering, func(t *testing.T) {
			texts := cidTables[ordering]()
			if len(texts) != want {
				t.Errorf("%s has %d CIDs, want %d", ordering, len(texts), want)
			}
			for cid, text := range texts {
				if !utf8.ValidString(text) || len(text) > 64 {
					t.Errorf("%s: CID %d is %q", ordering, cid, text)
				}
			}
		})
	}
	if got := cidText("Japan1", 1<<20) + cidText("Japan1", -1) + cidText("Elsewhere", 34); got != "" {
		t.Errorf("CIDs that do not exist read %q", got)
	}
}
