package change

import (
	"cmp"
	"slices"
	"strings"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/language"
	"github.com/contextmem/contextmem/internal/lazyregexp"
	"github.com/contextmem/contextmem/internal/lexical"
	"github.com/contextmem/contextmem/internal/pipeline"
)

const maxCompared = 4000 // bytes of a chunk that are compared

// statement is what the user said in a chunk of a memory.
type statement struct {
	src     *backend.Source
	chunk   int64
	ordinal int
	user    string // name of the user whose memory it is; empty if unknown
	text    string // without speaker labels and the assistant's words
	speaker string
	before  string     // the text directly before it
	own     bool       // see Own
	talk    bool       // a message of a conversation, with an assistant or with a speaker before it
	head    string     // what is before a colon and may be the topic; empty: nothing
	behind  string     // the text behind head, with the colon
	topical *statement // see asNote; nil: the head is no topic
	aside   bool       // compared as a note alone
	vector  []float32  // nil if unknown
	like    float64    // inner product with the statement that it is compared with; 0 if unknown
	out     float64    // weighted standard deviations by which it is nearer than the others; see standOut
	clauses []clause

	looked, changes bool // see cued
	asked, guess    bool // see believed
	read            bool // see facts
	stated          []fact
	passed          bool // see plainFacts
	plain           []fact
	valued          bool // see attributes
	values          []attribute
	timed           bool // see events
	when            []event
	handed          bool // see owners
	owned           []owner
	offRead         bool // see bookingsOff
	bookings        []cancelled
	called          bool // see offs
	off             []event
	sought          bool // see resumptions
	resumed         []*clause
	corrRead        bool // see correcting
	corr            bool
	dropRead        bool // see droppings
	drop            []dropped
	movesRead       bool // see moves
	movers          []move
	goesRead        bool // see goings
	going           []resumption
	searched        bool // see shifts
	moved           []shift
	endRead         bool // see endings
	ended           []ending
}

// clause is a clause with cached results.
type clause struct {
	extract.Clause
	about map[string]bool // see terms
	does  *doing          // see do
}

// terms returns the index terms that say what a clause is about. The result is computed once.
func (c *clause) terms() map[string]bool {
	if c.about == nil {
		c.about = termsOf(c.Text)
	}
	return c.about
}

// assistants are the speaker names of assistants.
var assistants = map[string]bool{"assistant": true, "ai": true, "bot": true, "system": true}

// labels look like speaker names but are not.
var labels = words("update correction note edit ps reminder fyi todo memo warning")

// heads reports whether what looks like a speaker's name is the head of a note: several words of which one is in lower case, as in "New number:".
func heads(name string) bool {
	all := strings.Fields(name)
	return len(all) > 1 && slices.ContainsFunc(all, func(w string) bool { return w[0] >= 'a' && w[0] <= 'z' })
}

// speakerOf returns the speaker's name with which a text begins, empty if there is none.
func speakerOf(text string) string {
	name := pipeline.SpeakerOf(text)
	if name == "" || heads(name) || noted.MatchString(text[len(name):]) {
		return ""
	}
	return name
}

// noted matches what stands behind the head of a note and is only a value: "Rent: 850 a month".
var noted = lazyregexp.New(`(?i)^: *(?:[£$€+] ?)?\d[\d.,:/-]*(?: \S+){0,4}\.?$`)

// severalSpeak reports whether a text is a conversation of several people, with a label on each line.
// Such a text is about many things, and an ending or cancellation by one speaker may not be about another's.
func severalSpeak(text string) bool {
	var names []string
	turns := 0
	for line := range strings.SplitSeq(text, "\n") {
		name := strings.ToLower(speakerOf(line))
		if name == "" || name == "user" || assistants[name] || labels[name] {
			continue
		}
		if turns++; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return len(names) > 1 && turns > len(names) // a text with each name once is a list: "Car: Fiesta", "Phone: Pixel"
}

// read returns the user's statement in a chunk, nil if there is none.
func read(doc *item.Doc, src *backend.Source, c *backend.Chunk) *statement {
	if pipeline.IsInferred(c.Layout) {
		return nil
	}
	text := strings.TrimSpace(userText(doc, c.Text))
	if text == "" || !doc.Pairs && severalSpeak(c.Text) {
		return nil
	}
	s := &statement{src: src, chunk: c.Num, ordinal: c.Ordinal, user: doc.UserName, speaker: speaks(c), text: text, own: Own(doc, c), talk: talks(doc, c.Text)}
	if s.head = topicHead(doc, c.Text); s.head != "" {
		s.behind = c.Text[len(s.head):]
	}
	if labels[strings.ToLower(s.speaker)] || heads(s.speaker) {
		s.speaker = ""
	}
	return s
}

// talks reports whether a text is a message of a conversation: with an assistant, or with a speaker before it.
func talks(doc *item.Doc, text string) bool {
	speaker := strings.ToLower(speakerOf(text))
	return doc.Pairs || len(doc.Turns) > 0 || speaker != "" && !labels[speaker]
}

// Own reports whether the owner of a memory wrote a chunk or said it to an assistant.
// People who talk with each other answer and ask more than they tell, and so do a user's requests stored one by one without a name.
// Hints of change in such chunks are mostly wrong.
func Own(doc *item.Doc, c *backend.Chunk) bool {
	if doc.Pairs {
		return true
	}
	speaker := strings.ToLower(speakerOf(c.Text))
	return speaker == "" || labels[speaker] || speaker != "user" && speaker == strings.ToLower(doc.UserName)
}

// OwnText returns what the owner of a memory states in a chunk, and the owner's name. Both are empty if the chunk states nothing or is from somebody else.
func OwnText(doc *item.Doc, src *backend.Source, c *backend.Chunk) (text, speaker string) {
	s := read(doc, src, c)
	if s == nil || !s.own {
		return "", ""
	}
	return s.text, cmp.Or(s.user, s.speaker)
}

// userText returns the user's words in the text of a chunk.
func userText(doc *item.Doc, text string) string {
	if doc.Pairs {
		return userTurns(text)
	}
	if name := speakerOf(text); name != "" {
		if assistants[strings.ToLower(name)] {
			return ""
		}
		return cut(text[len(name)+1:])
	}
	return cut(text)
}

// userTurns returns the text behind the user's labels in a rendered conversation.
// Text before the first label is left out: it belongs to a turn of an earlier chunk, and its speaker is unknown.
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
	if len(s) > maxCompared {
		s = strings.ToValidUTF8(s[:maxCompared], "")
	}
	return s
}

// parse splits a statement into clauses, once.
func (s *statement) parse() []clause {
	if s.clauses == nil {
		s.clauses = []clause{}
		for _, c := range language.Clauses(s.text, language.ClauseOptions{}) {
			s.clauses = append(s.clauses, clause{Clause: c})
		}
	}
	return s.clauses
}

// termsOf returns the index terms that say what a text is about.
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

// assertsTruth reports whether a statement says that something is true. Plans, wishes, guesses, questions and quotes replace nothing yet.
func (s *statement) assertsTruth() bool {
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

// unsettled is the factor of a judge's probability for a statement that does not settle.
const unsettled = 0.3
