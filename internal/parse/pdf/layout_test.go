package pdf

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// paragraphLines shows lines below one another, starting at y.
func paragraphLines(x, y, size float64, lines ...string) string {
	var out strings.Builder
	for i, l := range lines {
		out.WriteString(sizedAt(x, y-float64(i)*1.2*size, size, l))
	}
	return out.String()
}

func TestLayout(t *testing.T) {
	t.Parallel()
	left := []string{"The walled garden lies south of the", "old kitchen. In April the gardener", "sows five rows of carrots, fixes the", "flimsy trellis and lifts the first"}
	right := []string{"rhubarb. Visitors find the gate hard", "to open; it sticks in wet weather and", "the official key is never filed in its", "proper drawer by the head gardener."}
	joined := strings.Join(left, " ") + " " + strings.Join(right, " ")
	interleaved := ""
	for i := range left {
		y := 700 - 12*float64(i)
		interleaved += textAt(72, y, left[i]) + textAt(320, y, right[i])
	}
	show := func(ops string) string { return "BT /F1 10 Tf 72 700 Td " + ops + " ET\n" }
	tests := []struct{ name, content, want string }{
		{"words from gaps", show("[(Bees) -300 (were) -300 (introduced)] TJ"), "Bees were introduced"},
		{"kerning is no gap", show("[(A) 80 (W) -60 (AY) 40 (s)] TJ"), "AWAYs"},
		{"words placed one by one", textAt(72, 700, "Each") + textAt(97, 700, "hive") + textAt(119, 700, "yields"), "Each hive yields"},
		{"words placed in any order", textAt(119, 700, "yields") + textAt(72, 700, "Each") + textAt(97, 700, "hive"), "Each hive yields"},
		{"letters placed one by one", textAt(72, 700, "H") + textAt(79.2, 700, "o") + textAt(84.8, 700, "n") + textAt(90.4, 700, "e") + textAt(96, 700, "y"), "Honey"},
		{"letters spaced out", show("3 Tc (honey harvest) Tj"), "honey harvest"},
		{"letters spaced by moves", show("[(h) -180 (o) -180 (n) -180 (e) -180 (y) -180 (c) -180 (o) -180 (m) -180 (b) -700 (s) -180 (a) -180 (l) -180 (e)] TJ"), "honeycomb sale"},
		{"character spacing that parts two words", show("[(Ne)] TJ 2.5 Tc 11.4 0 Td (we) Tj 0 Tc 15.3 0 Td (mpty) Tj"), "New empty"},
		{"space that is taken back", show("[(nev ) 258 (er) -270 (late)] TJ"), "never late"},
		{"word spacing", show("5 Tw (two words) Tj"), "two words"},
		{"horizontal scaling", show("50 Tz (narrow) Tj 20 0 Td (words) Tj"), "narrow words"},
		{"lines by operators", show("14 TL (first) Tj T* (second) Tj (third) ' 0 0 (fourth) \""), "first second third fourth"},
		{"ligatures", "BT /L 10 Tf 72 700 Td (o\001ice \002ve \003ow) Tj ET", "office five flow"},
		{"fake bold", textAt(72, 700, "bold") + textAt(72.3, 700, "bold"), "bold"},
		{"double letters are kept", textAt(72, 700, "illness"), "illness"},
		{"overprinted words of the same letters stay apart", textAt(72, 700, "saves the color and sets the other one") + textAt(80, 700, "clears the stack and") + textAt(174, 700, "stores"),
			"saves the color and sets the other one\n\nclears the stack and stores"},
		{"overprinted text stays apart", textAt(72, 700, "confidential note") + textAt(75, 700.5, "DRAFT COPY ZZZ"), "DRAFT COPY ZZZ\n\nconfidential note"},
		{"superscript", textAt(72, 700, "A remark.") + sizedAt(114, 704, 6, "1") + textAt(122, 700, "And more"), "A remark.[^1] And more"},
		{"exponent", textAt(72, 700, "about 10") + sizedAt(108.5, 704, 6, "6") + textAt(114, 700, "bees"), "about 10^6 bees"},
		{"unit", textAt(72, 700, "nine m") + sizedAt(101, 704, 6, "2") + textAt(108, 700, "of soil"), "nine m2 of soil"},
		{"ordinal", textAt(72, 700, "the 1") + sizedAt(94.5, 704, 6, "st") + textAt(102, 700, "bed"), "the 1st bed"},
		{"footnote", sizedAt(72, 704, 6, "2") + textAt(76, 700, "The head gardener disagrees."), "[^2]: The head gardener disagrees."},
		{"line of code is no heading", textAt(72, 700, "# perl -e 1") + textAt(72, 660, "```"), "\\# perl -e 1\n\n\\```"},
		{"hashtag", textAt(72, 700, "#garden is green"), "#garden is green"},
		{"subscript", textAt(72, 700, "H") + sizedAt(79.3, 697, 7, "2") + textAt(83.3, 700, "O flows"), "H2O flows"},
		{"accent over its letter", "BT /F1 10 Tf 72 700 Td (caf) Tj 14.45 0 Td (\\264) Tj -1.1 0 Td (e) Tj ET", "café"},
		{"paragraph by gap", paragraphLines(72, 700, 10, "One line", "and another.") + paragraphLines(72, 660, 10, "A new one."), "One line and another.\n\nA new one."},
		{"paragraph by indent", textAt(72, 700, "The first line of text that is long and") + textAt(72, 688, "the second line of it is as long as that.") +
			textAt(84, 676, "Then a paragraph begins with an indent") + textAt(72, 664, "and ends here."),
			"The first line of text that is long and the second line of it is as long as that.\n\nThen a paragraph begins with an indent and ends here."},
		{"hyphen at the line's end", paragraphLines(72, 700, 10, "The gar-", "dener digs."), "The gardener digs."},
		{"compound keeps its hyphen", paragraphLines(72, 700, 10, "The well-kept beds are well-", "kept in rain."), "The well-kept beds are well-kept in rain."},
		{"hyphen before a capital", paragraphLines(72, 700, 10, "Notes of Anne-", "Marie on bees."), "Notes of Anne-Marie on bees."},
		{"range at the line's end", paragraphLines(72, 700, 10, "In the years 1987-", "1991 it rained."), "In the years 1987-1991 it rained."},
		{"heading", sizedAt(72, 720, 18, "Beds and paths") + paragraphLines(72, 690, 10, left...), "## Beds and paths\n\n" + strings.Join(left, " ")},
		{"dash within a sentence", paragraphLines(72, 700, 10, "The gate is hard to open in wet weather", "\x96 it sticks \x96 and the key is in its drawer"), "The gate is hard to open in wet weather – it sticks – and the key is in its drawer"},
		{"dashes of a list", paragraphLines(72, 700, 10, "The gardener's tools hang on the wall, they are:", "\x96 a spade", "\x96 a rake"), "The gardener's tools hang on the wall, they are:\n\n- a spade\n- a rake"},
		{"bold line as a heading", "BT /B1 10 Tf 72 700 Td (Beds) Tj ET " + paragraphLines(72, 688, 10, left...), "## Beds\n\n" + strings.Join(left, " ")},
		{"bold words in a line", "BT /B1 10 Tf 72 700 Td (Beds) Tj /F1 10 Tf ( are made) Tj ET " + textAt(72, 688, "in autumn."), "Beds are made in autumn."},
		{"centred line", textAt(150, 700, "The garden") + paragraphLines(72, 688, 10, joined[:70], joined[71:100]), "The garden\n\n" + joined[:100]},
		{"table of contents", textAt(72, 700, "1 Beds . . . . . . . . . . 3") + textAt(72, 688, "2 Bees, hives ........ 12") + textAt(72, 676, "And then it ends ..."),
			"1 Beds ... 3\n2 Bees, hives ... 12\n\nAnd then it ends ..."},
		{"list", textAt(72, 700, "\x95 Dig") + textAt(72, 688, "\x95 Rake the soil") + textAt(72, 676, "1. Sow"), "- Dig\n- Rake the soil\n1. Sow"},
		{"two columns", paragraphLines(72, 700, 10, left...) + paragraphLines(320, 700, 10, right...), joined},
		{"two columns drawn row by row", interleaved, joined},
		{"two columns off the grid", paragraphLines(72, 700, 10, left...) + paragraphLines(320, 695, 10, right...), joined},
		{"columns below a title and above a footer", sizedAt(72, 740, 10, "A line over the whole width of the page, from the left margin to the right one, and on.") +
			interleaved + textAt(72, 600, "A note at the foot that also runs over both of the columns, as notes may do on a page."),
			"A line over the whole width of the page, from the left margin to the right one, and on.\n\n" + joined +
				"\n\nA note at the foot that also runs over both of the columns, as notes may do on a page."},
		{"rotated text comes last", "BT /F1 10 Tf 0 1 -1 0 40 300 Tm (up the side) Tj ET " + textAt(72, 700, "In the middle"), "In the middle\n\nup the side"},
		{"rotated page", "BT /F1 10 Tf 0 1 -1 0 300 100 Tm (first) Tj ET BT /F1 10 Tf 0 1 -1 0 312 100 Tm (second) Tj ET", "first second"},
		{"upside down", "BT /F1 10 Tf -1 0 0 -1 300 100 Tm (first) Tj ET BT /F1 10 Tf -1 0 0 -1 300 112 Tm (second) Tj ET", "first second"},
		{"slanted text", "BT /F1 10 Tf 1 0.02 -0.02 1 72 700 Tm (a scan that is) Tj ET BT /F1 10 Tf 1 0.02 -0.02 1 72 688 Tm (slightly turned) Tj ET", "a scan that is slightly turned"},
		{"text beyond the page", textAt(72, 700, "seen") + textAt(72, 900, "unseen"), "seen"},
		{"scaled by the matrix", "q 0.1 0 0 0.1 0 0 cm BT /F1 100 Tf 720 7000 Td [(small) -300 (print)] TJ ET Q", "small print"},
		{"negative size", "BT /F1 -10 Tf -1 0 0 -1 72 700 Tm (turned) Tj ET", "turned"},
		{"letter in a mirror", textAt(72, 700, "X") + "BT /F1 10 Tf -1 0 0 1 85.3 700 Tm (E) Tj ET " + textAt(85.3, 700, "TeX"), "XETeX"},
		{"invisible text beside visible", textAt(72, 700, "seen") + "BT 3 Tr /F1 10 Tf 72 600 Td (unseen) Tj ET", "seen"},
		{"invisible text alone", "BT 3 Tr /F1 10 Tf 72 600 Td (layer of a scan) Tj ET", "layer of a scan"},
		{"actual text", "/Span << /ActualText (Zucker) >> BDC " + textAt(72, 700, "Zuk") + textAt(89, 700, "ker") + " EMC", "Zucker"},
		{"inline image", textAt(72, 700, "before") + "BI /W 4 /H 4 /BPC 8 /CS /G ID \x00EI\xffEI Q(BT\x01 EI\n" + textAt(72, 688, "after"), "before after"},
		{"unknown operators", textAt(72, 700, "still") + "1 2 foo << /A 1 >> bar ] > }" + textAt(92, 700, "here"), "still here"},
	}
	resources := strings.Replace(helvetica, "/Font <<", "/Font << /L << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding << /BaseEncoding /WinAnsiEncoding /Differences [1 /ff /fi /fl] >> >>", 1)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBuilder()
			b.page(resources, tt.content)
			assert.Equal(t, tt.want, mustParse(t, b.bytes()).Text)
		})
	}
}

