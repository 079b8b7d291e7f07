package postgres

import (
	"context"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

func (s *store) Accept(ctx context.Context, items []backend.Incoming) (out []backend.Accepted, err error) {
	if err := storerules.CheckIncoming(items); err != nil {
		return nil, err
	}
	expects := slices.ContainsFunc(items, func(in backend.Incoming) bool { return expects(&in) })
	err = s.change(ctx, func(t *tx) error {
		t.expects = expects
		out, err = t.Accept(items)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// itemKey identifies an item.
type itemKey struct {
	part int64
	id   string
}

// LoadItems reads the newest versions of all items of a call in one query, or assumes that there are none. Versions that the call changes are read again.
func (x rows) LoadItems(n int, of func(i int) *backend.Source) error {
	ids, known := make(map[int64][]string), make(map[itemKey]*head, n)
	for i := range n {
		part, err := x.t.makePart(of(i).Part)
		if err != nil {
			return err
		}
		k := itemKey{part, of(i).ID}
		if _, ok := known[k]; !ok {
			known[k] = nil
			ids[part] = append(ids[part], k.id)
		}
	}
	x.t.incoming = known
	if x.t.absent = x.t.assumesNew(n); x.t.absent {
		return nil
	}
	x.t.news = true
	for part, ids := range ids {
		found, err := x.t.items(part, ids)
		if err != nil {
			return err
		}
		for _, v := range found {
			known[itemKey{part, v.ID}] = v
			x.t.news = false
		}
	}
	return nil
}

func (x rows) Incoming(part int64, id string) (*head, error) {
	key := itemKey{part, id}
	if v, ok := x.t.incoming[key]; ok {
		delete(x.t.incoming, key)
		return v, nil
	}
	return x.Item(part, id)
}

func (x rows) AddSource(v *head, in *backend.Source) error {
	x.t.waits = true
	return x.t.c.do(`INSERT INTO sources (ws, num, part, id_hash, id, state, older, created, updated, time, expires, size, infer,
		title, kind, filename, media, session, tags, metadata, additional, doc)
		VALUES ($1, $2, $3, $4, $5, 1, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)`,
		v.Num, v.Part, hashOf(in.ID), in.ID, v.Older, v.Created, storerules.Stamp(in.UpdatedAt), storerules.Stamp(in.Time), storerules.Stamp(in.ExpiresAt),
		in.SizeBytes, in.Infer, in.Title, in.Kind, in.Filename, in.MediaType, in.Session, signed(in.Tags),
		in.Metadata, in.Additional, in.Doc)
}

func (x rows) AddTags(part, num int64, id string, tags []uint64) error {
	p, err := x.t.partName(part)
	if err != nil {
		return err
	}
	var lead []int64
	for _, tag := range tags {
		if tag != backend.IDTag(id) && storerules.Leads(p.Class, tag) {
			lead = append(lead, int64(tag))
		}
	}
	if len(lead) == 0 {
		return nil
	}
	return x.t.c.do("INSERT INTO tags (ws, part, tag, source) SELECT $1, $2, x.tag, $4 FROM unnest($3::bigint[]) x (tag) ON CONFLICT DO NOTHING", part, lead, num)
}
