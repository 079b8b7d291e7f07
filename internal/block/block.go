package block

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/contextmem/contextmem/facts"
)

// Entry is a text that may go into a block.
type Entry struct {
	Source     string    // id of what it is from
	Title      string    // of the source; empty: none of its own
	Time       time.Time // when it was said; zero: unknown
	Text       string
	Superseded string // why it holds no longer, empty: it does
}

// minCut is the fewest tokens to which a text is cut that does not fit as a whole: less says nothing.
const minCut = 24

// Build puts entries, best first, into a text of at most most tokens: a line with number, date and title each, and the text below it. lead comes first and is left out where it alone does not fit. The first entry that does not fit
// is cut at a word, where that leaves enough of it; later ones that do fit still come in.
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

// head is the line above the text of an entry.
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
	b.WriteByte('\n')
	return b.String()
}

// prefix is the longest beginning of a text of at most most tokens that ends before a space, or before a character of a script without them.
func prefix(text string, most int) string {
	lo, hi := 0, len(text)
	for lo < hi { // the most bytes that fit: Tokens rises with the text
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

// OwnTitle is the title of a source unless it is only the beginning of a text, as sources without one get.
func OwnTitle(title, text string) string {
	short := strings.Join(strings.Fields(strings.TrimRight(title, " .…")), " ")
	if strings.HasPrefix(strings.Join(strings.Fields(text), " "), short) {
		return ""
	}
	return title
}

// Notice says of a text that holds no longer since when, and which memory took its place or took it back.
func Notice(by string, since time.Time, retracted bool) string {
	if retracted {
		return "taken back " + since.Format(time.DateOnly) + " by " + by
	}
	return "superseded " + since.Format(time.DateOnly) + " by " + by
}
