package httpapi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextmem/contextmem"
)

// class reads the type of one class.
func (c *call) class() (contextmem.Class, error) {
	t, err := c.in.choice("type", "knowledge", "knowledge", "memory")
	if t == "memory" {
		return contextmem.ClassMemory, err
	}
	return contextmem.ClassKnowledge, err
}

func v2Ingest(c *call, sub contextmem.Sub) (any, error) {
	class, err := c.class()
	if err != nil {
		return nil, err
	}
	if class == contextmem.ClassMemory {
		return v2IngestMemories(c, sub)
	}
	if c.in.fields.has("memories") {
		return nil, bad(contextmem.KindInvalid, "memories", "needs type memory")
	}
	return c.addKnowledge(sub, "document_metadata")
}

func v2IngestMemories(c *call, sub contextmem.Sub) (any, error) {
	if len(c.in.files) > 0 {
		return nil, bad(contextmem.KindInvalid, "documents", "needs type knowledge")
	}
	v, err := c.in.jsonField("memories", c.api.o.MaxJSONDepth)
	if err != nil {
		return nil, err
	}
	if v == nil {
		return nil, bad(contextmem.KindUnprocessed, "memories", "is required with type memory")
	}
	b, err := c.memoryBatch(v)
	if err != nil {
		return nil, err
	}
	for i, m := range b.Memories {
		if err := c.noComma(fmt.Sprintf("memories[%d].id", i), m.ID); err != nil {
			return nil, err
		}
	}
	if b.Metadata, err = c.formMap("metadata"); err != nil {
		return nil, err
	}
	if b.AdditionalMetadata, err = c.formMap("additional_metadata"); err != nil {
		return nil, err
	}
	if v, err = c.in.jsonField("graph_payload", c.api.o.MaxJSONDepth); err != nil {
		return nil, err
	}
	if b.Graphs, err = graphs(v); err != nil {
		return nil, err
	}
	res, err := sub.AddMemories(c.ctx, b)
	if err != nil {
		return nil, err
	}
	return ingestJSON(res, "Memories"), nil
}

func v2Status(c *call, sub contextmem.Sub) (any, error) {
	ids, err := c.in.strings("ids")
	if err != nil {
		return nil, err
	}
	one, err := c.in.str("id")
	if err != nil {
		return nil, err
	}
	ids = slices.DeleteFunc(append([]string{one}, ids...), func(s string) bool { return strings.TrimSpace(s) == "" })
	if len(ids) == 0 {
		return nil, bad(contextmem.KindInvalid, "ids", "needs at least one id")
	}
	st, err := c.statuses(sub, ids)
	if err != nil {
		return nil, err
	}
	rows := make([]map[string]any, len(st))
	for i, s := range st {
		rows[i] = statusJSON(s, gen2)
	}
	return map[string]any{"statuses": rows}, nil
}

func v2Inspect(c *call, sub contextmem.Sub) (any, error) {
	id, err := c.in.required("id")
	if err != nil {
		return nil, err
	}
	return c.fetch(sub, id, "both")
}

func v2List(c *call) (any, error) {
	class, err := c.class()
	if err != nil {
		return nil, err
	}
	return c.list(class, "ids")
}

// sourceFields maps the keys of filters.source_fields.
func sourceFields(m map[string]any) (contextmem.SourceFilter, error) {
	var f contextmem.SourceFilter
	to := map[string]*string{"title": &f.Title, "type": &f.Kind, "description": &f.Description, "url": &f.URL, "timestamp": &f.Timestamp,
		"app_kind": &f.AppKind, "app_provider": &f.AppProvider, "app_external_id": &f.AppExternalID, "app_parent_id": &f.AppParentExternalID}
	for k, v := range m {
		p, ok := to[k]
		if !ok {
			return f, bad(contextmem.KindInvalid, "filters.source_fields."+cut(k), "is not a field to filter by")
		}
		s, err := toString("filters.source_fields."+k, v)
		if err != nil {
			return f, err
		}
		*p = s
	}
	return f, nil
}

