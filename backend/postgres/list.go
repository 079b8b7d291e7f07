package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

func (s *store) List(ctx context.Context, q backend.ListQuery) (page []*backend.Source, total int, err error) {
	var lost losses
	err = s.read(ctx, func(c *conn) error {
		page, total, lost = nil, 0, losses{}
		part, err := findPart(ctx, c, q.Part)
		if err != nil || part == 0 {
			return err
		}
		where, args := listed(part, &q)
		switch {
		case q.IDs == nil && q.States == nil && len(q.Filter.All)+len(q.Filter.Not) == 0:
			// Use the counters of partitions, minus expired items.
			_, err = c.one(ctx, "SELECT p.items - coalesce(g.sources, 0) FROM parts p LEFT JOIN ("+goneSQL+") g ON g.part = p.id WHERE p.ws = $1 AND p.id = $3", func(r *row) error {
				total = int(r.int(0))
				return nil
			}, storerules.Micros(q.Now), part)
		default:
			_, err = c.one(ctx, "SELECT count(*) FROM sources s WHERE "+where, func(r *row) error {
				total = int(r.int(0))
				return nil
			}, args...)
		}
		if err != nil || q.Limit <= 0 || q.Offset >= total {
			return err
		}
		// Newest first, then by ID. Sources ahead of a place are read backwards from the place.
		const updated = "coalesce(s.updated, -9223372036854775808)"
		order := updated + " DESC, s.id"
		if p := cmp.Or(q.After, q.Before); p != nil {
			than := [...]string{"<", ">"}
			if q.After == nil {
				than, order = [...]string{">", "<"}, updated+", s.id DESC"
			}
			n := len(args) + 2
			where += fmt.Sprintf(" AND (%[1]s %[2]s $%[4]d OR %[1]s = $%[4]d AND s.id %[3]s $%[5]d)", updated, than[0], than[1], n, n+1)
			args = append(args, storerules.Micros(p.Updated), p.ID)
		}
		n := len(args) + 2
		sql := fmt.Sprintf("SELECT %s FROM %s WHERE %s ORDER BY %s LIMIT $%d OFFSET $%d", sourceCols, sourceTables, where, order, n, n+1)
		err = c.each(ctx, sql, func(r *row) error {
			if src := readSource(r, 0); !lost.skip(r) {
				page = append(page, src)
			}
			return nil
		}, append(args, q.Limit, max(q.Offset, 0))...)
		if q.After == nil && q.Before != nil {
			slices.Reverse(page)
		}
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return page, total, lost.Err()
}

// listed returns the condition for a version s to be in a list. For a filter with a tag, the query starts from the table of tags.
func listed(part int64, q *backend.ListQuery) (where string, args []any) {
	args = []any{part, storerules.Micros(q.Now)}
	var sql strings.Builder
	sql.WriteString("s.ws = $1 AND s.part = $2 AND s.newest AND (s.expires IS NULL OR s.expires > $3)")
	with := func(condition string, arg any) {
		args = append(args, arg)
		fmt.Fprintf(&sql, condition, len(args)+1)
	}
	if q.IDs != nil {
		with(" AND s.id_hash = ANY($%d)", hashesOf(q.IDs))
	}
	if q.States != nil {
		states := make([]int64, len(q.States))
		for i, state := range q.States {
			states[i] = int64(state)
		}
		with(" AND s.state = ANY($%d)", states)
		// The planner must recognise the conditions of a partial index.
		switch {
		case !slices.ContainsFunc(q.States, func(s backend.State) bool { return s != backend.Errored }):
			sql.WriteString(" AND s.state = 5")
		case !slices.ContainsFunc(q.States, backend.State.Terminal):
			sql.WriteString(" AND s.state < 4")
		}
	}
	if lead := leadingGroup(q.Part.Class, q.Filter); lead != nil && q.IDs == nil {
		with(" AND s.num IN (SELECT t.source FROM tags t WHERE t.ws = $1 AND t.part = $2 AND t.tag = ANY($%d))", lead)
	}
	for _, group := range q.Filter.All {
		with(" AND s.tags && $%d::bigint[]", append([]int64{}, signed(group)...))
	}
	if len(q.Filter.Not) > 0 {
		with(" AND NOT coalesce(s.tags && $%d::bigint[], false)", signed(q.Filter.Not))
	}
	return sql.String(), args
}

// leadingGroup returns the group of a filter with the fewest tags among those whose tags are all
// in the table of tags, or nil if there is none.
func leadingGroup(class backend.Class, f backend.Filter) []int64 {
	var least []uint64
	for _, group := range f.All {
		every := slices.ContainsFunc(group, func(tag uint64) bool { return !storerules.Leads(class, tag) })
		if !every && (least == nil || len(group) < len(least)) {
			least = group
		}
	}
	return signed(least)
}

func (s *store) Sessions(ctx context.Context, q backend.SessionsQuery) (out []backend.SessionInfo, err error) {
	err = s.query(ctx, func(c *conn) error {
		out = nil
		return c.each(ctx, `SELECT s.session, count(*), min(s.time), max(s.time) FROM parts p JOIN sources s ON s.ws = p.ws AND s.part = p.id
			WHERE p.ws = $1 AND p.class = $2 AND p.sub_hash = $3 AND s.newest AND s.session <> '' AND substring(s.session, 1, 200) >= substring($4::bytea, 1, 200) AND s.session > $4
			AND (s.expires IS NULL OR s.expires > $5)
			GROUP BY s.session ORDER BY substring(s.session, 1, 200), s.session LIMIT $6`, func(r *row) error {
			out = append(out, backend.SessionInfo{Session: r.str(0), Sources: int(r.int(1)), First: r.time(2), Last: r.time(3)})
			return nil
		}, int64(q.Part.Class), hashOf(q.Part.Sub), q.After, storerules.Micros(q.Now), max(q.Limit, 0))
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// sessionTime is the expression for a source's time that the session index uses.
const sessionTime = "coalesce(s.time, -9223372036854775808)"

func (s *store) SessionSources(ctx context.Context, q backend.SessionQuery) (out []*backend.Source, err error) {
	var lost losses
	err = s.query(ctx, func(c *conn) error {
		out, lost = nil, losses{}
		if q.Session == "" {
			return nil
		}
		return c.each(ctx, "SELECT "+sourceCols+" FROM "+sourceTables+` WHERE p.ws = $1 AND p.class = $2 AND p.sub_hash = $3 AND s.newest
			AND s.session <> '' AND substring(s.session, 1, 200) = substring($4::bytea, 1, 200) AND s.session = $4 AND (`+sessionTime+`, s.num) > ($5, $6)
			AND (s.expires IS NULL OR s.expires > $7) ORDER BY `+sessionTime+`, s.num LIMIT $8`, func(r *row) error {
			if src := readSource(r, 0); !lost.skip(r) {
				out = append(out, src)
			}
			return nil
		}, int64(q.Part.Class), hashOf(q.Part.Sub), q.Session, storerules.Micros(q.AfterTime), q.AfterNum, storerules.Micros(q.Now), max(q.Limit, 0))
	})
	if err != nil {
		return nil, err
	}
	return out, lost.Err()
}
