// Package pipeline processes accepted items until they reach a terminal state:
//
//	claim -> parse -> chunk -> embed -> Store.Index -> indexes -> extract -> Store.Finish -> indexes
//
// Every step is idempotent and every claim is a lease. If a process dies during a
// step, the next claim therefore continues the work. After a transient failure the
// item is deferred to a later time, and its code is visible. An item that keeps
// failing, or can't succeed, ends as Errored.
package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/chunk"
	"github.com/contextmem/contextmem/internal/parse"
	"github.com/contextmem/contextmem/observe"
)

// Codes of failures. E1xxx and E2xxx come from package parse.
const (
	CodeEmbedding    = "E3002" // the embedder failed; retried
	codeInference    = "E4001" // the extractor failed to infer statements; retried
	CodeExtraction   = "E5001" // extraction failed; retried
	CodeStorage      = "E6001" // the storage failed; retried
	CodeDamaged      = "E6002" // the stored original is damaged
	CodeInternal     = "E9001" // a defect
	codeEmptyContent = "E1002" // there is no text
)

// Embedder is the part of an embedder that the pipeline needs.
type Embedder interface {
	Dim() int
	EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error)
}

// Config holds what all workspaces of a service share.
type Config struct {
	Extractor    extract.Extractor
	Parsers      *parse.Registry
	ParseTimeout time.Duration
	// Handled counts the bytes of prepared text. Its user sets it back to 0.
	Handled     atomic.Int64
	Chunking    chunk.Options
	BatchItems  int
	BatchBytes  int64
	MaxAttempts int           // maximal number of tries of an item whose content may be at fault
	RetryFor    time.Duration // time since an item's acceptance during which it is retried while a dependency is down
	MaxPause    time.Duration // maximal pause before a dependency that is down is probed again
	Lease       time.Duration
	Observer    observe.Observer // is called for each batch; nil: none
	Logger      *slog.Logger

	readingOnce sync.Once
	readingRoom int64               // bytes of text that extractors of this process may read concurrently
	readings    *semaphore.Weighted // of readingRoom

	ended atomic.Int64 // bytes of text of small batches that have ended since garbage was collected

	outage     outage
	slowOutage outage // outage of the refining embedders
}

// Space is a workspace whose items are to be processed. All fields are required except Lane, Refiner, Uncompared and Settled.
type Space struct {
	Embedder Embedder     // embeds new items
	Lane     backend.Lane // lane for their vectors
	Store    backend.Store
	Follower *Follower
	// Refiner embeds the same items again, into RefineLane; nil: nothing is refined.
	Refiner    Embedder
	RefineLane backend.Lane
	// Unrefined is called with versions that are about to become searchable with only the vectors of Embedder.
	Unrefined func(nums []int64)
	// Uncompared is called with versions that are about to become searchable and were not compared with earlier memories; nil:
	// nothing is compared.
	Uncompared func(nums []int64)
	// Settled returns, for versions whose chunks are about to be stored, which of them need no comparison, and the generation of the comparer; nil: nothing is compared.
	Settled func(ctx context.Context, all []Fresh) (generation int64, settled []bool)
	// Rush reports whether so few items wait that items should be refined before they are completed.
	Rush func() bool
	// Events reports whether a webhook receives terminal states.
	Events func() bool
	// Cause is the context of a call that added some of the waiting items; nil: none is known.
	Cause context.Context
	// UID is the uid of the workspace, for Config.Observer.
	UID string
	// Changed is called after states of items were committed.
	Changed func()
	// Reading is called with the number of pages of a source read so far; nil: not called. A total of 0 means that it is unknown.
	Reading func(num int64, done, total int)
	// Read is called when a source was read completely.
	Read func(num int64)
	// Claimed is called before the claimed sources are processed. full reports whether the batch is full, so that more may wait.
	Claimed func(full bool)
	// Ended is called with the number of sources that reached each terminal state, and the total weight of the chunks of the completed ones.
	// A chunk weighs 1, a long one more.
	Ended func(completed, errored, weight int)
}

// withProgress returns a context with which slow parsers report their progress.
func (s *Space) withProgress(ctx context.Context, j *job) context.Context {
	if s.Reading == nil {
		return ctx
	}
	return document.WithProgress(ctx, func(done, total int) { s.Reading(j.Num, done, total) })
}

// job is a claimed source during a step.
type job struct {
	backend.Claim
	prep   *prepared
	out    *extract.Output
	fail   *failure
	count  int  // number of stored chunks
	weight int  // weight of the chunks, see Space.Ended
	lost   bool // the claim was lost to another one or a delete
	final  bool // the terminal state is committed

	settled int64 // generation under which it needs no comparison; 0: it needs one
}

// foundTime returns the time that the content of an item gave it, or the zero time if the item keeps its own. A store writes and seals a
// version's row once more for each new value.
func (j *job) foundTime() time.Time {
	if j.prep.time.Equal(j.Time) {
		return time.Time{}
	}
	return j.prep.time
}

