// Command webhookreceiver receives the webhook deliveries of a contextmem server. It verifies each signature over the raw bytes, handles
// every event once even if it is delivered several times, and answers before it does slow work. It is configured by the environment; -h shows the variables.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/contextmem/contextmem"
)

const (
	maxBody   = 1 << 20 // a delivery is far smaller
	queueSize = 1024
	// maxSeen is how many delivery ids are remembered. A production receiver keeps them in its
	// database, in the transaction that handles the event.
	maxSeen = 100_000
)

func main() {
	switch err := arguments(os.Args[1:], os.Stderr); {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		os.Exit(2)
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Getenv, log); err != nil {
		log.Error("receiver stopped", "err", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, env func(string) string, log *slog.Logger) error {
	r, err := newReceiver(strings.Split(env("RECEIVER_SECRETS"), ","))
	if err != nil {
		return err
	}
	addr := env("RECEIVER_ADDR")
	if addr == "" {
		addr = "127.0.0.1:9090"
	}
	worked := make(chan struct{})
	go func() {
		defer close(worked)
		for p := range r.events {
			log.Info("item is done", "id", p.ID, "database", p.Database, "collection", p.Collection, "status", p.Status, "test", p.Test)
		}
	}()
	srv := &http.Server{Addr: addr, Handler: r, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10}
	context.AfterFunc(ctx, func() {
		sctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second) // longer than a request may take
		defer cancel()
		_ = srv.Shutdown(sctx) // the server repeats deliveries that are cut off
		close(r.stopped)
	})
	log.Info("receiver is ready", "addr", addr)
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	<-r.stopped
	close(r.events)
	<-worked
	return nil
}

// receiver is the handler of deliveries. New events go to the channel events.
type receiver struct {
	secrets []string
	events  chan contextmem.WebhookPayload
	stopped chan struct{}

	mu    sync.Mutex
	seen  map[string]bool
	order []string // of seen, oldest first
}

// newReceiver returns an error without a secret, as any client that reaches the address
// could then forge events.
func newReceiver(secrets []string) (*receiver, error) {
	r := &receiver{events: make(chan contextmem.WebhookPayload, queueSize), stopped: make(chan struct{}), seen: map[string]bool{}}
	for _, s := range secrets {
		if s = strings.TrimSpace(s); s != "" {
			r.secrets = append(r.secrets, s)
		}
	}
	if len(r.secrets) == 0 {
		return nil, errors.New("RECEIVER_SECRETS is not set")
	}
	return r, nil
}

// ServeHTTP answers 204 to events that are queued now or were before, 503 when the
// queue is full (the server then retries), and 4xx to requests that are not genuine events.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "POST only", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
	if err != nil {
		http.Error(w, "unreadable body", http.StatusBadRequest)
		return
	}
	if err := contextmem.VerifyWebhook(body, req.Header.Get("X-Service-Signature"), r.secrets...); err != nil {
		http.Error(w, "bad signature", http.StatusUnauthorized)
		return
	}
	var p contextmem.WebhookPayload
	if err := json.Unmarshal(body, &p); err != nil || p.DeliveryID == "" {
		http.Error(w, "no event", http.StatusBadRequest)
		return
	}
	if !r.take(p) {
		http.Error(w, "busy", http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// take queues an event unless it was seen before. It reports false when the queue is full.
func (r *receiver) take(p contextmem.WebhookPayload) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen[p.DeliveryID] {
		return true
	}
	select {
	case r.events <- p:
	default:
		return false
	}
	if len(r.order) == maxSeen {
		delete(r.seen, r.order[0])
		r.order = r.order[1:]
	}
	r.seen[p.DeliveryID] = true
	r.order = append(r.order, p.DeliveryID)
	return true
}
