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

// spelledYear reads a year in words behind a preposition: "since nineteen ninety-eight", "in two thousand and nine".
func (d *Document) spelledYear(s *Sentence, i int) (Date, bool) {
	if !d.IsOneOf(s, i-1, "in", "since", "until", "till", "from", "of", "by", "to", "around", "about", "before", "after") {
		return Date{}, false
	}
	y, hi := 0, i+1
	switch first := int(d.Tokens[i].Word().Num); {
	case first == 2 && d.IsWord(s, hi, "thousand"):
		y, hi = 2000, hi+1
		if d.IsWord(s, hi, "and") {
			hi++
		}
		n, end := d.cardinalAt(s, hi)
		if n == 0 || n > 99 {
			return Date{}, false
		}
		y, hi = y+n, end
	case first == 18 || first == 19 || first == 20:
		n, end := d.cardinalAt(s, hi)
		if n < 10 || n > 99 {
			return Date{}, false
		}
		y, hi = 100*first+n, end
	default:
		return Date{}, false
	}
	if hi < s.Hi && d.Tokens[hi].Kind == KindWord && (d.Tokens[hi].Is(NumberWord|Unit|TimeUnit|Currency|Scale) || d.Tokens[hi].Word() == (Word{})) && !d.Tokens[hi].Is(Preposition|FunctionWord) {
		return Date{}, false // "of two thousand and nine people"
	}
	p := yearOf(y)
	return Date{Lo: i, Hi: hi, From: p.From, To: p.To, Precision: p.Precision}, true
}

// cardinalAt returns the number below a hundred in words at token i, and the token after it; 0 for none.
func (d *Document) cardinalAt(s *Sentence, i int) (n, end int) {
	if i >= s.Hi || d.Tokens[i].Kind != KindWord {
		return 0, i
	}
	t := &d.Tokens[i]
	if !t.Is(NumberWord) {
		return hyphenNumber(strings.ToLower(d.TokenText(i))), i + 1
	}
	n, end = int(t.Word().Num), i+1
	if n >= 20 && n < 100 && n%10 == 0 && end < s.Hi && d.Tokens[end].Is(NumberWord) && d.Tokens[end].Word().Num > 0 && d.Tokens[end].Word().Num < 10 {
		return n + int(d.Tokens[end].Word().Num), end + 1
	}
	return n, end
}