func TestTables(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"Bed", "Plant", "Rows"}, {"North", "Carrot", "5"}, {"South", "Leek", "8"}, {"Glasshouse", "Fig", "2"}}
	draw := func(xs []float64, column bool) string {
		out := ""
		for i := range rows {
			for k := range rows[i] {
				a, b := i, k
				if column {
					n := i*len(rows[i]) + k
					a, b = n%len(rows), n/len(rows)
				}
				out += textAt(xs[b], 700-15*float64(a), rows[a][b])
			}
		}
		return out
	}
	want := "| Bed | Plant | Rows |\n| --- | --- | --- |\n| North | Carrot | 5 |\n| South | Leek | 8 |\n| Glasshouse | Fig | 2 |"
	wrapped := textAt(72, 700, "Key") + textAt(200, 700, "Meaning of it") + textAt(72, 680, "alpha") + textAt(200, 680, "the first of") +
		textAt(200, 669, "the letters") + textAt(72, 650, "beta") + textAt(200, 650, "the second")
	tests := []struct{ name, content, want string }{
		{"row by row", draw([]float64{72, 180, 280}, false), want},
		{"column by column", draw([]float64{72, 180, 280}, true), want},
		{"narrow gaps", draw([]float64{72, 130, 165}, false), want},
		{"text around", textAt(72, 740, "Before the table comes a line.") + draw([]float64{72, 180, 280}, false) + textAt(72, 600, "Behind it one more."),
			"Before the table comes a line.\n\n" + want + "\n\nBehind it one more."},
		{"wrapped cells", wrapped, "| Key | Meaning of it |\n| --- | --- |\n| alpha | the first of the letters |\n| beta | the second |"},
		{"numbered list", textAt(72, 700, "1.") + textAt(92, 700, "Dig") + textAt(72, 688, "2.") + textAt(92, 688, "Rake") + textAt(72, 676, "3.") + textAt(92, 676, "Sow"),
			"1. Dig\n2. Rake\n3. Sow"},
		{"bar in a cell", strings.ReplaceAll(draw([]float64{72, 180, 280}, false), "Carrot", "a|b"), strings.Replace(want, "Carrot", "a\\|b", 1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tt.want, mustParse(t, onePage(tt.content)).Text)
		})
	}
}

