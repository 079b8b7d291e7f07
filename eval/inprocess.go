package eval

import (
	"context"
	"errors"
	"fmt"

	"github.com/contextmem/contextmem"
)

// InProcess measures a tenant of a service.
type InProcess struct {
	Tenant contextmem.Tenant
	Recall contextmem.Recall // settings; Ask fills in query, class and number
	Infer  bool
}

// batch is how many items one ingestion call takes.
const batch = 100

// Fill implements Target.
func (p *InProcess) Fill(ctx context.Context, lane string, g Group) error {
	sub := p.Tenant.Sub(g.ID)
	var ids []string
	for start := 0; start < len(g.Docs); start += batch {
		docs := g.Docs[start:min(start+batch, len(g.Docs))]
		res, err := p.add(ctx, sub, lane, docs)
		if err != nil {
			return err
		}
		for _, it := range res.Items {
			if it.Err != nil {
				return it.Err
			}
			ids = append(ids, it.ID)
		}
	}
	for start := 0; start < len(ids); start += 1000 {
		st, err := sub.Wait(ctx, ids[start:min(start+1000, len(ids))]...)
		if err != nil {
			return err
		}
		for _, x := range st {
			if x.Status != contextmem.StatusCompleted {
				return fmt.Errorf("item %q is %s: %s", x.ID, x.Status, x.ErrorCode)
			}
		}
	}
	return sub.WaitRefined(ctx)
}

func (p *InProcess) add(ctx context.Context, sub contextmem.Sub, lane string, docs []Doc) (*contextmem.IngestResult, error) {
	if lane == "memory" {
		var b contextmem.MemoryBatch
		for _, d := range docs {
			m := contextmem.Memory{ID: d.ID, Title: d.Title, Text: d.Text, Infer: p.Infer}
			if d.Time != "" {
				m.Additional = map[string]any{"timestamp": d.Time}
			}
			b.Memories = append(b.Memories, m)
		}
		return sub.AddMemories(ctx, b)
	}
	var b contextmem.KnowledgeBatch
	for _, d := range docs {
		text := d.Text
		if d.Title != "" {
			text = d.Title + "\n\n" + text
		}
		b.Files = append(b.Files, contextmem.File{ID: d.ID, Name: d.ID + ".txt", ContentType: "text/plain; charset=utf-8", Data: []byte(text)})
	}
	return sub.AddKnowledge(ctx, b)
}

// Ask implements Target.
func (p *InProcess) Ask(ctx context.Context, lane, group, question string, n int) ([]Hit, error) {
	q := p.Recall
	q.Query, q.MaxResults, q.Class = question, n, contextmem.ClassKnowledge
	if lane == "memory" {
		q.Class = contextmem.ClassMemory
	}
	res, err := p.Tenant.Sub(group).Recall(ctx, q)
	if err != nil {
		return nil, err
	}
	if res == nil {
		return nil, errors.New("recall gave no result")
	}
	hits := make([]Hit, len(res.Chunks))
	for i, c := range res.Chunks {
		hits[i] = Hit{DocID: c.SourceID, Chars: len(c.Text)}
	}
	for _, x := range res.Instructions {
		hits = append(hits, Hit{DocID: x.SourceID, Chars: len(x.Text), Instruction: true})
	}
	return hits, nil
}
