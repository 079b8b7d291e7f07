package language

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// classify adds the tokens of the run of characters text[i:j].
func (d *Document) classify(i, j int, g Gap, f *features) {
	s := d.Text[i:j]
	t := Token{Start: int32(i), End: int32(j), Gap: g}
	switch {
	case f.scheme, f.dot && f.lower > 0 && looksLikeHost(s, f):
		t.Kind = KindURL
	case f.at && looksLikeEmail(s):
		t.Kind = KindEmail
	case f.plainWord():
		d.word(i, j, g, f)
		return
	case f.plainNumber():
		d.digits(t, s, f)
		return
	case f.digit > 0 && isTimestamp(s):
		t.Kind = KindDate
	case f.digit > 0 && d.suffixed(t, s):
		return
	case f.at || f.slash && f.digit == 0 && !f.dot && !f.under && strings.Count(s, "/") == 1:
		d.pieces(i, j, g)
		return
	case f.dottedWord() && !knownExtension(s):
		if isDotted(s) || f.upper > 1 && len(s) <= 6 {
			d.word(i, j, g, f)
			return
		}
		d.pieces(i, j, g)
		return
	default:
		t.identify(s, f)
	}
	d.add(t)
}

// plainWord reports whether a run has only letters, hyphens and apostrophes.
func (f *features) plainWord() bool { return f.digit == 0 && !f.under && !f.at && !f.slash && !f.dot }

// plainNumber reports whether a run has digits and no letters.
func (f *features) plainNumber() bool {
	return f.digit > 0 && f.upper+f.lower == 0 && !f.under && !f.at
}

// dottedWord reports whether a run has letters and dots.
func (f *features) dottedWord() bool { return f.digit == 0 && f.dot && !f.slash && !f.under }

// identify makes t an identifier or an error code.
func (t *Token) identify(s string, f *features) {
	t.Kind = KindIdentifier
	if isErrorCode(s) {
		t.Kind = KindErrorCode
	}
	if IsUpperByte(s[0]) && !f.slash && !f.under && !f.dot {
		t.Shape = UpperCase // GPT-4, COVID-19: may be part of a name
	}
}

// pieces splits a run at signs that are separators and adds its parts one by one.
func (d *Document) pieces(i, j int, g Gap) {
	for i < j {
		k := i
		var f features
		for k < j && strings.IndexByte("./@", d.Text[k]) < 0 {
			c := d.Text[k]
			switch {
			case IsUpperByte(c):
				f.upper++
			case isDigitByte(c):
				f.digit++
			case c >= utf8.RuneSelf:
				f.foreign = true
			default:
				f.lower++
			}
			f.apos = f.apos || c == '\''
			k++
		}
		if k > i {
			if f.digit == 0 {
				d.word(i, k, g, &f)
			} else {
				d.add(Token{Start: int32(i), End: int32(k), Kind: KindIdentifier, Gap: g})
			}
			g = NoGap
		}
		if k < j {
			d.add(Token{Start: int32(k), End: int32(k + 1), Kind: KindPunct, Gap: g, Sign: d.Text[k]})
			g = NoGap
			k++
		}
		i = k
	}
}

// word adds a word; if the word ends with a clitic, the clitic becomes a token of its own.
func (d *Document) word(i, j int, g Gap, f *features) {
	end := j
	if f.apos {
		end = cliticStart(d.Text, i, j)
	}
	if cut := suffixStart(d.Text[i:end]); cut > 0 && f.upper > 0 {
		end = i + cut // "York-based"
		d.add(d.wordToken(i, end, g, f))
		d.add(Token{Start: int32(end), End: int32(j), Kind: KindPunct, Sign: '-'})
		return
	}
	d.add(d.wordToken(i, end, g, f))
	if end < j {
		d.add(Token{Start: int32(end), End: int32(j), Kind: KindClitic, entry: lookup(d.Text[end:j])})
	}
}

func (d *Document) wordToken(i, j int, g Gap, f *features) Token {
	s := d.Text[i:j]
	t := Token{Start: int32(i), End: int32(j), Kind: KindWord, Gap: g, entry: lookup(s)}
	if k := strings.IndexByte(s, '-'); k > 0 && f.upper > 0 && t.Word().Flags == 0 {
		t.entry = t.entry.firstNamed(lookup(s[:k])) // "Jean-Pierre"
	}
	switch {
	case f.upper == 0:
	case f.lower == 0 || isAllUpper(s):
		t.Shape = UpperCase
		if len(s) == 1 {
			t.Shape = Capitalized
		}
	case f.upper == 1 && startsUpper(s):
		t.Shape = Capitalized
	case f.upper > 0 && !startsUpper(s) && f.upper == 1 && strings.IndexByte(s, '-') > 0:
		t.Shape = LowerCase // "anti-American" is not a name
	default:
		t.Shape = MixedCase
		if strings.IndexByte(s, '-') > 0 && startsUpper(s) {
			t.Shape = Capitalized
		}
	}
	return t
}

// cliticStart returns where the clitic of text[i:j] begins, or j if it has none.
func cliticStart(text string, i, j int) int {
	for _, c := range [...]string{"'s", "'m", "'d", "'re", "'ve", "'ll", "’s", "’m", "’d", "’re", "’ve", "’ll", "'S", "'M"} {
		if j-i > len(c) && strings.HasSuffix(text[i:j], c) {
			return j - len(c)
		}
	}
	return j
}