// failure is the reason why a job stops.
type failure struct {
	code, message string
	retry         bool
	transient     bool // a dependency is down, and the item is not at fault
}

// Step claims a batch and processes it as far as possible. It returns the number of
// claimed sources; 0 means that none waits now. Its errors are those of the storage.
// After an error claims may be left, which end when their leases expire, or when the caller ends them.
func (c *Config) Step(ctx context.Context, s Space, token string) (int, error) {
	var laps observe.Laps
	laps.Begin(observe.Process, c.Observer != nil)
	now := time.Now()
	limit := c.batchSize(s.Follower)
	if c.outage.probing() { // one item probes whether the dependency is back
		limit = 1
	}
	claims, err := s.Store.Claim(ctx, token, now, now.Add(c.Lease), limit, c.BatchBytes)
	if err != nil || len(claims) == 0 {
		return 0, err
	}
	laps.Lap("claim")
	jobs := make([]*job, len(claims))
	for i := range claims {
		jobs[i] = &job{Claim: claims[i]}
	}
	stop := c.keepLease(ctx, s.Store, token, jobs)
	defer stop()
	var bytes int64
	for i := range claims {
		bytes += claims[i].SizeBytes
	}
	full := len(claims) >= c.BatchItems
	s.Claimed(full || bytes >= c.BatchBytes/2)
	s.Changed()
	err = c.run(ctx, s, token, jobs, &laps)
	completed, errored, weight := 0, 0, 0
	for _, j := range jobs {
		switch {
		case j.final && j.fail != nil:
			errored++
			if laps.On() {
				laps.Errors = append(laps.Errors, j.fail.code)
			}
		case j.final:
			completed++
			weight += max(j.count, j.weight)
		case j.fail != nil && !j.lost:
			laps.Retried++
		}
	}
	s.Follower.paced(full && err == nil, len(claims), time.Since(now))
	c.report(ctx, &laps, s, len(claims), completed, err)
	s.Ended(completed, errored, weight)
	s.Changed()
	return len(claims), err
}

// report calls the observer for a batch, with the values of the context of the call that added it.
func (c *Config) report(ctx context.Context, laps *observe.Laps, s Space, claimed, completed int, err error) {
	laps.Tenant, laps.Items, laps.Completed = s.UID, claimed, completed
	if s.Cause != nil {
		ctx = s.Cause
	}
	laps.End(ctx, c.Observer, err)
}

func (c *Config) run(ctx context.Context, s Space, token string, jobs []*job, laps *observe.Laps) error {
	for _, j := range jobs {
		if j.State == backend.GraphCreation {
			continue
		}
		if err := ctx.Err(); err != nil {
			return c.giveBack(s.Store, token, jobs)
		}
		c.guard(j, func() { c.prepare(s.withProgress(ctx, j), j) })
		if s.Read != nil {
			s.Read(j.Num)
		}
		runtime.Gosched() // recalls come first: a batch keeps a processor for long
	}
	laps.Lap("parse")
	size := parsed(jobs)
	collect(size)
	defer c.collectSmall(size)
	c.embed(ctx, s.Embedder, jobs)
	laps.Lap("embed")
	if ctx.Err() != nil {
		return c.giveBack(s.Store, token, jobs)
	}
	extracted := c.extractBeside(ctx, jobs, size)
	defer extracted()
	released := 0
	for some := range slices.Chunk(jobs, min(publishSize(s.Follower), c.BatchItems)) {
		settle(ctx, s, some)
		placed, err := c.index(ctx, s, token, some)
		extracted()
		if errors.Is(err, backend.ErrConflict) {
			_ = c.giveBack(s.Store, token, jobs) // if it fails, the leases expire later
		}
		if err != nil {
			return err
		}
		announce(s, some)
		size := release(some)
		c.clip(some, size) // the indexes have received the whole text already
		collect(size)
		released += size
		laps.Again("index")
		err = s.Follower.follow(ctx, placed)
		laps.Again("follow")
		if err == nil {
			continue
		}
		if ctx.Err() != nil {
			return c.giveBack(s.Store, token, jobs)
		}
		c.Logger.Warn("indexes could not follow", "items", len(jobs), "err", err)
		for _, j := range jobs {
			if j.fail == nil {
				j.fail = &failure{code: CodeStorage, message: "storage error while persisting processed data; it is retried", retry: true, transient: true}
			}
		}
		break
	}
	if released >= collectFrom {
		c.lighten(ctx, s, jobs, released)
	}
	s.Changed()
	if c.extract(ctx, jobs) {
		collect(released)
	}
	laps.Again("extract")
	if ctx.Err() != nil {
		return c.giveBack(s.Store, token, jobs)
	}
	c.refineFirst(ctx, s, jobs)
	laps.Lap("refine")
	if ctx.Err() != nil {
		return c.giveBack(s.Store, token, jobs)
	}
	var err error
	for some := range slices.Chunk(jobs, publishSize(s.Follower)) {
		placed, ferr := c.finish(ctx, s, token, some)
		if ferr != nil {
			return ferr
		}
		laps.Again("finish")
		err = s.Follower.follow(ctx, placed)
		laps.Again("settle")
	}
	return err
}

