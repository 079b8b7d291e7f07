package lexical

import (
	"strings"
	"unicode/utf8"
)

// continuesWord reports whether the character at text[j] belongs to a word.
func continuesWord(text string, j int) bool {
	if text[j] < utf8.RuneSelf {
		return isAlnum[text[j]]
	}
	r, _ := utf8.DecodeRuneInString(text[j:])
	c := classify(r)
	return c == classWord || c == classExtra
}

// scanPart returns the run of letters and digits at text[i:].
func scanPart(text string, i int) part {
	p := part{start: i, ascii: true}
	digits := 0 // length of the number so far, -1 if the run is not a number
	for i < len(text) {
		c := text[i]
		if c < utf8.RuneSelf {
			switch {
			case isAlnum[c]:
				if digits >= 0 && charBits[c] == bitDigit {
					digits++
				} else {
					digits = -1
				}
				i++
				continue
			case c == ',' && digits > 0 && (digits <= 3 || p.commas) && threeDigits(text, i+1):
				p.commas = true
				digits += 3
				i += 4
				continue
			}
			break
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if cl := classify(r); cl != classWord && cl != classExtra {
			break
		}
		p.ascii = false
		digits = -1
		i += size
	}
	p.end = i
	return p
}

// threeDigits reports whether text[i:] starts with exactly three digits.
func threeDigits(text string, i int) bool {
	if i+3 > len(text) || i+3 < len(text) && isAlnum[text[i+3]] {
		return false
	}
	return charBits[text[i]]&charBits[text[i+1]]&charBits[text[i+2]]&bitDigit != 0
}

// compound reads words joined by punctuation from text[i] on, and returns the offset after them.
func (a *analyzer) compound(i int) int {
	text := a.text
	n := 0
	url, hyphens, dots := false, true, true
	for {
		p := scanPart(text, i)
		a.parts[n] = p
		n++
		i = p.end
		if n == maxParts || i >= len(text) {
			break
		}
		next := nextPart(text, i, url)
		if next < 0 {
			break
		}
		hyphens = hyphens && text[i:next] == "-"
		dots = dots && text[i:next] == "."
		url = url || text[i:next] == "://"
		i = next
	}
	parts := a.parts[:n]
	if n == 1 {
		return a.single(parts[0])
	}
	if dots && allSingleLetters(text, parts) {
		var b [maxParts]byte
		for k, p := range parts {
			b[k] = lowerASCII(text[p.start])
		}
		a.emit(string(b[:n]), nil, kindWord, a.pos, parts[0].start, i)
		a.pos++
		return i
	}
	if start := parts[0].start; i-start <= maxTermBytes && !(hyphens && allLetters(text, parts)) {
		if whole := a.whole(start, i, parts); whole != "" {
			a.emit(whole, nil, kindExtra, a.pos, start, i)
		}
	}
	for _, p := range parts {
		a.part(p)
	}
	if i < len(text) {
		return skipSuffix(text, i)
	}
	return i
}

// nextPart returns the start of the word that punctuation joins to the word ending at
// text[end], or -1 if there is none.
func nextPart(text string, end int, url bool) int {
	mask := uint8(bitJoin)
	if url {
		mask = bitURL
	}
	k := end
	for k < len(text) && k-end < maxJoinerRun && charBits[text[k]]&mask != 0 {
		k++
	}
	if k == end || k == len(text) || !startsPart(text, k) {
		return -1
	}
	run := text[end:k]
	if len(run) > 1 && !url && run != "::" && run != "://" && strings.Trim(run, "_") != "" {
		return -1
	}
	return k
}

// startsPart reports whether a word starts at text[k].
func startsPart(text string, k int) bool {
	if text[k] < utf8.RuneSelf {
		return isAlnum[text[k]]
	}
	r, _ := utf8.DecodeRuneInString(text[k:])
	return classify(r) == classWord
}

func allSingleLetters(text string, parts []part) bool {
	for _, p := range parts {
		if p.end-p.start != 1 || charBits[text[p.start]]&(bitLower|bitUpper) == 0 {
			return false
		}
	}
	return true
}

func allLetters(text string, parts []part) bool {
	for _, p := range parts {
		for i := p.start; i < p.end; i++ {
			if charBits[text[i]]&bitDigit != 0 {
				return false
			}
		}
	}
	return true
}

// whole returns the term of a whole compound: its parts folded, its punctuation unchanged.
func (a *analyzer) whole(start, end int, parts []part) string {
	plain := true
	for _, p := range parts {
		plain = plain && p.ascii && !p.commas
	}
	if plain {
		return strings.ToLower(a.text[start:end])
	}
	var b strings.Builder
	for k, p := range parts {
		if k > 0 {
			b.WriteString(a.text[parts[k-1].end:p.start])
		}
		if p.ascii {
			b.WriteString(plainLower(a.text[p.start:p.end]))
		} else {
			b.WriteString(fold(a.text[p.start:p.end]))
		}
	}
	if b.Len() > maxTermBytes {
		return ""
	}
	return b.String()
}

// plainLower returns s in lower case and without thousands separators.
func plainLower(s string) string {
	return strings.ToLower(strings.ReplaceAll(s, ",", ""))
}

// single emits a word that is not joined to another. It includes the ++ or # at the end of
// names such as C++ and C#.
func (a *analyzer) single(p part) int {
	text, i := a.text, p.end
	if p.ascii && i-p.start <= wordBufBytes {
		end := i
		if strings.HasPrefix(text[i:], "++") {
			end = i + 2
		} else if i-p.start == 1 && strings.HasPrefix(text[i:], "#") {
			end = i + 1
		}
		if end > i && charBits[text[p.start]]&bitDigit == 0 && (end == len(text) || !continuesWord(text, end)) {
			a.emit(strings.ToLower(text[p.start:end]), nil, kindWord, a.pos, p.start, end)
			if i-p.start > 1 {
				a.piece(p.start, i)
			}
			a.pos++
			return end
		}
	}
	a.part(p)
	if i < len(text) {
		return skipSuffix(text, i)
	}
	return i
}

// part emits one word, and at the same position the pieces of a mixed word.
func (a *analyzer) part(p part) {
	raw := a.text[p.start:p.end]
	if !p.ascii {
		e := lookupFolded(raw)
		if e.term == "" {
			return
		}
		if !e.stop || a.stops {
			a.emitEntry(e, e.kind, p.start, p.end)
			if a.in != nil && !e.stop && e.kind == kindWord {
				a.stems(p.start, p.end)
			}
		}
		a.pos++
		return
	}
	if p.commas {
		raw = plainLower(raw)
	}
	var bounds [maxSubs + 1]int
	n := 0
	if !p.commas && len(raw) <= wordBufBytes {
		n = splitMixed(&bounds, raw)
	}
	if e := a.asciiTerm(clip(raw)); !e.stop || a.stops {
		a.emitEntry(e, e.kind, p.start, p.end)
		if a.in != nil && !e.stop && e.kind == kindWord {
			a.stems(p.start, p.end)
		}
	}
	for k := 0; k < n; k++ {
		a.piece(p.start+bounds[k], p.start+bounds[k+1])
	}
	a.pos++
}

// piece emits a piece of a mixed word, unless it is a lone letter or a stop word.
func (a *analyzer) piece(start, end int) {
	raw := a.text[start:end]
	if len(raw) == 1 && charBits[raw[0]]&bitDigit == 0 {
		return
	}
	if e := a.asciiTerm(raw); !e.stop {
		a.emitEntry(e, kindExtra, start, end)
	}
}

// asciiTerm returns the entry of an ASCII word of at most maxTermBytes.
func (a *analyzer) asciiTerm(raw string) *wordEntry {
	if len(raw) > wordBufBytes {
		return &wordEntry{cachedTerm: cachedTerm{strings.ToLower(raw)}}
	}
	h := uint32(hashSeed)
	for i := range len(raw) {
		c := lowerASCII(raw[i])
		a.buf[i] = c
		h = (h ^ uint32(c)) * hashPrime
	}
	return lookupASCII(a.buf[:len(raw)], hashSlot(h))
}

// splitMixed splits a word at changes of case and between letters and digits: piece k is
// raw[bounds[k]:bounds[k+1]]. It returns the number of pieces, or 0 if the word has one
// piece or too many.
func splitMixed(bounds *[maxSubs + 1]int, raw string) int {
	n := 1
	for i := 1; i < len(raw); i++ {
		if !changes(raw, i) {
			continue
		}
		if n == maxSubs {
			return 0
		}
		bounds[n] = i
		n++
	}
	if n == 1 {
		return 0
	}
	bounds[n] = len(raw)
	return n
}

// changes reports whether a new piece of a mixed word starts at raw[i], i > 0.
func changes(raw string, i int) bool {
	before, here := charBits[raw[i-1]], charBits[raw[i]]
	switch {
	case before == bitLower && here == bitUpper: // getUser
		return true
	case before == bitUpper && here == bitUpper: // the S of HTTPServer, but not of APIs
		return i+1 < len(raw) && charBits[raw[i+1]] == bitLower && !(raw[i+1] == 's' && i+2 == len(raw))
	case before != bitDigit && here == bitDigit: // iphone15, v2, but not h264
		return i > 1 && charBits[raw[i-2]] != bitDigit || i == 1 && lowerASCII(raw[0]) == 'v'
	case before == bitDigit && here != bitDigit: // 10km, but not 3d or 2nd
		tail := raw[i:]
		if len(tail) < 2 || charBits[tail[1]] == bitDigit {
			return false
		}
		switch strings.ToLower(tail) {
		case "st", "nd", "rd", "th":
			return false
		}
		return true
	}
	return false
}
