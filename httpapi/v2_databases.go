package httpapi

import (
	"context"
	"fmt"

	"github.com/contextmem/contextmem"
)

// both names a value under its two wire names.
func both(m map[string]any, canonical, alias string, v any) map[string]any {
	m[canonical], m[alias] = v, v
	return m
}

func (c *call) database(m map[string]any, t contextmem.Tenant) map[string]any {
	return both(m, "database", "tenant_id", t.ID())
}

func v2CreateDatabase(c *call) (any, error) {
	if typ, err := c.in.str("type"); err != nil {
		return nil, err
	} else if typ != "" && typ != "unified" {
		return nil, bad(contextmem.KindInvalid, "type", "must be unified")
	}
	spec, err := c.tenantSpec("database_metadata_schema")
	if err != nil {
		return nil, err
	}
	if _, err := c.org.CreateTenant(c.ctx, spec); err != nil {
		return nil, err
	}
	return both(map[string]any{"status": "accepted", "message": "Database creation accepted. Poll /databases/status until it is ready."}, "database", "tenant_id", spec.ID), nil
}

func v2ListDatabases(c *call) (any, error) {
	ok, failed, err := c.visibleTenants()
	if err != nil {
		return nil, err
	}
	ids, details, bad := []string{}, []map[string]any{}, []map[string]any{}
	for _, t := range ok {
		ids = append(ids, t.ID)
		details = append(details, map[string]any{"database": t.ID, "status": string(t.State), "created_at": timeText(t.CreatedAt)})
	}
	for _, t := range failed {
		bad = append(bad, both(map[string]any{"error": t.Error}, "database", "tenant_id", t.ID))
	}
	return map[string]any{"databases": ids, "tenant_ids": ids, "failed_databases": bad, "failed_tenant_ids": bad, "details": details, "message": "Databases retrieved"}, nil
}

func v2DeleteDatabase(c *call, t contextmem.Tenant) (any, error) {
	if err := t.Delete(c.ctx); err != nil {
		return nil, err
	}
	return c.database(map[string]any{"status": "deletion_scheduled", "message": "Database deletion scheduled"}, t), nil
}

func v2DatabaseStatus(c *call, t contextmem.Tenant) (any, error) {
	i, err := t.Info(c.ctx)
	if err != nil {
		return nil, err
	}
	r := i.Ready()
	return c.database(map[string]any{"org_id": i.Org, "message": statusMessage(i), "infra": map[string]any{"scheduler_status": r, "graph_status": r,
		"vectorstore_status": map[string]any{"knowledge": r, "memories": r}, "ready_for_ingestion": r}}, t), nil
}

func v2Collections(c *call, t contextmem.Tenant) (any, error) {
	s, err := t.Stats(c.ctx)
	if err != nil {
		return nil, err
	}
	names, details := []string{}, []map[string]any{}
	for _, x := range s.Subs {
		names = append(names, x.Name)
		details = append(details, map[string]any{"collection": x.Name, "knowledge": x.Knowledge, "memories": x.Memory, "embeddings": x.Raw})
	}
	return c.database(both(map[string]any{"message": "Collections retrieved", "details": details}, "collections", "sub_tenant_ids", names), t), nil
}

func v2DeleteCollection(c *call, t contextmem.Tenant) (any, error) {
	name, err := c.in.required("collection")
	if err != nil {
		return nil, err
	}
	c.scope.collection = name
	if err := t.Sub(name).Delete(c.ctx); err != nil {
		return nil, err
	}
	return c.database(both(map[string]any{"status": "deletion_scheduled", "message": "Collection deletion scheduled"}, "collection", "sub_tenant_id", name), t), nil
}

func v2Stats(c *call, t contextmem.Tenant) (any, error) {
	knowledge, memory, err := c.stats(t)
	if err != nil {
		return nil, err
	}
	return c.database(map[string]any{"knowledge_collection": knowledge, "memory_collection": memory, "message": "Statistics retrieved"}, t), nil
}

func v2Schema(c *call, t contextmem.Tenant) (any, error) {
	fs, err := t.Schema(c.ctx)
	if err != nil {
		return nil, err
	}
	return c.database(both(map[string]any{"message": "Metadata schema retrieved"}, "database_metadata_schema", "tenant_metadata_schema", schemaJSON(fs)), t), nil
}

func v2AddSchema(c *call, t contextmem.Tenant) (any, error) {
	v, err := unite(c.in.fields.object(), "", "add_fields", "fields", "database_metadata_schema", "tenant_metadata_schema")
	if err != nil {
		return nil, err
	}
	fs, err := schemaFields("add_fields", v)
	if err != nil {
		return nil, err
	}
	added, err := t.AddSchemaFields(c.ctx, fs)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(added))
	for i, f := range added {
		names[i] = f.Name
		if f.Dense || f.Sparse {
			c.warn = append(c.warn, contextmem.Warning{Code: "hint", Field: fmt.Sprintf("add_fields[%d]", i), Message: "an embedding flag applies to items that are ingested or edited from now on"})
		}
	}
	return c.database(map[string]any{"added_fields": names, "message": "Metadata schema fields added"}, t), nil
}

func v2Feedback(c *call) (any, error) {
	if wait, ok := c.api.feed.take(c.who.Org); !ok {
		return nil, &contextmem.Error{Kind: contextmem.KindRateLimited, RetryAfter: wait, Err: feedbackLimit(wait.Seconds())}
	}
	f, err := c.feedback()
	if err != nil {
		return nil, err
	}
	if f.Tenant != "" {
		if _, err := c.tenantNamed(f.Tenant); err != nil {
			return nil, err
		}
	}
	rec, err := c.org.AddFeedback(context.WithoutCancel(c.ctx), f)
	if err != nil {
		return nil, err
	}
	return map[string]any{"recorded": true, "feedback_id": rec.ID, "request_id": rec.RequestID, "message": "Feedback recorded", "created_at": timeText(rec.CreatedAt), "request_known": rec.Known}, nil
}
