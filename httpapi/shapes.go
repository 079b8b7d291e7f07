package httpapi

import (
	"encoding/base64"
	"time"

	"github.com/contextmem/contextmem"
)

// chunkJSON is a chunk as both generations show it.
func chunkJSON(ch *contextmem.Chunk, explain bool) map[string]any {
	m := map[string]any{
		"chunk_uuid": ch.ID, "id": ch.SourceID, "source_id": ch.SourceID, "chunk_content": ch.Text, "source_type": ch.Kind, "source_title": ch.Title,
		"source_upload_time": timeText(ch.CreatedAt), "source_last_updated_time": timeText(ch.UpdatedAt), "layout": textOrNull(ch.Layout),
		"relevancy_score": ch.Score, "metadata": orEmpty(ch.Metadata), "additional_metadata": orEmpty(ch.Additional),
		"tenant_metadata": orEmpty(ch.Metadata), "document_metadata": orEmpty(ch.Additional), "extra_context_ids": orNone(ch.ExtraContextIDs),
		"collection": ch.Sub, "sub_tenant_id": ch.Sub,
	}
	if explain && ch.Explain != nil {
		m["score_parts"] = scoreParts(ch.Explain)
	}
	return m
}

// scoreParts shows the parts of a score that apply.
func scoreParts(e *contextmem.Explain) map[string]float64 {
	m := map[string]float64{}
	for _, p := range [...]struct {
		name string
		v    float64
	}{{"semantic", e.Semantic}, {"keyword", e.Keyword}, {"context", e.Context}, {"speaker", e.Speaker}, {"time", e.Time}, {"entity", e.Entity}, {"graph", e.Graph},
		{"bridge", e.Bridge}, {"expansion", e.Expansion}, {"late_interaction", e.Late}, {"rerank", e.Rerank}, {"app", e.App}, {"recency", e.Recency}, {"feedback", e.Feedback}} {
		if p.v != 0 {
			m[p.name] = p.v
		}
	}
	return m
}

