package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/fault"
)

// factRow is a fact on the wire; unknown times are empty.
type factRow struct {
	ID             string       `json:"id"`
	Subject        string       `json:"subject"`
	Predicate      string       `json:"predicate"`
	Object         string       `json:"object"`
	Slot           string       `json:"slot"`
	SlotConfidence float64      `json:"slot_confidence"`
	Kind           string       `json:"kind"`
	Text           string       `json:"text"`
	Status         facts.Status `json:"status"`
	Confidence     float64      `json:"confidence"`
	Since          string       `json:"since"`
	Until          string       `json:"until"`
	Precision      string       `json:"precision"`
	Learnt         string       `json:"learnt_at"`
	Retired        string       `json:"retired_at"`
	SupersededBy   string       `json:"superseded_by"`
	Restored       string       `json:"restored_at"`
	Evidence       string       `json:"evidence"`
	SourceID       string       `json:"source_id"`
	ChunkID        string       `json:"chunk_id"`
}

func factsOf(rows []factRow) []facts.Fact {
	var out []facts.Fact
	for _, r := range rows {
		out = append(out, facts.Fact{ID: r.ID, Subject: r.Subject, Predicate: r.Predicate, Object: r.Object, Slot: r.Slot, SlotConfidence: r.SlotConfidence, Kind: r.Kind, Text: r.Text,
			Status: r.Status, Confidence: r.Confidence, Since: readTime(r.Since), Until: readTime(r.Until), Precision: r.Precision, Learnt: readTime(r.Learnt), Retired: readTime(r.Retired),
			SupersededBy: r.SupersededBy, Restored: readTime(r.Restored), Evidence: r.Evidence, SourceID: r.SourceID, ChunkID: r.ChunkID})
	}
	return out
}

// Facts implements contextmem.Memories.
func (s scope) Facts(ctx context.Context, r facts.Request) (*facts.Page, error) {
	const op = "facts"
	body := s.body()
	if r.Class != 0 {
		class, err := className(op, r.Class, false)
		if err != nil {
			return nil, err
		}
		body["type"] = class
	}
	put(body, "subject", r.Subject, r.Subject == "")
	put(body, "predicate", r.Predicate, r.Predicate == "")
	put(body, "slot", r.Slot, r.Slot == "")
	put(body, "question", r.Question, r.Question == "")
	put(body, "as_of", r.AsOf, r.AsOf.IsZero())
	put(body, "known_at", r.KnownAt, r.KnownAt.IsZero())
	put(body, "upcoming", true, !r.Upcoming)
	put(body, "history", true, !r.History)
	put(body, "limit", r.Limit, r.Limit == 0)
	put(body, "cursor", strconv.FormatInt(r.Cursor, 10), r.Cursor == 0)
	put(body, "acl", r.Principals, r.Principals == nil)
	var a struct {
		Facts []factRow `json:"facts"`
		Slot  string    `json:"slot"`
		Next  string    `json:"next_cursor"`
	}
	if _, err := s.c.send(ctx, request{op: op, method: http.MethodPost, path: "/ext/facts", json: body}, &a); err != nil {
		return nil, err
	}
	p := &facts.Page{Facts: factsOf(a.Facts), Slot: a.Slot}
	if a.Next != "" {
		n, err := strconv.ParseInt(a.Next, 10, 64)
		if err != nil {
			return nil, &fault.Error{Op: op, Kind: fault.KindUpstream, Err: errAnswer}
		}
		p.Next = n
	}
	return p, nil
}

// RestoreFact lets a fact hold again that later ones took the place of, as contextmem.Sub.RestoreFact does.
func (s scope) RestoreFact(ctx context.Context, class contextmem.Class, id string) (*facts.Fact, error) {
	return s.changeFact(ctx, "restore fact", "restore", class, id)
}

// RetireFact takes RestoreFact back, as contextmem.Sub.RetireFact does.
func (s scope) RetireFact(ctx context.Context, class contextmem.Class, id string) (*facts.Fact, error) {
	return s.changeFact(ctx, "retire fact", "retire", class, id)
}

func (s scope) changeFact(ctx context.Context, op, action string, class contextmem.Class, id string) (*facts.Fact, error) {
	body := s.body()
	if class != 0 {
		name, err := className(op, class, false)
		if err != nil {
			return nil, err
		}
		body["type"] = name
	}
	var row factRow
	if _, err := s.c.send(ctx, request{op: op, method: http.MethodPost, path: "/ext/facts/" + url.PathEscape(id) + "/" + action, json: body, once: true}, &row); err != nil {
		return nil, err
	}
	return &factsOf([]factRow{row})[0], nil
}

