// Package webhook tells receivers about the states of items. The registry holds registrations and deliveries. Events of a
// workspace are moved to the registry, which sends them, signed, until the receiver accepts them or the attempts are used up.
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

const maxCached = 10_000 // cached registrations

// Sealer encrypts signing secrets at rest.
type Sealer interface {
	// Seal encrypts plain for a named place. The sealed value cannot be opened for another place.
	Seal(place string, plain []byte) []byte
	// Hold keeps the sealing key until release is called. The caller calls Seal and stores the result together with the writes in with
	// before it calls release. If the writes conflict, the caller has to call Hold and Seal again.
	Hold(ctx context.Context) (with []backend.RecordWrite, release func(), err error)
	// Open decrypts a value that Seal encrypted for the place.
	Open(ctx context.Context, place string, sealed []byte) ([]byte, error)
}

// Event is the content of a delivery.
type Event struct {
	Name, DeliveryID        string
	ItemID                  string
	Database, TenantUID     string
	Collection              string
	Status                  string
	ErrorCode, ErrorMessage string // set if the item failed
	Partial                 string // why the text of a completed item may be incomplete; else empty
	At                      time.Time
	Test                    bool
}

// Config holds the settings of an Engine. All fields but Transport and Attempted are required.
type Config struct {
	Registry backend.Registry
	Sealer   Sealer
	// Encode returns the body of a delivery.
	Encode func(e Event) ([]byte, error)
	// Status returns the public name of an item's state.
	Status func(s backend.State) string
	// Reach says which addresses deliveries may go to besides public ones.
	Reach netguard.Policy
	// Transport sends deliveries; nil means a transport that dials allowed addresses only.
	Transport http.RoundTripper
	// Overlap is how long the previous secret still signs after a rotation.
	Overlap time.Duration
	// VendorHeaders adds the headers X-HydraDB-* of the hosted service to deliveries.
	VendorHeaders bool
	// Attempted is called after each attempt with the new status of the delivery; it may be nil.
	Attempted func(outcome string)
	Logger    *slog.Logger
}

// Engine manages the registrations of a deployment and sends its deliveries. It is safe for concurrent use.
type Engine struct {
	cfg    Config
	reg    backend.Registry
	cache  *readcache.Cache[string, stored]
	sender *sender
}

// New returns an engine, which sends nothing until Run is called.
func New(c Config) *Engine {
	if c.Transport == nil {
		c.Transport = c.Reach.Transport()
	}
	e := &Engine{cfg: c, reg: c.Registry, cache: readcache.New[string, stored](maxCached)}
	e.sender = &sender{registry: c.Registry, client: newClient(c.Transport), target: e.target, vendor: c.VendorHeaders, check: e.checkURL, logger: c.Logger, token: uid.New(),
		wake: make(chan struct{}, 1), breakers: newBreakers(), attempted: c.Attempted}
	return e
}

// Run sends deliveries until ctx ends, and waits for running attempts. An attempt that is cut
// off does not count and is repeated later.
func (e *Engine) Run(ctx context.Context) { e.sender.run(ctx) }

// Forget clears the cache, because another process may have changed registrations.
func (e *Engine) Forget() { e.cache.Clear() }

func (e *Engine) checkURL(url string) error { return e.cfg.Reach.CheckURL(url) }

func notRegistered(op string) error {
	return &fault.Error{Op: op, Kind: fault.KindNotFound, Resource: fault.Webhook, Err: errors.New("no webhook is registered")}
}
