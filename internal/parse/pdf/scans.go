package pdf

import (
	"math"
	"strconv"
	"strings"
)

// scanShare is the share of a page that its images fill at least if the page is a scan. Smaller images are figures, stamps and logos.
const scanShare = 0.4

// maxScanRanges bounds the ranges of pages that a reason lists.
const maxScanRanges = 12

// isScan reports whether the page shows images and no text.
func (p *pageGlyphs) isScan() bool {
	if p.unmapped > 0 || p.bounds.x0 <= -1e6 {
		return false
	}
	for i := range p.glyphs {
		if strings.TrimSpace(p.glyphs[i].text) != "" {
			return false
		}
	}
	return p.pictured >= scanShare*math.Abs((p.bounds.x1-p.bounds.x0)*(p.bounds.y1-p.bounds.y0))
}

// scansReason says that the text of pages is missing because they are images: "pages 3, 7-9 are images without text: they need OCR".
func scansReason(pages []int) string {
	if len(pages) == 0 {
		return ""
	}
	var b strings.Builder
	ranges := 0
	for i := 0; i < len(pages); ranges++ {
		from := i
		for i++; i < len(pages) && pages[i] == pages[i-1]+1; i++ {
		}
		if ranges == maxScanRanges {
			b.WriteString(" and others")
			break
		}
		if ranges > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Itoa(pages[from]))
		if i-1 > from {
			b.WriteString("-" + strconv.Itoa(pages[i-1]))
		}
	}
	if len(pages) == 1 {
		return "page " + b.String() + " is an image without text: it needs OCR"
	}
	return "pages " + b.String() + " are images without text: they need OCR"
}
