package httpapi

import (
	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/facts"
)

type supersedeRequest struct {
	By     string `json:"by" need:"text"`
	Reason string `json:"reason"`
}

// supersededRow describes the memory that supersedes another.
type supersededRow struct {
	SourceID string `json:"source_id"`
	By       string `json:"superseded_by"`
}

func extSupersede(c *call, sub contextmem.Sub) (any, error) {
	var r supersedeRequest
	if err := c.read(&r); err != nil {
		return nil, err
	}
	id := c.r.PathValue("source_id")
	if err := sub.Supersede(c.ctx, id, r.By, r.Reason); err != nil {
		return nil, err
	}
	return supersededRow{id, r.By}, nil
}

// restoredRow has the number of undone successions.
type restoredRow struct {
	SourceID string `json:"source_id"`
	Undone   int    `json:"undone"`
}

func extRestore(c *call, sub contextmem.Sub) (any, error) {
	var r struct{}
	if err := c.read(&r); err != nil {
		return nil, err
	}
	id := c.r.PathValue("source_id")
	n, err := sub.Restore(c.ctx, id)
	if err != nil {
		return nil, err
	}
	return restoredRow{id, n}, nil
}

type conflictsRequest struct {
	ACL   []string `json:"acl"`
	After int64    `json:"after" range:"0,9223372036854775807"`
	Limit int      `json:"limit" default:"100" range:"1,1000"`
}

// conflictRow is a pair of memories of which the later one may supersede the earlier one.
type conflictRow struct {
	ID         int64   `json:"id"`
	Earlier    string  `json:"earlier"`
	Later      string  `json:"later"`
	Confidence float64 `json:"confidence"`
	Matter     string  `json:"matter"`
	Evidence   string  `json:"evidence"`
	Decider    string  `json:"decider"`
}

type conflictsAnswer struct {
	Conflicts []conflictRow `json:"conflicts"`
}

func extConflicts(c *call, sub contextmem.Sub) (any, error) {
	var r conflictsRequest
	if err := c.read(&r); err != nil {
		return nil, err
	}
	found, err := sub.Conflicts(c.ctx, facts.ConflictsRequest{Principals: r.ACL, After: r.After, Limit: r.Limit})
	if err != nil {
		return nil, err
	}
	c.warns(found.Warnings)
	a := conflictsAnswer{make([]conflictRow, len(found.Conflicts))}
	for i, x := range found.Conflicts {
		a.Conflicts[i] = conflictRow{x.ID, x.Earlier, x.Later, x.Confidence, x.Matter, x.Evidence, x.Decider}
	}
	return a, nil
}
