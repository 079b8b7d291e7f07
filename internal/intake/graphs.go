package intake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/pipeline"
)

const (
	maxGraphEntities   = 5000
	maxGraphRelations  = 10000
	maxGraphDegree     = 500
	maxGraphName       = 256
	maxGraphContext    = 2000
	MaxGraphIdentifier = 1024
)

// graphs attaches supplied graphs to the items whose ids they name.
func (in *batch) graphs(gs map[string]content.SuppliedGraph) error {
	for id, g := range gs {
		at := -1
		for i := range in.items {
			if in.items[i].ID == id {
				at = i
			}
		}
		field := "Graphs." + fault.ShortID(id)
		if at < 0 && slices.ContainsFunc(in.beside, func(b besideItem) bool { return b.item.ID == id }) {
			continue
		}
		if at < 0 {
			return in.bad(fault.KindInvalid, field, "names no source of this request")
		}
		b, err := in.graph(field, g)
		if err != nil {
			return err
		}
		if err := supply(&in.items[at], b); err != nil {
			return fault.Wrap(in.op, fault.Source, id, err)
		}
	}
	return nil
}

// supply adds a graph to the blobs of an item and records that in its doc.
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

// keep adds to the items what they inherit from the versions that they replace: the earlier versions, and the supplied
// graph if an item has none of its own.
func (in *batch) keep(ctx context.Context) error {
	if in.failIfExists || len(in.named) == 0 || in.class == backend.Raw {
		return nil
	}
	st := in.ref.Store
	srcs, err := st.Sources(ctx, in.part, in.named) // what is damaged is replaced without inheriting anything
	if err = backend.Undamaged(err); err != nil {
		return err
	}
	graphs := map[string][]byte{}
	for _, src := range srcs {
		if src == nil || item.Expired(src, in.now) {
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
		if errors.Is(err, backend.ErrNotFound) || errors.Is(err, backend.ErrCorrupt) {
			continue // deleted meanwhile, or damaged
		}
		if err != nil {
			return err
		}
		graphs[src.ID] = b
	}
	if in.Versions > 0 {
		stored := map[string]*backend.Source{}
		for _, src := range srcs {
			if src != nil {
				stored[src.ID] = src
			}
		}
		items := make([]*backend.Incoming, len(in.items))
		for i := range in.items {
			items[i] = &in.items[i]
		}
		if err := in.keepPast(ctx, stored, items); err != nil {
			return err
		}
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

func (in *batch) graph(field string, g content.SuppliedGraph) ([]byte, error) {
	if len(g.Entities) > maxGraphEntities {
		return nil, in.bad(fault.KindInvalid, field+".Entities", "%d are over the limit of %d", len(g.Entities), maxGraphEntities)
	}
	if len(g.Relations) > maxGraphRelations {
		return nil, in.bad(fault.KindInvalid, field+".Relations", "%d are over the limit of %d", len(g.Relations), maxGraphRelations)
	}
	long := func(s string, n int) bool { return utf8.RuneCountInString(s) > n }
	for h, e := range g.Entities {
		f := field + ".Entities." + fault.ShortID(h)
		if strings.TrimSpace(e.Name) == "" || long(e.Name, maxGraphName) {
			return nil, in.bad(fault.KindInvalid, f+".Name", "is required, at most %d characters", maxGraphName)
		}
		for _, s := range [...]string{e.Name, e.Type, e.Namespace, e.Identifier} {
			if err := fault.CheckText(in.op, f, s, MaxGraphIdentifier); err != nil {
				return nil, err
			}
		}
		if n := len(e.Namespace) + len(e.Identifier); e.Identifier != "" && n > item.MaxIdentified {
			return nil, in.bad(fault.KindInvalid, f+".Identifier", "%d bytes with the namespace are over the limit of %d", n, item.MaxIdentified)
		}
		if strings.ContainsRune(e.Namespace, 0x1f) {
			return nil, in.bad(fault.KindInvalid, f+".Namespace", "holds a unit separator (U+001F)")
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
		f := fmt.Sprintf("%s.Relations[%d]", field, i)
		for _, h := range [...]string{r.Source, r.Target} {
			if _, ok := g.Entities[h]; !ok {
				return nil, in.bad(fault.KindInvalid, f, "names an entity that the graph does not have")
			}
			if degree[h]++; degree[h] > maxGraphDegree {
				return nil, in.bad(fault.KindInvalid, f, "an entity has over %d relations", maxGraphDegree)
			}
		}
		if strings.TrimSpace(r.Predicate) == "" || long(r.Predicate, maxGraphName) {
			return nil, in.bad(fault.KindInvalid, f+".Predicate", "is required, at most %d characters", maxGraphName)
		}
		if long(r.Context, maxGraphContext) {
			return nil, in.bad(fault.KindInvalid, f+".Context", "is over %d characters", maxGraphContext)
		}
		for _, s := range [...]string{r.Predicate, r.Context, r.Temporal} {
			if err := fault.CheckText(in.op, f, s, 16<<10); err != nil {
				return nil, err
			}
		}
		out.Relations = append(out.Relations, pipeline.SuppliedRelation{From: at(r.Source), To: at(r.Target), Predicate: r.Predicate, Context: r.Context, Temporal: r.Temporal})
	}
	return json.Marshal(out)
}
