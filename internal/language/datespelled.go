package language

import "strings"

// spelledDays are the days of a month in words, by the number.
var spelledDays = map[string]int{"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13,
	"fourteenth": 14, "fifteenth": 15, "sixteenth": 16, "seventeenth": 17, "eighteenth": 18, "nineteenth": 19, "twentieth": 20, "thirtieth": 30}

// spelledDay reads a day in words: "the thirtieth of June", "the twenty-third of May", "on the nineteenth". The date begins at token lo, its day at i.
func (d *Document) spelledDay(s *Sentence, lo, i int) (Date, bool) {
	n, end := d.ordinalAt(s, i)
	if n == 0 || d.IsWord(s, i-1, "a") || i > s.Lo && d.Tokens[i-1].Is(NumberWord) {
		return Date{}, false // "one third of March"
	}
	if d.IsWord(s, end, "of") {
		if m, ok := d.monthName(s, end+1, true); ok && d.Tokens[end+1].Is(Month) && d.Tokens[end+1].Gap <= SpaceGap {
			if d.IsWord(s, lo, "on") {
				lo++
			}
			return d.withYear(s, lo, end+2, n, m), true
		}
		return Date{}, false
	}
	return d.dayAlone(s, lo, i, end, n)
}

// ordinalAt returns the ordinal number in words at token i, up to 31, and the token after it; 0 for none.
func (d *Document) ordinalAt(s *Sentence, i int) (n, end int) {
	w := strings.ToLower(d.TokenText(i))
	tens, ones, joined := strings.Cut(w, "-")
	end = i + 1
	if !joined {
		if n = spelledDays[w]; n > 0 || w != "twenty" && w != "thirty" || end >= s.Hi {
			return n, end
		}
		ones, end = strings.ToLower(d.TokenText(end)), end+1
	}
	switch n = spelledDays[ones]; {
	case n < 1 || n > 9:
		return 0, end
	case tens == "twenty":
		return 20 + n, end
	case tens == "thirty" && n == 1:
		return 31, end
	}
	return 0, end
}