// unicodeFont has composite fonts: F1 whose codes are UTF-16, V1 for vertical writing, R1 with a map of its own.
const unicodeFont = "/Font << /F1 << /Type /Font /Subtype /Type0 /Encoding /Identity-H /ToUnicode /Identity-H /DescendantFonts [<< /DW %d >>] >> " +
	"/V1 << /Type /Font /Subtype /Type0 /Encoding /UniJIS-UTF16-V /DescendantFonts [<< >>] >> " +
	"/R1 << /Type /Font /Subtype /Type0 /Encoding /Identity-H /ToUnicode %d 0 R /DescendantFonts [<< /DW 500 >>] >> >>"

func utf16Hex(s string) string {
	var out strings.Builder
	for _, r := range s {
		fmt.Fprintf(&out, "%04x", r)
	}
	return "<" + out.String() + ">"
}

func reversed(s string) string {
	r := []rune(s)
	for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
		r[i], r[j] = r[j], r[i]
	}
	return string(r)
}

func TestScripts(t *testing.T) {
	t.Parallel()
	at := func(x, y int, s string) string {
		return fmt.Sprintf("BT /F1 10 Tf %d %d Td %s Tj ET\n", x, y, utf16Hex(s))
	}
	hebrew := "הגינה הישנה"
	tests := []struct {
		name    string
		width   int
		content string
		want    string
	}{
		{"ideographs without spaces", 1000, at(72, 700, "壁に囲まれた庭は") + at(72, 688, "古い台所の南に"), "壁に囲まれた庭は古い台所の南に"},
		{"ideographs set apart", 1000, "BT /F1 10 Tf 72 700 Td [" + utf16Hex("庭") + " -250 " + utf16Hex("師") + "] TJ ET", "庭師"},
		{"Hangul with spaces", 1000, at(72, 700, "정원은 오래된"), "정원은 오래된"},
		{"Hebrew in visual order", 500, at(72, 700, reversed(hebrew)), hebrew},
		{"Hebrew with a number", 500, at(72, 700, reversed("בשנת")+" 1987"), "1987 בשנת"},
		{"Hebrew in an English line", 500, at(72, 700, "The word "+reversed("גינה ישנה")+" means old garden"), "The word גינה ישנה means old garden"},
		{"English in a Hebrew line", 500, at(72, 700, reversed("הגינה הישנה שלנו")+" Garden "+reversed("השם שלה")), "השם שלה Garden הגינה הישנה שלנו"},
		{"Arabic presentation forms", 500, at(72, 700, "\ufe94\ufed4\ufef3\ufea0\ufea3"), "حجيفة"},
		{"code that stands for a run", 500, "BT /R1 10 Tf 72 700 Td <000100030003000200030001> Tj ET", "the old garden lies south of the kitchen"},
		{"combining mark", 500, at(72, 700, "cafe\u0301"), "café"},
		{"Cyrillic", 500, at(72, 700, "Сад, окружённый"), "Сад, окружённый"},
		{"vertical writing", 1000, "BT /V1 10 Tf 300 700 Td " + utf16Hex("古い庭は") + " Tj ET BT /V1 10 Tf 284 700 Td " + utf16Hex("南にある") + " Tj ET", "古い庭は南にある"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBuilder()
			run := b.stream("", "1 begincodespacerange <0000> <ffff> endcodespacerange 2 beginbfchar <0001> "+utf16Hex("the old garden lies south of the kit")+
				" <0002> "+utf16Hex("the old garden lies south of the kitchen")+" endbfchar")
			b.page(fmt.Sprintf(unicodeFont, tt.width, run), tt.content)
			assert.Equal(t, tt.want, mustParse(t, b.bytes()).Text)
		})
	}
}

