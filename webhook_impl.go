package contextmem

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/deliver"
	"github.com/contextmem/contextmem/internal/netguard"
)

const (
	kindWebhook     = "webhook"
	minSecretLength = 16
	maxSecretLength = 1024
)

// WebhookPayload is the body of a delivery, as receivers decode it.
type WebhookPayload struct {
	Event        string  `json:"event"`
	DeliveryID   string  `json:"delivery_id"` // stable over retries: deduplicate by it
	ID           string  `json:"id"`          // of the item
	Database     string  `json:"database"`
	Collection   string  `json:"collection"`
	TenantID     string  `json:"tenant_id"` // identifier of the database, not its name
	SubTenantID  string  `json:"sub_tenant_id"`
	Status       Status  `json:"status"`
	Timestamp    string  `json:"timestamp"`
	ErrorCode    *string `json:"error_code,omitempty"`
	ErrorMessage *string `json:"error_message,omitempty"`
	Test         bool    `json:"test,omitempty"`
}

// ErrSignature is returned by VerifyWebhook.
var ErrSignature = errors.New("contextmem: webhook signature does not match")

// SignWebhook returns the value of the signature header for a body.
func SignWebhook(secret string, body []byte) string { return deliver.Sign([]byte(secret), body) }

// VerifyWebhook checks a delivery's signature header against the raw body as it was
// received, in constant time. An empty secret or header never verifies. Several
// secrets may be given, during a rotation; one has to match.
func VerifyWebhook(body []byte, header string, secrets ...string) error {
	sum, ok := strings.CutPrefix(header, "sha256=")
	if !ok || len(sum) != 2*sha256.Size {
		return ErrSignature
	}
	got, err := hex.DecodeString(sum)
	if err != nil || strings.ToLower(sum) != sum {
		return ErrSignature
	}
	match := false
	for _, s := range secrets {
		if s == "" {
			continue
		}
		m := hmac.New(sha256.New, []byte(s))
		m.Write(body)
		match = hmac.Equal(m.Sum(nil), got) || match
	}
	if !match {
		return ErrSignature
	}
	return nil
}

// storedWebhook is the registry record of a registration. The secret is sealed.
type storedWebhook struct {
	URL    string   `json:"url"`
	Events []string `json:"events"`
	Secret []byte   `json:"secret,omitempty"`
	// Previous signs too until its time is over.
	Previous      []byte    `json:"previous,omitempty"`
	PreviousUntil time.Time `json:"previous_until,omitzero"`
}

// rotate takes a new sealed secret. The one before goes on signing for a while when that is asked for.
func (w *storedWebhook) rotate(sealed []byte, overlap time.Duration) {
	w.Previous, w.PreviousUntil = nil, time.Time{}
	if overlap > 0 && len(w.Secret) > 0 {
		w.Previous, w.PreviousUntil = w.Secret, time.Now().UTC().Add(overlap)
	}
	w.Secret = sealed
}

func (w *storedWebhook) public() Webhook {
	return Webhook{Registered: true, URL: w.URL, EventTypes: w.Events, SecretConfigured: len(w.Secret) > 0}
}

func webhookPlace(org string) string { return "webhook/" + org }

// webhookCache holds registrations by organisation, absent ones as nil.
type webhookCache struct {
	mu  sync.RWMutex
	org map[string]*storedWebhook
	rev map[string]int64
}

func (s *Service) readWebhook(ctx context.Context, org string) (*storedWebhook, int64, error) {
	c := &s.webhooks
	c.mu.RLock()
	w, ok := c.org[org]
	rev := c.rev[org]
	c.mu.RUnlock()
	if ok {
		return w, rev, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r, err := s.reg.Record(ctx, kindWebhook, org, "indexing")
	if err != nil && !errors.Is(err, backend.ErrNotFound) {
		return nil, 0, err
	}
	if err == nil {
		w = new(storedWebhook)
		if err := json.Unmarshal(r.Data, w); err != nil {
			return nil, 0, backend.ErrCorrupt
		}
	}
	if c.org == nil || len(c.org) > maxCachedKeys {
		c.org, c.rev = map[string]*storedWebhook{}, map[string]int64{}
	}
	c.org[org], c.rev[org] = w, r.Rev
	return w, r.Rev, nil
}

// writeWebhook stores or (nil) deletes a registration that was read at revision rev.
func (s *Service) writeWebhook(ctx context.Context, org string, w *storedWebhook, rev int64) error {
	rec := backend.RecordWrite{Record: backend.Record{Kind: kindWebhook, Org: org, ID: "indexing"}, IfRev: rev, Delete: w == nil}
	if w != nil {
		b, err := json.Marshal(w)
		if err != nil {
			return err
		}
		rec.Data = b
	}
	s.webhooks.mu.Lock()
	defer s.webhooks.mu.Unlock()
	delete(s.webhooks.org, org)
	return s.reg.WriteRecords(ctx, []backend.RecordWrite{rec})
}

// hasWebhook tells whether events of an organisation have a receiver. When that
// can't be found out events are kept.
func (s *Service) hasWebhook(org string) bool {
	w, _, err := s.readWebhook(s.life, org)
	return err != nil || w != nil
}

func checkSecret(op, secret string) error {
	if n := utf8.RuneCountInString(secret); n < minSecretLength || n > maxSecretLength {
		return fieldError(op, KindUnprocessed, ResourceWebhook, "signing_secret", "must have %d to %d characters", minSecretLength, maxSecretLength)
	}
	return nil
}

// newSecret is 32 random bytes in base64url behind the prefix that receivers know secrets by.
func newSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:])
	return "whsec_" + base64.RawURLEncoding.EncodeToString(b[:])
}

