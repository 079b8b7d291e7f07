package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"os"
	"strings"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/console"
	"github.com/contextmem/contextmem/httpapi"
)

// verifyText returns the key with a text, for the console.
func (k *keyring) verifyText(ctx context.Context, text string) (contextmem.Key, error) {
	r := (&http.Request{Header: http.Header{"Authorization": {"Bearer " + text}}}).WithContext(ctx)
	p, err := k.Authenticate(r)
	if err != nil {
		return contextmem.Key{}, err
	}
	key := p.Key
	key.ID = p.ID
	return key, nil
}

// auditLog opens the log of writes, which appends JSON lines to a file. "-" selects w; an empty name disables the log.
func auditLog(name string, w io.Writer) (*slog.Logger, io.Closer, error) {
	switch name {
	case "":
		return nil, io.NopCloser(nil), nil
	case "-":
		return slog.New(slog.NewJSONHandler(w, nil)), io.NopCloser(nil), nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, usage("--audit-log: can't be opened")
	}
	return slog.New(slog.NewJSONHandler(f, nil)), f, nil
}

// newConsole creates the console, or returns nil if the console is disabled.
func (a *app) newConsole(s *serveFlags, svc *contextmem.Service, ring *keyring, limit *httpapi.RateLimit, log, audit *slog.Logger) (*console.Console, error) {
	if s.noConsole {
		return nil, nil
	}
	return console.New(svc, console.Options{Verify: ring.verifyText, Limit: limit.Take, BackupDir: s.backupDir, Secure: strings.HasPrefix(a.engine.publicURL, "https:"), Audit: audit, Logger: log})
}

// mountProfiles serves the profiles of package runtime/pprof to administrator keys.
func mountProfiles(mux *http.ServeMux, ring *keyring) {
	profiles := http.NewServeMux()
	profiles.HandleFunc("/debug/pprof/", pprof.Index)
	profiles.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	profiles.HandleFunc("/debug/pprof/profile", pprof.Profile)
	profiles.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	profiles.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.Handle("/debug/pprof/", httpapi.RequireAdmin(ring, profiles))
}

// serveDemo serves the demo with its console and prints how to sign in.
func (a *app) serveDemo(ctx context.Context, s *serveFlags) error {
	err := a.withHome(ctx, func(ctx context.Context, h home) error {
		if err := loadPersona(ctx, h); err != nil {
			return err
		}
		_, text, err := h.CreateKey(ctx, contextmem.KeySpec{Owner: "demo"})
		if err != nil {
			return err
		}
		fmt.Fprintf(a.out, "\nOpen http://%s/console/ and sign in with this key, which is shown once:\n\n  %s\n\n", s.addr, text)
		return nil
	})
	if err != nil {
		return err
	}
	return a.serve(ctx, s)
}
