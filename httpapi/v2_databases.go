package httpapi

import (
	"context"
	"fmt"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/wire"
)

// v2DatabaseRequest is the body that creates a database.
type v2DatabaseRequest struct {
	Type string `json:"type" oneof:"unified"`
	tenantRequest
	Schema schemaEntries `json:"database_metadata_schema" was:"tenant_metadata_schema" also:"database_metadata"`
}

func v2CreateDatabase(c *call, t contextmem.Tenant) (any, error) {
	var r v2DatabaseRequest
	if err := c.read(&r); err != nil {
		return nil, err
	}
	if err := c.createTenant(&r.tenantRequest, r.Schema); err != nil {
		return nil, err
	}
	return databaseAnswer{scopeOf(t), "accepted", "Database creation accepted. Poll /databases/status until it is ready."}, nil
}

// databaseAnswer is the response to a started operation on a database.
type databaseAnswer struct {
	scoped
	Status  string `json:"status"`
	Message string `json:"message"`
}

// failedDatabase is a database whose creation failed.
type failedDatabase struct {
	scoped
	Error string `json:"error"`
}

type databaseRow struct {
	Database  string `json:"database"`
	Status    string `json:"status"`
	CreatedAt string `json:"created_at"`
}

func v2ListDatabases(c *call) (any, error) {
	ok, failed, err := c.visibleTenants()
	if err != nil {
		return nil, err
	}
	a := struct {
		Databases     []string         `json:"databases"`
		TenantIDs     []string         `json:"tenant_ids"`
		Failed        []failedDatabase `json:"failed_databases"`
		FailedTenants []failedDatabase `json:"failed_tenant_ids"`
		Details       []databaseRow    `json:"details"`
		Message       string           `json:"message"`
	}{Databases: []string{}, Failed: []failedDatabase{}, Details: []databaseRow{}, Message: "Databases retrieved"}
	for _, t := range ok {
		a.Databases = append(a.Databases, t.ID)
		a.Details = append(a.Details, databaseRow{t.ID, string(t.State), wire.Time(t.CreatedAt)})
	}
	for _, t := range failed {
		a.Failed = append(a.Failed, failedDatabase{scoped{Database: t.ID, TenantID: t.ID}, t.Error})
	}
	a.TenantIDs, a.FailedTenants = a.Databases, a.Failed
	return a, nil
}

func v2DeleteDatabase(c *call, t contextmem.Tenant) (any, error) {
	if err := t.Delete(c.ctx); err != nil {
		return nil, err
	}
	return databaseAnswer{scopeOf(t), "deletion_scheduled", "Database deletion scheduled"}, nil
}

func v2DatabaseStatus(c *call, t contextmem.Tenant) (any, error) {
	i, err := t.Info(c.ctx)
	if err != nil {
		return nil, err
	}
	type stores struct {
		Knowledge bool `json:"knowledge"`
		Memories  bool `json:"memories"`
	}
	type infra struct {
		Scheduler bool   `json:"scheduler_status"`
		Graph     bool   `json:"graph_status"`
		Vectors   stores `json:"vectorstore_status"`
		Ready     bool   `json:"ready_for_ingestion"`
	}
	r := i.Ready()
	return struct {
		scoped
		OrgID   string `json:"org_id"`
		Message string `json:"message"`
		Infra   infra  `json:"infra"`
	}{scopeOf(t), i.Org, statusMessage(i), infra{r, r, stores{r, r}, r}}, nil
}

func v2Collections(c *call, t contextmem.Tenant) (any, error) {
	s, err := t.Stats(c.ctx)
	if err != nil {
		return nil, err
	}
	type row struct {
		Collection string `json:"collection"`
		Knowledge  int    `json:"knowledge"`
		Memories   int    `json:"memories"`
		Embeddings int    `json:"embeddings"`
	}
	names, details := []string{}, []row{}
	for _, x := range s.Subs {
		names = append(names, x.Name)
		details = append(details, row{x.Name, x.Knowledge, x.Memory, x.Raw})
	}
	return struct {
		scoped
		Collections []string `json:"collections"`
		SubTenants  []string `json:"sub_tenant_ids"`
		Details     []row    `json:"details"`
		Message     string   `json:"message"`
	}{scopeOf(t), names, names, details, "Collections retrieved"}, nil
}