var errNoWebhook = errors.New("no webhook is registered")

func (s *Service) noWebhook(op string) error {
	return &Error{Op: op, Kind: KindNotFound, Resource: ResourceWebhook, Err: errNoWebhook}
}

func (s *Service) setWebhook(ctx context.Context, org string, spec WebhookSpec) (Webhook, error) {
	const op = "set webhook"
	if err := checkOrg(op, org); err != nil {
		return Webhook{}, err
	}
	if spec.URL == "" {
		return Webhook{}, fieldError(op, KindInvalid, ResourceWebhook, "url", "is required")
	}
	if err := netguard.CheckURL(spec.URL, s.opts.AllowLocalWebhooks); err != nil {
		return Webhook{}, fieldError(op, KindInvalid, ResourceWebhook, "url", "%w", err)
	}
	if spec.EventTypes == nil {
		spec.EventTypes = []string{EventStatusChanged}
	}
	if len(spec.EventTypes) == 0 {
		return Webhook{}, fieldError(op, KindUnprocessed, ResourceWebhook, "event_types", "must not be empty")
	}
	for _, e := range spec.EventTypes {
		if e != EventStatusChanged {
			return Webhook{}, fieldError(op, KindUnprocessed, ResourceWebhook, "event_types", "unknown event %q", shortID(e))
		}
	}
	if spec.Secret != "" && spec.GenerateSecret {
		return Webhook{}, fieldError(op, KindUnprocessed, ResourceWebhook, "signing_secret", "signing_secret and generate_signing_secret exclude each other")
	}
	if spec.Secret != "" {
		if err := checkSecret(op, spec.Secret); err != nil {
			return Webhook{}, err
		}
	}
	if err := s.begin(); err != nil {
		return Webhook{}, err
	}
	defer s.end()
	old, rev, err := s.readWebhook(ctx, org)
	if err != nil {
		return Webhook{}, wrap(op, ResourceWebhook, "", err)
	}
	w := &storedWebhook{URL: spec.URL, Events: []string{EventStatusChanged}}
	if old != nil {
		w.Secret, w.Previous, w.PreviousUntil = old.Secret, old.Previous, old.PreviousUntil
	}
	secret := spec.Secret
	if spec.GenerateSecret {
		secret = newSecret()
	}
	if secret != "" {
		w.rotate(s.secrets.seal(webhookPlace(org), []byte(secret)), s.opts.WebhookSecretOverlap)
	}
	if err := s.writeWebhook(ctx, org, w, rev); err != nil {
		return Webhook{}, wrap(op, ResourceWebhook, "", err)
	}
	out := w.public()
	if spec.GenerateSecret {
		out.Secret = secret
	}
	return out, nil
}

func (s *Service) webhook(ctx context.Context, org string) (Webhook, error) {
	const op = "webhook"
	if err := s.begin(); err != nil {
		return Webhook{}, err
	}
	defer s.end()
	w, _, err := s.readWebhook(ctx, org)
	if err != nil {
		return Webhook{}, wrap(op, ResourceWebhook, "", err)
	}
	if w == nil {
		return Webhook{EventTypes: []string{}}, nil
	}
	return w.public(), nil
}

// changeWebhook edits the registration, or deletes it when f returns nil.
func (s *Service) changeWebhook(ctx context.Context, op, org string, f func(w storedWebhook) *storedWebhook) (Webhook, error) {
	if err := s.begin(); err != nil {
		return Webhook{}, err
	}
	defer s.end()
	old, rev, err := s.readWebhook(ctx, org)
	if err != nil {
		return Webhook{}, wrap(op, ResourceWebhook, "", err)
	}
	if old == nil {
		return Webhook{}, s.noWebhook(op)
	}
	w := f(*old)
	if err := s.writeWebhook(ctx, org, w, rev); err != nil {
		return Webhook{}, wrap(op, ResourceWebhook, "", err)
	}
	if w == nil {
		return Webhook{}, nil
	}
	return w.public(), nil
}

