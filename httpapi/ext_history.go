package httpapi

import (
	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
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

// versionRow is what a version of an item says. Times are empty where there is none.
type versionRow struct {
	Version    int         `json:"version"`
	Title      string      `json:"title"`
	Session    string      `json:"session_id"`
	Time       string      `json:"timestamp"`
	Stored     string      `json:"stored_at"`
	Replaced   string      `json:"replaced_at"`
	ReplacedBy int         `json:"replaced_by"` // version; 0: none
	Cause      string      `json:"cause"`       // add, edit or restore
	Size       int64       `json:"size"`
	Text       string      `json:"text"`
	Lost       bool        `json:"lost"`    // its content was too large to be kept
	Changes    []changeRow `json:"changes"` // from the version before
}

// changeRow is a run of sentences of one version or of both.
type changeRow struct {
	Kind string `json:"kind"` // same, added or removed
	Text string `json:"text"`
}

type historyAnswer struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Versions []versionRow `json:"versions"` // the newest first
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
	a := historyAnswer{h.ID, "knowledge", make([]versionRow, len(h.Versions))}
	if h.Class == contextmem.ClassMemory {
		a.Type = "memory"
	}
	for i, v := range h.Versions {
		a.Versions[i] = versionRow{v.Version, v.Title, v.Session, timeText(v.Time), timeText(v.Stored), timeText(v.Replaced), v.ReplacedBy, string(v.Cause), v.SizeBytes, v.Text, v.Lost, make([]changeRow, len(v.Changes))}
		for j, d := range v.Changes {
			a.Versions[i].Changes[j] = changeRow{string(d.Kind), d.Text}
		}
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
