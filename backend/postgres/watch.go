package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// channel is where processes tell one another of changes: of workspaces, as "ws seq" joined by commas, and of records.
const (
	channel       = "contextmem"
	recordsChange = "records"
)

// Bounds of telling others.
const (
	tellPause = 5 * time.Millisecond // changes that come in the meantime are told together
	maxTold   = 7000                 // bytes of one message; the server takes 8000
)

// watch tells other processes of changes and hears of theirs. A commit does not wait for it, as a NOTIFY in its transaction
// would have it wait for all others.
type watch struct {
	db     *DB
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu   sync.Mutex
	news map[int64]int64 // entries of the feed by workspace, to be told
	kept bool            // records were written, which is to be told
	wake chan struct{}
}

func startWatch(d *DB, listen *pgx.ConnConfig) *watch {
	ctx, cancel := context.WithCancel(bg)
	w := &watch{db: d, cancel: cancel, news: make(map[int64]int64), wake: make(chan struct{}, 1)}
	w.wg.Go(func() { w.teller(ctx) })
	w.wg.Go(func() { w.asker(ctx) })
	if listen != nil {
		w.wg.Go(func() { w.listener(ctx, listen) })
	}
	return w
}

func (w *watch) stop() {
	w.cancel()
	w.wg.Wait()
}

// tell lets the others know that a workspace has changed.
func (w *watch) tell(ws, entry int64) {
	w.mu.Lock()
	w.news[ws] = max(w.news[ws], entry)
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// tellRecords lets the others know that records were written.
func (w *watch) tellRecords() {
	w.mu.Lock()
	w.kept = true
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *watch) teller(ctx context.Context) {
	for {
		select {
		case <-w.wake:
		case <-ctx.Done():
			return
		}
		for _, message := range w.messages() {
			// One that is lost is found by asking.
			_ = w.db.query(ctx, everything, func(c *conn) error {
				_, err := c.one(ctx, "SELECT pg_notify($1, $2)", func(*row) error { return nil }, plain(channel), plain(message))
				return err
			})
		}
		pause(ctx, tellPause)
	}
}

// messages takes the news.
func (w *watch) messages() (out []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var b strings.Builder
	if w.kept {
		out, w.kept = append(out, recordsChange), false
	}
	for ws, entry := range w.news {
		if b.Len() > maxTold {
			out = append(out, b.String())
			b.Reset()
		}
		fmt.Fprintf(&b, "%d %d,", ws, entry)
	}
	clear(w.news)
	if b.Len() > 0 {
		out = append(out, b.String())
	}
	return out
}

// asker asks for the changes of the workspaces that are open.
func (w *watch) asker(ctx context.Context) {
	for pause(ctx, w.db.o.Poll) {
		open := w.openByNumber()
		if len(open) == 0 {
			continue
		}
		_ = w.db.query(ctx, everything, func(c *conn) error {
			return c.each(ctx, "SELECT ws, seq FROM ledgers WHERE ws = ANY($1)", func(r *row) error {
				open[r.int(0)].learn(uint64(r.int(1)) << seqShift)
				return nil
			}, slices.Collect(maps.Keys(open)))
		})
	}
}

// listener hears of changes, for as long as it takes over any number of connections.
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
	for {
		n, err := c.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		w.heard(n.Payload)
	}
}

// heard notes what a message says of the workspaces that are open here.
func (w *watch) heard(message string) {
	open := w.openByNumber()
	for item := range strings.SplitSeq(message, ",") {
		ws, entry, ok := strings.Cut(item, " ")
		num, err := strconv.ParseInt(ws, 10, 64)
		seq, err2 := strconv.ParseInt(entry, 10, 64)
		if s := open[num]; ok && err == nil && err2 == nil && s != nil {
			s.learn(uint64(seq) << seqShift)
		}
	}
}

// openByNumber returns the stores that are open.
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

// pause waits and reports whether ctx still runs.
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
