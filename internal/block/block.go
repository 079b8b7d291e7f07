package block

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/contextmem/contextmem/facts"
)

// Entry is a candidate text for a block.
type Entry struct {
	Source     string    // id of the source
	Title      string    // title of the source; empty if it has none of its own
	Time       time.Time // when the text was stated; zero: unknown
	Text       string
	Superseded string // why the text is no longer valid; empty: it is valid
	ToldLater  bool   // it was told after the time that was asked about
}

// minCut is the smallest number of tokens to which a text is cut. A shorter piece would carry no information.
const minCut = 24

// Build joins entries, best first, into a text of at most most tokens. Each entry has a line with its number, date and title,
// and its text below. The lines of lead come first; a line that does not fit is left out. The first entry that does not fit is
// cut at a word, if at least minCut tokens remain. Later entries that fit are still included.
func Build(lead []string, entries []Entry, most int) facts.Block {
	var b strings.Builder
	var out facts.Block
	add := func(text string) {
		b.WriteString(text)
		out.Tokens += Tokens(text)
	}
	for _, l := range lead {
		if l += "\n"; out.Tokens+Tokens(l) <= most {
			add(l)
		}
	}
	cut := false
	for _, e := range entries {
		head := e.head(len(out.Sources) + 1)
		text := head + strings.TrimSpace(e.Text) + "\n"
		if out.Tokens+Tokens(text) > most {
			room := most - out.Tokens - Tokens(head) - 2
			if short := prefix(strings.TrimSpace(e.Text), room); !cut && room >= minCut && short != "" {
				cut = true
				text = head + short + "…\n"
			} else {
				out.Dropped = append(out.Dropped, facts.Dropped{SourceID: e.Source, Tokens: Tokens(text)})
				continue
			}
		}
		out.Sources = append(out.Sources, e.Source)
		add(text)
	}
	out.Text = b.String()
	return out
}

// head returns the line above the text of an entry.
func (e *Entry) head(n int) string {
	var b strings.Builder
	b.WriteString("[" + strconv.Itoa(n) + "]")
	if !e.Time.IsZero() {
		b.WriteString(" " + e.Time.Format(time.DateOnly))
	}
	if e.Title != "" {
		b.WriteString(" " + strings.Join(strings.Fields(e.Title), " "))
	}
	if e.Superseded != "" {
		b.WriteString(" (" + e.Superseded + ")")
	}
	if e.ToldLater {
		b.WriteString(" (told later, may not have been true then)")
	}
	b.WriteByte('\n')
	return b.String()
}

// prefix returns the longest prefix of text with at most most tokens. The prefix ends before a space, or before a character of
// a script without spaces.
func prefix(text string, most int) string {
	lo, hi := 0, len(text)
	for lo < hi { // binary search for the largest number of bytes that fits: Tokens rises with the length
		mid := (lo + hi + 1) / 2
		if Tokens(text[:mid]) <= most {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	for lo > 0 && lo < len(text) && !utf8.RuneStart(text[lo]) {
		lo--
	}
	if lo < len(text) {
		if space := strings.LastIndexAny(text[:lo], " \n\t"); space > lo/2 {
			lo = space
		}
	}
	return strings.TrimSpace(text[:lo])
}

// OwnTitle returns the title of a source, or "" if the title only repeats the beginning of the text, as a default title does.
func OwnTitle(title, text string) string {
	short := strings.Join(strings.Fields(strings.TrimRight(title, " .…")), " ")
	if strings.HasPrefix(strings.Join(strings.Fields(text), " "), short) {
		return ""
	}
	return title
}

// Notice returns a note about a text that is no longer valid, or a part of it: since when, and which memory replaced or retracted it.
func Notice(by *facts.Supersession, since time.Time, retracted bool) string {
	what, part := "superseded", ""
	if retracted {
		what = "taken back"
	}
	if by.Partly {
		since, part = by.Time, ", only "+strconv.Quote(by.Matter)
	}
	return what + " " + since.Format(time.DateOnly) + " by " + by.ID + part
}
