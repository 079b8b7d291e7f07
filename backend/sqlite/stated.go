package sqlite

import (
	"context"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

func (x rows) AddStated(v *head, a *backend.Alias) error {
	return x.t.c.do(`INSERT OR IGNORE INTO stated_aliases (part, from_key, likely, into_key, source, reason, at, limited) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		v.Part, a.From, a.Likely, a.Into, v.Num, a.Reason, storerules.Stamp(a.At), !v.Newest || !slices.Contains(v.Tags, backend.Everybody))
}

// limitStated stores whether only some callers may see a version that states aliases.
func (t *tx) limitStated(v *head, limited bool) error {
	if some, err := t.AnyStated(v.Part); err != nil || !some {
		return err
	}
	return t.c.do("UPDATE stated_aliases SET limited = ? WHERE source = ?", limited, v.Num)
}

func (s *store) Stated(ctx context.Context, q backend.StatedQuery) (out []backend.Stated, err error) {
	err = s.read(ctx, func(c *conn) error {
		part, err := findPart(c, q.Part)
		if err != nil || part == 0 {
			return err
		}
		from := "stated_aliases WHERE part = ?"
		if q.Limited {
			from = "stated_aliases INDEXED BY stated_aliases_limited WHERE part = ? AND limited = 1"
		}
		return c.each(ctx, "SELECT from_key, likely, into_key, source, reason, at FROM "+from, func(r *row) error {
			out = append(out, backend.Stated{Source: r.int(3), Alias: backend.Alias{From: r.str(0), Likely: r.int(1) != 0, Into: r.str(2), Reason: r.str(4), At: r.time(5)}})
			return nil
		}, part)
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out, storerules.CompareStated)
	return out, nil
}

func (x rows) StatedKeys(part int64, add func(key string)) error {
	return x.t.c.each(bg, "SELECT DISTINCT from_key FROM stated_aliases WHERE part = ? AND typeof(from_key) = 'text'", func(r *row) error {
		add(r.str(0))
		return nil
	}, part)
}

func (x rows) StatedBy(num int64, f func(key string)) error {
	return x.t.c.each(bg, "SELECT from_key FROM stated_aliases WHERE source = ?", func(r *row) error {
		f(r.str(0))
		return nil
	}, num)
}

func (x rows) RemoveStated(num int64) error {
	return x.t.c.do("DELETE FROM stated_aliases WHERE source = ?", num)
}

func (x rows) StandIns(k storerules.EntityKey, likely bool) (out []backend.Alias, err error) {
	for into := ""; len(out) < 2; into = out[len(out)-1].Into {
		found, err := x.t.c.one(bg, `SELECT into_key, reason, at FROM stated_aliases WHERE part = ? AND from_key = ? AND likely = ? AND into_key > ?
			AND typeof(into_key) = 'text' AND typeof(reason) = 'text' AND typeof(at) IN ('integer', 'null')
			ORDER BY into_key, source LIMIT 1`, func(r *row) error {
			out = append(out, backend.Alias{From: k.Key, Into: r.str(0), Likely: likely, Reason: r.str(1), At: r.time(2)})
			return nil
		}, k.Part, k.Key, likely, into)
		if err != nil || !found {
			return out, err
		}
	}
	return out, nil
}
