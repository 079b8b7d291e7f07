package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

func (g *registry) AddDeliveries(ctx context.Context, ds []backend.Delivery) error {
	return g.change(ctx, func(c *conn) error {
		for i := range ds {
			d := &ds[i]
			err := c.do(`INSERT INTO deliveries (id, org, url, event, item, database, tenant_uid, collection,
				indexing_status, status, attempts, error_code, error_message, last_error, last_status, payload,
				created, updated, next_attempt, lease, token, due)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
				d.ID, d.Org, d.URL, d.Event, d.ItemID, d.Database, d.TenantUID, d.Collection,
				d.IndexingStatus, string(d.Status), d.Attempts, d.ErrorCode, d.ErrorMessage, d.LastError, d.LastStatusCode,
				d.Payload, storerules.Stamp(d.CreatedAt), storerules.Stamp(d.UpdatedAt), storerules.Stamp(d.NextAttempt), storerules.Stamp(d.LeaseUntil), d.Token,
				storerules.DueAt(d.Status, d.NextAttempt, d.LeaseUntil))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (g *registry) ClaimDeliveries(ctx context.Context, claim backend.DeliveryClaim) (out []backend.Delivery, err error) {
	if claim.Limit <= 0 {
		return nil, ctx.Err()
	}
	err = g.change(ctx, func(c *conn) error {
		underWay, err := underWay(ctx, c, claim.Now)
		if err != nil {
			return err
		}
		due, err := dueDeliveries(ctx, c, claim, underWay)
		if err != nil {
			return err
		}
		for _, d := range claim.Choose(due, underWay) {
			err := c.do(`UPDATE deliveries SET status = 'sweeping', token = ?, lease = ?, due = ? WHERE num = ?`,
				claim.Token, storerules.Stamp(claim.LeaseUntil), storerules.Micros(claim.LeaseUntil), d.Num)
			if err != nil {
				return err
			}
			_, err = c.one(ctx, "SELECT "+storerules.DeliveryColumns+" FROM deliveries WHERE num = ?", func(r *row) error {
				out = append(out, columns(r).Delivery())
				return nil
			}, d.Num)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// underWay reads the deliveries with live leases, which senders are working on.
func underWay(ctx context.Context, c *conn, now time.Time) (out []backend.DueDelivery, err error) {
	err = c.each(ctx, `SELECT num, org, url FROM deliveries INDEXED BY deliveries_sweeping WHERE status = 'sweeping' AND due > ?`, func(r *row) error {
		out = append(out, backend.DueDelivery{Num: r.int(0), Org: r.str(1), URL: r.str(2)})
		return nil
	}, storerules.Micros(now))
	return out, err
}

// dueDeliveries reads due deliveries URL by URL, and no more of a URL than a claim can take. Thousands of
// deliveries that wait for one URL therefore do not delay the others.
func dueDeliveries(ctx context.Context, c *conn, claim backend.DeliveryClaim, underWay []backend.DueDelivery) (found []backend.DueDelivery, err error) {
	var urls []string
	err = c.each(ctx, `WITH RECURSIVE u (url) AS (
		SELECT min(url) FROM deliveries WHERE due IS NOT NULL
		UNION ALL
		SELECT (SELECT min(url) FROM deliveries WHERE due IS NOT NULL AND url > u.url) FROM u WHERE u.url IS NOT NULL)
		SELECT url FROM u WHERE url IS NOT NULL`, func(r *row) error {
		urls = append(urls, r.str(0))
		return nil
	})
	if err != nil {
		return nil, err
	}
	taken := make(map[string]int, len(underWay))
	for _, d := range underWay {
		taken[d.URL]++
	}
	for _, url := range urls {
		room := storerules.Room(&claim, taken[url])
		if room <= 0 || slices.Contains(claim.Skip, url) {
			continue
		}
		err := c.each(ctx, `SELECT num, org, due FROM deliveries INDEXED BY deliveries_url
			WHERE due IS NOT NULL AND url = ? AND due <= ? ORDER BY due, num LIMIT ?`, func(r *row) error {
			found = append(found, backend.DueDelivery{Num: r.int(0), Org: r.str(1), URL: url, Due: time.UnixMicro(r.int(2))})
			return nil
		}, url, storerules.Micros(claim.Now), room)
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// deliveryState reads a delivery by its id.
func deliveryState(ctx context.Context, c *conn, id string) (d backend.Delivery, err error) {
	found, err := c.one(ctx, "SELECT "+storerules.DeliveryColumns+" FROM deliveries WHERE id = ?", func(r *row) error {
		d = columns(r).Delivery()
		return nil
	}, id)
	if err == nil && !found {
		err = backend.ErrNotFound
	}
	return d, err
}

func (g *registry) FinishDelivery(ctx context.Context, f backend.Delivery) error {
	return g.change(ctx, func(c *conn) error {
		d, err := deliveryState(ctx, c, f.ID)
		if err == nil {
			err = storerules.CheckFinish(&d, f.Token)
		}
		if err != nil {
			return fmt.Errorf("finish delivery %q: %w", f.ID, err)
		}
		return c.do(`UPDATE deliveries SET status = ?, attempts = ?, error_code = ?, error_message = ?, last_error = ?, last_status = ?,
			next_attempt = ?, updated = ?, token = '', lease = NULL, due = ? WHERE num = ?`,
			string(f.Status), f.Attempts, f.ErrorCode, f.ErrorMessage, f.LastError, f.LastStatusCode,
			storerules.Stamp(f.NextAttempt), storerules.Stamp(f.UpdatedAt), storerules.DueAt(f.Status, f.NextAttempt, time.Time{}), d.Num)
	})
}

func (g *registry) RequeueDelivery(ctx context.Context, org, id string, now time.Time) error {
	return g.change(ctx, func(c *conn) error {
		d, err := deliveryState(ctx, c, id)
		if err == nil {
			err = storerules.CheckRequeue(&d, org)
		}
		if err != nil {
			return fmt.Errorf("requeue delivery %q: %w", id, err)
		}
		return c.do("UPDATE deliveries SET status = 'pending', next_attempt = ?, updated = ?, due = ? WHERE num = ?",
			storerules.Stamp(now), storerules.Stamp(now), storerules.Micros(now), d.Num)
	})
}

func (g *registry) Delivery(ctx context.Context, org, id string) (d backend.Delivery, err error) {
	err = g.query(ctx, func(c *conn) error {
		d, err = deliveryState(ctx, c, id)
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
	sql := "SELECT " + storerules.DeliveryColumns + " FROM deliveries WHERE org = ? AND num < ? ORDER BY num DESC LIMIT ?"
	before := cmp.Or(q.Before, math.MaxInt64)
	args := []any{q.Org, before, max(q.Limit, 0)}
	if q.Status != "" {
		sql = "SELECT " + storerules.DeliveryColumns + " FROM deliveries WHERE org = ? AND num < ? AND status = ? ORDER BY num DESC LIMIT ?"
		args = []any{q.Org, before, string(q.Status), max(q.Limit, 0)}
	}
	err = g.query(ctx, func(c *conn) error {
		return c.each(ctx, sql, func(r *row) error {
			out = append(out, columns(r).Delivery())
			return nil
		}, args...)
	})
	return out, err
}

func (g *registry) NextDelivery(ctx context.Context) (next time.Time, err error) {
	err = g.query(ctx, func(c *conn) error {
		_, err := c.one(ctx, "SELECT due FROM deliveries WHERE due IS NOT NULL ORDER BY due LIMIT 1", func(r *row) error {
			next = storerules.DueTime(r.int(0))
			return nil
		})
		return err
	})
	return next, err
}

func (g *registry) PruneDeliveries(ctx context.Context, before time.Time, limit int) (n int, err error) {
	err = g.change(ctx, func(c *conn) error {
		gone, err := c.exec(`DELETE FROM deliveries WHERE num IN (
			SELECT num FROM deliveries INDEXED BY deliveries_done WHERE due IS NULL AND updated IS NULL
			UNION ALL SELECT num FROM deliveries INDEXED BY deliveries_done WHERE due IS NULL AND updated < ? LIMIT ?)`, storerules.Micros(before), max(limit, 0))
		n = int(gone)
		return err
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}
