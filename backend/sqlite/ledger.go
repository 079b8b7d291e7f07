package sqlite

import (
	"context"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// ledger is row 0 of the counters. A transaction writes it at most once.
type ledger struct {
	storerules.Numbers
	states [backend.Errored + 1]int64 // number of newest versions in each state
	placed int64                      // the last placed version whose row is its feed entry
}

const ledgerCols = "source, chunk, entity, relation, merge_no, event, part, seq, feed_start, queued, processing, graph, completed, errored, retractions, placed"

// readLedger reads row 0 and adds the versions above its last number, which are all placed; see
// lag. The caller makes sure that there is no commit meanwhile.
func readLedger(c *conn) (l ledger, err error) {
	found, err := c.one(context.Background(), "SELECT "+ledgerCols+" FROM counters WHERE id = 0", func(r *row) error {
		for i, p := range l.fields() {
			*p = r.int(i)
		}
		return nil
	})
	if err == nil && !found {
		err = backend.ErrCorrupt
	}
	if err != nil {
		return l, err
	}
	_, err = c.one(context.Background(), "SELECT count(*), max(num), max(first_chunk + chunks - 1) FROM sources WHERE num > ?", func(r *row) error {
		if n := r.int(0); n > 0 {
			l.place(r.int(1), r.int(2))
			l.states[backend.Completed] += n
		}
		return nil
	}, l.Source)
	return l, err
}

// place counts the placed version num. lastChunk is the number of its last chunk, or of the last one before.
func (l *ledger) place(num, lastChunk int64) {
	l.Source, l.Seq, l.placed, l.Chunk = num, num, num, lastChunk
}

// fields returns pointers to the numbers in the order of ledgerCols.
func (l *ledger) fields() []*int64 {
	return []*int64{
		&l.Source, &l.Chunk, &l.Entity, &l.Relation, &l.Merge, &l.Event, &l.Part, &l.Seq, &l.FeedStart,
		&l.states[backend.Queued], &l.states[backend.Processing], &l.states[backend.GraphCreation],
		&l.states[backend.Completed], &l.states[backend.Errored], &l.Retractions, &l.placed,
	}
}

func (l *ledger) write(c *conn) error {
	args := make([]any, 0, 16)
	for _, p := range l.fields() {
		args = append(args, *p)
	}
	return c.do(`UPDATE counters SET source = ?, chunk = ?, entity = ?, relation = ?, merge_no = ?, event = ?, part = ?,
		seq = ?, feed_start = ?, queued = ?, processing = ?, graph = ?, completed = ?, errored = ?, retractions = ?, placed = ? WHERE id = 0`, args...)
}

// move updates the state counts for a newest version that changes its state. 0 is no state.
func (l *ledger) move(from, to backend.State) {
	if from != 0 {
		l.states[from]--
	}
	if to != 0 {
		l.states[to]++
	}
}
