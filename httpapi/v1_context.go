package httpapi

import (
	"errors"

	"github.com/contextmem/contextmem"
)

func v1AddMemory(c *call, sub contextmem.Sub) (any, error) {
	v := c.in.fields.get("memories")
	if v == nil {
		return nil, bad(contextmem.KindUnprocessed, "memories", "is required")
	}
	b, err := c.memoryBatch(v)
	if err != nil {
		return nil, err
	}
	res, err := sub.AddMemories(c.ctx, b)
	if err != nil {
		return nil, err
	}
	return ingestJSON(res, "Memories"), nil
}

// memoryBatch reads memories and what to do with ids that exist.
func (c *call) memoryBatch(v any) (b contextmem.MemoryBatch, err error) {
	if b.Memories, err = memories("memories", v); err != nil {
		return b, err
	}
	upsert, err := c.in.boolean("upsert", true)
	b.FailIfExists = !upsert
	return b, err
}

func v1UploadKnowledge(c *call, sub contextmem.Sub) (any, error) {
	return c.addKnowledge(sub, "file_metadata")
}

// addKnowledge ingests the files and app items of the request; entriesField describes the files.
func (c *call) addKnowledge(sub contextmem.Sub, entriesField string) (any, error) {
	b, err := c.knowledgeBatch(entriesField)
	if err != nil {
		return nil, err
	}
	res, err := sub.AddKnowledge(c.ctx, b)
	if err != nil {
		return nil, err
	}
	return ingestJSON(res, "Knowledge"), nil
}

// v1VerifyProcessing reports states. Without a tenant the ids are looked up in all
// that the key may touch.
func v1VerifyProcessing(c *call) (any, error) {
	ids, err := c.in.strings("file_ids")
	if err != nil {
		return nil, err
	}
	one, err := c.in.str("file_id")
	if err != nil {
		return nil, err
	}
	if one != "" {
		ids = append(ids, one)
	}
	tenant, err := c.in.str("tenant_id")
	if err != nil {
		return nil, err
	}
	subName, err := c.in.str("sub_tenant_id")
	if err != nil {
		return nil, err
	}
	var found []contextmem.ItemStatus
	if tenant != "" {
		t, err := c.tenantNamed(tenant)
		if err != nil {
			return nil, err
		}
		if found, err = c.statuses(t.Sub(subName), ids); err != nil {
			return nil, err
		}
	} else if found, err = c.statusesAnywhere(ids, subName); err != nil {
		return nil, err
	}
	rows := make([]map[string]any, len(found))
	for i, s := range found {
		rows[i] = statusJSON(s, gen1)
	}
	return map[string]any{"statuses": rows}, nil
}

// statuses looks ids up, trying each verbatim before it is split on commas.
func (c *call) statuses(sub contextmem.Sub, ids []string) ([]contextmem.ItemStatus, error) {
	whole, err := sub.Status(c.ctx, ids...)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, s := range whole {
		known[s.ID] = !s.Unknown
	}
	return sub.Status(c.ctx, splitIDs(ids, func(id string) bool { return known[id] })...)
}

func (c *call) statusesAnywhere(ids []string, sub string) ([]contextmem.ItemStatus, error) {
	ids = splitIDs(ids, func(string) bool { return false })
	if len(ids) == 0 {
		return nil, nil
	}
	tenants, _, err := c.visibleTenants()
	if err != nil {
		return nil, err
	}
	out := make([]contextmem.ItemStatus, len(ids))
	for i, id := range ids {
		out[i] = contextmem.ItemStatus{ID: id, Status: contextmem.StatusErrored, ErrorCode: "FILE_NOT_FOUND", ErrorMessage: "ID not found", Unknown: true}
	}
	for _, t := range tenants {
		st, err := c.org.Tenant(t.ID).Sub(sub).Status(c.ctx, ids...)
		if errors.Is(err, contextmem.ErrNotFound) || errors.Is(err, contextmem.ErrNotReady) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for i, s := range st {
			if !s.Unknown && out[i].Unknown {
				out[i] = s
			}
		}
	}
	return out, nil
}

