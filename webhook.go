package contextmem

import (
	"context"
	"iter"
	"time"
)

// EventStatusChanged is sent when an item reaches Completed or Errored.
const EventStatusChanged = "indexing.status_changed"

// Headers of a webhook delivery.
const (
	HeaderDeliveryID = "X-Service-Delivery-ID"
	HeaderEvent      = "X-Service-Event"
	HeaderSignature  = "X-Service-Signature"
	// HeaderPreviousSignature is a signature with the secret before the last rotation; see Options.WebhookSecretOverlap.
	HeaderPreviousSignature = "X-Service-Signature-Previous"
)

// WebhookSpec registers a receiver for an organisation's events.
type WebhookSpec struct {
	URL            string   // public https
	EventTypes     []string // nil: EventStatusChanged; empty but not nil is refused
	Secret         string   // at least 16 characters; empty keeps a stored one
	GenerateSecret bool     // not together with Secret
}

// Webhook is a registration.
type Webhook struct {
	Registered       bool
	URL              string
	EventTypes       []string
	SecretConfigured bool
	Secret           string // a generated secret, in the answer that generated it only
}

// DeliveryStatus is where a delivery stands.
type DeliveryStatus string

// States of a delivery.
const (
	DeliveryPending           DeliveryStatus = "pending"
	DeliverySweeping          DeliveryStatus = "sweeping"
	DeliveryDelivered         DeliveryStatus = "delivered"
	DeliveryFailed            DeliveryStatus = "failed"
	DeliveryPermanentlyFailed DeliveryStatus = "permanently_failed"
)

// Delivery is one event on its way to the receiver.
type Delivery struct {
	ID             string
	ItemID         string
	URL            string // registered when the delivery was created
	Event          string
	Status         DeliveryStatus
	IndexingStatus Status
	Attempts       int
	ErrorCode      string
	ErrorMessage   string
	LastError      string // what the last failed attempt met
	LastStatusCode int
	CreatedAt      time.Time
	UpdatedAt      time.Time
	NextAttempt    time.Time // zero when none is planned
}

// DeliveriesRequest asks for a page of deliveries, newest first.
type DeliveriesRequest struct {
	Status DeliveryStatus // empty: all
	Limit  int            // 1 to 100; default 20
	Cursor string         // from the previous page
}

// DeliveriesPage is a page of deliveries.
type DeliveriesPage struct {
	Deliveries []Delivery
	Next       string // cursor of the next page; empty: none
}

// WebhookTest is the outcome of a test delivery.
type WebhookTest struct {
	Delivered  bool
	StatusCode int // 0: no answer
	Message    string
}

// SetWebhook registers a receiver, replacing any other. The secret stays unless
// a new one is given or generated.
func (o Organisation) SetWebhook(ctx context.Context, spec WebhookSpec) (Webhook, error) {
	return o.svc.setWebhook(ctx, o.id, spec)
}

// Webhook returns the registration; Registered is false without one.
func (o Organisation) Webhook(ctx context.Context) (Webhook, error) { return o.svc.webhook(ctx, o.id) }

// DeleteWebhook removes the registration and its secret. ErrNotFound without one.
func (o Organisation) DeleteWebhook(ctx context.Context) error { return o.svc.deleteWebhook(ctx, o.id) }

// SetWebhookSecret replaces the signing secret at once; an empty one generates,
// and the answer shows it. ErrNotFound without a registration.
func (o Organisation) SetWebhookSecret(ctx context.Context, secret string) (Webhook, error) {
	return o.svc.setWebhookSecret(ctx, o.id, secret)
}

// DeleteWebhookSecret turns signing off. ErrNotFound without a registration.
func (o Organisation) DeleteWebhookSecret(ctx context.Context) (Webhook, error) {
	return o.svc.deleteWebhookSecret(ctx, o.id)
}

// TestWebhook sends a synthetic delivery now. It makes no record. ErrNotFound without a registration.
func (o Organisation) TestWebhook(ctx context.Context) (WebhookTest, error) {
	return o.svc.testWebhook(ctx, o.id)
}

// ListDeliveries returns a page of deliveries.
func (o Organisation) ListDeliveries(ctx context.Context, r DeliveriesRequest) (DeliveriesPage, error) {
	return o.svc.listDeliveries(ctx, o.id, r)
}

// Deliveries yields deliveries, newest first.
func (o Organisation) Deliveries(ctx context.Context, status DeliveryStatus) iter.Seq2[Delivery, error] {
	return func(yield func(Delivery, error) bool) {
		r := DeliveriesRequest{Status: status, Limit: 100}
		for {
			p, err := o.ListDeliveries(ctx, r)
			if err != nil {
				yield(Delivery{}, err)
				return
			}
			for _, d := range p.Deliveries {
				if !yield(d, nil) {
					return
				}
			}
			if r.Cursor = p.Next; r.Cursor == "" {
				return
			}
		}
	}
}

// Delivery returns one delivery. ErrNotFound when the organisation has none of that id.
func (o Organisation) Delivery(ctx context.Context, id string) (Delivery, error) {
	return o.svc.delivery(ctx, o.id, id)
}

// RetryDelivery queues a failed delivery again. ErrConflict in any other state.
func (o Organisation) RetryDelivery(ctx context.Context, id string) error {
	return o.svc.retryDelivery(ctx, o.id, id)
}
