package sqlite

import (
	"context"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

func (s *store) Accept(ctx context.Context, items []backend.Incoming) (out []backend.Accepted, err error) {
	if err := storerules.CheckIncoming(items); err != nil {
		return nil, err
	}
	err = s.change(ctx, func(t *tx) error {
		out, err = t.Accept(items)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (x rows) MakePart(p backend.Partition) (int64, error)    { return x.t.makePart(p) }
func (x rows) LoadItems(int, func(int) *backend.Source) error { return nil }
func (x rows) Incoming(part int64, id string) (*head, error)  { return x.Item(part, id) }
func (x rows) AddSource(v *head, in *backend.Source) error {
	tags := storerules.PackTags(in.Tags)
	var sum uint32
	sum, x.t.buf = sourceSum(x.t.buf, in, v.Created, tags)
	return x.t.c.do(`INSERT INTO sources (num, part, hash, id, state, older, created, updated, time, expires, size, infer,
		title, kind, filename, media, session, tags, metadata, additional, doc, crc)
		VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		v.Num, v.Part, hashOf(0, in.ID), in.ID, v.Older, v.Created, storerules.Stamp(in.UpdatedAt), storerules.Stamp(in.Time), storerules.Stamp(in.ExpiresAt),
		in.SizeBytes, in.Infer, in.Title, in.Kind, in.Filename, shortWord(in.MediaType), in.Session, tags,
		in.Metadata, in.Additional, shortJSON(in.Doc), sum)
}

var insertTags = insertsOf("INSERT OR IGNORE INTO tags (part, tag, source)", 3)

func (x rows) AddTags(part, num int64, id string, tags []uint64) error {
	p, err := x.t.partName(part)
	if err != nil {
		return err
	}
	for _, tag := range tags {
		if tag == backend.IDTag(id) || !storerules.Leads(p.Class, tag) {
			continue
		}
		if err := x.t.tagRows.add(x.t.c, part, int64(tag), num); err != nil {
			return err
		}
	}
	return nil
}

func (x rows) SetQueued(v *head) error {
	return x.t.c.do(`UPDATE sources SET state = 1, attempts = 0, error_code = '', error_message = '', token = '',
		lease = NULL, not_before = NULL, due = 0 WHERE num = ?`, v.Num)
}
