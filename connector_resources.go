package contextmem

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/contextmem/contextmem/backend"
)

func (s *Service) discoverWith(ctx context.Context, r DiscoverRequest) ([]ProviderResource, string, error) {
	const op = "discover"
	if err := s.begin(); err != nil {
		return nil, "", err
	}
	defer s.end()
	p, err := s.provider(op, r.Provider)
	if err != nil {
		return nil, "", err
	}
	if _, err := p.authType(op, r.AuthType); err != nil {
		return nil, "", err
	}
	if err := p.checkCredentials(ctx, op, r.Credentials); err != nil {
		return nil, "", err
	}
	return p.discover(ctx, op, r.Credentials, r.Cursor, r.Limit)
}

func (s *Service) discover(ctx context.Context, org, id, cursor string, limit int) ([]ProviderResource, string, error) {
	const op = "discover"
	if err := s.begin(); err != nil {
		return nil, "", err
	}
	defer s.end()
	c, _, err := s.readConnector(ctx, op, org, id)
	if err != nil {
		return nil, "", err
	}
	p, err := s.provider(op, c.Public.Provider)
	if err != nil {
		return nil, "", err
	}
	creds, err := s.openCredentials(org, id, c.Credentials)
	if err != nil {
		return nil, "", wrap(op, ResourceConnector, id, err)
	}
	return p.discover(ctx, op, creds, cursor, limit)
}

func (p *provider) discover(ctx context.Context, op string, c Credentials, cursor string, limit int) (rs []ProviderResource, next string, err error) {
	if limit < 0 {
		return nil, "", fieldError(op, KindInvalid, ResourceConnector, "limit", "must be between 1 and %d", maxDiscover)
	}
	if limit == 0 || limit > maxDiscover {
		limit = maxDiscover
	}
	err = guard(func() error {
		rs, next, err = p.Discover(ctx, c, cursor, limit)
		return err
	})
	if err != nil {
		return nil, "", p.failure(op, c, err)
	}
	return rs, next, nil
}

// checkResource validates the settings of a resource and fills in defaults.
func (s *Service) checkResource(ctx context.Context, op, org, field string, r *ConnectorResource) error {
	if r.ResourceID == "" {
		return fieldError(op, KindInvalid, ResourceConnector, field+"resource_id", "is required")
	}
	for _, t := range [...]struct {
		name, value string
		max         int
	}{{"resource_id", r.ResourceID, maxConnectorText}, {"resource_type", r.Type, maxConnectorText}, {"display_name", r.Name, maxConnectorText},
		{"collection_override", r.SubOverride, maxSubTenantBytes}, {"instructions", r.Instructions, 64 << 10}} {
		if err := checkText(op, field+t.name, t.value, t.max); err != nil {
			return err
		}
	}
	if r.TenantOverride != "" {
		if _, err := s.tenantRecord(ctx, op, org, r.TenantOverride); err != nil {
			return err
		}
	}
	switch r.SyncMode {
	case "":
		r.SyncMode = SyncRescan
	case SyncRescan, SyncNewOnly:
	default:
		return fieldError(op, KindInvalid, ResourceConnector, field+"sync_mode", "must be %s or %s", SyncRescan, SyncNewOnly)
	}
	if r.LookbackDays < 0 || r.LookbackDays > maxLookbackDays {
		return fieldError(op, KindInvalid, ResourceConnector, field+"lookback_days", "must be between 0 and %d", maxLookbackDays)
	}
	if r.BackfillInterval < 0 || r.BackfillInterval > maxSyncInterval {
		return fieldError(op, KindInvalid, ResourceConnector, field+"backfill_chunk_interval_seconds", "must be between 0 and %d", int64(maxSyncInterval/time.Second))
	}
	size := len(r.Instructions)
	for _, p := range r.ACL {
		if err := checkText(op, field+"acl", p, maxConnectorText); err != nil {
			return err
		}
		size += len(p)
	}
	for _, m := range []map[string]any{r.Filters, r.Metadata, r.Additional, r.ProviderMetadata} {
		b, err := compactJSON(m)
		if err != nil {
			return fieldError(op, KindInvalid, ResourceConnector, field+"metadata", "can't be written as JSON")
		}
		size += len(b)
	}
	if size > maxResourceBytes {
		return fieldError(op, KindInvalid, ResourceConnector, field+"metadata", "settings of %d bytes are over the limit of %d", size, maxResourceBytes)
	}
	return nil
}

