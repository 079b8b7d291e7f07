// Package observe is the contract between contextmem and whoever watches it work: a [Record] of each recall, of each call that adds
// items, and of each batch of items that a worker processed, with how long its stages took.
package observe

import (
	"context"
	"time"
)

// Operations that are observed.
const (
	// Recall is a search. Its stages: open (the tenant, what is searched, the indexes brought up to date), rank (candidates of the
	// dense and the keyword index, and what thinking adds), read (their rows), order (recency, apps, feedback, reranker), succeed
	// (what took the place of what), judge (relevance), context (passages, neighbours, related sources), graph, temporal, shape.
	// A stage that was not asked for is left out. An observer of Options.Observer also gets the parts of rank, for each sub-tenant and
	// class that is searched, some of them at once: question (its words are read, an embedder in this process makes its vector), embed (by
	// another embedder), survey (both indexes over a small partition) or terms, keyword, vector and rest (which scores with one index what
	// the other found), fast (vectors of the fast embedder), fuse, and then of memories around, sessions, context and late, of knowledge
	// entities, walk, bridge and feedback; and of order rerank.
	Recall = "recall"
	// Accept is a call that adds items. Its stages: check (the request is checked and turned into items), store (they are made durable).
	Accept = "accept"
	// Process is a batch of items of one tenant in the hands of a worker. Its stages: claim, parse (documents to text and chunks),
	// embed, index (chunks and vectors are stored), follow (the search indexes take them up), extract (entities and facts), refine
	// (vectors of a slow embedder, where few items wait), finish (graph and final states are stored), settle (indexes take those up).
	Process = "process"
)

// Stage is a part of an operation. Stages of operations follow one another; parts of a stage may run at once.
type Stage struct {
	Name string
	// Within is the stage that it is a part of, which comes before it in Record.Stages; empty: of the operation itself.
	Within string
	Start  time.Time
	Took   time.Duration // of one that comes again and again: of all of it
}

// Record is an operation that has ended. It holds no content.
type Record struct {
	Operation string
	Start     time.Time
	Took      time.Duration
	Stages    []Stage // in order
	Err       error   // why it failed; nil: it did not

	Org, Tenant string   // Tenant is the id of a Recall or an Accept, the UID of a Process
	Mode        string   // Recall: fast or thinking, as it ran; text of one for exact words
	Degraded    bool     // Recall: a part was left out, as Result.Warnings says
	Items       int      // Recall: hits; Accept: accepted items; Process: claimed items
	Completed   int      // Process: items that reached this state
	Errors      []string // Process: the code of each item that ended errored, such as E1002
	Retried     int      // Process: items given back to be tried again
}

// Observer is told what a service did. Observe is called by the goroutine that did it, when it is done, so it must be fast and must not
// block; it must be safe for concurrent use, and must not keep r or its stages. ctx is that of the call; for Process it carries the values of the ctx
// of a call that added items of the batch, if one of this process did: with several such calls those of the first.
type Observer interface {
	Observe(ctx context.Context, r *Record)
}

// Laps measures the stages of an operation that runs in one goroutine. The zero Laps measures nothing until Begin.
type Laps struct {
	Record
	room [12]Stage
	last time.Duration // since Start
	on   bool
	// Detailed asks for the parts of stages too.
	Detailed bool
	parts    []Stage // of the stage that ends next
}

// Begin starts the clock. on false: nothing is measured.
func (l *Laps) Begin(operation string, on bool) {
	if l.on = on; !on {
		return
	}
	l.Record = Record{Operation: operation, Start: time.Now(), Stages: l.room[:0]}
	l.last = 0
}

// Lap ends a stage: what happened since Begin or the lap before is called name.
func (l *Laps) Lap(name string) {
	if l == nil || !l.on {
		return
	}
	now := time.Since(l.Start) // reads one clock, time.Now two
	l.Stages = append(l.Stages, Stage{Name: name, Start: l.Start.Add(l.last), Took: now - l.last})
	l.last = now
	if len(l.parts) > 0 {
		for i := range l.parts {
			l.parts[i].Within = name
		}
		l.Stages = append(l.Stages, l.parts...)
		l.parts = l.parts[:0]
	}
}

// Again adds what happened since the lap before to the stage name, which ended before; else it is Lap.
func (l *Laps) Again(name string) {
	if l == nil || !l.on {
		return
	}
	for i := range l.Stages {
		if s := &l.Stages[i]; s.Name == name && s.Within == "" {
			now := time.Since(l.Start)
			s.Took += now - l.last
			l.last = now
			return
		}
	}
	l.Lap(name)
}

// Skip leaves the time since the lap before out.
func (l *Laps) Skip() {
	if l != nil && l.on {
		l.last = time.Since(l.Start)
	}
}

// Clock is the time where parts of stages are measured.
func (l *Laps) Clock() (now time.Time) {
	if l.Details() {
		now = time.Now()
	}
	return now
}

// Part notes a part of the stage that the next Lap ends: it began at what Clock said then, and ends now.
func (l *Laps) Part(name string, began time.Time) {
	if l.Details() {
		l.parts = append(l.parts, Stage{Name: name, Start: began, Took: time.Since(began)})
	}
}

// Parts notes parts of the stage that the next Lap ends.
func (l *Laps) Parts(list []Stage) {
	if l.Details() {
		l.parts = append(l.parts, list...)
	}
}

// Details reports whether parts of stages are measured.
func (l *Laps) Details() bool { return l.On() && l.Detailed }

// On reports whether something is measured.
func (l *Laps) On() bool { return l != nil && l.on }

// End tells o of the operation.
func (l *Laps) End(ctx context.Context, o Observer, err error) {
	if l == nil || !l.on || o == nil {
		return
	}
	l.Took, l.Err = time.Since(l.Start), err
	o.Observe(ctx, &l.Record)
}

// Several is an observer that tells each of a list; nil ones are left out. It is nil where none is left.
func Several(list ...Observer) Observer {
	var out several
	for _, o := range list {
		if o != nil {
			out = append(out, o)
		}
	}
	switch len(out) {
	case 0:
		return nil
	case 1:
		return out[0]
	}
	return out
}

type several []Observer

// Observe implements Observer.
func (s several) Observe(ctx context.Context, r *Record) {
	for _, o := range s {
		o.Observe(ctx, r)
	}
}
