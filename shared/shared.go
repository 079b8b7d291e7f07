// Package shared lets several processes of a machine work on one directory. The first to open it is the owner; the others find
// it through a unix socket and work through it, over REST with the types of the library. When the owner ends, even by a kill,
// another takes over, and calls that were under way are made again.
//
//	d, err := shared.Open(ctx, "data", nil)
//	if err != nil { ... }
//	defer d.Close()
//	err = d.EnsureTenant(ctx, "acme")
//	alice := d.Sub("acme", "alice") // a contextmem.Memories
//
// What was acknowledged is durable, whoever owned the directory then, and nothing is stored twice: every memory has an id
// before it is sent. The options of the owner are those that count. A directory that a process has open without this package
// can't be shared; opening it fails with backend.ErrLocked.
//
// The file OWNER in the directory, readable by its user alone, says where the socket is and holds the key for it.
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

// patience is how long a call waits for an owner that can be reached, and an opening for a lock.
const patience = 10 * time.Second

// Deployment is a directory that this process owns or works in as a guest of the owner. It stands for the default
// organisation. It is safe for concurrent use.
type Deployment struct {
	dir   string
	opts  contextmem.Options
	keeps bool // ownership, whoever asks for it

	life context.Context // ends with Close
	end  context.CancelFunc
	wg   sync.WaitGroup

	tasks map[string]Does // under mu

	turn   chan struct{} // holds a value while somebody looks for a seat
	mu     sync.Mutex
	seat   *seat     // nil: to be found
	polite time.Time // until then another process may take the directory first
}

// Open opens the directory as its owner, or as a guest when another process owns it. o may be nil; it counts while this
// process owns the directory. ctx bounds the opening alone.
func Open(ctx context.Context, dir string, o *contextmem.Options) (*Deployment, error) {
	return open(ctx, dir, o, false)
}

// Own opens the directory as its owner, and stays that until Close. An owner that opened it with [Open] hands it over;
// against one that stays, and against one without this package, it fails with backend.ErrLocked.
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

// Service returns the open service while this process owns the directory, else nil. After [Own] it never is nil.
func (d *Deployment) Service() *contextmem.Service {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seat == nil {
		return nil
	}
	return d.seat.svc
}

// Does does something for another process of the directory, and for this one. What it writes arrives there at once. The asker is not told
// what an error says.
type Does func(ctx context.Context, asked []byte, w io.Writer) error

// Answer has the owner do something that other processes [Deployment.Ask] for, while this process is the owner.
func (d *Deployment) Answer(what string, f Does) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.tasks == nil {
		d.tasks = make(map[string]Does)
	}
	d.tasks[what] = f
}

func (d *Deployment) doing(what string) Does {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.tasks[what]
}

// Ask has the owner do something; w gets what that writes. The error says that it failed, or that the owner ended meanwhile, and does not say why.
// fault.ErrConflict when the owner can't do it.
func (d *Deployment) Ask(ctx context.Context, what string, asked []byte, w io.Writer) error {
	s, err := d.current(ctx)
	if err != nil {
		return err
	}
	if s.svc != nil {
		if f := d.doing(what); f != nil {
			return f(ctx, asked, w)
		}
		return &fault.Error{Op: "shared", Kind: fault.KindConflict, Err: errors.New("this process can't do that")}
	}
	return s.call(ctx, http.MethodPost, "/_local/do", url.Values{"what": {what}}, bytes.NewReader(asked), w)
}

// Close ends the use of the directory. An owner stops as [contextmem.Service.Close] does, and another process takes over.
func (d *Deployment) Close() error {
	d.end()
	d.wg.Wait()
	d.turn <- struct{}{} // nobody looks for a seat any more
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

// find returns the seat, and looks for one where there is none.
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

// current is find without waiting where there is a seat.
func (d *Deployment) current(ctx context.Context) (*seat, error) {
	d.mu.Lock()
	s := d.seat
	d.mu.Unlock()
	if s != nil {
		return s, nil
	}
	return d.find(ctx)
}

// leave gives up a guest's seat whose owner is gone. Where the owner handed the directory over, others come first.
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

// guard watches the owner, so that somebody takes over its background work at once when it ends.
func (d *Deployment) guard() {
	for d.life.Err() == nil {
		s, err := d.find(d.life)
		switch {
		case err != nil:
			_ = pause(d.life, 100*time.Millisecond) // the end of life is seen above
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

// yield hands the directory over. Nobody looks for a seat until that is done.
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

// do makes a call on a seat, again when its owner ends meanwhile. once says that the call must not be made again when its
// answer is lost.
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
		case s.svc != nil && errors.Is(err, contextmem.ErrClosed): // it was handed over
		case s.svc == nil && errors.Is(err, contextmem.ErrUnavailable): // the owner is ending
		default:
			return err
		}
		if pause(ctx, wait) != nil {
			return err
		}
	}
}

// lost reports whether err is the end of the owner during a call.
func lost(err error) bool { return client.Lost(err) || errors.Is(err, errGone) }

// pause waits, unless ctx ends first.
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
