package graph

import (
	"context"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
)

// Linked is a source that is linked with another one.
type Linked struct {
	Source    *backend.Source
	Predicate string
}

// Docs returns the record of a source. The caller must not change the record.
type Docs func(src *backend.Source) (*item.Doc, error)

// decode is a Docs for callers that read each record once.
func decode(src *backend.Source) (*item.Doc, error) { return item.Decode(src.Doc) }

// LinksOf returns up to limit sources that the forceful relations of src name, in order.
func LinksOf(ctx context.Context, st backend.Store, docs Docs, src *backend.Source, limit int) ([]Linked, error) {
	doc, err := docs(src)
	if err != nil {
		return nil, err
	}
	rel := doc.Linked()
	if rel == nil {
		return nil, nil
	}
	var ids, predicates []string
	for _, id := range rel.IDs {
		ids, predicates = append(ids, id), append(predicates, relatesTo)
	}
	now := time.Now()
	var out []Linked
	seen := map[int64]bool{src.Num: true}
	add := func(s *backend.Source, predicate string) {
		if s != nil && !seen[s.Num] && (s.ExpiresAt.IsZero() || s.ExpiresAt.After(now)) && len(out) < limit {
			seen[s.Num] = true
			out = append(out, Linked{s, predicate})
		}
	}
	for _, l := range rel.Links {
		if l.ID != "" {
			ids, predicates = append(ids, l.ID), append(predicates, l.Predicate)
		}
	}
	ids, predicates = ids[:min(len(ids), limit)], predicates[:min(len(predicates), limit)]
	srcs, err := st.Sources(ctx, src.Part, ids)
	if err = backend.Undamaged(err); err != nil {
		return nil, err
	}
	for i, s := range srcs {
		add(s, predicates[i])
	}
	for _, l := range rel.Links {
		if l.ID != "" || len(out) >= limit {
			continue
		}
		found, err := ByTag(ctx, st, src.Part, item.ExternalTag(l.Provider, l.ExternalID), 1)
		if err != nil {
			return nil, err
		}
		for _, s := range found {
			add(s, l.Predicate)
		}
	}
	return out, nil
}

// relatesTo is the predicate of forceful relations without a type.
const relatesTo = "relates_to"

// ByTag returns up to limit sources of a partition with a tag, newest first.
func ByTag(ctx context.Context, st backend.Store, part backend.Partition, tag uint64, limit int) ([]*backend.Source, error) {
	srcs, _, err := st.List(ctx, backend.ListQuery{Part: part, Filter: backend.Filter{All: [][]uint64{{tag}}}, Limit: limit, Now: time.Now()})
	return srcs, err
}

// LinkTags returns the tags that sources have whose forceful relations name src.
func LinkTags(docs Docs, src *backend.Source) ([]uint64, error) {
	tags := []uint64{item.Tag(item.LayerLink, "id", src.ID)}
	doc, err := docs(src)
	if err != nil {
		return nil, err
	}
	if a := doc.App; a != nil && a.Provider != "" && a.ExternalID != "" {
		tags = append(tags, item.Tag(item.LayerLink, "external", a.Provider+"\x00"+a.ExternalID))
	}
	return tags, nil
}

// LinkedFrom returns the sources in from whose forceful relations name src.
func LinkedFrom(docs Docs, src *backend.Source, from []*backend.Source) ([]Linked, error) {
	if len(from) == 0 {
		return nil, nil
	}
	doc, err := docs(src)
	if err != nil {
		return nil, err
	}
	var out []Linked
	for _, s := range from {
		if s.Num == src.Num {
			continue
		}
		d, err := docs(s)
		if err != nil {
			return nil, err
		}
		rel := d.Linked()
		if rel == nil {
			continue
		}
		if slices.Contains(rel.IDs, src.ID) {
			out = append(out, Linked{s, relatesTo})
			continue
		}
		for _, l := range rel.Links {
			if l.ID == src.ID || doc.App != nil && l.ExternalID != "" && l.Provider == doc.App.Provider && l.ExternalID == doc.App.ExternalID {
				out = append(out, Linked{s, l.Predicate})
				break
			}
		}
	}
	return out, nil
}
