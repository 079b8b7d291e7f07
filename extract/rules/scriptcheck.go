package rules

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/contextmem/contextmem/internal/language"
)

// quotedIn reports whether a clause stands in a quotation or has one.
func (d *doc) quotedIn(p piece) bool {
	if d.quotedAt(p.start) {
		return true
	}
	return d.quoteIn(p)
}

// scriptRelative returns a relative of the speaker whose name is not known, where a clause of a memory begins with one and says no name:
// "我女儿在广州上班", "夫は銀行で働いています". kin is its place, rest what is said of it.
func (d *doc) scriptRelative(s *language.Sentence, l *scriptLanguage, p piece) (relative string, kin, rest piece) {
	if !d.checked() || s.Speaker == "" {
		return "", p, p
	}
	text := d.Text[p.start:p.end]
	at := 0
	for _, w := range l.mine {
		if strings.HasPrefix(text, w) && len(w) > at {
			at = len(w)
		}
	}
	if at == 0 && l.topic == "" {
		return "", p, p
	}
	word := ""
	for _, w := range l.kinWords {
		if strings.HasPrefix(text[at:], w[0]) && len(w[0]) > len(word) {
			word = w[0]
		}
	}
	end := at + len(word)
	if word == "" {
		return "", p, p
	}
	if l.topic != "" {
		switch {
		case strings.HasPrefix(text[end:], l.topic):
			rest = piece{p.start + end + len(l.topic), p.end}
		case strings.HasPrefix(text[end:], l.does):
			rest = piece{p.start + end + len(l.does), p.end}
		case l.also != "" && strings.HasPrefix(text[end:], l.also):
			rest = piece{p.start + end + len(l.also), p.end}
		default:
			return "", p, p
		}
	} else {
		rest = piece{p.start + end, p.end}
	}
	for _, f := range l.first {
		if f.form.predicate == "kin" {
			if _, _, ok := d.scriptObject(l, f.before, f.after, p); ok {
				return "", p, p
			}
		}
	}
	return s.Speaker + "'s " + word, piece{p.start, p.start + end}, d.trimPiece(rest)
}

// alsoAt returns where a text has the word for "too" behind a subject, -1 if it has none: "姉も東京に", not "子ども", "もの" or "今でも".
func (l *scriptLanguage) alsoAt(text string) int {
	if l.also == "" {
		return -1
	}
	for at := 0; ; {
		k := strings.Index(text[at:], l.also)
		if k < 0 {
			return -1
		}
		k += at
		at = k + len(l.also)
		before, _ := utf8.DecodeLastRuneInString(text[:k])
		next, _ := utf8.DecodeRuneInString(text[at:])
		if k > 0 && !strings.ContainsRune("どもでにとかの", before) && !strings.ContainsRune("のもうちっ", next) {
			return k
		}
	}
}

// scriptTail reports whether the words behind a phrase leave it a statement: "猫が好きです", not "猫が好きな人".
func scriptTail(l *scriptLanguage, tail string) bool {
	if tail == "" || unicode.IsDigit(rune(tail[0])) {
		return true
	}
	return slices.ContainsFunc(l.tails, func(w string) bool { return strings.HasPrefix(tail+"、", w) })
}

// scriptRole reports whether an object is an occupation of the table, where the form wants one.
func (d *doc) scriptRole(l *scriptLanguage, f *tableForm, o piece) bool {
	return !f.role || slices.ContainsFunc(l.roles, func(w string) bool { return strings.HasSuffix(d.Text[o.start:o.end], w) })
}

// scriptSayable is phraseSayable for Chinese and Japanese, where words have no signs between them.
func scriptSayable(predicate, object string, subject bool) bool {
	n := utf8.RuneCountInString(object)
	first, _ := utf8.DecodeRuneInString(object)
	if strings.ContainsRune("的就", first) {
		return false
	}
	switch predicate {
	case "age":
		return !strings.ContainsFunc(object, func(r rune) bool {
			return !unicode.IsDigit(r) && !strings.ContainsRune("零一二三四五六七八九十百廿半", r)
		}) && object != "十"
	case "name":
		return n <= 5 && !strings.ContainsRune("你我他她它牠这那這", first) || first < unicode.MaxLatin1 && !subject
	case "lives_in", "works_at":
		return n > 1 && !strings.ContainsRune("零一二三四五六七八九十两兩几幾", first)
	case "likes", "dislikes":
		return !strings.ContainsRune("人就的得上你我他她它这那這谁誰什", first)
	case "wants":
		return !strings.ContainsRune("问問知说說请請你我", first)
	case "speaks":
		return n > 1
	}
	return !strings.HasSuffix(object, "不") && !strings.HasSuffix(object, "没")
}
