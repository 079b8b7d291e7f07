package connect

import (
	"cmp"

	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/internal/uid"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
)

// Bounds of sync intervals for providers that name none. The samples of the wire contract show 300 and
// 604800 seconds, and an hour as the default.
const (
	minSyncInterval     = 5 * time.Minute
	maxSyncInterval     = 7 * 24 * time.Hour
	defaultSyncInterval = time.Hour

	maxConnectorText   = 1024 // bytes of names, scopes and external ids
	maxSubBytes        = 512
	maxCredentialBytes = 64 << 10
	maxLookbackDays    = 36500
	maxResourcesCall   = 1000
	maxResourceBytes   = 256 << 10
	maxDiscover        = 100
)

// Create makes a connector after the provider accepted its credentials. It returns fault.ErrConflict if another connector of the provider
// has the same non-empty account scope.
func (e *Engine) Create(ctx context.Context, org string, spec connector.Spec) (connector.Connector, error) {
	const op = "create connector"
	var none connector.Connector
	p, err := e.provider(op, spec.Provider)
	if err != nil {
		return none, err
	}
	for _, f := range [...]struct{ name, value string }{{"name", spec.Name}, {"provider_account_scope", spec.AccountScope}, {"deployment_id", spec.DeploymentID},
		{"plan", spec.Plan}, {"user_id", spec.UserID}, {"collection", spec.Sub}} {
		if err := fault.CheckText(op, f.name, f.value, maxSubBytes); err != nil {
			return none, err
		}
	}
	if spec.SyncEngine != "" && spec.SyncEngine != "classic" {
		return none, fault.Fieldf(op, fault.KindInvalid, fault.Connector, "SyncEngine", "must be empty or classic")
	}
	if spec.AuthType, err = p.authType(op, spec.AuthType); err != nil {
		return none, err
	}
	interval, err := p.interval(op, spec.Interval)
	if err != nil {
		return none, err
	}
	if spec.Tenant != "" {
		if _, err := e.cfg.Tenants.TenantUID(ctx, op, org, spec.Tenant); err != nil {
			return none, err
		}
	}
	if err := p.checkCredentials(ctx, op, spec.Credentials); err != nil {
		return none, err
	}
	now := time.Now().UTC()
	c := &storedConnector{Public: connector.Connector{ID: "conn_" + uid.New(), Org: org, UserID: spec.UserID, Provider: spec.Provider, Name: cmp.Or(spec.Name, spec.Provider),
		AccountScope: spec.AccountScope, AuthType: spec.AuthType, Tenant: spec.Tenant, Sub: spec.Sub, DeploymentID: spec.DeploymentID, Plan: spec.Plan,
		SyncEngine: "classic", Status: connector.Active, Interval: interval, NextSync: now.Add(interval), CreatedAt: now, UpdatedAt: now}}
	if len(spec.Credentials) > 0 {
		c.Public.CredentialRef = "cred_" + hashText(8, c.Public.ID)
	}
	if err := e.insertConnector(ctx, op, c, spec.Credentials); err != nil {
		return none, err
	}
	made := e.present(c, nil)
	e.syncs.plan(org, c.Public.ID, c.Public.NextSync) // adding a resource makes the first sync earlier
	return made, nil
}

// insertConnector stores a new connector with its credentials, unless another one has its account scope.
func (e *Engine) insertConnector(ctx context.Context, op string, c *storedConnector, creds connector.Credentials) error {
	e.accounts.Lock()
	defer e.accounts.Unlock()
	if c.Public.AccountScope != "" {
		taken := false
		if err := e.eachConnector(ctx, c.Public.Org, func(x *storedConnector) {
			taken = taken || x.Public.Provider == c.Public.Provider && x.Public.AccountScope == c.Public.AccountScope
		}); err != nil {
			return fault.Wrap(op, fault.Connector, "", err)
		}
		if taken {
			return &fault.Error{Op: op, Kind: fault.KindConflict, Resource: fault.Connector, Field: "AccountScope", Err: errors.New("another connector of the provider has this account")}
		}
	}
	for {
		with, release, err := e.cfg.Sealer.Hold(ctx)
		if err != nil {
			return fault.Wrap(op, fault.Connector, "", err)
		}
		if c.Credentials, err = e.sealCredentials(c.Public.Org, c.Public.ID, creds); err == nil {
			var w backend.RecordWrite
			if w, err = encodeRecord(kindConnector, c.Public.Org, c.Public.ID, 0, c); err == nil {
				err = e.reg.WriteRecords(ctx, append([]backend.RecordWrite{w}, with...))
			}
		}
		release()
		if errors.Is(err, backend.ErrConflict) && ctx.Err() == nil { // another process is replacing the key
			continue
		}
		return fault.Wrap(op, fault.Connector, "", err)
	}
}

