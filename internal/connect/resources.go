package connect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/contextmem/contextmem/connector"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
)

// DiscoverWith previews resources without a connector. It does not store the credentials.
func (e *Engine) DiscoverWith(ctx context.Context, r connector.DiscoverRequest) ([]connector.Resource, string, error) {
	const op = "discover"
	p, err := e.provider(op, r.Provider)
	if err != nil {
		return nil, "", err
	}
	if r.Limit < 0 {
		return nil, "", fault.Fieldf(op, fault.KindInvalid, fault.Connector, "Limit", "must be between 1 and %d", maxDiscover)
	}
	if _, err := p.authType(op, r.AuthType); err != nil {
		return nil, "", err
	}
	if err := p.checkCredentials(ctx, op, r.Credentials); err != nil {
		return nil, "", err
	}
	return p.discover(ctx, op, r.Credentials, r.Cursor, r.Limit)
}

// Discover lists a page of the resources that the connector could sync.
func (e *Engine) Discover(ctx context.Context, org, id, cursor string, limit int) ([]connector.Resource, string, error) {
	const op = "discover"
	c, _, err := e.readConnector(ctx, op, org, id)
	if err != nil {
		return nil, "", err
	}
	p, err := e.provider(op, c.Public.Provider)
	if err != nil {
		return nil, "", err
	}
	creds, err := e.openCredentials(ctx, org, id, c.Credentials)
	if err != nil {
		return nil, "", fault.Wrap(op, fault.Connector, id, err)
	}
	return p.discover(ctx, op, creds, cursor, limit)
}

func (p *provider) discover(ctx context.Context, op string, c connector.Credentials, cursor string, limit int) (rs []connector.Resource, next string, err error) {
	if limit < 0 {
		return nil, "", fault.Fieldf(op, fault.KindInvalid, fault.Connector, "limit", "must be between 1 and %d", maxDiscover)
	}
	if limit == 0 || limit > maxDiscover {
		limit = maxDiscover
	}
	err = fault.Guard(func() error {
		rs, next, err = p.Discover(ctx, c, cursor, limit)
		return err
	})
	if err != nil {
		return nil, "", p.failure(op, c, err)
	}
	return rs, next, nil
}

// checkResource validates the settings of a resource and fills in defaults.
func (e *Engine) checkResource(ctx context.Context, op, org, field string, r *connector.SyncedResource) error {
	if r.ResourceID == "" {
		return fault.Fieldf(op, fault.KindInvalid, fault.Connector, field+"ResourceID", "is required")
	}
	for _, t := range [...]struct {
		name, value string
		max         int
	}{{"ResourceID", r.ResourceID, maxConnectorText}, {"Type", r.Type, maxConnectorText}, {"Name", r.Name, maxConnectorText},
		{"SubOverride", r.SubOverride, maxSubBytes}, {"Instructions", r.Instructions, 64 << 10}} {
		if err := fault.CheckText(op, field+t.name, t.value, t.max); err != nil {
			return err
		}
	}
	if r.TenantOverride != "" {
		if _, err := e.cfg.Tenants.TenantUID(ctx, op, org, r.TenantOverride); err != nil {
			return err
		}
	}
	switch r.SyncMode {
	case "":
		r.SyncMode = connector.SyncRescan
	case connector.SyncRescan, connector.SyncNewOnly:
	default:
		return fault.Fieldf(op, fault.KindInvalid, fault.Connector, field+"SyncMode", "must be %s or %s", connector.SyncRescan, connector.SyncNewOnly)
	}
	if r.LookbackDays < 0 || r.LookbackDays > maxLookbackDays {
		return fault.Fieldf(op, fault.KindInvalid, fault.Connector, field+"LookbackDays", "must be between 0 and %d", maxLookbackDays)
	}
	if r.BackfillInterval < 0 || r.BackfillInterval > maxSyncInterval {
		return fault.Fieldf(op, fault.KindInvalid, fault.Connector, field+"BackfillInterval", "must be between 0 and %d", int64(maxSyncInterval/time.Second))
	}
	size := len(r.Instructions)
	for _, p := range r.ACL {
		if err := fault.CheckText(op, field+"ACL", p, maxConnectorText); err != nil {
			return err
		}
		size += len(p)
	}
	for _, m := range []map[string]any{r.Filters, r.Metadata, r.Additional, r.ProviderMetadata} {
		n, err := jsonSize(m)
		if err != nil {
			return fault.Fieldf(op, fault.KindInvalid, fault.Connector, field+"Metadata", "can't be written as JSON")
		}
		size += n
	}
	if size > maxResourceBytes {
		return fault.Fieldf(op, fault.KindInvalid, fault.Connector, field+"Metadata", "settings of %d bytes are over the limit of %d", size, maxResourceBytes)
	}
	return nil
}

