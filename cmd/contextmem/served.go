package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/console"
	"github.com/contextmem/contextmem/httpapi"
	"github.com/contextmem/contextmem/shared"
)

// bench is the HTTP handler of serve. The service behind it can be replaced while it runs, when a directory moves to a database.
type bench struct {
	a       *app
	s       *serveFlags
	o       *contextmem.Options
	fixed   []fixedKey
	proxies []netip.Prefix
	limit   *httpapi.RateLimit
	audit   *slog.Logger
	life    context.Context

	now   atomic.Pointer[seated]
	moves sync.WaitGroup
}

// seated is one deployment with its handlers.
type seated struct {
	http.Handler
	d     served
	looks *console.Console // nil: there is no console
}

// ServeHTTP implements http.Handler.
func (b *bench) ServeHTTP(w http.ResponseWriter, r *http.Request) { b.now.Load().ServeHTTP(w, r) }

// put makes bench serve a deployment from now on.
func (b *bench) put(d served) error {
	ring := &keyring{fixed: b.fixed, verify: d.Service().VerifyKey}
	looks, err := b.a.newConsole(b.s, d.Service(), ring, b.limit, b.o.Logger, b.audit)
	if err != nil {
		return err
	}
	var page http.Handler
	if looks != nil {
		page = looks
	}
	h, err := httpapi.New(d.Service(), httpapi.Options{Console: page, Audit: b.audit, Authenticator: ring, MaxBodyBytes: b.s.maxBody, MaxHeldBytes: b.s.maxHeld, BodyTimeout: b.s.bodyTimeout,
		MaxJSONDepth: b.s.depth, RateLimit: b.limit, TrustedProxies: b.proxies, Logger: b.o.Logger})
	if err != nil {
		if looks != nil {
			err = errors.Join(err, looks.Close())
		}
		return usageError{err}
	}
	mux := http.NewServeMux()
	if !b.s.noMCP {
		mux.Handle("/mcp", b.a.mcpHandler(b.life, d.Service(), ring, b.limit))
	}
	if b.s.pprof {
		mountProfiles(mux, ring)
	}
	b.now.Store(&seated{beside(mux, h), d, looks})
	if own, ok := d.(*shared.Deployment); ok {
		own.Handle(migrating, answerMigrate(b.a.data, func(to string) { b.moves.Go(func() { b.follow(to) }) }))
	}
	return nil
}

// beside returns a handler of the routes of mux, and of the REST API for all other paths. A mux with both would redirect paths of the API that
// are not clean, which API clients do not expect.
func beside(mux *http.ServeMux, api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
}

// follow opens and serves the database to which the directory was moved.
func (b *bench) follow(to string) {
	s := *b.s
	s.store = to
	old := b.now.Load()
	d, err := openStore(b.life, b.a.data, &s, b.o)
	if err == nil {
		if err = b.put(d); err != nil {
			err = errors.Join(err, d.Close())
		}
	}
	if err != nil {
		b.o.Logger.Error("the directory was moved, and the database can't be served: start the server with --store", "err", err)
		return
	}
	if err := old.close(); err != nil {
		b.o.Logger.Error("closing the directory that was moved", "err", err)
	}
	fmt.Fprintln(b.a.streams.err, "the directory was moved: the database is served from now on; start the server with --store the next time")
}

// close closes the service.
func (b *bench) close() error {
	b.moves.Wait()
	if now := b.now.Load(); now != nil {
		return now.close()
	}
	return nil
}

func (s *seated) close() (err error) {
	if s.looks != nil {
		err = s.looks.Close()
	}
	if derr := s.d.Close(); !errors.Is(derr, backend.ErrMoved) { // its last writes are not needed
		err = errors.Join(err, derr)
	}
	return err
}
