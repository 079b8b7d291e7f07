// Package erase removes items completely: none of their bytes stays in any file of a deployment.
package erase

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/feedback"
	"github.com/contextmem/contextmem/internal/graph"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/workspace"
)

// Request selects the items to erase: those of User if set, else those of IDs if set, else all items.
type Request struct {
	Tenant string
	Subs   []string // stored names of the sub-tenants; nil: all of the tenant
	IDs    []string
	User   string // memories about a user of this name
}

// everything reports whether a request selects neither a user nor ids.
func (q *Request) everything() bool { return q.IDs == nil && q.User == "" }

// Counts is the result of an erasure.
type Counts struct {
	Items    int // with their chunks, vectors, content and graph
	Events   int // events and deliveries about them
	Feedback int // learned boosts for the items, and feedback records
	Remains  []string
}

// Engine erases items.
type Engine struct {
	Registry backend.Registry
	// Deleted is called with the uid of a workspace after items of it were deleted.
	Deleted func(uid string)
	// Feedback deletes feedback records of an organisation about a tenant. It deletes the records of the sub-tenants subs (nil: of
	// any) and those that name one of the items ids (nil: none). It returns the number of deleted records.
	Feedback func(ctx context.Context, org, tenant string, subs, ids []string) (int, error)
	// Empty deletes all items of a sub-tenant, and returns their number, also with an error. A large one is ended after a crash.
	Empty func(ctx context.Context, ref *workspace.Ref, sub string) (int, error)
	// Others reports whether other processes have the deployment open.
	Others bool
}

// others describes the files that an erasure cannot reach while other processes have the deployment open.
const others = "index files of other processes, which rewrite them by and by: delete their folder below --data while they do not run"

const (
	batch = 500 // items expired or looked for together
	page  = 500 // items read together
	// together is the number of ids of partitions that one transaction deletes: as many as a call about a sub-tenant can name. Other writes of
	// the tenant wait for it, as they do afterwards for the rewriting of the files.
	together = 3 * maxIDs
)

// run is an erasure in progress.
type run struct {
	*Engine
	*Request
	ctx context.Context
	ref *workspace.Ref
	out Counts
	// ids of the selected items, by sub-tenant, some of which may be gone already; unused if all are selected
	gone map[string][]string
}

// Run erases the selected items. After a failure they may be deleted but not yet erased; repeating the call continues the
// erasure. What is about the items outside their store goes before them, since who repeats the call may not find any more which they were, and once
// more after them, since it may have become more meanwhile. Events in the store go with items that are named.
func (e *Engine) Run(ctx context.Context, ref *workspace.Ref, q Request) (Counts, error) {
	r := &run{Engine: e, Request: &q, ctx: ctx, ref: ref, gone: map[string][]string{}}
	store, ok1 := ref.Store.(backend.Purger)
	events, ok2 := ref.Store.(backend.EventEraser)
	registry, ok3 := e.Registry.(backend.Purger)
	deliveries, ok4 := e.Registry.(backend.EventEraser)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return Counts{}, fmt.Errorf("the backend cannot erase: %w", errors.ErrUnsupported)
	}
	if err := r.subs(); err != nil {
		return Counts{}, err
	}
	if err := r.find(); err != nil {
		return r.out, err
	}
	before := []backend.EventEraser{deliveries}
	if _, joint := ref.Store.(backend.JointDeleter); !joint || r.everything() {
		before = append(before, events)
	}
	if err := r.traces(before...); err != nil {
		return r.out, err
	}
	err := r.deleteAll()
	if r.out.Items > 0 || err == nil {
		ref.StateChanged()
		e.Deleted(ref.UID)
	}
	if err != nil {
		return r.out, err
	}
	if err := r.traces(events, deliveries); err != nil {
		return r.out, err
	}
	if err := graph.ForgetRestored(ctx, ref.Store); err != nil {
		return r.out, err
	}
	for _, purge := range []func(context.Context) error{ref.Follower.Purge, store.Purge, registry.Purge} {
		if err := purge(ctx); err != nil {
			return r.out, err
		}
	}
	r.remains(store, registry)
	return r.out, nil
}

// traces erases events and feedback about the selected items.
func (r *run) traces(from ...backend.EventEraser) error {
	for _, sub := range r.Subs {
		slices.Sort(r.gone[sub])
		r.gone[sub] = slices.Compact(r.gone[sub])
		for _, f := range from {
			for ids := range r.named(sub) {
				n, err := f.EraseEvents(r.ctx, r.ref.UID, sub, ids)
				if r.out.Events += n; err != nil {
					return err
				}
			}
		}
	}
	return r.feedback()
}

// remains collects the places where erased data may be left.
func (r *run) remains(purged ...any) {
	for _, x := range r.ref.Workspace.Indexes() {
		purged = append(purged, x)
	}
	if r.Others {
		r.out.Remains = append(r.out.Remains, others)
	}
	for _, x := range purged {
		t, ok := x.(backend.Remainer)
		if !ok {
			continue
		}
		for _, place := range t.Remains() {
			if !slices.Contains(r.out.Remains, place) {
				r.out.Remains = append(r.out.Remains, place)
			}
		}
	}
}

// subs fills in the sub-tenants of a request. It first removes expired items, since they could hide a sub-tenant.
func (r *run) subs() error {
	if r.Subs != nil {
		return nil
	}
	for n := batch; n == batch; {
		var err error
		if n, _, err = r.ref.Store.Expire(r.ctx, time.Now(), batch); err != nil {
			return err
		}
	}
	subs, err := r.ref.Store.Subs(r.ctx)
	r.Subs = []string{}
	for _, s := range subs {
		r.Subs = append(r.Subs, s.Sub)
	}
	return err
}

