package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// Claims and renewals change only the rows of their sources and do not lock the ledger. Workers of many processes claim concurrently, and each
// skips rows that another has locked. To avoid deadlocks, a transaction that waits for a source has locked the ledger or holds no other source.

func (s *store) Claim(ctx context.Context, token string, now, leaseUntil time.Time, limit int, maxBytes int64) (out []backend.Claim, err error) {
	if token == "" {
		return nil, errors.New("claim: the token is empty")
	}
	if limit <= 0 {
		return nil, s.query(ctx, func(*conn) error { return nil })
	}
	var damaged []int64
	err = s.alone(ctx, func(c *conn) error {
		out, damaged = nil, nil
		found, err := candidates(c, now, limit)
		if err != nil || len(found) == 0 {
			return err
		}
		found = storerules.Fitting(found, maxBytes)
		nums := make([]int64, len(found))
		for i := range found {
			nums[i] = found[i].Num
		}
		err = c.do(`UPDATE sources SET state = greatest(state, 2), attempts = attempts + 1, token = $3, lease = $4, due = greatest($5, coalesce(not_before, 0))
			WHERE ws = $1 AND num = ANY($2)`, nums, token, storerules.Stamp(leaseUntil), storerules.DueFrom(leaseUntil))
		if err != nil {
			return err
		}
		out, damaged, err = readClaims(c, nums)
		return err
	})
	if err == nil && len(damaged) > 0 {
		// A damaged item must not stop the work on other items.
		err = s.change(ctx, func(t *tx) error { return t.condemn(damaged, token) })
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// candidates locks the oldest sources that can be claimed now. It reads sources that were never deferred in order from their index, since
// there may be very many. The others are deferred sources that are due.
func candidates(c *conn, now time.Time, limit int) (out []storerules.Candidate, err error) {
	add := func(r *row) error {
		out = append(out, storerules.Candidate{Num: r.int(0), Size: r.int(1)})
		return nil
	}
	err = c.each(bg, `SELECT num, size FROM sources WHERE ws = $1 AND newest AND state < 4 AND due = 0
		ORDER BY num LIMIT $2 FOR UPDATE SKIP LOCKED`, add, limit)
	if err == nil {
		err = c.each(bg, `SELECT num, size FROM sources WHERE ws = $1 AND newest AND state < 4 AND due > 0 AND due <= $2
			ORDER BY num LIMIT $3 FOR UPDATE SKIP LOCKED`, add, storerules.Micros(now), limit)
	}
	slices.SortFunc(out, func(a, b storerules.Candidate) int { return cmp.Compare(a.Num, b.Num) })
	return out[:min(limit, len(out))], err
}

// readClaims reads the data of sources that a worker needs, by source number.
func readClaims(c *conn, nums []int64) (out []backend.Claim, damaged []int64, err error) {
	type content struct {
		first, chunks int64
		lane          backend.Lane
	}
	var contents []content
	at := make(map[int64]int, len(nums))
	err = c.each(bg, "SELECT "+sourceCols+", CASE WHEN s.indexed THEN s.first_chunk ELSE 0 END, s.chunks, s.lane FROM "+sourceTables+
		" WHERE s.ws = $1 AND s.num = ANY($2) ORDER BY s.num", func(r *row) error {
		src := readSource(r, 0)
		if errors.Is(r.err, backend.ErrCorrupt) {
			r.err = nil
			return nil
		}
		at[src.Num] = len(out)
		out = append(out, backend.Claim{Source: *src})
		contents = append(contents, content{r.int(sourceWidth), r.int(sourceWidth + 1), backend.Lane(r.int(sourceWidth + 2))})
		return nil
	}, nums)
	if err != nil {
		return nil, nil, err
	}
	for _, num := range nums {
		if _, ok := at[num]; !ok { // its row or that of its partition is damaged
			damaged = append(damaged, num)
		}
	}
	err = readBlobs(bg, c, nums, 0, func(source int64, b backend.Blob, err error) {
		if err != nil {
			damaged = append(damaged, source)
		}
		if i, ok := at[source]; ok {
			out[i].Blobs = append(out[i].Blobs, b)
		}
	})
	if err != nil {
		return nil, nil, err
	}
	for i := range out {
		cl := &out[i]
		slices.SortFunc(cl.Blobs, func(a, b backend.Blob) int { return int(a.Kind) - int(b.Kind) })
		if contents[i].first == 0 {
			continue
		}
		var lost losses
		err := eachChunk(bg, c, contents[i].first, contents[i].chunks, true, contents[i].lane, &lost, func(ch *backend.Chunk) { cl.Chunks = append(cl.Chunks, *ch) })
		if err != nil {
			return nil, nil, err
		}
		if lost.Err() != nil {
			damaged = append(damaged, cl.Num)
		}
	}
	return slices.DeleteFunc(out, func(cl backend.Claim) bool { return slices.Contains(damaged, cl.Num) }), damaged, nil
}

// condemn marks sources as failed whose stored content cannot be read.
func (t *tx) condemn(nums []int64, token string) error {
	for _, num := range nums {
		err := t.apart("condemn", backend.ErrCorrupt, func() error {
			v, err := t.Held(num, token)
			if err == nil && v != nil {
				err = t.Condemn(v)
			}
			return err
		})
		if err != nil {
			return err
		}
		// Of one whose partition is damaged, no event can say to which item it belongs.
		err = t.c.doing(func(n int64) { t.Left = t.Left || n > 0 }, `UPDATE sources SET state = 5, error_code = $2, error_message = 'the stored item is damaged', token = '', lease = NULL,
			not_before = NULL, due = 0 WHERE ws = $1 AND num = $3 AND token = $4 AND newest`, storerules.DamagedCode, num, token)
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *store) Renew(ctx context.Context, token string, nums []int64, leaseUntil time.Time) error {
	if token == "" {
		return s.alone(ctx, func(*conn) error { return nil })
	}
	// The first pass skips locked sources. The next passes wait for them one at a time, each at the start of a transaction, so that a waiting transaction holds no row.
	lease, due := storerules.Stamp(leaseUntil), storerules.DueFrom(leaseUntil)
	for wait, busy := false, []int64(nil); ; wait, nums = true, busy {
		err := s.alone(ctx, func(c *conn) error {
			if wait {
				err := c.do("UPDATE sources SET lease = $4, due = greatest($5, coalesce(not_before, 0)) WHERE ws = $1 AND num = $2 AND newest AND token = $3", nums[0], token, lease, due)
				if err != nil {
					return err
				}
			}
			busy = nil
			return c.each(bg, `WITH held AS (SELECT num FROM sources WHERE ws = $1 AND num = ANY($2) AND newest AND token = $3),
				free AS (SELECT num FROM sources WHERE ws = $1 AND num = ANY($2) AND newest AND token = $3 FOR UPDATE SKIP LOCKED),
				renewed AS (UPDATE sources s SET lease = $4, due = greatest($5, coalesce(not_before, 0)) FROM free WHERE s.ws = $1 AND s.num = free.num RETURNING s.num)
				SELECT num FROM held EXCEPT SELECT num FROM renewed ORDER BY num`, func(r *row) error {
				busy = append(busy, r.int(0))
				return nil
			}, nums, token, lease, due)
		})
		if err != nil || len(busy) == 0 {
			return err
		}
	}
}

// Defer locks the ledger first, like every transaction that locks several sources and waits for them.
func (s *store) Defer(ctx context.Context, items []backend.Deferred) error {
	return s.alone(ctx, func(c *conn) error {
		if err := c.do("SELECT 1 FROM ledgers WHERE ws = $1 FOR UPDATE"); err != nil {
			return err
		}
		for i := range items {
			f := &items[i]
			n, err := c.exec(bg, `UPDATE sources SET state = $4, not_before = $5, due = $6, error_code = $7, error_message = $8, token = '', lease = NULL
				WHERE ws = $1 AND num = $2 AND token = $3 AND token <> '' AND newest`,
				f.Num, f.Token, int64(f.State), storerules.Stamp(f.NotBefore), storerules.DueFrom(f.NotBefore), f.ErrorCode, f.ErrorMessage)
			if err == nil && n > 0 && (f.State < backend.Queued || f.State.Terminal()) {
				err = fmt.Errorf("defer source %d: state %d is final or unknown", f.Num, f.State)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *store) Backlog(ctx context.Context) (counts map[backend.State]int, next time.Time, err error) {
	err = s.query(ctx, func(c *conn) error {
		counts, next = make(map[backend.State]int), time.Time{}
		return c.each(ctx, `SELECT 0, state, count(*), min(due) FROM sources WHERE ws = $1 AND newest AND state < 4 GROUP BY state
			UNION ALL SELECT 1, 4::smallint, completed, 0 FROM ledgers WHERE ws = $1
			UNION ALL SELECT 1, 5::smallint, errored, 0 FROM ledgers WHERE ws = $1`, func(r *row) error {
			if n := int(r.int(2)); n != 0 {
				counts[backend.State(r.int(1))] = n
			}
			// The zero time, which means any time, is stored as 1970.
			if due := r.time(3); r.int(0) == 0 && (next.IsZero() || due.Before(next)) {
				next = due
			}
			return nil
		})
	})
	if err != nil {
		return nil, time.Time{}, err
	}
	return counts, next, nil
}

func (s *store) Requeue(ctx context.Context, part backend.Partition, id string) error {
	return s.change(ctx, func(t *tx) error { return t.Requeue(part, id) })
}
