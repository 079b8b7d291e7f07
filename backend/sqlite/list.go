package sqlite

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

func (s *store) List(ctx context.Context, q backend.ListQuery) (page []*backend.Source, total int, err error) {
	var lost losses
	err = s.readSettled(ctx, func(c *conn) error {
		part, err := findPart(c, q.Part)
		switch {
		case err != nil || part == 0:
			return err
		case q.IDs != nil:
			page, total, err = listIDs(ctx, c, part, &q, &lost)
		default:
			page, total, err = listPart(ctx, c, part, &q, &lost)
		}
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return page, total, lost.Err()
}

// listIDs lists the items with the ids of q. It reads all of them and filters in memory.
func listIDs(ctx context.Context, c *conn, part int64, q *backend.ListQuery, lost *losses) (found []*backend.Source, total int, err error) {
	seen := make(map[string]bool, len(q.IDs))
	err = forEach(ctx, q.IDs, func(_ int, id string) error {
		if seen[id] {
			return nil
		}
		seen[id] = true
		src, err := newest(c, part, id)
		if err == nil && src != nil && (src.ExpiresAt.IsZero() || src.ExpiresAt.After(q.Now)) && (q.States == nil || slices.Contains(q.States, src.State)) && matches(q.Filter, storerules.PackTags(src.Tags)) {
			found = append(found, src)
		}
		return lost.unless(err)
	})
	if err != nil {
		return nil, 0, err
	}
	slices.SortFunc(found, func(a, b *backend.Source) int {
		return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(a.ID, b.ID))
	})
	total = len(found)
	from, to := q.Window(total, func(i int) backend.ListPlace { return backend.ListPlace{Updated: found[i].UpdatedAt, ID: found[i].ID} })
	return slices.Clip(found[from:to]), total, nil
}

// listPart lists a partition. If the filter has an indexed tag, it uses the index of tags and
// checks the rest of the filter with the tags of each row. Otherwise it uses the index of the
// list order.
func listPart(ctx context.Context, c *conn, part int64, q *backend.ListQuery, lost *losses) (page []*backend.Source, total int, err error) {
	if len(q.Filter.All) > 0 || len(q.Filter.Not) > 0 {
		return listFiltered(ctx, c, part, q, lost)
	}
	where := fromStates(q.States)
	if total, err = countStates(ctx, c, part, q.States, q.Now); err != nil || q.Limit <= 0 || q.Offset >= total {
		return nil, total, err
	}
	read := 0 // number of rows read, including damaged ones
	more := func(condition, order string, args ...any) error {
		if read == q.Limit {
			return nil
		}
		args = append(append([]any{part, storerules.Micros(q.Now)}, args...), q.Limit-read)
		return c.each(ctx, "SELECT "+sourceCols+strings.Replace(where, "WHERE", "JOIN parts p ON p.id = s.part WHERE", 1)+condition+order, func(r *row) error {
			read++
			if src := readSource(r, 0); !lost.skip(r) {
				page = append(page, src)
			}
			return nil
		}, args...)
	}
	const (
		forth = " ORDER BY s.updated DESC, s.id LIMIT ?"
		back  = " ORDER BY s.updated, s.id DESC LIMIT ?"
	)
	// Sources without a time come last. Many sources may have the time of the place, so the condition also uses the id.
	switch at := cmp.Or(q.After, q.Before); {
	case at == nil:
		args := []any{part, storerules.Micros(q.Now), q.Limit, max(q.Offset, 0)}
		err = c.each(ctx, "SELECT "+sourceCols+strings.Replace(where, "WHERE", "JOIN parts p ON p.id = s.part WHERE", 1)+forth+" OFFSET ?", func(r *row) error {
			if src := readSource(r, 0); !lost.skip(r) {
				page = append(page, src)
			}
			return nil
		}, args...)
	case q.After != nil && at.Updated.IsZero():
		err = more(" AND s.updated IS NULL AND s.id > ?", forth, at.ID)
	case q.After != nil:
		if err = more(" AND s.updated = ? AND s.id > ?", forth, storerules.Micros(at.Updated), at.ID); err == nil {
			err = more(" AND s.updated < ?", forth, storerules.Micros(at.Updated))
		}
		if err == nil {
			err = more(" AND s.updated IS NULL", forth)
		}
	default:
		if at.Updated.IsZero() {
			if err = more(" AND s.updated IS NULL AND s.id < ?", back, at.ID); err == nil {
				err = more(" AND s.updated IS NOT NULL", back)
			}
		} else if err = more(" AND s.updated = ? AND s.id < ?", back, storerules.Micros(at.Updated), at.ID); err == nil {
			err = more(" AND s.updated > ?", back, storerules.Micros(at.Updated))
		}
		slices.Reverse(page)
	}
	return page, total, err
}

// fromStates returns the FROM clause for a list of items in some states.
func fromStates(states []backend.State) string {
	return " FROM sources s INDEXED BY " + listIndex(states) + " WHERE s.part = ? AND s.newest = 1 AND (s.expires IS NULL OR s.expires > ?)" + inStates(states)
}

// countStates returns the number of items of a partition in some states; nil means all states. Since most items are completed, it counts these as all items
// minus the others.
func countStates(ctx context.Context, c *conn, part int64, states []backend.State, now time.Time) (total int, err error) {
	if states == nil {
		return countPart(ctx, c, part, now)
	}
	if !slices.Contains(states, backend.Completed) {
		_, err = c.one(ctx, "SELECT count(*)"+fromStates(states), func(r *row) error {
			total = int(r.int(0))
			return nil
		}, part, storerules.Micros(now))
		return total, err
	}
	if total, err = countPart(ctx, c, part, now); err != nil {
		return 0, err
	}
	var waiting []backend.State
	for s := backend.Queued; s < backend.Completed; s++ {
		if !slices.Contains(states, s) {
			waiting = append(waiting, s)
		}
	}
	for _, others := range [][]backend.State{waiting, {backend.Errored}} {
		if len(others) == 0 || slices.Contains(states, others[0]) {
			continue
		}
		n, err := countStates(ctx, c, part, others, now)
		if err != nil {
			return 0, err
		}
		total -= n
	}
	return total, nil
}

// countPart returns the number of items of a partition that have not expired, computed from its counters.
func countPart(ctx context.Context, c *conn, part int64, now time.Time) (total int, err error) {
	gone, err := expiredItems(ctx, c, now)
	if err != nil {
		return 0, err
	}
	more, err := behind(ctx, c)
	if err != nil {
		return 0, err
	}
	_, err = c.one(ctx, "SELECT items FROM counters WHERE id = ?", func(r *row) error {
		total = int(r.int(0)+more[part].Items) - gone[part].sources
		return nil
	}, part)
	return total, err
}

// listIndex returns the index for items in some states. Errored items and items in progress have partial indexes.
func listIndex(states []backend.State) string {
	waiting := func(s backend.State) bool { return s < backend.Completed }
	switch {
	case len(states) == 0:
		return "sources_list"
	case !slices.ContainsFunc(states, func(s backend.State) bool { return s != backend.Errored }):
		return "sources_errored"
	case !slices.ContainsFunc(states, func(s backend.State) bool { return !waiting(s) }):
		return "sources_pending"
	}
	return "sources_list"
}

// inStates returns the condition that a source is in one of some states; nil means all states. It must imply the condition of the partial index in a way that
// SQLite's planner recognises.
func inStates(states []backend.State) string {
	if states == nil {
		return ""
	}
	var sql strings.Builder
	sql.WriteString(" AND s.state IN (-1")
	for _, s := range states {
		fmt.Fprintf(&sql, ", %d", s)
	}
	sql.WriteString(")")
	switch listIndex(states) {
	case "sources_errored":
		fmt.Fprintf(&sql, " AND s.state = %d", backend.Errored)
	case "sources_pending":
		fmt.Fprintf(&sql, " AND s.state < %d", backend.Completed)
	}
	return sql.String()
}

// listed holds the columns of a filtered row that are needed for sorting.
type listed struct {
	num, updated int64
	id           string
}

// listFiltered reads a few columns of each row that may match, sorts the matching rows, and
// reads all columns only of the page.
func listFiltered(ctx context.Context, c *conn, part int64, q *backend.ListQuery, lost *losses) (page []*backend.Source, total int, err error) {
	sql := "SELECT s.num, s.updated, s.id, s.tags FROM sources s INDEXED BY " + listIndex(q.States) + " WHERE s.part = ?1 AND s.newest = 1"
	args := []any{part, storerules.Micros(q.Now)}
	if lead := leadingGroup(q.Part.Class, q.Filter); lead != nil {
		sql = `SELECT s.num, s.updated, s.id, s.tags FROM
			(SELECT DISTINCT t.source FROM json_each(?3) j CROSS JOIN tags t ON t.part = ?1 AND t.tag = j.value) f
			CROSS JOIN sources s ON s.num = f.source WHERE s.newest = 1`
		args = append(args, jsonInts(lead))
	}
	var found []listed
	err = c.each(ctx, sql+" AND (s.expires IS NULL OR s.expires > ?2)"+inStates(q.States), func(r *row) error {
		if matches(q.Filter, r.blob(3)) {
			l := listed{num: r.int(0), updated: storerules.Never, id: r.str(2)}
			if !r.null(1) {
				l.updated = r.int(1)
			}
			found = append(found, l)
		}
		return nil
	}, args...)
	if err != nil {
		return nil, 0, err
	}
	slices.SortFunc(found, func(a, b listed) int {
		return cmp.Or(cmp.Compare(b.updated, a.updated), cmp.Compare(a.id, b.id))
	})
	total = len(found)
	from, to := q.Window(total, func(i int) backend.ListPlace {
		p := backend.ListPlace{ID: found[i].id}
		if found[i].updated != storerules.Never {
			p.Updated = time.UnixMicro(found[i].updated)
		}
		return p
	})
	found = found[from:to]
	err = forEach(ctx, found, func(_ int, l listed) error {
		src, err := byNum(c, l.num)
		if err == nil && src != nil {
			page = append(page, src)
		}
		return lost.unless(err)
	})
	return page, total, err
}

// leadingGroup returns the group of a filter with the fewest tags among those whose tags are all
// indexed, or nil if there is none.
func leadingGroup(class backend.Class, f backend.Filter) []int64 {
	var least []uint64
	for _, group := range f.All {
		every := slices.ContainsFunc(group, func(tag uint64) bool { return !storerules.Leads(class, tag) })
		if !every && (least == nil || len(group) < len(least)) {
			least = group
		}
	}
	if least == nil {
		return nil
	}
	lead := make([]int64, len(least))
	for i, t := range least {
		lead[i] = int64(t)
	}
	return lead
}

// matches reports whether a source with packed tags passes a filter.
func matches(f backend.Filter, packed []byte) bool {
	has := func(tag uint64) bool {
		for b := packed; len(b) >= 8; b = b[8:] {
			if binary.LittleEndian.Uint64(b) == tag {
				return true
			}
		}
		return false
	}
	for _, group := range f.All {
		if !slices.ContainsFunc(group, has) {
			return false
		}
	}
	return !slices.ContainsFunc(f.Not, has)
}