func (s *Service) deleteWebhook(ctx context.Context, org string) error {
	_, err := s.changeWebhook(ctx, "delete webhook", org, func(storedWebhook) *storedWebhook { return nil })
	return err
}

func (s *Service) setWebhookSecret(ctx context.Context, org, secret string) (Webhook, error) {
	const op = "set webhook secret"
	generated := secret == ""
	if generated {
		secret = newSecret()
	} else if err := checkSecret(op, secret); err != nil {
		return Webhook{}, err
	}
	w, err := s.changeWebhook(ctx, op, org, func(w storedWebhook) *storedWebhook {
		w.rotate(s.secrets.seal(webhookPlace(org), []byte(secret)), s.opts.WebhookSecretOverlap)
		return &w
	})
	if err == nil && generated {
		w.Secret = secret
	}
	return w, err
}

func (s *Service) deleteWebhookSecret(ctx context.Context, org string) (Webhook, error) {
	return s.changeWebhook(ctx, "delete webhook secret", org, func(w storedWebhook) *storedWebhook {
		w.rotate(nil, 0)
		return &w
	})
}

// target is where events of an organisation go now.
func (s *Service) target(ctx context.Context, org string) (deliver.Target, bool, error) {
	w, _, err := s.readWebhook(ctx, org)
	if err != nil || w == nil {
		return deliver.Target{}, false, err
	}
	t := deliver.Target{URL: w.URL}
	if len(w.Secret) > 0 {
		secret, err := s.secrets.open(webhookPlace(org), w.Secret)
		if err != nil {
			return t, false, err
		}
		t.Secret = string(secret)
	}
	if len(w.Previous) > 0 && time.Now().Before(w.PreviousUntil) {
		secret, err := s.secrets.open(webhookPlace(org), w.Previous)
		if err != nil {
			return t, false, err
		}
		t.Previous = string(secret)
	}
	return t, true, nil
}

func (s *Service) newDeliverer() *deliver.Engine {
	rt := s.opts.WebhookTransport
	if rt == nil {
		rt = netguard.Transport(s.opts.AllowLocalWebhooks)
	}
	return &deliver.Engine{Registry: s.reg, Client: deliver.Client(rt), Target: s.target, Logger: s.opts.Logger, Token: newUID(),
		Check: func(u string) error { return netguard.CheckURL(u, s.opts.AllowLocalWebhooks) }}
}

func (s *Service) testWebhook(ctx context.Context, org string) (WebhookTest, error) {
	const op = "test webhook"
	if err := s.begin(); err != nil {
		return WebhookTest{}, err
	}
	defer s.end()
	t, ok, err := s.target(ctx, org)
	if err != nil {
		return WebhookTest{}, wrap(op, ResourceWebhook, "", err)
	}
	if !ok {
		return WebhookTest{}, s.noWebhook(op)
	}
	p := WebhookPayload{Event: EventStatusChanged, DeliveryID: "test_" + newUID(), ID: "test_document", Database: org, Collection: org, TenantID: org, SubTenantID: org,
		Status: StatusCompleted, Timestamp: time.Now().UTC().Format(time.RFC3339), Test: true}
	b, err := json.Marshal(p)
	if err != nil {
		return WebhookTest{}, wrap(op, ResourceWebhook, "", err)
	}
	code, problem := s.deliverer.Post(ctx, t, p.DeliveryID, p.Event, b)
	if problem != "" {
		return WebhookTest{StatusCode: code, Message: "test delivery failed: " + problem}, nil
	}
	return WebhookTest{Delivered: true, StatusCode: code, Message: "test delivery was accepted by the receiver"}, nil
}

// handOver moves events of a workspace to the deliveries. The ids are derived from
// the event, so a crash between the two stores makes no second record.
func (c *scheduler) handOver(ctx context.Context, t backend.Tenant, sp *space) error {
	for {
		events, err := sp.store.Events(ctx, eventBatch)
		if err != nil || len(events) == 0 {
			return err
		}
		w, _, err := c.svc.readWebhook(ctx, t.Org)
		if err != nil {
			return err
		}
		if w != nil {
			ds := make([]backend.Delivery, len(events))
			for i, e := range events {
				if ds[i], err = delivery(t, w.URL, e); err != nil {
					return err
				}
			}
			if err := c.svc.reg.AddDeliveries(ctx, ds); err != nil {
				return err
			}
			c.svc.deliverer.Wake()
		}
		if err := sp.store.Acknowledge(ctx, events[len(events)-1].Seq); err != nil {
			return err
		}
	}
}

