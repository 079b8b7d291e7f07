package workspace

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/contextmem/contextmem/fault"
)

// Gate admits calls until a service closes, and owns the goroutines that work for it.
type Gate struct {
	life context.Context // ends when Shut begins
	stop context.CancelFunc
	work sync.WaitGroup

	mu     sync.RWMutex // guards closed against calls that begin
	closed bool
	calls  sync.WaitGroup
}

// NewGate returns an open gate.
func NewGate() *Gate {
	g := &Gate{}
	g.life, g.stop = context.WithCancel(context.Background())
	return g
}

// Life is done when the service begins to close.
func (g *Gate) Life() context.Context { return g.life }

// Go runs f in a goroutine that Shut waits for.
func (g *Gate) Go(f func()) { g.work.Go(f) }

// Enter admits a call; every success must be followed by Leave. After Shut it is fault.ErrClosed.
func (g *Gate) Enter() error {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.closed {
		return &fault.Error{Kind: fault.KindClosed, Err: fault.ErrClosed}
	}
	g.calls.Add(1)
	return nil
}

// Leave ends a call.
func (g *Gate) Leave() { g.calls.Done() }

// Bind returns a ctx that ends with the given one and when the service begins to close. The caller calls cancel.
func (g *Gate) Bind(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(g.life, cancel)
	return ctx, func() { stop(); cancel() }
}

// Abandon ends the lifetime of a service that could not be opened and waits for its goroutines.
func (g *Gate) Abandon() {
	g.stop()
	g.work.Wait()
}

// Refuse makes Enter fail from now on and reports whether it did so for the first time.
func (g *Gate) Refuse() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	first := !g.closed
	g.closed = true
	return first
}

// Shut ends the lifetime, waits for calls and goroutines for at most patience each, and then runs
// release, which frees the storage. A plug-in that hangs delays it by at most twice patience.
func (g *Gate) Shut(patience time.Duration, release func() error) error {
	g.stop()
	var errs []error
	idle := make(chan struct{})
	go func() {
		g.calls.Wait()
		g.work.Wait()
		close(idle)
	}()
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-idle:
	case <-t.C:
		errs = append(errs, fmt.Errorf("close: calls or workers still ran after %v", patience))
	}
	released := make(chan error, 1)
	go func() { released <- release() }()
	var late <-chan time.Time // what hung may hold the storage up as well
	if len(errs) > 0 {
		t.Reset(patience)
		late = t.C
	}
	select {
	case err := <-released:
		errs = append(errs, err)
	case <-late:
		errs = append(errs, fmt.Errorf("close: the storage was still in use after %v", 2*patience))
	}
	return errors.Join(errs...)
}