// list serves both generations; idsField names their subset of ids.
func (c *call) list(class contextmem.Class, idsField string) (any, error) {
	sub, err := c.sub()
	if err != nil {
		return nil, err
	}
	r := contextmem.ListRequest{Class: class}
	if c.in.fields.has(idsField) {
		if r.IDs, err = c.in.strings(idsField); err != nil {
			return nil, err
		}
		if r.IDs == nil {
			r.IDs = []string{}
		}
	}
	if r.Page, err = c.in.integer("page", 1); err != nil {
		return nil, err
	}
	if r.PageSize, err = c.in.integer("page_size", 50); err != nil {
		return nil, err
	}
	if r.Page < 1 {
		return nil, bad(contextmem.KindInvalid, "page", "must be at least 1")
	}
	if err := ranged("page_size", r.PageSize, 1, 100); err != nil {
		return nil, err
	}
	fm, err := c.in.object("filters")
	if err != nil {
		return nil, err
	}
	for _, layer := range []struct {
		names []string
		to    *map[string]any
	}{{[]string{"metadata", "tenant_metadata"}, &r.Filters.Metadata}, {[]string{"additional_metadata", "document_metadata"}, &r.Filters.Additional}} {
		for _, name := range layer.names {
			m, err := toObject("filters."+name, fm[name])
			if err != nil {
				return nil, err
			}
			for k, v := range m {
				if *layer.to == nil {
					*layer.to = map[string]any{}
				}
				if old, ok := (*layer.to)[k]; ok && !sameValue(old, v) {
					return nil, bad(contextmem.KindInvalid, "filters."+name+"."+cut(k), "differs between the two names of the map")
				}
				(*layer.to)[k] = v
			}
		}
	}
	sf, err := toObject("filters.source_fields", fm["source_fields"])
	if err != nil {
		return nil, err
	}
	if r.Fields, err = sourceFields(sf); err != nil {
		return nil, err
	}
	var fields []string
	if c.in.fields.has("include_fields") && class == contextmem.ClassKnowledge {
		if fields, err = c.in.strings("include_fields"); err != nil {
			return nil, err
		}
		for _, f := range fields {
			if !slices.Contains(listFields, f) && f != "id" {
				return nil, bad(contextmem.KindInvalid, "include_fields", "%q is not a field of a source", cut(f))
			}
		}
		fields = slices.DeleteFunc(append([]string{}, fields...), func(f string) bool { return f == "id" })
		r.Content = slices.Contains(fields, "content")
	}
	if r.Principals, err = c.in.strings("acl"); err != nil {
		return nil, err
	}
	p, err := sub.List(c.ctx, r)
	if err != nil {
		return nil, err
	}
	c.warn = append(c.warn, p.Warnings...)
	rows := make([]map[string]any, len(p.Sources))
	for i := range p.Sources {
		if class == contextmem.ClassMemory {
			rows[i] = memoryJSON(&p.Sources[i])
		} else {
			rows[i] = rowJSON(sub.Tenant().ID(), &p.Sources[i], fields)
		}
	}
	out := map[string]any{"success": true, "message": "Items retrieved", "total": p.Total, "pagination": paginationJSON(p)}
	if class == contextmem.ClassMemory {
		out["user_memories"] = rows
	} else {
		out["sources"] = rows
	}
	return out, nil
}

func v2EditMetadata(c *call, sub contextmem.Sub) (any, error) {
	var err error
	if c.in.fields.has("document_metadata") {
		return nil, bad(contextmem.KindInvalid, "document_metadata", "invalid metadata edit: use additional_metadata")
	}
	r := contextmem.EditRequest{ID: c.r.PathValue("source_id")}
	if c.in.fields.has("type") {
		if r.Class, err = c.class(); err != nil {
			return nil, err
		}
	}
	v, err := unite(c.in.fields.object(), "", "metadata", "tenant_metadata", "database_metadata")
	if err != nil {
		return nil, err
	}
	if r.Metadata, err = metadataMap("metadata", v); err != nil {
		return nil, err
	}
	if r.Additional, err = metadataMap("additional_metadata", c.in.fields.get("additional_metadata")); err != nil {
		return nil, err
	}
	res, err := sub.EditMetadata(c.ctx, r)
	if err != nil {
		return nil, err
	}
	name, err := c.in.str("collection")
	if err != nil {
		return nil, err
	}
	if name == "" {
		name = sub.Tenant().ID()
	}
	out := c.database(map[string]any{"id": res.ID, "source_id": res.ID, "collection": name, "sub_tenant_id": name, "updated": res.Updated,
		"database_metadata_keys": orNone(res.MetadataKeys), "tenant_metadata_keys": orNone(res.MetadataKeys), "additional_metadata_keys": orNone(res.AdditionalKeys),
		"chunk_rows_matched": res.Chunks, "chunk_rows_modified": res.Chunks, "vector_sync_required": res.Reembedded, "vector_synced": res.Reembedded, "vector_rows_synced": 0,
		"metadata": orEmpty(res.Metadata), "additional_metadata": orEmpty(res.Additional), "message": "Metadata updated"}, sub.Tenant())
	if res.Reembedded {
		out["vector_rows_synced"] = res.Chunks
	}
	for _, k := range []string{"sync_required", "synced", "rows_synced"} { // the names that the published description uses
		out["milvus_"+k] = out["vector_"+k]
	}
	return out, nil
}

// strictDelete is a delete that fails as a whole because the caller asked for that.
type strictDelete struct {
	err     *contextmem.Error
	results []map[string]any
}

// Error implements error.
func (s *strictDelete) Error() string { return s.err.Error() }

// Unwrap lets the error table see the kind.
func (s *strictDelete) Unwrap() error { return s.err }

