package contextmem

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"
)

const (
	syncRetry   = time.Minute      // pause after the first failure; it doubles up to the interval
	syncCall    = 10 * time.Minute // for one page of a provider
	syncPage    = 200              // objects asked for at once
	syncOK      = "ok"
	syncPartial = "partial"
	syncFailed  = "error"
	backfillOn  = "running"
)

var errNoProgress = errors.New("the provider has more but makes no progress")

// syncRun is one sync of a connector.
type syncRun struct {
	svc     *Service
	org, id string
	c       *storedConnector
	p       *provider
	creds   Credentials
	full    bool // the interval has passed: every resource; else only chunks of a backfill
	forced  bool // asked for: chunks do not wait for their time

	sent int // objects handed to ingestion
}

// do runs it and stores the outcome. Its own error is one of storage.
func (r *syncRun) do(ctx context.Context, rs []*storedResource) error {
	c, err := r.svc.changeConnector(ctx, "sync", r.org, r.id, func(c *storedConnector) error {
		c.Public.LastAttempt = time.Now().UTC()
		return nil
	})
	if err != nil {
		return err
	}
	r.c = c
	problem := r.all(ctx, rs)
	if errors.Is(problem, ErrClosed) {
		return problem
	}
	if ctx.Err() != nil {
		return ctx.Err() // stopped: what is durable is stored, the rest is still due
	}
	return r.finish(ctx, problem)
}

// all syncs the resources that are due. The first failure is returned; one of the whole
// provider ends the run.
func (r *syncRun) all(ctx context.Context, rs []*storedResource) (first error) {
	var err error
	if r.p = r.svc.providers[r.c.Public.Provider]; r.p == nil {
		return fmt.Errorf("provider %q is not available", r.c.Public.Provider)
	}
	if r.creds, err = r.svc.openCredentials(r.org, r.id, r.c.Credentials); err != nil {
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
		if err == nil || errors.Is(err, ErrNotFound) && r.gone(ctx, res) {
			continue
		}
		if first == nil {
			first = err
		}
		_, serr := r.svc.changeResource(ctx, "sync", r.org, r.id, res.Public.ResourceID, func(x *storedResource) {
			x.Public.LastStatus, x.Public.LastError = syncFailed, scrub(err, r.creds)
			if x.backfilling() && x.Public.BackfillInterval > 0 {
				x.Public.BackfillNext = time.Now().UTC().Add(max(x.Public.BackfillInterval, syncRetry))
			}
			x.setStatus()
		})
		if serr != nil && !errors.Is(serr, ErrNotFound) {
			return serr
		}
		if limited := new(RateLimited); errors.As(err, &limited) || errors.Is(err, ErrReauth) {
			return err
		}
	}
	return first
}

// gone tells whether a resource was removed while it was synced.
func (r *syncRun) gone(ctx context.Context, res *storedResource) bool {
	_, err := r.svc.reg.Record(ctx, kindResource, r.org, resourceKey(r.id, res.Public.ResourceID))
	return errors.Is(resourceError("sync", "", err), ErrNotFound)
}

// finish stores how the run ended and when the next one is due.
func (r *syncRun) finish(ctx context.Context, problem error) error {
	c, err := r.svc.changeConnector(ctx, "sync", r.org, r.id, func(c *storedConnector) error {
		now := time.Now().UTC()
		p := &c.Public
		p.UpdatedAt = now
		p.Dispatched += r.sent
		var next time.Time
		switch limited := new(RateLimited); {
		case problem == nil:
			c.Failures, p.LastError, p.LastSuccess = 0, "", now
			p.NeedsReauth, p.NeedsReauthAt, p.NeedsReauthReason = false, time.Time{}, ""
			if p.Status == ConnectorError {
				p.Status = ConnectorActive
			}
			next = now.Add(p.Interval)
			if r.full {
				p.Cycles++
			} else {
				next = p.NextSync
			}
		case errors.Is(problem, ErrReauth):
			p.LastError = scrub(problem, r.creds)
			if p.Status == ConnectorActive {
				p.Status = ConnectorError
			}
			next = now.Add(p.Interval)
			if p.AuthType == AuthOAuth {
				p.NeedsReauth, p.NeedsReauthAt, p.NeedsReauthReason = true, now, p.LastError
				next = time.Time{} // until new credentials are stored
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
		if p.Status == ConnectorPaused {
			p.NextSync = time.Time{}
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.c = c
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
		res, err = r.svc.changeResource(ctx, "sync", r.org, r.id, id, func(x *storedResource) {
			if x.Filled.Tenant == into.Tenant && x.Filled.UID != into.UID { // the new one is empty
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
		res, err = r.svc.changeResource(ctx, "sync", r.org, r.id, id, func(x *storedResource) {
			switch {
			case x.Public.SyncMode == SyncNewOnly:
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
		res, err = r.svc.changeResource(ctx, "sync", r.org, r.id, id, func(x *storedResource) {
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

// into is the tenant that the objects of a resource go to now.
func (r *syncRun) into(ctx context.Context, res *ConnectorResource) (incarnation, error) {
	name := firstOf(res.TenantOverride, r.c.Public.Tenant)
	if name == "" {
		return incarnation{}, errors.New("neither the connector nor the resource names a tenant")
	}
	t, err := r.svc.tenantRecord(ctx, "sync", r.org, name)
	if err != nil {
		return incarnation{}, err
	}
	return incarnation{name, t.rec.UID}, nil
}

// store takes over what a page brought. Its objects are durable.
func (r *storedResource) store(page *SyncPage, rows int, refused error, paced bool) {
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
func (r *syncRun) page(ctx context.Context, res *storedResource) (page *SyncPage, err error) {
	ctx, cancel := context.WithTimeout(ctx, syncCall)
	defer cancel()
	err = guard(func() error {
		page, err = r.p.Sync(ctx, SyncRequest{Credentials: maps.Clone(r.creds), ResourceID: res.Public.ResourceID, Type: res.Public.Type, Filters: res.Public.Filters,
			Cursor: res.Public.Cursor, Since: res.Since, Limit: syncPage, MaxBytes: r.svc.opts.MaxFileBytes, Supported: r.svc.parsers.Supported,
			Parse: func(ctx context.Context, in ParseInput) (*Document, error) {
				return r.svc.parsers.Parse(ctx, in, ParseLimits{MaxInput: r.svc.opts.MaxFileBytes, Timeout: r.svc.opts.ParseTimeout})
			}})
		return err
	})
	if err == nil && page == nil {
		err = errors.New("the provider returned nothing")
	}
	return page, err
}
