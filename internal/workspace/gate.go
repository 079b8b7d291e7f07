package workspace

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/contextmem/contextmem/fault"
)

// Gate admits calls until a service closes, and owns the goroutines of the service.
type Gate struct {
	life context.Context // cancelled when Shut begins
	stop context.CancelFunc
	work sync.WaitGroup

	mu     sync.RWMutex // excludes Enter while closed is set
	closed bool
	calls  sync.WaitGroup
}

var errNoService = errors.New("the handle belongs to no open Service: get a Service by Open or New, and handles by Service.Org, Service.Tenant or Tenant.Sub")

// NewGate returns an open gate.
func NewGate() *Gate {
	g := &Gate{}
	g.life, g.stop = context.WithCancel(context.Background())
	return g
}

// Life returns the context of the service, which is cancelled when it begins to close.
func (g *Gate) Life() context.Context { return g.life }

// Go runs f in a goroutine that Shut waits for.
func (g *Gate) Go(f func()) { g.work.Go(f) }

// Enter admits a call. After a success the caller must call Leave. After Shut it returns fault.ErrClosed. A nil Gate, as a handle has that no
// service made, refuses every call.
func (g *Gate) Enter() error {
	if g == nil {
		return &fault.Error{Kind: fault.KindInvalid, Err: errNoService}
	}
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

// Abandon cancels the context of a service that could not be opened, and waits for its goroutines.
func (g *Gate) Abandon() {
	g.stop()
	g.work.Wait()
}

// Refuse makes Enter fail from now on. It reports whether this was its first call.
func (g *Gate) Refuse() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	first := !g.closed
	g.closed = true
	return first
}

// Shut cancels the context, waits at most patience for calls and at most patience for goroutines, and
// then runs release, which closes the storage. A hanging plug-in delays it by at most twice patience.
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
	var late <-chan time.Time // limits release too, since a hanging call may block the storage
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
