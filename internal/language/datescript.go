package language

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// scriptDate is a relative date in Chinese or Japanese.
type scriptDate struct {
	text       string
	unit, step int
}

//go:embed tables/cjk-dates.txt
var cjkDateTable string

// scriptDates maps a first character to the dates that begin with it, longer ones first.
var scriptDates = sync.OnceValue(func() map[rune][]scriptDate {
	m := make(map[rune][]scriptDate)
	for line := range TableLines(cjkDateTable) {
		head, words, _ := strings.Cut(line, "|")
		count, unit, _ := strings.Cut(head, " ")
		step, _ := strconv.Atoi(count)
		for w := range strings.FieldsSeq(words) {
			r, _ := utf8.DecodeRuneInString(w)
			at := m[r]
			i := 0
			for i < len(at) && len(at[i].text) >= len(w) {
				i++
			}
			m[r] = append(at[:i:i], append([]scriptDate{{w, dateUnits[unit], step}}, at[i:]...)...)
		}
	}
	return m
})

// scriptUnits are units after a number, longer ones first.
var scriptUnits = []scriptDate{{"个星期", 7, 0}, {"個星期", 7, 0}, {"星期", 7, 0}, {"週間", 7, 0}, {"个月", 30, 0}, {"個月", 30, 0}, {"ヶ月", 30, 0}, {"か月", 30, 0}, {"カ月", 30, 0},
	{"周", 7, 0}, {"週", 7, 0}, {"天", 1, 0}, {"日", 1, 0}, {"年", 365, 0}}

var scriptNumbers = map[rune]int{'一': 1, '二': 2, '两': 2, '兩': 2, '三': 3, '四': 4, '五': 5, '六': 6, '七': 7, '八': 8, '九': 9, '十': 10}

// scriptSpan reads a unit such as "天前" after a number. n is its length in bytes, 0 for none; sign is its direction.
func scriptSpan(text string) (n, unit, sign int) {
	for i := range scriptUnits {
		rest, ok := strings.CutPrefix(text, scriptUnits[i].text)
		if !ok {
			continue
		}
		for _, way := range [...]struct {
			word string
			sign int
		}{{"以前", -1}, {"之前", -1}, {"前", -1}, {"以后", 1}, {"之后", 1}, {"后", 1}, {"後", 1}} {
			if strings.HasPrefix(rest, way.word) {
				return len(scriptUnits[i].text) + len(way.word), scriptUnits[i].unit, way.sign
			}
		}
		return 0, 0, 0
	}
	return 0, 0, 0
}

// scriptDateAt reads a relative date at the start of a text; n is its length in bytes, 0 for none. count is the number of units, 0 if
// step gives the distance.
func scriptDateAt(text string, r rune) (n, unit, step, count int) {
	for _, x := range scriptDates()[r] {
		if strings.HasPrefix(text, x.text) {
			return len(x.text), x.unit, x.step, 0
		}
	}
	if v, ok := scriptNumbers[r]; ok {
		w := utf8.RuneLen(r)
		if n, unit, sign := scriptSpan(text[w:]); n > 0 {
			return w + n, unit, sign, v
		}
	}
	return 0, 0, 0, 0
}

// scriptRelative reads a relative date that is token i, or token i with the number before it.
func (d *Document) scriptRelative(s *Sentence, i int) (Date, bool) {
	t := &d.Tokens[i]
	if t.Kind == KindNumber {
		v, ok := d.Number(i)
		if !ok || i+1 >= s.Hi || d.Tokens[i+1].Kind != KindScript || d.Tokens[i+1].Gap != NoGap {
			return Date{}, false
		}
		n, unit, sign := scriptSpan(d.TokenText(i + 1))
		if n == 0 || n != len(d.TokenText(i+1)) {
			return Date{}, false
		}
		return d.hit(i, i+2, d.shift(sign, amount{n: v, unit: unit}))
	}
	if t.Kind != KindScript {
		return Date{}, false
	}
	w := d.TokenText(i)
	r, _ := utf8.DecodeRuneInString(w)
	n, unit, step, count := scriptDateAt(w, r)
	switch {
	case n == 0 || n != len(w):
		return Date{}, false
	case count > 0:
		return d.hit(i, i+1, d.shift(step, amount{n: count, unit: unit}))
	}
	return d.hit(i, i+1, d.calendar(unit, step))
}
