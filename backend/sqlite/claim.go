package sqlite

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

// maxDue bounds the number of due sources that a claim sorts.
const maxDue = 4096

func (s *store) Claim(ctx context.Context, token string, now, leaseUntil time.Time, limit int, maxBytes int64) (out []backend.Claim, err error) {
	if token == "" {
		return nil, errors.New("claim: the token is empty")
	}
	if limit <= 0 {
		return nil, s.query(ctx, func(*conn) error { return nil })
	}
	err = s.change(ctx, func(t *tx) error {
		found, err := t.candidates(now, limit)
		if err != nil {
			return err
		}
		if err := t.fit(len(found)); err != nil {
			return err
		}
		found = storerules.Fitting(found, maxBytes)
		together, err := t.readTogether(found)
		if err != nil {
			return err
		}
		var marks []claimMark
		for i, f := range found {
			var one *claimed
			if together != nil {
				one = together[i]
			}
			claim, mark, err := t.claim(f.Num, one, token, leaseUntil)
			switch {
			case errors.Is(err, backend.ErrCorrupt):
				// One damaged item must not keep the others from being processed.
				if err := t.condemn(f.Num); err != nil {
					return err
				}
			case err != nil:
				return err
			default:
				out, marks = append(out, *claim), append(marks, mark)
			}
		}
		return t.markClaimed(marks, token, leaseUntil)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// condemn sets the final state of a damaged version.
func (t *tx) condemn(num int64) error {
	v, err := t.Rows.Version(num)
	if err == nil && v != nil {
		err = t.Condemn(v)
	}
	if !errors.Is(err, backend.ErrCorrupt) {
		return err
	}
	// What an event would say of it cannot be read.
	t.Left = true // the states are counted anew
	return t.c.do("UPDATE sources SET state = ?, error_code = ?, error_message = 'the stored item is damaged', token = '', lease = NULL, not_before = NULL, due = 0 WHERE num = ?",
		int64(backend.Errored), storerules.DamagedCode, num)
}

// candidates returns the oldest sources that can be claimed now. Sources that were never
// deferred, of which there may be very many, come from the index in order. Deferred sources
// that are due are sorted.
func (t *tx) candidates(now time.Time, limit int) (out []storerules.Candidate, err error) {
	add := func(r *row) error {
		size, _ := r.vals[1].(int64) // claim finds out that it is damaged
		out = append(out, storerules.Candidate{Num: r.int(0), Size: size})
		return nil
	}
	err = t.c.each(bg, `SELECT num, size FROM sources INDEXED BY sources_pending
		WHERE newest = 1 AND state < 4 AND due = 0 ORDER BY num LIMIT ?`, add, limit)
	if err != nil {
		return nil, err
	}
	err = t.c.each(bg, `SELECT num, size FROM (SELECT num, size FROM sources INDEXED BY sources_pending
		WHERE newest = 1 AND state < 4 AND due > 0 AND due <= ? ORDER BY due LIMIT ?) ORDER BY num LIMIT ?`,
		add, storerules.Micros(now), max(limit, maxDue), limit)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b storerules.Candidate) int { return cmp.Compare(a.Num, b.Num) })
	return out[:min(limit, len(out))], nil
}

// claim reads the content of a source for the worker. one holds the columns that were read before, or is nil. The caller stores the mark that claim returns.
func (t *tx) claim(num int64, one *claimed, token string, leaseUntil time.Time) (*backend.Claim, claimMark, error) {
	if one == nil {
		err := t.c.each(bg, claimSelect+" WHERE s.num = ?", func(r *row) error {
			one = readClaimed(r)
			return nil
		}, num)
		if err != nil {
			return nil, claimMark{}, err
		}
	}
	if one == nil {
		return nil, claimMark{}, fmt.Errorf("claim source %d: %w", num, backend.ErrCorrupt)
	}
	cl := &backend.Claim{Source: one.src, Blobs: one.blobs}
	var err error
	if cl.Blobs == nil {
		if cl.Blobs, err = readBlobs(bg, t.c, num); err != nil {
			return nil, claimMark{}, err
		}
	}
	if one.indexed {
		err = eachChunk(t.c, one.first, one.chunks, true, one.lane, nil, func(c *backend.Chunk) { cl.Chunks = append(cl.Chunks, *c) })
		if err != nil {
			return nil, claimMark{}, err
		}
	}
	state := cl.State
	if state == backend.Queued {
		state = backend.Processing
	}
	t.led.move(cl.State, state)
	cl.State, cl.Token, cl.LeaseUntil = state, token, storerules.Stamped(leaseUntil)
	cl.Attempts++
	due := max(storerules.DueFrom(leaseUntil), storerules.DueFrom(cl.NotBefore))
	return cl, claimMark{num, int64(state), cl.Attempts, due}, nil
}

func (s *store) Renew(ctx context.Context, token string, nums []int64, leaseUntil time.Time) error {
	return s.change(ctx, func(t *tx) error {
		for _, num := range nums {
			v, err := t.Held(num, token)
			if err != nil {
				return err
			}
			if v == nil {
				continue
			}
			err = t.c.do("UPDATE sources SET lease = ?, due = max(?, coalesce(not_before, 0)) WHERE num = ?",
				storerules.Stamp(leaseUntil), storerules.DueFrom(leaseUntil), num)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *store) Defer(ctx context.Context, items []backend.Deferred) error {
	return s.change(ctx, func(t *tx) error {
		for i := range items {
			f := &items[i]
			v, err := t.Held(f.Num, f.Token)
			if err != nil {
				return err
			}
			if v == nil {
				continue
			}
			if f.State < backend.Queued || f.State.Terminal() {
				return fmt.Errorf("defer %q: state %d is final or unknown", v.ID, f.State)
			}
			t.Move(v, f.State)
			err = t.c.do(`UPDATE sources SET state = ?, not_before = ?, due = ?, error_code = ?, error_message = ?,
				token = '', lease = NULL WHERE num = ?`, int64(f.State), storerules.Stamp(f.NotBefore), storerules.DueFrom(f.NotBefore),
				f.ErrorCode, f.ErrorMessage, f.Num)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *store) Backlog(ctx context.Context) (counts map[backend.State]int, next time.Time, err error) {
	err = s.readSettled(ctx, func(c *conn) error {
		l, err := readLedger(c)
		if err != nil {
			return err
		}
		counts = make(map[backend.State]int)
		for state, n := range l.states {
			if n != 0 {
				counts[backend.State(state)] = int(n)
			}
		}
		_, err = c.one(ctx, `SELECT due FROM sources INDEXED BY sources_pending
			WHERE newest = 1 AND state < 4 ORDER BY due LIMIT 1`, func(r *row) error {
			next = r.time(0) // 0 means any time, and becomes 1970
			return nil
		})
		return err
	})
	if err != nil {
		return nil, time.Time{}, err
	}
	return counts, next, nil
}

var _ backend.ErrorCounter = (*store)(nil)

// ErrorCodes implements [backend.ErrorCounter]. It reads only errored items.
func (s *store) ErrorCodes(ctx context.Context) (counts map[string]int, err error) {
	err = s.readSettled(ctx, func(c *conn) error {
		counts = map[string]int{}
		return c.each(ctx, `SELECT error_code, count(*) FROM sources INDEXED BY sources_errored WHERE part > 0 AND newest = 1 AND state = 5 GROUP BY error_code`,
			func(r *row) error {
				counts[r.str(0)] = int(r.int(1))
				return nil
			})
	})
	return counts, err
}

func (s *store) Requeue(ctx context.Context, part backend.Partition, id string) error {
	return s.change(ctx, func(t *tx) error { return t.Requeue(part, id) })
}
