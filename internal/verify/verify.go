// Package verify checks a deployment for damage: the rows of its registry and stores, the files of its indexes, and whether the
// indexes match the stores.
package verify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/internal/workspace"
)

// Places of a problem.
const (
	Registry = "registry"
	Store    = "store"
	Feed     = "feed"
	Index    = "index"
)

// maxProblems is the number of problems kept per tenant. Further problems are only counted.
const maxProblems = 1000

// Engine verifies deployments.
type Engine struct{ Set *workspace.Set }

// run is a verification in progress.
type run struct {
	*Engine
	ctx    context.Context
	report *content.VerifyReport
	tenant backend.Tenant
	here   int  // number of problems of the tenant
	holes  bool // the store has damaged rows, which the feed leaves out
}

// Run verifies the whole deployment. It checks one tenant at a time, and tenants stay usable. It returns an error only if it
// could not continue.
func (e *Engine) Run(ctx context.Context) (*content.VerifyReport, error) {
	r := &run{Engine: e, ctx: ctx, report: &content.VerifyReport{At: time.Now().UTC()}}
	err := r.all()
	r.report.Took = time.Since(r.report.At)
	if err != nil {
		return nil, err
	}
	return r.report, nil
}

func (r *run) found(where string, f backend.Finding) {
	r.report.Found++
	if r.here++; r.here <= maxProblems {
		r.report.Problems = append(r.report.Problems, content.Problem{Org: r.tenant.Org, Tenant: r.tenant.ID, UID: r.tenant.UID, Where: where,
			Sub: f.Part.Sub, Class: content.Class(f.Part.Class), ItemID: f.ItemID, What: f.What})
	}
}

func (r *run) all() error {
	reg := r.Set.Registry()
	if v, ok := reg.(backend.Verifier); ok {
		n, err := v.Verify(r.ctx, func(f backend.Finding) { r.found(Registry, f) })
		if r.report.Rows += n; err != nil {
			return err
		}
	}
	lister, ok := reg.(backend.TenantLister)
	if !ok {
		return fmt.Errorf("the registry cannot list all tenants: %w", errors.ErrUnsupported)
	}
	const page = 500
	for after := ""; ; {
		ts, err := lister.AllTenants(r.ctx, after, page)
		if err != nil {
			return err
		}
		for _, t := range ts {
			if t.State != backend.TenantReady {
				continue
			}
			if err := r.one(t); err != nil {
				return err
			}
		}
		if len(ts) < page {
			return nil
		}
		after = ts[len(ts)-1].UID
	}
}

// one verifies a tenant.
func (r *run) one(t backend.Tenant) error {
	r.tenant, r.here, r.holes = t, 0, false
	sp, err := r.Set.Acquire(r.ctx, t.UID)
	switch {
	case r.ctx.Err() != nil:
		return r.ctx.Err()
	case errors.Is(err, backend.ErrNotFound):
		return nil // deleted in between
	case err != nil:
		r.report.Tenants++
		return r.unless(err, Store, "it cannot be opened")
	}
	defer r.Set.ReleaseUID(t.UID)
	r.report.Tenants++
	if v, ok := sp.Store.(backend.Verifier); ok {
		n, err := v.Verify(r.ctx, func(f backend.Finding) {
			r.holes = true
			r.found(Store, f)
		})
		if r.report.Rows += n; err != nil {
			return fmt.Errorf("tenant %s: %w", t.UID, err)
		}
	}
	for _, x := range sp.Workspace.Indexes() {
		v, ok := x.(backend.Verifier)
		if !ok {
			continue
		}
		n, err := v.Verify(r.ctx, func(f backend.Finding) { r.found(Index, f) })
		if r.report.Bytes += n; err != nil {
			return fmt.Errorf("tenant %s: %w", t.UID, err)
		}
	}
	if err := r.follow(sp); err != nil {
		return fmt.Errorf("tenant %s: %w", t.UID, err)
	}
	return nil
}
