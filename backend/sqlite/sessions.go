package sqlite

import (
	"context"
	"fmt"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// sessionTime is the expression for a source's time in the index of sessions.
const sessionTime = "coalesce(s.time, -9223372036854775808)"

func (s *store) Sessions(ctx context.Context, q backend.SessionsQuery) (out []backend.SessionInfo, err error) {
	var lost losses
	err = s.readSettled(ctx, func(c *conn) error {
		part, err := findPart(c, q.Part)
		if err != nil || part == 0 {
			return err
		}
		return c.each(ctx, `SELECT s.session, count(*), sum(typeof(s.time) NOT IN ('integer', 'null')),
			min(iif(typeof(s.time) = 'integer', s.time, NULL)), max(iif(typeof(s.time) = 'integer', s.time, NULL)) FROM sources s INDEXED BY sources_session
			WHERE s.part = ? AND s.newest = 1 AND s.session <> '' AND s.session > ? AND (s.expires IS NULL OR s.expires > ?)
			GROUP BY s.session ORDER BY s.session LIMIT ?`, func(r *row) error {
			name, ok := r.vals[0].(string)
			if !ok {
				lost.sessions(r.int(1), "bytes")
				return nil
			}
			bad := r.int(2)
			lost.sessions(bad, name)
			x := backend.SessionInfo{Session: name, Sources: int(r.int(1) - bad), First: r.time(3), Last: r.time(4)}
			if x.Sources > 0 {
				out = append(out, x)
			}
			return nil
		}, part, q.After, storerules.Micros(q.Now), max(q.Limit, 0))
	})
	if err != nil {
		return nil, err
	}
	return out, lost.Err()
}

// sessions adds n versions that are damaged, so that they are in no session or have no time.
func (l *losses) sessions(n int64, name string) {
	for i := range n {
		l.Note(fmt.Errorf("version %d of those whose session or time has a wrong type, under %q: %w", i+1, name, backend.ErrCorrupt))
	}
}

func (s *store) SessionSources(ctx context.Context, q backend.SessionQuery) (out []*backend.Source, err error) {
	var lost losses
	err = s.readSettled(ctx, func(c *conn) error {
		part, err := findPart(c, q.Part)
		if err != nil || part == 0 || q.Session == "" {
			return err
		}
		at := int64(storerules.Never)
		if !q.AfterTime.IsZero() {
			at = storerules.Micros(q.AfterTime)
		}
		return c.each(ctx, "SELECT "+sourceCols+` FROM sources s INDEXED BY sources_session JOIN parts p ON p.id = s.part
			WHERE s.part = ? AND s.newest = 1 AND s.session <> '' AND s.session = ? AND (`+sessionTime+`, s.num) > (?, ?)
			AND (s.expires IS NULL OR s.expires > ?) ORDER BY `+sessionTime+`, s.num LIMIT ?`, func(r *row) error {
			if src := readSource(r, 0); !lost.skip(r) {
				out = append(out, src)
			}
			return nil
		}, part, q.Session, at, q.AfterNum, storerules.Micros(q.Now), max(q.Limit, 0))
	})
	if err != nil {
		return nil, err
	}
	return out, lost.Err()
}

func (s *store) ListEntities(ctx context.Context, q backend.EntityQuery) (out []*backend.Entity, err error) {
	var lost losses
	err = s.read(ctx, func(c *conn) error {
		part, err := findPart(c, q.Part)
		if err != nil || part == 0 {
			return err
		}
		return c.each(ctx, "SELECT "+entityCols+` FROM entities INDEXED BY entities_key
			WHERE part = ?1 AND key > ?2 AND key >= ?3 AND substr(key, 1, length(?3)) = ?3 AND (?7 OR root = num) AND (?4 = '' OR type IN (?4, ?8))
			AND (?5 = '' OR key < ?5) ORDER BY key LIMIT ?6`, func(r *row) error {
			if e := readEntity(r); !lost.skip(r) {
				out = append(out, e)
			}
			return nil
		}, part, q.After, q.Prefix, q.Type, aboveAll(q.Prefix), max(q.Limit, 0), q.Folded, shortWord(q.Type))
	})
	if err != nil {
		return nil, err
	}
	return out, lost.Err()
}

// aboveAll returns the least text that is greater than all texts with a prefix, or "" if there is none.
func aboveAll(prefix string) string {
	b := []byte(prefix)
	for n := len(b); n > 0; n-- {
		if b[n-1] < 0x7f {
			b[n-1]++
			return string(b[:n])
		}
	}
	return ""
}
