package connect

import (
	"cmp"

	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/contextmem/contextmem/connector"

	"github.com/contextmem/contextmem/fault"
)

const (
	syncRetry   = time.Minute      // pause after the first failure; doubles up to the sync interval
	syncCall    = 10 * time.Minute // time limit of one page of a provider
	syncPage    = 200              // objects requested at once
	syncOK      = "ok"
	syncPartial = "partial"
	syncFailed  = "error"
	backfillOn  = "running"
)

var errNoProgress = errors.New("the provider has more but makes no progress")

// syncRun is one sync of a connector.
type syncRun struct {
	eng     *Engine
	org, id string
	c       *storedConnector
	p       *provider
	creds   connector.Credentials
	full    bool // the sync interval has passed, so that every resource is synced; otherwise only due chunks of a backfill
	forced  bool // a caller asked for the sync, so that chunks of a backfill do not wait

	sent int // number of objects ingested
}

// do runs the sync and stores the result. It returns only errors of storage, and those that stopped it early.
func (r *syncRun) do(ctx context.Context, rs []*storedResource) error {
	c, err := r.eng.changeConnector(ctx, "sync", r.org, r.id, func(c *storedConnector) error {
		c.Public.LastAttempt = time.Now().UTC()
		return nil
	})
	if err != nil {
		return err
	}
	r.c = c
	problem := r.all(ctx, rs)
	if errors.Is(problem, fault.ErrClosed) {
		return problem
	}
	if ctx.Err() != nil {
		return ctx.Err() // the sync was stopped: stored progress remains, the rest stays due
	}
	return r.finish(ctx, problem)
}

// all syncs the resources that are due and returns the first failure. A failure of the
// whole provider ends the sync.
func (r *syncRun) all(ctx context.Context, rs []*storedResource) (first error) {
	var err error
	if r.p = r.eng.providers[r.c.Public.Provider]; r.p == nil {
		return fmt.Errorf("provider %q is not available", r.c.Public.Provider)
	}
	if r.creds, err = r.eng.openCredentials(ctx, r.org, r.id, r.c.Credentials); err != nil {
		return err
	}
	for _, res := range rs {
		b := res.Public.BackfillNext
		waits := res.backfilling() && !b.IsZero() && b.After(time.Now()) && !r.forced
		if res.Public.Paused || waits || !r.full && !res.backfilling() {
			continue
		}
		err := r.resource(ctx, res)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil || errors.Is(err, fault.ErrNotFound) && r.gone(ctx, res) {
			continue
		}
		if first == nil {
			first = err
		}
		_, serr := r.eng.changeResource(ctx, "sync", r.org, r.id, res.Public.ResourceID, func(x *storedResource) {
			x.Public.LastStatus, x.Public.LastError = syncFailed, scrub(err, r.creds)
			if x.backfilling() && x.Public.BackfillInterval > 0 {
				x.Public.BackfillNext = time.Now().UTC().Add(max(x.Public.BackfillInterval, syncRetry))
			}
			x.setStatus()
		})
		if serr != nil && !errors.Is(serr, fault.ErrNotFound) {
			return serr
		}
		if limited := new(connector.RateLimited); errors.As(err, &limited) || errors.Is(err, connector.ErrReauth) {
			return err
		}
	}
	return first
}

// gone reports whether a resource was removed while it was synced.
func (r *syncRun) gone(ctx context.Context, res *storedResource) bool {
	_, err := r.eng.reg.Record(ctx, kindResource, r.org, resourceKey(r.id, res.Public.ResourceID))
	return errors.Is(resourceError("sync", "", err), fault.ErrNotFound)
}

