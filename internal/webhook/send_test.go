package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/backend/inmem"
)

// post is one request received by a receiver.
type post struct {
	at     time.Time
	header http.Header
	body   string
}

// receiver answers requests in place of the network.
type receiver struct {
	mu     sync.Mutex
	got    map[string][]post // by URL
	answer func(url string, n int) (status int, wait time.Duration, err error)
}

func (r *receiver) RoundTrip(req *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(req.Body)
	url := req.URL.String()
	r.mu.Lock()
	r.got[url] = append(r.got[url], post{time.Now(), req.Header.Clone(), string(body)})
	n := len(r.got[url])
	r.mu.Unlock()
	status, wait, err := r.answer(url, n)
	if wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case <-t.C:
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
	}
	if err != nil {
		return nil, err
	}
	h := http.Header{}
	if status/100 == 3 {
		h.Set("Location", "https://elsewhere.example.com/")
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader("thanks")), Request: req}, nil
}

func (r *receiver) posts(url string) []post {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]post(nil), r.got[url]...)
}

const secret = "0123456789abcdef"

func engine(reg backend.Registry, rt http.RoundTripper, url string) *sender {
	return &sender{registry: reg, client: newClient(rt), logger: slog.New(slog.DiscardHandler), token: "t", wake: make(chan struct{}, 1), breakers: newBreakers(), check: func(string) error { return nil },
		target: func(_ context.Context, org string) (target, bool, error) {
			if url != "" {
				return target{url: url, secret: []byte(secret)}, true, nil
			}
			return target{url: "https://" + org + ".example.com/"}, true, nil
		}}
}

func enqueue(t *testing.T, reg backend.Registry, org string, n int) {
	t.Helper()
	now := time.Now().UTC()
	var ds []backend.Delivery
	for i := range n {
		id := fmt.Sprintf("dlv_%s_%d", org, i)
		ds = append(ds, backend.Delivery{ID: id, Org: org, URL: "https://" + org + ".example.com/", Event: "indexing.status_changed", ItemID: "m", Status: backend.DeliveryPending,
			Payload: []byte(`{"delivery_id":"` + id + `"}`), CreatedAt: now, UpdatedAt: now, NextAttempt: now})
	}
	require.NoError(t, reg.AddDeliveries(t.Context(), ds))
}

func run(t *testing.T, e *sender) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { e.run(ctx) })
	return func() { cancel(); wg.Wait() }
}

func state(t *testing.T, reg backend.Registry, org string, i int) backend.Delivery {
	t.Helper()
	d, err := reg.Delivery(t.Context(), org, fmt.Sprintf("dlv_%s_%d", org, i))
	require.NoError(t, err)
	return d
}

func TestDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := inmem.New().Registry()
		r := &receiver{got: map[string][]post{}, answer: func(string, int) (int, time.Duration, error) { return 204, 0, nil }}
		enqueue(t, reg, "a", 1)
		stop := run(t, engine(reg, r, "https://hook.example.com/x"))
		synctest.Wait()
		stop()
		ps := r.posts("https://hook.example.com/x")
		require.Len(t, ps, 1)
		require.Equal(t, `{"delivery_id":"dlv_a_0"}`, ps[0].body)
		require.Equal(t, "application/json", ps[0].header.Get("Content-Type"))
		require.Equal(t, "dlv_a_0", ps[0].header.Get("X-Service-Delivery-ID"))
		require.Equal(t, "indexing.status_changed", ps[0].header.Get("X-Service-Event"))
		require.Equal(t, Sign([]byte(secret), []byte(ps[0].body)), ps[0].header.Get("X-Service-Signature"))
		d := state(t, reg, "a", 0)
		require.Equal(t, backend.DeliveryDelivered, d.Status)
		require.Equal(t, 1, d.Attempts)
		require.Equal(t, 204, d.LastStatusCode)
		require.True(t, d.NextAttempt.IsZero())
	})
}

