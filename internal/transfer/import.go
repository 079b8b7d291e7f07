package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/cas"
	"github.com/contextmem/contextmem/internal/feedback"
	"github.com/contextmem/contextmem/internal/lease"
	"github.com/contextmem/contextmem/internal/metadata"
	"github.com/contextmem/contextmem/internal/uid"
	"github.com/contextmem/contextmem/internal/workspace"
)

const (
	batchItems    = 256       // items per commit
	batchBytes    = 8 << 20   // bytes of content per commit
	leaseOfImport = "import/" // prefix of the lease names of imports
	importKind    = "import"  // kind of the registry's records of unfinished imports
	undoWithin    = 10 * time.Second
)

// Import creates a tenant from an export. Until Import returns, no other caller can use the tenant. If the import fails, the tenant is
// deleted. If the process dies, the next start deletes it, or another process that uses the deployment.
func (e *Engine) Import(ctx context.Context, op, org, id string, from io.Reader) (*workspace.Record, error) {
	if err := cmp.Or(workspace.CheckOrg(op, org), workspace.CheckTenantID(op, "Tenant", id)); err != nil {
		return nil, err
	}
	r := newReader(op, from, e.MaxLine)
	data, old, err := e.readHeader(r)
	if err != nil {
		return nil, fault.Wrap(op, fault.Tenant, id, err)
	}
	mark := backend.Record{Kind: importKind, Org: org, ID: uid.New(), Data: []byte(id)}
	data.Import = mark.ID
	e.running.Store(mark.ID, true)
	defer e.running.Delete(mark.ID)
	var rec *workspace.Record
	mine, _, err := e.Leases.Hold(ctx, leaseOfImport+mark.ID, func(ctx context.Context) (err error) {
		// Whoever finds the mark finds the lease taken.
		if err := e.Set.Registry().WriteRecords(ctx, []backend.RecordWrite{{Record: mark, IfRev: -1}}); err != nil {
			return err
		}
		rec, err = e.fill(ctx, op, org, id, data, old, r)
		return err
	})
	if err == nil && !mine { // another process took the import for one that a crashed process left
		err = backend.ErrUnavailable
	}
	if err != nil { // roll back even if the caller's context has ended
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), undoWithin)
		defer cancel()
		if derr := e.discard(ctx, &mark); derr != nil {
			err = errors.Join(err, derr)
		}
	}
	if merr := e.unmark(ctx, mark); merr != nil {
		e.Logger.Warn("the record of an import stays for now", "err", merr)
	}
	if err != nil {
		return nil, fault.Wrap(op, fault.Tenant, id, err)
	}
	return rec, nil
}

// Load deletes the tenants of unfinished imports that a crashed process left. It leaves out imports whose lease another process holds.
func (e *Engine) Load(ctx context.Context) error {
	reg := e.Set.Registry()
	for org, at := "", ""; ; {
		left, err := reg.AllRecords(ctx, importKind, org, at, 100)
		if err != nil || len(left) == 0 {
			return err
		}
		for _, m := range left {
			org, at = m.Org, m.ID
			if _, ok := e.running.Load(m.ID); ok { // this process holds its lease
				continue
			}
			if _, _, err := e.Leases.Hold(ctx, leaseOfImport+m.ID, func(ctx context.Context) error {
				if err := e.discard(ctx, &m); err != nil {
					return err
				}
				return e.unmark(ctx, m)
			}); err != nil {
				return err
			}
		}
	}
}

// Run calls Load now and then until ctx ends, if other processes use the deployment too: one of them may die during an import.
func (e *Engine) Run(ctx context.Context) {
	if e.Leases == nil {
		return
	}
	t := time.NewTicker(lease.TTL)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if err := e.Load(ctx); err != nil && ctx.Err() == nil {
			e.Logger.Warn("tenants of unfinished imports stay for now", "err", err)
		}
	}
}

// unmark deletes the record of an import, which another process may have deleted.
func (e *Engine) unmark(ctx context.Context, mark backend.Record) error {
	err := e.Set.Registry().WriteRecords(ctx, []backend.RecordWrite{{Record: mark, Delete: true, IfRev: -1}})
	if errors.Is(err, backend.ErrNotFound) {
		return nil
	}
	return err
}