// finish stores the result of the sync and when the next one is due.
func (r *syncRun) finish(ctx context.Context, problem error) error {
	c, err := r.eng.changeConnector(ctx, "sync", r.org, r.id, func(c *storedConnector) error {
		now := time.Now().UTC()
		p := &c.Public
		p.UpdatedAt = now
		p.Dispatched += r.sent
		var next time.Time
		switch limited := new(connector.RateLimited); {
		case problem == nil:
			c.Failures, p.LastError, p.LastSuccess = 0, "", now
			p.NeedsReauth, p.NeedsReauthAt, p.NeedsReauthReason = false, time.Time{}, ""
			if p.Status == connector.Refused {
				p.Status = connector.Active
			}
			next = now.Add(p.Interval)
			if r.full {
				p.Cycles++
			} else {
				next = p.NextSync
			}
		case errors.Is(problem, connector.ErrReauth):
			p.LastError = scrub(problem, r.creds)
			if p.Status == connector.Active {
				p.Status = connector.Refused
			}
			next = now.Add(p.Interval)
			if p.AuthType == connector.AuthOAuth {
				p.NeedsReauth, p.NeedsReauthAt, p.NeedsReauthReason = true, now, p.LastError
				next = time.Time{} // no sync until new credentials are stored
			}
		case errors.As(problem, &limited):
			p.LastError = scrub(problem, r.creds)
			next = now.Add(max(limited.After, syncRetry))
		default:
			p.LastError = scrub(problem, r.creds)
			pause := p.Interval
			if c.Failures < 16 {
				pause = min(pause, syncRetry<<c.Failures)
			}
			c.Failures++
			next = now.Add(pause)
		}
		p.NextSync = next
		if p.Status == connector.Paused {
			p.NextSync = time.Time{}
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.c = c
	if r.eng.cfg.Synced != nil {
		outcome := "ok"
		if problem != nil {
			outcome = "error"
		}
		r.eng.cfg.Synced(c.Public.Provider, outcome, r.sent)
	}
	return nil
}

// resource syncs one resource: all of its pages, or one chunk of a paced backfill.
func (r *syncRun) resource(ctx context.Context, res *storedResource) error {
	id := res.Public.ResourceID
	into, err := r.into(ctx, &res.Public)
	if err != nil {
		return err
	}
	if res.Filled != into {
		res, err = r.eng.changeResource(ctx, "sync", r.org, r.id, id, func(x *storedResource) {
			if x.Filled.Tenant == into.Tenant && x.Filled.UID != into.UID { // the new tenant is empty
				x.restart()
			}
			x.Filled = into
		})
		if err != nil {
			return err
		}
	}
	if !res.Started {
		now := time.Now().UTC()
		res, err = r.eng.changeResource(ctx, "sync", r.org, r.id, id, func(x *storedResource) {
			switch {
			case x.Public.SyncMode == connector.SyncNewOnly:
				x.Since = now
			case x.Public.LookbackDays > 0:
				x.Since = now.AddDate(0, 0, -x.Public.LookbackDays)
			}
			x.Started = true
			x.Public.BackfillStatus, x.Public.BackfillOldest = backfillOn, x.Since
			if x.Since.IsZero() {
				x.Public.BackfillOldest = time.Unix(0, 0).UTC()
			}
		})
		if err != nil {
			return err
		}
	}
	rows := 0
	var refused error
	for {
		page, err := r.page(ctx, res)
		if err != nil {
			return err
		}
		if page.More && page.Cursor == res.Public.Cursor && len(page.Objects)+len(page.Deleted) == 0 {
			return errNoProgress
		}
		in := &syncIngest{run: r, res: &res.Public}
		if err := in.do(ctx, page); err != nil {
			return err
		}
		rows += len(page.Objects)
		r.sent += in.sent
		if refused == nil {
			refused = in.refused
		}
		paced := false
		res, err = r.eng.changeResource(ctx, "sync", r.org, r.id, id, func(x *storedResource) {
			paced = page.More && x.backfilling() && x.Public.BackfillInterval > 0
			x.store(page, rows, refused, paced)
			if x.Public.LastError != "" {
				x.Public.LastError = scrub(errors.New(x.Public.LastError), r.creds)
			}
		})
		if err != nil {
			return err
		}
		if !page.More || paced || res.Public.Paused {
			return nil
		}
	}
}

// into returns the tenant that the objects of a resource go to now.
func (r *syncRun) into(ctx context.Context, res *connector.SyncedResource) (incarnation, error) {
	name := cmp.Or(res.TenantOverride, r.c.Public.Tenant)
	if name == "" {
		return incarnation{}, errors.New("neither the connector nor the resource names a tenant")
	}
	uid, err := r.eng.cfg.Tenants.TenantUID(ctx, "sync", r.org, name)
	if err != nil {
		return incarnation{}, err
	}
	return incarnation{name, uid}, nil
}

// store records the progress after a page whose objects are durable.
func (r *storedResource) store(page *connector.Page, rows int, refused error, paced bool) {
	p := &r.Public
	p.Cursor, p.LastRows, p.LastStatus, p.LastError = page.Cursor, rows, syncOK, ""
	if refused != nil {
		p.LastStatus, p.LastError = syncPartial, refused.Error()
	}
	p.BackfillNext = time.Time{}
	if paced {
		p.BackfillNext = time.Now().UTC().Add(p.BackfillInterval)
	}
	if !page.More {
		r.Since, p.BackfillOldest, p.BackfillStatus = time.Time{}, time.Time{}, ""
	}
	r.setStatus()
}

// page asks the provider for the next page.
func (r *syncRun) page(ctx context.Context, res *storedResource) (page *connector.Page, err error) {
	ctx, cancel := context.WithTimeout(ctx, syncCall)
	defer cancel()
	err = fault.Guard(func() error {
		page, err = r.p.Sync(ctx, connector.SyncRequest{Credentials: maps.Clone(r.creds), ResourceID: res.Public.ResourceID, Type: res.Public.Type, Filters: res.Public.Filters,
			Cursor: res.Public.Cursor, Since: res.Since, Limit: syncPage, MaxBytes: r.eng.cfg.MaxFileBytes, Supported: r.eng.cfg.Supported, Parse: r.eng.cfg.Parse})
		return err
	})
	if err == nil && page == nil {
		err = errors.New("the provider returned nothing")
	}
	return page, err
}
