package webhook

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
)

const (
	defaultPage = 20
	maxPage     = 100
)

// List returns a page of an organisation's deliveries, newest first, and the cursor of the next page. limit is 1 to 100;
// 0 means 20.
func (e *Engine) List(ctx context.Context, op, org string, status backend.DeliveryStatus, limit int, cursor string) ([]backend.Delivery, string, error) {
	if limit == 0 {
		limit = defaultPage
	}
	if limit < 1 || limit > maxPage {
		return nil, "", fault.Fieldf(op, fault.KindInvalid, fault.Delivery, "Limit", "must be between 1 and %d", maxPage)
	}
	switch status {
	case "", backend.DeliveryPending, backend.DeliverySweeping, backend.DeliveryDelivered, backend.DeliveryFailed, backend.DeliveryPermanentlyFailed:
	default:
		return nil, "", fault.Fieldf(op, fault.KindInvalid, fault.Delivery, "Status", "unknown status %q", fault.ShortID(string(status)))
	}
	var before int64
	if cursor != "" {
		digits, ok := strings.CutPrefix(cursor, "c")
		n, err := strconv.ParseInt(digits, 36, 64)
		if err != nil || n < 1 || !ok {
			return nil, "", fault.Fieldf(op, fault.KindInvalid, fault.Delivery, "Cursor", "is not one that was handed out")
		}
		before = n
	}
	ds, err := e.reg.Deliveries(ctx, backend.DeliveryQuery{Org: org, Status: status, Before: before, Limit: limit + 1})
	if err != nil {
		return nil, "", fault.Wrap(op, fault.Delivery, "", err)
	}
	if len(ds) <= limit {
		return ds, "", nil
	}
	ds = ds[:limit]
	return ds, "c" + strconv.FormatInt(ds[limit-1].Num, 36), nil
}

// Delivery returns one delivery. It returns fault.ErrNotFound if the organisation has no delivery with the id.
func (e *Engine) Delivery(ctx context.Context, op, org, id string) (backend.Delivery, error) {
	d, err := e.reg.Delivery(ctx, org, id)
	return d, deliveryError(op, id, err)
}

// Retry queues a failed delivery again. It returns fault.ErrConflict if the delivery is in another state.
func (e *Engine) Retry(ctx context.Context, op, org, id string) error {
	err := e.reg.RequeueDelivery(ctx, org, id, time.Now().UTC())
	if errors.Is(err, backend.ErrConflict) {
		return &fault.Error{Op: op, Kind: fault.KindConflict, Resource: fault.Delivery, ID: fault.ShortID(id), Err: errors.New("only a failed delivery can be retried")}
	}
	if err == nil {
		e.sender.kick()
	}
	return deliveryError(op, id, err)
}

func deliveryError(op, id string, err error) error {
	if errors.Is(err, backend.ErrNotFound) {
		return &fault.Error{Op: op, Kind: fault.KindNotFound, Resource: fault.Delivery, ID: fault.ShortID(id), Err: errors.New("delivery not found")}
	}
	return fault.Wrap(op, fault.Delivery, id, err)
}
