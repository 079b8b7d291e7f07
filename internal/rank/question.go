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
	code    string // ISO 639-1, of its language; empty: not recognised
}

// Ask reads a question; now resolves its relative dates. Memories need the cues of times,
// knowledge grams, and a mode or an alpha that is chosen from the question the rest.
func (e *Engine) Ask(text string, now time.Time, kinds language.CueKind) *Question {
	return e.AskIn(new(Question), text, now, kinds)
}

// AskIn is Ask in the memory of a question that is no longer used.
func (e *Engine) AskIn(a *Question, text string, now time.Time, kinds language.CueKind) *Question {
	e.ask(a, text, language.SomeCues(text, now, kinds))
	return a
}

// Forget drops the question; its memory may be passed to AskIn.
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

// Cues are what the words of the question say. They must not be changed.
func (a *Question) Cues() *language.Cues { return &a.cues }

// Vector returns the vector by which memories are asked, as the embedder gives it. It must not be changed. Its error is that of the first call.
func (a *Question) Vector(ctx context.Context) ([]float32, error) {
	return a.of(backend.Memory).embed(ctx)
}

// words returns the words of the question in lower case.
func (a *Question) words() []string {
	a.split.Do(func() { a.lower = words(a.text) })
	return a.lower
}

// words returns the text whose words are looked for. Beside an embedder with calibrated scores, words that carry the form of a question only
// add noise; without one they at least show whether the user speaks.
func (q *work) words() string {
	a := q.asked
	if q.Unrelated == nil || q.w == 0 {
		return a.text
	}
	a.readForm()
	return a.subject
}

// readForm sets subject and code, once.
func (a *Question) readForm() {
	a.cut.Do(func() { a.subject, a.code = language.Subject(a.text) })
}

// keywordScale returns the factor by which the BM25 scores of a question's language exceed those of English: the words that carry form are
// not left out as well, pairs of characters overlap, and stems are added to words.
func (a *Question) keywordScale() float64 {
	a.readForm()
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
