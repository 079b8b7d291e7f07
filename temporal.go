package contextmem

import (
	"time"

	"github.com/contextmem/contextmem/internal/recall"
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

// TemporalDuration is a span between two dated facts, or one and now; nil stands for now.
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

func shapeTemporal(found *recall.Dated) *TemporalResult {
	out := &TemporalResult{Facts: make([]TemporalFact, len(found.Facts)), Mode: found.Mode, Applied: found.Applied, Truncated: found.Truncated, Degraded: found.Degraded}
	for i := range found.Facts {
		out.Facts[i] = TemporalFact(found.Facts[i])
	}
	if d := found.Duration; d != nil {
		out.Duration = &TemporalDuration{Days: d.Days, From: (*TemporalFact)(d.From), To: (*TemporalFact)(d.To), FromDate: d.FromDate, ToDate: d.ToDate,
			Approximate: d.Approximate, Confidence: d.Confidence}
	}
	return out
}
