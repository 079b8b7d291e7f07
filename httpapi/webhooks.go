package httpapi

import (
	"context"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/wire"
)

// webhookBody is the registration of a webhook. It only has the secret if the call has generated it.
type webhookBody struct {
	Registered       bool     `json:"registered"`
	URL              *string  `json:"url"`
	EventTypes       []string `json:"event_types"`
	SecretConfigured bool     `json:"signing_secret_configured"`
	Message          string   `json:"message"`
	Secret           string   `json:"signing_secret,omitempty"`
}

func webhookJSON(w contextmem.Webhook, message string) webhookBody {
	return webhookBody{w.Registered, wire.Null(w.URL), orNone(w.EventTypes), w.SecretConfigured, message, w.Secret}
}

// webhookRequest registers a webhook.
type webhookRequest struct {
	URL        string   `json:"url" need:"text"`
	EventTypes []string `json:"event_types"`
	secretRequest
	Generate bool `json:"generate_signing_secret"`
}

// secretRequest contains a signing secret. The secret must not be empty if it is given.
type secretRequest struct {
	Secret string `json:"signing_secret"`
}

// secret validates the secret of a request.
func (c *call) secret(r secretRequest) (string, error) {
	if c.in.has("signing_secret") && r.Secret == "" {
		return "", bad(fault.KindUnprocessed, "signing_secret", "must have at least 16 characters")
	}
	return r.Secret, nil
}

func setWebhook(c *call) (any, error) {
	var r webhookRequest
	if err := c.read(&r); err != nil {
		return nil, err
	}
	secret, err := c.secret(r.secretRequest)
	if err != nil {
		return nil, err
	}
	w, err := c.org.SetWebhook(c.ctx, contextmem.WebhookSpec{URL: r.URL, EventTypes: r.EventTypes, Secret: secret, GenerateSecret: r.Generate})
	if err != nil {
		return nil, err
	}
	return webhookJSON(w, "Webhook registered"), nil
}

func getWebhook(c *call) (any, error) {
	w, err := c.org.Webhook(c.ctx)
	if err != nil {
		return nil, err
	}
	if !w.Registered {
		return webhookJSON(w, "No webhook is registered"), nil
	}
	return webhookJSON(w, "Webhook retrieved"), nil
}

func deleteWebhook(c *call) (any, error) {
	if err := c.org.DeleteWebhook(c.ctx); err != nil {
		return nil, err
	}
	return struct {
		Deleted bool   `json:"deleted"`
		Message string `json:"message"`
	}{true, "Webhook deleted"}, nil
}

func testWebhook(c *call) (any, error) {
	t, err := c.org.TestWebhook(c.ctx)
	if err != nil {
		return nil, err
	}
	a := struct {
		Delivered bool   `json:"delivered"`
		Status    *int   `json:"status_code"`
		Message   string `json:"message"`
	}{t.Delivered, nil, t.Message}
	if t.StatusCode != 0 {
		a.Status = &t.StatusCode
	}
	return a, nil
}

func setSecret(c *call) (any, error) {
	var r secretRequest
	if err := c.read(&r); err != nil {
		return nil, err
	}
	secret, err := c.secret(r)
	if err != nil {
		return nil, err
	}
	w, err := c.org.SetWebhookSecret(context.WithoutCancel(c.ctx), secret)
	if err != nil {
		return nil, err
	}
	return struct {
		Generated  bool   `json:"generated"`
		Configured bool   `json:"signing_secret_configured"`
		Message    string `json:"message"`
		Secret     string `json:"signing_secret,omitempty"`
	}{w.Secret != "", w.SecretConfigured, "Signing secret is in effect", w.Secret}, nil
}

func deleteSecret(c *call) (any, error) {
	w, err := c.org.DeleteWebhookSecret(c.ctx)
	if err != nil {
		return nil, err
	}
	return webhookJSON(w, "Signing is off"), nil
}

// deliveryBody is the record of a delivery.
type deliveryBody struct {
	ID             string  `json:"delivery_id"`
	DocID          string  `json:"doc_id"`
	Status         string  `json:"status"`
	IndexingStatus string  `json:"indexing_status"`
	Event          string  `json:"event_type"`
	Attempts       int     `json:"attempts"`
	ErrorCode      *string `json:"error_code"`
	ErrorMessage   *string `json:"error_message"`
	URL            string  `json:"webhook_url"`
	CreatedAt      string  `json:"created_at"`
	UpdatedAt      string  `json:"updated_at"`
	NextAttempt    *string `json:"next_attempt_at"`
	LastError      *string `json:"last_error"`
}

func deliveryJSON(d contextmem.Delivery) deliveryBody {
	return deliveryBody{d.ID, d.ItemID, string(d.Status), string(d.IndexingStatus), d.Event, d.Attempts, wire.Null(d.ErrorCode), wire.Null(d.ErrorMessage), d.URL,
		wire.Time(d.CreatedAt), wire.Time(d.UpdatedAt), wire.Null(wire.Time(d.NextAttempt)), wire.Null(d.LastError)}
}

// deliveriesRequest is the query of a list of deliveries.
type deliveriesRequest struct {
	Limit  int    `json:"limit" default:"20" range:"1,100"`
	Status string `json:"status"`
	Cursor string `json:"cursor"`
}

func listDeliveries(c *call) (any, error) {
	var r deliveriesRequest
	if err := c.read(&r); err != nil {
		return nil, err
	}
	p, err := c.org.ListDeliveries(c.ctx, contextmem.DeliveriesRequest{Limit: r.Limit, Status: contextmem.DeliveryStatus(r.Status), Cursor: r.Cursor})
	if err != nil {
		return nil, err
	}
	rows := make([]deliveryBody, len(p.Deliveries))
	for i, d := range p.Deliveries {
		rows[i] = deliveryJSON(d)
	}
	return struct {
		Deliveries []deliveryBody `json:"deliveries"`
		Count      int            `json:"count"`
		Next       *string        `json:"next_cursor"`
	}{rows, len(rows), wire.Null(p.Next)}, nil
}

func getDelivery(c *call) (any, error) {
	d, err := c.org.Delivery(c.ctx, c.r.PathValue("delivery_id"))
	if err != nil {
		return nil, err
	}
	return deliveryJSON(d), nil
}

func retryDelivery(c *call) (any, error) {
	id := c.r.PathValue("delivery_id")
	if err := c.org.RetryDelivery(c.ctx, id); err != nil {
		return nil, err
	}
	return struct {
		ID      string `json:"delivery_id"`
		Queued  bool   `json:"queued"`
		Message string `json:"message"`
	}{id, true, "Delivery queued"}, nil
}
