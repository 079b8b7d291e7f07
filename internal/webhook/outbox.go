package webhook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/uid"
)

const eventBatch = 1000

// Outbox is where a workspace keeps events until they are handed over.
type Outbox interface {
	// Events returns the oldest events, at most limit.
	Events(ctx context.Context, limit int) ([]backend.Event, error)
	// Acknowledge drops the events up to and including seq.
	Acknowledge(ctx context.Context, seq int64) error
}

// HandOver moves the events of a tenant's workspace to the deliveries. The ids are derived from
// the event, so a crash between the two stores makes no second record.
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
			ds := make([]backend.Delivery, len(events))
			for i, ev := range events {
				if ds[i], err = e.delivery(t, w.reg.URL, ev); err != nil {
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

func (e *Engine) delivery(t backend.Tenant, url string, ev backend.Event) (backend.Delivery, error) {
	h := sha256.Sum256([]byte(t.UID + "/" + strconv.FormatInt(ev.Seq, 10)))
	now := time.Now().UTC()
	d := backend.Delivery{ID: "dlv_" + hex.EncodeToString(h[:16]), Org: t.Org, URL: url, Event: StatusChanged, ItemID: ev.ItemID, Database: t.ID, TenantUID: t.UID,
		Collection: ev.Part.Sub, IndexingStatus: e.cfg.Status(ev.Status), Status: backend.DeliveryPending, ErrorCode: ev.ErrorCode, ErrorMessage: ev.ErrorMessage,
		CreatedAt: now, UpdatedAt: now, NextAttempt: now}
	var err error
	d.Payload, err = e.cfg.Encode(Event{Name: d.Event, DeliveryID: d.ID, ItemID: d.ItemID, Database: d.Database, TenantUID: d.TenantUID, Collection: d.Collection,
		Status: d.IndexingStatus, ErrorCode: d.ErrorCode, ErrorMessage: d.ErrorMessage, At: now})
	return d, err
}

// TestResult is the outcome of a test delivery.
type TestResult struct {
	Status  int    // of the answer; 0: none
	Problem string // empty: delivered
}

// Test sends a synthetic delivery now. It makes no record. fault.ErrNotFound without a registration.
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
