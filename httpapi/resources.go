package httpapi

import (
	"maps"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/wire"
)

// resourceBody is a resource of a connector.
type resourceBody struct {
	ConnectorID        string         `json:"connector_id"`
	ResourceID         string         `json:"resource_id"`
	Type               string         `json:"resource_type"`
	DisplayName        string         `json:"display_name"`
	Name               string         `json:"name"`
	Status             string         `json:"status"`
	Filters            map[string]any `json:"filters"`
	Metadata           map[string]any `json:"metadata"`
	Additional         map[string]any `json:"additional_metadata"`
	Provided           map[string]any `json:"provider_metadata"`
	Cursor             string         `json:"provider_cursor"`
	DatabaseOverride   string         `json:"database_override"`
	CollectionOverride string         `json:"collection_override"`
	TenantOverride     string         `json:"tenant_id_override"`
	SubTenantOverride  string         `json:"sub_tenant_id_override"`
	BackfillOldest     string         `json:"backfill_oldest"`
	BackfillNext       string         `json:"backfill_next_chunk_at"`
	BackfillInterval   int64          `json:"backfill_chunk_interval_seconds"`
	BackfillStatus     string         `json:"backfill_status,omitempty"`
	SyncMode           string         `json:"sync_mode"`
	ACL                []string       `json:"acl"`
	Instructions       string         `json:"instructions"`
}

// resourceHealth is the result of the latest sync of a resource.
type resourceHealth struct {
	Status string `json:"last_status"`
	Rows   int    `json:"last_row_count"`
	Error  string `json:"last_error"`
}

func resourceJSON(r contextmem.ConnectorResource) resourceBody {
	provided, filters := map[string]any{}, map[string]any{}
	maps.Copy(provided, r.ProviderMetadata)
	maps.Copy(filters, r.Filters)
	if r.LastStatus != "" {
		provided["health"] = resourceHealth{r.LastStatus, r.LastRows, r.LastError}
	}
	if r.LookbackDays > 0 {
		filters["lookback_days"] = r.LookbackDays
	}
	return resourceBody{ConnectorID: r.ConnectorID, ResourceID: r.ResourceID, Type: r.Type, DisplayName: r.Name, Name: r.Name, Status: r.Status, Filters: filters,
		Metadata: orEmpty(r.Metadata), Additional: orEmpty(r.Additional), Provided: provided, Cursor: r.Cursor, DatabaseOverride: r.TenantOverride, CollectionOverride: r.SubOverride,
		TenantOverride: r.TenantOverride, SubTenantOverride: r.SubOverride, BackfillOldest: wire.Time(r.BackfillOldest), BackfillNext: wire.Time(r.BackfillNext),
		BackfillInterval: seconds(r.BackfillInterval), BackfillStatus: r.BackfillStatus, SyncMode: r.SyncMode, ACL: orNone(r.ACL), Instructions: r.Instructions}
}

func resourceRows(rs []contextmem.ConnectorResource) []resourceBody {
	rows := make([]resourceBody, len(rs))
	for i, r := range rs {
		rows[i] = resourceJSON(r)
	}
	return rows
}

func listResources(c *call) (any, error) {
	x, err := c.ours()
	if err != nil {
		return nil, err
	}
	rs, err := c.org.Resources(c.ctx, x.ID)
	if err != nil {
		return nil, err
	}
	return struct {
		Resources []resourceBody `json:"resources"`
	}{resourceRows(rs)}, nil
}

// resourceEntry is the settings of a resource.
type resourceEntry struct {
	ID           string `json:"resource_id" also:"id"`
	Type         string `json:"resource_type"`
	Name         string `json:"display_name" also:"name"`
	SyncMode     string `json:"sync_mode"`
	Database     string `json:"database_override" also:"database,tenant_id" was:"tenant_id_override"`
	Collection   string `json:"collection_override" also:"collection,sub_tenant_id" was:"sub_tenant_id_override"`
	Instructions string `json:"instructions"`
	layers
	Filters  metadata `json:"filters"`
	Provided metadata `json:"provider_metadata"`
	ACL      []string `json:"acl"`
	Status   string   `json:"status" oneof:"active,paused"`
	Lookback *int     `json:"lookback_days" range:"0,2147483647"`
	Interval *int     `json:"backfill_chunk_interval_seconds" range:"0,2147483647"`
}

