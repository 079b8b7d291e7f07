package sqlite

import (
	"context"

	"github.com/contextmem/contextmem/backend"
)

func (s *store) Mentioned(ctx context.Context, q backend.MentionQuery) (out []backend.Mentioned, err error) {
	err = s.read(ctx, func(c *conn) error {
		part, err := findPart(c, q.Part)
		if err != nil || part == 0 {
			return err
		}
		return forEach(ctx, q.Keys, func(i int, key string) error {
			add := func(r *row) error {
				out = append(out, backend.Mentioned{At: i, Key: r.str(0), Source: r.int(1), Type: r.str(2), Count: int(r.int(3))})
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
	return out, nil
}