// Profile implements contextmem.Memories.
func (s scope) Profile(ctx context.Context, r facts.ProfileRequest) (*facts.Profile, error) {
	const op = "profile"
	body := s.body()
	if r.Class != 0 {
		class, err := className(op, r.Class, false)
		if err != nil {
			return nil, err
		}
		body["type"] = class
	}
	put(body, "subject", r.Subject, r.Subject == "")
	put(body, "as_of", r.AsOf, r.AsOf.IsZero())
	put(body, "slots", r.Slots, r.Slots == nil)
	put(body, "per_slot", r.PerSlot, r.PerSlot == 0)
	put(body, "max_tokens", r.MaxTokens, r.MaxTokens == 0)
	put(body, "acl", r.Principals, r.Principals == nil)
	var a struct {
		Subject string `json:"subject"`
		Slots   []struct {
			Slot  string            `json:"slot"`
			Card  facts.Cardinality `json:"cardinality"`
			Facts []factRow         `json:"facts"`
		} `json:"slots"`
		Other        []factRow `json:"other"`
		Instructions []struct {
			Text     string `json:"text"`
			Order    string `json:"order"`
			Matter   string `json:"matter"`
			Since    string `json:"since"`
			SourceID string `json:"source_id"`
		} `json:"instructions"`
		Summary   string `json:"summary"`
		SummaryBy string `json:"summary_by"`
		Tokens    int    `json:"summary_tokens"`
		Truncated bool   `json:"truncated"`
	}
	if _, err := s.c.send(ctx, request{op: op, method: http.MethodPost, path: "/ext/profile", json: body}, &a); err != nil {
		return nil, err
	}
	p := &facts.Profile{Subject: a.Subject, Other: factsOf(a.Other), Summary: a.Summary, SummaryBy: a.SummaryBy, Tokens: a.Tokens, Truncated: a.Truncated}
	for _, x := range a.Slots {
		p.Slots = append(p.Slots, facts.SlotFacts{Slot: x.Slot, Card: x.Card, Facts: factsOf(x.Facts)})
	}
	for _, x := range a.Instructions {
		p.Instructions = append(p.Instructions, facts.Instruction{Text: x.Text, Order: x.Order, Matter: x.Matter, Since: readTime(x.Since), SourceID: x.SourceID})
	}
	return p, nil
}

// History implements contextmem.Memories.
func (s scope) History(ctx context.Context, r content.HistoryRequest) (*content.History, error) {
	const op = "history"
	q := s.values()
	if r.Class != 0 {
		class, err := className(op, r.Class, false)
		if err != nil {
			return nil, err
		}
		q.Set("type", class)
	}
	for _, p := range r.Principals {
		q.Add("acl", p)
	}
	var a struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Versions []struct {
			Version    int    `json:"version"`
			Title      string `json:"title"`
			Session    string `json:"session_id"`
			Time       string `json:"timestamp"`
			Stored     string `json:"stored_at"`
			Replaced   string `json:"replaced_at"`
			ReplacedBy int    `json:"replaced_by"`
			Cause      string `json:"cause"`
			Size       int64  `json:"size"`
			Text       string `json:"text"`
			Lost       bool   `json:"lost"`
			Changes    []struct {
				Kind content.DifferenceKind `json:"kind"`
				Text string                 `json:"text"`
			} `json:"changes"`
		} `json:"versions"`
	}
	if _, err := s.c.send(ctx, request{op: op, method: http.MethodGet, path: "/ext/items/" + url.PathEscape(r.ID) + "/history", query: q}, &a); err != nil {
		return nil, err
	}
	h := &content.History{ID: a.ID, Class: contextmem.ClassKnowledge}
	if a.Type == classNames[contextmem.ClassMemory] {
		h.Class = contextmem.ClassMemory
	}
	for _, v := range a.Versions {
		x := content.PastVersion{Version: v.Version, Title: v.Title, Session: v.Session, Time: readTime(v.Time), Stored: readTime(v.Stored), Replaced: readTime(v.Replaced), ReplacedBy: v.ReplacedBy,
			Cause: content.Replacement(v.Cause), SizeBytes: v.Size, Text: v.Text, Lost: v.Lost}
		for _, d := range v.Changes {
			x.Changes = append(x.Changes, content.Difference(d))
		}
		h.Versions = append(h.Versions, x)
	}
	return h, nil
}

// RestoreVersion implements contextmem.Memories.
func (s scope) RestoreVersion(ctx context.Context, r content.RestoreVersionRequest) (*contextmem.IngestItem, error) {
	const op = "restore version"
	body := s.body()
	if r.Class != 0 {
		class, err := className(op, r.Class, false)
		if err != nil {
			return nil, err
		}
		body["type"] = class
	}
	body["version"] = r.Version
	put(body, "acl", r.Principals, r.Principals == nil)
	var row struct {
		ID       string  `json:"id"`
		Filename *string `json:"filename"`
		Title    *string `json:"title"`
		Status   string  `json:"status"`
		Infer    bool    `json:"infer"`
	}
	if _, err := s.c.send(ctx, request{op: op, method: http.MethodPost, path: "/ext/items/" + url.PathEscape(r.ID) + "/restore", json: body, once: true}, &row); err != nil {
		return nil, err
	}
	return &contextmem.IngestItem{ID: row.ID, Filename: text(row.Filename), Title: text(row.Title), Status: contextmem.Status(row.Status), Infer: row.Infer}, nil
}