func v2DeleteCollection(c *call, t contextmem.Tenant) (any, error) {
	var r struct {
		Name string `json:"collection" need:"text"`
	}
	if err := c.read(&r); err != nil {
		return nil, err
	}
	c.scope.collection = r.Name
	if err := t.Sub(r.Name).Delete(c.ctx); err != nil {
		return nil, err
	}
	return struct {
		databaseAnswer
		Collection string `json:"collection"`
		SubTenant  string `json:"sub_tenant_id"`
	}{databaseAnswer{scopeOf(t), "deletion_scheduled", "Collection deletion scheduled"}, r.Name, r.Name}, nil
}

func v2Stats(c *call, t contextmem.Tenant) (any, error) {
	knowledge, memory, err := c.stats(t)
	if err != nil {
		return nil, err
	}
	return struct {
		scoped
		Knowledge storeStats `json:"knowledge_collection"`
		Memory    storeStats `json:"memory_collection"`
		Message   string     `json:"message"`
	}{scopeOf(t), knowledge, memory, "Statistics retrieved"}, nil
}

// schemaAnswer is a schema. Its members are also outside the envelope, where public clients read them.
type schemaAnswer struct {
	scoped
	Schema       []fieldRow `json:"database_metadata_schema"`
	TenantSchema []fieldRow `json:"tenant_metadata_schema"`
	Fields       []fieldRow `json:"fields"`
	Message      string     `json:"message"`
}

func (a schemaAnswer) mirrored() *mirror { return &mirror{scoped: a.scoped, Fields: a.Fields} }

func v2Schema(c *call, t contextmem.Tenant) (any, error) {
	fs, err := t.Schema(c.ctx)
	if err != nil {
		return nil, err
	}
	rows := schemaJSON(fs)
	return schemaAnswer{scopeOf(t), rows, rows, rows, "Metadata schema retrieved"}, nil
}

// schemaEdit is the body that adds fields to a schema.
type schemaEdit struct {
	Fields schemaEntries `json:"add_fields" also:"fields,database_metadata_schema,tenant_metadata_schema"`
}

// schemaEditAnswer names the fields that were added.
type schemaEditAnswer struct {
	scoped
	Added   []string `json:"added_fields"`
	Message string   `json:"message"`
}

func (a schemaEditAnswer) mirrored() *mirror { return &mirror{scoped: a.scoped, Added: a.Added} }

func v2AddSchema(c *call, t contextmem.Tenant) (any, error) {
	var r schemaEdit
	if err := c.read(&r); err != nil {
		return nil, err
	}
	added, err := t.AddSchemaFields(c.ctx, r.Fields)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(added))
	for i, f := range added {
		names[i] = f.Name
		if f.Dense || f.Sparse {
			c.warn = append(c.warn, fault.Warning{Code: "hint", Field: fmt.Sprintf("add_fields[%d]", i), Message: "an embedding flag applies to items that are ingested or edited from now on"})
		}
	}
	return schemaEditAnswer{scopeOf(t), names, "Metadata schema fields added"}, nil
}

// feedbackAnswer is the response to stored feedback.
type feedbackAnswer struct {
	Recorded  bool   `json:"recorded"`
	ID        string `json:"feedback_id"`
	RequestID string `json:"request_id"`
	Message   string `json:"message"`
	CreatedAt string `json:"created_at"`
	Known     bool   `json:"request_known"`
}

func v2Feedback(c *call) (any, error) {
	wait, ok := c.api.feed.Take(c.who.Org)
	c.api.feed.headers(c.w, c.who.Org) // in place of those of the key, which leaves more
	if !ok {
		return nil, &contextmem.Error{Kind: fault.KindRateLimited, RetryAfter: wait, Err: feedbackLimit(wait.Seconds())}
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
	return feedbackAnswer{true, rec.ID, rec.RequestID, "Feedback recorded", wire.Time(rec.CreatedAt), rec.Known}, nil
}
