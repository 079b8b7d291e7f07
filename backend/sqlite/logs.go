package sqlite

import (
	"sync"
	"time"
)

// logBudget is the total size of a deployment's write-ahead logs, in bytes, from which on the largest is moved into its database and
// truncated. The logs of any number of files thereby stay below 64 MiB, except during a single very large commit. If only one file is
// written to, its log grows up to walPages.
const logBudget = 40 << 20

// logPause is the pause before the next attempt to empty a log that readers kept from being emptied.
const logPause = 100 * time.Millisecond

// logs holds the sizes of a deployment's logs.
type logs struct {
	mu    sync.Mutex
	sizes map[*writer]int64
	total int64
}

func newLogs() *logs { return &logs{sizes: make(map[*writer]int64)} }

// note sets the size of a log; 0 removes it. If the total exceeds the budget, note returns the writer of the largest log, else nil.
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

// reckon records the size of the log after a commit, and empties the largest log if necessary. The caller holds w.turn.
func (w *writer) reckon() {
	switch largest := w.logs.note(w, w.space.size); {
	case largest == nil:
	case largest == w:
		w.empty()
	case largest.turn.TryLock(): // if it is locked, its holder calls reckon itself
		largest.empty()
		largest.turn.Unlock()
	}
}

// empty moves the log into the database and truncates it, if no reader needs it. The caller holds turn.
func (w *writer) empty() {
	if w.closed || time.Since(w.emptied) < logPause {
		return
	}
	w.emptied = time.Now()
	busy := true
	err := w.c.script("PRAGMA busy_timeout=0") // do not wait for readers
	if err == nil {
		err = w.c.each(bg, "PRAGMA wal_checkpoint(TRUNCATE)", func(r *row) error {
			busy = r.int(0) != 0
			return nil
		})
		// This can't fail. If it did, the writer would only time out sooner.
		_ = w.c.script("PRAGMA busy_timeout=5000")
	}
	if err == nil && !busy { // otherwise the next commit tries again
		w.emptied = time.Time{}
		w.space.size = 0
		w.logs.note(w, 0)
	}
}