func v1DeleteKnowledge(c *call, sub contextmem.Sub) (any, error) {
	if !c.in.fields.has("ids") {
		return nil, bad(contextmem.KindUnprocessed, "ids", "is required")
	}
	ids, err := c.in.strings("ids")
	if err != nil {
		return nil, err
	}
	res, err := sub.DeleteItems(c.ctx, contextmem.DeleteRequest{IDs: ids, Class: contextmem.ClassKnowledge})
	if err != nil {
		return nil, err
	}
	return map[string]any{"success": true, "message": deleteMessage(res), "results": deleteJSON(res), "deleted_count": res.Deleted}, nil
}

func deleteMessage(res *contextmem.DeleteResult) string {
	switch res.Deleted {
	case len(res.Items):
		return "All items were deleted"
	case 0:
		return "No item was deleted"
	}
	return "Some items were deleted"
}

func v1DeleteMemory(c *call, sub contextmem.Sub) (any, error) {
	id, err := c.in.required("memory_id")
	if err != nil {
		return nil, err
	}
	res, err := sub.DeleteItems(c.ctx, contextmem.DeleteRequest{IDs: []string{id}, Class: contextmem.ClassMemory})
	if err != nil {
		return nil, err
	}
	if it := res.Items[0]; it.Err != nil {
		return nil, it.Err
	}
	return map[string]any{"success": true, "user_memory_deleted": true}, nil
}

func v1FetchContent(c *call, sub contextmem.Sub) (any, error) {
	id, err := c.in.required("source_id")
	if err != nil {
		return nil, err
	}
	return c.fetch(sub, id, "content")
}

func (c *call) fetch(sub contextmem.Sub, id, def string) (any, error) {
	mode, err := c.in.choice("mode", def, "content", "url", "both")
	if err != nil {
		return nil, err
	}
	r := contextmem.FetchRequest{ID: id, Mode: contextmem.FetchMode(mode)}
	if r.Expiry, err = expiry(&c.in); err != nil {
		return nil, err
	}
	r.ParsedText = c.rt.family == gen2 && r.Mode == contextmem.FetchBoth
	if r.Principals, err = c.in.strings("acl"); err != nil {
		return nil, err
	}
	f, err := sub.Fetch(c.ctx, r)
	if err != nil {
		return nil, err
	}
	return fetchedJSON(f, r.Mode), nil
}

func v1ListData(c *call) (any, error) {
	kind, err := c.in.choice("kind", "knowledge", "knowledge", "memories", "memory")
	if err != nil {
		return nil, err
	}
	class := contextmem.ClassKnowledge
	if kind != "knowledge" {
		class = contextmem.ClassMemory
	}
	return c.list(class, "source_ids")
}

func v1GraphRelations(c *call) (any, error) {
	id, err := c.in.required("source_id")
	if err != nil {
		return nil, err
	}
	memory, err := c.in.boolean("is_memory", false)
	if err != nil {
		return nil, err
	}
	limit, err := c.in.integer("limit", 250)
	if err != nil {
		return nil, err
	}
	r := contextmem.RelationsRequest{SourceID: id, Limit: limit, Class: contextmem.ClassKnowledge}
	if memory {
		r.Class = contextmem.ClassMemory
	}
	if err := ranged("limit", limit, 1, 10000); err != nil {
		return nil, err
	}
	tenant, err := c.in.str("tenant_id")
	if err != nil {
		return nil, err
	}
	sub, err := c.in.str("sub_tenant_id")
	if err != nil {
		return nil, err
	}
	var page *contextmem.RelationsPage
	if tenant != "" {
		t, err := c.tenantNamed(tenant)
		if err != nil {
			return nil, err
		}
		if page, err = t.Sub(sub).Relations(c.ctx, r); err != nil {
			return nil, err
		}
	} else if page, err = c.relationsAnywhere(sub, r); err != nil {
		return nil, err
	}
	return map[string]any{"relations": groupsJSON(page.Groups), "success": true, "message": "Graph relations retrieved"}, nil
}

func (c *call) relationsAnywhere(sub string, r contextmem.RelationsRequest) (*contextmem.RelationsPage, error) {
	tenants, _, err := c.visibleTenants()
	if err != nil {
		return nil, err
	}
	for _, t := range tenants {
		page, err := c.org.Tenant(t.ID).Sub(sub).Relations(c.ctx, r)
		if errors.Is(err, contextmem.ErrNotFound) || errors.Is(err, contextmem.ErrNotReady) {
			continue
		}
		if err != nil || len(page.Groups) > 0 {
			return page, err
		}
	}
	return &contextmem.RelationsPage{}, nil
}
