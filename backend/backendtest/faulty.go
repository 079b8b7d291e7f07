package backendtest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// Fault is something to go wrong in calls of one method of a backend.
//
// A method is named by its interface and name: "Backend.OpenWorkspace",
// "Workspace.Close", "Registry.CreateTenant", "Store.Accept",
// "Vectors.SearchVectors", "Keywords.Terms", "Graph.Neighbours". The methods of a
// follower of the feed have the name of every part it serves as and that of any:
// "Vectors.Apply" is an Apply of what serves as Vectors, "Index.Apply" of any
// follower. LastSeq and Applied, which cannot fail, are left alone.
type Fault struct {
	Method string
	// Call is which call of the method is meant, from 1 for the first one that the
	// plan sees; 0 means every call.
	Call int
	// After lets the real call take effect first; else it is not made when Err is
	// set, or when its context ends in Delay or Block.
	After bool
	// Delay holds the call up so long, or until its context ends.
	Delay time.Duration
	// Block holds the call up until its context ends or [Plan.Release].
	Block bool
	// Err is returned; nil means that only time is lost. After a real call that
	// failed, its own error is returned.
	Err error
}

// Plan is the faults of a [Faulty] backend, and counts its calls. It is safe for
// concurrent use and can be changed at any time.
type Plan struct {
	mu       sync.Mutex
	faults   []Fault
	calls    map[string]int
	changed  chan struct{} // closed when calls changes
	released chan struct{} // closed by Release
}

// NewPlan returns a plan with some faults.
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

// Clear forgets all faults. Calls that are held up stay so.
func (p *Plan) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = nil
}

// Release lets calls go on that are blocked now or come to be blocked later.
// Releasing again does nothing.
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

// inject waits as a fault says and returns the error that it plans.
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

// get runs a call with one result; what comes with an error is not shown.
func get[T any](ctx context.Context, p *Plan, name string, real func() (T, error)) (T, error) {
	var out T
	err := p.do(ctx, []string{name}, func() (err error) { out, err = real(); return err })
	if err != nil {
		var none T
		return none, err
	}
	return out, nil
}

// Faulty wraps a backend so that calls fail, are late or hang as a plan says. The
// wrapper is safe for concurrent use and hides optional interfaces of b, but those for several processes.
func Faulty(b backend.Backend, plan *Plan) backend.Backend { return &faulty{b, plan} }

type faulty struct {
	real backend.Backend
	plan *Plan
}

// Shares implements [backend.Shared] where the real backend does.
func (f *faulty) Shares() bool {
	s, ok := f.real.(backend.Shared)
	return ok && s.Shares()
}

// Watch implements [backend.Shared] where the real backend does.
func (f *faulty) Watch(ctx context.Context, heard func(uid string)) {
	if s, ok := f.real.(backend.Shared); ok {
		s.Watch(ctx, heard)
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
		if w != nil { // the caller does not hear of it
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

// faultyWorkspace has one wrapper for every follower, so that the same value serves
// as what the real one serves as.
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