// eachConnector calls f with the connectors of an organisation, sorted by id. It leaves out those that are being deleted.
func (e *Engine) eachConnector(ctx context.Context, org string, f func(c *storedConnector)) error {
	for after := ""; ; {
		rs, err := e.reg.Records(ctx, kindConnector, org, after, recordPage)
		if err != nil {
			return err
		}
		for _, r := range rs {
			c, err := decodeRecord[storedConnector](r)
			if err != nil {
				return err
			}
			if !c.Deleting {
				f(c)
			}
			after = r.ID
		}
		if len(rs) < recordPage {
			return nil
		}
	}
}

// present returns a connector as callers see it. resources may be nil.
func (e *Engine) present(c *storedConnector, resources []*storedResource) connector.Connector {
	p := c.Public
	if pr := e.providers[p.Provider]; pr != nil {
		p.MinInterval, p.MaxInterval = pr.info.MinInterval, pr.info.MaxInterval
	}
	p.SyncStatus = connector.SyncIdle
	if e.syncs.running(p.Org, p.ID) {
		p.SyncStatus = connector.SyncRunning
	} else if p.LastError != "" {
		p.SyncStatus = connector.SyncError
	}
	for _, r := range resources {
		if !r.Public.Paused {
			p.Resources++
		}
		if r.backfilling() && !p.NextSync.IsZero() && r.Public.BackfillNext.Before(p.NextSync) && !r.Public.BackfillNext.IsZero() {
			p.NextSync = r.Public.BackfillNext
		}
	}
	return p
}

func (e *Engine) presentFull(ctx context.Context, op string, c *storedConnector) (connector.Connector, error) {
	rs, err := e.readResources(ctx, c.Public.Org, c.Public.ID)
	if err != nil {
		return connector.Connector{}, fault.Wrap(op, fault.Connector, c.Public.ID, err)
	}
	return e.present(c, rs), nil
}

