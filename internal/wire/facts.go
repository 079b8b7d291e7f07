package wire

import (
	"strconv"

	"github.com/contextmem/contextmem/facts"
)

// Fact is the JSON form of facts.Fact.
type Fact struct {
	ID             string  `json:"id"`
	Subject        string  `json:"subject"`
	Predicate      string  `json:"predicate"`
	Object         string  `json:"object"`
	Slot           string  `json:"slot"`
	SlotConfidence float64 `json:"slot_confidence"`
	Kind           string  `json:"kind"`
	Text           string  `json:"text"`
	Status         string  `json:"status"`
	Confidence     float64 `json:"confidence"`
	Since          string  `json:"since"`
	Until          string  `json:"until"`
	Precision      string  `json:"precision"`
	Learnt         string  `json:"learnt_at"`
	Retired        string  `json:"retired_at"`
	SupersededBy   string  `json:"superseded_by"`
	Restored       string  `json:"restored_at"`
	Evidence       string  `json:"evidence"`
	SourceID       string  `json:"source_id"`
	ChunkID        string  `json:"chunk_id"`
	// Also has the other places that state the fact.
	Also      []Occurrence `json:"also"`
	ToldLater bool         `json:"told_later,omitempty"`
}

// Occurrence is a place that states a fact.
type Occurrence struct {
	ID       string `json:"id"`
	Evidence string `json:"evidence"`
	Learnt   string `json:"learnt_at"`
	SourceID string `json:"source_id"`
	ChunkID  string `json:"chunk_id"`
}

func ofOccurrence(t *facts.Occurrence) Occurrence {
	return Occurrence{t.ID, t.Evidence, Time(t.Learnt), t.SourceID, t.ChunkID}
}

func (t *Occurrence) occurrence() facts.Occurrence {
	return facts.Occurrence{ID: t.ID, Evidence: t.Evidence, Learnt: ReadTime(t.Learnt), SourceID: t.SourceID, ChunkID: t.ChunkID}
}

// OfFact converts a fact to its JSON form.
func OfFact(f *facts.Fact) Fact {
	return Fact{f.ID, f.Subject, f.Predicate, f.Object, f.Slot, f.SlotConfidence, f.Kind, f.Text, string(f.Status), f.Confidence, Time(f.Since), Time(f.Until), f.Precision,
		Time(f.Learnt), Time(f.Retired), f.SupersededBy, Time(f.Restored), f.Evidence, f.SourceID, f.ChunkID, each(f.Also, ofOccurrence), f.ToldLater}
}

// Fact converts the JSON form to a fact.
func (f *Fact) Fact() facts.Fact {
	return facts.Fact{ID: f.ID, Subject: f.Subject, Predicate: f.Predicate, Object: f.Object, Slot: f.Slot, SlotConfidence: f.SlotConfidence, Kind: f.Kind, Text: f.Text,
		Status: facts.Status(f.Status), Confidence: f.Confidence, Since: ReadTime(f.Since), Until: ReadTime(f.Until), Precision: f.Precision, Learnt: ReadTime(f.Learnt), Retired: ReadTime(f.Retired),
		SupersededBy: f.SupersededBy, Restored: ReadTime(f.Restored), Evidence: f.Evidence, SourceID: f.SourceID, ChunkID: f.ChunkID, Also: read(f.Also, (*Occurrence).occurrence), ToldLater: f.ToldLater}
}

// FactsPage is the JSON form of facts.Page.
type FactsPage struct {
	Facts []Fact `json:"facts"`
	Slot  string `json:"slot"`
	Next  string `json:"next_cursor"` // empty on the last page
	// Statements holds messages about the slot from which no fact in Facts was made.
	Statements []Statement `json:"statements"`
}

// OfFactsPage converts a page to its JSON form.
func OfFactsPage(p *facts.Page) FactsPage {
	a := FactsPage{Facts: each(p.Facts, OfFact), Slot: p.Slot, Statements: each(p.Statements, ofStatement)}
	if p.Next != 0 {
		a.Next = strconv.FormatInt(p.Next, 10)
	}
	return a
}