func delivery(t backend.Tenant, url string, e backend.Event) (backend.Delivery, error) {
	h := sha256.Sum256([]byte(t.UID + "/" + strconv.FormatInt(e.Seq, 10)))
	now := time.Now().UTC()
	d := backend.Delivery{ID: "dlv_" + hex.EncodeToString(h[:16]), Org: t.Org, URL: url, Event: EventStatusChanged, ItemID: e.ItemID, Database: t.ID, TenantUID: t.UID,
		Collection: e.Part.Sub, IndexingStatus: string(statusOf[e.Status]), Status: backend.DeliveryPending, ErrorCode: e.ErrorCode, ErrorMessage: e.ErrorMessage,
		CreatedAt: now, UpdatedAt: now, NextAttempt: now}
	p := WebhookPayload{Event: d.Event, DeliveryID: d.ID, ID: e.ItemID, Database: t.ID, Collection: e.Part.Sub, TenantID: t.UID, SubTenantID: e.Part.Sub,
		Status: statusOf[e.Status], Timestamp: now.Format(time.RFC3339)}
	if e.ErrorCode != "" {
		p.ErrorCode, p.ErrorMessage = &e.ErrorCode, &e.ErrorMessage
	}
	b, err := json.Marshal(p)
	d.Payload = b
	return d, err
}

func (s *Service) listDeliveries(ctx context.Context, org string, r DeliveriesRequest) (DeliveriesPage, error) {
	const op = "list deliveries"
	var page DeliveriesPage
	if r.Limit == 0 {
		r.Limit = 20
	}
	if r.Limit < 1 || r.Limit > 100 {
		return page, fieldError(op, KindInvalid, ResourceDelivery, "limit", "must be between 1 and 100")
	}
	switch r.Status {
	case "", DeliveryPending, DeliverySweeping, DeliveryDelivered, DeliveryFailed, DeliveryPermanentlyFailed:
	default:
		return page, fieldError(op, KindInvalid, ResourceDelivery, "status", "unknown status %q", shortID(string(r.Status)))
	}
	var before int64
	if r.Cursor != "" {
		n, err := strconv.ParseInt(strings.TrimPrefix(r.Cursor, "c"), 36, 64)
		if err != nil || n < 1 || r.Cursor[0] != 'c' {
			return page, fieldError(op, KindInvalid, ResourceDelivery, "cursor", "is not one that was handed out")
		}
		before = n
	}
	if err := s.begin(); err != nil {
		return page, err
	}
	defer s.end()
	ds, err := s.reg.Deliveries(ctx, backend.DeliveryQuery{Org: org, Status: backend.DeliveryStatus(r.Status), Before: before, Limit: r.Limit + 1})
	if err != nil {
		return page, wrap(op, ResourceDelivery, "", err)
	}
	if len(ds) > r.Limit {
		ds = ds[:r.Limit]
		page.Next = "c" + strconv.FormatInt(ds[len(ds)-1].Num, 36)
	}
	page.Deliveries = make([]Delivery, len(ds))
	for i, d := range ds {
		page.Deliveries[i] = publicDelivery(d)
	}
	return page, nil
}

func publicDelivery(d backend.Delivery) Delivery {
	return Delivery{ID: d.ID, ItemID: d.ItemID, URL: d.URL, Event: d.Event, Status: DeliveryStatus(d.Status), IndexingStatus: Status(d.IndexingStatus), Attempts: d.Attempts,
		ErrorCode: d.ErrorCode, ErrorMessage: d.ErrorMessage, LastError: d.LastError, LastStatusCode: d.LastStatusCode, CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt, NextAttempt: d.NextAttempt}
}

func (s *Service) delivery(ctx context.Context, org, id string) (Delivery, error) {
	const op = "delivery"
	if err := s.begin(); err != nil {
		return Delivery{}, err
	}
	defer s.end()
	d, err := s.reg.Delivery(ctx, org, id)
	if err != nil {
		return Delivery{}, deliveryError(op, id, err)
	}
	return publicDelivery(d), nil
}

func (s *Service) retryDelivery(ctx context.Context, org, id string) error {
	const op = "retry delivery"
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	err := s.reg.RequeueDelivery(ctx, org, id, time.Now().UTC())
	if errors.Is(err, backend.ErrConflict) {
		return &Error{Op: op, Kind: KindConflict, Resource: ResourceDelivery, ID: shortID(id), Err: errors.New("only a failed delivery can be retried")}
	}
	if err == nil {
		s.deliverer.Wake()
	}
	return deliveryError(op, id, err)
}

func deliveryError(op, id string, err error) error {
	if errors.Is(err, backend.ErrNotFound) {
		return &Error{Op: op, Kind: KindNotFound, Resource: ResourceDelivery, ID: shortID(id), Err: errors.New("delivery not found")}
	}
	return wrap(op, ResourceDelivery, id, err)
}
