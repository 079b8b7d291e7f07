package intake

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/metadata"
	"github.com/contextmem/contextmem/internal/uid"
	"github.com/contextmem/contextmem/internal/workspace"
	"github.com/contextmem/contextmem/observe"
)

// batch converts the items of a call to sources for the Store. It checks all items before it
// stores any.
type batch struct {
	*Engine
	op           string
	ref          *workspace.Ref
	sub          string
	part         backend.Partition
	class        backend.Class
	now          time.Time
	failIfExists bool
	lenient      bool
	instructions string

	items  []backend.Incoming
	result []Item
	links  []*content.ForcefulRelations // relations of each item
	places []int                        // index in the call of each item
	named  []string                     // ids that the caller has given
	beside []besideItem                 // items that are not stored
	laps   observe.Laps
}

// besideItem is an item that is in the result but not stored.
type besideItem struct {
	place int
	item  Item
}

// begin returns an empty batch for a partition.
func (e *Engine) begin(ctx context.Context, op string, ref *workspace.Ref, sub string, class backend.Class) (*batch, error) {
	if ref.Record.Data.Embeddings {
		return nil, fault.Fieldf(op, fault.KindInvalid, fault.Tenant, "Tenant", "the tenant is an embeddings tenant: it holds raw vectors only")
	}
	if err := fault.CheckText(op, "Sub", sub, MaxSubTenantBytes); err != nil {
		return nil, err
	}
	name, err := ref.ResolveSub(ctx, ref.Record.ID, sub)
	if err != nil {
		return nil, fault.Wrap(op, fault.Sub, sub, err)
	}
	in := &batch{Engine: e, op: op, ref: ref, sub: sub, part: backend.Partition{Class: class, Sub: name}, class: class, now: time.Now().UTC(),
		instructions: ref.Record.Data.Instructions}
	in.laps.Begin(observe.Accept, e.Observer != nil)
	return in, nil
}

// accept stores the batch and returns the result of each item.
func (in *batch) accept(ctx context.Context) ([]Item, error) {
	if len(in.items) == 0 {
		return in.report(), nil
	}
	if err := in.keep(ctx); err != nil {
		return nil, fault.Wrap(in.op, fault.Source, "", err)
	}
	in.laps.Lap("check")
	in.ref.Follower.Writes(len(in.items))
	var acc []backend.Accepted
	err := in.Schedule.Admit(ctx, in.ref.UID, func() (err error) {
		if acc, err = in.ref.Store.Accept(ctx, in.items); err != nil {
			return err
		}
		if in.failIfExists {
			return in.overExpired(ctx, acc)
		}
		return in.acceptAgain(ctx, acc)
	})
	in.laps.Lap("store")
	in.laps.Org, in.laps.Tenant = in.ref.Record.Org, in.ref.Record.ID
	defer func() { in.laps.End(ctx, in.Observer, err) }()
	if err != nil {
		return nil, fault.Wrap(in.op, fault.Tenant, in.ref.Record.ID, err)
	}
	in.laps.Items = len(acc)
	var expiry time.Time
	for i := range acc {
		it := &in.result[i]
		if acc[i].Exists {
			in.laps.Items--
			it.Err = &fault.Error{Op: in.op, Kind: fault.KindExists, Resource: fault.Source, ID: fault.ShortID(it.ID), Err: errors.New("an item with this id exists and upsert is false")}
			continue
		}
		if e := in.items[i].ExpiresAt; !e.IsZero() && (expiry.IsZero() || e.Before(expiry)) {
			expiry = e
		}
	}
	if !expiry.IsZero() {
		in.Schedule.PlanExpiry(in.ref.UID, expiry)
	}
	if err := in.countRelations(ctx); err != nil {
		in.Logger.Warn("checking relations failed", "err", err)
	}
	return in.report(), nil
}

// expireBatch is how many expired items one transaction removes.
const expireBatch = 1000

// overExpired accepts items whose id belongs to an expired item that is not removed yet. Reads no longer see the expired item.
func (in *batch) overExpired(ctx context.Context, acc []backend.Accepted) error {
	var at []int
	var ids []string
	for i := range acc {
		if acc[i].Exists {
			at, ids = append(at, i), append(ids, in.items[i].ID)
		}
	}
	if len(at) == 0 {
		return nil
	}
	srcs, err := in.ref.Store.Sources(ctx, in.part, ids)
	if err = backend.Undamaged(err); err != nil {
		return err
	}
	var free []backend.Incoming
	var places []int
	for k, src := range srcs {
		if src != nil && item.Expired(src, in.now) {
			free, places = append(free, in.items[at[k]]), append(places, at[k])
		}
	}
	if len(free) == 0 {
		return nil
	}
	for n := expireBatch; n == expireBatch; {
		if n, _, err = in.ref.Store.Expire(ctx, in.now, expireBatch); err != nil {
			return err
		}
	}
	again, err := in.ref.Store.Accept(ctx, free)
	for k := range again {
		acc[places[k]] = again[k]
	}
	return err
}

