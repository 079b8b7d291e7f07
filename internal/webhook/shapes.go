package webhook

import (
	"encoding/json"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
)

// Encode returns the body of a delivery, a content.WebhookPayload as JSON.
func Encode(e Event) ([]byte, error) {
	p := content.WebhookPayload{Event: e.Name, DeliveryID: e.DeliveryID, ID: e.ItemID, Database: e.Database, Collection: e.Collection, TenantID: e.TenantUID, SubTenantID: e.Collection,
		Status: content.Status(e.Status), Partial: e.Partial, Timestamp: e.At.Format(time.RFC3339), Test: e.Test}
	if e.ErrorCode != "" {
		p.ErrorCode, p.ErrorMessage = &e.ErrorCode, &e.ErrorMessage
	}
	return json.Marshal(p)
}

// Shown returns a delivery as callers see it.
func Shown(d backend.Delivery) content.Delivery {
	return content.Delivery{ID: d.ID, ItemID: d.ItemID, URL: d.URL, Event: d.Event, Status: content.DeliveryStatus(d.Status), IndexingStatus: content.Status(d.IndexingStatus), Attempts: d.Attempts,
		ErrorCode: d.ErrorCode, ErrorMessage: d.ErrorMessage, LastError: d.LastError, LastStatusCode: d.LastStatusCode, CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt, NextAttempt: d.NextAttempt}
}

// Shown returns a registration as callers see it, with the secret that was generated for it. Without one it says that there is none.
func (w *Registration) Shown(generated string) content.Webhook {
	if w == nil {
		return content.Webhook{EventTypes: []string{}}
	}
	return content.Webhook{Registered: true, URL: w.URL, EventTypes: w.Events, SecretConfigured: w.Signed(), Secret: generated}
}
