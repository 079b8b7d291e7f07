package weaviate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weaviate/weaviate-go-client/v5/weaviate/filters"
	"github.com/weaviate/weaviate/entities/models"

	"github.com/contextmem/contextmem/backend"
)

// sweep offloads the tenants of some workspaces that no process has used for offloading.after.
func (o *offloading) sweep(ctx context.Context) error {
	cutoff := useTime(time.Now().Add(-o.after))
	idle := allOf(equal(propSpace, kindUsed), where{op: filters.LessThan, path: propChunk, texts: []string{cutoff}})
	found, err := o.read(ctx, idle, offloadBatch)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, f := range found {
		u := f.use()
		if seen[u.uid] {
			continue
		}
		seen[u.uid] = true
		done, oerr := o.offload(ctx, u)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if later := notNow(""); errors.As(oerr, &later) {
			o.x.cluster.log.LogAttrs(ctx, slog.LevelDebug, "the tenant of an idle workspace is not offloaded now", slog.String("uid", u.uid), slog.Any("err", oerr))
			oerr = nil
		}
		if !done {
			oerr = errors.Join(oerr, o.postpone(ctx, u))
		}
		if oerr != nil {
			err = errors.Join(err, fmt.Errorf("workspace %s: %w", u.uid, oerr))
		}
	}
	return err
}

// notNow is why a tenant is not offloaded before a later sweep.
type notNow string

func (n notNow) Error() string { return "weaviate: " + string(n) }

// errNotAlike is returned if the replicas of a tenant differ.
const errNotAlike = notNow("the replicas of a tenant differ")

// offload offloads the tenant of a workspace that was last used at u. done is false if it may not be offloaded now; the error is a notNow then,
// or there is none if the workspace was used meanwhile.
func (o *offloading) offload(ctx context.Context, u use) (done bool, err error) {
	if o.x.open.Has(u.uid) {
		return false, notNow("this process has the workspace open")
	}
	if !o.x.cluster.allUpFor(min(o.after/4, longestSweep)) {
		return false, notNow("a node did not answer lately")
	}
	if last, err := o.lastUse(ctx, u.uid); err != nil || last != u {
		return false, err
	}
	records, err := o.records(ctx, u.uid)
	if err != nil {
		return false, err
	}
	collections, away, err := o.present(ctx, u.uid)
	if err != nil {
		return false, err
	}
	if len(collections) == 0 { // the workspace was deleted while a process was about to offload it
		return true, o.forget(ctx, u.uid)
	}
	for _, r := range records {
		switch {
		case r.Claim && time.Since(time.Unix(0, int64(r.Number))) < claimOld:
			return true, nil // another process offloads it
		case away && r.Done && !r.Leftover:
			return true, o.finish(ctx, u)
		}
	}
	if len(records) > 0 {
		return false, notNow("offloading it has failed before, so that its next use checks the content first")
	}
	return o.offloadClaimed(ctx, u, collections)
}

// offloadClaimed is offload for a tenant that no process offloads, unless another process is about to.
func (o *offloading) offloadClaimed(ctx context.Context, u use, collections []string) (done bool, err error) {
	began := time.Now()
	r := offloadRecord{Process: o.x.process, Number: uint64(began.UnixNano()), Claim: true}
	drop := func(err error) error {
		return errors.Join(err, o.dropRecords(context.WithoutCancel(ctx), u.uid, map[string]offloadRecord{r.Process: r}))
	}
	if err := o.putRecord(ctx, u.uid, &r); err != nil {
		return false, err
	}
	if mine, err := o.claimed(ctx, u); err != nil || !mine {
		return true, drop(err)
	}
	if err := o.survey(ctx, u.uid, collections, &r); err != nil {
		return false, drop(errors.Join(err, o.cool(ctx, u, collections)))
	}
	r.Claim = false
	stored := time.Now()
	if err := o.putRecord(ctx, u.uid, &r); err != nil {
		return false, err
	}
	if last, err := o.lastUse(ctx, u.uid); err != nil || last != u {
		return true, drop(errors.Join(err, o.cool(ctx, u, collections)))
	}
	for _, c := range collections {
		if err := o.set(ctx, c, u.uid, models.TenantActivityStatusOFFLOADED, stored.Add(offloadSendWithin)); err != nil {
			return false, errors.Join(err, o.cool(ctx, u, collections)) // the record stays, so that the next use checks the content
		}
	}
	err = o.await(ctx, u.uid, collections, models.TenantActivityStatusFROZEN)
	r.Done = true
	if err := errors.Join(err, o.putRecord(ctx, u.uid, &r)); err != nil {
		return false, errors.Join(err, o.cool(ctx, u, collections))
	}
	o.x.cluster.log.LogAttrs(ctx, slog.LevelInfo, "the tenant of an idle workspace was offloaded", slog.String("uid", u.uid), slog.Duration("took", time.Since(began)))
	return true, o.finish(ctx, u)
}

