package webhook

import (
	"bytes"
	"context"
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

// schedule is the pause after each failed attempt. After the last one fails the
// delivery is permanently failed.
var schedule = []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 10 * time.Hour}

const (
	// timeout bounds one attempt.
	timeout     = 15 * time.Second
	lease       = 2 * timeout
	maxInFlight = 64
	maxPerOrg   = 16
	maxPerURL   = 4
	maxBody     = 64 << 10 // of an answer, read so that the connection can be used again
	idlePoll    = time.Minute
	busyPoll    = 200 * time.Millisecond // while deliveries that are due wait for a place with their receiver
	brokenPoll  = 5 * time.Second        // while they wait for a receiver that does not answer
	keep        = 30 * 24 * time.Hour
	giveUpAfter = 7 * 24 * time.Hour // a delivery that waited so long for its receiver has failed
)

// target is where an organisation's events go now.
type target struct {
	url      string
	secret   []byte // empty: unsigned
	previous []byte // signs in a header of its own; empty: not
}

// sender sends what the registry holds: claim with a lease, POST, and record the
// outcome. A worker that dies loses its lease, and the next claim sweeps up what
// it held, so every event arrives at least once, under one delivery id.
type sender struct {
	registry backend.Registry
	client   *http.Client
	// target returns where events of an organisation go; false when nothing is registered.
	target func(ctx context.Context, org string) (target, bool, error)
	vendor bool // headers of the hosted service too
	// check judges a URL before it is used; it may have been saved under other rules.
	check  func(url string) error
	logger *slog.Logger
	token  string
	wake   chan struct{} // of capacity 1

	breakers  *breakers
	attempted func(outcome string) // nil: nobody counts
}

// kick makes the sender look for due deliveries now.
func (s *sender) kick() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// run sends until ctx ends, and waits for what is under way.
func (s *sender) run(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	slots := make(chan struct{}, maxInFlight)
	pruned := time.Time{}
	for ctx.Err() == nil {
		now := time.Now()
		if now.Sub(pruned) > time.Hour {
			pruned = now
			s.prune(ctx, now)
		}
		free := cap(slots) - len(slots)
		ds := s.claim(ctx, now, free)
		for _, d := range ds {
			slots <- struct{}{}
			wg.Go(func() {
				s.attempt(ctx, d)
				<-slots
				s.kick()
			})
		}
		if len(ds) > 0 && len(ds) == free {
			continue
		}
		s.sleep(ctx)
	}
}

func (s *sender) prune(ctx context.Context, now time.Time) {
	s.breakers.forget(now.Add(-time.Hour))
	if _, err := s.registry.PruneDeliveries(ctx, now.Add(-keep), 10_000); err != nil && ctx.Err() == nil {
		s.logger.Warn("pruning old deliveries failed", "err", err)
	}
}

// claim takes deliveries that are due, at most free, and returns those that can be sent now.
func (s *sender) claim(ctx context.Context, now time.Time, free int) []backend.Delivery {
	if free <= 0 {
		return nil
	}
	ds, err := s.registry.ClaimDeliveries(ctx, backend.DeliveryClaim{Now: now, LeaseUntil: now.Add(lease), Token: s.token,
		Limit: free, PerURL: maxPerURL, PerOrg: maxPerOrg, Skip: s.breakers.skip(now)})
	if err != nil && ctx.Err() == nil {
		s.logger.Warn("claiming deliveries failed", "err", err)
	}
	send := ds[:0]
	for _, d := range ds {
		if s.breakers.admit(d.URL) {
			send = append(send, d)
			continue
		}
		d.Status, d.NextAttempt, d.UpdatedAt = backend.DeliveryFailed, now.Add(timeout).UTC(), now.UTC()
		if d.LastError = "waits until the receiver answers again"; now.Sub(d.CreatedAt) > giveUpAfter {
			d.Status, d.NextAttempt, d.LastError = backend.DeliveryPermanentlyFailed, time.Time{}, "the receiver did not answer for days"
		}
		s.finish(ctx, d)
	}
	return send
}

