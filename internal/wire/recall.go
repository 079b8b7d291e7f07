package wire

import (
	"encoding/json"
	"time"

	"github.com/contextmem/contextmem/facts"
)

// Entity is a node of the graph.
type Entity struct {
	Name       string  `json:"name"`
	Type       string  `json:"type"`
	Namespace  string  `json:"namespace"`
	ID         string  `json:"entity_id"`
	Identifier *string `json:"identifier"`
	Provider   string  `json:"provider"`
}

// OfEntity converts an entity to its JSON form, which lacks Mentions.
func OfEntity(e *facts.Entity) Entity {
	return Entity{e.Name, e.Type, e.Namespace, e.ID, Null(e.Identifier), e.Provider}
}

// Entity converts the JSON form to an entity.
func (e *Entity) Entity() facts.Entity {
	return facts.Entity{ID: e.ID, Name: e.Name, Type: e.Type, Namespace: e.Namespace, Identifier: Text(e.Identifier), Provider: e.Provider}
}

// Score is a number that is written with the precision of a float32.
type Score float64

// MarshalJSON implements json.Marshaler.
func (s Score) MarshalJSON() ([]byte, error) { return json.Marshal(float32(s)) }

// Evidence is the JSON form of an edge of the graph.
type Evidence struct {
	Canonical  string  `json:"canonical_predicate"`
	Raw        string  `json:"raw_predicate"`
	Context    string  `json:"context"`
	Confidence Score   `json:"confidence"`
	Temporal   *string `json:"temporal_details"`
	Timestamp  string  `json:"timestamp"`
	ID         string  `json:"relationship_id"`
	ChunkID    string  `json:"chunk_id"`
	SourceID   *string `json:"source_entity_id"`
	TargetID   *string `json:"target_entity_id"`
	Origin     string  `json:"origin,omitempty"`
	ToldLater  bool    `json:"told_later,omitempty"`
}

// OfEvidence converts evidence to its JSON form, which lacks the period in which it holds and whether it still does.
func OfEvidence(e *facts.Evidence) Evidence {
	return Evidence{e.Canonical, e.Raw, e.Context, Score(e.Confidence), Null(e.Temporal), Time(e.Timestamp), e.ID, e.ChunkID, Null(e.SourceID), Null(e.TargetID), e.Origin, e.ToldLater}
}

// Evidence converts the JSON form to evidence.
func (e *Evidence) Evidence() facts.Evidence {
	return facts.Evidence{ID: e.ID, Canonical: e.Canonical, Raw: e.Raw, Context: e.Context, Confidence: float64(e.Confidence), Temporal: Text(e.Temporal),
		Timestamp: ReadTime(e.Timestamp), ChunkID: e.ChunkID, SourceID: Text(e.SourceID), TargetID: Text(e.TargetID), Origin: e.Origin, ToldLater: e.ToldLater}
}

// DatedFact is the JSON form of a dated fact. Its times are Unix seconds, null if unknown.
type DatedFact struct {
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

// OfDatedFact converts a dated fact to its JSON form.
func OfDatedFact(f *facts.TemporalFact) DatedFact {
	return DatedFact{f.ChunkID, f.Precision, epoch(f.End), epoch(f.Start), f.Phrase, f.Type, f.Object, f.Relation, f.RelationID, f.SourceID, f.Status, f.Subject}
}

// Fact converts the JSON form to a dated fact.
func (f *DatedFact) Fact() facts.TemporalFact {
	return facts.TemporalFact{Subject: f.Subject, Relation: f.Relation, Object: f.Object, Type: f.Type, Status: f.Status, Start: readEpoch(f.Start), End: readEpoch(f.End),
		Precision: f.Precision, Phrase: f.Phrase, ChunkID: f.ChunkID, SourceID: f.SourceID, RelationID: f.RelationID}
}

func epoch(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	n := t.Unix()
	return &n
}

func readEpoch(n *int64) time.Time {
	if n == nil {
		return time.Time{}
	}
	return time.Unix(*n, 0).UTC()
}

// Duration is the JSON form of the time between facts. An end at the present has no fact.
type Duration struct {
	Approximate bool       `json:"approximate"`
	Days        int        `json:"days"`
	From        *DatedFact `json:"from,omitempty"`
	FromDate    string     `json:"from_date"`
	Confidence  float64    `json:"pairing_confidence"`
	To          *DatedFact `json:"to,omitempty"`
	ToDate      string     `json:"to_date"`
}

func ofDuration(d *facts.TemporalDuration) *Duration {
	if d == nil {
		return nil
	}
	return &Duration{d.Approximate, d.Days, optional(d.From, OfDatedFact), Time(d.FromDate), d.Confidence, optional(d.To, OfDatedFact), Time(d.ToDate)}
}

func (d *Duration) duration() *facts.TemporalDuration {
	if d == nil {
		return nil
	}
	return &facts.TemporalDuration{Days: d.Days, From: optional(d.From, (*DatedFact).Fact), To: optional(d.To, (*DatedFact).Fact), FromDate: ReadTime(d.FromDate), ToDate: ReadTime(d.ToDate),
		Approximate: d.Approximate, Confidence: d.Confidence}
}

// TemporalFilter says how dates affected a query.
type TemporalFilter struct {
	Applied   bool   `json:"applied"`
	Scope     int    `json:"chunk_scope"` // number of chunks in the response
	Degraded  bool   `json:"degraded"`
	Matched   int    `json:"matched_facts"`
	Mode      string `json:"mode"`
	Promoted  int    `json:"promoted"`
	ScopeName string `json:"scope"`
	Truncated bool   `json:"truncated"`
}

// Temporal holds the members of a response about dated facts.
type Temporal struct {
	Duration *Duration       `json:"temporal_duration,omitempty"`
	Facts    []DatedFact     `json:"temporal_facts"`
	Filter   *TemporalFilter `json:"temporal_filter"`
}

// OfTemporal converts a temporal result to its JSON form. chunks is the number of chunks in the response.
func OfTemporal(t *facts.TemporalResult, chunks int) *Temporal {
	return &Temporal{ofDuration(t.Duration), each(t.Facts, OfDatedFact), &TemporalFilter{Applied: t.Applied, Scope: chunks, Degraded: t.Degraded, Matched: len(t.Facts), Mode: t.Mode, Truncated: t.Truncated}}
}

// Result converts the JSON form to a temporal result, nil if the response has none.
func (t *Temporal) Result() *facts.TemporalResult {
	f := t.Filter
	if f == nil {
		return nil
	}
	return &facts.TemporalResult{Facts: read(t.Facts, (*DatedFact).Fact), Duration: t.Duration.duration(), Mode: f.Mode, Applied: f.Applied, Truncated: f.Truncated, Degraded: f.Degraded}
}
