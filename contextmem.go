// Package contextmem is an embeddable context memory for AI agents: isolated tenants that hold knowledge (files, app content) and memories (user
// facts, conversations), recalled by hybrid semantic and keyword search with a knowledge graph. One import, one directory, no server, no key, no
// network:
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
// A deployment ([Service]) holds organisations; an [Organisation] owns tenants, keys, a webhook and connectors. Service stands for the default
// organisation. A [Tenant] is an isolated workspace, a [Sub] (sub-tenant) a partition of it. Items are ingested asynchronously: a call returns when
// they are durable, and each item becomes Completed or Errored in the background; see [Sub.Wait] and [Service.Drain]. Acknowledged writes survive a
// crash at any instant.
//
// Package httpapi serves the same functions over REST.
package contextmem

import (
	"context"
	"errors"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/extract/rules"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/access"
	"github.com/contextmem/contextmem/internal/change"
	"github.com/contextmem/contextmem/internal/connect"
	"github.com/contextmem/contextmem/internal/documents"
	"github.com/contextmem/contextmem/internal/feedback"
	"github.com/contextmem/contextmem/internal/graph"
	"github.com/contextmem/contextmem/internal/intake"
	"github.com/contextmem/contextmem/internal/lease"
	"github.com/contextmem/contextmem/internal/meter"
	"github.com/contextmem/contextmem/internal/parse"
	"github.com/contextmem/contextmem/internal/pipeline"
	"github.com/contextmem/contextmem/internal/profile"
	"github.com/contextmem/contextmem/internal/schedule"
	"github.com/contextmem/contextmem/internal/search"
	"github.com/contextmem/contextmem/internal/transfer"
	"github.com/contextmem/contextmem/internal/vectors"
	"github.com/contextmem/contextmem/internal/webhook"
	"github.com/contextmem/contextmem/internal/workspace"
	"github.com/contextmem/contextmem/judge"
	"github.com/contextmem/contextmem/observe"
)

// Service is an open deployment. It embeds the default [Organisation], so svc.CreateTenant and svc.Tenant work on that organisation. All methods are safe
// for concurrent use. Only one Service may have a deployment open, unless the backend implements [backend.Shared].
type Service struct {
	Organisation

	opts      *Options
	be        backend.Backend
	reg       backend.Registry
	embedder  Embedder
	extractor extract.Extractor
	judge     judge.Judge // nil: there is none
	parsers   *parse.Registry

	gate      *workspace.Gate
	set       *workspace.Set
	sched     *schedule.Scheduler
	intake    *intake.Engine
	documents *documents.Engine
	vectors   *vectors.Engine
	search    *search.Engine
	transfer  *transfer.Engine
	profiles  *profile.Engine

	requests   feedback.Requests
	meter      *meter.Service
	observer   observe.Observer
	secrets    *access.Secrets
	keys       *access.Keys
	webhooks   *webhook.Engine
	connectors *connect.Engine
	leases     *lease.Keeper // nil: no other process has the deployment open

	closeErr error
	done     chan struct{} // closed when Close has finished
}

// closePatience is how long Close waits for calls and workers that ignore the end of
// their context, such as a hanging plug-in, before it closes the storage anyway.
const closePatience = 10 * time.Second

// New returns a Service over any backend. If New succeeds, the service owns be and closes it. If New fails, the caller has to close be.
// o may be nil. ctx bounds only the opening.
func New(ctx context.Context, be backend.Backend, o *Options) (*Service, error) {
	opts, err := o.withDefaults("")
	if err != nil {
		return nil, err
	}
	if be == nil {
		return nil, &fault.Error{Op: "open", Kind: fault.KindInvalid, Err: errors.New("the backend is nil")}
	}
	return serve(ctx, be, opts)
}

// serve is New with completed options.
func serve(ctx context.Context, be backend.Backend, opts *Options) (*Service, error) {
	s := &Service{opts: opts, be: be, reg: be.Registry(), gate: workspace.NewGate(), done: make(chan struct{})}
	s.Organisation = Organisation{from{s}, DefaultOrg}
	if err := s.assemble(ctx); err != nil {
		return nil, fault.Wrap("open", "", opts.keyDir, err)
	}
	if err := s.start(ctx); err != nil {
		s.gate.Abandon()
		return nil, fault.Wrap("open", "", opts.keyDir, err)
	}
	return s, nil
}

