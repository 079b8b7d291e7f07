package connect

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/contextmem/contextmem/connector"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
)

// Kinds of registry records. The keys of a connector's resources and objects begin with its id and a
// slash, so that a prefix scan finds them.
const (
	kindConnector = "connector"
	kindResource  = "connres"
	kindObject    = "connobj" // the stored state of an external object
)

// storedConnector is the registry record of a connector.
type storedConnector struct {
	Public      connector.Connector
	Credentials []byte `json:",omitempty"` // sealed JSON
	Failures    int    `json:",omitempty"` // failed syncs in a row
	Deleting    bool   `json:",omitempty"` // hidden, until its deletion is complete
	WithObjects bool   `json:",omitempty"` // a deletion includes the ingested objects
}

// storedResource is the registry record of a resource.
type storedResource struct {
	Public  connector.SyncedResource
	Started bool // whether the first sync has begun; it reads objects from Since on, all if Since is zero
	Since   time.Time
	Filled  incarnation // the tenant that the cursor belongs to
}

// incarnation identifies a tenant even if it was deleted and created again with the same name.
type incarnation struct{ Tenant, UID string }

// restart resets the sync of a resource to its beginning.
func (r *storedResource) restart() {
	r.Started, r.Since = false, time.Time{}
	r.Public.Cursor, r.Public.BackfillNext = "", time.Time{}
}

// backfilling reports whether the first sync is incomplete.
func (r *storedResource) backfilling() bool { return r.Public.BackfillStatus != "" }

// storedObject maps an external object to its source.
type storedObject struct {
	External    string
	Source      string // id
	Tenant, Sub string
	Hash        string `json:",omitempty"` // hash of the ingested content; empty if it may not be durable
}

func hashText(bytes int, parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:bytes])
}

func resourceKey(connector, resource string) string { return connector + "/" + resource }

// objectFolder returns the part of the keys of a resource's objects before the last slash.
func objectFolder(connector, resource string) string {
	return connector + "/" + hashText(8, resource)
}

func objectKey(connector, resource, external string) string {
	return objectFolder(connector, resource) + "/" + hashText(16, external)
}

// sourceID returns the id of the source of an object.
func sourceID(c *connector.Connector, resource, external string) string {
	return hashText(16, c.Provider, c.AccountScope, c.ID, resource, external)
}

func noConnector(op, id string) error {
	return &fault.Error{Op: op, Kind: fault.KindNotFound, Resource: fault.Connector, ID: fault.ShortID(id), Err: errors.New("connector not found")}
}

func decodeRecord[T any](r backend.Record) (*T, error) {
	v := new(T)
	if json.Unmarshal(r.Data, v) != nil {
		return nil, backend.ErrCorrupt
	}
	return v, nil
}

func encodeRecord(kind, org, id string, rev int64, v any) (backend.RecordWrite, error) {
	b, err := json.Marshal(v)
	return backend.RecordWrite{Record: backend.Record{Kind: kind, Org: org, ID: id, Data: b}, IfRev: rev}, err
}

// readConnector reads a connector. One that is being deleted counts as missing.
func (e *Engine) readConnector(ctx context.Context, op, org, id string) (*storedConnector, int64, error) {
	r, err := e.reg.Record(ctx, kindConnector, org, id)
	if errors.Is(err, backend.ErrNotFound) {
		return nil, 0, noConnector(op, id)
	}
	if err != nil {
		return nil, 0, fault.Wrap(op, fault.Connector, id, err)
	}
	c, err := decodeRecord[storedConnector](r)
	if err != nil {
		return nil, 0, fault.Wrap(op, fault.Connector, id, err)
	}
	if c.Deleting {
		return nil, 0, noConnector(op, id)
	}
	return c, r.Rev, nil
}

// changeConnector edits a connector's record. f runs again if another writer was faster.
func (e *Engine) changeConnector(ctx context.Context, op, org, id string, f func(c *storedConnector) error) (*storedConnector, error) {
	for {
		c, raced, err := e.tryConnector(ctx, op, org, id, nil, f)
		if !raced || ctx.Err() != nil {
			return c, err
		}
	}
}

// changeSealed is changeConnector for an f that seals a value.
func (e *Engine) changeSealed(ctx context.Context, op, org, id string, f func(c *storedConnector) error) (*storedConnector, error) {
	for {
		with, release, err := e.cfg.Sealer.Hold(ctx)
		if err != nil {
			return nil, fault.Wrap(op, fault.Connector, id, err)
		}
		c, raced, err := e.tryConnector(ctx, op, org, id, with, f)
		release()
		if !raced || ctx.Err() != nil {
			return c, err
		}
	}
}

// tryConnector is one attempt of changeConnector, with additional writes. raced reports whether another writer was faster.
func (e *Engine) tryConnector(ctx context.Context, op, org, id string, with []backend.RecordWrite, f func(c *storedConnector) error) (c *storedConnector, raced bool, err error) {
	c, rev, err := e.readConnector(ctx, op, org, id)
	if err != nil {
		return nil, false, err
	}
	if err := f(c); err != nil {
		return nil, false, err
	}
	w, err := encodeRecord(kindConnector, org, id, rev, c)
	if err == nil {
		err = e.reg.WriteRecords(ctx, append([]backend.RecordWrite{w}, with...))
	}
	if errors.Is(err, backend.ErrNotFound) {
		return nil, false, noConnector(op, id)
	}
	return c, errors.Is(err, backend.ErrConflict), fault.Wrap(op, fault.Connector, id, err)
}

