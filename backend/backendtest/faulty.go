package backendtest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// Fault is an error or a delay that a [Faulty] backend injects into calls of one method.
//
// A method is named by its interface and name: "Backend.OpenWorkspace",
// "Workspace.Close", "Registry.CreateTenant", "Store.Accept",
// "Vectors.SearchVectors", "Keywords.Terms", "Graph.Neighbours". The methods that
// all indexes have can be named in two ways: "Vectors.Apply" is Apply of the index
// that Workspace.Vectors returns, "Index.Apply" is Apply of any index. LastSeq and
// Applied cannot fail, so no fault applies to them.
type Fault struct {
	Method string
	// Call is the number of the call that fails, from 1 for the first one that the
	// plan sees; 0 means every call.
	Call int
	// After makes the real call before the fault. Without After the real call is not
	// made if Err is set, or if its context ends during Delay or Block.
	After bool
	// Delay delays the call by this duration, or until its context ends.
	Delay time.Duration
	// Block blocks the call until its context ends or [Plan.Release] is called.
	Block bool
	// Err is the error that the call returns. With nil the call is only late. If the
	// real call was made and failed, the call returns the real error.
	Err error
}

// Plan holds the faults of a [Faulty] backend and counts the backend's calls. It is
// safe for concurrent use and can be changed at any time.
type Plan struct {
	mu       sync.Mutex
	faults   []Fault
	calls    map[string]int
	changed  chan struct{} // closed when calls changes
	released chan struct{} // closed by Release
}

// NewPlan returns a plan with the given faults.
func NewPlan(faults ...Fault) *Plan {
	return &Plan{
		faults: faults, calls: make(map[string]int),
		changed: make(chan struct{}), released: make(chan struct{}),
	}
}

// Add plans further faults.
func (p *Plan) Add(faults ...Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = append(p.faults, faults...)
}

// Clear removes all faults. Calls that are already delayed or blocked stay so.
func (p *Plan) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = nil
}

// Release unblocks all calls that a fault blocks, now and in future. Further calls of
// Release do nothing.
func (p *Plan) Release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.released:
	default:
		close(p.released)
	}
}

// Calls returns how many calls of a method have begun.
func (p *Plan) Calls(method string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls[method]
}