// guard runs f and turns a panic into a failure of only this job.
func (c *Config) guard(j *job, f func()) {
	defer func() {
		if r := recover(); r != nil {
			c.Logger.Error("panic while processing an item", "source", j.Num, "panic", fmt.Sprintf("%T", r), "stack", string(debug.Stack()))
			j.fail = &failure{code: CodeInternal, message: "internal error while processing the item"}
		}
	}()
	f()
}

// keepLease renews the claims while the step runs.
func (c *Config) keepLease(ctx context.Context, st backend.Store, token string, jobs []*job) (stop func()) {
	nums := make([]int64, len(jobs))
	for i, j := range jobs {
		nums[i] = j.Num
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		t := time.NewTicker(c.Lease / 3)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
				if err := st.Renew(ctx, token, nums, time.Now().Add(c.Lease)); err != nil && ctx.Err() == nil {
					c.Logger.Warn("renewing a lease failed", "err", err)
				}
			}
		}
	})
	return func() { cancel(); wg.Wait() }
}

// index commits the chunks of the jobs that are ready. placed holds the changes that this added to the feed; it is nil if the store does not return them.
func (c *Config) index(ctx context.Context, s Space, token string, jobs []*job) (placed *backend.Placement, err error) {
	var batch []backend.Indexed
	var of []*job
	for _, j := range jobs {
		if j.fail == nil && j.State != backend.GraphCreation {
			batch = append(batch, backend.Indexed{Num: j.Num, Token: token, Title: j.prep.title, Doc: j.prep.record, Tags: j.prep.tags, Time: j.foundTime(), Chunks: j.prep.chunks, Lane: s.Lane, Blobs: j.prep.blobs, Compared: j.settled})
			of = append(of, j)
		}
	}
	if len(batch) == 0 {
		return nil, nil
	}
	var ok []bool
	if t, tells := s.Store.(backend.IndexReporter); tells {
		ok, placed, err = t.IndexAndReport(ctx, batch)
	} else {
		ok, err = s.Store.Index(ctx, batch)
	}
	if errors.Is(err, backend.ErrConflict) { // the lane of the vectors is no longer in use
		return nil, err
	}
	if err != nil {
		return nil, c.storageFailed(ctx, s.Store, of, token, err)
	}
	for i, j := range of {
		if j.lost = !ok[i]; ok[i] {
			j.State = backend.GraphCreation
		}
	}
	return placed, nil
}

// finish commits terminal states and defers the jobs to be retried. placed holds the changes that this added to the feed; it is nil if the store
// does not return them or there are none.
func (c *Config) finish(ctx context.Context, s Space, token string, jobs []*job) (placed *backend.Placement, err error) {
	events := s.Events()
	var batch []backend.Finished
	var of []*job
	var later []backend.Deferred
	for _, j := range jobs {
		switch {
		case j.lost:
		case j.fail != nil && c.retries(j):
			later = append(later, c.deferral(j, token))
		case j.fail != nil:
			batch = append(batch, backend.Finished{Num: j.Num, Token: token, State: backend.Errored, ErrorCode: j.fail.code, ErrorMessage: j.fail.message, Event: events})
			of = append(of, j)
		default:
			f := backend.Finished{Num: j.Num, Token: token, State: backend.Completed, Event: events}
			graphOf(j, &f)
			if j.out != nil && (j.out.Usage != nil || len(j.out.Unheeded) > 0) {
				b, err := json.Marshal(Reading{j.out.Usage, j.out.Unheeded})
				if err != nil {
					return nil, err
				}
				f.Blobs = append(f.Blobs, backend.Blob{Kind: backend.Usage, Data: b})
			}
			if j.out != nil { // graphOf has moved it to f
				*j.out = extract.Output{}
			}
			if j.prep = nil; j.count == 0 {
				j.count = len(j.Chunks)
			}
			batch = append(batch, f)
			of = append(of, j)
		}
	}
	if len(later) > 0 {
		if err := s.Store.Defer(ctx, later); err != nil {
			return nil, err
		}
	}
	if len(batch) == 0 {
		return nil, nil
	}
	var ok []bool
	if t, tells := s.Store.(backend.FinishReporter); tells {
		ok, placed, err = t.FinishAndReport(ctx, batch)
	} else {
		ok, err = s.Store.Finish(ctx, batch)
	}
	if err != nil {
		return nil, c.storageFailed(ctx, s.Store, of, token, err)
	}
	for i, j := range of {
		j.final = ok[i]
	}
	if placed != nil && len(placed.Changes) == 0 {
		return nil, nil
	}
	return placed, nil
}