// suffixStart returns where a describing suffix such as "-based" begins, 0 for none.
func suffixStart(s string) int {
	k := strings.LastIndexByte(s, '-')
	if k <= 0 {
		return 0
	}
	switch s[k+1:] {
	case "based", "born", "style", "like", "led", "owned", "related", "area", "wide", "made", "trained", "bound", "era", "only", "speaking":
		return k
	}
	return 0
}

// digits adds a run without letters: a date, a time, an identifier or a number.
func (d *Document) digits(t Token, s string, f *features) {
	switch {
	case isNumericDate(s):
		t.Kind = KindDate
	case f.colon:
		t.Kind = KindClock
	case f.hyphen || f.slash || strings.Count(s, ".") > 1:
		t.Kind = KindIdentifier
		if strings.Count(s, "-") == 1 && !f.slash && !f.dot && isYearRange(s) {
			k := strings.IndexByte(s, '-')
			d.add(Token{Start: t.Start, End: t.Start + int32(k), Kind: KindNumber, Gap: t.Gap})
			d.add(Token{Start: t.Start + int32(k), End: t.Start + int32(k) + 1, Kind: KindPunct, Sign: '-'})
			t = Token{Start: t.Start + int32(k) + 1, End: t.End, Kind: KindNumber}
		}
	default:
		t.Kind = KindNumber
	}
	d.add(t)
}

// isYearRange reports whether s is two years with a hyphen, such as 1998-2004.
func isYearRange(s string) bool {
	return len(s) == 9 && s[4] == '-' && (s[0] == '1' || s[0] == '2') && (s[5] == '1' || s[5] == '2')
}

// suffixed adds "5kg", "8th", "1990s", "3pm" as a number and a word. It returns false if s has another form.
func (d *Document) suffixed(t Token, s string) bool {
	n := 0
	for n < len(s) && (isDigitByte(s[n]) || s[n] == '.' || s[n] == ',') {
		n++
	}
	if n == 0 || n == len(s) || len(s)-n > 4 || !isDigitByte(s[n-1]) {
		return false
	}
	e := lookup(s[n:])
	if e.word().Flags&(Unit|OrdinalEnding|TimeUnit|Scale|ClockWord) == 0 {
		return false
	}
	mid := t.Start + int32(n)
	d.add(Token{Start: t.Start, End: mid, Kind: KindNumber, Gap: t.Gap})
	d.add(Token{Start: mid, End: t.End, Kind: KindWord, entry: e})
	return true
}

func looksLikeEmail(s string) bool {
	at := strings.IndexByte(s, '@')
	dot := strings.LastIndexByte(s, '.')
	return at > 0 && strings.IndexByte(s[at+1:], '@') < 0 && dot > at+1 && len(s)-dot > 2 && strings.IndexByte(s, '/') < 0
}

// looksLikeHost reports whether s is a host name without a scheme, with or without a path.
func looksLikeHost(s string, f *features) bool {
	if f.at || f.under && !f.slash {
		return false
	}
	if strings.HasPrefix(s, "www.") {
		return true
	}
	host, _, _ := strings.Cut(s, "/")
	dot := strings.LastIndexByte(host, '.')
	if dot <= 0 || strings.IndexByte(host, '-') == 0 {
		return false
	}
	switch host[dot+1:] {
	case "com", "org", "net", "edu", "gov", "io", "dev", "app", "ai", "uk", "de", "fr", "eu", "info", "ch", "at", "nl", "es", "it", "jp", "cn":
		return true
	}
	return false
}

func knownExtension(s string) bool {
	k := strings.LastIndexByte(s, '.')
	switch s[k+1:] {
	case "go", "py", "js", "ts", "rs", "java", "c", "h", "cpp", "md", "txt", "json", "yaml", "yml", "toml", "xml", "html", "css", "sql", "sh",
		"pdf", "csv", "docx", "xlsx", "pptx", "png", "jpg", "jpeg", "gif", "svg", "zip", "tar", "gz", "log", "conf", "ini", "lock", "mod", "sum", "proto", "tsx", "jsx", "rb", "php":
		return true
	}
	return false
}

// isDotted reports whether s is single letters with dots between them, such as "U.S".
func isDotted(s string) bool {
	for i := 1; i < len(s); i += 2 {
		if s[i] != '.' {
			return false
		}
	}
	return len(s)%2 == 1
}

// isErrorCode reports whether s is an error code: ERR-1042, E1042, EXC_403, 0x80070057.
func isErrorCode(s string) bool {
	if strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X") {
		return len(s) == 10
	}
	n := 0
	for n < len(s) && IsUpperByte(s[n]) {
		n++
	}
	switch s[:n] {
	case "E", "ERR", "ERROR", "EXC", "ORA", "SQLSTATE", "HTTP":
		return n < len(s) && isDigitByte(s[len(s)-1]) && len(s)-n >= 3
	}
	return false
}

// isTimestamp reports whether s is an ISO date followed by a time.
func isTimestamp(s string) bool {
	return len(s) > 11 && s[10] == 'T' && isNumericDate(s[:10])
}

// isNumericDate reports whether s has the form of a date in digits: y-m-d, y/m/d, d.m.y, d/m/y or y-m.
func isNumericDate(s string) bool {
	_, ok := parseNumericDate(s)
	return ok
}

func isAllUpper(s string) bool {
	for _, r := range s {
		if r >= 'a' && r <= 'z' {
			return false
		}
	}
	return true
}

func startsUpper(s string) bool {
	c := s[0]
	if c < utf8.RuneSelf {
		return IsUpperByte(c)
	}
	r, _ := utf8.DecodeRuneInString(s)
	return r != utf8.RuneError && unicode.IsUpper(r)
}
