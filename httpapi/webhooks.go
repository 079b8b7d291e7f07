package httpapi

import (
	"context"

	"github.com/contextmem/contextmem"
)

func webhookJSON(w contextmem.Webhook, message string) map[string]any {
	m := map[string]any{"registered": w.Registered, "url": textOrNull(w.URL), "event_types": orNone(w.EventTypes), "signing_secret_configured": w.SecretConfigured, "message": message}
	if w.Secret != "" {
		m["signing_secret"] = w.Secret
	}
	return m
}

func setWebhook(c *call) (any, error) {
	var spec contextmem.WebhookSpec
	var err error
	if spec.URL, err = c.in.required("url"); err != nil {
		return nil, err
	}
	if c.in.fields.has("event_types") {
		if spec.EventTypes, err = c.in.strings("event_types"); err != nil {
			return nil, err
		}
		if spec.EventTypes == nil {
			spec.EventTypes = []string{}
		}
	}
	if spec.Secret, err = c.secret(); err != nil {
		return nil, err
	}
	if spec.GenerateSecret, err = c.in.boolean("generate_signing_secret", false); err != nil {
		return nil, err
	}
	w, err := c.org.SetWebhook(c.ctx, spec)
	if err != nil {
		return nil, err
	}
	return webhookJSON(w, "Webhook registered"), nil
}

// secret reads signing_secret; one that is given must not be empty.
func (c *call) secret() (string, error) {
	s, err := c.in.str("signing_secret")
	if err != nil {
		return "", err
	}
	if c.in.fields.has("signing_secret") && s == "" {
		return "", bad(contextmem.KindUnprocessed, "signing_secret", "must have at least 16 characters")
	}
	return s, nil
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
	return map[string]any{"deleted": true, "message": "Webhook deleted"}, nil
}

func testWebhook(c *call) (any, error) {
	t, err := c.org.TestWebhook(c.ctx)
	if err != nil {
		return nil, err
	}
	m := map[string]any{"delivered": t.Delivered, "status_code": nil, "message": t.Message}
	if t.StatusCode != 0 {
		m["status_code"] = t.StatusCode
	}
	return m, nil
}

func setSecret(c *call) (any, error) {
	s, err := c.secret()
	if err != nil {
		return nil, err
	}
	w, err := c.org.SetWebhookSecret(context.WithoutCancel(c.ctx), s)
	if err != nil {
		return nil, err
	}
	m := map[string]any{"generated": w.Secret != "", "signing_secret_configured": w.SecretConfigured, "message": "Signing secret is in effect"}
	if w.Secret != "" {
		m["signing_secret"] = w.Secret
	}
	return m, nil
}

func deleteSecret(c *call) (any, error) {
	w, err := c.org.DeleteWebhookSecret(c.ctx)
	if err != nil {
		return nil, err
	}
	return webhookJSON(w, "Signing is off"), nil
}

func deliveryJSON(d contextmem.Delivery) map[string]any {
	return map[string]any{"delivery_id": d.ID, "doc_id": d.ItemID, "status": string(d.Status), "indexing_status": string(d.IndexingStatus), "event_type": d.Event,
		"attempts": d.Attempts, "error_code": textOrNull(d.ErrorCode), "error_message": textOrNull(d.ErrorMessage), "webhook_url": d.URL,
		"created_at": timeText(d.CreatedAt), "updated_at": timeText(d.UpdatedAt), "next_attempt_at": timeOrNull(d.NextAttempt), "last_error": textOrNull(d.LastError)}
}

func listDeliveries(c *call) (any, error) {
	var r contextmem.DeliveriesRequest
	var err error
	if r.Limit, err = c.in.integer("limit", 20); err != nil {
		return nil, err
	}
	if err := ranged("limit", r.Limit, 1, 100); err != nil {
		return nil, err
	}
	status, err := c.in.str("status")
	if err != nil {
		return nil, err
	}
	r.Status = contextmem.DeliveryStatus(status)
	if r.Cursor, err = c.in.str("cursor"); err != nil {
		return nil, err
	}
	p, err := c.org.ListDeliveries(c.ctx, r)
	if err != nil {
		return nil, err
	}
	rows := make([]map[string]any, len(p.Deliveries))
	for i, d := range p.Deliveries {
		rows[i] = deliveryJSON(d)
	}
	return map[string]any{"deliveries": rows, "count": len(rows), "next_cursor": textOrNull(p.Next)}, nil
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
	return map[string]any{"delivery_id": id, "queued": true, "message": "Delivery queued"}, nil
}
