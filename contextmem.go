// Package contextmem is an embeddable context memory for AI agents: isolated
// tenants that hold knowledge (files, app content) and memories (user facts,
// conversations), recalled by hybrid semantic and keyword search with a knowledge
// graph. One import, one directory, no server, no key, no network:
//
//	svc, err := contextmem.Open(ctx, "data", nil)
//	if err != nil { ... }
//	defer svc.Close()
//	_, err = svc.CreateTenant(ctx, contextmem.TenantSpec{ID: "acme"})
//	acme := svc.Tenant("acme")
//	err = acme.WaitReady(ctx)
//	_, err = acme.Sub("alice").AddMemories(ctx, contextmem.MemoryBatch{
//		Memories: []contextmem.Memory{{Text: "Alice takes her coffee black."}},
//	})
//	err = svc.Drain(ctx)
//	res, err := acme.Sub("alice").Recall(ctx, contextmem.Recall{Class: contextmem.ClassMemory, Query: "how does she drink coffee?"})
//
// # Model
//
// A deployment ([Service]) holds organisations; an [Organisation] owns tenants,
// keys, a webhook and connectors. Service stands for the default organisation. A
// [Tenant] is an isolated workspace, a [Sub] (sub-tenant) a partition of it.
// Items are ingested asynchronously: a call returns when they are durable, and
// each reaches Completed or Errored in the background; see [Sub.Wait] and
// [Service.Drain]. What was acknowledged survives a crash at any instant.
//
// Package httpapi serves the same over REST.
package contextmem

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/deliver"
	"github.com/contextmem/contextmem/internal/parse"
	"github.com/contextmem/contextmem/internal/pipeline"
	"github.com/contextmem/contextmem/internal/recall"
	"github.com/contextmem/contextmem/internal/spaces"
)

// Service is an open deployment. It embeds the default [Organisation], so that
// svc.CreateTenant and svc.Tenant work on that one. All methods are safe for
// concurrent use. Only one Service may have a deployment open.
type Service struct {
	Organisation

	opts      *Options
	be        backend.Backend
	reg       backend.Registry
	embedder  Embedder
	ranker    *recall.Engine // over the embedder
	extractor extract.Extractor
	parsers   *parse.Registry
	pipe      *pipeline.Config
	spaces    *spaces.Cache[*space]
	sched     *scheduler
	cache     tenantCache
	doomed    sync.Map // uid -> struct{}: workspaces that are being removed and must not be opened
	leased    sync.Map // uid -> struct{}: workspaces in which a predecessor may have left leases
	reembed   sync.Map // uid -> struct{}: workspaces that may be opened with another embedder than theirs
	requests  requestLog
	webhooks  webhookCache
	deliverer *deliver.Engine
	secrets   *secrets
	providers map[string]*provider
	syncs     *syncs
	keyCache  keyCache

	life context.Context // ends when Close begins
	stop context.CancelFunc
	work sync.WaitGroup // goroutines that the service owns

	mu       sync.RWMutex // guards closed against calls that begin
	closed   bool
	calls    sync.WaitGroup
	closeErr error
	done     chan struct{} // closed when Close has finished
}

// closePatience is how long Close waits for calls and workers that do not heed
// their context (a plug-in that hangs) before it closes the storage under them.
const closePatience = 10 * time.Second

