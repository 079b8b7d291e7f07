package lexical

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// grams emits the pairs of characters of a run in a script without spaces. Every
// character has its own position, and includes the marks on it.
func (a *analyzer) grams(i int) int {
	end := i
	for end < len(a.text) {
		r, size := utf8.DecodeRuneInString(a.text[end:])
		if c := classify(r); c != classGram && c != classHan && (c != classExtra || r == 0x200B) {
			break
		}
		end += size
	}
	run := a.text[i:end]
	if norm.NFKC.IsNormalString(run) {
		a.pairs(run, i, i, end)
	} else {
		a.pairs(norm.NFKC.String(run), -1, i, end)
	}
	return end
}

// pairs emits the pairs of characters of run. If base is negative, run is a normalised copy
// of the text, and every token spans start to end.
func (a *analyzer) pairs(run string, base, start, end int) {
	emit := func(from, to int, k kind, pos int) {
		if base >= 0 {
			start, end = base+from, base+to
		}
		a.emit(run[from:to], nil, k, pos, start, end)
	}
	prev, prevHan := -1, false // start of the character before, and whether it is Han
	count := 0
	for at := 0; at < len(run); {
		r, size := utf8.DecodeRuneInString(run[at:])
		to, han := at+size, classify(r) == classHan
		for to < len(run) {
			m, n := utf8.DecodeRuneInString(run[to:])
			if classify(m) != classExtra {
				break
			}
			to += n
		}
		if prev >= 0 {
			emit(prev, to, kindWord, a.pos-1)
			if prevHan {
				emit(prev, at, kindHan, a.pos-1)
			}
		}
		prev, prevHan, at = at, han, to
		count++
		a.pos++
	}
	if count == 1 {
		emit(prev, len(run), kindWord, a.pos-1)
	} else if prevHan {
		emit(prev, len(run), kindHan, a.pos-1)
	}
}
