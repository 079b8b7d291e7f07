package workspace

import (
	"context"
	"errors"
	"slices"

	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/cas"
)

// InfoOf describes the record of a tenant, unless reading it failed.
func InfoOf(r *Record, err error) (content.TenantInfo, error) {
	if err != nil {
		return content.TenantInfo{}, err
	}
	state := content.TenantState(r.State)
	if r.Data.Importing && state == content.TenantReady {
		state = content.TenantProvisioning
	}
	return content.TenantInfo{Org: r.Org, ID: r.ID, UID: r.UID, State: state, Error: r.Error, CreatedAt: r.CreatedAt,
		Embeddings: r.Data.Embeddings, Dimension: r.Data.Dimension, Schema: slices.Clone(r.Data.Schema), Instructions: r.Data.Instructions}, nil
}

// WaitReady waits until a tenant is provisioned, or fails.
func (s *Set) WaitReady(ctx context.Context, op, org, tenant string) error {
	for {
		changed := s.RecordsChanged()
		info, err := InfoOf(s.Record(ctx, op, org, tenant))
		if err != nil {
			return err
		}
		switch info.State {
		case content.TenantReady:
			return nil
		case content.TenantFailed:
			return &fault.Error{Op: op, Kind: fault.KindInternal, Resource: fault.Tenant, ID: fault.ShortID(tenant), Err: errors.New("provisioning failed: " + info.Error)}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.gate.Life().Done():
			return &fault.Error{Op: op, Kind: fault.KindClosed, Err: fault.ErrClosed}
		case <-changed:
		}
	}
}

// Edit changes the record of a tenant. It repeats the change if another writer has changed the record meanwhile.
func (s *Set) Edit(ctx context.Context, op, org, tenant string, change func(r *Record) error) error {
	return cas.Retry(ctx, func() error {
		r, err := s.Record(ctx, op, org, tenant)
		if err != nil {
			return err
		}
		return fault.Wrap(op, fault.Tenant, tenant, change(r))
	})
}
