package contextmem

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/pipeline"
)

// storedRelations is the form in which forceful relations are kept.
type storedRelations struct {
	IDs        []string       `json:"ids,omitempty"`
	Properties map[string]any `json:"properties,omitempty"`
	Links      []storedLink   `json:"links,omitempty"`
}

type storedLink struct {
	Predicate  string         `json:"p,omitempty"`
	ID         string         `json:"i,omitempty"`
	Provider   string         `json:"v,omitempty"`
	ExternalID string         `json:"x,omitempty"`
	Properties map[string]any `json:"o,omitempty"`
}

const (
	maxRelatedIDs      = 1000
	defaultPredicate   = "linked_to"
	maxRelationsBytes  = 256 << 10
	maxGraphEntities   = 5000
	maxGraphRelations  = 10000
	maxGraphDegree     = 500
	maxGraphName       = 256
	maxGraphContext    = 2000
	maxGraphIdentifier = 1024
)

func (r *storedRelations) public() *Relations {
	out := &Relations{IDs: r.IDs, Properties: r.Properties}
	for _, l := range r.Links {
		out.Links = append(out.Links, Link{Predicate: l.Predicate, TargetID: l.ID, Provider: l.Provider, ExternalID: l.ExternalID, Properties: l.Properties})
	}
	return out
}

func decodeRelations(d *item.Doc) *storedRelations {
	if len(d.Relations) == 0 {
		return nil
	}
	r := new(storedRelations)
	if json.Unmarshal(d.Relations, r) != nil {
		return nil
	}
	return r
}

// relate checks forceful relations and puts them into the record.
func (in *intake) relate(field string, r *Relations, doc *item.Doc) error {
	if r == nil {
		return nil
	}
	if n := len(r.IDs) + len(r.Links); n > maxRelatedIDs {
		return in.bad(KindInvalid, field+"relations", "%d targets are over the limit of %d", n, maxRelatedIDs)
	}
	st := storedRelations{Properties: r.Properties}
	for _, id := range r.IDs {
		if strings.TrimSpace(id) == "" {
			continue
		}
		if err := checkText(in.op, field+"relations.ids", id, maxSourceIDBytes); err != nil {
			return err
		}
		st.IDs = append(st.IDs, id)
	}
	for i, l := range r.Links {
		f := fmt.Sprintf("%srelations[%d]", field, i)
		for _, s := range [...]string{l.Predicate, l.TargetID, l.Provider, l.ExternalID} {
			if err := checkText(in.op, f, s, maxSourceIDBytes); err != nil {
				return err
			}
		}
		if l.Predicate == "" {
			l.Predicate = defaultPredicate
		}
		if l.TargetID == "" && (l.ExternalID == "" || l.Provider == "") {
			continue // reported as a relations error
		}
		st.Links = append(st.Links, storedLink{Predicate: strings.ToLower(l.Predicate), ID: l.TargetID, Provider: l.Provider, ExternalID: l.ExternalID, Properties: l.Properties})
	}
	b, err := compactJSON(st)
	if err != nil {
		return in.bad(KindInvalid, field+"relations", "can't be written as JSON")
	}
	if len(b) > maxRelationsBytes {
		return in.bad(KindInvalid, field+"relations", "%d bytes are over the limit of %d", len(b), maxRelationsBytes)
	}
	if string(b) != "{}" {
		doc.Relations = b
	}
	return nil
}