// claimed reports whether this process, which has stored a claim, is the only one that offloads a workspace, and the workspace was not
// used since u. Of two processes that see each other's claim the one with the lesser name waits until the other has given up.
func (o *offloading) claimed(ctx context.Context, u use) (bool, error) {
	for began := time.Now(); time.Since(began) < claimWait; {
		if last, err := o.lastUse(ctx, u.uid); err != nil || last != u {
			return false, err
		}
		records, err := o.records(ctx, u.uid)
		if err != nil {
			return false, err
		}
		if _, there := records[o.x.process]; len(records) == 1 && there {
			return true, nil
		}
		for process, r := range records {
			if !r.Claim || process < o.x.process {
				return false, nil
			}
		}
		select {
		case <-time.After(10 * firstPause):
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	return false, nil
}

// postpone lets a workspace count as used now, so that other workspaces have their turn. It does nothing if the workspace was
// used meanwhile.
func (o *offloading) postpone(ctx context.Context, u use) error {
	if last, err := o.lastUse(ctx, u.uid); err != nil || last != u {
		return err
	}
	return o.markUsed(ctx, u.uid)
}

// cool deactivates a tenant that survey has activated and that is not offloaded, unless the workspace was used meanwhile.
func (o *offloading) cool(ctx context.Context, u use, collections []string) error {
	if last, err := o.lastUse(ctx, u.uid); err != nil || last != u {
		return err
	}
	for _, c := range collections {
		s, err := o.x.schema.status(ctx, c, u.uid)
		if err == nil && s == models.TenantActivityStatusHOT {
			err = o.set(ctx, c, u.uid, models.TenantActivityStatusINACTIVE, time.Time{})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// finish marks a workspace as offloaded, so that sweeps pass over it. It does nothing if the workspace was used meanwhile.
func (o *offloading) finish(ctx context.Context, u use) error {
	last, err := o.lastUse(ctx, u.uid)
	if err != nil || last != u {
		return err
	}
	return o.mark(ctx, use{u.uid, kindOffloaded, u.at})
}

// present returns the collections in which a workspace has a tenant. away reports whether any of them is not on the nodes.
func (o *offloading) present(ctx context.Context, uid string) (collections []string, away bool, err error) {
	if err := o.x.schema.refresh(ctx); err != nil {
		var no *refusal
		if errors.As(err, &no) { // nodes forbid it while they have no leader; Open has checked the key
			return nil, false, fmt.Errorf("weaviate: read the schema: %w", backend.ErrUnavailable)
		}
		return nil, false, err
	}
	for _, c := range o.x.schema.all() {
		s, err := o.x.schema.status(ctx, c, uid)
		if err != nil {
			return nil, false, err
		}
		if s != "" {
			collections = append(collections, c)
		}
		away = away || isAway(s)
	}
	return collections, away, nil
}

// isAway reports whether a tenant with a status is not on the nodes, or not completely.
func isAway(status string) bool {
	return status != "" && status != models.TenantActivityStatusHOT && status != models.TenantActivityStatusCOLD
}

// survey activates a tenant and stores in r what it has. It returns a notNow if the tenant has unfinished work, which the next
// process that opens the workspace completes, or if its replicas differ.
func (o *offloading) survey(ctx context.Context, uid string, collections []string, r *offloadRecord) error {
	// A tenant that is inactive when it is offloaded is activated again by the nodes' own calls, and then comes back empty.
	for _, c := range collections {
		if err := o.set(ctx, c, uid, models.TenantActivityStatusACTIVE, time.Time{}); err != nil {
			return err
		}
	}
	ix := &index{x: o.x, uid: uid}
	found, err := ix.states(ctx)
	if err != nil {
		return err
	}
	for i := range found.all {
		if found.all[i].unfinished() {
			return notNow("a process has unfinished work in it")
		}
	}
	r.States, r.Generation = found.all, found.generation
	r.Counts, err = o.counts(ctx, uid, collections)
	if errors.Is(err, errNotIndexed) {
		o.x.cluster.log.LogAttrs(ctx, slog.LevelWarn, "a tenant that is offloaded is built anew when it comes back", slog.String("uid", uid), slog.Any("err", err))
		err = nil
	}
	return err
}

// errNotIndexed is returned if a filter that every object of a tenant passes does not find all of them.
var errNotIndexed = errors.New("weaviate: the filters of a node lack objects of a tenant")

// counts returns the number of objects of a tenant in each collection. It returns errNotAlike if nodes give different numbers. With the numbers it returns
// errNotIndexed if a node does not find all objects by a filter.
func (o *offloading) counts(ctx context.Context, uid string, collections []string) (map[string]int, error) {
	out := map[string]int{}
	var lacks error
	for i, n := range o.x.cluster.nodes {
		for _, c := range collections {
			count, indexed := 0, 0
			err := o.x.cluster.call(ctx, "count objects", route{only: n, timeout: searchTimeout}, func(ctx context.Context, n *node) (err error) {
				count, indexed, err = n.countObjects(ctx, c, uid)
				return err
			})
			if err != nil {
				return nil, err
			}
			if i > 0 && out[c] != count {
				return nil, errNotAlike
			}
			if out[c] = count; indexed != count {
				lacks = fmt.Errorf("%w: %d of %d", errNotIndexed, indexed, count)
			}
		}
	}
	return out, lacks
}

// countObjects returns the number of a tenant's objects in a collection, and of those that a filter finds which all objects pass.
func (n *node) countObjects(ctx context.Context, collection, uid string) (all, indexed int, err error) {
	var b strings.Builder
	b.WriteString("{Aggregate{all:" + collection + "(tenant:" + quote(uid) + "){meta{count}}indexed:" + collection + "(tenant:" + quote(uid) + ",where:")
	everything.write(&b)
	b.WriteString("){meta{count}}}}")
	data, err := n.graph(ctx, b.String())
	if err != nil {
		return 0, 0, err
	}
	groups, _ := data["Aggregate"].(map[string]any)
	a, ok1 := numberAt(groups, "all", "meta", "count")
	i, ok2 := numberAt(groups, "indexed", "meta", "count")
	if !ok1 || !ok2 {
		return 0, 0, errAgain
	}
	return int(a), int(i), nil
}

// errNotSent is returned if a status was not requested because the time for that was over.
var errNotSent = fmt.Errorf("weaviate: the cluster is too slow to offload a tenant: %w", backend.ErrUnavailable)

// set requests a status of a tenant. It sends nothing after a time, unless that is zero.
func (o *offloading) set(ctx context.Context, collection, uid, status string, until time.Time) error {
	t := models.Tenant{Name: uid, ActivityStatus: status}
	r := route{timeout: o.giveUp} // nodes answer after they have copied the files
	return o.x.cluster.call(ctx, "set the status of a tenant", r, func(ctx context.Context, n *node) error {
		if !until.IsZero() && time.Now().After(until) {
			return errNotSent
		}
		return n.Schema().TenantsUpdater().WithClassName(collection).WithTenants(t).Do(ctx)
	})
}

// await waits until a tenant has a status in all collections, for offloading.giveUp at most.
func (o *offloading) await(ctx context.Context, uid string, collections []string, want string) error {
	ctx, cancel := context.WithTimeout(ctx, o.giveUp)
	defer cancel()
	pause := firstPause
	for {
		got := map[string]bool{}
		for _, c := range collections {
			s, err := o.x.schema.status(ctx, c, uid)
			if err != nil {
				return err
			}
			got[s] = true
		}
		if len(got) == 1 && got[want] {
			return nil
		}
		if !got[freezing] && !got[unfreezing] {
			return fmt.Errorf("weaviate: a tenant is %v instead of %s: %w", slices.Sorted(maps.Keys(got)), want, backend.ErrUnavailable)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
		pause = min(2*pause, longestPause)
	}
}