// List returns the connectors of an organisation, sorted by id. An empty provider means all providers.
func (e *Engine) List(ctx context.Context, org, provider string) ([]connector.Connector, error) {
	const op = "connectors"
	var found []*storedConnector
	err := e.eachConnector(ctx, org, func(c *storedConnector) {
		if provider == "" || c.Public.Provider == provider {
			found = append(found, c)
		}
	})
	if err != nil {
		return nil, fault.Wrap(op, fault.Connector, "", err)
	}
	out := make([]connector.Connector, len(found))
	for i, c := range found {
		if out[i], err = e.presentFull(ctx, op, c); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Get returns one connector.
func (e *Engine) Get(ctx context.Context, org, id string) (connector.Connector, error) {
	const op = "connector"
	c, _, err := e.readConnector(ctx, op, org, id)
	if err != nil {
		return connector.Connector{}, err
	}
	return e.presentFull(ctx, op, c)
}

// Edit changes a connector.
func (e *Engine) Edit(ctx context.Context, org, id string, edit connector.Edit) (connector.Connector, error) {
	const op = "edit connector"
	var none connector.Connector
	c, rev, err := e.readConnector(ctx, op, org, id)
	if err != nil {
		return none, err
	}
	p, err := e.provider(op, c.Public.Provider)
	if err != nil {
		return none, err
	}
	if edit.Status != nil && *edit.Status != connector.Active && *edit.Status != connector.Paused {
		return none, fault.Fieldf(op, fault.KindInvalid, fault.Connector, "Status", "must be active or paused")
	}
	if edit.Name != nil {
		if err := fault.CheckText(op, "Name", *edit.Name, maxConnectorText); err != nil {
			return none, err
		}
	}
	var interval time.Duration
	if edit.Interval != nil {
		if interval, err = p.interval(op, *edit.Interval); err != nil {
			return none, err
		}
	}
	var merged connector.Credentials
	if edit.Credentials != nil {
		if merged, err = e.openCredentials(ctx, org, id, c.Credentials); err != nil {
			return none, fault.Wrap(op, fault.Connector, id, err)
		}
		maps.Copy(merged, edit.Credentials)
		if err := p.checkCredentials(ctx, op, merged); err != nil {
			return none, err
		}
	}
	ref := c.Public.CredentialRef
	c, err = e.changeSealed(ctx, op, org, id, func(c *storedConnector) error {
		now := time.Now().UTC()
		c.Public.UpdatedAt = now
		if edit.Name != nil {
			c.Public.Name = *edit.Name
		}
		if edit.Interval != nil {
			c.Public.Interval, c.Public.NextSync = interval, now.Add(interval)
		}
		if edit.Credentials != nil {
			if c.Public.CredentialRef != ref {
				return &fault.Error{Op: op, Kind: fault.KindConflict, Resource: fault.Connector, ID: fault.ShortID(id), Err: errors.New("the credentials were changed by another call")}
			}
			sealed, err := e.sealCredentials(org, id, merged)
			if err != nil {
				return fault.Wrap(op, fault.Connector, id, err)
			}
			c.Credentials, c.Public.CredentialRef = sealed, "cred_"+hashText(8, id, fmt.Sprint(rev))
			c.Public.NeedsReauth, c.Public.NeedsReauthAt, c.Public.NeedsReauthReason = false, time.Time{}, ""
			if c.Public.Status == connector.Refused {
				c.Public.Status, c.Public.NextSync = connector.Active, now
			}
		}
		if edit.Status == nil {
			return nil
		}
		switch {
		case *edit.Status == connector.Paused:
			c.Public.Status, c.Public.NextSync = connector.Paused, time.Time{}
		case c.Public.NeedsReauth:
			c.Public.Status = connector.Refused
		case c.Public.Status == connector.Paused:
			c.Public.Status = connector.Active
			c.Public.NextSync = later(c.Public.NextSync, now)
		}
		return nil
	})
	if err != nil {
		return none, err
	}
	if c.Public.Status == connector.Paused {
		if err := e.syncs.cancel(ctx, org, id); err != nil {
			return none, err
		}
	}
	out, err := e.presentFull(ctx, op, c)
	e.syncs.plan(org, id, time.Now())
	return out, err
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// Delete deletes a connector with its resources and credentials. withObjects also deletes the items that it ingested.
// A running sync is stopped first.
func (e *Engine) Delete(ctx context.Context, org, id string, withObjects bool) error {
	const op = "delete connector"
	c, err := e.changeConnector(ctx, op, org, id, func(c *storedConnector) error {
		c.Deleting, c.WithObjects, c.Credentials = true, withObjects, nil
		return nil
	})
	if err != nil {
		return err
	}
	if err = e.syncs.cancel(ctx, org, id); err == nil {
		err = e.purge(ctx, org, id, c)
	}
	if err != nil {
		e.syncs.plan(org, id, time.Now()) // the scheduler finishes the deletion
		return fault.Wrap(op, fault.Connector, id, err)
	}
	e.syncs.forget(org, id)
	return nil
}

// Names reports whether a connector of an organisation, or a resource of one, ingests into a tenant.
func (e *Engine) Names(ctx context.Context, org, tenant string) (named bool, err error) {
	var ids []string
	err = e.eachConnector(ctx, org, func(c *storedConnector) {
		named = named || c.Public.Tenant == tenant
		ids = append(ids, c.Public.ID)
	})
	for i := 0; i < len(ids) && err == nil && !named; i++ {
		var rs []*storedResource
		rs, err = e.readResources(ctx, org, ids[i])
		for _, r := range rs {
			named = named || r.Public.TenantOverride == tenant || r.Filled.Tenant == tenant
		}
	}
	return named, err
}
