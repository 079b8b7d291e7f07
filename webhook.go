package contextmem

import (
	"context"
	"errors"
	"iter"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/netguard"
	"github.com/contextmem/contextmem/internal/paging"
	"github.com/contextmem/contextmem/internal/webhook"
	"github.com/contextmem/contextmem/internal/workspace"
)

// EventStatusChanged is sent when an item reaches Completed or Errored.
const EventStatusChanged = webhook.StatusChanged

// Headers of a webhook delivery.
const (
	HeaderDeliveryID = webhook.HeaderDeliveryID
	HeaderEvent      = webhook.HeaderEvent
	HeaderSignature  = webhook.HeaderSignature
	// HeaderPreviousSignature is a signature with the secret before the last rotation; see Options.WebhookSecretOverlap.
	HeaderPreviousSignature = webhook.HeaderPreviousSignature
)

// ErrSignature is returned by VerifyWebhook.
var ErrSignature = errors.New("contextmem: webhook signature does not match")

// SignWebhook returns the value of the signature header for a body.
func SignWebhook(secret string, body []byte) string { return webhook.Sign([]byte(secret), body) }

// VerifyWebhook checks a delivery's signature header against the raw body as it was
// received, in constant time. An empty secret or header never verifies. Several
// secrets may be given, during a rotation; one has to match.
func VerifyWebhook(body []byte, header string, secrets ...string) error {
	if !webhook.Verify(body, header, secrets...) {
		return ErrSignature
	}
	return nil
}

// Types of webhooks. They are declared in package content, so that receivers need not import this package.
type (
	// WebhookPayload is the body of a delivery, as receivers decode it: content.WebhookPayload.
	WebhookPayload = content.WebhookPayload
	// WebhookSpec registers a receiver for an organisation's events: content.WebhookSpec.
	WebhookSpec = content.WebhookSpec
	// Webhook is a registration: content.Webhook.
	Webhook = content.Webhook
	// DeliveryStatus is the state of a delivery: content.DeliveryStatus.
	DeliveryStatus = content.DeliveryStatus
	// Delivery is one event on its way to the receiver: content.Delivery.
	Delivery = content.Delivery
	// DeliveriesRequest asks for a page of deliveries, newest first: content.DeliveriesRequest.
	DeliveriesRequest = content.DeliveriesRequest
	// DeliveriesPage is a page of deliveries: content.DeliveriesPage.
	DeliveriesPage = content.DeliveriesPage
	// WebhookTest is the outcome of a test delivery: content.WebhookTest.
	WebhookTest = content.WebhookTest
)

// States of a delivery.
const (
	DeliveryPending           = content.DeliveryPending
	DeliverySweeping          = content.DeliverySweeping
	DeliveryDelivered         = content.DeliveryDelivered
	DeliveryFailed            = content.DeliveryFailed
	DeliveryPermanentlyFailed = content.DeliveryPermanentlyFailed
)

// SetWebhook registers a receiver, replacing any other. The secret stays unless
// a new one is given or generated.
func (o Organisation) SetWebhook(ctx context.Context, spec WebhookSpec) (Webhook, error) {
	const op = "set webhook"
	if err := workspace.CheckOrg(op, o.id); err != nil {
		return Webhook{}, err
	}
	return called(o.svc(), func() (Webhook, error) {
		w, generated, err := o.svc().webhooks.Set(ctx, op, o.id, webhook.Spec{URL: spec.URL, EventTypes: spec.EventTypes, Secret: spec.Secret, Generate: spec.GenerateSecret})
		return w.Shown(generated), err
	})
}

// Webhook returns the registration. If there is none, Registered is false.
func (o Organisation) Webhook(ctx context.Context) (Webhook, error) {
	return called(o.svc(), func() (Webhook, error) {
		w, err := o.svc().webhooks.Get(ctx, "webhook", o.id)
		return w.Shown(""), err
	})
}

// DeleteWebhook removes the registration and its secret. fault.ErrNotFound without one.
func (o Organisation) DeleteWebhook(ctx context.Context) error {
	return o.svc().call(func() error { return o.svc().webhooks.Delete(ctx, "delete webhook", o.id) })
}

