// Package deliver sends webhook events: claim with a lease, POST, and record the
// outcome. A worker that dies loses its lease, and the next claim sweeps up what
// it held, so every event arrives at least once, under one delivery id.
package deliver

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/netguard"
)

// Schedule is the pause after each failed attempt. After the last one fails the
// delivery is permanently failed.
var Schedule = []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 10 * time.Hour}

const (
	// Timeout bounds one attempt.
	Timeout     = 15 * time.Second
	lease       = 2 * Timeout
	maxInFlight = 32
	maxPerURL   = 4
	maxBody     = 64 << 10 // of an answer, read so that the connection can be used again
	idlePoll    = time.Minute
	keep        = 30 * 24 * time.Hour
)

// Target is where an organisation's events go now.
type Target struct {
	URL      string
	Secret   string // empty: unsigned
	Previous string // signs in a header of its own; empty: not
}

// Engine sends what the registry holds.
type Engine struct {
	Registry backend.Registry
	Client   *http.Client
	// Target returns where events of an organisation go; false when nothing is registered.
	Target func(ctx context.Context, org string) (Target, bool, error)
	// Check judges a URL before it is used; it may have been saved under other rules.
	Check  func(url string) error
	Logger *slog.Logger
	Token  string

	wake chan struct{}
	once sync.Once
}

func (e *Engine) init() { e.once.Do(func() { e.wake = make(chan struct{}, 1) }) }

// Wake makes the engine look for due deliveries now.
func (e *Engine) Wake() {
	e.init()
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// Run sends until ctx ends, and waits for what is under way: an attempt that is cut
// off counts as failed and is tried again.
func (e *Engine) Run(ctx context.Context) {
	e.init()
	var wg sync.WaitGroup
	defer wg.Wait()
	slots := make(chan struct{}, maxInFlight)
	pruned := time.Time{}
	for ctx.Err() == nil {
		now := time.Now()
		if now.Sub(pruned) > time.Hour {
			pruned = now
			if _, err := e.Registry.PruneDeliveries(ctx, now.Add(-keep), 10_000); err != nil && ctx.Err() == nil {
				e.Logger.Warn("pruning old deliveries failed", "err", err)
			}
		}
		free := cap(slots) - len(slots)
		claimed := 0
		if free > 0 {
			ds, err := e.Registry.ClaimDeliveries(ctx, now, now.Add(lease), e.Token, free, maxPerURL)
			if err != nil && ctx.Err() == nil {
				e.Logger.Warn("claiming deliveries failed", "err", err)
			}
			claimed = len(ds)
			for _, d := range ds {
				slots <- struct{}{}
				wg.Go(func() {
					e.attempt(ctx, d)
					<-slots
					e.Wake()
				})
			}
		}
		if claimed > 0 && claimed == free {
			continue
		}
		e.sleep(ctx)
	}
}

// sleep waits for the next due delivery or for Wake.
func (e *Engine) sleep(ctx context.Context) {
	pause := idlePoll
	if next, err := e.Registry.NextDelivery(ctx); err == nil && !next.IsZero() {
		// What is due already waits for a place with its receiver, which frees with a Wake.
		pause = min(max(time.Until(next), 200*time.Millisecond), idlePoll)
	}
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-e.wake:
	case <-t.C:
	}
}

func (e *Engine) attempt(ctx context.Context, d backend.Delivery) {
	now := time.Now().UTC()
	target, ok, err := e.Target(ctx, d.Org)
	switch {
	case err != nil:
		d.LastStatusCode, d.LastError = 0, "the registration could not be read"
	case !ok:
		d.Status, d.LastError = backend.DeliveryPermanentlyFailed, "no webhook is registered any more"
	default:
		d.LastStatusCode, d.LastError = e.Post(ctx, target, d.ID, d.Event, d.Payload)
	}
	d.UpdatedAt = time.Now().UTC()
	switch {
	case d.Status == backend.DeliveryPermanentlyFailed:
		d.NextAttempt = time.Time{}
	case d.LastError == "":
		d.Status, d.NextAttempt = backend.DeliveryDelivered, time.Time{}
	case ctx.Err() != nil: // the service stops: the next one tries at once
		d.Status, d.NextAttempt = backend.DeliveryFailed, now
	case d.Attempts > len(Schedule):
		d.Status, d.NextAttempt = backend.DeliveryPermanentlyFailed, time.Time{}
	default:
		d.Status, d.NextAttempt = backend.DeliveryFailed, d.UpdatedAt.Add(Pause(d.Attempts))
	}
	// Recorded even when the service stops meanwhile, within a second.
	fctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := e.Registry.FinishDelivery(fctx, d); err != nil && !errors.Is(err, backend.ErrConflict) {
		e.Logger.Warn("recording a delivery failed", "delivery", d.ID, "err", err)
	}
}

// Pause is the time between attempt n (from 1) and the next, with up to a tenth of jitter.
func Pause(n int) time.Duration {
	d := Schedule[min(max(n, 1), len(Schedule))-1]
	return d + time.Duration(rand.Int64N(int64(d)/10+1))
}

// Post sends one event. problem is empty after any 2xx.
func (e *Engine) Post(ctx context.Context, t Target, id, event string, payload []byte) (status int, problem string) {
	if err := e.Check(t.URL); err != nil {
		return 0, "the address is not allowed"
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.URL, bytes.NewReader(payload))
	if err != nil {
		return 0, "the address is not valid"
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "contextmem-webhook/1")
	req.Header.Set("X-Service-Delivery-ID", id)
	req.Header.Set("X-Service-Event", event)
	if t.Secret != "" {
		req.Header.Set("X-Service-Signature", Sign([]byte(t.Secret), payload))
	}
	if t.Previous != "" {
		req.Header.Set("X-Service-Signature-Previous", Sign([]byte(t.Previous), payload))
	}
	res, err := e.Client.Do(req)
	if err != nil {
		return 0, reason(err)
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxBody))
	_ = res.Body.Close()
	if res.StatusCode/100 != 2 {
		return res.StatusCode, "the receiver answered " + strconv.Itoa(res.StatusCode)
	}
	return res.StatusCode, ""
}

// reason names what went wrong without addresses or bodies.
func reason(err error) string {
	var dns *net.DNSError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, netguard.ErrForbidden):
		return "the address is not public"
	case errors.As(err, &dns):
		return "the host could not be resolved"
	case errors.Is(err, context.Canceled):
		return "the attempt was cut off"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "the receiver did not answer in time"
	}
	return "the connection failed"
}

// Sign returns the signature header's value: "sha256=" and the lower-case
// hexadecimal HMAC-SHA256 of body.
func Sign(secret, body []byte) string {
	m := hmac.New(sha256.New, secret)
	m.Write(body)
	return "sha256=" + hex.EncodeToString(m.Sum(nil))
}

// Client returns the HTTP client of deliveries: redirects are answers, not followed.
func Client(rt http.RoundTripper) *http.Client {
	return &http.Client{Transport: rt, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