// discard deletes the tenant of an unfinished import, if that made it: another import may fill a tenant with the same id.
func (e *Engine) discard(ctx context.Context, mark *backend.Record) error {
	err := e.Set.DeleteIf(ctx, mark.Org, string(mark.Data), func(rec *workspace.Record) bool {
		return rec.Data.Importing && (rec.Data.Import == mark.ID || rec.Data.Import == "")
	})
	if errors.Is(err, fault.ErrNotFound) {
		return nil
	}
	return err
}

// readHeader reads the first line. old is the id of the exported tenant.
func (e *Engine) readHeader(r *reader) (d workspace.Data, old string, err error) {
	l, err := r.next()
	switch {
	case err != nil:
		return d, "", err
	case l.Header == nil:
		return d, "", r.bad("must be the header of an export")
	case l.Header.Format != FormatVersion:
		return d, "", r.bad("has format %d, this release reads format %d", l.Header.Format, FormatVersion)
	}
	h := l.Header
	if h.Embeddings && (h.Dimension < 1 || h.Dimension > 4096) || !h.Embeddings && h.Dimension != 0 {
		return d, "", r.bad("has dimension %d", h.Dimension)
	}
	schema, err := metadata.CompleteSchema(r.op, "schema", nil, h.Schema)
	if err != nil {
		return d, "", err
	}
	return workspace.Data{Embeddings: h.Embeddings, Dimension: h.Dimension, Schema: schema, Instructions: h.Instructions, Importing: true}, h.Tenant, nil
}

// fill creates the tenant and stores the content of the file in it.
func (e *Engine) fill(ctx context.Context, op, org, id string, d workspace.Data, old string, r *reader) (*workspace.Record, error) {
	rec, err := e.Set.Create(ctx, org, id, d)
	if err != nil {
		return nil, err
	}
	if err := e.waitReady(ctx, op, org, id); err != nil {
		return nil, err
	}
	ref, err := e.Set.OpenUID(ctx, rec.UID)
	if err != nil {
		return nil, err
	}
	defer ref.Release()
	f := &filler{Engine: e, op: op, ref: ref, r: r, old: old}
	if err := f.all(ctx); err != nil {
		return nil, err
	}
	err = cas.Retry(ctx, func() error {
		if rec, err = e.Set.Record(ctx, op, org, id); err != nil {
			return err
		}
		data := rec.Data
		if data.Import != d.Import { // the tenant was deleted meanwhile, and its id given to another
			return &fault.Error{Op: op, Kind: fault.KindNotFound, Resource: fault.Tenant, ID: id, Err: errors.New("the tenant was deleted while it was imported")}
		}
		data.Importing, data.Import = false, ""
		return e.Set.Update(ctx, rec, data)
	})
	if err != nil {
		return nil, err
	}
	return e.Set.Record(ctx, op, org, id)
}

func (e *Engine) waitReady(ctx context.Context, op, org, id string) error {
	for {
		changed := e.Set.RecordsChanged()
		rec, err := e.Set.Record(ctx, op, org, id)
		if err != nil {
			return err
		}
		switch rec.State {
		case backend.TenantReady:
			return nil
		case backend.TenantFailed:
			return errors.New("provisioning failed: " + rec.Error)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-e.Gate.Life().Done():
			return &fault.Error{Op: op, Kind: fault.KindClosed, Err: fault.ErrClosed}
		}
	}
}

// filler stores the lines of a file in a new tenant.
type filler struct {
	*Engine
	op     string
	ref    *workspace.Ref
	r      *reader
	old    string // id of the exported tenant
	have   end
	items  []backend.Incoming
	placed []backend.Placed
	bytes  int
	merges []backend.Merge
	boosts []feedback.Opinion
	expiry time.Time // earliest expiry
}

