package sqlite

import (
	"sync"
	"time"
)

// logBudget is the size of all write-ahead logs of a deployment, in bytes, from which on the largest is moved into its database and
// emptied, so that they stay below 64 MiB however many files are written to. A single commit that is larger than the rest makes them larger for as long
// as it takes. A log that has the budget for itself gets as long as walPages says.
const logBudget = 40 << 20

// logPause is how long a log that readers keep from being emptied is left alone.
const logPause = 100 * time.Millisecond

// logs knows how large the logs of a deployment are.
type logs struct {
	mu    sync.Mutex
	sizes map[*writer]int64
	total int64
}

func newLogs() *logs { return &logs{sizes: make(map[*writer]int64)} }

// note sets the size of a log; 0 forgets it. It returns the writer of the largest when there is too much in all, else nil.
func (l *logs) note(w *writer, size int64) (largest *writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total += size - l.sizes[w]
	if l.sizes[w] = size; size == 0 {
		delete(l.sizes, w)
	}
	if l.total <= logBudget {
		return nil
	}
	most := int64(0)
	for w, n := range l.sizes {
		if n > most {
			most, largest = n, w
		}
	}
	return largest
}

// reckon is called after a commit, by who holds the turn of w.
func (w *writer) reckon() {
	switch largest := w.logs.note(w, w.space.size); {
	case largest == nil:
	case largest == w:
		w.empty()
	case largest.turn.TryLock(): // whoever holds it comes here itself
		largest.empty()
		largest.turn.Unlock()
	}
}

// empty moves the log into the database and cuts it, if no reader needs it. The caller holds turn.
func (w *writer) empty() {
	if w.closed || time.Since(w.emptied) < logPause {
		return
	}
	w.emptied = time.Now()
	busy := true
	err := w.c.script("PRAGMA busy_timeout=0") // nobody waits for a reader
	if err == nil {
		err = w.c.each(bg, "PRAGMA wal_checkpoint(TRUNCATE)", func(r *row) error {
			busy = r.int(0) != 0
			return nil
		})
		// It can't fail; what it would leave is a writer that gives up sooner.
		_ = w.c.script("PRAGMA busy_timeout=5000")
	}
	if err == nil && !busy { // else the next commit tries again
		w.emptied = time.Time{}
		w.space.size = 0
		w.logs.note(w, 0)
	}
}