// changeResource edits a resource's record. f runs again if another writer was faster.
func (e *Engine) changeResource(ctx context.Context, op, org, connector, id string, f func(r *storedResource)) (*storedResource, error) {
	key := resourceKey(connector, id)
	for {
		rec, err := e.reg.Record(ctx, kindResource, org, key)
		if err != nil {
			return nil, resourceError(op, id, err)
		}
		r, err := decodeRecord[storedResource](rec)
		if err != nil {
			return nil, resourceError(op, id, err)
		}
		f(r)
		w, err := encodeRecord(kindResource, org, key, rec.Rev, r)
		if err == nil {
			err = e.reg.WriteRecords(ctx, []backend.RecordWrite{w})
		}
		if errors.Is(err, backend.ErrConflict) && ctx.Err() == nil {
			continue
		}
		return r, resourceError(op, id, err)
	}
}

func resourceError(op, id string, err error) error {
	if errors.Is(err, backend.ErrNotFound) {
		return &fault.Error{Op: op, Kind: fault.KindNotFound, ID: fault.ShortID(id), Err: errors.New("resource not found")}
	}
	return fault.Wrap(op, "", id, err)
}

const recordPage = 500

// scan calls f with pages of a connector's records of a kind. f may delete the records.
func (e *Engine) scan(ctx context.Context, kind, org, folder string, f func([]backend.Record) error) error {
	prefix := folder + "/"
	after := prefix
	for {
		rs, err := e.reg.Records(ctx, kind, org, after, recordPage)
		if err != nil {
			return err
		}
		full := len(rs) == recordPage
		for i, r := range rs {
			if !strings.HasPrefix(r.ID, prefix) {
				rs, full = rs[:i], false
				break
			}
		}
		if len(rs) == 0 {
			return nil
		}
		after = rs[len(rs)-1].ID
		if err := f(rs); err != nil {
			return err
		}
		if !full {
			return nil
		}
	}
}

// readResources reads the resources of a connector, sorted by id.
func (e *Engine) readResources(ctx context.Context, org, connector string) ([]*storedResource, error) {
	var out []*storedResource
	err := e.scan(ctx, kindResource, org, connector, func(rs []backend.Record) error {
		for _, rec := range rs {
			r, err := decodeRecord[storedResource](rec)
			if err != nil {
				return err
			}
			out = append(out, r)
		}
		return nil
	})
	return out, err
}

func credentialPlace(org, id string) string { return "connector/" + org + "/" + id }

func (e *Engine) sealCredentials(org, id string, c connector.Credentials) ([]byte, error) {
	if len(c) == 0 {
		return nil, nil
	}
	b, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	return e.cfg.Sealer.Seal(credentialPlace(org, id), b), nil
}

func (e *Engine) openCredentials(ctx context.Context, org, id string, sealed []byte) (connector.Credentials, error) {
	c := connector.Credentials{}
	if len(sealed) == 0 {
		return c, nil
	}
	b, err := e.cfg.Sealer.Open(ctx, credentialPlace(org, id), sealed)
	if err != nil {
		return nil, err
	}
	return c, json.Unmarshal(b, &c)
}

// purge finishes the deletion of a connector: its objects if requested, then its records. It is safe to repeat.
func (e *Engine) purge(ctx context.Context, org, id string, c *storedConnector) error {
	err := e.scan(ctx, kindObject, org, id, func(rs []backend.Record) error {
		if c.WithObjects {
			if err := e.purgeSources(ctx, org, rs); err != nil {
				return err
			}
		}
		return e.dropRecords(ctx, rs)
	})
	if err == nil {
		err = e.scan(ctx, kindResource, org, id, func(rs []backend.Record) error { return e.dropRecords(ctx, rs) })
	}
	if err == nil {
		err = e.reg.WriteRecords(ctx, []backend.RecordWrite{{Record: backend.Record{Kind: kindConnector, Org: org, ID: id}, Delete: true, IfRev: -1}})
	}
	return err
}

func (e *Engine) dropRecords(ctx context.Context, rs []backend.Record) error {
	ws := make([]backend.RecordWrite, len(rs))
	for i, r := range rs {
		ws[i] = backend.RecordWrite{Record: backend.Record{Kind: r.Kind, Org: r.Org, ID: r.ID}, Delete: true, IfRev: -1}
	}
	return e.reg.WriteRecords(ctx, ws)
}

// Reseal replaces every sealed secret by the result of f. Unchanged results are not written.
func (e *Engine) Reseal(ctx context.Context, f func(place string, sealed []byte) ([]byte, error)) error {
	for org, id := "", ""; ; {
		rs, err := e.reg.AllRecords(ctx, kindConnector, org, id, recordPage)
		if err != nil {
			return err
		}
		for _, r := range rs {
			if err := e.reseal(ctx, r, f); err != nil {
				return err
			}
			org, id = r.Org, r.ID
		}
		if len(rs) < recordPage {
			return nil
		}
	}
}

// reseal does the work of Reseal for one connector. It repeats the write if another writer was faster.
func (e *Engine) reseal(ctx context.Context, r backend.Record, f func(place string, sealed []byte) ([]byte, error)) error {
	for {
		c, err := decodeRecord[storedConnector](r)
		if err != nil || len(c.Credentials) == 0 {
			return err
		}
		sealed, err := f(credentialPlace(r.Org, r.ID), c.Credentials)
		if err != nil || bytes.Equal(sealed, c.Credentials) {
			return err
		}
		c.Credentials = sealed
		w, err := encodeRecord(kindConnector, r.Org, r.ID, r.Rev, c)
		if err == nil {
			err = e.reg.WriteRecords(ctx, []backend.RecordWrite{w})
		}
		if !errors.Is(err, backend.ErrConflict) || ctx.Err() != nil {
			return err
		}
		r, err = e.reg.Record(ctx, kindConnector, r.Org, r.ID)
		if errors.Is(err, backend.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
