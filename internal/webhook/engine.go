// Package webhook tells receivers what became of items. The registry holds registrations and deliveries; events of a
// workspace are handed over to it and sent from there, signed, until the receiver takes them or the attempts are used up.
package webhook

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/netguard"
	"github.com/contextmem/contextmem/internal/readcache"
	"github.com/contextmem/contextmem/internal/uid"
)

// StatusChanged is the event that is sent when an item reaches a terminal state.
const StatusChanged = "indexing.status_changed"

// Headers of a delivery.
const (
	HeaderDeliveryID        = "X-Service-Delivery-ID"
	HeaderEvent             = "X-Service-Event"
	HeaderSignature         = "X-Service-Signature"
	HeaderPreviousSignature = "X-Service-Signature-Previous"
)

const maxCached = 10_000 // registrations

// Sealer keeps signing secrets unreadable at rest.
type Sealer interface {
	// Seal encrypts plain for the named place; what is sealed for one place can't be opened at another.
	Seal(place string, plain []byte) []byte
	// Hold keeps the sealing key as it is until release is called: from Seal until what was sealed is stored, together with the writes
	// that it returns. When these conflict it is to be called again, and sealed again.
	Hold(ctx context.Context) (with []backend.RecordWrite, release func(), err error)
	// Open reverses Seal.
	Open(ctx context.Context, place string, sealed []byte) ([]byte, error)
}

// Event is what a delivery tells.
type Event struct {
	Name, DeliveryID        string
	ItemID                  string
	Database, TenantUID     string
	Collection              string
	Status                  string
	ErrorCode, ErrorMessage string // of an item that failed
	Partial                 string // why the text of a completed item may be incomplete
	At                      time.Time
	Test                    bool
}

// Config is what an Engine works with. All fields but Transport are required.
type Config struct {
	Registry backend.Registry
	Sealer   Sealer
	// Encode writes the body of a delivery.
	Encode func(e Event) ([]byte, error)
	// Status is the public name of an item's state.
	Status func(s backend.State) string
	// Reach says where deliveries may go besides public addresses.
	Reach netguard.Policy
	// Transport sends deliveries; nil: one that dials the allowed addresses only.
	Transport http.RoundTripper
	// Overlap is how long the secret before a rotation goes on signing.
	Overlap time.Duration
	// VendorHeaders says that deliveries have the headers X-HydraDB-* of the hosted service too.
	VendorHeaders bool
	// Attempted is told of each attempt how the delivery stands then; nil: nobody is.
	Attempted func(outcome string)
	Logger    *slog.Logger
}

// Engine keeps the registrations of a deployment and sends its deliveries. It is safe for concurrent use.
type Engine struct {
	cfg    Config
	reg    backend.Registry
	cache  *readcache.Cache[string, stored]
	sender *sender
}

// New returns an engine that sends nothing until Run.
func New(c Config) *Engine {
	if c.Transport == nil {
		c.Transport = c.Reach.Transport()
	}
	e := &Engine{cfg: c, reg: c.Registry, cache: readcache.New[string, stored](maxCached)}
	e.sender = &sender{registry: c.Registry, client: newClient(c.Transport), target: e.target, vendor: c.VendorHeaders, check: e.checkURL, logger: c.Logger, token: uid.New(),
		wake: make(chan struct{}, 1), breakers: newBreakers(), attempted: c.Attempted}
	return e
}

// Run sends until ctx ends, and waits for what is under way: an attempt that is cut
// off does not count and is tried again.
func (e *Engine) Run(ctx context.Context) { e.sender.run(ctx) }

// Forget lets every registration be read anew: another process may have changed them.
func (e *Engine) Forget() { e.cache.Clear() }

func (e *Engine) checkURL(url string) error { return e.cfg.Reach.CheckURL(url) }

func notRegistered(op string) error {
	return &fault.Error{Op: op, Kind: fault.KindNotFound, Resource: fault.Webhook, Err: errors.New("no webhook is registered")}
}
