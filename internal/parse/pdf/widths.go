package pdf

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

// data/widths.txt has the advances, in thousandths of an em, of the fonts that every reader knows: by WinAnsi codes
// from 32 to 255, and by their own codes for Symbol and ZapfDingbats.
//
//go:embed data/widths.txt
var widthData string

// standardWidths has the widths of one of the standard fonts. byCode is set for fonts with an encoding of their own.
type standardWidths struct {
	byText map[string]float64
	byCode []float64
	fixed  float64
}

var standardFonts = sync.OnceValue(func() map[string]*standardWidths {
	out := map[string]*standardWidths{"Courier": {fixed: 600}}
	for title, fields := range sections(widthData) {
		w := &standardWidths{byText: map[string]float64{}}
		for i, f := range fields {
			v, err := strconv.Atoi(f)
			if err != nil {
				continue
			}
			if title == "Symbol" || title == "Zapf" {
				w.byCode = append(w.byCode, float64(v))
			} else if v > 0 {
				w.byText[winAnsiEncoding[32+i]] = float64(v)
			}
		}
		w.byText["ﬁ"], w.byText["ﬂ"] = w.byText["f"]+w.byText["i"], w.byText["f"]+w.byText["l"]
		out[title] = w
	}
	return out
})

// widthsOf returns the standard font that is closest to a font's name.
func widthsOf(base string) *standardWidths {
	fonts := standardFonts()
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(base, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("Courier", "Mono", "Typewriter", "Consolas"):
		return fonts["Courier"]
	case has("Dingbats"):
		return fonts["Zapf"]
	case has("Symbol"):
		return fonts["Symbol"]
	}
	bold, italic := has("Bold", "Black", "Demi"), has("Italic", "Oblique")
	if has("Times", "Roman", "Serif", "Georgia", "Garamond", "Book") && !has("Sans") {
		switch {
		case bold && italic:
			return fonts["Times-BoldItalic"]
		case bold:
			return fonts["Times-Bold"]
		case italic:
			return fonts["Times-Italic"]
		}
		return fonts["Times-Roman"]
	}
	if bold {
		return fonts["Helvetica-Bold"]
	}
	return fonts["Helvetica"]
}

// width returns the advance, in thousandths of an em, of a code that shows text. It is 500 when unknown.
func (w *standardWidths) width(text string, code int) float64 {
	if w.fixed > 0 {
		return w.fixed
	}
	if w.byCode != nil {
		if i := code - 32; i >= 0 && i < len(w.byCode) {
			return w.byCode[i]
		}
		return 0
	}
	if v, ok := w.byText[text]; ok {
		return v
	}
	if text == "" {
		return 0
	}
	return 500
}