func v2Delete(c *call, sub contextmem.Sub) (any, error) {
	class, err := c.class()
	if err != nil {
		return nil, err
	}
	ids, err := c.in.strings("ids")
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, bad(contextmem.KindUnprocessed, "ids", "needs at least one id")
	}
	strict := false
	for _, h := range []string{"X-Service-Delete-Status", "X-HydraDB-Delete-Status"} {
		strict = strict || strings.EqualFold(c.r.Header.Get(h), "strict")
	}
	res, err := sub.DeleteItems(c.ctx, contextmem.DeleteRequest{IDs: ids, Class: class, KeepIndexing: strict})
	if err != nil {
		return nil, err
	}
	results := deleteJSON(res)
	if strict && res.Deleted == 0 {
		e := &contextmem.Error{Kind: contextmem.KindNotFound, Err: constError("no id matched")}
		for _, it := range res.Items {
			if ce, ok := it.Err.(*contextmem.Error); ok && ce.Kind == contextmem.KindProcessing {
				e = ce
			}
		}
		return nil, &strictDelete{e, results}
	}
	out := map[string]any{"success": true, "message": deleteMessage(res), "results": results, "deleted_count": res.Deleted}
	if class == contextmem.ClassMemory {
		out["user_memory_deleted"] = res.Deleted
	}
	return out, nil
}

func v2Relations(c *call, sub contextmem.Sub) (any, error) {
	var err error
	var r contextmem.RelationsRequest
	if r.Class, err = c.class(); err != nil {
		return nil, err
	}
	if r.SourceID, err = c.in.str("id"); err != nil {
		return nil, err
	}
	if r.Limit, err = c.in.integer("limit", 5000); err != nil {
		return nil, err
	}
	if err := ranged("limit", r.Limit, 1, 10000); err != nil {
		return nil, err
	}
	cursor, err := c.in.str("cursor")
	if err != nil {
		return nil, err
	}
	if cursor != "" {
		if _, err := fmt.Sscanf(cursor, "%d", &r.Cursor); err != nil || r.Cursor < 0 {
			return nil, bad(contextmem.KindInvalid, "cursor", "is not one that was handed out")
		}
	}
	if r.Principals, err = c.in.strings("acl"); err != nil {
		return nil, err
	}
	p, err := sub.Relations(c.ctx, r)
	if err != nil {
		return nil, err
	}
	out := map[string]any{"relations": groupsJSON(p.Groups), "is_truncated": p.Truncated, "next_cursor": nil, "success": true, "message": "Relations retrieved"}
	if p.Truncated {
		out["next_cursor"] = p.Next
	}
	return out, nil
}

func v2Subgraph(c *call, sub contextmem.Sub) (any, error) {
	var err error
	r := contextmem.SubgraphRequest{SourceID: c.r.PathValue("source_id")}
	if r.Class, err = c.class(); err != nil {
		return nil, err
	}
	if r.Depth, err = c.in.integer("depth", 5); err != nil {
		return nil, err
	}
	if r.MaxSources, err = c.in.integer("max_sources", 200); err != nil {
		return nil, err
	}
	if err := ranged("depth", r.Depth, 1, 10); err != nil {
		return nil, err
	}
	if err := ranged("max_sources", r.MaxSources, 1, 1000); err != nil {
		return nil, err
	}
	acl, err := c.in.strings("acl")
	if err != nil {
		return nil, err
	}
	r.Principals = splitIDs(acl, func(string) bool { return false })
	g, err := sub.Subgraph(c.ctx, r)
	if err != nil {
		return nil, err
	}
	members := make([]map[string]any, len(g.Members))
	names := map[string]string{}
	for i, m := range g.Members {
		names[m.Source.ID] = m.Source.Title
		x := map[string]any{"source_id": m.Source.ID, "title": m.Source.Title, "app_kind": nil, "app_provider": nil, "app_external_id": nil, "thread_id": nil, "depth": m.Depth,
			"hydration": "full", "discovered_via": textOrNull(m.Via), "discovered_relation": textOrNull(m.Relation)}
		if a := m.Source.App; a != nil {
			x["app_kind"], x["app_provider"], x["app_external_id"], x["thread_id"] = textOrNull(string(a.Kind)), textOrNull(a.Provider), textOrNull(a.ExternalID), textOrNull(a.ThreadID)
		}
		members[i] = x
	}
	node := func(id string) map[string]any {
		return entityJSON(contextmem.Entity{ID: id, Name: names[id], Type: "SOURCE", Namespace: "default"})
	}
	edges := make([]map[string]any, len(g.Edges))
	for i, e := range g.Edges {
		ev := evidenceJSON(contextmem.Evidence{ID: fmt.Sprintf("link_%d", i), Canonical: e.Predicate, Raw: e.Predicate, Confidence: 1, SourceID: e.Source, TargetID: e.Target})
		edges[i] = map[string]any{"source": node(e.Source), "target": node(e.Target), "relations": []map[string]any{ev}, "chunk_id": nil}
	}
	return map[string]any{"seed_source_id": g.Seed, "sources": members, "relations": edges, "auxiliary_relations": []any{}, "auxiliary_truncated": false,
		"is_truncated": g.Truncated, "max_depth_reached": g.MaxDepthReached, "success": true, "message": "Subgraph retrieved"}, nil
}
