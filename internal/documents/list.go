package documents

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/metadata"
	"github.com/contextmem/contextmem/internal/workspace"
)

// states converts a list of states to their stored forms; nil for an empty list.
func states(op string, list []content.Status) (out []backend.State, err error) {
	for _, s := range list {
		n := len(out)
		for state := backend.Queued; state <= backend.Errored; state++ {
			if item.StatusOf(state) == s {
				out = append(out, state)
			}
		}
		if len(out) == n {
			return nil, fault.Fieldf(op, fault.KindInvalid, "", "Statuses", "must be queued, processing, graph_creation, completed or errored")
		}
	}
	return out, nil
}

// List returns a page of the items in a sub-tenant, given by its stored name.
func (e *Engine) List(ctx context.Context, op string, ref *workspace.Ref, sub string, r content.ListRequest) (*content.SourcePage, error) {
	unsaid := r.Class == 0
	if unsaid {
		r.Class = content.ClassKnowledge
	}
	if r.Class != content.ClassKnowledge && r.Class != content.ClassMemory {
		return nil, workspace.ClassError(op, r.Class)
	}
	place, err := placeOf(op, &r)
	if err != nil {
		return nil, err
	}
	if r.Page == 0 {
		r.Page = 1
	}
	if r.PageSize == 0 {
		r.PageSize = 50
	}
	if r.Page < 1 || r.Page > 1<<31 {
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "Page", "must be at least 1")
	}
	if r.PageSize < 1 || r.PageSize > 100 {
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "PageSize", "must be between 1 and 100")
	}
	if len(r.IDs) > 100 {
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "IDs", "%d ids are over the limit of 100", len(r.IDs))
	}
	states, err := states(op, r.Statuses)
	if err != nil {
		return nil, err
	}
	filter, warnings, err := metadata.Filter(op, ref.Record.Data.Schema, r.Filters, false)
	if err != nil {
		return nil, err
	}
	for _, f := range [...]struct{ layer, name, value string }{
		{item.LayerField, "title", r.Fields.Title}, {item.LayerField, "type", r.Fields.Kind}, {item.LayerField, "description", r.Fields.Description},
		{item.LayerField, "url", r.Fields.URL}, {item.LayerField, "timestamp", r.Fields.Timestamp}, {item.LayerApp, "kind", r.Fields.AppKind},
		{item.LayerApp, "provider", r.Fields.AppProvider}, {item.LayerApp, "external", r.Fields.AppExternalID}, {item.LayerApp, "parent", r.Fields.AppParentExternalID}} {
		if f.value != "" {
			filter.All = append(filter.All, []uint64{item.Tag(f.layer, f.name, f.value)})
		}
	}
	if g := item.Visible(r.Principals); g != nil {
		filter.All = append(filter.All, g)
	}
	q := backend.ListQuery{Part: backend.Partition{Class: backend.Class(r.Class), Sub: sub}, IDs: r.IDs, States: states, Filter: filter,
		Offset: (r.Page - 1) * r.PageSize, Limit: r.PageSize + 1, Now: time.Now()} // one more than the page, to see whether others follow
	switch {
	case r.Before != "":
		q.Before = place
	case r.After != "":
		q.After = place
	}
	st := ref.Intact()
	srcs, total, err := st.List(ctx, q)
	if err != nil {
		return nil, fault.Wrap(op, fault.Source, "", err)
	}
	out := &content.SourcePage{Total: total, Page: r.Page, PageSize: r.PageSize, Warnings: warnings}
	srcs = cursors(out, &r, srcs, len(srcs) > r.PageSize || place == nil && len(srcs)+st.Damaged() > r.PageSize)
	out.Sources = make([]content.SourceInfo, 0, len(srcs))
	for _, src := range srcs {
		i, err := listed(ctx, op, ref, src, r.Content || r.Class == content.ClassMemory)
		if errors.Is(err, fault.ErrNotFound) || st.Skips(err) { // not found: deleted after it was listed
			continue
		}
		if err != nil {
			return nil, err
		}
		out.Sources = append(out.Sources, i)
	}
	out.Warnings = append(out.Warnings, st.Warnings()...)
	if unsaid && total == 0 {
		out.Warnings = append(out.Warnings, otherClass(ctx, ref, q)...)
	}
	return out, nil
}

// otherClass returns a warning if a list of knowledge, which is the default, is empty and one of memories would not be.
func otherClass(ctx context.Context, ref *workspace.Ref, q backend.ListQuery) []content.Warning {
	q.Part.Class, q.Offset, q.Limit, q.Before, q.After = backend.Memory, 0, 1, nil, nil
	_, n, err := ref.Store.List(ctx, q)
	if err != nil || n == 0 { // it is only a hint
		return nil
	}
	return []content.Warning{{Code: "hint", Field: "Class", Message: fmt.Sprintf("no knowledge is listed, which is the default; memories that match: %d", n)}}
}

// listed describes an item of a list, with its content if that is asked for.
func listed(ctx context.Context, op string, ref *workspace.Ref, src *backend.Source, texts bool) (content.SourceInfo, error) {
	i, err := metadata.Describe(src)
	if err != nil {
		return i, fault.Wrap(op, fault.Source, src.ID, err)
	}
	if !texts {
		return i, nil
	}
	f, err := Load(ctx, op, ref.Space, src, true, ShowAllText)
	if err != nil {
		return i, err
	}
	i.Content, i.Inferred = f.Text, f.Inferred
	if i.Title == "" {
		i.Title = item.ShortTitle(f.Text)
	}
	return i, nil
}
