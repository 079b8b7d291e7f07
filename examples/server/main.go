// Command server serves contextmem over REST. It is configured by the environment:
//
//	CONTEXTMEM_ADDR      address to listen on; default 127.0.0.1:8080
//	CONTEXTMEM_DATA      directory of the data; default ./contextmem-data
//	CONTEXTMEM_API_KEYS  key=organisation,...; a bare key is organisation "default"; required
//	CONTEXTMEM_PUBLIC_URL       address under which clients reach the server, for presigned URLs; default: what each
//	                            request was sent to
//	CONTEXTMEM_TRUSTED_PROXIES  addresses of proxies whose X-Forwarded-* headers count, as CIDRs: 10.0.0.0/8,...
//	CONTEXTMEM_OCR=1                 reads images and scanned PDF documents with tesseract and pdftoppm, which have to be
//	                                 installed
//	CONTEXTMEM_OCR_LANGUAGES         languages of tesseract, joined by +; default eng
//	CONTEXTMEM_TRANSCRIBER_URL       address of a server in front of /audio/transcriptions (OpenAI, whisper.cpp, ...), which
//	                                 turns recordings into text; default: none
//	CONTEXTMEM_TRANSCRIBER_MODEL     model of that server; default whisper-1
//	CONTEXTMEM_TRANSCRIBER_KEY       key of that server
//	CONTEXTMEM_PARSE_TIMEOUT         time for one document, such as 10m; default 60s
//	CONTEXTMEM_RERANKER=none    leaves the reranker of thinking mode out (English; tenths of a second a question on two cores)
//	CONTEXTMEM_ALLOW_LOCAL_WEBHOOKS=1  lets webhooks go to http and local addresses
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/httpapi"
	_ "github.com/contextmem/contextmem/models/change-multilingual" // the judge of what replaces what
	_ "github.com/contextmem/contextmem/models/e5-bge"              // the embedder
	_ "github.com/contextmem/contextmem/models/reranker-en"         // the reranker of thinking mode
	"github.com/contextmem/contextmem/transcribe"
)

func main() {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Getenv, log, nil); err != nil {
		log.Error("server stopped", "err", err)
		os.Exit(1)
	}
}

// shutdownPatience is how long requests that are under way may take when the server stops.
const shutdownPatience = 10 * time.Second

// run serves until ctx ends. ready, when not nil, gets the address.
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

// readers sets what reads scans and recordings.
func readers(env func(string) string, opts *contextmem.Options) error {
	if env("CONTEXTMEM_OCR") == "1" {
		for _, program := range []string{"tesseract", "pdftoppm"} {
			if _, err := exec.LookPath(program); err != nil {
				return fmt.Errorf("CONTEXTMEM_OCR: %s is not installed", program)
			}
		}
		opts.OCR = document.Tesseract{Languages: env("CONTEXTMEM_OCR_LANGUAGES")}
	}
	if base := env("CONTEXTMEM_TRANSCRIBER_URL"); base != "" {
		t, err := transcribe.New(transcribe.Config{BaseURL: base, Model: env("CONTEXTMEM_TRANSCRIBER_MODEL"), APIKey: env("CONTEXTMEM_TRANSCRIBER_KEY")})
		if err != nil {
			return fmt.Errorf("CONTEXTMEM_TRANSCRIBER_URL: %w", err)
		}
		opts.Transcriber = t
	}
	if s := env("CONTEXTMEM_PARSE_TIMEOUT"); s != "" {
		d, err := time.ParseDuration(s)
		if err != nil {
			return errors.New("CONTEXTMEM_PARSE_TIMEOUT is no duration such as 10m")
		}
		opts.ParseTimeout = d
	}
	return nil
}

// parseProxies reads "10.0.0.0/8,192.0.2.1/32".
func parseProxies(s string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for i, part := range strings.Split(s, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		p, err := netip.ParsePrefix(part)
		if err != nil {
			return nil, fmt.Errorf("CONTEXTMEM_TRUSTED_PROXIES: entry %d is no CIDR", i+1)
		}
		out = append(out, p)
	}
	return out, nil
}

// parseKeys reads "key=org,key". Errors never hold a key.
func parseKeys(s string) (map[string]string, error) {
	keys := map[string]string{}
	for i, part := range strings.Split(s, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		key, org, named := strings.Cut(part, "=")
		key, org = strings.TrimSpace(key), strings.TrimSpace(org)
		if !named {
			org = contextmem.DefaultOrg
		}
		if key == "" || org == "" {
			return nil, fmt.Errorf("CONTEXTMEM_API_KEYS: entry %d has no key or no organisation", i+1)
		}
		if _, twice := keys[key]; twice {
			return nil, fmt.Errorf("CONTEXTMEM_API_KEYS: entry %d repeats a key", i+1)
		}
		keys[key] = org
	}
	if len(keys) == 0 {
		return nil, errors.New("CONTEXTMEM_API_KEYS is not set: the server needs at least one key")
	}
	return keys, nil
}
