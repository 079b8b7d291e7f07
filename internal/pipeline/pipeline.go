// Package pipeline takes accepted items to their terminal state:
//
//	claim -> parse -> chunk -> embed -> Store.Index -> indexes -> extract -> Store.Finish -> indexes
//
// Every step is idempotent and every claim is a lease, so a step that dies
// anywhere is taken up by the next claim. A transient failure gives the item
// back with a later time and its code visible; one that goes on failing, or can't
// succeed, ends as Errored.
package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
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
	CodeDimension    = "E3003" // the embedder answered with vectors of another length
	CodeExtraction   = "E5001" // extraction failed; retried
	CodeStorage      = "E6001" // the storage failed; retried
	CodeDamaged      = "E6002" // the stored original is damaged
	CodeInternal     = "E9001" // a defect
	codeEmptyContent = "E1002"
)

// Embedder is what the pipeline needs of an embedder.
type Embedder interface {
	Dim() int
	EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error)
}

// Config is what all workspaces of a service share.
type Config struct {
	Extractor    extract.Extractor
	Parsers      *parse.Registry
	ParseTimeout time.Duration
	// Handled counts the bytes of text that were prepared since it was last set to zero.
	Handled     atomic.Int64
	Chunking    chunk.Options
	BatchItems  int
	BatchBytes  int64
	MaxAttempts int           // tries of an item whose own content may be at fault
	RetryFor    time.Duration // since its acceptance, how long an item is tried again while a dependency is down
	MaxPause    time.Duration // longest pause before a dependency that is down is tried again
	Lease       time.Duration
	Observer    observe.Observer // is called for each batch; nil: none
	Logger      *slog.Logger

	readingOnce sync.Once
	readingRoom int64               // bytes of text that extractors of this process may read at once
	readings    *semaphore.Weighted // of that

	outage     outage
	slowOutage outage // of the embedders that refine
}

// Space is one workspace at work. Every member is required but Lane, Refiner, Uncompared and Settled.
type Space struct {
	Embedder Embedder     // of new items
	Lane     backend.Lane // where their vectors go
	Store    backend.Store
	Follower *Follower
	// Refiner embeds into RefineLane what Embedder has embedded; nil: nothing is refined.
	Refiner    Embedder
	RefineLane backend.Lane
	// Unrefined receives versions that are about to be searchable by the vectors of Embedder alone.
	Unrefined func(nums []int64)
	// Uncompared receives versions that are about to be searchable and were not compared with earlier ones; nil: nothing is
	// compared.
	Uncompared func(nums []int64)
	// Settled returns which of the versions whose chunks are about to be stored need no comparison, and the generation of the comparer; nil: nothing is compared.
	Settled func(ctx context.Context, all []Fresh) (generation int64, settled []bool)
	// Rush reports whether so little waits that items are refined before they are completed.
	Rush func() bool
	// Events reports whether a webhook waits for terminal states.
	Events func() bool
	// Cause is the context of a call that added some of what waits; nil: none is known.
	Cause context.Context
	// UID is of the workspace, for Config.Observer.
	UID string
	// Changed is called after states were committed.
	Changed func()
	// Reading receives how many pages of a source were read; nil: not called. A total of 0 is unknown.
	Reading func(num int64, done, total int)
	// Read is called when all of a source was read.
	Read func(num int64)
	// Claimed is called before work on the claimed sources begins; full reports whether there are so many that more may wait.
	Claimed func(full bool)
	// Ended is called with how many sources reached each terminal state, and what the chunks of the completed ones weigh: 1 each, a long one
	// more.
	Ended func(completed, errored, weight int)
}

// withProgress lets slow parsers say how far they are with a job.
func (s *Space) withProgress(ctx context.Context, j *job) context.Context {
	if s.Reading == nil {
		return ctx
	}
	return document.WithProgress(ctx, func(done, total int) { s.Reading(j.Num, done, total) })
}

// job is one claimed source on its way through a step.
type job struct {
	backend.Claim
	prep   *prepared
	out    *extract.Output
	fail   *failure
	count  int  // chunks, once they are stored
	weight int  // their weight, see Space.Ended
	lost   bool // another claim or a delete took it
	final  bool // its terminal state is committed

	settled int64 // the generation under which it needs no comparison; 0: it does
}

// failure is why a job stops.
type failure struct {
	code, message string
	retry         bool
	transient     bool // a dependency is down: the item is not at fault
}

