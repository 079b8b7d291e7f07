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

// schedule holds the pauses after failed attempts. A delivery has permanently failed
// when the attempt after the last pause fails.
var schedule = []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 10 * time.Hour}

const (
	// timeout bounds one attempt.
	timeout     = 15 * time.Second
	lease       = 2 * timeout
	maxInFlight = 64
	maxPerOrg   = 16
	maxPerURL   = 4
	maxBody     = 64 << 10 // bytes of an answer that are read, so that the connection can be reused
	idlePoll    = time.Minute
	busyPoll    = 200 * time.Millisecond // poll interval while due deliveries wait because their receiver has too many in flight
	brokenPoll  = 5 * time.Second        // poll interval while due deliveries wait for a receiver that does not answer
	keep        = 30 * 24 * time.Hour
	giveUpAfter = 7 * 24 * time.Hour // age at which a delivery permanently fails
)

// target is the current receiver of an organisation's events.
type target struct {
	url      string
	secret   []byte // empty if deliveries are unsigned
	previous []byte // signs in a second header; empty if there is none
}

// sender sends the deliveries in the registry: it claims each with a lease, sends a POST request and
// records the result. If a worker dies, its lease runs out and another worker claims its
// deliveries. So every event arrives at least once, always with the same delivery id.
type sender struct {
	registry backend.Registry
	client   *http.Client
	// target returns the receiver of an organisation's events; false if none is registered.
	target func(ctx context.Context, org string) (target, bool, error)
	vendor bool // whether to add the headers of the hosted service
	// check validates a URL before use, because it may have been saved under other rules.
	check  func(url string) error
	logger *slog.Logger
	token  string
	wake   chan struct{} // capacity 1

	breakers  *breakers
	attempted func(outcome string) // may be nil
}

// kick makes the sender look for due deliveries at once.
func (s *sender) kick() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// run sends deliveries until ctx ends, and waits for running attempts.
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

// claim claims at most free due deliveries and returns those that can be sent now.
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

// sleep waits until the next delivery is due, kick is called or ctx ends.
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

// attempt sends a delivery and records the result. An attempt that is cut off because ctx ends does not count.
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
	back := s.breakers.ended(d.URL, d.LastStatusCode != 0, cutOff || err != nil || !ok, now)
	d.UpdatedAt = now
	if !cutOff {
		d.Attempts++
	}
	switch {
	case d.Status == backend.DeliveryPermanentlyFailed:
		d.NextAttempt = time.Time{}
	case d.LastError == "":
		d.Status, d.NextAttempt = backend.DeliveryDelivered, time.Time{}
	case cutOff: // due at once after the next start
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
	if back {
		s.wakeOthers(ctx, d)
	}
}

// maxWoken is the number of deliveries that are looked at when an address answers again.
const maxWoken = 10_000

// maxWokenAttempts is the number of attempts from which on a delivery is sent by the schedule alone. An address that answers some and fails
// others would use up all attempts within an hour otherwise.
var maxWokenAttempts = len(schedule) - 2

// wakeOthers sends now what else was not answered at the address of a delivery, instead of when the schedule says.
func (s *sender) wakeOthers(ctx context.Context, d backend.Delivery) {
	q := backend.DeliveryQuery{Org: d.Org, Status: backend.DeliveryFailed, Limit: 500}
	for range maxWoken / q.Limit {
		ds, err := s.registry.Deliveries(ctx, q)
		if err != nil {
			if ctx.Err() == nil {
				s.logger.Warn("deliveries that wait for a receiver could not be read; they are sent by schedule", "err", err)
			}
			return
		}
		for _, o := range ds {
			q.Before = o.Num
			if o.URL != d.URL || o.LastStatusCode != 0 || o.Attempts >= maxWokenAttempts {
				continue
			}
			if err := s.registry.RequeueDelivery(ctx, o.Org, o.ID, time.Now().UTC()); err != nil && !errors.Is(err, backend.ErrConflict) && ctx.Err() == nil {
				s.logger.Warn("a delivery that waits for a receiver could not be queued; it is sent by schedule", "delivery", o.ID, "err", err)
			}
		}
		if len(ds) < q.Limit {
			return
		}
	}
}

// finish stores the state of a delivery. It takes at most a second, and still stores it if ctx ends meanwhile.
func (s *sender) finish(ctx context.Context, d backend.Delivery) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := s.registry.FinishDelivery(ctx, d); err != nil && !errors.Is(err, backend.ErrConflict) {
		s.logger.Warn("recording a delivery failed", "delivery", d.ID, "err", err)
	}
}

// pause returns the time between attempt n (from 1) and the next one, with up to 10 % of jitter.
func pause(n int) time.Duration {
	d := schedule[min(max(n, 1), len(schedule))-1]
	return d + time.Duration(rand.Int64N(int64(d)/10+1))
}

// post sends one event. problem is empty for any 2xx status.
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

// reason describes an error without addresses and bodies.
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

// newClient returns the HTTP client for deliveries. It does not follow redirects.
func newClient(rt http.RoundTripper) *http.Client {
	return &http.Client{Transport: rt, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