// TestSubscriptsOfTightLines checks that a subscript does not end up among the letters of the next line.
func TestSubscriptsOfTightLines(t *testing.T) {
	t.Parallel()
	content := textAt(72, 700, "water is H") + sizedAt(116.5, 695, 8, "2") + textAt(121, 700, "O, they say,") + textAt(72, 688, "and it is wet in all its forms")
	assert.Equal(t, "water is H2O, they say, and it is wet in all its forms", mustParse(t, onePage(content)).Text)
}

// TestLargeRunningHeads checks that a head in larger print is left out if each page has it, and that a title is not.
func TestLargeRunningHeads(t *testing.T) {
	t.Parallel()
	page := func(head string, i int) string {
		return sizedAt(72, 770, 12, head) + textAt(72, 700, fmt.Sprintf("Page %c speaks of one thing,", 'A'+i)) + textAt(72, 688, "and then of another.")
	}
	b, titles := newBuilder(), newBuilder()
	for i := range 4 {
		b.page(helvetica, page("The Long Book Of Gardens", i))
		titles.page(helvetica, page([]string{"Spring", "Spring", "Summer", "Winter"}[i], i))
	}
	assert.Equal(t, 1, strings.Count(mustParse(t, b.bytes()).Text, "The Long Book Of Gardens"))
	assert.Equal(t, 2, strings.Count(mustParse(t, titles.bytes()).Text, "Spring"))
}

