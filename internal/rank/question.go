package rank

import (
	"context"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/language"
	"github.com/contextmem/contextmem/internal/lexical"
)

// Question is a text that is asked of partitions. It is read once for all of them. It is
// safe for concurrent use.
type Question struct {
	text string
	cues language.Cues

	embedder Embedder
	memories *Question // the same for Engine.Memories
	read     bool      // vec is there from the start
	embedded sync.Once
	vec      []float32
	room     []float32 // of the vector that was read last
	err      error

	coverage float64
	fast     *Question // the same for Engine.Fast

	split sync.Once
	lower []string

	cut     sync.Once
	subject string // see language.Subject
	code    string // the language that it tells
}

// Ask reads a question; now resolves its relative dates. Memories need the cues of times,
// knowledge grams, and a mode or an alpha that is chosen from the question the rest.
func (e *Engine) Ask(text string, now time.Time, kinds language.CueKind) *Question {
	return e.AskIn(new(Question), text, now, kinds)
}

// AskIn is Ask in the memory of a question that nobody uses any more.
func (e *Engine) AskIn(a *Question, text string, now time.Time, kinds language.CueKind) *Question {
	e.ask(a, text, language.SomeCues(text, now, kinds))
	return a
}

// Forget lets go of what was asked; the next question may be asked in the memory.
func (a *Question) Forget() { *a = Question{room: a.room} }

func (e *Engine) ask(a *Question, text string, cues language.Cues) {
	*a = Question{text: text, embedder: e.Embedder, coverage: 1, cues: cues, room: a.room}
	if e.Memories != nil {
		a.memories = &Question{text: text, embedder: e.Memories.Embedder}
	}
	if e.Fast != nil {
		a.fast = new(Question)
		e.Fast.ask(a.fast, text, cues)
	}
	switch {
	case e.Read != nil:
		a.read = true
		a.vec, a.coverage = e.Read(a.room[:0], text)
		a.room = a.vec
	case e.Coverage != nil:
		a.coverage = e.Coverage(text)
	}
}

// Cues are what the words of the question say; nobody may change them.
func (a *Question) Cues() *language.Cues { return &a.cues }

// Vector returns the vector by which memories are asked, as the embedder gives it, which nobody may change. Its error is that of the first call.
func (a *Question) Vector(ctx context.Context) ([]float32, error) {
	return a.of(backend.Memory).embed(ctx)
}

// words returns the words of the question in lower case.
func (a *Question) words() []string {
	a.split.Do(func() { a.lower = words(a.text) })
	return a.lower
}

// words is the text whose words are looked for. Beside an embedder that knows what its scores mean, words that carry the form of a question only
// add noise; without one they tell at least whether the user speaks.
func (q *work) words() string {
	a := q.asked
	if q.Unrelated == nil || q.w == 0 {
		return a.text
	}
	a.takeApart()
	return a.subject
}

// takeApart takes the question apart, once.
func (a *Question) takeApart() {
	a.cut.Do(func() { a.subject, a.code = language.Subject(a.text) })
}

// manner is how many times the BM25 scores of a question's language lie above those of English: its words are hardly told from those that
// carry form, pairs of characters overlap, and stems come on top.
func (a *Question) manner() float64 {
	a.takeApart()
	switch {
	case a.code == "" || a.code == "en":
		return 1
	case lexical.HasStems(a.code):
		return foreignKeyword * stemKeyword
	}
	return foreignKeyword
}

// of returns what is asked of partitions of a class: its vector is by the embedder of these.
func (a *Question) of(class backend.Class) *Question {
	if a.memories != nil && class == backend.Memory {
		return a.memories
	}
	return a
}

// embed returns the vector of the question, the error being that of the first call.
func (a *Question) embed(ctx context.Context) ([]float32, error) {
	if a.read {
		return a.vec, ctx.Err()
	}
	a.embedded.Do(func() { a.vec, a.err = a.embedder.EmbedQuery(ctx, a.text) })
	return a.vec, a.err
}
