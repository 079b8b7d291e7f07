package inmem

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

func copyDelivery(d *backend.Delivery) backend.Delivery {
	c := *d
	c.Payload = slices.Clone(d.Payload)
	return c
}

// dueAt returns the time from which a delivery can be claimed. ok is false if the delivery can never be claimed.
func dueAt(d *backend.Delivery) (at time.Time, ok bool) {
	switch d.Status {
	case backend.DeliveryPending, backend.DeliveryFailed:
		return d.NextAttempt, true
	case backend.DeliverySweeping:
		return d.LeaseUntil, true
	}
	return time.Time{}, false
}

// noteOpen records whether a delivery can be claimed.
func (d *registryData) noteOpen(v *backend.Delivery) {
	if _, ok := dueAt(v); ok {
		d.open[v.ID] = v
	} else {
		delete(d.open, v.ID)
	}
}

func (r *registry) AddDeliveries(ctx context.Context, ds []backend.Delivery) error {
	return r.write(ctx, func(d *registryData) error {
		for i := range ds {
			if _, ok := d.deliveries[ds[i].ID]; ok {
				continue
			}
			c := copyDelivery(&ds[i])
			d.lastNum++
			c.Num = d.lastNum
			c.CreatedAt, c.UpdatedAt = storerules.Stamped(c.CreatedAt), storerules.Stamped(c.UpdatedAt)
			c.NextAttempt, c.LeaseUntil = storerules.Stamped(c.NextAttempt), storerules.Stamped(c.LeaseUntil)
			d.deliveries[c.ID] = &c
			d.noteOpen(&c)
		}
		return nil
	})
}

func (r *registry) ClaimDeliveries(ctx context.Context, c backend.DeliveryClaim) (out []backend.Delivery, err error) {
	err = r.write(ctx, func(d *registryData) error {
		var due, underWay []backend.DueDelivery
		byNum := map[int64]*backend.Delivery{}
		for _, v := range d.open {
			x := backend.DueDelivery{Num: v.Num, Org: v.Org, URL: v.URL}
			if v.Status == backend.DeliverySweeping && v.LeaseUntil.After(c.Now) {
				underWay = append(underWay, x)
			}
			if at, ok := dueAt(v); ok && !at.After(c.Now) {
				x.Due, byNum[v.Num] = at, v
				due = append(due, x)
			}
		}
		for _, x := range c.Choose(due, underWay) {
			v := byNum[x.Num]
			v.Status, v.Token, v.LeaseUntil = backend.DeliverySweeping, c.Token, storerules.Stamped(c.LeaseUntil)
			out = append(out, copyDelivery(v))
		}
		return nil
	})
	return out, err
}

func (r *registry) FinishDelivery(ctx context.Context, f backend.Delivery) error {
	return r.write(ctx, func(d *registryData) error {
		v, ok := d.deliveries[f.ID]
		if !ok {
			return fmt.Errorf("finish delivery %q: %w", f.ID, backend.ErrNotFound)
		}
		if v.Status != backend.DeliverySweeping || v.Token != f.Token {
			return fmt.Errorf("finish delivery %q: claim lost: %w", f.ID, backend.ErrConflict)
		}
		v.Status, v.Attempts, v.ErrorCode, v.ErrorMessage = f.Status, f.Attempts, f.ErrorCode, f.ErrorMessage
		v.LastError, v.LastStatusCode = f.LastError, f.LastStatusCode
		v.NextAttempt, v.UpdatedAt = storerules.Stamped(f.NextAttempt), storerules.Stamped(f.UpdatedAt)
		v.Token, v.LeaseUntil = "", time.Time{}
		d.noteOpen(v)
		return nil
	})
}

func (r *registry) RequeueDelivery(ctx context.Context, org, id string, now time.Time) error {
	return r.write(ctx, func(d *registryData) error {
		v, ok := d.deliveries[id]
		if !ok || v.Org != org {
			return fmt.Errorf("requeue delivery %q: %w", id, backend.ErrNotFound)
		}
		if v.Status != backend.DeliveryFailed && v.Status != backend.DeliveryPermanentlyFailed {
			return fmt.Errorf("requeue delivery %q: it is %s: %w", id, v.Status, backend.ErrConflict)
		}
		v.Status, v.NextAttempt, v.UpdatedAt = backend.DeliveryPending, storerules.Stamped(now), storerules.Stamped(now)
		d.noteOpen(v)
		return nil
	})
}

func (r *registry) Delivery(ctx context.Context, org, id string) (out backend.Delivery, err error) {
	err = r.read(ctx, func(d *registryData) error {
		v, ok := d.deliveries[id]
		if !ok || v.Org != org {
			return fmt.Errorf("delivery %q: %w", id, backend.ErrNotFound)
		}
		out = copyDelivery(v)
		return nil
	})
	return out, err
}

func (r *registry) Deliveries(ctx context.Context, q backend.DeliveryQuery) (out []backend.Delivery, err error) {
	err = r.read(ctx, func(d *registryData) error {
		for _, v := range d.deliveries {
			if v.Org == q.Org && (q.Status == "" || v.Status == q.Status) && (q.Before == 0 || v.Num < q.Before) {
				out = append(out, copyDelivery(v))
			}
		}
		return nil
	})
	slices.SortFunc(out, func(a, b backend.Delivery) int { return cmp.Compare(b.Num, a.Num) })
	return firstN(out, q.Limit), err
}

func (r *registry) NextDelivery(ctx context.Context) (next time.Time, err error) {
	err = r.read(ctx, func(d *registryData) error {
		for _, v := range d.open {
			if at, ok := dueAt(v); ok {
				next = earliest(next, atOrEpoch(at))
			}
		}
		return nil
	})
	return next, err
}

func (r *registry) PruneDeliveries(ctx context.Context, before time.Time, limit int) (n int, err error) {
	err = r.write(ctx, func(d *registryData) error {
		for id, v := range d.deliveries {
			if n >= limit {
				break
			}
			done := v.Status == backend.DeliveryDelivered || v.Status == backend.DeliveryPermanentlyFailed
			if done && v.UpdatedAt.Before(before) {
				delete(d.deliveries, id)
				n++
			}
		}
		return nil
	})
	return n, err
}
