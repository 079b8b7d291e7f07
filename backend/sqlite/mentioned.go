package sqlite

import (
	"context"
	"errors"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

func (s *store) Mentioned(ctx context.Context, q backend.MentionQuery) (out []backend.Mentioned, err error) {
	var lost losses
	err = s.read(ctx, func(c *conn) error {
		part, err := findPart(c, q.Part)
		if err != nil || part == 0 {
			return err
		}
		return forEach(ctx, q.Keys, func(i int, key string) error {
			add := func(r *row) error {
				if m := (backend.Mentioned{At: i, Key: r.str(0), Source: r.int(1), Type: r.word(2), Count: int(r.int(3))}); !lost.skip(r) {
					out = append(out, m)
				}
				return nil
			}
			if q.Sources != nil {
				return c.each(ctx, `SELECT e.key, m.source, m.type, m.count FROM entities e INDEXED BY entities_key CROSS JOIN entity_sources m ON m.entity = e.num
					WHERE e.part = ? AND e.key = ? AND m.source = ?`, add, part, key, q.Sources[i])
			}
			if q.Oldest > 0 {
				return c.each(ctx, `SELECT e.key, m.source, m.type, m.count FROM entities e INDEXED BY entities_key CROSS JOIN entity_sources m ON m.entity = e.num
					WHERE e.part = ? AND e.key = ? ORDER BY m.source LIMIT ?`, add, part, key, q.Oldest)
			}
			return c.each(ctx, `WITH own AS (SELECT num, key FROM entities INDEXED BY entities_key WHERE part = ?1 AND key = ?2),
				members AS (SELECT num, key FROM own
					UNION ALL SELECT e.num, e.key FROM own CROSS JOIN entities e INDEXED BY entities_root ON e.root = own.num AND e.root <> e.num)
				SELECT e.key, m.source, m.type, m.count FROM members e CROSS JOIN entity_sources m ON m.entity = e.num ORDER BY e.key, m.source`, add, part, key)
		})
	})
	if err != nil {
		return nil, err
	}
	return out, lost.Err()
}

func (s *store) MentionsOf(ctx context.Context, part backend.Partition, keys []string, versions int) (out []backend.KeyMention, err error) {
	var lost losses
	err = s.read(ctx, func(c *conn) error {
		id, err := findPart(c, part)
		if err != nil || id == 0 {
			return err
		}
		type version struct{ num, first int64 }
		of := map[int64][]storerules.Mention{} // a version mentions several of the keys
		return forEach(ctx, keys, func(i int, key string) error {
			var vs []version
			err := c.each(ctx, `SELECT s.num, s.first_chunk FROM entities e INDEXED BY entities_key CROSS JOIN entity_sources m ON m.entity = e.num CROSS JOIN sources s ON s.num = m.source
				WHERE e.part = ? AND e.key = ? ORDER BY m.source LIMIT ?`, func(r *row) error {
				vs = append(vs, version{r.int(0), r.int(1)})
				return nil
			}, id, key, max(versions, 0))
			if err != nil {
				return err
			}
			from := len(out)
			for _, v := range vs {
				ms, ok := of[v.num]
				if !ok {
					if ms, err = readMentions(c, v.num); errors.Is(err, backend.ErrCorrupt) {
						lost.Note(err)
					} else if err != nil {
						return err
					}
					of[v.num] = ms
				}
				for _, m := range ms {
					if m.Key == key {
						out = append(out, backend.KeyMention{At: i, Source: v.num, Chunk: v.first + m.Chunk, Weight: m.Weight})
					}
				}
			}
			out = append(out[:from], storerules.FoldMentions(out[from:])...)
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return out, lost.Err()
}