// resource validates the settings. at is the name of the entry for errors, including the trailing dot.
func (c *call) resource(at string, e *resourceEntry) (contextmem.ConnectorResource, error) {
	r := contextmem.ConnectorResource{ResourceID: e.ID, Type: e.Type, Name: e.Name, SyncMode: e.SyncMode, TenantOverride: e.Database, SubOverride: e.Collection,
		Instructions: e.Instructions, Metadata: e.Metadata, Additional: e.Additional, Filters: e.Filters, ProviderMetadata: e.Provided, ACL: e.ACL, Paused: e.Status == contextmem.ResourcePaused}
	if e.ID == "" {
		return r, bad(fault.KindInvalid, at+"resource_id", "is required")
	}
	if e.Lookback != nil {
		r.LookbackDays = *e.Lookback
	}
	if e.Interval != nil {
		r.BackfillInterval = time.Duration(*e.Interval) * time.Second
	}
	var err error
	if r.TenantOverride != "" {
		_, err = c.tenantNamed(r.TenantOverride)
	}
	return r, err
}

func addResource(c *call) (any, error) {
	x, err := c.ours()
	if err != nil {
		return nil, err
	}
	var e resourceEntry
	if err := c.read(&e); err != nil {
		return nil, err
	}
	r, err := c.resource("", &e)
	if err != nil {
		return nil, err
	}
	rs, err := c.org.AddResources(c.ctx, x.ID, []contextmem.ConnectorResource{r})
	if err != nil {
		return nil, err
	}
	return resourceJSON(rs[0]), nil
}

func deleteResource(c *call) (any, error) {
	x, err := c.ours()
	if err != nil {
		return nil, err
	}
	id := c.r.PathValue("resource_id")
	if err := c.org.DeleteResource(c.ctx, x.ID, id); err != nil {
		return nil, err
	}
	return struct {
		ID       string `json:"connector_id"`
		Resource string `json:"resource_id"`
		Deleted  bool   `json:"deleted"`
	}{x.ID, id, true}, nil
}

// configureRequest adds or changes several resources. Its lookback and interval are the defaults for the entries.
type configureRequest struct {
	Tables    anything        `json:"table_configs"`
	Resources []resourceEntry `json:"resources"`
	Lookback  int             `json:"lookback_days" default:"30"` // days
	Interval  *int            `json:"backfill_chunk_interval_seconds" range:"0,2147483647"`
}

type configureAnswer struct {
	ID         string          `json:"connector_id"`
	Configured int             `json:"configured"`
	Backfill   bool            `json:"backfill"`
	Meta       *deprecatedMeta `json:"meta,omitempty"`
}

type deprecatedMeta struct {
	Deprecation []deprecation `json:"deprecation"`
}

func configure(c *call) (any, error) {
	x, err := c.ours()
	if err != nil {
		return nil, err
	}
	var q configureRequest
	if err := c.read(&q); err != nil {
		return nil, err
	}
	if len(q.Tables) > 0 {
		return nil, bad(fault.KindInvalid, "table_configs", "is for another sync engine")
	}
	if len(q.Resources) == 0 {
		return nil, bad(fault.KindInvalid, "resources", "needs at least one entry")
	}
	rs := make([]contextmem.ConnectorResource, len(q.Resources))
	for i := range q.Resources {
		e := &q.Resources[i]
		if e.Lookback == nil {
			e.Lookback = &q.Lookback
		}
		if e.Interval == nil {
			e.Interval = q.Interval
		}
		if rs[i], err = c.resource(indexed("resources", i)+".", e); err != nil {
			return nil, err
		}
	}
	stored, err := c.org.AddResources(c.ctx, x.ID, rs)
	if err != nil {
		return nil, err
	}
	a := configureAnswer{ID: x.ID, Configured: len(stored)}
	for _, r := range stored {
		a.Backfill = a.Backfill || r.SyncMode != contextmem.SyncNewOnly && (r.Cursor == "" || r.BackfillStatus != "")
	}
	if d := c.deprecations(); len(d) > 0 {
		a.Meta = &deprecatedMeta{d}
	}
	return a, nil
}