// Step claims a batch and takes it as far as it goes. It returns how many
// sources it claimed; 0 means that nothing waits now. The error is one of the
// storage: the claims then end with their lease.
func (c *Config) Step(ctx context.Context, s Space, token string) (int, error) {
	var laps observe.Laps
	laps.Begin(observe.Process, c.Observer != nil)
	now := time.Now()
	limit := c.BatchItems
	if c.outage.probing() { // one item finds out whether the dependency is back
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
	s.Claimed(len(claims) >= c.BatchItems || bytes >= c.BatchBytes/2)
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
	c.report(ctx, &laps, s, len(claims), completed, err)
	s.Ended(completed, errored, weight)
	s.Changed()
	return len(claims), err
}

// report passes a batch to the observer, with what the context of the call that it came from holds.
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
	collect(parsed(jobs))
	c.embed(ctx, s.Embedder, jobs)
	laps.Lap("embed")
	if ctx.Err() != nil {
		return c.giveBack(s.Store, token, jobs)
	}
	released := 0
	for some := range slices.Chunk(jobs, publishSize(s.Follower)) {
		settle(ctx, s, some)
		told, err := c.index(ctx, s, token, some)
		if errors.Is(err, backend.ErrConflict) {
			_ = c.giveBack(s.Store, token, jobs) // else they wait for their lease
		}
		if err != nil {
			return err
		}
		announce(s, some)
		size := release(some)
		c.clip(some, size) // the indexes are told the whole text, and let go of it before they take the vectors
		collect(size)
		released += size
		laps.Again("index")
		err = s.Follower.follow(ctx, told)
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
	c.extract(ctx, jobs)
	collect(released)
	laps.Lap("extract")
	if ctx.Err() != nil {
		return c.giveBack(s.Store, token, jobs)
	}
	c.rush(ctx, s, jobs)
	laps.Lap("refine")
	if ctx.Err() != nil {
		return c.giveBack(s.Store, token, jobs)
	}
	var err error
	for some := range slices.Chunk(jobs, publishSize(s.Follower)) {
		told, ferr := c.finish(ctx, s, token, some)
		if ferr != nil {
			return ferr
		}
		laps.Again("finish")
		err = s.Follower.follow(ctx, told)
		laps.Again("settle")
	}
	return err
}

// publishItems is how many items are committed at once beside recalls. A recall waits until the indexes have what was committed, so this
// bounds what it waits for; a commit of its own for so few takes a tenth more processor time.
const publishItems = 64

// publishSize returns how many items are committed at once.
func publishSize(f *Follower) int {
	if f.Watched() {
		return publishItems
	}
	return math.MaxInt
}

// guard turns a panic in f into a failure of the job alone.
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

// index commits the chunks of the jobs that are ready. told is what that put into the feed, nil if the store does not return it.
func (c *Config) index(ctx context.Context, s Space, token string, jobs []*job) (told *backend.Placement, err error) {
	var batch []backend.Indexed
	var of []*job
	for _, j := range jobs {
		if j.fail == nil && j.State != backend.GraphCreation {
			batch = append(batch, backend.Indexed{Num: j.Num, Token: token, Title: j.prep.title, Doc: j.prep.record, Tags: j.prep.tags, Time: j.prep.time, Chunks: j.prep.chunks, Lane: s.Lane, Blobs: j.prep.blobs, Compared: j.settled})
			of = append(of, j)
		}
	}
	if len(batch) == 0 {
		return nil, nil
	}
	var ok []bool
	if t, tells := s.Store.(backend.IndexTeller); tells {
		ok, told, err = t.IndexTold(ctx, batch)
	} else {
		ok, err = s.Store.Index(ctx, batch)
	}
	if errors.Is(err, backend.ErrConflict) { // the vectors are for a lane that is not in use any more
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
	return told, nil
}

// finish commits terminal states and gives back what is to be tried again. told is what that put into the feed, nil if the store does not
// return it or there is nothing.
func (c *Config) finish(ctx context.Context, s Space, token string, jobs []*job) (told *backend.Placement, err error) {
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
			if j.out != nil { // f has it now
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
	if t, tells := s.Store.(backend.FinishTeller); tells {
		ok, told, err = t.FinishTold(ctx, batch)
	} else {
		ok, err = s.Store.Finish(ctx, batch)
	}
	if err != nil {
		return nil, c.storageFailed(ctx, s.Store, of, token, err)
	}
	for i, j := range of {
		j.final = ok[i]
	}
	if told != nil && len(told.Changes) == 0 {
		return nil, nil
	}
	return told, nil
}
