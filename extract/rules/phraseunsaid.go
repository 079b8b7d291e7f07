package rules

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// unsaidPhrase reports whether the speaker does not state what the phrase at token i, with an object that ends before token end, says: it stands
// in a quotation, in a condition, behind a verb of saying, a dream or a story, or is asked. Only memories are judged by it.
func (d *doc) unsaidPhrase(s *language.Sentence, l *phrases, f *tableForm, i, end int) bool {
	if d.quotedAt(int(d.Tokens[i].Start)) {
		return true
	}
	said, condition, main := false, false, false
	for j := s.Lo; j < i; j++ {
		switch k := d.WordKey(j); {
		case k == "":
			main = main || condition && d.IsPunct(s, j, ',')
			condition = condition && !d.IsPunct(s, j, ';')
		case wordLists()["phrase-but"][k] && j > s.Lo && d.Tokens[j-1].Kind == language.KindPunct:
			said, condition = false, false // "Nacho dice que no, pero vivo en Vigo"
		case l.unsaid[k], l.pairs && j+1 < i && l.unsaid[k+"_"+d.WordKey(j+1)]:
			said = true
		case l.not[k] && !l.reflexive[d.WordKey(j+1)] && !strings.HasSuffix(strings.ToLower(d.TokenText(j)), "í"): // "sí" is yes
			condition, main = true, false
		}
	}
	if said || condition && (!main || f.kind != extract.KindPreference) {
		return true
	}
	if d.asksItself(s, i) {
		return true
	}
	return end+1 < s.Hi && d.IsPunct(s, end, ',') && (l.unsaid[d.WordKey(end+1)] || l.pairs && end+2 < s.Hi && l.unsaid[d.WordKey(end+1)+"_"+d.WordKey(end+2)])
}

// asksItself reports whether a phrase puts its verb first in a sentence, as questions of Germanic languages do: "wohne ich in Bonn".
func (d *doc) asksItself(s *language.Sentence, i int) bool {
	if i > s.Lo || i+1 >= s.Hi {
		return false
	}
	k := d.WordKey(i + 1)
	return k == "ich" || k == "ik"
}

// closings are the signs that end what a sign begins as a quotation.
var closings = map[rune]string{'“': "”", '”': "”", '„': "“”", '«': "»", '»': "«", '‹': "›", '「': "」", '『': "』", '"': "\"", '‘': "’", '\'': "'", '《': "》", '＂': "＂"}

// quotedAt reports whether the byte at offset of the text stands in a quotation.
func (d *doc) quotedAt(offset int) bool {
	if !d.quotesRead {
		d.quotes, d.quotesRead = quotations(d.Text, d.quotes[:0]), true
	}
	return d.quoteIn(piece{offset, offset + 1})
}

// quoteIn reports whether a quotation has a part of p. Quotations are in text order and apart from each other.
func (d *doc) quoteIn(p piece) bool {
	k := sort.Search(len(d.quotes), func(i int) bool { return d.quotes[i].end > p.start })
	return k < len(d.quotes) && d.quotes[k].start < p.end
}

// quotations appends what stands between quotation marks. A quotation that nothing ends goes to the end of its paragraph.
func quotations(text string, out []piece) []piece {
	paragraph := 0 // where the paragraph of text[i] ends
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		ends := closings[r]
		if ends == "" || !opens(text, i, n, r) {
			i += n
			continue
		}
		if paragraph <= i {
			paragraph = len(text)
			if k := strings.Index(text[i:], "\n\n"); k > 0 {
				paragraph = i + k
			}
		}
		end := paragraph
		for j := i + n; j < end; {
			c, m := utf8.DecodeRuneInString(text[j:])
			next, _ := utf8.DecodeRuneInString(text[j+m:])
			if strings.ContainsRune(ends, c) && (c != '\'' && c != '’' || !unicode.IsLetter(next)) {
				end = j + m
				break
			}
			j += m
		}
		out = append(out, piece{i, end})
		i = end
	}
	return out
}

// opens reports whether the sign r at text[i:i+n] can begin a quotation: an apostrophe and a sign of inches do not.
func opens(text string, i, n int, r rune) bool {
	switch r {
	case '\'', '‘', '"', '”', '»':
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+n:])
		return !unicode.IsLetter(before) && !unicode.IsDigit(before) && !unicode.IsSpace(after) && after != utf8.RuneError
	}
	return true
}
