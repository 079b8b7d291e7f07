package documents

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/workspace"
)

// History returns the versions of an item in a sub-tenant, given by its stored name.
func History(ctx context.Context, sp *workspace.Space, sub string, r content.HistoryRequest) (*content.History, error) {
	const op = "history"
	for {
		h, err := history(ctx, op, sp, sub, r)
		if !errors.Is(err, backend.ErrConflict) {
			return h, err
		}
	}
}

// history reads the versions once. It returns [backend.ErrConflict] if the newest version was replaced meanwhile.
func history(ctx context.Context, op string, sp *workspace.Space, sub string, r content.HistoryRequest) (*content.History, error) {
	src, err := sp.Find(ctx, op, sub, r.Class, r.ID, r.Principals)
	if err != nil {
		return nil, err
	}
	out := &content.History{ID: src.ID, Class: content.Class(src.Part.Class)}
	wrap := func(err error) (*content.History, error) {
		return nil, workspace.SourceError(op, out.Class, src.ID, err)
	}
	log, err := sp.Store.Content(ctx, src.Num, backend.Past)
	if err != nil && !errors.Is(err, backend.ErrNotFound) {
		return wrap(err)
	}
	p, err := item.DecodePast(log)
	if err != nil {
		return wrap(err)
	}
	f, err := Load(ctx, op, sp, src, true, ShowText)
	if errors.Is(err, backend.ErrNotFound) {
		return nil, backend.ErrConflict
	}
	if err != nil {
		return nil, err
	}
	now, seen := time.Now(), p.Versions[:0]
	for _, v := range p.Versions {
		ok, err := v.Sees(r.Principals)
		if err != nil {
			return wrap(err)
		}
		if ok && !v.Expired(now) {
			seen = append(seen, v)
		}
	}
	var before string
	for i := range seen {
		v := &seen[i]
		x := content.PastVersion{Version: v.N, Title: v.Title, Session: v.Session, Time: v.Time, Stored: v.At, Replaced: v.Until, ReplacedBy: v.N + 1, Cause: content.Replacement(v.By),
			SizeBytes: v.Size, Text: v.Readable(), Lost: v.Lost}
		x.Changes = Differences(before, x.Text)
		before = x.Text
		out.Versions = append(out.Versions, x)
	}
	out.Versions = append(out.Versions, content.PastVersion{Version: p.Newest, Title: src.Title, Session: src.Session, Time: src.Time, Stored: src.UpdatedAt, SizeBytes: src.SizeBytes,
		Text: f.Text, Changes: Differences(before, f.Text)})
	slices.Reverse(out.Versions)
	return out, nil
}
