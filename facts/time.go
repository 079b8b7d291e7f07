package facts

import (
	"time"

	"github.com/contextmem/contextmem/content"
)

// Temporal asks for dated facts beside the chunks; it never changes their ranking.
type Temporal struct {
	Now    time.Time // anchors "today" and durations; zero: the clock
	Mode   string    // current, as_of, range, upcoming; anything else: from the query
	Start  time.Time // of the window
	End    time.Time // of the window, or the moment for as_of
	Events []string  // phrases whose facts are wanted
	// DurationToNow asks for the span from a fact until Now, whatever the query's words are.
	DurationToNow bool
}

// TemporalFact is a dated statement.
type TemporalFact struct {
	Subject, Relation, Object string
	Type                      string // fact kind
	Status                    string // current, past, upcoming, superseded
	Start, End                time.Time
	Precision                 string // day, month, year
	Phrase                    string // the words that date it
	ChunkID, SourceID         string
	RelationID                string
}

// TemporalDuration is the time between two dated facts, or between one and now; nil means now.
type TemporalDuration struct {
	Days             int           // whole days, rounded
	From, To         *TemporalFact // at FromDate and ToDate
	FromDate, ToDate time.Time     // FromDate is never after ToDate
	Approximate      bool          // an end is known to the month or year only
	Confidence       float64       // share of a fact's words that the question has, 0 to 1
}

// TemporalResult is the temporal side of a recall.
type TemporalResult struct {
	Facts     []TemporalFact
	Duration  *TemporalDuration
	Mode      string // current, as_of, range, upcoming, none
	Applied   bool   // Mode is not "none": facts were chosen by time
	Truncated bool
	Degraded  bool // the lookup failed, so absence proves nothing
}

// Supersession describes the memory that supersedes another, and how that was found.
type Supersession struct {
	ID         string    // of the superseding memory
	Time       time.Time // time at which the superseding memory was stated
	Confidence float64   // probability that this is right, in [0,1]
	Matter     string    // the words that are no longer true; empty: all of them
	Evidence   string    // the words that show the supersession, or the reason given to Supersede
	Decider    string    // "rules: ...", "judge: " with its model, or "caller"
	Partly     bool      // only Matter no longer holds: the memory says something else that still does
}

// ConflictsRequest asks for pairs of memories that could not be decided.
type ConflictsRequest struct {
	Principals []string // only pairs whose memories one of these may both see; empty: no access control
	After      int64    // only with an ID above; 0: from the first
	Limit      int      // 1 to 1000; default 100
}

// ConflictPage is a list of conflicts, by ID.
type ConflictPage struct {
	Conflicts []Conflict
	Warnings  []content.Warning // what the list lacks: rows that are damaged (code "damaged")
}

// Conflict is a pair of memories of which the later one may supersede the earlier. The confidence is too low to treat it as a
// supersession. Supersede or Restore decides it.
type Conflict struct {
	ID             int64   // rises with the time at which it was found
	Earlier, Later string  // ids of memories
	Confidence     float64 // that it did, in [0,1]
	Matter         string  // the words of Earlier that may no longer be true; empty: all of them
	Evidence       string  // the words of Later that may show the supersession
	Decider        string  // see Supersession
}