// countRelations reports which targets are there. Those that are not resolve when they arrive.
func (in *intake) countRelations(ctx context.Context, res *IngestResult) error {
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
				tags = append(tags, externalTag(l.Provider, l.ExternalID))
			}
		}
	}
	if len(ids) == 0 && len(tags) == 0 && !in.anyBadLink() {
		return nil
	}
	known := map[string]bool{}
	srcs, err := in.held.store.Sources(ctx, in.part, ids)
	if err != nil {
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
		if r == nil || res.Items[i].Err != nil {
			continue
		}
		it := &res.Items[i]
		var missing []string
		for _, id := range r.IDs {
			if known[id] {
				it.RelationsCreated++
			} else if strings.TrimSpace(id) != "" {
				missing = append(missing, id)
			}
		}
		noProvider := 0
		for _, l := range r.Links {
			switch {
			case l.TargetID != "" && known[l.TargetID], l.TargetID == "" && l.Provider != "" && l.ExternalID != "" && external[externalTag(l.Provider, l.ExternalID)]:
				it.RelationsCreated++
			case l.TargetID != "":
				missing = append(missing, l.TargetID)
			case l.Provider == "" || l.ExternalID == "":
				noProvider++
			default:
				missing = append(missing, l.ExternalID)
			}
		}
		it.RelationsError, err = in.relationsError(ctx, other, missing, noProvider)
		if err != nil {
			return err
		}
	}
	return nil
}

// present tells which of the tags some source of the partition has.
func (in *intake) present(ctx context.Context, tags []uint64) (map[uint64]bool, error) {
	slices.Sort(tags)
	tags = slices.Compact(tags)
	found := map[uint64]bool{}
	const page = 500
	for missing := tags; len(missing) > 0; {
		ask := missing[:min(len(missing), page)]
		srcs, n, err := in.held.store.List(ctx, backend.ListQuery{Part: in.part, Filter: backend.Filter{All: [][]uint64{ask}}, Limit: page, Now: in.now})
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
		if n > len(srcs) && len(srcs) > 0 { // several sources share a tag: those not seen yet are asked for again
			missing = append(slices.DeleteFunc(slices.Clone(ask), func(t uint64) bool { return found[t] }), missing...)
			slices.Sort(missing)
		}
	}
	return found, nil
}

