package sqlite

import (
	"context"
	"encoding/binary"
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
		for i := range items {
			if out[i], err = t.accept(&items[i]); err != nil {
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

func checkBlobs(blobs []backend.Blob) error {
	for _, b := range blobs {
		if b.Kind < backend.Original || b.Kind > backend.Past {
			return fmt.Errorf("content kind %d is unknown", b.Kind)
		}
	}
	return nil
}

// accept stores one item, if what it expects holds.
func (t *tx) accept(in *backend.Incoming) (out backend.Accepted, err error) {
	part, err := t.makePart(in.Part)
	if err != nil {
		return out, err
	}
	old, err := t.item(part, in.ID)
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
	num := t.led.source
	t.led.move(0, backend.Queued)
	tags := packTags(in.Tags)
	var sum uint32
	sum, t.buf = sourceSum(t.buf, &in.Source, created, tags)
	err = t.c.do(`INSERT INTO sources (num, part, hash, id, state, older, created, updated, time, expires, size, infer,
		title, kind, filename, media, session, tags, metadata, additional, doc, crc)
		VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		num, part, hashOf(0, in.ID), in.ID, older, created, stamp(in.UpdatedAt), stamp(in.Time), stamp(in.ExpiresAt),
		in.SizeBytes, in.Infer, in.Title, in.Kind, in.Filename, in.MediaType, in.Session, tags,
		in.Metadata, in.Additional, in.Doc, sum)
	if err == nil {
		err = t.addTags(part, num, in.ID, tags)
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
	if err := t.limitStated(old, true); err != nil {
		return 0, err
	}
	return old.num, t.c.do("UPDATE sources SET newest = 0 WHERE num = ?", old.num)
}

// addTags makes a newest version findable by its tags, but for those that no list is led by.
func (t *tx) addTags(part, source int64, id string, tags []byte) error {
	p, err := t.partName(part)
	if err != nil {
		return err
	}
	for b := tags; len(b) >= 8; b = b[8:] {
		tag := binary.LittleEndian.Uint64(b)
		if tag == backend.IDTag(id) || !leads(p.Class, tag) {
			continue
		}
		err := t.c.do("INSERT OR IGNORE INTO tags (part, tag, source) VALUES (?, ?, ?)", part, int64(tag), source)
		if err != nil {
			return err
		}
	}
	return nil
}

// leads reports whether lists of a class can be led by a tag.
func leads(class backend.Class, tag uint64) bool {
	return class != backend.Raw || tag != backend.Everybody
}

func (t *tx) dropTags(v *head) error {
	for b := v.tags; len(b) >= 8; b = b[8:] {
		err := t.c.do("DELETE FROM tags WHERE part = ? AND tag = ? AND source = ?",
			v.part, int64(binary.LittleEndian.Uint64(b)), v.num)
		if err != nil {
			return err
		}
	}
	return nil
}
