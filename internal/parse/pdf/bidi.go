package pdf

import (
	"bytes"
	"slices"
	"unicode"

	"golang.org/x/text/unicode/bidi"
)

// Directions of clusters.
const (
	neutral = iota
	leftToRight
	rightToLeft
	digits
)

func direction(text string) int {
	for _, r := range text {
		p, _ := bidi.LookupRune(r)
		switch p.Class() {
		case bidi.L:
			return leftToRight
		case bidi.R, bidi.AL:
			return rightToLeft
		case bidi.EN, bidi.AN:
			return digits
		}
	}
	return neutral
}

// join returns the text of clusters, which come in visual order. Right-to-left text is put into reading order, the reverse of the Unicode
// Bidirectional Algorithm's last step for one embedding level.
func (sp *wordSpace) join() string {
	clusters := sp.clusters
	rtl, ltr := 0, 0
	for _, c := range clusters {
		if len(c.text) == 1 && c.text[0] < 0x80 {
			if unicode.IsLetter(rune(c.text[0])) {
				ltr++
			}
			continue
		}
		switch direction(c.text) {
		case rightToLeft:
			rtl++
		case leftToRight:
			ltr++
		}
	}
	if rtl > 0 {
		if rtl >= ltr {
			slices.Reverse(clusters)
			reverseRuns(clusters, leftToRight)
		} else {
			reverseRuns(clusters, rightToLeft)
		}
	}
	sp.text = sp.text[:0]
	for _, c := range clusters {
		sp.text = append(sp.text, c.text...)
	}
	return string(bytes.TrimSpace(sp.text))
}

// reverseRuns reverses the runs that begin and end with clusters of direction dir and have only neutral clusters and digits between. Digits
// are written from left to right in both scripts: with leftToRight they are part of a run, with rightToLeft they are reversed back.
func reverseRuns(clusters []cluster, dir int) {
	in := func(d int) bool { return d == dir || dir == leftToRight && d == digits }
	for i := 0; i < len(clusters); {
		if !in(direction(clusters[i].text)) {
			i++
			continue
		}
		end := i + 1
		for k := end; k < len(clusters); k++ {
			d := direction(clusters[k].text)
			if in(d) {
				end = k + 1
			} else if d != neutral && !(dir == rightToLeft && d == digits) {
				break
			}
		}
		slices.Reverse(clusters[i:end])
		if dir == rightToLeft {
			reverseDigits(clusters[i:end])
		}
		i = end
	}
}

// reverseDigits restores the order of numbers that were reversed with the text around them.
func reverseDigits(clusters []cluster) {
	for i := 0; i < len(clusters); {
		end := i
		for end < len(clusters) && direction(clusters[end].text) == digits {
			end++
		}
		if end > i {
			slices.Reverse(clusters[i:end])
			i = end
			continue
		}
		i++
	}
}