// AddResources adds or changes resources of a connector, all or none, and returns their stored settings.
func (e *Engine) AddResources(ctx context.Context, org, id string, rs []connector.SyncedResource) ([]connector.SyncedResource, error) {
	const op = "add resources"
	if len(rs) == 0 || len(rs) > maxResourcesCall {
		return nil, fault.Fieldf(op, fault.KindInvalid, fault.Connector, "Resources", "needs 1 to %d entries", maxResourcesCall)
	}
	if _, _, err := e.readConnector(ctx, op, org, id); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	settings := make([]connector.SyncedResource, len(rs))
	for i, r := range rs {
		field := fmt.Sprintf("Resources[%d].", i)
		if err := e.checkResource(ctx, op, org, field, &r); err != nil {
			return nil, err
		}
		if seen[r.ResourceID] {
			return nil, fault.Fieldf(op, fault.KindInvalid, fault.Connector, field+"ResourceID", "is there twice")
		}
		seen[r.ResourceID] = true
		settings[i] = r
	}
	out, err := e.writeResources(ctx, op, org, id, settings)
	if err != nil {
		return nil, err
	}
	// A deletion that began meanwhile may have listed the resources before this write.
	_, err = e.changeConnector(ctx, op, org, id, func(c *storedConnector) error {
		if c.Public.Status == connector.Active && !c.Public.NextSync.IsZero() {
			c.Public.NextSync = time.Now().UTC()
		}
		return nil
	})
	if errors.Is(err, fault.ErrNotFound) {
		_ = e.scan(ctx, kindResource, org, id, func(rs []backend.Record) error { return e.dropRecords(ctx, rs) })
	}
	if err != nil {
		return nil, err
	}
	e.syncs.plan(org, id, time.Now())
	return out, nil
}

// writeResources stores the settings of resources and keeps their sync state.
func (e *Engine) writeResources(ctx context.Context, op, org, id string, settings []connector.SyncedResource) ([]connector.SyncedResource, error) {
	for {
		out := make([]connector.SyncedResource, len(settings))
		ws := make([]backend.RecordWrite, len(settings))
		for i, r := range settings {
			key := resourceKey(id, r.ResourceID)
			stored := new(storedResource)
			rec, err := e.reg.Record(ctx, kindResource, org, key)
			if err == nil {
				stored, err = decodeRecord[storedResource](rec)
			}
			if err != nil && !errors.Is(err, backend.ErrNotFound) {
				return nil, fault.Wrap(op, "", r.ResourceID, err)
			}
			stored.settle(id, r)
			if ws[i], err = encodeRecord(kindResource, org, key, rec.Rev, stored); err != nil {
				return nil, fault.Wrap(op, "", r.ResourceID, err)
			}
			out[i] = stored.Public
		}
		err := e.reg.WriteRecords(ctx, ws)
		raced := errors.Is(err, backend.ErrConflict) || errors.Is(err, backend.ErrExists) || errors.Is(err, backend.ErrNotFound)
		if raced && ctx.Err() == nil {
			continue
		}
		return out, fault.Wrap(op, fault.Connector, id, err)
	}
}

// settle replaces the settings of a resource.
func (r *storedResource) settle(id string, s connector.SyncedResource) {
	old := r.Public
	s.ConnectorID, s.Cursor, s.LastStatus, s.LastError, s.LastRows = id, old.Cursor, old.LastStatus, old.LastError, old.LastRows
	s.BackfillOldest, s.BackfillStatus, s.BackfillNext = old.BackfillOldest, old.BackfillStatus, old.BackfillNext
	if s.BackfillInterval == 0 {
		s.BackfillNext = time.Time{}
	}
	r.Public = s
	r.setStatus()
}

func (r *storedResource) setStatus() {
	switch {
	case r.Public.Paused:
		r.Public.Status = connector.ResourcePaused
	case r.Public.LastStatus == syncFailed:
		r.Public.Status = connector.ResourceFailed
	default:
		r.Public.Status = connector.ResourceActive
	}
}

// Resources lists the resources of a connector, sorted by id.
func (e *Engine) Resources(ctx context.Context, org, id string) ([]connector.SyncedResource, error) {
	const op = "resources"
	if _, _, err := e.readConnector(ctx, op, org, id); err != nil {
		return nil, err
	}
	rs, err := e.readResources(ctx, org, id)
	if err != nil {
		return nil, fault.Wrap(op, fault.Connector, id, err)
	}
	out := make([]connector.SyncedResource, len(rs))
	for i, r := range rs {
		out[i] = r.Public
	}
	return out, nil
}

// DeleteResource stops syncing a resource. The items that it ingested stay.
func (e *Engine) DeleteResource(ctx context.Context, org, id, resource string) error {
	const op = "delete resource"
	if _, _, err := e.readConnector(ctx, op, org, id); err != nil {
		return err
	}
	for {
		rec, err := e.reg.Record(ctx, kindResource, org, resourceKey(id, resource))
		if err == nil {
			rec.Data = nil
			err = e.reg.WriteRecords(ctx, []backend.RecordWrite{{Record: rec, Delete: true, IfRev: rec.Rev}})
		}
		if errors.Is(err, backend.ErrConflict) && ctx.Err() == nil {
			continue // a sync has written the record meanwhile
		}
		return resourceError(op, resource, err)
	}
}

// jsonSize returns the length of v as JSON, without white space and HTML escapes.
func jsonSize(v any) (int, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Len() - 1, err // without the final newline
}