func TestPageForms(t *testing.T) {
	t.Parallel()
	t.Run("rotated pages", func(t *testing.T) {
		t.Parallel()
		for rotate, m := range map[int]string{90: "0 1 -1 0 300 100", 180: "-1 0 0 -1 300 300", 270: "0 -1 1 0 300 300", -90: "0 -1 1 0 300 300"} {
			b := newBuilder()
			b.pageWith(fmt.Sprintf("/Rotate %d", rotate), helvetica, "BT /F1 10 Tf 12 TL "+m+" Tm (first) Tj T* (second) Tj ET")
			assert.Equal(t, "first second", mustParse(t, b.bytes()).Text, "Rotate %d", rotate)
		}
	})
	t.Run("forms", func(t *testing.T) {
		t.Parallel()
		b := newBuilder()
		f := b.stream("/Type /XObject /Subtype /Form /BBox [0 0 100 100] /Matrix [1 0 0 1 0 -12] /Resources << "+helvetica+" >>", textAt(0, 0, "in the form"))
		b.page(helvetica+" /XObject << /X "+refTo(f)+" >>", textAt(72, 700, "on the page")+"q 1 0 0 1 72 700 cm /X Do Q")
		assert.Equal(t, "on the page in the form", mustParse(t, b.bytes()).Text)
	})
	t.Run("optional content", func(t *testing.T) {
		t.Parallel()
		b := newBuilder()
		off, on := b.add("<< /Type /OCG /Name (off) >>"), b.add("<< /Type /OCG /Name (on) >>")
		member := b.add("<< /Type /OCMD /OCGs [" + refTo(off) + "] >>")
		b.root = "/OCProperties << /OCGs [" + refTo(off) + " " + refTo(on) + "] /D << /OFF [" + refTo(off) + "] >> >>"
		b.page(helvetica+" /Properties << /A "+refTo(off)+" /B "+refTo(on)+" /C "+refTo(member)+" >>",
			"/OC /A BDC "+textAt(72, 700, "hidden")+"EMC /OC /B BDC "+textAt(72, 688, "shown")+"EMC /OC /C BDC "+textAt(72, 676, "hidden too")+"EMC")
		assert.Equal(t, "shown", mustParse(t, b.bytes()).Text)
	})
	t.Run("form fields", func(t *testing.T) {
		t.Parallel()
		b := newBuilder()
		ap := b.stream("/Subtype /Form /BBox [0 0 100 20] /Resources << "+helvetica+" >>", textAt(2, 5, "the answer"))
		field := func(flags int, subtype string) string {
			return fmt.Sprintf("<< /Subtype /%s /F %d /Rect [72 600 172 620] /AP << /N << /On %d 0 R >> >> /AS /On >>", subtype, flags, ap)
		}
		for _, tt := range []struct{ annot, want string }{
			{field(4, "Widget"), "The question\n\nthe answer"}, {field(2, "Widget"), "The question"}, {field(4, "Link"), "The question"},
		} {
			page := newBuilder()
			page.objs = append(page.objs, b.objs[2])
			page.pageWith("/Annots ["+tt.annot+"]", helvetica, textAt(72, 700, "The question"))
			assert.Equal(t, tt.want, mustParse(t, page.bytes()).Text)
		}
	})
	t.Run("form fields without an appearance", func(t *testing.T) {
		t.Parallel()
		for _, tt := range []struct{ annot, want string }{
			{"/Subtype /Widget /FT /Tx /V (the answer)", "The question the answer"},
			{"/Subtype /Widget /FT /Ch /V [(leek) (fig)]", "The question leek fig"},
			{"/Subtype /Widget /Parent << /FT /Tx /V <FEFF00E4> >>", "The question ä"},
			{"/Subtype /Widget /FT /Btn /V /On", "The question"},
			{"/Subtype /Widget /FT /Tx /F 2 /V (hidden)", "The question"},
			{"/Subtype /FreeText /Contents (a remark)", "The question a remark"},
			{"/Subtype /Text /Contents (Ask the cook.) /T (A. Gardener)", "The question\n\nComment by A. Gardener: Ask the cook."},
			{"/Subtype /Highlight /Contents (Ask.)", "The question\n\nComment: Ask."},
			{"/Subtype /Popup /Contents (no comment)", "The question"},
		} {
			page := newBuilder()
			page.pageWith("/Annots [<< /Rect [140 698 300 712] "+tt.annot+" >>]", helvetica, textAt(72, 700, "The question"))
			assert.Equal(t, tt.want, mustParse(t, page.bytes()).Text, tt.annot)
		}
	})
	t.Run("inherited resources and several streams", func(t *testing.T) {
		t.Parallel()
		b := newBuilder()
		c1, c2 := b.stream("", "BT /F1 10 Tf 72 700 Td (one "), b.stream("", "two) Tj ET")
		b.pages = append(b.pages, b.add(fmt.Sprintf("<< /Type /Pages /Resources << %s >> /Kids [<< /Type /Page /Contents [%d 0 R %d 0 R] >>] >>", helvetica, c1, c2)))
		assert.Equal(t, "one two", strings.Join(strings.Fields(mustParse(t, b.bytes()).Text), " "))
	})
	t.Run("page starts", func(t *testing.T) {
		t.Parallel()
		b := newBuilder()
		b.page(helvetica, "")
		b.page(helvetica, textAt(72, 700, "two"))
		b.page(helvetica, "")
		b.page(helvetica, textAt(72, 700, "four"))
		b.page(helvetica, "")
		res := mustParse(t, b.bytes())
		assert.Equal(t, "two\n\nfour", res.Text)
		assert.Equal(t, []Page{{1, 0}, {2, 0}, {3, 5}, {4, 5}, {5, 9}}, res.Pages)
	})
}

