package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
	"github.com/contextmem/contextmem/internal/uid"
)

// channel is the NOTIFY channel on which processes announce changes. A message consists of the sender and items joined by commas. An
// item is "ws entry", a workspace and the last entry of its feed, or recordsChange. A message without items only shows that messages arrive.
const (
	channel       = "contextmem"
	recordsChange = "records"
)

// Bounds of notifications.
const (
	sendDelay       = 5 * time.Millisecond // delay before sending, to combine several changes in one message
	maxMessageBytes = 7000                 // maximum bytes of one message; the server accepts 8000
)

// watch announces changes to other processes and receives theirs. Messages are sent after commits, since a NOTIFY inside a
// transaction would make commits wait for each other.
type watch struct {
	db      *DB
	self    string // name of this process as a sender
	listens bool
	cancel  context.CancelFunc
	wg      sync.WaitGroup
	echo    atomic.Int64 // time when a message of this process last came back, in nanoseconds

	mu             sync.Mutex
	pending        map[int64]int64 // last feed entry to announce, by workspace number
	recordsChanged bool            // whether a write to the registry must be announced
	wake           chan struct{}
	callback       func(uid string) // callback of Watch; nil: none
}

var _ backend.Shared = (*DB)(nil)

// Shares implements [backend.Shared].
func (d *DB) Shares() bool { return true }

// Watch implements [backend.Shared].
func (d *DB) Watch(ctx context.Context, heard func(uid string)) {
	set := func(f func(string)) {
		d.watch.mu.Lock()
		d.watch.callback = f
		d.watch.mu.Unlock()
	}
	var one sync.Mutex
	set(func(uid string) {
		one.Lock()
		defer one.Unlock()
		if ctx.Err() == nil {
			heard(uid)
		}
	})
	<-ctx.Done()
	set(nil)
	one.Lock() // waits for a running call of the callback
	defer one.Unlock()
}

func startWatch(d *DB, listen *pgx.ConnConfig) *watch {
	ctx, cancel := context.WithCancel(bg)
	w := &watch{db: d, self: uid.New()[:12], listens: listen != nil, cancel: cancel, pending: make(map[int64]int64), wake: make(chan struct{}, 1)}
	w.wg.Go(func() { w.sender(ctx) })
	w.wg.Go(func() { w.poller(ctx) })
	if listen != nil {
		w.wg.Go(func() { w.listener(ctx, listen) })
	}
	return w
}

func (w *watch) stop() {
	w.cancel()
	w.wg.Wait()
}

// announce schedules the announcement of a change of a workspace.
func (w *watch) announce(ws, entry int64) {
	w.mu.Lock()
	w.pending[ws] = max(w.pending[ws], entry)
	w.mu.Unlock()
	w.wakeSender()
}

// announceRecords schedules the announcement of a write to the registry.
func (w *watch) announceRecords() {
	w.mu.Lock()
	w.recordsChanged = true
	w.mu.Unlock()
	w.wakeSender()
}

func (w *watch) wakeSender() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *watch) sender(ctx context.Context) {
	for {
		select {
		case <-w.wake:
		case <-ctx.Done():
			return
		}
		for _, message := range w.messages() {
			w.send(ctx, message) // other processes find a lost message's changes by polling
		}
		pause(ctx, sendDelay)
	}
}

func (w *watch) send(ctx context.Context, items string) {
	_ = w.db.with(ctx, everything, func(c *conn) error {
		_, err := c.one(ctx, "SELECT 1 FROM pg_notify($1, $2)", func(*row) error { return nil }, plain(channel), plain(w.self+","+items))
		return err
	})
}

// messages removes and formats the pending announcements.
func (w *watch) messages() (out []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var b strings.Builder
	if w.recordsChanged {
		b.WriteString(recordsChange)
		w.recordsChanged = false
	}
	for ws, entry := range w.pending {
		if b.Len() > maxMessageBytes {
			out = append(out, b.String())
			b.Reset()
		}
		fmt.Fprintf(&b, ",%d %d", ws, entry)
	}
	clear(w.pending)
	if b.Len() > 0 {
		out = append(out, b.String())
	}
	return out
}

// poller polls for changes of the open workspaces every [Options].Poll. Four times as often it checks whether messages arrive. While they do
// not, it calls the callback each time, since the registry may have changed.
func (w *watch) poller(ctx context.Context) {
	every := w.db.o.Poll / 4
	for n := 1; pause(ctx, every); n++ {
		if w.listens {
			w.send(ctx, "")
		}
		if !w.listens || time.Since(time.Unix(0, w.echo.Load())) > 2*every {
			w.notify("")
		}
		if n%4 == 0 {
			w.poll(ctx)
		}
	}
}

func (w *watch) poll(ctx context.Context) {
	open := w.openByNumber()
	if len(open) == 0 {
		return
	}
	var changed []*store
	_ = w.db.query(ctx, everything, func(c *conn) error {
		return c.each(ctx, "SELECT ws, seq FROM ledgers WHERE ws = ANY($1)", func(r *row) error {
			if s := open[r.int(0)]; s.learn(uint64(r.int(1)) << storerules.SeqShift) {
				changed = append(changed, s)
			}
			return nil
		}, slices.Collect(maps.Keys(open)))
	})
	for _, s := range changed {
		w.notify(s.uid)
	}
}

// notify calls the callback of Watch.
func (w *watch) notify(uid string) {
	w.mu.Lock()
	heard := w.callback
	w.mu.Unlock()
	if heard != nil {
		heard(uid)
	}
}

// listener receives notifications, and reconnects after errors.
func (w *watch) listener(ctx context.Context, config *pgx.ConnConfig) {
	for {
		_ = w.listen(ctx, config)
		if !pause(ctx, lastWait) {
			return
		}
	}
}

func (w *watch) listen(ctx context.Context, config *pgx.ConnConfig) error {
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(bg) }()
	if _, err := c.Exec(ctx, "LISTEN "+channel); err != nil {
		return err
	}
	w.notify("") // changes may have been missed
	for {
		n, err := c.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		w.receive(n.Payload)
	}
}

// receive applies a message to the workspaces that are open in this process.
func (w *watch) receive(message string) {
	sender, items, _ := strings.Cut(message, ",")
	if sender == w.self {
		w.echo.Store(time.Now().UnixNano())
		return
	}
	if items == "" {
		return
	}
	open := w.openByNumber()
	for item := range strings.SplitSeq(items, ",") {
		if item == recordsChange {
			w.notify("")
			continue
		}
		ws, entry, _ := strings.Cut(item, " ")
		num, err := strconv.ParseInt(ws, 10, 64)
		seq, err2 := strconv.ParseInt(entry, 10, 64)
		if s := open[num]; err == nil && err2 == nil && s != nil {
			s.learn(uint64(seq) << storerules.SeqShift)
			w.notify(s.uid)
		}
	}
}

// openByNumber returns the open stores by workspace number.
func (w *watch) openByNumber() map[int64]*store {
	w.db.mu.Lock()
	defer w.db.mu.Unlock()
	out := make(map[int64]*store, len(w.db.open))
	for _, s := range w.db.open {
		if s != nil {
			out[s.ws] = s
		}
	}
	return out
}

// pause waits and reports whether ctx is still active.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
