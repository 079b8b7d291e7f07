package postgres

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

func (g *registry) AddDeliveries(ctx context.Context, ds []backend.Delivery) error {
	return g.change(ctx, everything, func(c *conn) error {
		for i := range ds {
			d := &ds[i]
			err := c.do(`INSERT INTO deliveries (id_hash, org_hash, url_hash, id, org, url, event, item, database, tenant_uid, collection,
				indexing_status, status, attempts, error_code, error_message, last_error, last_status, payload,
				created, updated, next_attempt, lease, token, due)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25)
				ON CONFLICT (id_hash) DO NOTHING`,
				hashOf(d.ID), hashOf(d.Org), hashOf(d.URL), d.ID, d.Org, d.URL, d.Event, d.ItemID, d.Database, d.TenantUID, d.Collection,
				d.IndexingStatus, plain(d.Status), d.Attempts, d.ErrorCode, d.ErrorMessage, d.LastError, d.LastStatusCode,
				d.Payload, storerules.Stamp(d.CreatedAt), storerules.Stamp(d.UpdatedAt), storerules.Stamp(d.NextAttempt), storerules.Stamp(d.LeaseUntil), d.Token,
				storerules.DueAt(d.Status, d.NextAttempt, d.LeaseUntil))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// claimLock is the advisory lock that serialises claims of deliveries by all processes, since the limits per URL and organisation count
// the claimed deliveries of all processes.
const claimLock = 0x636d6477 // "cmdw"

func (g *registry) ClaimDeliveries(ctx context.Context, claim backend.DeliveryClaim) (out []backend.Delivery, err error) {
	if claim.Limit <= 0 {
		return nil, ctx.Err()
	}
	err = g.change(ctx, everything, func(c *conn) error {
		out = nil
		if err := c.do("SELECT pg_advisory_xact_lock($1)", int64(claimLock)); err != nil {
			return err
		}
		underWay, err := underWay(c, claim.Now)
		if err != nil {
			return err
		}
		due, err := dueDeliveries(c, claim, underWay)
		if err != nil || len(due) == 0 {
			return err
		}
		chosen := claim.Choose(due, underWay)
		nums, at := make([]int64, len(chosen)), make(map[int64]int, len(chosen))
		for i, d := range chosen {
			nums[i], at[d.Num] = d.Num, i
		}
		out = make([]backend.Delivery, len(chosen))
		return c.each(bg, `UPDATE deliveries SET status = 'sweeping', token = $2, lease = $3, due = $4 WHERE num = ANY($1) RETURNING `+storerules.DeliveryColumns, func(r *row) error {
			out[at[r.int(0)]] = columns(r).Delivery()
			return nil
		}, nums, claim.Token, storerules.Stamp(claim.LeaseUntil), storerules.Micros(claim.LeaseUntil))
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// underWay reads the deliveries with a live lease. Their number is limited by the number of concurrent senders.
func underWay(c *conn, now time.Time) (out []backend.DueDelivery, err error) {
	err = c.each(bg, `SELECT num, org, url FROM deliveries WHERE status = 'sweeping' AND due > $1`, func(r *row) error {
		out = append(out, backend.DueDelivery{Num: r.int(0), Org: r.str(1), URL: r.str(2)})
		return nil
	}, storerules.Micros(now))
	return out, err
}

// dueDeliveries locks due deliveries URL by URL, and no more of a URL than a claim can take. Thousands of deliveries that wait for
// one URL therefore do not delay the others.
func dueDeliveries(c *conn, claim backend.DeliveryClaim, underWay []backend.DueDelivery) (found []backend.DueDelivery, err error) {
	taken := make(map[[16]byte]int, len(underWay))
	for _, d := range underWay {
		taken[unhash(hashOf(d.URL))]++
	}
	skip := make(map[[16]byte]bool, len(claim.Skip))
	for _, url := range claim.Skip {
		skip[unhash(hashOf(url))] = true
	}
	var urls [][]byte
	var room []int64
	err = c.each(bg, `WITH RECURSIVE u (url_hash) AS (
		(SELECT url_hash FROM deliveries WHERE due IS NOT NULL ORDER BY url_hash LIMIT 1)
		UNION ALL
		SELECT (SELECT d.url_hash FROM deliveries d WHERE d.due IS NOT NULL AND d.url_hash > u.url_hash ORDER BY d.url_hash LIMIT 1) FROM u WHERE u.url_hash IS NOT NULL)
		SELECT url_hash FROM u WHERE url_hash IS NOT NULL`, func(r *row) error {
		url := unhash(r.blob(0))
		if left := storerules.Room(&claim, taken[url]); left > 0 && !skip[url] {
			urls, room = append(urls, r.blob(0)), append(room, int64(left))
		}
		return nil
	})
	if err != nil || len(urls) == 0 {
		return nil, err
	}
	err = c.each(bg, `SELECT d.num, d.org, d.due, d.url FROM unnest($1::bytea[], $2::bigint[]) u (url_hash, room) CROSS JOIN LATERAL (
			SELECT x.num, x.org, x.due, x.url FROM deliveries x WHERE x.due IS NOT NULL AND x.url_hash = u.url_hash AND x.due <= $3
			ORDER BY x.due, x.num LIMIT u.room FOR UPDATE SKIP LOCKED) d`, func(r *row) error {
		found = append(found, backend.DueDelivery{Num: r.int(0), Org: r.str(1), URL: r.str(3), Due: time.UnixMicro(r.int(2))})
		return nil
	}, urls, room, storerules.Micros(claim.Now))
	return found, err
}

// deliveryState reads a delivery by its id.
func deliveryState(ctx context.Context, c *conn, id, more string) (d backend.Delivery, err error) {
	found, err := c.one(ctx, "SELECT "+storerules.DeliveryColumns+" FROM deliveries WHERE id_hash = $1"+more, func(r *row) error {
		d = columns(r).Delivery()
		return nil
	}, hashOf(id))
	if err == nil && !found {
		err = backend.ErrNotFound
	}
	return d, err
}

func (g *registry) FinishDelivery(ctx context.Context, f backend.Delivery) error {
	return g.change(ctx, everything, func(c *conn) error {
		d, err := deliveryState(bg, c, f.ID, " FOR UPDATE")
		if err == nil {
			err = storerules.CheckFinish(&d, f.Token)
		}
		if err != nil {
			return fmt.Errorf("finish delivery %q: %w", f.ID, err)
		}
		return c.do(`UPDATE deliveries SET status = $1, attempts = $2, error_code = $3, error_message = $4, last_error = $5, last_status = $6,
			next_attempt = $7, updated = $8, token = '', lease = NULL, due = $9 WHERE num = $10`,
			plain(f.Status), f.Attempts, f.ErrorCode, f.ErrorMessage, f.LastError, f.LastStatusCode,
			storerules.Stamp(f.NextAttempt), storerules.Stamp(f.UpdatedAt), storerules.DueAt(f.Status, f.NextAttempt, time.Time{}), d.Num)
	})
}

func (g *registry) RequeueDelivery(ctx context.Context, org, id string, now time.Time) error {
	return g.change(ctx, ofOrg(org), func(c *conn) error {
		d, err := deliveryState(bg, c, id, " FOR UPDATE")
		if err == nil {
			err = storerules.CheckRequeue(&d, org)
		}
		if err != nil {
			return fmt.Errorf("requeue delivery %q: %w", id, err)
		}
		return c.do("UPDATE deliveries SET status = 'pending', next_attempt = $1, updated = $1, due = $2 WHERE num = $3",
			storerules.Stamp(now), storerules.Micros(now), d.Num)
	})
}

func (g *registry) Delivery(ctx context.Context, org, id string) (d backend.Delivery, err error) {
	err = g.query(ctx, ofOrg(org), func(c *conn) error {
		d, err = deliveryState(ctx, c, id, "")
		if err == nil {
			err = storerules.CheckOrg(&d, org)
		}
		if err != nil {
			return fmt.Errorf("delivery %q: %w", id, err)
		}
		return nil
	})
	if err != nil {
		return backend.Delivery{}, err
	}
	return d, nil
}

func (g *registry) Deliveries(ctx context.Context, q backend.DeliveryQuery) (out []backend.Delivery, err error) {
	before := cmp.Or(q.Before, math.MaxInt64)
	where, args := "", []any{hashOf(q.Org), before, max(q.Limit, 0)}
	if q.Status != "" {
		where, args = " AND status = $4", append(args, plain(q.Status))
	}
	err = g.query(ctx, ofOrg(q.Org), func(c *conn) error {
		out = nil
		return c.each(ctx, "SELECT "+storerules.DeliveryColumns+" FROM deliveries WHERE org_hash = $1 AND num < $2"+where+" ORDER BY num DESC LIMIT $3", func(r *row) error {
			out = append(out, columns(r).Delivery())
			return nil
		}, args...)
	})
	return out, err
}

func (g *registry) NextDelivery(ctx context.Context) (next time.Time, err error) {
	err = g.query(ctx, everything, func(c *conn) error {
		next = time.Time{}
		_, err := c.one(ctx, "SELECT due FROM deliveries WHERE due IS NOT NULL ORDER BY due LIMIT 1", func(r *row) error {
			next = storerules.DueTime(r.int(0))
			return nil
		})
		return err
	})
	return next, err
}

func (g *registry) PruneDeliveries(ctx context.Context, before time.Time, limit int) (n int, err error) {
	err = g.change(ctx, everything, func(c *conn) error {
		gone, err := c.exec(bg, `DELETE FROM deliveries WHERE num IN (
			SELECT num FROM deliveries WHERE due IS NULL AND (updated IS NULL OR updated < $1) ORDER BY updated NULLS FIRST LIMIT $2 FOR UPDATE SKIP LOCKED)`, storerules.Micros(before), max(limit, 0))
		n = int(gone)
		return err
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}
