package httpapi

import (
	"context"
	"strconv"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/wire"
)

type factsRequest struct {
	memoryClass
	Subject   string   `json:"subject"`
	Predicate string   `json:"predicate"`
	Slot      string   `json:"slot"`
	Question  string   `json:"question"`
	AsOf      moment   `json:"as_of"`
	KnownAt   moment   `json:"known_at"`
	Upcoming  bool     `json:"upcoming"`
	History   bool     `json:"history"`
	ACL       []string `json:"acl"`
	pageRequest
}

func extFacts(c *call, sub contextmem.Sub) (any, error) {
	var r factsRequest
	if err := c.read(&r); err != nil {
		return nil, err
	}
	q := facts.Request{Class: r.class(), Principals: r.ACL, Subject: r.Subject, Predicate: r.Predicate, Slot: r.Slot, Question: r.Question, AsOf: time.Time(r.AsOf), KnownAt: time.Time(r.KnownAt),
		Upcoming: r.Upcoming, History: r.History, Limit: r.Limit}
	if r.Cursor != "" {
		n, err := strconv.ParseInt(r.Cursor, 10, 64)
		if err != nil || n < 0 {
			return nil, bad(fault.KindInvalid, "cursor", "is not one that a page returned")
		}
		q.Cursor = n
	}
	p, err := sub.Facts(c.ctx, q)
	if err != nil {
		return nil, err
	}
	c.warns(p.Warnings)
	return wire.OfFactsPage(p), nil
}

func extRestoreFact(c *call, sub contextmem.Sub) (any, error) { return changedFact(c, sub.RestoreFact) }

func extRetireFact(c *call, sub contextmem.Sub) (any, error) { return changedFact(c, sub.RetireFact) }

func changedFact(c *call, change func(context.Context, contextmem.Class, string) (*facts.Fact, error)) (any, error) {
	var r memoryClass
	if err := c.read(&r); err != nil {
		return nil, err
	}
	f, err := change(c.ctx, r.class(), c.r.PathValue("fact_id"))
	if err != nil {
		return nil, err
	}
	return wire.OfFact(f), nil
}

type entitiesRequest struct {
	memoryClass
	Prefix     string   `json:"prefix"`
	EntityType string   `json:"entity_type"`
	ACL        []string `json:"acl"`
	pageRequest
}

// entityRow is an entity of the graph.
type entityRow struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Type     string `json:"type"`
	Mentions int    `json:"mentions"`
}

type entitiesAnswer struct {
	Entities []entityRow `json:"entities"`
	Next     string      `json:"next_cursor"`
}

func extEntities(c *call, sub contextmem.Sub) (any, error) {
	var r entitiesRequest
	if err := c.read(&r); err != nil {
		return nil, err
	}
	p, err := sub.ListEntities(c.ctx, facts.EntityRequest{Class: r.class(), Principals: r.ACL, Prefix: r.Prefix, Type: r.EntityType, Limit: r.Limit, Cursor: r.Cursor})
	if err != nil {
		return nil, err
	}
	c.warns(p.Warnings)
	a := entitiesAnswer{make([]entityRow, len(p.Entities)), p.Next}
	for i, e := range p.Entities {
		a.Entities[i] = entityRow{ID: e.ID, Name: e.Name, Type: e.Type, Mentions: e.Mentions}
	}
	return a, nil
}

type profileRequest struct {
	memoryClass
	Subject   string   `json:"subject"`
	AsOf      moment   `json:"as_of"`
	Slots     []string `json:"slots"`
	PerSlot   int      `json:"per_slot" default:"10" range:"1,100"`
	MaxTokens int      `json:"max_tokens" default:"300" range:"1,8000"`
	ACL       []string `json:"acl"`
}

func extProfile(c *call, sub contextmem.Sub) (any, error) {
	var r profileRequest
	if err := c.read(&r); err != nil {
		return nil, err
	}
	p, err := sub.Profile(c.ctx, facts.ProfileRequest{Class: r.class(), Principals: r.ACL, Subject: r.Subject, AsOf: time.Time(r.AsOf), Slots: r.Slots, PerSlot: r.PerSlot, MaxTokens: r.MaxTokens})
	if err != nil {
		return nil, err
	}
	c.warns(p.Warnings)
	return wire.OfProfile(p), nil
}
