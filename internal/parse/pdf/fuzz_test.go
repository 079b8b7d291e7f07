package pdf

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func isError(err, target error) bool { return errors.Is(err, target) }

// fuzzSeeds are small files that together reach every part of the reader.
func fuzzSeeds() map[string][]byte {
	plain := newBuilder()
	plain.page(helvetica, sizedAt(72, 720, 20, "Walled gardens")+textAt(72, 700, "Five rows of carrots (and leek).")+
		"q 1 0 0 1 10 10 cm BT /B1 9 Tf 14 TL 72 650 Td [(Two) -300 (words)] TJ T* (line) ' 1 2 (more) \" ET Q\n"+
		"BI /W 1 /H 1 /BPC 8 /CS /G ID x EI\n/Span << /ActualText (actual) >> BDC "+textAt(72, 600, "x")+" EMC")
	plain.info = "/Info " + refTo(plain.add("<< /Title (Seed) /CreationDate (D:20200102030405Z) >>"))
	packed := newBuilder()
	packed.page(helvetica, textAt(72, 700, "In an object stream."))
	filters := newBuilder()
	filters.page(helvetica, "")
	filters.objs[2] = "<< /Filter [/ASCII85Decode /LZWDecode] /Length 400 >>\nstream\n" + ascii85(lzwEncode(textAt(72, 700, "Packed twice."))) + "\nendstream"
	fonts := newBuilder()
	tu := fonts.stream("", "1 begincodespacerange <0000> <ffff> endcodespacerange 2 beginbfrange <0001> <0003> <0041> <0004> <0005> [<0066006C> <D835DC00>] endbfrange 1 beginbfchar <0009> <0020> endbfchar")
	cid := fonts.stream("/CMapName /X /WMode 0", "1 begincodespacerange <00> <ff> endcodespacerange 1 begincidrange <41> <5a> 1 endcidrange")
	ttf := fonts.stream("", string(testTrueType()))
	cff := fonts.stream("/Subtype /Type1C", string(testCFF()))
	fonts.page("/Font << /A << /Subtype /Type0 /Encoding /Identity-H /ToUnicode "+refTo(tu)+" /DescendantFonts [<< /DW 500 /W [1 [600 700] 3 9 400] >>] >>"+
		" /B << /Subtype /Type0 /Encoding "+refTo(cid)+" /DescendantFonts [<< /FontDescriptor << /FontFile2 "+refTo(ttf)+" >> >>] >>"+
		" /C << /Subtype /Type0 /Encoding /90ms-RKSJ-V >>"+
		" /D << /Subtype /Type1 /FontDescriptor << /FontFile3 "+refTo(cff)+" >> /Encoding << /Differences [65 /Aacute /uni0042 /g3 /f_i] >> >>"+
		" /E << /Subtype /Type3 /FontMatrix [0.01 0 0 0.01 0 0] /FirstChar 65 /Widths [50 50] /Encoding << /Differences [65 /a65 /B] >> >> >>",
		"BT /A 10 Tf 72 700 Td <000100020003000400050009> Tj /B 10 Tf (AB) Tj /C 10 Tf (\x82\xa0x) Tj /D 10 Tf (ABCD) Tj /E 10 Tf 1 0 0.2 1 72 600 Tm (AB) Tj ET")
	return map[string][]byte{
		"plain": plain.bytes(), "packed": packed.compressed(), "filters": filters.bytes(), "fonts": fonts.bytes(),
		"damaged": []byte(strings.Replace(string(plain.bytes()), "startxref", "startxxxx", 1)),
	}
}

func FuzzParse(f *testing.F) {
	for _, data := range fuzzSeeds() {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		res, err := Parse(ctx, data, Limits{})
		if err != nil {
			if strings.Contains(err.Error(), "reader failed") || ctx.Err() != nil {
				t.Fatal(err)
			}
			if errors.Is(err, ErrNoText) != (res != nil) {
				t.Fatalf("Parse() = %v, %v", res, err)
			}
			return
		}
		if res.Text == "" || !utf8.ValidString(res.Text) {
			t.Fatal("text is empty or no UTF-8")
		}
		last := 0
		for i, p := range res.Pages {
			if p.Number != i+1 || p.Start < last || p.Start > len(res.Text) {
				t.Fatalf("page %d of %d: %+v", i, len(res.Pages), p)
			}
			last = p.Start
		}
	})
}
