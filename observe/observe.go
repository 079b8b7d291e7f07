// Package observe is the contract between contextmem and observers of its work. A service sends a [Record] of each recall,
// each call that adds items and each batch of items that a worker processed. A record holds the durations of the stages.
package observe

import (
	"context"
	"time"
)

// Operations that are observed.
const (
	// Recall is a search. Its stages, in order:
	//
	//   - open: the tenant is opened, the scope resolved, the indexes brought up to date
	//   - rank: candidates from the dense and the keyword index, and from thinking mode
	//   - read: the candidates' rows are read
	//   - order: recency, apps, feedback, reranker
	//   - succeed: superseded memories are replaced by their successors
	//   - judge: relevance
	//   - context: passages, neighbours, related sources
	//   - graph, temporal, shape
	//
	// A stage that was not requested is left out. The observer in Options.Observer also gets the parts of rank, for each
	// searched sub-tenant and class. Parts may run at the same time:
	//
	//   - question: the query is tokenised, and an in-process embedder embeds it
	//   - embed: any other embedder embeds the query
	//   - survey: both indexes scan a small partition; larger ones have terms, keyword, vector and rest instead
	//   - rest: each index scores the candidates that only the other one found
	//   - fast: vectors of the fast embedder
	//   - fuse
	//   - memories only: around, sessions, context, late
	//   - knowledge only: entities, walk, bridge, feedback
	//
	// Stage order has the part rerank.
	Recall = "recall"
	// Accept is a call that adds items. Its stages: check (validate the request and build the items), store (make them durable).
	Accept = "accept"
	// Process is a batch of one tenant's items, processed by one worker. Its stages, in order:
	//
	//   - claim
	//   - parse: documents become text and chunks
	//   - embed
	//   - index: chunks and vectors are stored
	//   - follow: the search indexes are updated
	//   - extract: entities and facts
	//   - refine: vectors of a slow embedder, if few items wait
	//   - finish: graph and final states are stored
	//   - settle: the search indexes are updated again
	Process = "process"
)

// Stage is a timed part of an operation. Stages of an operation run one after another. Parts of a stage may run concurrently.
type Stage struct {
	Name string
	// Within names the stage that this part belongs to, which precedes it in Record.Stages. Empty: a stage of the operation.
	Within string
	Start  time.Time
	Took   time.Duration // total time, when the stage ran more than once
}

// Record describes a finished operation. It holds no content.
type Record struct {
	Operation string
	Start     time.Time
	Took      time.Duration
	Stages    []Stage // in order
	Err       error   // the operation's failure; nil: success

	Org, Tenant string   // Tenant is the id of a Recall or an Accept, the UID of a Process
	Mode        string   // Recall: the mode that ran, fast or thinking; text for an exact-words search
	Degraded    bool     // Recall: a part was left out; Result.Warnings says which
	Items       int      // Recall: hits; Accept: accepted items; Process: claimed items
	Completed   int      // Process: items that reached this state
	Errors      []string // Process: the error code of each failed item, such as E1002
	Retried     int      // Process: items returned to the queue for a retry
}

// Observer receives a record of each operation of a service. The goroutine that ran the operation calls Observe when the
// operation ends, so Observe must be fast and must not block. It must be safe for concurrent use and must not keep r or its
// stages. ctx is the call's context. For Process, ctx carries the context values of the first call in this process that
// added items of the batch, if there is one.
type Observer interface {
	Observe(ctx context.Context, r *Record)
}

// Laps measures the stages of an operation that runs in one goroutine. The zero Laps measures nothing until Begin is called.
type Laps struct {
	Record
	room [12]Stage
	last time.Duration // since Start
	on   bool
	// Detailed asks for the parts of stages as well.
	Detailed bool
	parts    []Stage // of the stage that ends next
}

// Begin starts the clock. If on is false, l measures nothing.
func (l *Laps) Begin(operation string, on bool) {
	if l.on = on; !on {
		return
	}
	l.Record = Record{Operation: operation, Start: time.Now(), Stages: l.room[:0]}
	l.last = 0
}

// Lap records a stage called name, which lasted from Begin or the previous lap until now.
func (l *Laps) Lap(name string) {
	if l == nil || !l.on {
		return
	}
	now := time.Since(l.Start) // reads one clock; time.Now reads two
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

// Again adds the time since the previous lap to the earlier stage called name. If there is no such stage, it records one, as Lap does.
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

// Skip excludes the time since the previous lap.
func (l *Laps) Skip() {
	if l != nil && l.on {
		l.last = time.Since(l.Start)
	}
}

// Clock returns the current time if parts of stages are measured, else the zero time.
func (l *Laps) Clock() (now time.Time) {
	if l.Details() {
		now = time.Now()
	}
	return now
}

// Part records a part of the stage that the next Lap ends. The part lasted from began, a value of Clock, until now.
func (l *Laps) Part(name string, began time.Time) {
	if l.Details() {
		l.parts = append(l.parts, Stage{Name: name, Start: began, Took: time.Since(began)})
	}
}

// Parts adds parts to the stage that the next Lap ends.
func (l *Laps) Parts(list []Stage) {
	if l.Details() {
		l.parts = append(l.parts, list...)
	}
}

// Details reports whether parts of stages are measured.
func (l *Laps) Details() bool { return l.On() && l.Detailed }

// On reports whether stages are measured.
func (l *Laps) On() bool { return l != nil && l.on }

// End sends the finished operation to o.
func (l *Laps) End(ctx context.Context, o Observer, err error) {
	if l == nil || !l.on || o == nil {
		return
	}
	l.Took, l.Err = time.Since(l.Start), err
	o.Observe(ctx, &l.Record)
}

// Several returns an observer that forwards records to each observer of a list. It skips nil observers and returns nil if none is left.
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
