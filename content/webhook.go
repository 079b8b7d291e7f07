package content

import "time"

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
	Partial      string  `json:"partial,omitempty"` // why the text of a completed item may be incomplete
	Test         bool    `json:"test,omitempty"`
}

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

// DeliveryStatus is the state of a delivery.
type DeliveryStatus string

// States of a delivery.
const (
	DeliveryPending           DeliveryStatus = "pending"
	DeliverySweeping          DeliveryStatus = "sweeping"
	DeliveryDelivered         DeliveryStatus = "delivered"
	DeliveryFailed            DeliveryStatus = "failed"
	DeliveryPermanentlyFailed DeliveryStatus = "permanently_failed"
)

// Delivery is the delivery of an event to a receiver.
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
	LastError      string // error of the last failed attempt
	LastStatusCode int
	CreatedAt      time.Time
	UpdatedAt      time.Time
	NextAttempt    time.Time // zero: none is planned
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
