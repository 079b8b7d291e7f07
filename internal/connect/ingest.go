package connect

import (
	"cmp"

	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"

	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/content"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
)

const syncBatchBytes = 16 << 20 // bytes of content in one batch

// syncIngest makes the objects of one page durable.
type syncIngest struct {
	run     *syncRun
	res     *connector.SyncedResource
	at      Place
	sent    int
	refused error // error of the first object that cannot be ingested
}

// prepared is an object that is ready to be added to a batch.
type prepared struct {
	obj  connector.Object
	key  string // key of the object's record
	old  *storedObject
	next storedObject
	size int
}

// do ingests new and changed objects, then deletes the objects that are gone. If it
// returns nil all changes are durable.
func (in *syncIngest) do(ctx context.Context, page *connector.Page) error {
	c := &in.run.c.Public
	in.at = Place{Org: in.run.org, Tenant: cmp.Or(in.res.TenantOverride, c.Tenant), Sub: cmp.Or(in.res.SubOverride, c.Sub)}
	last := map[string]int{} // if an id occurs several times, its last object counts
	for i, o := range page.Objects {
		last[o.ExternalID] = i
	}
	var batch []*prepared
	size := 0
	flush := func() error {
		err := in.flush(ctx, batch)
		batch, size = nil, 0
		return err
	}
	for i, o := range page.Objects {
		if err := ctx.Err(); err != nil {
			return err
		}
		if last[o.ExternalID] != i {
			continue
		}
		p, err := in.prepare(ctx, o)
		if err != nil {
			return err
		}
		if p == nil {
			continue
		}
		batch, size = append(batch, p), size+p.size
		if len(batch) >= in.run.eng.cfg.MaxItems || size >= syncBatchBytes {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	if err := in.remove(ctx, page.Deleted); err != nil || !page.Complete {
		return err
	}
	return in.sweep(ctx, page)
}

// sweep deletes the objects that a complete listing no longer contains.
func (in *syncIngest) sweep(ctx context.Context, page *connector.Page) error {
	present := make(map[string]struct{}, len(page.Present)+len(page.Objects))
	for _, ext := range page.Present {
		present[ext] = struct{}{}
	}
	for _, o := range page.Objects {
		present[o.ExternalID] = struct{}{}
	}
	return in.run.eng.scan(ctx, kindObject, in.run.org, objectFolder(in.run.id, in.res.ResourceID), func(recs []backend.Record) error {
		var gone []string
		for _, rec := range recs {
			o, err := decodeRecord[storedObject](rec)
			if err != nil {
				return err
			}
			if _, ok := present[o.External]; !ok {
				gone = append(gone, o.External)
			}
		}
		return in.remove(ctx, gone)
	})
}

func (in *syncIngest) refuse(external string, err error) {
	if in.refused == nil {
		in.refused = fmt.Errorf("object %q: %w", fault.ShortID(external), err)
	}
}

// prepare completes an object. It returns nil if the object is refused or unchanged since it was ingested.
func (in *syncIngest) prepare(ctx context.Context, o connector.Object) (*prepared, error) {
	if o.ExternalID == "" || (o.File == nil) == (o.App == nil) {
		in.refuse(o.ExternalID, errors.New("needs an external id, and either a file or an app item"))
		return nil, nil
	}
	if err := fault.CheckText("sync", "ExternalID", o.ExternalID, maxConnectorText); err != nil {
		in.refuse(o.ExternalID, err)
		return nil, nil
	}
	c := &in.run.c.Public
	p := &prepared{key: objectKey(c.ID, in.res.ResourceID, o.ExternalID)}
	p.next = storedObject{External: o.ExternalID, Source: sourceID(c, in.res.ResourceID, o.ExternalID), Tenant: in.at.Tenant, Sub: in.at.Sub}
	rec, err := in.run.eng.reg.Record(ctx, kindObject, in.run.org, p.key)
	switch {
	case err == nil:
		if p.old, err = decodeRecord[storedObject](rec); err != nil {
			return nil, err
		}
	case !errors.Is(err, backend.ErrNotFound):
		return nil, err
	}
	var h []byte
	if o.File != nil {
		f := *o.File
		if f.Data, err = in.content(ctx, &f); err != nil {
			if errors.Is(err, fault.ErrTooLarge) {
				in.refuse(o.ExternalID, err)
				return nil, nil
			}
			return nil, err
		}
		f.ID, f.Open, p.size = p.next.Source, nil, len(f.Data)
		f.Metadata, f.Additional = in.metadata(f.Metadata), in.additional(f.Additional, o.ExternalID)
		if f.ACL == nil {
			f.ACL = in.res.ACL
		}
		sum := sha256.Sum256(f.Data)
		h, err = json.Marshal([]any{f.Name, f.ContentType, f.Title, f.Kind, f.URL, f.Description, f.Time, f.Metadata, f.Additional, f.ForcefulRelations, f.ACL, sum[:]})
		p.obj.File = &f
	} else {
		a := *o.App
		a.ID = p.next.Source
		a.Provider, a.ExternalID = cmp.Or(a.Provider, c.Provider), cmp.Or(a.ExternalID, o.ExternalID)
		a.Metadata, a.Additional = in.metadata(a.Metadata), in.additional(a.Additional, o.ExternalID)
		if a.ACL == nil {
			a.ACL = in.res.ACL
		}
		h, err = json.Marshal(a)
		p.size = len(h)
		p.obj.App = &a
	}
	if err != nil {
		in.refuse(o.ExternalID, errors.New("can't be written as JSON"))
		return nil, nil
	}
	sum := sha256.Sum256(append(h, in.res.Instructions...))
	p.next.Hash = hex.EncodeToString(sum[:16])
	if p.old == nil || *p.old != p.next {
		return p, nil
	}
	there, err := in.run.eng.cfg.Items.Exists(ctx, in.at, p.next.Source)
	if err != nil || there {
		return nil, err
	}
	return p, nil // somebody else has deleted the item
}

// content reads the content of a file.
func (in *syncIngest) content(ctx context.Context, f *content.File) ([]byte, error) {
	if f.Data != nil || f.Open == nil {
		return f.Data, ctx.Err()
	}
	limit := in.run.eng.cfg.MaxFileBytes
	var data []byte
	err := fault.Guard(func() error {
		r, err := f.Open()
		if err != nil {
			return err
		}
		data, err = io.ReadAll(io.LimitReader(r, limit+1))
		return errors.Join(err, r.Close())
	})
	if err == nil && int64(len(data)) > limit {
		err = &fault.Error{Op: "sync", Kind: fault.KindTooLarge, Resource: fault.File, ID: fault.ShortID(f.Name), Err: fmt.Errorf("is over the limit of %d bytes", limit)}
	}
	return data, err
}

// metadata merges the tenant-level metadata of the resource, the object and the service; later ones win.
func (in *syncIngest) metadata(own map[string]any) map[string]any {
	m := maps.Clone(in.res.Metadata)
	if m == nil {
		m = map[string]any{}
	}
	maps.Copy(m, own)
	m["provider"], m["connector_id"] = in.run.c.Public.Provider, in.run.id
	return m
}

// additional merges the document-level metadata of an object in the same order.
func (in *syncIngest) additional(own map[string]any, external string) map[string]any {
	m := maps.Clone(in.res.Additional)
	if m == nil {
		m = map[string]any{}
	}
	maps.Copy(m, own)
	m["connector_id"], m["resource_id"], m["external_id"] = in.run.id, in.res.ResourceID, external
	if scope := in.run.c.Public.AccountScope; scope != "" {
		m["provider_account_scope"] = scope
	}
	return m
}

// flush makes a batch durable. It first writes records without a hash. So after a crash or failure
// every stored source has a record, and no record has the hash of something that was not stored.
func (in *syncIngest) flush(ctx context.Context, batch []*prepared) error {
	if len(batch) == 0 {
		return nil
	}
	if err := in.record(ctx, batch, false); err != nil {
		return err
	}
	for _, p := range batch {
		if p.old != nil && (p.old.Tenant != p.next.Tenant || p.old.Sub != p.next.Sub) {
			if err := in.run.eng.deleteSources(ctx, in.run.org, []storedObject{*p.old}); err != nil {
				return err
			}
		}
	}
	stored, err := in.add(ctx, batch)
	if err != nil {
		return err
	}
	in.sent += len(stored)
	return in.record(ctx, stored, true)
}

func (in *syncIngest) record(ctx context.Context, batch []*prepared, final bool) error {
	ws := make([]backend.RecordWrite, len(batch))
	for i, p := range batch {
		o := p.next
		if !final {
			o.Hash = ""
		}
		var err error
		if ws[i], err = encodeRecord(kindObject, in.run.org, p.key, -1, o); err != nil {
			return err
		}
	}
	return in.run.eng.reg.WriteRecords(ctx, ws)
}

// add ingests a batch and returns the accepted objects. If an object makes the whole batch fail, it ingests them one by one.
func (in *syncIngest) add(ctx context.Context, batch []*prepared) ([]*prepared, error) {
	var files []content.File
	var apps []content.AppItem
	var order []*prepared
	for _, p := range batch {
		if p.obj.File != nil {
			files, order = append(files, *p.obj.File), append(order, p)
		}
	}
	for _, p := range batch {
		if p.obj.App != nil {
			apps, order = append(apps, *p.obj.App), append(order, p)
		}
	}
	refused, err := in.run.eng.cfg.Items.Add(ctx, in.at, files, apps, in.res.Instructions)
	if err == nil {
		var stored []*prepared
		for i, p := range order {
			if refused[i] != nil {
				in.refuse(p.next.External, refused[i])
				continue
			}
			stored = append(stored, p)
		}
		return stored, nil
	}
	if !refusal(err) {
		return nil, err
	}
	if len(batch) == 1 {
		in.refuse(batch[0].next.External, err)
		return nil, nil
	}
	var stored []*prepared
	for _, p := range order {
		one, err := in.add(ctx, []*prepared{p})
		if err != nil {
			return nil, err
		}
		stored = append(stored, one...)
	}
	return stored, nil
}

// refusal reports whether an error is caused by the items, so that a retry cannot succeed.
func refusal(err error) bool {
	var e *fault.Error
	if !errors.As(err, &e) || e.Resource == fault.Tenant || e.Resource == fault.Sub {
		return false
	}
	switch e.Kind {
	case fault.KindInvalid, fault.KindUnprocessed, fault.KindTooLarge, fault.KindFormat:
		return true
	}
	return false
}

// remove deletes the sources of external objects that are gone.
func (in *syncIngest) remove(ctx context.Context, external []string) error {
	c := &in.run.c.Public
	for len(external) > 0 {
		n := min(len(external), recordPage)
		gone := make([]storedObject, n)
		recs := make([]backend.Record, n)
		for i, ext := range external[:n] {
			gone[i] = storedObject{External: ext, Source: sourceID(c, in.res.ResourceID, ext), Tenant: in.at.Tenant, Sub: in.at.Sub}
			recs[i] = backend.Record{Kind: kindObject, Org: in.run.org, ID: objectKey(c.ID, in.res.ResourceID, ext)}
			rec, err := in.run.eng.reg.Record(ctx, kindObject, in.run.org, recs[i].ID)
			if err == nil {
				var o *storedObject
				if o, err = decodeRecord[storedObject](rec); err == nil {
					gone[i] = *o
				}
			}
			if err != nil && !errors.Is(err, backend.ErrNotFound) {
				return err
			}
		}
		if err := in.run.eng.deleteSources(ctx, in.run.org, gone); err != nil {
			return err
		}
		if err := in.run.eng.dropRecords(ctx, recs); err != nil {
			return err
		}
		external = external[n:]
	}
	return nil
}

// deleteSources deletes the sources of objects. Missing sources are no error.
func (e *Engine) deleteSources(ctx context.Context, org string, objects []storedObject) error {
	by := map[Place][]string{}
	for _, o := range objects {
		at := Place{Org: org, Tenant: o.Tenant, Sub: o.Sub}
		by[at] = append(by[at], o.Source)
	}
	for at, ids := range by {
		if err := e.cfg.Items.Delete(ctx, at, ids); err != nil {
			return err
		}
	}
	return nil
}

// purgeSources deletes the sources of the objects in records.
func (e *Engine) purgeSources(ctx context.Context, org string, rs []backend.Record) error {
	objects := make([]storedObject, len(rs))
	for i, r := range rs {
		o, err := decodeRecord[storedObject](r)
		if err != nil {
			return err
		}
		objects[i] = *o
	}
	return e.deleteSources(ctx, org, objects)
}