// Page converts the JSON form to a page. It returns an error if the cursor is invalid.
func (a *FactsPage) Page() (*facts.Page, error) {
	p := &facts.Page{Facts: read(a.Facts, (*Fact).Fact), Slot: a.Slot, Statements: read(a.Statements, (*Statement).statement)}
	var err error
	if a.Next != "" {
		p.Next, err = strconv.ParseInt(a.Next, 10, 64)
	}
	return p, err
}

// Instruction is the JSON form of a standing instruction.
type Instruction struct {
	Text     string `json:"text"`
	Order    string `json:"order"`
	Matter   string `json:"matter"`
	Since    string `json:"since"`
	SourceID string `json:"source_id"`
}

// OfInstructions converts instructions to their JSON form.
func OfInstructions(list []facts.Instruction) []Instruction {
	return each(list, func(x *facts.Instruction) Instruction {
		return Instruction{x.Text, x.Order, x.Matter, Time(x.Since), x.SourceID}
	})
}

func (x *Instruction) instruction() facts.Instruction {
	return facts.Instruction{Text: x.Text, Order: x.Order, Matter: x.Matter, Since: ReadTime(x.Since), SourceID: x.SourceID}
}

// Slot holds what is known of a slot.
type Slot struct {
	Slot       string      `json:"slot"`
	Card       string      `json:"cardinality"`
	Facts      []Fact      `json:"facts"`
	Statements []Statement `json:"statements"`
}

// Statement is a message about a slot.
type Statement struct {
	Text       string  `json:"text"`
	Confidence float64 `json:"confidence"`
	Learnt     string  `json:"learnt_at"`
	SourceID   string  `json:"source_id"`
	ChunkID    string  `json:"chunk_id"`
}

func ofStatement(s *facts.Statement) Statement {
	return Statement{s.Text, s.Confidence, Time(s.Learnt), s.SourceID, s.ChunkID}
}

func (s *Statement) statement() facts.Statement {
	return facts.Statement{Text: s.Text, Confidence: s.Confidence, Learnt: ReadTime(s.Learnt), SourceID: s.SourceID, ChunkID: s.ChunkID}
}

// Profile is the JSON form of facts.Profile, the current facts about a subject.
type Profile struct {
	Subject      string        `json:"subject"`
	Slots        []Slot        `json:"slots"`
	Other        []Fact        `json:"other"`
	Instructions []Instruction `json:"instructions"`
	Summary      string        `json:"summary"`
	SummaryBy    string        `json:"summary_by"`
	Tokens       int           `json:"summary_tokens"`
	Truncated    bool          `json:"truncated"`
}

// OfProfile converts a profile to its JSON form.
func OfProfile(p *facts.Profile) Profile {
	return Profile{
		Subject: p.Subject, Other: each(p.Other, OfFact), Instructions: OfInstructions(p.Instructions),
		Slots: each(p.Slots, func(s *facts.SlotFacts) Slot {
			return Slot{s.Slot, string(s.Card), each(s.Facts, OfFact), each(s.Statements, ofStatement)}
		}),
		Summary: p.Summary, SummaryBy: p.SummaryBy, Tokens: p.Tokens, Truncated: p.Truncated,
	}
}

// Profile converts the JSON form to a profile.
func (p *Profile) Profile() *facts.Profile {
	return &facts.Profile{
		Subject: p.Subject, Other: read(p.Other, (*Fact).Fact), Instructions: read(p.Instructions, (*Instruction).instruction),
		Slots: read(p.Slots, func(s *Slot) facts.SlotFacts {
			return facts.SlotFacts{Slot: s.Slot, Card: facts.Cardinality(s.Card), Facts: read(s.Facts, (*Fact).Fact), Statements: read(s.Statements, (*Statement).statement)}
		}),
		Summary: p.Summary, SummaryBy: p.SummaryBy, Tokens: p.Tokens, Truncated: p.Truncated,
	}
}
