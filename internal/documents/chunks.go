package documents

import (
	"context"

	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/workspace"
)

// Bounds of a page of chunks.
const (
	defaultChunks = 100
	maxChunks     = 1000
)

// Chunks returns a page of the chunks of an item of a sub-tenant, named as it is stored.
func (e *Engine) Chunks(ctx context.Context, op string, ref *workspace.Ref, sub string, r content.ItemChunksRequest) (*content.ItemChunks, error) {
	if r.Limit == 0 {
		r.Limit = defaultChunks
	}
	if r.Limit < 1 || r.Limit > maxChunks {
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "Limit", "%d is outside 1 to %d", r.Limit, maxChunks)
	}
	if r.From < 0 || r.From > 1<<30 {
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "From", "%d is outside 0 to 2^30", r.From)
	}
	src, err := ref.Find(ctx, op, sub, r.Class, r.ID, r.Principals)
	if err != nil {
		return nil, err
	}
	class := content.Class(src.Part.Class)
	chunks, err := ref.Store.SourceChunks(ctx, src.Num, r.From, r.From+r.Limit+1, false)
	if err != nil {
		return nil, workspace.SourceError(op, class, src.ID, err)
	}
	out := &content.ItemChunks{ID: src.ID, Class: class, Title: src.Title, Status: item.StatusOf(src.State)}
	if len(chunks) > r.Limit {
		chunks, out.Next = chunks[:r.Limit], r.From+r.Limit
	}
	out.Chunks = make([]content.ItemChunk, len(chunks))
	for i, c := range chunks {
		out.Chunks[i] = content.ItemChunk{ID: c.Key, Ordinal: c.Ordinal, Text: c.Text, Heading: c.Heading, Layout: string(c.Layout)}
	}
	return out, nil
}