// New returns a Service over any backend. From success on the service owns be and
// closes it; when New fails the caller still does. o may be nil. The ctx bounds
// only the opening.
func New(ctx context.Context, be backend.Backend, o *Options) (*Service, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Service{opts: opts, be: be, reg: be.Registry(), done: make(chan struct{})}
	s.Organisation = Organisation{svc: s, id: DefaultOrg}
	if s.embedder = opts.Embedder; s.embedder == nil {
		s.embedder = defaultEmbedder()
	}
	s.ranker = s.newRanker()
	if s.extractor = opts.Extractor; s.extractor == nil {
		s.extractor = defaultExtractor()
	}
	key := opts.SecretKey
	if key == nil {
		if key, err = registryKey(ctx, s.reg); err != nil {
			return nil, wrap("open", "", "", err)
		}
	}
	if s.secrets, err = newSecrets(key); err != nil {
		return nil, wrap("open", "", "", err)
	}
	if s.providers, err = describeProviders(opts.Providers); err != nil {
		return nil, &Error{Op: "options", Kind: KindInvalid, Err: err}
	}
	s.parsers = parse.New()
	for mediaType, p := range opts.Parsers {
		s.parsers.Register(mediaType, nil, p)
	}
	s.parsers.SetOCR(opts.OCR)
	s.parsers.SetPDFTool(opts.PDFTool)
	s.pipe = &pipeline.Config{Embedder: s.embedder, Extractor: s.extractor, Parsers: s.parsers, ParseTimeout: opts.ParseTimeout,
		Chunking: opts.chunking(), BatchItems: opts.BatchItems, BatchBytes: 32 << 20, MaxAttempts: opts.MaxAttempts, Lease: opts.Lease, Logger: opts.Logger}
	s.life, s.stop = context.WithCancel(context.Background())
	s.cache.init()
	s.spaces = spaces.New(opts.MaxOpenTenants, s.openSpace, s.closeSpace)
	if v, ok := s.reg.(backend.LeaseVoider); ok { // deliveries that a dead predecessor was sending
		if err := v.VoidLeases(ctx); err != nil {
			s.stop()
			return nil, wrap("open", "", "", err)
		}
	}
	s.deliverer = s.newDeliverer()
	s.sched = newScheduler(s)
	if err := s.sched.load(ctx); err != nil {
		s.stop()
		return nil, wrap("open", "", "", err)
	}
	s.syncs = newSyncs(s)
	if err := s.syncs.load(ctx); err != nil {
		s.stop()
		return nil, wrap("open", "", "", err)
	}
	if err := s.sched.start(ctx); err != nil {
		s.stop()
		s.work.Wait()
		return nil, wrap("open", "", "", err)
	}
	s.work.Go(func() { s.deliverer.Run(s.life) })
	s.work.Go(s.syncs.loop)
	return s, nil
}

// Org returns the handle of another organisation. Organisations need no creation.
func (s *Service) Org(id string) Organisation { return Organisation{svc: s, id: id} }

// begin admits a call; every success must be followed by end.
func (s *Service) begin() error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return &Error{Kind: KindClosed, Err: ErrClosed}
	}
	s.calls.Add(1)
	return nil
}

func (s *Service) end() { s.calls.Done() }

// Drain waits until nothing that was accepted waits to be processed, in any
// tenant, and every due webhook event was handed over for delivery. Items that wait for a retry count as waiting.
// Tenants that need [Tenant.Reembed] are not waited for: then the error is ErrConflict.
func (s *Service) Drain(ctx context.Context) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	return s.sched.drain(ctx, nil)
}

// DrainProgress is Drain with a callback that is called with the counts of
// items by state over all open tenants, at each change and at least once.
func (s *Service) DrainProgress(ctx context.Context, f func(Progress)) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	return s.sched.drain(ctx, f)
}

// Progress counts items that are on their way, and those that ended since the service was opened.
type Progress struct {
	Queued, Processing, Graph int
	Completed, Errored        int
}

// Waiting is the number of items that are not terminal.
func (p Progress) Waiting() int { return p.Queued + p.Processing + p.Graph }

// Close stops intake, lets calls that are under way end, stops the workers, and
// closes the backend. Items in work are given back and go on at the next open. It is idempotent and
// safe from several goroutines; all get the same result. A plug-in that hangs
// delays it by at most twenty seconds.
func (s *Service) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	if !first {
		<-s.done
		return s.closeErr
	}
	s.stop()
	var errs []error
	idle := make(chan struct{})
	go func() {
		s.calls.Wait()
		s.work.Wait()
		close(idle)
	}()
	t := time.NewTimer(closePatience)
	defer t.Stop()
	select {
	case <-idle:
	case <-t.C:
		errs = append(errs, fmt.Errorf("close: calls or workers still ran after %v", closePatience))
	}
	closed := make(chan error, 1)
	go func() { closed <- errors.Join(s.spaces.Close(), s.be.Close()) }()
	var late <-chan time.Time // what hung may hold the storage up as well
	if len(errs) > 0 {
		t.Reset(closePatience)
		late = t.C
	}
	select {
	case err := <-closed:
		errs = append(errs, err)
	case <-late:
		errs = append(errs, fmt.Errorf("close: the storage was still in use after %v", 2*closePatience))
	}
	s.closeErr = errors.Join(errs...)
	close(s.done)
	return s.closeErr
}
