package intake

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/metadata"
)

const (
	maxRelatedIDs     = 1000
	defaultPredicate  = "linked_to"
	maxRelationsBytes = 256 << 10
)

// relate checks forceful relations and adds them to the record.
func (in *batch) relate(field string, r *content.ForcefulRelations, doc *item.Doc) error {
	if r == nil {
		return nil
	}
	if n := len(r.IDs) + len(r.Links); n > maxRelatedIDs {
		return in.bad(fault.KindInvalid, field+"ForcefulRelations", "%d targets are over the limit of %d", n, maxRelatedIDs)
	}
	st := item.ForcefulRelations{Properties: r.Properties}
	for _, id := range r.IDs {
		if strings.TrimSpace(id) == "" {
			continue
		}
		if err := fault.CheckText(in.op, field+"ForcefulRelations.IDs", id, MaxSourceIDBytes); err != nil {
			return err
		}
		st.IDs = append(st.IDs, id)
	}
	for i, l := range r.Links {
		f := fmt.Sprintf("%sForcefulRelations.Links[%d]", field, i)
		for _, s := range [...]string{l.Predicate, l.TargetID, l.Provider, l.ExternalID} {
			if err := fault.CheckText(in.op, f, s, MaxSourceIDBytes); err != nil {
				return err
			}
		}
		if l.Predicate == "" {
			l.Predicate = defaultPredicate
		}
		if l.TargetID == "" && (l.ExternalID == "" || l.Provider == "") {
			continue // countRelations reports it as an error
		}
		st.Links = append(st.Links, item.Link{Predicate: strings.ToLower(l.Predicate), ID: l.TargetID, Provider: l.Provider, ExternalID: l.ExternalID, Properties: l.Properties})
	}
	b, err := metadata.CompactJSON(st)
	if err != nil {
		return in.bad(fault.KindInvalid, field+"ForcefulRelations", "can't be written as JSON")
	}
	if len(b) > maxRelationsBytes {
		return in.bad(fault.KindInvalid, field+"ForcefulRelations", "%d bytes are over the limit of %d", len(b), maxRelationsBytes)
	}
	if string(b) != "{}" {
		doc.ForcefulRelations = b
	}
	return nil
}

// countRelations sets, for each item, how many targets of its relations exist. A relation to a missing target takes effect
// when the target is added.
func (in *batch) countRelations(ctx context.Context) error {
	var ids []string
	var tags []uint64
	for _, r := range in.links {
		if r == nil {
			continue
		}
		ids = append(ids, r.IDs...)
		for _, l := range r.Links {
			if l.TargetID != "" {
				ids = append(ids, l.TargetID)
			} else if l.Provider != "" && l.ExternalID != "" {
				tags = append(tags, item.ExternalTag(l.Provider, l.ExternalID))
			}
		}
	}
	if len(ids) == 0 && len(tags) == 0 && !in.anyBadLink() {
		return nil
	}
	known := map[string]bool{}
	srcs, err := in.ref.Store.Sources(ctx, in.part, ids)
	if err = backend.Undamaged(err); err != nil {
		return err
	}
	for i, s := range srcs {
		known[ids[i]] = s != nil
	}
	external, err := in.present(ctx, tags)
	if err != nil {
		return err
	}
	other := backend.Partition{Class: backend.Knowledge + backend.Memory - in.class, Sub: in.part.Sub}
	for i, r := range in.links {
		if r == nil || in.result[i].Err != nil {
			continue
		}
		it := &in.result[i]
		var missing []string
		for _, id := range r.IDs {
			if known[id] {
				it.ForcefulRelationsCreated++
			} else if strings.TrimSpace(id) != "" {
				missing = append(missing, id)
			}
		}
		noProvider := 0
		for _, l := range r.Links {
			switch {
			case l.TargetID != "" && known[l.TargetID], l.TargetID == "" && l.Provider != "" && l.ExternalID != "" && external[item.ExternalTag(l.Provider, l.ExternalID)]:
				it.ForcefulRelationsCreated++
			case l.TargetID != "":
				missing = append(missing, l.TargetID)
			case l.Provider == "" || l.ExternalID == "":
				noProvider++
			default:
				missing = append(missing, l.ExternalID)
			}
		}
		it.ForcefulRelationsError, err = in.relationsError(ctx, other, missing, noProvider)
		if err != nil {
			return err
		}
	}
	return nil
}

// present returns those of the tags that some source of the partition has.
func (in *batch) present(ctx context.Context, tags []uint64) (map[uint64]bool, error) {
	slices.Sort(tags)
	tags = slices.Compact(tags)
	found := map[uint64]bool{}
	const page = 500
	for missing := tags; len(missing) > 0; {
		ask := missing[:min(len(missing), page)]
		srcs, n, err := in.ref.Store.List(ctx, backend.ListQuery{Part: in.part, Filter: backend.Filter{All: [][]uint64{ask}}, Limit: page, Now: in.now})
		if err != nil {
			return nil, err
		}
		for _, src := range srcs {
			for _, t := range src.Tags {
				if _, asked := slices.BinarySearch(ask, t); asked {
					found[t] = true
				}
			}
		}
		missing = missing[len(ask):]
		if n > len(srcs) && len(srcs) > 0 { // several sources share a tag, so ask again for the tags not seen yet
			missing = append(slices.DeleteFunc(slices.Clone(ask), func(t uint64) bool { return found[t] }), missing...)
			slices.Sort(missing)
		}
	}
	return found, nil
}

func (in *batch) anyBadLink() bool {
	for _, r := range in.links {
		if r == nil {
			continue
		}
		for _, l := range r.Links {
			if l.TargetID == "" && (l.Provider == "" || l.ExternalID == "") {
				return true
			}
		}
	}
	return false
}

func (in *batch) relationsError(ctx context.Context, other backend.Partition, missing []string, noProvider int) (string, error) {
	var parts []string
	if len(missing) > 0 {
		foreign := 0
		srcs, err := in.ref.Store.Sources(ctx, other, missing)
		if err = backend.Undamaged(err); err != nil {
			return "", err
		}
		for _, s := range srcs {
			if s != nil {
				foreign++
			}
		}
		if foreign > 0 {
			parts = append(parts, fmt.Sprintf("%d of the related ids are in the other store: links between knowledge and memories have no effect", foreign))
		}
		if n := len(missing) - foreign; n > 0 {
			parts = append(parts, fmt.Sprintf("%d related items are not there yet, the first is %q; they are linked when they arrive", n, fault.ShortID(missing[0])))
		}
	}
	if noProvider > 0 {
		parts = append(parts, fmt.Sprintf("%d links name neither an id nor an external_id with its provider", noProvider))
	}
	return strings.Join(parts, "; "), nil
}