func (s *Service) addResources(ctx context.Context, org, id string, rs []ConnectorResource) ([]ConnectorResource, error) {
	const op = "add resources"
	if err := s.begin(); err != nil {
		return nil, err
	}
	defer s.end()
	if len(rs) == 0 || len(rs) > maxResourcesCall {
		return nil, fieldError(op, KindInvalid, ResourceConnector, "resources", "needs 1 to %d entries", maxResourcesCall)
	}
	if _, _, err := s.readConnector(ctx, op, org, id); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	settings := make([]ConnectorResource, len(rs))
	for i, r := range rs {
		field := fmt.Sprintf("resources[%d].", i)
		if err := s.checkResource(ctx, op, org, field, &r); err != nil {
			return nil, err
		}
		if seen[r.ResourceID] {
			return nil, fieldError(op, KindInvalid, ResourceConnector, field+"resource_id", "is there twice")
		}
		seen[r.ResourceID] = true
		settings[i] = r
	}
	out, err := s.writeResources(ctx, op, org, id, settings)
	if err != nil {
		return nil, err
	}
	// A removal that began meanwhile may have scanned before the write.
	_, err = s.changeConnector(ctx, op, org, id, func(c *storedConnector) error {
		if c.Public.Status == ConnectorActive && !c.Public.NextSync.IsZero() {
			c.Public.NextSync = time.Now().UTC()
		}
		return nil
	})
	if errors.Is(err, ErrNotFound) {
		_ = s.scan(ctx, kindResource, org, id, func(rs []backend.Record) error { return s.dropRecords(ctx, rs) })
	}
	if err != nil {
		return nil, err
	}
	s.syncs.plan(org, id, time.Now())
	return out, nil
}

// writeResources stores settings, keeping what the service knows of the resources.
func (s *Service) writeResources(ctx context.Context, op, org, id string, settings []ConnectorResource) ([]ConnectorResource, error) {
	for {
		out := make([]ConnectorResource, len(settings))
		ws := make([]backend.RecordWrite, len(settings))
		for i, r := range settings {
			key := resourceKey(id, r.ResourceID)
			stored := new(storedResource)
			rec, err := s.reg.Record(ctx, kindResource, org, key)
			if err == nil {
				stored, err = decodeRecord[storedResource](rec)
			}
			if err != nil && !errors.Is(err, backend.ErrNotFound) {
				return nil, wrap(op, "", r.ResourceID, err)
			}
			stored.settle(id, r)
			if ws[i], err = encodeRecord(kindResource, org, key, rec.Rev, stored); err != nil {
				return nil, wrap(op, "", r.ResourceID, err)
			}
			out[i] = stored.Public
		}
		err := s.reg.WriteRecords(ctx, ws)
		raced := errors.Is(err, backend.ErrConflict) || errors.Is(err, backend.ErrExists) || errors.Is(err, backend.ErrNotFound)
		if raced && ctx.Err() == nil {
			continue
		}
		return out, wrap(op, ResourceConnector, id, err)
	}
}

// settle takes over new settings.
func (r *storedResource) settle(connector string, s ConnectorResource) {
	old := r.Public
	s.ConnectorID, s.Cursor, s.LastStatus, s.LastError, s.LastRows = connector, old.Cursor, old.LastStatus, old.LastError, old.LastRows
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
		r.Public.Status = ResourcePaused
	case r.Public.LastStatus == syncFailed:
		r.Public.Status = ResourceFailed
	default:
		r.Public.Status = ResourceActive
	}
}

func (s *Service) resources(ctx context.Context, org, id string) ([]ConnectorResource, error) {
	const op = "resources"
	if err := s.begin(); err != nil {
		return nil, err
	}
	defer s.end()
	if _, _, err := s.readConnector(ctx, op, org, id); err != nil {
		return nil, err
	}
	rs, err := s.readResources(ctx, org, id)
	if err != nil {
		return nil, wrap(op, ResourceConnector, id, err)
	}
	out := make([]ConnectorResource, len(rs))
	for i, r := range rs {
		out[i] = r.Public
	}
	return out, nil
}

func (s *Service) deleteResource(ctx context.Context, org, id, resource string) error {
	const op = "delete resource"
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	if _, _, err := s.readConnector(ctx, op, org, id); err != nil {
		return err
	}
	for {
		rec, err := s.reg.Record(ctx, kindResource, org, resourceKey(id, resource))
		if err == nil {
			rec.Data = nil
			err = s.reg.WriteRecords(ctx, []backend.RecordWrite{{Record: rec, Delete: true, IfRev: rec.Rev}})
		}
		if errors.Is(err, backend.ErrConflict) && ctx.Err() == nil {
			continue // a sync stored its progress
		}
		return resourceError(op, resource, err)
	}
}
