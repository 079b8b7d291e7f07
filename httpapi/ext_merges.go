package httpapi

import (
	"strconv"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/wire"
)

type mergeRequest struct {
	memoryClass
	From   string `json:"from" need:"text"`
	Into   string `json:"into" need:"text"`
	Reason string `json:"reason"`
}

// mergeRow describes a merge of two names in a graph.
type mergeRow struct {
	ID     int64  `json:"merge_id"`
	From   string `json:"from"`
	Into   string `json:"into"`
	Reason string `json:"reason"`
	At     string `json:"at"`
	Stated bool   `json:"stated"` // sources say so, not a caller
	Undone bool   `json:"undone"`
}

func newMergeRow(m *facts.Merge) mergeRow {
	return mergeRow{m.ID, m.From, m.Into, m.Reason, wire.Time(m.At), m.Stated, m.Undone}
}

func extMerge(c *call, sub contextmem.Sub) (any, error) {
	var r mergeRequest
	if err := c.read(&r); err != nil {
		return nil, err
	}
	m, err := sub.MergeEntities(c.ctx, contextmem.MergeEntitiesRequest{Class: r.class(), From: r.From, Into: r.Into, Reason: r.Reason})
	if err != nil {
		return nil, err
	}
	return newMergeRow(m), nil
}

type mergesRequest struct {
	memoryClass
	ACL   []string `json:"acl"`
	After int64    `json:"after" range:"0,9223372036854775807"`
	Limit int      `json:"limit" default:"100" range:"1,1000"`
}

type mergesAnswer struct {
	Merges []mergeRow `json:"merges"`
}

func extMerges(c *call, sub contextmem.Sub) (any, error) {
	var r mergesRequest
	if err := c.read(&r); err != nil {
		return nil, err
	}
	p, err := sub.Merges(c.ctx, facts.MergesRequest{Class: r.class(), Principals: r.ACL, After: r.After, Limit: r.Limit})
	if err != nil {
		return nil, err
	}
	c.warns(p.Warnings)
	a := mergesAnswer{make([]mergeRow, len(p.Merges))}
	for i := range p.Merges {
		a.Merges[i] = newMergeRow(&p.Merges[i])
	}
	return a, nil
}

// unmergedRow names a merge that was undone.
type unmergedRow struct {
	ID     int64 `json:"merge_id"`
	Undone bool  `json:"undone"`
}

func extUndoMerge(c *call, sub contextmem.Sub) (any, error) {
	var r memoryClass
	if err := c.read(&r); err != nil {
		return nil, err
	}
	id, err := strconv.ParseInt(c.r.PathValue("merge_id"), 10, 64)
	if err != nil {
		return nil, bad(fault.KindInvalid, "merge_id", "must be the number of a merge")
	}
	if err := sub.UndoMerge(c.ctx, r.class(), id); err != nil {
		return nil, err
	}
	return unmergedRow{id, true}, nil
}
