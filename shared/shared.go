// Package shared lets several processes of one machine use the same directory. The first process to open it is the owner.
// The other processes, the guests, find the owner through a unix socket and call it over REST, with the library's types.
// When the owner ends, even by a kill, another process takes over and unfinished calls are repeated.
//
//	d, err := shared.Open(ctx, "data", nil)
//	if err != nil { ... }
//	defer d.Close()
//	err = d.EnsureTenant(ctx, "acme")
//	alice := d.Sub("acme", "alice") // a contextmem.Memories
//
// Acknowledged writes are durable, whichever process owned the directory. Nothing is stored twice, because every memory has an
// id before it is sent. The owner's options apply. A directory that a process has opened without this package can't be shared:
// opening it fails with backend.ErrLocked.
//
// The file OWNER in the directory holds the socket's path and its key. Only the directory's user can read it.
package shared

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/client"
	"github.com/contextmem/contextmem/fault"
)

// patience bounds how long a call waits for a reachable owner, and how long Open waits for the lock.
const patience = 10 * time.Second

// Deployment is a directory that this process owns or uses as a guest of the owner. It represents the default organisation.
// It is safe for concurrent use.
type Deployment struct {
	dir   string
	opts  contextmem.Options
	keeps bool // never hands the directory over

	life context.Context // ends with Close
	end  context.CancelFunc
	wg   sync.WaitGroup

	handlers map[string]Handler // guarded by mu

	turn   chan struct{} // holds a value while a goroutine looks for a seat
	mu     sync.Mutex
	seat   *seat     // nil: none yet
	polite time.Time // until this time, another process may take the directory first
}

// Open opens the directory as its owner, or as a guest if another process owns it. o may be nil. It applies only while this process
// owns the directory. ctx bounds only the opening.
func Open(ctx context.Context, dir string, o *contextmem.Options) (*Deployment, error) {
	return open(ctx, dir, o, false)
}

// Own opens the directory as its owner and keeps it until Close. An owner that used [Open] hands the directory over. If the
// owner used Own, or does not use this package, Own fails with backend.ErrLocked.
func Own(ctx context.Context, dir string, o *contextmem.Options) (*Deployment, error) {
	return open(ctx, dir, o, true)
}

func open(ctx context.Context, dir string, o *contextmem.Options, keeps bool) (*Deployment, error) {
	d := &Deployment{dir: dir, keeps: keeps, turn: make(chan struct{}, 1)}
	if o != nil {
		d.opts = *o
	}
	d.life, d.end = context.WithCancel(context.WithoutCancel(ctx))
	if _, err := d.find(ctx); err != nil {
		d.end()
		return nil, err
	}
	d.wg.Go(d.guard)
	return d, nil
}

// Service returns the open service while this process owns the directory, else nil. After [Own] it is never nil.
func (d *Deployment) Service() *contextmem.Service {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seat == nil {
		return nil
	}
	return d.seat.svc
}

// Handler is a function that the owner runs for another process, or for itself. The asking process receives the written bytes at
// once. It does not receive the error's text.
type Handler func(ctx context.Context, args []byte, w io.Writer) error

// Handle registers a function that processes can call by name with [Deployment.Call] while this process is the owner.
func (d *Deployment) Handle(name string, f Handler) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.handlers == nil {
		d.handlers = make(map[string]Handler)
	}
	d.handlers[name] = f
}

func (d *Deployment) handler(name string) Handler {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.handlers[name]
}

// Call makes the owner run a function registered with [Deployment.Handle]. w receives the function's output. An error means that
// the function failed or the owner ended, without the cause. The error is fault.ErrConflict when the owner has no such function.
func (d *Deployment) Call(ctx context.Context, name string, args []byte, w io.Writer) error {
	s, err := d.current(ctx)
	if err != nil {
		return err
	}
	if s.svc != nil {
		if f := d.handler(name); f != nil {
			return f(ctx, args, w)
		}
		return &fault.Error{Op: "shared", Kind: fault.KindConflict, Err: errors.New("this process can't do that")}
	}
	return s.call(ctx, http.MethodPost, "/_local/do", url.Values{"what": {name}}, bytes.NewReader(args), w)
}

