package postgres

import (
	"context"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

func (s *store) Stated(ctx context.Context, q backend.StatedQuery) (out []backend.Stated, err error) {
	err = s.query(ctx, func(c *conn) error {
		out = nil
		return c.each(ctx, `SELECT a.from_key, a.likely, a.into_key, a.source, a.reason, a.at
			FROM parts p JOIN stated_aliases a ON a.ws = p.ws AND a.part = p.id JOIN sources s ON s.ws = a.ws AND s.num = a.source
			WHERE p.ws = $1 AND p.class = $2 AND p.sub_hash = $3 AND NOT ($4 AND s.newest AND s.tags IS NOT NULL AND $5 = ANY(s.tags))
			ORDER BY a.source, a.from_key, a.into_key, a.likely`, func(r *row) error {
			out = append(out, backend.Stated{Source: r.int(3), Alias: backend.Alias{From: r.str(0), Likely: r.bool(1), Into: r.str(2), Reason: r.str(4), At: r.time(5)}})
			return nil
		}, int64(q.Part.Class), hashOf(q.Part.Sub), q.Limited, int64(backend.Everybody))
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (x rows) AddStated(v *head, a *backend.Alias) error {
	return x.t.c.do(`INSERT INTO stated_aliases (ws, part, from_hash, into_hash, from_key, likely, into_key, source, reason, at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING`,
		v.Part, hashOf(a.From), hashOf(a.Into), a.From, a.Likely, a.Into, v.Num, a.Reason, storerules.Stamp(a.At))
}

func (x rows) StatedKeys(part int64, add func(key string)) error {
	return x.t.c.each(bg, "SELECT DISTINCT from_key FROM stated_aliases WHERE ws = $1 AND part = $2", func(r *row) error {
		add(r.str(0))
		return nil
	}, part)
}

func (x rows) StatedBy(num int64, f func(key string)) error {
	return x.t.c.each(bg, "SELECT from_key FROM stated_aliases WHERE ws = $1 AND source = $2", func(r *row) error {
		f(r.str(0))
		return nil
	}, num)
}

func (x rows) RemoveStated(num int64) error {
	return x.t.c.do("DELETE FROM stated_aliases WHERE ws = $1 AND source = $2", num)
}

func (x rows) StandIns(k storerules.EntityKey, likely bool) (out []backend.Alias, err error) {
	err = x.t.c.each(bg, `SELECT DISTINCT ON (into_key) into_key, reason, at FROM stated_aliases
		WHERE ws = $1 AND part = $2 AND from_hash = $3 AND likely = $4 ORDER BY into_key, source LIMIT 2`, func(r *row) error {
		out = append(out, backend.Alias{From: k.Key, Into: r.str(0), Likely: likely, Reason: r.str(1), At: r.time(2)})
		return nil
	}, k.Part, hashOf(k.Key), likely)
	return out, err
}