// sleep waits for the next due delivery or for kick.
func (s *sender) sleep(ctx context.Context) {
	pause, least := idlePoll, busyPoll
	if len(s.breakers.skip(time.Now())) > 0 {
		least = brokenPoll
	}
	if next, err := s.registry.NextDelivery(ctx); err == nil && !next.IsZero() {
		pause = min(max(time.Until(next), least), idlePoll)
	}
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-s.wake:
	case <-t.C:
	}
}

// attempt sends a delivery and records the outcome. An attempt that the end of the service cuts off does not count.
func (s *sender) attempt(ctx context.Context, d backend.Delivery) {
	to, ok, err := s.target(ctx, d.Org)
	switch {
	case err != nil:
		d.LastStatusCode, d.LastError = 0, "the registration could not be read"
	case !ok:
		d.Status, d.LastError = backend.DeliveryPermanentlyFailed, "no webhook is registered any more"
	default:
		d.LastStatusCode, d.LastError = s.post(ctx, to, d.ID, d.Event, d.Payload)
	}
	cutOff := ctx.Err() != nil && d.LastError != "" && d.LastStatusCode == 0
	now := time.Now().UTC()
	s.breakers.ended(d.URL, d.LastStatusCode != 0, cutOff || err != nil || !ok, now)
	d.UpdatedAt = now
	if !cutOff {
		d.Attempts++
	}
	switch {
	case d.Status == backend.DeliveryPermanentlyFailed:
		d.NextAttempt = time.Time{}
	case d.LastError == "":
		d.Status, d.NextAttempt = backend.DeliveryDelivered, time.Time{}
	case cutOff: // the next service tries at once
		d.Status, d.NextAttempt = backend.DeliveryFailed, now
	case d.Attempts > len(schedule), now.Sub(d.CreatedAt) > giveUpAfter:
		d.Status, d.NextAttempt = backend.DeliveryPermanentlyFailed, time.Time{}
	default:
		d.Status, d.NextAttempt = backend.DeliveryFailed, now.Add(pause(d.Attempts))
	}
	if s.attempted != nil && !cutOff {
		s.attempted(string(d.Status))
	}
	s.finish(ctx, d)
}

// finish records what became of a delivery, within a second even when the service stops meanwhile.
func (s *sender) finish(ctx context.Context, d backend.Delivery) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := s.registry.FinishDelivery(ctx, d); err != nil && !errors.Is(err, backend.ErrConflict) {
		s.logger.Warn("recording a delivery failed", "delivery", d.ID, "err", err)
	}
}

// pause is the time between attempt n (from 1) and the next, with up to a tenth of jitter.
func pause(n int) time.Duration {
	d := schedule[min(max(n, 1), len(schedule))-1]
	return d + time.Duration(rand.Int64N(int64(d)/10+1))
}

// post sends one event. problem is empty after any 2xx.
func (s *sender) post(ctx context.Context, t target, id, event string, payload []byte) (status int, problem string) {
	if err := s.check(t.url); err != nil {
		return 0, "the address is not allowed"
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url, bytes.NewReader(payload))
	if err != nil {
		return 0, "the address is not valid"
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "contextmem-webhook/1")
	set := func(header, vendors, value string) {
		if req.Header.Set(header, value); s.vendor {
			req.Header.Set(vendors, value)
		}
	}
	set(HeaderDeliveryID, "X-HydraDB-Delivery-ID", id)
	set(HeaderEvent, "X-HydraDB-Event", event)
	if len(t.secret) > 0 {
		set(HeaderSignature, "X-HydraDB-Signature", Sign(t.secret, payload))
	}
	if len(t.previous) > 0 {
		req.Header.Set(HeaderPreviousSignature, Sign(t.previous, payload))
	}
	res, err := s.client.Do(req)
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

// newClient returns the HTTP client of deliveries: redirects are answers, not followed.
func newClient(rt http.RoundTripper) *http.Client {
	return &http.Client{Transport: rt, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