// all reads the file to its end. Items are stored as they are read. Merges and boosts are applied after the items are
// processed.
func (f *filler) all(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		l, err := f.r.next()
		if err != nil {
			return err
		}
		switch {
		case l.Header != nil:
			err = f.r.bad("is a second header")
		case l.Item != nil:
			f.have.Items++
			err = f.item(ctx, l.Item)
		case l.Merge != nil:
			f.have.Merges++
			err = f.merge(l.Merge)
		case l.Boost != nil:
			f.have.Boosts++
			for i, sub := range l.Boost.Subs {
				l.Boost.Subs[i] = cmp.Or(sub, f.ref.Record.ID)
			}
			f.boosts = append(f.boosts, *l.Boost)
		default:
			if err := f.r.check(f.have, *l.End); err != nil {
				return err
			}
			return f.finish(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// sub returns the stored name of a sub-tenant of the file. A sub-tenant with the name of the new tenant would become the
// default sub-tenant and mix with it, so sub rejects the name.
func (f *filler) sub(name string) (string, error) {
	if name == f.ref.Record.ID && name != f.old {
		return "", f.r.bad("names the sub-tenant %q, which would be the default one of a tenant with this id; import under another id", fault.ShortID(name))
	}
	return cmp.Or(name, f.ref.Record.ID), nil
}

// store commits the collected items.
func (f *filler) store(ctx context.Context) error {
	defer func() {
		clear(f.items)
		clear(f.placed)
		f.items, f.placed, f.bytes = f.items[:0], f.placed[:0], 0
	}()
	if len(f.placed) > 0 {
		placed, err := f.ref.Store.Place(ctx, f.placed)
		if err != nil {
			return fmt.Errorf("lines up to %d: %w", f.r.at, err)
		}
		return f.ref.Follower.Advance(ctx, placed)
	}
	if len(f.items) == 0 {
		return nil
	}
	return f.Schedule.Admit(ctx, f.ref.UID, func() error {
		_, err := f.ref.Store.Accept(ctx, f.items)
		return err
	})
}

// finish stores the remaining items, waits until all are processed, and applies merges and boosts.
func (f *filler) finish(ctx context.Context) error {
	if err := f.store(ctx); err != nil {
		return err
	}
	if !f.expiry.IsZero() {
		f.Schedule.PlanExpiry(f.ref.UID, f.expiry)
	}
	if err := f.Schedule.DrainSpace(ctx, f.ref.UID); err != nil {
		return err
	}
	missing := 0
	for i := range f.merges {
		err := f.applyMerge(ctx, &f.merges[i])
		if errors.Is(err, backend.ErrNotFound) { // no item names the entity any more
			missing++
			continue
		}
		if err != nil {
			return err
		}
	}
	if missing > 0 {
		f.Logger.Warn("merges of an import name entities that no item names", "uid", f.ref.UID, "merges", missing)
	}
	for _, o := range f.boosts {
		if err := feedback.Learn(ctx, f.ref.Store, &f.ref.Edits, o); err != nil {
			return err
		}
	}
	return f.ref.Follower.Sync(ctx)
}

// applyMerge applies a caller's merge, or undoes a merge that followed from the items and that a caller had undone.
func (f *filler) applyMerge(ctx context.Context, m *backend.Merge) error {
	if m.Stated {
		return f.undoStated(ctx, m)
	}
	num, err := f.ref.Store.MergeEntities(ctx, m.Part, m.From, m.Into, m.Reason, m.At)
	if errors.Is(err, backend.ErrConflict) {
		return nil // already merged
	}
	if err != nil || !m.Undone {
		return err
	}
	return f.ref.Store.UndoMerge(ctx, num)
}

func (f *filler) undoStated(ctx context.Context, m *backend.Merge) error {
	for after := int64(0); ; {
		page, err := f.ref.Store.Merges(ctx, m.Part, after, mergePage)
		if err != nil {
			return err
		}
		for i := range page {
			after = page[i].Num
			if p := &page[i]; p.Stated && !p.Undone && p.From == m.From && p.Into == m.Into {
				return f.ref.Store.UndoMerge(ctx, p.Num)
			}
		}
		if len(page) < mergePage {
			return nil
		}
	}
}