// TestSign checks test case 2 of RFC 4231 for HMAC-SHA256.
func TestSign(t *testing.T) {
	t.Parallel()
	require.Equal(t, "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843", Sign([]byte("Jefe"), []byte("what do ya want for nothing?")))
}

func TestSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := inmem.New().Registry()
		r := &receiver{got: map[string][]post{}, answer: func(string, int) (int, time.Duration, error) { return 500, 0, nil }}
		enqueue(t, reg, "a", 1)
		stop := run(t, engine(reg, r, ""))
		time.Sleep(40 * time.Hour)
		ps := r.posts("https://a.example.com/")
		require.Len(t, ps, len(schedule)+1)
		for i, pause := range schedule {
			got := ps[i+1].at.Sub(ps[i].at)
			require.GreaterOrEqual(t, got, pause, "attempt %d", i+2)
			require.LessOrEqual(t, got, pause+pause/10+time.Second, "attempt %d", i+2)
		}
		for _, p := range ps {
			require.Equal(t, ps[0].body, p.body)
			require.Equal(t, "dlv_a_0", p.header.Get("X-Service-Delivery-ID"))
			require.Empty(t, p.header.Get("X-Service-Signature"), "no secret, no header")
		}
		d := state(t, reg, "a", 0)
		require.Equal(t, backend.DeliveryPermanentlyFailed, d.Status)
		require.Equal(t, 500, d.LastStatusCode)
		require.Equal(t, "the receiver answered 500", d.LastError)
		require.True(t, d.NextAttempt.IsZero())
		stop()
	})
}

func TestProblems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			status int
			wait   time.Duration
			err    error
			want   string
		}{
			"redirect": {302, 0, nil, "the receiver answered 302"},
			"gone":     {410, 0, nil, "the receiver answered 410"},
			"slow":     {200, time.Minute, nil, "the receiver did not answer in time"},
			"refused":  {0, 0, errors.New("connection refused by 10.1.2.3"), "the connection failed"},
			"no host":  {0, 0, &net.DNSError{Name: "x"}, "the host could not be resolved"},
		} {
			reg := inmem.New().Registry()
			r := &receiver{got: map[string][]post{}, answer: func(string, int) (int, time.Duration, error) { return c.status, c.wait, c.err }}
			enqueue(t, reg, "a", 1)
			stop := run(t, engine(reg, r, ""))
			time.Sleep(timeout + time.Second)
			d := state(t, reg, "a", 0)
			require.Contains(t, []backend.DeliveryStatus{backend.DeliveryFailed, backend.DeliverySweeping}, d.Status, name)
			require.Equal(t, c.want, d.LastError, name)
			require.Equal(t, c.status*b2i(c.wait == 0), d.LastStatusCode, name)
			stop()
			require.Len(t, r.got, 1, "%s: a redirect is not followed", name)
		}
	})
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestHugeAnswerIsNotRead(t *testing.T) {
	t.Parallel()
	var wrote int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b := make([]byte, 1<<20)
		for range 1000 {
			n, err := w.Write(b)
			wrote += int64(n)
			if err != nil {
				return
			}
		}
	}))
	e := engine(inmem.New().Registry(), http.DefaultTransport, "")
	code, problem := e.post(t.Context(), target{url: srv.URL}, "id", "event", []byte("{}"))
	require.Equal(t, 200, code)
	require.Empty(t, problem)
	srv.Close()
	require.Less(t, wrote, int64(100<<20))
}

func TestForbiddenAddressIsNotCalled(t *testing.T) {
	t.Parallel()
	r := &receiver{got: map[string][]post{}}
	e := engine(inmem.New().Registry(), r, "")
	e.check = func(string) error { return errors.New("no") }
	code, problem := e.post(t.Context(), target{url: "https://a.example.com"}, "id", "event", nil)
	require.Zero(t, code)
	require.Equal(t, "the address is not allowed", problem)
	require.Empty(t, r.got)
}