// assemble creates the engines without starting any of them.
func (s *Service) assemble(ctx context.Context) (err error) {
	o := s.opts
	s.meter = meter.NewService()
	s.observer = observe.Several(s.meter, o.Observer)
	if s.embedder, err = o.embedder(); err != nil {
		return err
	}
	switch s.judge = o.Judge; s.judge {
	case judge.None:
		s.judge = nil
	case nil:
		if s.judge, err = judge.Default(); err != nil {
			return err
		}
	}
	if s.extractor = o.Extractor; s.extractor == nil {
		s.extractor = rules.New()
	}
	if sh, ok := s.be.(backend.Shared); ok && sh.Shares() {
		s.leases = lease.New(s.reg)
	}
	if s.secrets, err = access.NewSecrets(ctx, s.reg, access.StoreOf(o.SecretKey, o.keyDir, o.EncryptionKey != nil, s.reg), s.leases != nil); err != nil {
		return err
	}
	s.parsers = o.parsers()
	if s.connectors, err = s.newConnectors(); err != nil {
		return err
	}
	s.keys, s.webhooks = access.NewKeys(s.reg), s.newWebhooks()
	s.profiles = &profile.Engine{Slots: o.slots, Embedder: s.embedder, Summarizer: o.Summarizer, Logger: o.Logger}
	s.search = search.New(search.Config{Embedders: search.Embedders{Embedder: s.embedder, Fast: o.FastEmbedder, Previous: o.PreviousEmbedders}, Reranker: o.Reranker,
		Judge: s.judge, Budget: o.RecallBudget, Boosts: o.FeedbackBoosts, Forget: o.Forgetting, Profiles: s.profiles, Requests: &s.requests, Observer: s.observer, Detailed: o.Observer != nil, Logger: o.Logger})
	s.set = workspace.NewSet(workspace.Config{Backend: s.be, Gate: s.gate, Models: s.search.Models, Slow: s.search.Slow,
		MaxIdle: workspace.MaxIdle(o.MaxOpenTenants, o.Logger), MaxTenants: o.tenantLimit(), Patience: closePatience, Words: graph.RelationWords, Leases: s.leases, Logger: o.Logger})
	s.search.Set = s.set
	s.sched = schedule.New(schedule.Config{Set: s.set, Gate: s.gate, Outbox: outbox{s}, Leases: s.leases, Workers: o.Workers, Logger: o.Logger,
		Changes: &change.Engine{Judge: s.judge, Consolidate: o.Forgetting, Slots: o.slots, Logger: o.Logger},
		Pipeline: &pipeline.Config{Observer: s.observer, Extractor: s.extractor, Parsers: s.parsers, ParseTimeout: o.ParseTimeout, Chunking: o.chunking(),
			BatchItems: o.BatchItems, BatchBytes: 1 << 20, MaxAttempts: o.MaxAttempts, RetryFor: o.RetryFor, MaxPause: o.RetryPause, Lease: o.Lease, Logger: o.Logger}})
	s.set.SetAttention(s.sched)
	s.search.Settle = s.sched.AwaitCompared
	s.intake = intake.New(intake.Config{Limits: o.intakeLimits(), Parsers: s.parsers, ParseTimeout: o.ParseTimeout,
		Schedule: s.sched, Life: s.gate.Life(), Observer: s.observer, Logger: o.Logger})
	s.documents = &documents.Engine{Presign: s.presign, Deleted: s.sched.Deleted, Admit: s.sched.Admit, Leases: s.leases, Logger: o.Logger}
	s.sched.Unfinished = s.documents.Finish
	s.vectors = &vectors.Engine{Intake: s.intake, Schedule: s.sched, Wanted: s.hasWebhook, Recall: o.VectorRecall}
	s.transfer = &transfer.Engine{Set: s.set, Gate: s.gate, Schedule: s.sched, Leases: s.leases, Versions: o.Versions, MaxLine: 2*max(o.MaxFileBytes, int64(o.MaxMemoryBytes)) + 64<<20, Logger: o.Logger}
	return nil
}

