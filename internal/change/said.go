package change

import (
	"cmp"
	"slices"
	"strings"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/language"
	"github.com/contextmem/contextmem/internal/lexical"
	"github.com/contextmem/contextmem/internal/pipeline"
)

const maxSaid = 4000 // bytes of a chunk that are compared

// said is what the user said in a chunk of a memory.
type said struct {
	src     *backend.Source
	chunk   int64
	ordinal int
	user    string // whose memory it is; empty: not known
	text    string // without labels, and without what the assistant said
	speaker string
	before  string    // what was said directly before
	own     bool      // see Own
	vector  []float32 // nil: not known
	like    float64   // how near it is to what it is compared with, 0 where that is not known
	out     float64   // by how many deviations nearer than the others; see standOut
	clauses []clause

	looked, changes bool // see cued
	asked, guess    bool // see believed
	read            bool // see facts
	stated          []fact
	valued          bool // see attributes
	values          []attribute
}

// clause is a clause with what was found out about it.
type clause struct {
	extract.Clause
	about map[string]bool // see terms
	does  *doing          // see do
}

// terms returns the terms of the keyword index that say what a clause is about. It looks once.
func (c *clause) terms() map[string]bool {
	if c.about == nil {
		c.about = termsOf(c.Text)
	}
	return c.about
}

// assistants are names under which assistants speak.
var assistants = map[string]bool{"assistant": true, "ai": true, "bot": true, "system": true}

// labels look like names of speakers and are none.
var labels = words("update correction note edit ps reminder fyi todo memo warning")

// severalSpeak reports whether a text is what several people said to each other, a labelled line each: it holds many matters, and what one of them ends, cancels or swaps may be nobody else's.
func severalSpeak(text string) bool {
	var names []string
	turns := 0
	for line := range strings.SplitSeq(text, "\n") {
		name := strings.ToLower(pipeline.SpeakerOf(line))
		if name == "" || name == "user" || assistants[name] || labels[name] {
			continue
		}
		if turns++; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return len(names) > 1 && turns > len(names) // each name once is a list: "Car: Fiesta", "Phone: Pixel"
}

// read returns what the user said in a chunk, nil where that is nothing.
func read(doc *item.Doc, src *backend.Source, c *backend.Chunk) *said {
	if pipeline.IsInferred(c.Layout) {
		return nil
	}
	text := strings.TrimSpace(userText(doc, c.Text))
	if text == "" || !doc.Pairs && severalSpeak(c.Text) {
		return nil
	}
	s := &said{src: src, chunk: c.Num, ordinal: c.Ordinal, user: doc.UserName, speaker: speaks(c), text: text, own: Own(doc, c)}
	if labels[strings.ToLower(s.speaker)] {
		s.speaker = ""
	}
	return s
}

// Own reports whether a chunk of a memory is what the one whose memory it is wrote or said to an assistant. Where several
// people talk with each other, or a user's requests are stored message by message without a name, they answer and ask more than they tell, and hints of
// change are mostly wrong.
func Own(doc *item.Doc, c *backend.Chunk) bool {
	if doc.Pairs {
		return true
	}
	speaker := strings.ToLower(pipeline.SpeakerOf(c.Text))
	return speaker == "" || labels[speaker] || speaker != "user" && speaker == strings.ToLower(doc.UserName)
}

// Told returns what the one whose memory it is tells in a chunk, and the name of who that is; empty where nothing is told, or it is another's.
func Told(doc *item.Doc, src *backend.Source, c *backend.Chunk) (text, speaker string) {
	s := read(doc, src, c)
	if s == nil || !s.own {
		return "", ""
	}
	return s.text, cmp.Or(s.user, s.speaker)
}

// userText returns the words of the user in the text of a chunk.
func userText(doc *item.Doc, text string) string {
	if doc.Pairs {
		return userTurns(text)
	}
	if name := pipeline.SpeakerOf(text); name != "" {
		if assistants[strings.ToLower(name)] {
			return ""
		}
		return cut(text[len(name)+1:])
	}
	return cut(text)
}

// userTurns returns what stands behind the label of the user in a rendered conversation. What stands before the first
// label belongs to a turn that began in an earlier chunk, and nobody knows whose it is.
func userTurns(text string) string {
	var b strings.Builder
	user := false
	for line := range strings.SplitSeq(text, "\n") {
		if rest, ok := strings.CutPrefix(line, "user: "); ok {
			user, line = true, rest
		} else if strings.HasPrefix(line, "assistant: ") {
			user = false
		}
		if user {
			b.WriteString(line)
			b.WriteByte('\n')
		}
	}
	return cut(b.String())
}

func cut(s string) string {
	if len(s) > maxSaid {
		s = strings.ToValidUTF8(s[:maxSaid], "")
	}
	return s
}

// parse divides what was said into clauses, once.
func (s *said) parse() []clause {
	if s.clauses == nil {
		s.clauses = []clause{}
		for _, c := range language.Clauses(s.text, language.ClauseOptions{}) {
			s.clauses = append(s.clauses, clause{Clause: c})
		}
	}
	return s.clauses
}

// termsOf returns the terms of a text that say what it is about.
func termsOf(text string) map[string]bool {
	out := map[string]bool{}
	for _, t := range lexical.Analyze(nil, text) {
		word := strings.ToLower(text[t.Start:t.End])
		if !lexical.IsQuestionWord(word) && !cueWords[word] && !cueWords[t.Term] {
			out[t.Term] = true
		}
	}
	return out
}

// settles reports whether a statement says something that is so: what is planned, wished, guessed, asked or quoted replaces
// nothing yet.
func (s *said) settles() bool {
	all := s.parse()
	for i := range all {
		switch all[i].Mode {
		case extract.ModeHypothetical, extract.ModeQuestion, extract.ModeQuote, extract.ModeJoke, extract.ModeFiction, extract.ModePlan, extract.ModeWish, extract.ModeInstruction:
		default:
			return true
		}
	}
	return len(all) == 0
}

// unsettled is what a judge's probability counts for where a statement settles nothing.
const unsettled = 0.3
