package rank

import (
	"context"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/language"
	"github.com/contextmem/contextmem/internal/lexical"
)

// Question is the text of a recall, analysed and embedded once for all partitions. It is safe
// for concurrent use.
type Question struct {
	text string
	cues language.Cues

	embedder Embedder
	memories *Question // the question for Engine.Memories
	read     bool      // Engine.Read has set vec
	embedded sync.Once
	vec      []float32
	room     []float32 // memory for the vector that Engine.Read appends to
	err      error

	coverage float64
	fast     *Question // the question for Engine.Fast

	split sync.Once
	lower []string

	cut     sync.Once
	subject string // see language.Subject
	code    string // ISO 639-1 code of its language; empty: not recognised
}

// Ask returns a question. now resolves its relative dates. kinds are the cues to find: memories
// need those of times, knowledge needs grams, and automatic mode or alpha need the rest.
func (e *Engine) Ask(text string, now time.Time, kinds language.CueKind) *Question {
	return e.AskIn(new(Question), text, now, kinds)
}

// AskIn is Ask in the memory of a question on which Forget was called.
func (e *Engine) AskIn(a *Question, text string, now time.Time, kinds language.CueKind) *Question {
	e.ask(a, text, language.SomeCues(text, now, kinds))
	return a
}

// Forget clears the question. It may then be passed to AskIn.
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

// Cues returns the cues of the question. The caller must not change them.
func (a *Question) Cues() *language.Cues { return &a.cues }

// Vector returns the embedder's vector for searching memories. The caller must not change it. All calls return the error of the first one.
func (a *Question) Vector(ctx context.Context) ([]float32, error) {
	return a.of(backend.Memory).embed(ctx)
}

// words returns the words of the question in lower case.
func (a *Question) words() []string {
	a.split.Do(func() { a.lower = words(a.text) })
	return a.lower
}

// words returns the text for the keyword search. For an embedder with calibrated scores it leaves out question words, which only add noise.
// For others it keeps them, since they help to recognise the user's own messages.
func (q *work) words() string {
	a := q.asked
	if q.Unrelated == nil || q.w == 0 {
		return a.text
	}
	a.readForm()
	return a.subject
}

// readForm sets subject and code in its first call.
func (a *Question) readForm() {
	a.cut.Do(func() { a.subject, a.code = language.Subject(a.text) })
}

// keywordScale returns the factor by which BM25 scores in the question's language exceed those in English. They are higher because fewer
// question words are left out, pairs of characters overlap, and stems are searched too.
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

// of returns the question for partitions of a class, which has the vector of their embedder.
func (a *Question) of(class backend.Class) *Question {
	if a.memories != nil && class == backend.Memory {
		return a.memories
	}
	return a
}

// embed returns the vector of the question. All calls return the error of the first one.
func (a *Question) embed(ctx context.Context) ([]float32, error) {
	if a.read {
		return a.vec, ctx.Err()
	}
	a.embedded.Do(func() { a.vec, a.err = a.embedder.EmbedQuery(ctx, a.text) })
	return a.vec, a.err
}