// courier shows a string in 10 point Courier, whose characters are six points wide.
func courier(x, y float64, s string) string {
	return strings.ReplaceAll(textAt(x, y, s), "/F1", "/C1")
}

func TestCode(t *testing.T) {
	t.Parallel()
	const fonts = "/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> " +
		"/C1 << /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >> >>"
	prose := paragraphLines(72, 740, 10, "The program below prints the beds of the garden, one on each line.")
	for name, tt := range map[string]struct{ content, want string }{
		"indented": {prose + courier(90, 700, "func main() {") + courier(114, 688, "beds()  // all") + courier(90, 664, "}") + textAt(72, 630, "That is all."),
			"The program below prints the beds of the garden, one on each line.\n\n```\nfunc main() {\n    beds()  // all\n\n}\n```\n\nThat is all."},
		"one line apart":      {prose + courier(90, 700, "# rake --all"), "The program below prints the beds of the garden, one on each line.\n\n```\n# rake --all\n```"},
		"words in a sentence": {prose + textAt(72, 700, "Run ") + courier(92, 700, "rake") + textAt(120, 700, "now."), "The program below prints the beds of the garden, one on each line.\n\nRun rake now."},
		"line of a paragraph": {textAt(72, 700, "The gardener calls the program that he likes most of all") + courier(72, 688, "rake --all --beds") + textAt(72, 676, "and then goes home to read in his book until the evening."),
			"The gardener calls the program that he likes most of all rake --all --beds\n\nand then goes home to read in his book until the evening."},
		"a document of one width": {courier(72, 700, "All of this letter was") + courier(72, 688, "typed on a machine."), "All of this letter was typed on a machine."},
		"fence inside":            {prose + courier(90, 700, "```") + courier(90, 688, "x"), "The program below prints the beds of the garden, one on each line.\n\n````\n```\nx\n````"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBuilder()
			b.page(fonts, tt.content)
			assert.Equal(t, tt.want, mustParse(t, b.bytes()).Text)
		})
	}
}