// Await waits until n calls of a method have begun, or returns the error of ctx.
func (p *Plan) Await(ctx context.Context, method string, n int) error {
	for {
		p.mu.Lock()
		calls, changed := p.calls[method], p.changed
		p.mu.Unlock()
		if calls >= n {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// begin counts a call under all its names and returns the faults planned for it.
func (p *Plan) begin(names []string) []Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []Fault
	for _, name := range names {
		p.calls[name]++
		for _, f := range p.faults {
			if f.Method == name && (f.Call == 0 || f.Call == p.calls[name]) {
				out = append(out, f)
			}
		}
	}
	close(p.changed)
	p.changed = make(chan struct{})
	return out
}

// do runs a call with the faults planned for it.
func (p *Plan) do(ctx context.Context, names []string, real func() error) error {
	faults := p.begin(names)
	for _, f := range faults {
		if !f.After {
			if err := p.inject(ctx, f); err != nil {
				return err
			}
		}
	}
	err := real()
	for _, f := range faults {
		if f.After {
			if late := p.inject(ctx, f); err == nil {
				err = late
			}
		}
	}
	return err
}

// inject waits for the fault's Delay and Block, then returns its Err, or the error of ctx.
func (p *Plan) inject(ctx context.Context, f Fault) error {
	if f.Delay > 0 {
		timer := time.NewTimer(f.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if f.Block {
		select {
		case <-p.released:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return f.Err
}

// get runs a call that has one result. If there is an error, it returns the zero result with it.
func get[T any](ctx context.Context, p *Plan, name string, real func() (T, error)) (T, error) {
	var out T
	err := p.do(ctx, []string{name}, func() (err error) { out, err = real(); return err })
	if err != nil {
		var none T
		return none, err
	}
	return out, nil
}

// Faulty wraps a backend and injects the plan's faults into its calls. The wrapper is
// safe for concurrent use. It implements [backend.Shared] and [backend.Guarder], and
// hides all other optional interfaces of b.
func Faulty(b backend.Backend, plan *Plan) backend.Backend { return &faulty{b, plan} }

type faulty struct {
	real backend.Backend
	plan *Plan
}

// Shares implements [backend.Shared]: it reports false if the real backend does not implement it.
func (f *faulty) Shares() bool {
	s, ok := f.real.(backend.Shared)
	return ok && s.Shares()
}

// Watch implements [backend.Shared]: it does nothing if the real backend does not implement it.
func (f *faulty) Watch(ctx context.Context, changed func(uid string)) {
	if s, ok := f.real.(backend.Shared); ok {
		s.Watch(ctx, changed)
		return
	}
	<-ctx.Done()
}

func (f *faulty) Registry() backend.Registry { return &faultyRegistry{f.real.Registry(), f.plan} }

func (f *faulty) OpenWorkspace(ctx context.Context, uid string) (backend.Workspace, error) {
	var w backend.Workspace
	err := f.plan.do(ctx, []string{"Backend.OpenWorkspace"}, func() (err error) {
		w, err = f.real.OpenWorkspace(ctx, uid)
		return err
	})
	if err != nil {
		if w != nil { // the caller gets only the error and cannot close w
			err = errors.Join(err, w.Close())
		}
		return nil, err
	}
	return newFaultyWorkspace(w, f.plan), nil
}

func (f *faulty) RemoveWorkspace(ctx context.Context, uid string) error {
	return f.plan.do(ctx, []string{"Backend.RemoveWorkspace"}, func() error { return f.real.RemoveWorkspace(ctx, uid) })
}

func (f *faulty) Close() error {
	return f.plan.do(context.Background(), []string{"Backend.Close"}, f.real.Close)
}

// faultyWorkspace has one wrapper for each real index. If one real index is both Vectors and
// Keywords, for example, so is its wrapper.
type faultyWorkspace struct {
	real     backend.Workspace
	plan     *Plan
	store    *faultyStore
	vectors  *faultyIndex
	keywords *faultyIndex
	graph    *faultyIndex
	indexes  []backend.Index
}

func newFaultyWorkspace(real backend.Workspace, plan *Plan) *faultyWorkspace {
	w := &faultyWorkspace{real: real, plan: plan, store: &faultyStore{real.Store(), plan}}
	v, k, g := real.Vectors(), real.Keywords(), real.Graph()
	wrap := func(s backend.Index) *faultyIndex {
		for _, known := range w.indexes {
			if known := known.(*faultyIndex); known.real == s {
				return known
			}
		}
		f := &faultyIndex{real: s, plan: plan, v: v, k: k, g: g, parts: []string{"Index"}}
		for i, p := range []backend.Index{v, k, g} {
			if p == s {
				f.parts = append(f.parts, []string{"Vectors", "Keywords", "Graph"}[i])
			}
		}
		w.indexes = append(w.indexes, f)
		return f
	}
	for _, s := range real.Indexes() {
		wrap(s)
	}
	listed := len(w.indexes)
	w.vectors, w.keywords, w.graph = wrap(v), wrap(k), wrap(g)
	w.indexes = w.indexes[:listed]
	return w
}

func (w *faultyWorkspace) Store() backend.Store       { return w.store }
func (w *faultyWorkspace) Vectors() backend.Vectors   { return w.vectors }
func (w *faultyWorkspace) Keywords() backend.Keywords { return w.keywords }
func (w *faultyWorkspace) Graph() backend.Graph       { return w.graph }

func (w *faultyWorkspace) Indexes() []backend.Index {
	return append([]backend.Index(nil), w.indexes...)
}

func (w *faultyWorkspace) Close() error {
	return w.plan.do(context.Background(), []string{"Workspace.Close"}, w.real.Close)
}
