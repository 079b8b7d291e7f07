package webhook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/uid"
)

const eventBatch = 1000

// Outbox holds the events of a workspace until HandOver moves them.
type Outbox interface {
	// Events returns at most limit events, oldest first.
	Events(ctx context.Context, limit int) ([]backend.Event, error)
	// Acknowledge drops all events up to and including seq.
	Acknowledge(ctx context.Context, seq int64) error
	// SourcesByNum returns versions in the order of nums, nil for deleted ones.
	SourcesByNum(ctx context.Context, nums []int64) ([]*backend.Source, error)
}

// HandOver moves the events of a tenant's workspace to the deliveries. Delivery ids are derived from
// events, so that a crash between the two stores makes no second delivery.
func (e *Engine) HandOver(ctx context.Context, t backend.Tenant, box Outbox) error {
	for {
		events, err := box.Events(ctx, eventBatch)
		if err != nil || len(events) == 0 {
			return err
		}
		w, err := e.read(ctx, t.Org)
		if err != nil {
			return err
		}
		if w.reg != nil {
			partial, err := partials(ctx, box, events)
			if err != nil {
				return err
			}
			ds := make([]backend.Delivery, len(events))
			for i, ev := range events {
				if ds[i], err = e.delivery(t, w.reg.URL, ev, partial[i]); err != nil {
					return err
				}
			}
			if err := e.reg.AddDeliveries(ctx, ds); err != nil {
				return err
			}
			e.sender.kick()
		}
		if err := box.Acknowledge(ctx, events[len(events)-1].Seq); err != nil {
			return err
		}
	}
}

// partials returns, for each event, why the text of its completed item may be incomplete; empty if it is complete.
func partials(ctx context.Context, box Outbox, events []backend.Event) ([]string, error) {
	nums := make([]int64, len(events))
	for i, ev := range events {
		nums[i] = ev.Source
	}
	srcs, err := box.SourcesByNum(ctx, nums)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(events))
	for i, src := range srcs {
		if src == nil || events[i].Status != backend.Completed {
			continue
		}
		out[i], _ = item.PartialOf(src.Doc) // a damaged record must not block events
	}
	return out, nil
}

func (e *Engine) delivery(t backend.Tenant, url string, ev backend.Event, partial string) (backend.Delivery, error) {
	name := t.UID + "/" + strconv.FormatInt(ev.Seq, 10)
	if ev.Epoch != 0 { // after an older copy of the store was restored, event numbers occur again
		name += "/" + strconv.FormatUint(ev.Epoch, 36)
	}
	h := sha256.Sum256([]byte(name))
	now := time.Now().UTC()
	d := backend.Delivery{ID: "dlv_" + hex.EncodeToString(h[:16]), Org: t.Org, URL: url, Event: StatusChanged, ItemID: ev.ItemID, Database: t.ID, TenantUID: t.UID,
		Collection: ev.Part.Sub, IndexingStatus: e.cfg.Status(ev.Status), Status: backend.DeliveryPending, ErrorCode: ev.ErrorCode, ErrorMessage: ev.ErrorMessage,
		CreatedAt: now, UpdatedAt: now, NextAttempt: now}
	var err error
	d.Payload, err = e.cfg.Encode(Event{Name: d.Event, DeliveryID: d.ID, ItemID: d.ItemID, Database: d.Database, TenantUID: d.TenantUID, Collection: d.Collection,
		Status: d.IndexingStatus, ErrorCode: d.ErrorCode, ErrorMessage: d.ErrorMessage, Partial: partial, At: now})
	return d, err
}

// TestResult is the result of a test delivery.
type TestResult struct {
	Status  int    // HTTP status of the answer; 0 without one
	Problem string // empty if delivered
}

// Test sends a synthetic delivery at once and stores no record of it. It returns fault.ErrNotFound if nothing is registered.
func (e *Engine) Test(ctx context.Context, op, org string) (TestResult, error) {
	t, ok, err := e.target(ctx, org)
	if err != nil {
		return TestResult{}, fault.Wrap(op, fault.Webhook, "", err)
	}
	if !ok {
		return TestResult{}, notRegistered(op)
	}
	ev := Event{Name: StatusChanged, DeliveryID: "test_" + uid.New(), ItemID: "test_document", Database: org, Collection: org, TenantUID: org,
		Status: e.cfg.Status(backend.Completed), At: time.Now().UTC(), Test: true}
	body, err := e.cfg.Encode(ev)
	if err != nil {
		return TestResult{}, fault.Wrap(op, fault.Webhook, "", err)
	}
	code, problem := e.sender.post(ctx, t, ev.DeliveryID, ev.Name, body)
	return TestResult{code, problem}, nil
}
