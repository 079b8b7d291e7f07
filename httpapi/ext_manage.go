package httpapi

import (
	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
)

type databaseEdit struct {
	Name         *string `json:"name"`
	Instructions *string `json:"instructions"`
}

// storedDatabase describes a database with its instructions.
type storedDatabase struct {
	ensuredRow
	Instructions string `json:"instructions"`
}

func extDatabase(c *call, t contextmem.Tenant) (any, error) {
	i, err := t.Info(c.ctx)
	if err != nil {
		return nil, err
	}
	return storedDatabase{ensuredRow{i.ID, i.Ready(), i.Embeddings, i.Dimension, len(i.Schema)}, i.Instructions}, nil
}

func extEditDatabase(c *call, t contextmem.Tenant) (any, error) {
	var r databaseEdit
	if err := c.read(&r); err != nil {
		return nil, err
	}
	if r.Name == nil && r.Instructions == nil {
		return nil, bad(fault.KindInvalid, "name", "is required, or instructions")
	}
	if r.Instructions != nil {
		if err := t.SetInstructions(c.ctx, *r.Instructions); err != nil {
			return nil, err
		}
	}
	if r.Name != nil && *r.Name != t.ID() {
		if _, err := c.org.Tenant(*r.Name).Info(c.ctx); err == nil { // said before a key that may not use it is asked for
			return nil, bad(fault.KindExists, "name", "is taken")
		}
		var err error
		if t, err = t.Rename(c.ctx, *r.Name); err != nil {
			return nil, err
		}
	}
	return extDatabase(c, t)
}

type chunksRequest struct {
	ID    string   `json:"id" also:"source_id" need:"text"`
	ACL   []string `json:"acl"`
	Type  string   `json:"type" oneof:",knowledge,memory"`
	From  int      `json:"from"`
	Limit int      `json:"limit" default:"100" range:"1,200"`
}

// chunkOf is a chunk of an item.
type chunkOf struct {
	ID       string `json:"chunk_uuid"`
	Ordinal  int    `json:"ordinal"`
	Content  string `json:"chunk_content"`
	Heading  string `json:"heading"`
	Page     int    `json:"page"`     // page on which the chunk begins, from 1; 0: the document has no pages
	Inferred bool   `json:"inferred"` // the chunk was inferred from the item and is not part of its text
}

// chunksAnswer is a page of the chunks of an item.
type chunksAnswer struct {
	ID       string    `json:"id"`
	SourceID string    `json:"source_id"`
	Type     string    `json:"type"`
	Title    string    `json:"title"`
	Status   string    `json:"indexing_status"`
	Chunks   []chunkOf `json:"chunks"`
	Next     *int      `json:"next_from"` // null: this is the last page
}

func v2Chunks(c *call, sub contextmem.Sub) (any, error) {
	var r chunksRequest
	if err := c.read(&r); err != nil {
		return nil, err
	}
	q := content.InspectRequest{ID: r.ID, From: r.From, Limit: r.Limit, Principals: r.ACL}
	if r.Type != "" {
		q.Class = (&ofClass{r.Type}).class()
	}
	p, err := sub.Inspect(c.ctx, q)
	if err != nil {
		return nil, unknownID(err)
	}
	a := chunksAnswer{ID: p.ID, SourceID: p.ID, Type: map[contextmem.Class]string{contextmem.ClassKnowledge: "knowledge", contextmem.ClassMemory: "memory"}[p.Class],
		Title: p.Title, Status: string(p.Status), Chunks: make([]chunkOf, len(p.Chunks))}
	for i, x := range p.Chunks {
		a.Chunks[i] = chunkOf{x.ID, x.Ordinal, x.Text, x.Heading, x.Page, x.Inferred}
	}
	if p.More {
		next := r.From + len(p.Chunks)
		a.Next = &next
	}
	return a, nil
}