func orNone(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// sourceJSON is a source in a recall result.
func sourceJSON(s *contextmem.SourceInfo) map[string]any {
	m := map[string]any{
		"id": s.ID, "title": s.Title, "type": s.Kind, "description": s.Description, "url": s.URL, "timestamp": timeText(firstTime(s.Timestamp, s.CreatedAt)),
		"metadata": orEmpty(s.Metadata), "additional_metadata": orEmpty(s.Additional), "tenant_metadata": orEmpty(s.Metadata), "document_metadata": orEmpty(s.Additional),
		"app_kind": nil, "app_provider": nil, "app_external_id": nil, "collection": s.Sub, "sub_tenant_id": s.Sub,
	}
	if s.App != nil {
		m["app_kind"], m["app_provider"], m["app_external_id"] = textOrNull(string(s.App.Kind)), textOrNull(s.App.Provider), textOrNull(s.App.ExternalID)
	}
	return m
}

func firstTime(ts ...time.Time) time.Time {
	for _, t := range ts {
		if !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}

// listFields are the values of include_fields.
var listFields = []string{"attachments", "content", "description", "document_metadata", "note", "relations", "tenant_metadata", "timestamp", "title", "type", "url", "metadata", "additional_metadata"}

// rowJSON is a source in a list, with the fields asked for (nil: all but content).
func rowJSON(tenant string, s *contextmem.SourceInfo, fields []string) map[string]any {
	all := map[string]any{
		"title": s.Title, "type": s.Kind, "description": s.Description, "note": s.Note, "url": s.URL, "timestamp": timeText(firstTime(s.Timestamp, s.CreatedAt)),
		"metadata": orEmpty(s.Metadata), "additional_metadata": orEmpty(s.Additional), "tenant_metadata": orEmpty(s.Metadata), "document_metadata": orEmpty(s.Additional),
		"relations": relationsJSON(s.Relations), "attachments": []map[string]any{}, "content": map[string]any{"text": s.Content},
	}
	m := map[string]any{"id": s.ID, "source_id": s.ID, "database": tenant, "tenant_id": tenant, "collection": s.Sub, "sub_tenant_id": s.Sub}
	if s.App != nil && s.App.Attachments != nil {
		all["attachments"] = s.App.Attachments
	}
	if fields == nil {
		for k, v := range all {
			if k != "content" {
				m[k] = v
			}
		}
		m["created_at"], m["updated_at"], m["meta"], m["indexing_status"] = timeText(s.CreatedAt), timeText(s.UpdatedAt), map[string]any{}, string(s.Status)
		m["app_kind"], m["app_provider"], m["app_external_id"], m["app_parent_id"] = nil, nil, nil, nil
		if s.App != nil {
			m["app_kind"], m["app_provider"] = textOrNull(string(s.App.Kind)), textOrNull(s.App.Provider)
			m["app_external_id"], m["app_parent_id"] = textOrNull(s.App.ExternalID), textOrNull(s.App.ParentID)
		}
		return m
	}
	for _, f := range fields {
		m[f] = all[f]
	}
	return m
}

func relationsJSON(r *contextmem.Relations) any {
	if r == nil {
		return nil
	}
	m := map[string]any{"ids": orNone(r.IDs), "hydradb_source_ids": orNone(r.IDs), "properties": orEmpty(r.Properties)}
	if len(r.Links) > 0 {
		var links []map[string]any
		for _, l := range r.Links {
			target := map[string]any{}
			if l.TargetID != "" {
				target["id"] = l.TargetID
			} else {
				target["provider"], target["external_id"] = l.Provider, l.ExternalID
			}
			links = append(links, map[string]any{"predicate": l.Predicate, "target": target, "properties": orEmpty(l.Properties)})
		}
		m["links"] = links
	}
	return m
}

// memoryJSON is a memory in a list.
func memoryJSON(s *contextmem.SourceInfo) map[string]any {
	return map[string]any{"memory_id": s.ID, "id": s.ID, "memory_content": s.Content, "inferred_content": textOrNull(s.Inferred), "title": s.Title,
		"metadata": orEmpty(s.Metadata), "additional_metadata": orEmpty(s.Additional), "created_at": timeText(s.CreatedAt), "updated_at": timeText(s.UpdatedAt)}
}

func paginationJSON(p *contextmem.SourcePage) map[string]any {
	return map[string]any{"page": p.Page, "page_size": p.PageSize, "total": p.Total, "total_pages": p.Pages(), "has_next": p.Page < p.Pages(), "has_previous": p.Page > 1}
}

// resultJSON is a recall result. The graph context is empty where it was not asked for in
// the first generation, and left out in the second.
func resultJSON(res *contextmem.Result, f family) map[string]any {
	chunks := make([]map[string]any, len(res.Chunks))
	for i := range res.Chunks {
		chunks[i] = chunkJSON(&res.Chunks[i], f != gen1)
	}
	sources := make([]map[string]any, len(res.Sources))
	for i := range res.Sources {
		sources[i] = sourceJSON(&res.Sources[i])
	}
	additional := make(map[string]any, len(res.Additional))
	for k, ch := range res.Additional {
		additional[k] = chunkJSON(&ch, false)
	}
	m := map[string]any{"chunks": chunks, "sources": sources, "additional_context": additional}
	if f == gen1 && len(res.Warnings) > 0 { // it has no meta to hold them
		m["warnings"] = warnings(res.Warnings)
	}
	if res.Graph != nil || f == gen1 {
		m["graph_context"] = graphJSON(res.Graph)
	}
	if t := res.Temporal; t != nil {
		facts := make([]map[string]any, len(t.Facts))
		for i, x := range t.Facts {
			facts[i] = map[string]any{"subject": x.Subject, "relation": x.Relation, "object": x.Object, "fact_type": x.Type, "status": x.Status, "event_start": epoch(x.Start),
				"event_end": epoch(x.End), "date_precision": x.Precision, "evidence_phrase": x.Phrase, "chunk_id": x.ChunkID, "source_id": x.SourceID, "relationship_id": x.RelationID}
		}
		m["temporal_facts"] = facts
		m["temporal_filter"] = map[string]any{"applied": t.Applied, "mode": t.Mode, "matched_facts": len(t.Facts), "chunk_scope": len(res.Chunks), "promoted": 0,
			"scope": "", "truncated": t.Truncated, "degraded": t.Degraded}
		if d := t.Duration; d != nil {
			m["temporal_duration"] = map[string]any{"days": d.Days, "from": d.From, "to": d.To, "from_date": timeText(d.FromDate), "to_date": timeText(d.ToDate),
				"approximate": d.Approximate, "pairing_confidence": d.Confidence}
		}
	}
	return m
}

func epoch(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.Unix()
}

func graphJSON(g *contextmem.GraphContext) map[string]any {
	if g == nil {
		return map[string]any{"query_paths": []any{}, "chunk_relations": []any{}, "chunk_id_to_group_ids": map[string]any{}}
	}
	groups := g.ChunkGroups
	if groups == nil {
		groups = map[string][]string{}
	}
	return map[string]any{"query_paths": pathsJSON(g.QueryPaths), "chunk_relations": pathsJSON(g.ChunkRelations), "chunk_id_to_group_ids": groups, "synthesis_context": textOrNull(g.Synthesis)}
}

func pathsJSON(ps []contextmem.Path) []map[string]any {
	out := make([]map[string]any, len(ps))
	for i, p := range ps {
		ts := make([]map[string]any, len(p.Triplets))
		for j, t := range p.Triplets {
			ts[j] = map[string]any{"source": entityJSON(t.Source), "relation": evidenceJSON(t.Relation), "target": entityJSON(t.Target)}
		}
		out[i] = map[string]any{"triplets": ts, "relevancy_score": p.Score, "combined_context": textOrNull(p.Context), "group_id": textOrNull(p.GroupID), "source_chunk_ids": orNone(p.ChunkIDs)}
	}
	return out
}

func entityJSON(e contextmem.Entity) map[string]any {
	return map[string]any{"name": e.Name, "type": e.Type, "namespace": e.Namespace, "entity_id": e.ID, "identifier": textOrNull(e.Identifier), "provider": e.Provider}
}

func evidenceJSON(e contextmem.Evidence) map[string]any {
	m := map[string]any{"canonical_predicate": e.Canonical, "raw_predicate": e.Raw, "context": e.Context, "confidence": e.Confidence, "temporal_details": textOrNull(e.Temporal),
		"timestamp": timeText(e.Timestamp), "relationship_id": e.ID, "chunk_id": e.ChunkID, "source_entity_id": textOrNull(e.SourceID), "target_entity_id": textOrNull(e.TargetID)}
	if e.Origin != "" {
		m["origin"] = e.Origin
	}
	return m
}

func groupsJSON(gs []contextmem.RelationGroup) []map[string]any {
	out := make([]map[string]any, len(gs))
	for i, g := range gs {
		ev := make([]map[string]any, len(g.Relations))
		for j, e := range g.Relations {
			ev[j] = evidenceJSON(e)
		}
		out[i] = map[string]any{"source": entityJSON(g.Source), "target": entityJSON(g.Target), "relations": ev, "chunk_id": g.ChunkID}
	}
	return out
}

// fetchedJSON is the original of a source.
func fetchedJSON(f *contextmem.Fetched, mode contextmem.FetchMode) map[string]any {
	m := map[string]any{"success": true, "id": f.ID, "source_id": f.ID, "content": nil, "content_base64": nil, "inferred_content": textOrNull(f.Inferred),
		"presigned_url": textOrNull(f.URL), "content_type": f.ContentType, "size_bytes": f.SizeBytes, "message": "Content fetched successfully", "error": nil}
	if f.Class == contextmem.ClassMemory {
		m["content_type"], m["size_bytes"] = "text/plain", nil
	}
	if mode == contextmem.FetchURL && f.Class != contextmem.ClassMemory {
		return m
	}
	m["content"] = f.Text
	if f.Binary {
		m["content_base64"] = base64.StdEncoding.EncodeToString(f.Data)
	}
	return m
}

func statusJSON(s contextmem.ItemStatus, f family) map[string]any {
	m := map[string]any{"file_id": s.ID, "indexing_status": string(s.Status), "error_code": s.ErrorCode, "success": s.Status != contextmem.StatusErrored,
		"message": "Processing status retrieved successfully"}
	if s.Unknown {
		m["message"] = "ID not found"
	}
	if f != gen1 {
		m["id"] = s.ID
		m["error_message"] = s.ErrorMessage
		if s.Hint != "" {
			m["hint"] = s.Hint
		}
	}
	return m
}

// itemJSON is the fate of an ingested item, the union of what the two generations and classes show.
func itemJSON(it contextmem.IngestItem) map[string]any {
	m := map[string]any{"id": it.ID, "source_id": it.ID, "filename": textOrNull(it.Filename), "title": textOrNull(it.Title), "status": string(it.Status), "infer": it.Infer,
		"error": nil, "error_code": nil, "relations_created": it.RelationsCreated, "relations_error": textOrNull(it.RelationsError)}
	if it.Err != nil {
		m["error"], m["error_code"] = errorText(it.Err), itemCode(it.Err)
	}
	return m
}

func ingestJSON(res *contextmem.IngestResult, what string) map[string]any {
	items := make([]map[string]any, len(res.Items))
	for i, it := range res.Items {
		items[i] = itemJSON(it)
	}
	message := what + " queued for processing"
	if res.Failed > 0 {
		message = "some items failed; the others were queued for processing"
	}
	if res.Accepted == 0 {
		message = "no item was accepted"
	}
	return map[string]any{"success": res.Accepted > 0, "message": message, "results": items, "success_count": res.Accepted, "failed_count": res.Failed}
}

func deleteJSON(res *contextmem.DeleteResult) (results []map[string]any) {
	results = make([]map[string]any, len(res.Items))
	for i, it := range res.Items {
		m := map[string]any{"id": it.ID, "deleted": it.Deleted, "error": nil}
		if it.Err != nil {
			m["error"] = errorText(it.Err)
		}
		results[i] = m
	}
	return results
}
