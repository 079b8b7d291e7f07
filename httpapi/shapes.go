package httpapi

import (
	"encoding/base64"
	"time"

	"github.com/contextmem/contextmem"
)

func orNone(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
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

func entityJSON(e contextmem.Entity) map[string]any {
	return map[string]any{"name": e.Name, "type": e.Type, "namespace": e.Namespace, "entity_id": e.ID, "identifier": textOrNull(e.Identifier), "provider": e.Provider}
}

func evidenceJSON(e contextmem.Evidence) map[string]any {
	m := map[string]any{"canonical_predicate": e.Canonical, "raw_predicate": e.Raw, "context": e.Context, "confidence": float32(e.Confidence), "temporal_details": textOrNull(e.Temporal),
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
	readingJSON(m, f.Usage, f.Warnings)
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

// readingJSON adds what is said only of items that a model read, or whose instructions were not all honoured.
func readingJSON(m map[string]any, u *contextmem.ModelUsage, ws []contextmem.Warning) {
	if u != nil {
		m["usage"] = map[string]any{"model": u.Model, "prompt_tokens": u.PromptTokens, "completion_tokens": u.CompletionTokens, "calls": u.Calls, "fallback": textOrNull(u.Fallback)}
	}
	if len(ws) > 0 {
		m["warnings"] = warnings(ws)
	}
}

func statusJSON(s contextmem.ItemStatus, f family) map[string]any {
	m := map[string]any{"file_id": s.ID, "indexing_status": string(s.Status), "error_code": s.ErrorCode, "success": s.Status != contextmem.StatusErrored,
		"message": "Processing status retrieved successfully"}
	if s.Unknown {
		m["message"] = "ID not found"
	}
	readingJSON(m, nil, s.Warnings)
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