// find notes the ids of the selected items, unless all are selected.
func (r *run) find() error {
	if r.User != "" {
		return r.ofUser(func(sub string, ids []string) error {
			r.gone[sub] = append(r.gone[sub], ids...)
			return nil
		})
	}
	ids := slices.Clone(r.IDs)
	for _, sub := range r.Subs {
		r.gone[sub] = ids
	}
	return nil
}

// named returns an iterator over the selected ids of a sub-tenant, in batches. It yields nil once if the request selects all items.
func (r *run) named(sub string) func(yield func([]string) bool) {
	return func(yield func([]string) bool) {
		if r.everything() {
			yield(nil)
			return
		}
		for ids := range slices.Chunk(r.gone[sub], batch) {
			if !yield(ids) {
				return
			}
		}
	}
}

func (r *run) deleteAll() error {
	var all []backend.Deletion
	switch {
	case r.everything():
		for _, sub := range r.Subs {
			n, err := r.Empty(r.ctx, r.ref, sub)
			if r.out.Items += n; err != nil {
				return err
			}
		}
		return nil
	case r.User != "":
		err := r.ofUser(func(sub string, ids []string) error {
			all = append(all, backend.Deletion{Part: backend.Partition{Class: backend.Memory, Sub: sub}, IDs: ids, Events: true})
			return nil
		})
		if err != nil {
			return err
		}
	default:
		for _, sub := range r.Subs {
			for _, class := range []backend.Class{backend.Knowledge, backend.Memory, backend.Raw} {
				all = append(all, backend.Deletion{Part: backend.Partition{Class: class, Sub: sub}, IDs: r.IDs, Events: class == backend.Knowledge})
			}
		}
	}
	for len(all) > 0 {
		n, ids := 0, 0
		for n < len(all) && (n == 0 || ids+len(all[n].IDs) <= together) {
			ids += len(all[n].IDs)
			n++
		}
		if err := r.delete(all[:n]); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

// delete deletes in one transaction if the store can.
func (r *run) delete(all []backend.Deletion) error {
	out, err := backend.DeleteJointly(r.ctx, r.ref.Store, all)
	for k, d := range out {
		r.out.Events += d.Events
		for i, f := range d.Items {
			if !f.Found {
				continue
			}
			r.out.Items++
			if sub := all[k].Part.Sub; r.User != "" { // it may be newer than what find found
				r.gone[sub] = append(r.gone[sub], all[k].IDs[i])
			}
		}
	}
	return err
}

// ofUser calls do with the ids of the memories about a user.
func (r *run) ofUser(do func(sub string, ids []string) error) error {
	walker, ok := r.ref.Store.(backend.Walker)
	if !ok {
		return fmt.Errorf("the backend cannot list items: %w", errors.ErrUnsupported)
	}
	for after := int64(0); ; {
		srcs, err := walker.Walk(r.ctx, after, page)
		if err != nil {
			return err
		}
		found := map[string][]string{}
		for _, s := range srcs {
			after = s.Num
			if s.Part.Class != backend.Memory || !slices.Contains(r.Subs, s.Part.Sub) {
				continue
			}
			doc, err := item.Decode(s.Doc)
			if err != nil {
				return err
			}
			if doc.UserName == r.User {
				found[s.Part.Sub] = append(found[s.Part.Sub], s.ID)
			}
		}
		for sub, ids := range found {
			if err := do(sub, ids); err != nil {
				return err
			}
		}
		if len(srcs) < page {
			return nil
		}
	}
}

// feedback reverts what feedback about the erased items taught, and deletes its records.
func (r *run) feedback() error {
	ids := map[string]bool{}
	for _, sub := range r.Subs {
		for _, id := range r.gone[sub] {
			ids[id] = true
		}
	}
	n, err := feedback.Erase(r.ctx, r.ref.Store, &r.ref.Edits, func(o feedback.Opinion) bool {
		if !slices.ContainsFunc(o.Subs, func(s string) bool { return slices.Contains(r.Subs, s) }) {
			return false
		}
		if r.everything() {
			return true
		}
		for id := range o.Sources {
			if ids[id] {
				return true
			}
		}
		return false
	})
	if r.out.Feedback += n; err != nil {
		return err
	}
	subs, list := r.Subs, []string{}
	if !r.everything() {
		subs = []string{}
	}
	for id := range ids {
		list = append(list, id)
	}
	n, err = r.Feedback(r.ctx, r.ref.Record.Org, r.Tenant, subs, list)
	r.out.Feedback += n
	return err
}

// maxIDs is the largest number of ids in one call.
const maxIDs = 10_000

// Check validates what a caller wants to erase.
func Check(op string, q content.EraseRequest) error {
	ids := q.IDs
	switch {
	case ids == nil && q.User == "" && !q.All: // a nil list is often one that nothing was added to
		return fault.Fieldf(op, fault.KindInvalid, "", "IDs", "names nothing to erase: give IDs, User or All")
	case q.All && (ids != nil || q.User != ""):
		return fault.Fieldf(op, fault.KindInvalid, "", "All", "can't be given beside IDs or User")
	case ids != nil && q.User != "":
		return fault.Fieldf(op, fault.KindInvalid, "", "User", "can't be given beside IDs")
	case ids != nil && len(ids) == 0:
		return fault.Fieldf(op, fault.KindUnprocessed, "", "IDs", "needs at least one id")
	case len(ids) > maxIDs:
		return fault.Fieldf(op, fault.KindInvalid, "", "IDs", "%d ids are over the limit of %d", len(ids), maxIDs)
	}
	return nil
}