// SetWebhookSecret replaces the signing secret at once. If secret is empty, it generates one and
// returns it. It returns fault.ErrNotFound without a registration.
func (o Organisation) SetWebhookSecret(ctx context.Context, secret string) (Webhook, error) {
	return called(o.svc(), func() (Webhook, error) {
		w, generated, err := o.svc().webhooks.SetSecret(ctx, "set webhook secret", o.id, secret)
		return w.Shown(generated), err
	})
}

// DeleteWebhookSecret turns signing off. fault.ErrNotFound without a registration.
func (o Organisation) DeleteWebhookSecret(ctx context.Context) (Webhook, error) {
	return called(o.svc(), func() (Webhook, error) {
		w, err := o.svc().webhooks.DeleteSecret(ctx, "delete webhook secret", o.id)
		return w.Shown(""), err
	})
}

// TestWebhook sends a synthetic delivery now. It makes no record. fault.ErrNotFound without a registration.
func (o Organisation) TestWebhook(ctx context.Context) (out WebhookTest, err error) {
	err = o.svc().call(func() error {
		t, err := o.svc().webhooks.Test(ctx, "test webhook", o.id)
		switch {
		case err != nil:
		case t.Problem != "":
			out = WebhookTest{StatusCode: t.Status, Message: "test delivery failed: " + t.Problem}
		default:
			out = WebhookTest{Delivered: true, StatusCode: t.Status, Message: "test delivery was accepted by the receiver"}
		}
		return err
	})
	return out, err
}

// ListDeliveries returns a page of deliveries.
func (o Organisation) ListDeliveries(ctx context.Context, r DeliveriesRequest) (page DeliveriesPage, err error) {
	err = o.svc().call(func() error {
		ds, next, err := o.svc().webhooks.List(ctx, "list deliveries", o.id, backend.DeliveryStatus(r.Status), r.Limit, r.Cursor)
		if err != nil {
			return err
		}
		page = DeliveriesPage{Deliveries: make([]Delivery, len(ds)), Next: next}
		for i, d := range ds {
			page.Deliveries[i] = webhook.Shown(d)
		}
		return nil
	})
	return page, err
}

// Deliveries yields deliveries, newest first.
func (o Organisation) Deliveries(ctx context.Context, status DeliveryStatus) iter.Seq2[Delivery, error] {
	return paging.All("", func(cursor string) ([]Delivery, string, error) {
		p, err := o.ListDeliveries(ctx, DeliveriesRequest{Status: status, Limit: 100, Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		return p.Deliveries, p.Next, nil
	})
}

// Delivery returns one delivery. fault.ErrNotFound when the organisation has none of that id.
func (o Organisation) Delivery(ctx context.Context, id string) (Delivery, error) {
	return called(o.svc(), func() (Delivery, error) {
		d, err := o.svc().webhooks.Delivery(ctx, "delivery", o.id, id)
		return webhook.Shown(d), err
	})
}

// RetryDelivery queues a failed delivery again. fault.ErrConflict in any other state.
func (o Organisation) RetryDelivery(ctx context.Context, id string) error {
	return o.svc().call(func() error { return o.svc().webhooks.Retry(ctx, "retry delivery", o.id, id) })
}

// newWebhooks returns the engine of webhooks.
func (s *Service) newWebhooks() *webhook.Engine {
	return webhook.New(webhook.Config{Registry: s.reg, Sealer: s.secrets, Encode: webhook.Encode, Status: func(x backend.State) string { return string(item.StatusOf(x)) },
		Reach: netguard.Policy{Loopback: s.opts.AllowLocalWebhooks, Networks: s.opts.WebhookNetworks}, Transport: s.opts.WebhookTransport, Overlap: s.opts.WebhookSecretOverlap, VendorHeaders: s.opts.WebhookVendorHeaders, Attempted: func(outcome string) { s.meter.Deliveries.Of(outcome).Add(1) }, Logger: s.opts.Logger})
}

// hasWebhook reports whether events of an organisation have a receiver.
func (s *Service) hasWebhook(org string) bool { return s.webhooks.Registered(s.gate.Life(), org) }

// outbox turns the events of workspaces into deliveries.
type outbox struct{ svc *Service }

// Wanted implements schedule.Outbox.
func (o outbox) Wanted(org string) bool { return o.svc.hasWebhook(org) }

// HandOver implements schedule.Outbox.
func (o outbox) HandOver(ctx context.Context, t backend.Tenant, st backend.Store) error {
	return o.svc.webhooks.HandOver(ctx, t, st)
}