func TestRunningText(t *testing.T) {
	t.Parallel()
	body := []string{"The walled garden lies south of the kitchen.", "Bees were introduced in the year 1987.", "Leeks grow in the second bed.", "The gate is shut at night."}
	file := func(edge func(page int) string) string {
		b := newBuilder()
		for i, text := range body {
			b.page(helvetica, textAt(72, 600, text)+edge(i+1))
		}
		return mustParse(t, b.bytes()).Text
	}
	plain := strings.Join(body, "\n\n")
	for name, tt := range map[string]struct {
		edge func(page int) string
		want string
	}{
		"page numbers":       {func(n int) string { return textAt(300, 40, fmt.Sprint(n+6)) }, plain},
		"page and count":     {func(n int) string { return textAt(300, 40, fmt.Sprintf("Page %d of 4", n)) }, plain},
		"roman page numbers": {func(n int) string { return textAt(300, 40, []string{"", "i", "ii", "iii", "iv"}[n]) }, plain},
		"a header stays once": {func(int) string { return textAt(72, 760, "Garden report of 2026, draft") },
			"Garden report of 2026, draft\n\n" + plain},
		"left and right headers": {func(n int) string {
			return textAt(72, 760, []string{"The garden book", "Beds and their plants"}[n%2])
		}, "Beds and their plants\n\n" + body[0] + "\n\nThe garden book\n\n" + strings.Join(body[1:], "\n\n")},
		"numbers that do not count pages": {func(n int) string { return textAt(300, 40, fmt.Sprint(n*n*7)) },
			body[0] + "\n\n7\n\n" + body[1] + "\n\n28\n\n" + body[2] + "\n\n63\n\n" + body[3] + "\n\n112"},
		"titles are no headers": {func(int) string { return sizedAt(72, 760, 20, "Beds") },
			"## Beds\n\n" + strings.Join(body, "\n\n## Beds\n\n")},
		"text that does not stand apart": {func(int) string { return textAt(72, 612, "So") },
			"So\n" + strings.Join(body, "\n\nSo\n")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tt.want, file(tt.edge))
		})
	}
}
