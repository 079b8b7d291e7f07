package documents

import (
	"cmp"
	"context"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/metadata"
	"github.com/contextmem/contextmem/internal/pipeline"
	"github.com/contextmem/contextmem/internal/workspace"
)

const (
	inspectChunks    = 20
	maxInspectChunks = 200
)

// Inspect returns the stored data of an item in a sub-tenant, given by its stored name.
func (e *Engine) Inspect(ctx context.Context, op string, ref *workspace.Ref, sub string, r content.InspectRequest) (*content.Inspection, error) {
	r.Limit = cmp.Or(r.Limit, inspectChunks)
	if r.Limit < 1 || r.Limit > maxInspectChunks {
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "Limit", "must be between 1 and %d", maxInspectChunks)
	}
	if r.From < 0 || r.From > 1<<31 {
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "From", "must not be negative")
	}
	src, err := ref.Find(ctx, op, sub, r.Class, r.ID, r.Principals)
	if err != nil {
		return nil, err
	}
	class := content.Class(src.Part.Class)
	out := new(content.Inspection)
	if out.SourceInfo, err = metadata.Describe(src); err != nil {
		return nil, workspace.SourceError(op, class, src.ID, err)
	}
	found := src
	indexed := src.State == backend.GraphCreation || src.State == backend.Completed
	out.Versions = append(out.Versions, version(src, indexed))
	if src.Older != 0 {
		older, err := ref.Store.SourcesByNum(ctx, []int64{src.Older})
		if err = backend.Undamaged(err); err != nil {
			return nil, workspace.SourceError(op, class, src.ID, err)
		}
		visible := item.Visible(r.Principals) // an older version may have another access list
		if old := older[0]; old != nil && !item.Expired(old, time.Now()) && (visible == nil || item.Live(backend.Filter{All: [][]uint64{visible}}, old.Tags)) {
			found = old
			out.Versions = append(out.Versions, version(old, true))
		}
	}
	chunks, err := ref.Store.SourceChunks(ctx, found.Num, r.From, r.From+r.Limit+1, false)
	if err != nil {
		return nil, workspace.SourceError(op, class, src.ID, err)
	}
	if out.More = len(chunks) > r.Limit; out.More {
		chunks = chunks[:r.Limit]
	}
	for i := range chunks {
		c := &chunks[i]
		out.Chunks = append(out.Chunks, content.ItemChunk{ID: c.Key, Ordinal: c.Ordinal, Text: c.Text, Heading: c.Heading, Page: pipeline.PageOf(c.Layout),
			Inferred: pipeline.IsInferred(c.Layout)})
	}
	return out, nil
}

func version(src *backend.Source, found bool) content.ItemVersion {
	return content.ItemVersion{Num: src.Num, Status: item.StatusOf(src.State), ErrorCode: src.ErrorCode, ErrorMessage: src.ErrorMessage, Attempts: src.Attempts,
		CreatedAt: src.CreatedAt, UpdatedAt: src.UpdatedAt, SizeBytes: src.SizeBytes, Found: found}
}