func (in *intake) anyBadLink() bool {
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

func (in *intake) relationsError(ctx context.Context, other backend.Partition, missing []string, noProvider int) (string, error) {
	var parts []string
	if len(missing) > 0 {
		foreign := 0
		srcs, err := in.held.store.Sources(ctx, other, missing)
		if err != nil {
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
			parts = append(parts, fmt.Sprintf("%d related items are not there yet, the first is %q; they are linked when they arrive", n, shortID(missing[0])))
		}
	}
	if noProvider > 0 {
		parts = append(parts, fmt.Sprintf("%d links name neither an id nor an external_id with its provider", noProvider))
	}
	return strings.Join(parts, "; "), nil
}

func externalTag(provider, external string) uint64 {
	return item.Tag(item.LayerApp, "pexternal", provider+"\x00"+external)
}

// graphs attaches supplied graphs to the items they name.
func (in *intake) graphs(gs map[string]SuppliedGraph) error {
	for id, g := range gs {
		at := -1
		for i := range in.items {
			if in.items[i].ID == id {
				at = i
			}
		}
		field := "graph_payload." + shortID(id)
		if at < 0 {
			return in.bad(KindInvalid, field, "names no source of this request")
		}
		b, err := in.graph(field, g)
		if err != nil {
			return err
		}
		if err := supply(&in.items[at], b); err != nil {
			return wrap(in.op, ResourceSource, id, err)
		}
	}
	return nil
}

// supply puts a graph with an item and notes that in its record.
func supply(inc *backend.Incoming, graph []byte) error {
	doc, err := item.Decode(inc.Doc)
	if err != nil {
		return err
	}
	doc.Supplied = true
	if inc.Doc, err = doc.Encode(); err != nil {
		return err
	}
	inc.Blobs = append(inc.Blobs, backend.Blob{Kind: backend.Supplied, Data: graph})
	return nil
}

// keepGraphs puts the graph that was supplied with the version before with items that
// come without one.
func (in *intake) keepGraphs(ctx context.Context) error {
	if in.failIfExists || len(in.named) == 0 || in.class == backend.Raw {
		return nil
	}
	st := in.held.store
	srcs, err := st.Sources(ctx, in.part, in.named)
	if err != nil {
		return err
	}
	graphs := map[string][]byte{}
	for _, src := range srcs {
		if src == nil || expired(src, in.now) {
			continue
		}
		doc, err := item.Decode(src.Doc)
		if err != nil {
			return err
		}
		if !doc.Supplied {
			continue
		}
		b, err := st.Content(ctx, src.Num, backend.Supplied)
		if errors.Is(err, backend.ErrNotFound) {
			continue // deleted meanwhile
		}
		if err != nil {
			return err
		}
		graphs[src.ID] = b
	}
	for i := range in.items {
		inc := &in.items[i]
		b, ok := graphs[inc.ID]
		if !ok || slices.ContainsFunc(inc.Blobs, func(b backend.Blob) bool { return b.Kind == backend.Supplied }) {
			continue
		}
		if err := supply(inc, b); err != nil {
			return err
		}
	}
	return nil
}

func (in *intake) graph(field string, g SuppliedGraph) ([]byte, error) {
	if len(g.Entities) > maxGraphEntities {
		return nil, in.bad(KindInvalid, field+".entities", "%d are over the limit of %d", len(g.Entities), maxGraphEntities)
	}
	if len(g.Relations) > maxGraphRelations {
		return nil, in.bad(KindInvalid, field+".relations", "%d are over the limit of %d", len(g.Relations), maxGraphRelations)
	}
	long := func(s string, n int) bool { return utf8.RuneCountInString(s) > n }
	for h, e := range g.Entities {
		f := field + ".entities." + shortID(h)
		if strings.TrimSpace(e.Name) == "" || long(e.Name, maxGraphName) {
			return nil, in.bad(KindInvalid, f+".name", "is required, at most %d characters", maxGraphName)
		}
		for _, s := range [...]string{e.Name, e.Type, e.Namespace, e.Identifier} {
			if err := checkText(in.op, f, s, maxGraphIdentifier); err != nil {
				return nil, err
			}
		}
	}
	var out pipeline.SuppliedGraph
	place, degree := map[string]int{}, map[string]int{}
	at := func(handle string) int {
		i, ok := place[handle]
		if !ok {
			i = len(out.Entities)
			place[handle] = i
			e := g.Entities[handle]
			out.Entities = append(out.Entities, pipeline.SuppliedEntity{Name: strings.ToLower(e.Name), Type: e.Type, Namespace: e.Namespace, Identifier: e.Identifier})
		}
		return i
	}
	for i, r := range g.Relations {
		f := fmt.Sprintf("%s.relations[%d]", field, i)
		for _, h := range [...]string{r.Source, r.Target} {
			if _, ok := g.Entities[h]; !ok {
				return nil, in.bad(KindInvalid, f, "names an entity that the graph does not have")
			}
			if degree[h]++; degree[h] > maxGraphDegree {
				return nil, in.bad(KindInvalid, f, "an entity has over %d relations", maxGraphDegree)
			}
		}
		if strings.TrimSpace(r.Predicate) == "" || long(r.Predicate, maxGraphName) {
			return nil, in.bad(KindInvalid, f+".predicate", "is required, at most %d characters", maxGraphName)
		}
		if long(r.Context, maxGraphContext) {
			return nil, in.bad(KindInvalid, f+".context", "is over %d characters", maxGraphContext)
		}
		for _, s := range [...]string{r.Predicate, r.Context, r.Temporal} {
			if err := checkText(in.op, f, s, 16<<10); err != nil {
				return nil, err
			}
		}
		out.Relations = append(out.Relations, pipeline.SuppliedRelation{From: at(r.Source), To: at(r.Target), Predicate: r.Predicate, Context: r.Context, Temporal: r.Temporal})
	}
	return json.Marshal(out)
}
