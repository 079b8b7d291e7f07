package language

import (
	"strconv"
	"strings"

	"github.com/contextmem/contextmem/extract"
)

// datePhrase is a relative date in another language: words, with {n} for a number, {w} for a weekday and {s} for a season.
type datePhrase struct {
	words []string
	step  int  // units from the reference time; multiplied by the number if count is set
	count bool // step is multiplied by the number
	unit  int  // days as in the lexicon, or unitWeekday, unitSeason
}

var dateUnits = map[string]int{"day": 1, "weekend": 2, "week": 7, "month": 30, "year": 365, "{w}": unitWeekday, "{s}": unitSeason}

// parseDatePhrases reads lines such as "-1 week
// la semana pasada". It returns the phrases by their first word, which is "" for phrases that begin with a number, a weekday or a
// season.
func parseDatePhrases(table string) map[string][]*datePhrase {
	m := make(map[string][]*datePhrase)
	for line := range strings.SplitSeq(table, "\n") {
		head, list, ok := strings.Cut(line, "|")
		step, unit, ok2 := strings.Cut(head, " ")
		if !ok || !ok2 {
			continue
		}
		for text := range strings.SplitSeq(list, ",") {
			p := &datePhrase{words: dateWords(text), unit: dateUnits[unit]}
			switch step {
			case "n":
				p.step, p.count = 1, true
			case "-n":
				p.step, p.count = -1, true
			default:
				p.step, _ = strconv.Atoi(step)
			}
			first := p.words[0]
			if strings.Contains(first, "{") {
				first = ""
			}
			at := m[first]
			i := 0
			for i < len(at) && len(at[i].words) >= len(p.words) {
				i++ // longer phrases first
			}
			m[first] = append(at[:i:i], append([]*datePhrase{p}, at[i:]...)...)
		}
	}
	return m
}

func dateWords(text string) []string {
	var out []string
	for w := range strings.FieldsSeq(text) {
		if !strings.Contains(w, "{") {
			w = extract.Key(w)
		}
		out = append(out, w)
	}
	return out
}

// foreignDate reads a relative date of another language at token i.
func (d *Document) foreignDate(s *Sentence, l *DateLanguage, i int) (Date, bool) {
	key := d.WordKey(i)
	if key == "" {
		return Date{}, false
	}
	for _, table := range [...]string{key, ""} {
		for _, p := range l.dates[table] {
			if hi, n, name := d.matchDate(s, l, p, i); hi > 0 {
				return d.hit(i, hi, d.foreignPeriod(p, n, name))
			}
		}
	}
	return Date{}, false
}

// matchDate returns the end of a phrase that begins at token i, 0 if it does not match, with its number and its weekday or season.
func (d *Document) matchDate(s *Sentence, l *DateLanguage, p *datePhrase, i int) (hi, n, name int) {
	for k, w := range p.words {
		j := i + k
		if j >= s.Hi || k > 0 && d.Tokens[j].Gap > LineGap {
			return 0, 0, 0
		}
		key := d.WordKey(j)
		ok := key == w
		switch {
		case w == "{n}":
			if n, ok = d.Number(j); !ok {
				n, ok = l.numbers[key]
			}
			ok = ok && n <= 5000
		case strings.HasSuffix(w, "{w}"):
			name, ok = l.weekdays[key]
		case strings.HasSuffix(w, "{s}"): // "l'été" is one word
			name, ok = l.seasons[strings.TrimPrefix(key, strings.TrimSuffix(w, "{s}"))]
		}
		if !ok {
			return 0, 0, 0
		}
	}
	return i + len(p.words), n, name
}

func (d *Document) foreignPeriod(p *datePhrase, n, name int) period {
	step := 1
	if p.step < 0 {
		step = -1
	}
	switch {
	case p.unit == unitWeekday:
		return d.stepWeekday(name, step, false)
	case p.unit == unitSeason:
		return d.stepSeason(name, step)
	case p.count:
		return d.shift(step, amount{n: n, unit: p.unit})
	}
	return d.calendar(p.unit, p.step)
}
