package storerules

import (
	"fmt"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// Columns reads the columns of a row by their index in the statement, counted from 0.
type Columns struct {
	Int  func(i int) int64
	Text func(i int) string
	Blob func(i int) []byte
	Time func(i int) time.Time // the zero time if the column is null
}

// TenantColumns are the columns that [Columns.Tenant] reads.
const TenantColumns = "uid, org, id, state, error, created, data, rev, wake"

// Tenant reads a tenant.
func (c Columns) Tenant() backend.Tenant {
	return backend.Tenant{
		UID: c.Text(0), Org: c.Text(1), ID: c.Text(2), State: backend.TenantState(c.Text(3)), Error: c.Text(4),
		CreatedAt: c.Time(5), Data: c.Blob(6), Rev: c.Int(7), Wake: c.Time(8),
	}
}

// RecordColumns are the columns that [Columns.Record] reads.
const RecordColumns = "kind, org, id, rev, data"

// Record reads a record.
func (c Columns) Record() backend.Record {
	return backend.Record{Kind: c.Text(0), Org: c.Text(1), ID: c.Text(2), Rev: c.Int(3), Data: c.Blob(4)}
}

// DeliveryColumns are the columns that [Columns.Delivery] reads.
const DeliveryColumns = `num, id, org, url, event, item, database, tenant_uid, collection, indexing_status, status,
	attempts, error_code, error_message, last_error, last_status, payload, created, updated, next_attempt, lease, token`

// Delivery reads a delivery.
func (c Columns) Delivery() backend.Delivery {
	return backend.Delivery{
		Num: c.Int(0), ID: c.Text(1), Org: c.Text(2), URL: c.Text(3), Event: c.Text(4), ItemID: c.Text(5),
		Database: c.Text(6), TenantUID: c.Text(7), Collection: c.Text(8), IndexingStatus: c.Text(9),
		Status: backend.DeliveryStatus(c.Text(10)), Attempts: int(c.Int(11)), ErrorCode: c.Text(12),
		ErrorMessage: c.Text(13), LastError: c.Text(14), LastStatusCode: int(c.Int(15)), Payload: c.Blob(16),
		CreatedAt: c.Time(17), UpdatedAt: c.Time(18), NextAttempt: c.Time(19), LeaseUntil: c.Time(20), Token: c.Text(21),
	}
}

// CheckUpdate returns an error unless t may replace the stored tenant with its UID, which has the given state and revision. found reports whether
// there is a stored one.
func CheckUpdate(t *backend.Tenant, found bool, state backend.TenantState, rev int64) error {
	switch {
	case !found:
		return fmt.Errorf("update tenant %q: %w", t.ID, backend.ErrNotFound)
	case rev != t.Rev:
		return fmt.Errorf("update tenant %q: revision %d, not %d: %w", t.ID, rev, t.Rev, backend.ErrConflict)
	case state == backend.TenantDeleting && t.State != backend.TenantDeleting:
		return fmt.Errorf("update tenant %q: it is being deleted: %w", t.ID, backend.ErrConflict)
	}
	return nil
}

// NotForgotten returns the reason why no tenant was forgotten. found reports whether the tenant exists.
func NotForgotten(found bool) error {
	if found {
		return fmt.Errorf("forget tenant: it is not being deleted: %w", backend.ErrConflict)
	}
	return fmt.Errorf("forget tenant: %w", backend.ErrNotFound)
}

// CheckRecord returns an error unless a record may replace the stored one, which has revision rev; 0: there is none.
func CheckRecord(w *backend.RecordWrite, rev int64) error {
	switch {
	case w.IfRev == -1:
	case w.IfRev == 0 && rev != 0:
		return backend.ErrExists
	case w.IfRev != 0 && rev == 0:
		return backend.ErrNotFound
	case rev != w.IfRev:
		return backend.ErrConflict
	}
	return nil
}

// DueAt returns the time from which on a delivery can be claimed, as a column in microseconds since 1970. It is [Never] for a delivery
// that can be claimed at once, and nil for one that can never be claimed.
func DueAt(status backend.DeliveryStatus, next, lease time.Time) any {
	switch status {
	case backend.DeliveryPending, backend.DeliveryFailed:
		return Micros(next)
	case backend.DeliverySweeping:
		return Micros(lease)
	default:
		return nil
	}
}

// DueTime returns the time of a column of [DueAt]. For a delivery that can be claimed at once it is not the zero time, which means never.
func DueTime(due int64) time.Time {
	if due == Never {
		return time.Unix(0, 0).UTC()
	}
	return time.UnixMicro(due).UTC()
}

// Room returns the number of deliveries that a claim may take of a URL that has underWay claimed ones.
func Room(c *backend.DeliveryClaim, underWay int) int {
	if c.PerURL > 0 {
		return min(c.Limit, c.PerURL-underWay)
	}
	return c.Limit
}

// CheckOrg returns [backend.ErrNotFound] if a delivery belongs to another organisation.
func CheckOrg(d *backend.Delivery, org string) error {
	if d.Org != org {
		return backend.ErrNotFound
	}
	return nil
}

// CheckFinish returns an error unless the claim with a token may finish a delivery.
func CheckFinish(d *backend.Delivery, token string) error {
	if d.Status != backend.DeliverySweeping || d.Token != token {
		return fmt.Errorf("claim lost: %w", backend.ErrConflict)
	}
	return nil
}

// CheckRequeue returns an error unless an organisation may requeue a delivery.
func CheckRequeue(d *backend.Delivery, org string) error {
	if err := CheckOrg(d, org); err != nil {
		return err
	}
	if d.Status != backend.DeliveryFailed && d.Status != backend.DeliveryPermanentlyFailed {
		return fmt.Errorf("it is %s: %w", d.Status, backend.ErrConflict)
	}
	return nil
}

// AddSub adds the items of a partition to a list of sub-tenants. It must be called for partitions in order of their sub-tenants. It skips
// partitions without items.
func AddSub(subs []backend.SubInfo, class backend.Class, sub string, items int) []backend.SubInfo {
	if items <= 0 {
		return subs
	}
	if len(subs) == 0 || subs[len(subs)-1].Sub != sub {
		subs = append(subs, backend.SubInfo{Sub: sub})
	}
	info := &subs[len(subs)-1]
	switch class {
	case backend.Knowledge:
		info.Knowledge = items
	case backend.Memory:
		info.Memory = items
	case backend.Raw:
		info.Raw = items
	}
	return subs
}
