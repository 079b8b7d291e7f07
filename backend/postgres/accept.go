package postgres

import (
	"context"
	"fmt"

	"github.com/contextmem/contextmem/backend"
)

func (s *store) Accept(ctx context.Context, items []backend.Incoming) (out []backend.Accepted, err error) {
	for i := range items {
		if err := checkBlobs(items[i].Blobs); err != nil {
			return nil, fmt.Errorf("accept %q: %w", items[i].ID, err)
		}
	}
	err = s.change(ctx, func(t *tx) error {
		out = make([]backend.Accepted, len(items))
		before, err := t.beforeIncoming(len(items), func(i int) *backend.Source { return &items[i].Source })
		if err != nil {
			return err
		}
		for i := range items {
			if out[i], err = t.accept(&items[i], before); err != nil {
				return fmt.Errorf("accept %q: %w", items[i].ID, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// itemKey names an item.
type itemKey struct {
	part int64
	id   string
}

// incoming are the newest versions of the items of a call, read all at once. What the call changes is read again.
type incoming map[itemKey]*head

func (t *tx) beforeIncoming(n int, of func(i int) *backend.Source) (incoming, error) {
	ids, known := make(map[int64][]string), make(incoming, n)
	for i := range n {
		part, err := t.makePart(of(i).Part)
		if err != nil {
			return nil, err
		}
		if k := (itemKey{part, of(i).ID}); !known.has(k) {
			known[k] = nil
			ids[part] = append(ids[part], k.id)
		}
	}
	for part, ids := range ids {
		found, err := t.items(part, ids)
		if err != nil {
			return nil, err
		}
		for _, v := range found {
			known[itemKey{part, v.id}] = v
		}
	}
	return known, nil
}

func (k incoming) has(key itemKey) bool {
	_, ok := k[key]
	return ok
}

// take returns the newest version of an item, which the caller is about to replace.
func (k incoming) take(t *tx, part int64, id string) (*head, error) {
	key := itemKey{part, id}
	if v, ok := k[key]; ok {
		delete(k, key)
		return v, nil
	}
	return t.item(part, id)
}

// accept stores one item, if what it expects holds.
func (t *tx) accept(in *backend.Incoming, before incoming) (out backend.Accepted, err error) {
	part, err := t.makePart(in.Part)
	if err != nil {
		return out, err
	}
	old, err := before.take(t, part, in.ID)
	if err != nil {
		return out, err
	}
	out.Exists = in.IfAbsent && old != nil
	out.Conflict = in.Expect != backend.Version{} && !old.is(in.Expect)
	if out.Exists || out.Conflict {
		return out, nil
	}
	created, older := stamp(in.CreatedAt), int64(0)
	if old != nil {
		created = old.created
		if older, err = t.replace(old); err != nil {
			return out, err
		}
	} else {
		t.count(part, 1, 0)
	}
	t.led.source++
	t.waits = true
	num := t.led.source
	err = t.c.do(`INSERT INTO sources (ws, num, part, id_hash, id, state, older, created, updated, time, expires, size, infer,
		title, kind, filename, media, session, tags, metadata, additional, doc)
		VALUES ($1, $2, $3, $4, $5, 1, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)`,
		num, part, hashOf(in.ID), in.ID, older, created, stamp(in.UpdatedAt), stamp(in.Time), stamp(in.ExpiresAt),
		in.SizeBytes, in.Infer, in.Title, in.Kind, in.Filename, in.MediaType, in.Session, signed(in.Tags),
		in.Metadata, in.Additional, in.Doc)
	if err == nil {
		err = t.addTags(part, num, in.ID, in.Tags)
	}
	if err == nil {
		err = t.storeBlobs(num, in.Blobs, false)
	}
	out.Num = num
	return out, err
}

// replace makes room for a newer version of old's item: old goes when it was not
// indexed, else it stays to be searched. It returns the version that stays, 0 for none.
func (t *tx) replace(old *head) (older int64, err error) {
	if !old.indexed {
		older = old.older
		return older, t.removeVersion(old)
	}
	if err := t.dropTags(old); err != nil {
		return 0, err
	}
	t.led.move(old.state, 0)
	return old.num, t.c.do("UPDATE sources SET newest = false WHERE ws = $1 AND num = $2", old.num)
}

// addTags makes a newest version findable by its tags, but for those that no list is led by.
func (t *tx) addTags(part, source int64, id string, tags []uint64) error {
	p, err := t.partName(part)
	if err != nil {
		return err
	}
	var lead []int64
	for _, tag := range tags {
		if tag != backend.IDTag(id) && leads(p.Class, tag) {
			lead = append(lead, int64(tag))
		}
	}
	if len(lead) == 0 {
		return nil
	}
	return t.c.do("INSERT INTO tags (ws, part, tag, source) SELECT $1, $2, x.tag, $4 FROM unnest($3::bigint[]) x (tag) ON CONFLICT DO NOTHING", part, lead, source)
}

// leads reports whether lists of a class can be led by a tag.
func leads(class backend.Class, tag uint64) bool {
	return class != backend.Raw || tag != backend.Everybody
}

func (t *tx) dropTags(v *head) error {
	if len(v.tags) == 0 {
		return nil
	}
	return t.c.do("DELETE FROM tags WHERE ws = $1 AND part = $2 AND tag = ANY($3) AND source = $4", v.part, signed(v.tags), v.num)
}
