package httpapi

import (
	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/internal/wire"
)

// anyClass is the type of a request that finds an item by its id in either class.
type anyClass struct {
	Type string `json:"type" default:"all" oneof:"knowledge,memory,all"`
}

func (o anyClass) class() contextmem.Class {
	return map[string]contextmem.Class{"knowledge": contextmem.ClassKnowledge, "memory": contextmem.ClassMemory}[o.Type]
}

type historyRequest struct {
	anyClass
	ACL []string `json:"acl"`
}

type historyAnswer struct {
	ID       string         `json:"id"`
	Type     string         `json:"type"`
	Versions []wire.Version `json:"versions"` // the newest first
}

func extHistory(c *call, sub contextmem.Sub) (any, error) {
	var r historyRequest
	if err := c.read(&r); err != nil {
		return nil, err
	}
	h, err := sub.History(c.ctx, content.HistoryRequest{Class: r.class(), ID: c.r.PathValue("source_id"), Principals: r.ACL})
	if err != nil {
		return nil, err
	}
	a := historyAnswer{h.ID, "knowledge", wire.OfVersions(h.Versions)}
	if h.Class == contextmem.ClassMemory {
		a.Type = "memory"
	}
	return a, nil
}

type restoreVersionRequest struct {
	anyClass
	Version int      `json:"version" need:"number" range:"1,1000000000"`
	ACL     []string `json:"acl"`
}

func extRestoreVersion(c *call, sub contextmem.Sub) (any, error) {
	var r restoreVersionRequest
	if err := c.read(&r); err != nil {
		return nil, err
	}
	it, err := sub.RestoreVersion(c.ctx, content.RestoreVersionRequest{Class: r.class(), ID: c.r.PathValue("source_id"), Version: r.Version, Principals: r.ACL})
	if err != nil {
		return nil, err
	}
	return c.itemJSON(*it), nil
}