// start recovers the unfinished work of an earlier process and starts the background work.
func (s *Service) start(ctx context.Context) error {
	if err := s.secrets.Verify(ctx, s.webhooks, s.connectors); err != nil {
		return err
	}
	if v, ok := s.reg.(backend.LeaseVoider); ok && s.leases == nil { // deliveries that a dead predecessor was sending
		if err := v.VoidLeases(ctx); err != nil {
			return err
		}
	}
	if err := s.sched.Load(ctx); err != nil {
		return err
	}
	if err := s.connectors.Load(ctx); err != nil {
		return err
	}
	s.sched.Start()
	if err := s.transfer.Load(ctx); err != nil {
		return err
	}
	if sh, ok := s.be.(backend.Shared); ok && s.leases != nil {
		s.gate.Go(func() { sh.Watch(s.gate.Life(), s.changedElsewhere) })
	}
	s.gate.Go(func() { s.keys.Run(s.gate.Life()) })
	s.gate.Go(func() { s.secrets.Run(s.gate.Life(), s.opts.Logger) })
	s.gate.Go(func() { s.set.KeepTallies(s.gate.Life()) })
	s.gate.Go(func() { s.leases.Run(s.gate.Life(), s.sched.ProcessLost) })
	s.gate.Go(func() { s.webhooks.Run(s.gate.Life()) })
	s.gate.Go(func() { s.connectors.Run(s.gate.Life()) })
	s.gate.Go(func() { s.transfer.Run(s.gate.Life()) })
	return nil
}

// changedElsewhere drops cached state that another process may have changed: that of the registry, or of a workspace.
func (s *Service) changedElsewhere(uid string) {
	if uid != "" {
		s.sched.WorkspaceChanged(uid)
		return
	}
	s.keys.Forget()
	s.webhooks.Forget()
	s.set.ForgetRecords()
	s.secrets.KeyChanged()
}

// Org returns the handle of another organisation. Organisations need no creation.
func (s *Service) Org(id string) Organisation { return Organisation{from{s}, id} }

// call runs f as a call of the service. Close waits for f. If the service is closed, call returns an error and does not run f.
func (s *Service) call(f func() error) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	return f()
}

// called is Service.call for a function that returns a value.
func called[T any](s *Service, f func() (T, error)) (out T, err error) {
	if err := s.gate.Enter(); err != nil {
		return out, err
	}
	defer s.gate.Leave()
	return f()
}

// Drain waits until all accepted items of all tenants are processed and every due webhook event has been handed over for delivery. Items
// that wait for a retry count as unprocessed. Drain does not wait for tenants that need [Tenant.Reembed]; it returns ErrConflict if there are any.
func (s *Service) Drain(ctx context.Context) error { return s.DrainProgress(ctx, nil) }

// DrainProgress is Drain with a callback. It calls f at least once, and at each change, with the
// numbers of items by state over all open tenants. f may be nil.
func (s *Service) DrainProgress(ctx context.Context, f func(Progress)) error {
	return s.call(func() error {
		if f == nil {
			return s.sched.Drain(ctx, nil)
		}
		return s.sched.Drain(ctx, func(p schedule.Progress) { f(Progress(p)) })
	})
}

// Progress counts the items that are being processed, and the items that reached a final state since the service was opened.
type Progress struct {
	Queued, Processing, Graph int
	Completed, Errored        int
}

// Waiting returns the number of items that have not reached a final state.
func (p Progress) Waiting() int { return p.Queued + p.Processing + p.Graph }

// Close refuses new calls, waits for running calls, stops the workers and closes the backend. Items that are being processed return to the queue and are
// processed after the next opening. Close may be called repeatedly and concurrently; all calls return the same result. A hanging plug-in delays it by at most twenty seconds.
// Close of the nil that Open returns beside an error returns fault.ErrInvalid.
func (s *Service) Close() error {
	if s == nil || s.gate == nil { // Open or New returned an error
		return nowhere.gate.Enter()
	}
	if s.gate.Refuse() {
		s.closeErr = s.gate.Shut(closePatience, s.set.Close)
		close(s.done)
	}
	<-s.done
	return s.closeErr
}
