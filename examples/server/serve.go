package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/embed/neural"
	"github.com/contextmem/contextmem/httpapi"
)

// shutdownPatience is the time that running requests get to finish when the server stops.
const shutdownPatience = 10 * time.Second

// run serves until ctx ends. If ready is not nil, run sends it the listening address.
func run(ctx context.Context, env func(string) string, log *slog.Logger, ready chan<- net.Addr) error {
	keys, err := parseKeys(env("CONTEXTMEM_API_KEYS"))
	if err != nil {
		return err
	}
	addr, dir := env("CONTEXTMEM_ADDR"), env("CONTEXTMEM_DATA")
	if addr == "" {
		addr = "127.0.0.1:8080"
	}
	if dir == "" {
		dir = "contextmem-data"
	}
	proxies, err := parseProxies(env("CONTEXTMEM_TRUSTED_PROXIES"))
	if err != nil {
		return err
	}
	if err := neural.CacheInHome(env("CONTEXTMEM_MODEL_CACHE")); err != nil {
		return fmt.Errorf("CONTEXTMEM_MODEL_CACHE: %w", err)
	}
	var rerank contextmem.Reranker // the imported one
	switch v := env("CONTEXTMEM_RERANKER"); v {
	case "":
	case "none":
		rerank = contextmem.NoReranker
	default:
		return errors.New("CONTEXTMEM_RERANKER: must be none or not set")
	}
	opts := &contextmem.Options{Logger: log, Reranker: rerank, PublicURL: env("CONTEXTMEM_PUBLIC_URL"), AllowLocalWebhooks: env("CONTEXTMEM_ALLOW_LOCAL_WEBHOOKS") == "1"}
	if err := readers(env, opts); err != nil {
		return err
	}
	svc, err := contextmem.Open(ctx, dir, opts)
	if err != nil {
		return err
	}
	h, err := httpapi.New(svc, httpapi.Options{Keys: keys, Logger: log, TrustedProxies: proxies})
	if err != nil {
		return errors.Join(err, svc.Close())
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return errors.Join(err, svc.Close())
	}
	srv := httpapi.NewServer(h)
	srv.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelWarn)
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	log.Info("contextmem is ready", "addr", l.Addr().String())
	if ready != nil {
		ready <- l.Addr()
	}
	select {
	case err = <-served:
	case <-ctx.Done():
		sctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownPatience)
		err = srv.Shutdown(sctx)
		cancel()
		<-served
	}
	return errors.Join(err, svc.Close())
}