// TestSlowReceiverDelaysNobody sends many events to a receiver that never answers, and one to another.
func TestSlowReceiverDelaysNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := inmem.New().Registry()
		r := &receiver{got: map[string][]post{}, answer: func(url string, _ int) (int, time.Duration, error) {
			if strings.Contains(url, "slow") {
				return 200, time.Hour, nil
			}
			return 200, 0, nil
		}}
		enqueue(t, reg, "slow", 200)
		stop := run(t, engine(reg, r, ""))
		time.Sleep(time.Second)
		enqueue(t, reg, "quick", 20)
		time.Sleep(2 * time.Second)
		require.Len(t, r.posts("https://slow.example.com/"), maxPerURL)
		require.Len(t, r.posts("https://quick.example.com/"), 20)
		stop()
	})
}

// TestOneOrganisationDelaysNobody sends events of an organisation with many hanging addresses, each with a long queue,
// and of one with a receiver that answers.
func TestOneOrganisationDelaysNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := inmem.New().Registry()
		r := &receiver{got: map[string][]post{}, answer: func(url string, _ int) (int, time.Duration, error) {
			if strings.Contains(url, "slow") {
				return 200, time.Hour, nil
			}
			return 200, 0, nil
		}}
		now := time.Now().UTC()
		var ds []backend.Delivery
		for i := range 20 {
			for j := range 20 {
				ds = append(ds, backend.Delivery{ID: fmt.Sprintf("dlv_slow_%d_%d", i, j), Org: "slow", URL: fmt.Sprintf("https://%d.slow.example.com/", i),
					Event: "e", Status: backend.DeliveryPending, CreatedAt: now, UpdatedAt: now, NextAttempt: now})
			}
		}
		require.NoError(t, reg.AddDeliveries(t.Context(), ds))
		stop := run(t, engine(reg, r, ""))
		time.Sleep(time.Second)
		enqueue(t, reg, "quick", 20)
		time.Sleep(2 * time.Second)
		require.Len(t, r.posts("https://quick.example.com/"), 20)
		require.LessOrEqual(t, len(r.posts("https://slow.example.com/")), maxPerOrg)
		stop()
	})
}

// TestBreaker checks that one delivery at a time is attempted at intervals to an address that does not answer, that
// other deliveries to it use up no attempts, and that all arrive soon after it answers again, within two minutes after an hour.
func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 100
		reg := inmem.New().Registry()
		down := true
		r := &receiver{got: map[string][]post{}}
		r.answer = func(string, int) (int, time.Duration, error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			if down {
				return 0, time.Hour, nil
			}
			return 200, 0, nil
		}
		enqueue(t, reg, "a", n)
		stop := run(t, engine(reg, r, ""))
		time.Sleep(time.Hour)
		tried := len(r.posts("https://a.example.com/"))
		require.Greater(t, tried, 10)
		require.Less(t, tried, n, "without a breaker each of them was tried several times")
		attempts := 0
		for i := range n {
			attempts += state(t, reg, "a", i).Attempts
		}
		require.LessOrEqual(t, attempts, tried)
		r.mu.Lock()
		down = false
		r.mu.Unlock()
		time.Sleep(shortBreak + 3*timeout)
		arrived := 0
		for i := range n {
			if state(t, reg, "a", i).Status == backend.DeliveryDelivered {
				arrived++
			}
		}
		require.Equal(t, n, arrived, "the first that arrives wakes those that were tried")
		stop()
	})
}

// TestDeliveriesEnd checks that deliveries to a receiver that never answers again end after a week.
func TestDeliveriesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := inmem.New().Registry()
		r := &receiver{got: map[string][]post{}, answer: func(string, int) (int, time.Duration, error) { return 0, time.Hour, nil }}
		enqueue(t, reg, "a", 20)
		stop := run(t, engine(reg, r, ""))
		time.Sleep(giveUpAfter + 24*time.Hour)
		for i := range 20 {
			require.Equal(t, backend.DeliveryPermanentlyFailed, state(t, reg, "a", i).Status, i)
		}
		stop()
	})
}