// report returns the results of all items in the order of the call.
func (in *batch) report() []Item {
	if len(in.beside) == 0 {
		return in.result
	}
	out := make([]Item, len(in.result)+len(in.beside))
	for i, place := range in.places {
		out[place] = in.result[i]
	}
	for _, b := range in.beside {
		out[b.place] = b.item
	}
	return out
}

// place returns the index in the call of the next item.
func (in *batch) place() int { return len(in.result) + len(in.beside) }

// fail adds the result of an item that is not accepted. The other items of the call are not affected.
func (in *batch) fail(it Item, err error) {
	it.Err = err
	in.beside = append(in.beside, besideItem{in.place(), it})
}

func (in *batch) bad(kind fault.Kind, field, format string, args ...any) error {
	return fault.Fieldf(in.op, kind, "", field, format, args...)
}

// common sets the fields that all kinds of item share.
func (in *batch) common(field string, inc *backend.Incoming, doc *item.Doc, base, own, abase, aown map[string]any) error {
	meta, mb, err := metadata.EncodeMap(in.op, field+"Metadata", base, own, maxMetadataBytes)
	if err != nil {
		return err
	}
	declared := meta
	if in.lenient {
		declared = metadata.Declared(in.ref.Record.Data.Schema, meta)
	}
	if err := metadata.Check(in.op, field+"Metadata", in.ref.Record.Data.Schema, declared, false); err != nil {
		return err
	}
	add, ab, err := metadata.EncodeMap(in.op, field+"Additional", abase, aown, in.MaxAdditionalBytes)
	if err != nil {
		return err
	}
	for _, s := range [...]struct{ name, value string }{{"Title", inc.Title}, {"Kind", inc.Kind}, {"Description", doc.Description}, {"Note", doc.Note},
		{"URL", doc.URL}, {"UserName", doc.UserName}, {"Instructions", doc.Instructions}, {"Session", inc.Session},
		{"ContentType", inc.MediaType}, {"Timestamp", doc.Timestamp}} {
		if err := fault.CheckText(in.op, field+s.name, s.value, 64<<10); err != nil {
			return err
		}
	}
	if err := checkACL(in.op, field+"ACL", doc.ACL); err != nil {
		return err
	}
	if err := fault.CheckTime(in.op, field+"Time", inc.Time); err != nil {
		return err
	}
	inc.Part, inc.Metadata, inc.Additional = in.part, mb, ab
	inc.CreatedAt, inc.UpdatedAt, inc.IfAbsent = in.now, in.now, in.failIfExists
	doc.Dense, doc.Sparse = metadata.Embedded(in.ref.Record.Data.Schema, meta)
	if inc.Time.IsZero() {
		at := metadata.Time(add, meta)
		inc.Time, doc.Zone = at.UTC(), zoneOf(at)
	}
	if in.class == backend.Memory && inc.Session == "" {
		inc.Session = metadata.Session(add, meta)
	}
	if doc.Instructions == "" && (in.class != backend.Memory || inc.Infer) { // instructions guide the extraction
		doc.Instructions = in.instructions
	}
	inc.Tags = metadata.Tags(inc.Source, doc, declared, add)
	inc.Doc, err = doc.Encode()
	if err != nil {
		return fault.Wrap(in.op, "", inc.ID, err)
	}
	return nil
}

func (in *batch) id(field, id string) (string, error) {
	if id == "" {
		return uid.New(), nil
	}
	if strings.TrimSpace(id) == "" {
		return "", in.bad(fault.KindInvalid, field, "is blank")
	}
	in.named = append(in.named, id)
	return id, fault.CheckText(in.op, field, id, MaxSourceIDBytes)
}

func (in *batch) add(inc backend.Incoming, res Item, rel *content.ForcefulRelations) {
	in.places = append(in.places, in.place())
	in.items = append(in.items, inc)
	in.result = append(in.result, res)
	in.links = append(in.links, rel)
}

// Raw is a batch of supplied vectors.
type Raw struct{ batch }

// Raw returns an empty batch for a partition of supplied vectors.
func (e *Engine) Raw(op string, ref *workspace.Ref, part backend.Partition, failIfExists bool) *Raw {
	return &Raw{batch{Engine: e, op: op, ref: ref, part: part, class: backend.Raw, now: time.Now().UTC(), failIfExists: failIfExists}}
}

// Prepare sets the columns and the tags of a source from its metadata. Errors name the field.
func (r *Raw) Prepare(field string, inc *backend.Incoming, meta map[string]any) error {
	return r.common(field, inc, &item.Doc{}, nil, meta, nil, nil)
}

// zoneOf returns the zone of a time in seconds east of UTC.
func zoneOf(t time.Time) int {
	_, offset := t.Zone()
	return offset
}

// checkACL checks the principals that may see an item.
func checkACL(op, field string, acl []string) error {
	if len(acl) > maxPrincipals {
		return fault.Fieldf(op, fault.KindInvalid, "", field, "%d principals are over the limit of %d", len(acl), maxPrincipals)
	}
	for _, p := range acl {
		if strings.TrimSpace(p) == "" {
			return fault.Fieldf(op, fault.KindInvalid, "", field, "a principal is blank")
		}
		if err := fault.CheckText(op, field, p, MaxSourceIDBytes); err != nil {
			return err
		}
	}
	return nil
}
