package httpapi

import (
	"fmt"
	"time"

	"github.com/contextmem/contextmem"
)

func listResources(c *call) (any, error) {
	x, err := c.ours()
	if err != nil {
		return nil, err
	}
	rs, err := c.org.Resources(c.ctx, x.ID)
	if err != nil {
		return nil, err
	}
	rows := make([]map[string]any, len(rs))
	for i, r := range rs {
		rows[i] = resourceJSON(r)
	}
	return map[string]any{"resources": rows}, nil
}

// resourceEntry reads the settings of a resource under all their names.
func (c *call) resourceEntry(at string, m map[string]any) (contextmem.ConnectorResource, error) {
	var r contextmem.ConnectorResource
	for _, f := range []struct {
		to    *string
		names []string
	}{{&r.ResourceID, []string{"resource_id", "id"}}, {&r.Type, []string{"resource_type"}}, {&r.Name, []string{"display_name", "name"}}, {&r.SyncMode, []string{"sync_mode"}},
		{&r.TenantOverride, []string{"database_override", "tenant_id_override", "database", "tenant_id"}},
		{&r.SubOverride, []string{"collection_override", "sub_tenant_id_override", "collection", "sub_tenant_id"}}, {&r.Instructions, []string{"instructions"}}} {
		v, err := unite(m, at, f.names...)
		if err != nil {
			return r, err
		}
		if *f.to, err = toString(at+f.names[0], v); err != nil {
			return r, err
		}
	}
	if r.ResourceID == "" {
		return r, bad(contextmem.KindInvalid, at+"resource_id", "is required")
	}
	var err error
	if r.Metadata, r.Additional, err = itemMaps(at, m); err != nil {
		return r, err
	}
	if r.Filters, err = metadataMap(at+"filters", m["filters"]); err != nil {
		return r, err
	}
	if r.ProviderMetadata, err = metadataMap(at+"provider_metadata", m["provider_metadata"]); err != nil {
		return r, err
	}
	if r.ACL, err = toStrings(at+"acl", m["acl"]); err != nil {
		return r, err
	}
	switch s, err := toString(at+"status", m["status"]); {
	case err != nil:
		return r, err
	case s != "" && s != contextmem.ResourceActive && s != contextmem.ResourcePaused:
		return r, bad(contextmem.KindInvalid, at+"status", "must be active or paused")
	default:
		r.Paused = s == contextmem.ResourcePaused
	}
	if r.LookbackDays, err = number(m, at, "lookback_days"); err != nil {
		return r, err
	}
	n, err := number(m, at, "backfill_chunk_interval_seconds")
	if err != nil {
		return r, err
	}
	r.BackfillInterval = time.Duration(n) * time.Second
	if r.TenantOverride != "" {
		_, err = c.tenantNamed(r.TenantOverride)
	}
	return r, err
}

// number reads an integer that is not negative; absent is 0.
func number(m map[string]any, at, name string) (int, error) {
	v, ok := m[name]
	if !ok || v == nil {
		return 0, nil
	}
	n, err := toInt(at+name, v, false)
	if err == nil {
		err = ranged(at+name, n, 0, maxSeconds-1)
	}
	return n, err
}

func addResource(c *call) (any, error) {
	x, err := c.ours()
	if err != nil {
		return nil, err
	}
	r, err := c.resourceEntry("", c.in.fields.object())
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
	return map[string]any{"connector_id": x.ID, "resource_id": id, "deleted": true}, nil
}

// configure adds or changes several resources. lookback_days and the pacing of the body
// stand for entries without their own.
func configure(c *call) (any, error) {
	x, err := c.ours()
	if err != nil {
		return nil, err
	}
	tables, err := c.in.list("table_configs")
	if err != nil {
		return nil, err
	}
	if len(tables) > 0 {
		return nil, bad(contextmem.KindInvalid, "table_configs", "is for another sync engine")
	}
	entries, err := c.in.list("resources")
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return nil, bad(contextmem.KindInvalid, "resources", "needs at least one entry")
	}
	lookback, err := c.in.integer("lookback_days", defaultLookbackDays)
	if err != nil {
		return nil, err
	}
	pace, err := number(c.in.fields.object(), "", "backfill_chunk_interval_seconds")
	if err != nil {
		return nil, err
	}
	rs := make([]contextmem.ConnectorResource, len(entries))
	for i, v := range entries {
		at := fmt.Sprintf("resources[%d]", i)
		m, err := toObject(at, v)
		if err != nil {
			return nil, err
		}
		if rs[i], err = c.resourceEntry(at+".", m); err != nil {
			return nil, err
		}
		if m["lookback_days"] == nil {
			rs[i].LookbackDays = lookback
		}
		if m["backfill_chunk_interval_seconds"] == nil {
			rs[i].BackfillInterval = time.Duration(pace) * time.Second
		}
	}
	stored, err := c.org.AddResources(c.ctx, x.ID, rs)
	if err != nil {
		return nil, err
	}
	backfill := false
	for _, r := range stored {
		backfill = backfill || r.SyncMode != contextmem.SyncNewOnly && (r.Cursor == "" || r.BackfillStatus != "")
	}
	m := map[string]any{"connector_id": x.ID, "configured": len(stored), "backfill": backfill}
	if d := c.deprecations(); len(d) > 0 {
		m["meta"] = map[string]any{"deprecation": d}
	}
	return m, nil
}
