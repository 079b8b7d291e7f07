package postgres

import (
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// ledger is the workspace row that every changing transaction locks. A transaction writes it at most once.
type ledger struct {
	storerules.Numbers
	rev                int64
	succession         int64 // last number assigned to a succession
	completed, errored int64 // counts of newest versions in final states
	epoch              int64
}

const ledgerCols = "rev, source, chunk, entity, relation, merge_no, event, part, succession, seq, feed_start, completed, errored, retractions, epoch"

// fields returns the numbers in the order of ledgerCols.
func (l *ledger) fields() []*int64 {
	return []*int64{
		&l.rev, &l.Source, &l.Chunk, &l.Entity, &l.Relation, &l.Merge, &l.Event, &l.Part, &l.succession, &l.Seq, &l.FeedStart,
		&l.completed, &l.errored, &l.Retractions, &l.epoch,
	}
}

func (l *ledger) read(r *row) {
	for i, p := range l.fields() {
		*p = r.int(i)
	}
}

// maxRecent is the number of transactions that the ledger remembers.
const maxRecent = 32

const ledgerUpdate = `UPDATE ledgers SET rev = $2, source = $3, chunk = $4, entity = $5, relation = $6, merge_no = $7, event = $8, part = $9,
		succession = $10, seq = $11, feed_start = $12, completed = $13, errored = $14, retractions = $15, epoch = $16,
		recent = ($17::bigint || recent)[1:32] WHERE ws = $1`

// values returns the arguments of ledgerUpdate. mark is the mark of the transaction.
func (l *ledger) values(mark int64) []any {
	args := make([]any, 0, 18)
	for _, p := range l.fields() {
		args = append(args, *p)
	}
	return append(args, mark)
}

// write stores the ledger and the mark of the transaction.
func (l *ledger) write(c *conn, mark int64) error {
	return c.do(ledgerUpdate, l.values(mark)...)
}

// move updates the state counts for a newest version that changes its state; 0 is no state. Only final states are counted here; the others are counted by query.
func (l *ledger) move(from, to backend.State) {
	for _, step := range [...]struct {
		state backend.State
		n     int64
	}{{from, -1}, {to, 1}} {
		switch step.state {
		case backend.Completed:
			l.completed += step.n
		case backend.Errored:
			l.errored += step.n
		}
	}
}
