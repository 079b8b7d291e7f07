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
	"github.com/contextmem/contextmem/internal/wire"
)

// bodyOf returns a body with the scope and a class. Class 0 leaves the choice to the server.
func (s scope) bodyOf(op string, class contextmem.Class) (map[string]any, error) {
	body := s.body()
	if class == 0 {
		return body, nil
	}
	name, err := className(op, class, false)
	body["type"] = name
	return body, err
}

// Facts implements contextmem.Memories.
func (s scope) Facts(ctx context.Context, r facts.Request) (*facts.Page, error) {
	const op = "facts"
	body, err := s.bodyOf(op, r.Class)
	if err != nil {
		return nil, err
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
	var a wire.FactsPage
	m, err := s.c.send(ctx, request{op: op, method: http.MethodPost, path: "/ext/facts", json: body, of: r}, &a)
	if err != nil {
		return nil, err
	}
	p, err := a.Page()
	if err != nil {
		return nil, &fault.Error{Op: op, Kind: fault.KindUpstream, Err: errAnswer}
	}
	p.Warnings = m.Warnings
	return p, nil
}

// RestoreFact makes a superseded fact current again, as contextmem.Sub.RestoreFact does.
func (s scope) RestoreFact(ctx context.Context, class contextmem.Class, id string) (*facts.Fact, error) {
	return s.changeFact(ctx, "restore fact", "restore", class, id)
}

// RetireFact undoes RestoreFact, as contextmem.Sub.RetireFact does.
func (s scope) RetireFact(ctx context.Context, class contextmem.Class, id string) (*facts.Fact, error) {
	return s.changeFact(ctx, "retire fact", "retire", class, id)
}

func (s scope) changeFact(ctx context.Context, op, action string, class contextmem.Class, id string) (*facts.Fact, error) {
	body, err := s.bodyOf(op, class)
	if err != nil {
		return nil, err
	}
	var row wire.Fact
	if _, err := s.c.send(ctx, request{op: op, method: http.MethodPost, path: "/ext/facts/" + url.PathEscape(id) + "/" + action, json: body, once: true}, &row); err != nil {
		return nil, err
	}
	f := row.Fact()
	return &f, nil
}

// Profile implements contextmem.Memories.
func (s scope) Profile(ctx context.Context, r facts.ProfileRequest) (*facts.Profile, error) {
	const op = "profile"
	body, err := s.bodyOf(op, r.Class)
	if err != nil {
		return nil, err
	}
	put(body, "subject", r.Subject, r.Subject == "")
	put(body, "as_of", r.AsOf, r.AsOf.IsZero())
	put(body, "slots", r.Slots, r.Slots == nil)
	put(body, "per_slot", r.PerSlot, r.PerSlot == 0)
	put(body, "max_tokens", r.MaxTokens, r.MaxTokens == 0)
	put(body, "acl", r.Principals, r.Principals == nil)
	var a wire.Profile
	m, err := s.c.send(ctx, request{op: op, method: http.MethodPost, path: "/ext/profile", json: body, of: r}, &a)
	if err != nil {
		return nil, err
	}
	p := a.Profile()
	p.Warnings = m.Warnings
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
		ID       string         `json:"id"`
		Type     string         `json:"type"`
		Versions []wire.Version `json:"versions"`
	}
	if _, err := s.c.send(ctx, request{op: op, method: http.MethodGet, path: "/ext/items/" + url.PathEscape(r.ID) + "/history", query: q, of: r}, &a); err != nil {
		return nil, err
	}
	h := &content.History{ID: a.ID, Class: contextmem.ClassKnowledge, Versions: wire.Versions(a.Versions)}
	if a.Type == classNames[contextmem.ClassMemory] {
		h.Class = contextmem.ClassMemory
	}
	return h, nil
}

// RestoreVersion implements contextmem.Memories.
func (s scope) RestoreVersion(ctx context.Context, r content.RestoreVersionRequest) (*contextmem.IngestItem, error) {
	const op = "restore version"
	body, err := s.bodyOf(op, r.Class)
	if err != nil {
		return nil, err
	}
	body["version"] = r.Version
	put(body, "acl", r.Principals, r.Principals == nil)
	var row wire.ItemRow
	if _, err := s.c.send(ctx, request{op: op, method: http.MethodPost, path: "/ext/items/" + url.PathEscape(r.ID) + "/restore", json: body, once: true, of: r}, &row); err != nil {
		return nil, err
	}
	it := ingestItem(&row)
	return &it, nil
}
