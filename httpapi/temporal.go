package httpapi

import (
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/wire"
)

// temporalFilter tells how dates took part in a query.
type temporalFilter struct {
	Applied   bool   `json:"applied"`
	Scope     int    `json:"chunk_scope"`
	Degraded  bool   `json:"degraded"`
	Matched   int    `json:"matched_facts"`
	Mode      string `json:"mode"`
	Promoted  int    `json:"promoted"`
	ScopeName string `json:"scope"`
	Truncated bool   `json:"truncated"`
}

// temporalBody are the members of an answer that speak of dated facts.
type temporalBody struct {
	Duration *durationBody  `json:"temporal_duration,omitempty"`
	Facts    []factBody     `json:"temporal_facts"`
	Filter   temporalFilter `json:"temporal_filter"`
}

func temporalJSON(t *contextmem.TemporalResult, chunks int) *temporalBody {
	b := &temporalBody{Facts: factsJSON(t.Facts), Filter: temporalFilter{t.Applied, chunks, t.Degraded, len(t.Facts), t.Mode, 0, "", t.Truncated}}
	if t.Duration != nil {
		b.Duration = durationJSON(t.Duration)
	}
	return b
}

// factBody is a dated fact. Its times are seconds, null where they are unknown.
type factBody struct {
	ChunkID    string `json:"chunk_id"`
	Precision  string `json:"date_precision"`
	End        *int64 `json:"event_end"`
	Start      *int64 `json:"event_start"`
	Phrase     string `json:"evidence_phrase"`
	Type       string `json:"fact_type"`
	Object     string `json:"object"`
	Relation   string `json:"relation"`
	RelationID string `json:"relationship_id"`
	SourceID   string `json:"source_id"`
	Status     string `json:"status"`
	Subject    string `json:"subject"`
}

func epoch(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	n := t.Unix()
	return &n
}

func factJSON(f *contextmem.TemporalFact) factBody {
	return factBody{f.ChunkID, f.Precision, epoch(f.End), epoch(f.Start), f.Phrase, f.Type, f.Object, f.Relation, f.RelationID, f.SourceID, f.Status, f.Subject}
}

func factsJSON(fs []contextmem.TemporalFact) []factBody {
	out := make([]factBody, len(fs))
	for i := range fs {
		out[i] = factJSON(&fs[i])
	}
	return out
}

// durationBody is a span between facts; an end that is now has no fact.
type durationBody struct {
	Approximate bool      `json:"approximate"`
	Days        int       `json:"days"`
	From        *factBody `json:"from,omitempty"`
	FromDate    string    `json:"from_date"`
	Confidence  float64   `json:"pairing_confidence"`
	To          *factBody `json:"to,omitempty"`
	ToDate      string    `json:"to_date"`
}

func durationJSON(d *contextmem.TemporalDuration) *durationBody {
	b := &durationBody{Approximate: d.Approximate, Days: d.Days, FromDate: wire.Time(d.FromDate), Confidence: d.Confidence, ToDate: wire.Time(d.ToDate)}
	if d.From != nil {
		f := factJSON(d.From)
		b.From = &f
	}
	if d.To != nil {
		f := factJSON(d.To)
		b.To = &f
	}
	return b
}