// TestLapsedLeaseIsTakenOver checks that the next sender sends what a dead one had leased, with the same id.
func TestLapsedLeaseIsTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := inmem.New().Registry()
		enqueue(t, reg, "a", 1)
		now := time.Now()
		ds, err := reg.ClaimDeliveries(t.Context(), backend.DeliveryClaim{Now: now, LeaseUntil: now.Add(lease), Token: "dead", Limit: 10})
		require.NoError(t, err)
		require.Len(t, ds, 1)
		r := &receiver{got: map[string][]post{}, answer: func(string, int) (int, time.Duration, error) { return 200, 0, nil }}
		stop := run(t, engine(reg, r, ""))
		time.Sleep(lease - time.Second)
		require.Empty(t, r.posts("https://a.example.com/"))
		time.Sleep(2 * time.Second)
		require.Len(t, r.posts("https://a.example.com/"), 1)
		require.Equal(t, backend.DeliveryDelivered, state(t, reg, "a", 0).Status)
		require.Equal(t, 1, state(t, reg, "a", 0).Attempts, "the one that was cut off does not count")
		stop()
	})
}

// TestStopReleasesDeliveries checks that an attempt interrupted by the end of the service is due at once.
func TestStopReleasesDeliveries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := inmem.New().Registry()
		r := &receiver{got: map[string][]post{}, answer: func(string, int) (int, time.Duration, error) { return 200, time.Hour, nil }}
		enqueue(t, reg, "a", 1)
		stop := run(t, engine(reg, r, ""))
		time.Sleep(time.Second)
		stop()
		d := state(t, reg, "a", 0)
		require.Equal(t, backend.DeliveryFailed, d.Status)
		require.Equal(t, "the attempt was cut off", d.LastError)
		require.False(t, d.NextAttempt.After(time.Now()))
		require.Zero(t, d.Attempts)
	})
}

// TestRegistryFaults checks that a registry that fails at times delays deliveries and loses none.
func TestRegistryFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := fmt.Errorf("disk: %w", backend.ErrUnavailable)
		plan := backendtest.NewPlan(backendtest.Fault{Method: "Registry.ClaimDeliveries", Call: 1, Err: down}, backendtest.Fault{Method: "Registry.NextDelivery", Call: 2, Err: down},
			backendtest.Fault{Method: "Registry.FinishDelivery", Call: 1, Err: down}, backendtest.Fault{Method: "Registry.PruneDeliveries", Err: down})
		be := inmem.New()
		enqueue(t, be.Registry(), "a", 3)
		r := &receiver{got: map[string][]post{}, answer: func(string, int) (int, time.Duration, error) { return 200, 0, nil }}
		stop := run(t, engine(backendtest.Faulty(be, plan).Registry(), r, ""))
		time.Sleep(10 * time.Minute)
		for i := range 3 {
			require.Equal(t, backend.DeliveryDelivered, state(t, be.Registry(), "a", i).Status)
		}
		ids := map[string]int{}
		for _, p := range r.posts("https://a.example.com/") {
			ids[p.header.Get("X-Service-Delivery-ID")]++
		}
		require.Len(t, ids, 3)
		stop()
	})
}

func TestOldDeliveriesArePruned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := inmem.New().Registry()
		r := &receiver{got: map[string][]post{}, answer: func(string, int) (int, time.Duration, error) { return 200, 0, nil }}
		enqueue(t, reg, "a", 1)
		stop := run(t, engine(reg, r, ""))
		time.Sleep(keep - 2*time.Hour)
		require.Equal(t, backend.DeliveryDelivered, state(t, reg, "a", 0).Status)
		time.Sleep(4 * time.Hour)
		_, err := reg.Delivery(t.Context(), "a", "dlv_a_0")
		require.ErrorIs(t, err, backend.ErrNotFound)
		stop()
	})
}