// Close ends the use of the directory. An owner stops like [contextmem.Service.Close], and another process takes over.
func (d *Deployment) Close() error {
	d.end()
	d.wg.Wait()
	d.turn <- struct{}{} // no goroutine looks for a seat any more
	defer func() { <-d.turn }()
	d.mu.Lock()
	s := d.seat
	d.seat = nil
	d.mu.Unlock()
	if s == nil {
		return nil
	}
	return s.close(false)
}

// find returns the current seat, or looks for one.
func (d *Deployment) find(ctx context.Context) (*seat, error) {
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	d.mu.Lock()
	s, polite := d.seat, d.polite
	d.mu.Unlock()
	if s != nil {
		return s, nil
	}
	if d.life.Err() != nil {
		return nil, &fault.Error{Op: "shared", Kind: fault.KindClosed, Err: fault.ErrClosed}
	}
	if err := pause(ctx, time.Until(polite)); err != nil {
		return nil, err
	}
	s, err := d.sit(ctx)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.seat = s
	d.mu.Unlock()
	return s, nil
}

// current returns the current seat without waiting if there is one, else it calls find.
func (d *Deployment) current(ctx context.Context) (*seat, error) {
	d.mu.Lock()
	s := d.seat
	d.mu.Unlock()
	if s != nil {
		return s, nil
	}
	return d.find(ctx)
}

// leave gives up a guest's seat after its owner ended. If the owner handed the directory over, this process lets others go first.
func (d *Deployment) leave(s *seat, handedOver bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seat == s {
		d.seat = nil
		s.rest()
	}
	if handedOver {
		d.polite = time.Now().Add(handOver)
	}
}

// guard watches the owner. When the owner ends, guard looks for a seat at once, so that background work resumes.
func (d *Deployment) guard() {
	for d.life.Err() == nil {
		s, err := d.find(d.life)
		switch {
		case err != nil:
			_ = pause(d.life, 100*time.Millisecond) // the loop notices the end of life
		case s.svc == nil:
			d.leave(s, s.watch(d.life))
		default:
			select {
			case <-d.life.Done():
			case <-s.asked:
				d.yield(s)
			}
		}
	}
}

// yield hands the directory over. No goroutine looks for a seat meanwhile.
func (d *Deployment) yield(s *seat) {
	d.turn <- struct{}{}
	defer func() { <-d.turn }()
	d.mu.Lock()
	d.seat = nil
	d.mu.Unlock()
	if err := s.close(true); err != nil && d.opts.Logger != nil {
		d.opts.Logger.Error("handing the directory over", "err", err)
	}
	d.mu.Lock()
	d.polite = time.Now().Add(handOver)
	d.mu.Unlock()
}

// do runs a call on the current seat and repeats it if the owner ends meanwhile. If once is true, it does not repeat a call
// whose answer was lost.
func (d *Deployment) do(ctx context.Context, once bool, call func(*seat) error) error {
	giveUp := time.Now().Add(patience)
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 200*time.Millisecond) {
		s, err := d.current(ctx)
		if err != nil {
			return err
		}
		err = call(s)
		switch {
		case err == nil || time.Now().After(giveUp) || ctx.Err() != nil || d.life.Err() != nil:
			return err
		case lost(err) && once:
			d.leave(s, false)
			return err
		case lost(err):
			d.leave(s, false)
		case s.svc != nil && errors.Is(err, contextmem.ErrClosed): // the directory was handed over
		case s.svc == nil && errors.Is(err, contextmem.ErrUnavailable): // the owner is ending
		default:
			return err
		}
		if pause(ctx, wait) != nil {
			return err
		}
	}
}

// lost reports whether err means that the owner ended during a call.
func lost(err error) bool { return client.Lost(err) || errors.Is(err, errGone) }

// pause waits for a duration or until ctx ends.
func pause(ctx context.Context, t time.Duration) error {
	if t <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(t)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
