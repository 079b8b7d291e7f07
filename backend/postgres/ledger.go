package postgres

import "github.com/contextmem/contextmem/backend"

// ledger is the row that whoever changes a workspace locks: the numbers given out last, where the feed
// starts, how many newest versions have ended, and how many relations retract others. It is written once per transaction.
type ledger struct {
	rev                                                             int64
	source, chunk, entity, relation, merge, event, part, succession int64
	seq, feedStart                                                  int64
	completed, errored, retractions                                 int64
	epoch                                                           int64
}

const ledgerCols = "rev, source, chunk, entity, relation, merge_no, event, part, succession, seq, feed_start, completed, errored, retractions, epoch"

// fields are the numbers in the order of ledgerCols.
func (l *ledger) fields() []*int64 {
	return []*int64{
		&l.rev, &l.source, &l.chunk, &l.entity, &l.relation, &l.merge, &l.event, &l.part, &l.succession, &l.seq, &l.feedStart,
		&l.completed, &l.errored, &l.retractions, &l.epoch,
	}
}

func (l *ledger) read(r *row) {
	for i, p := range l.fields() {
		*p = r.int(i)
	}
}

// maxRecent is how many transactions the ledger remembers.
const maxRecent = 32

// write writes the ledger, and the mark of the transaction.
func (l *ledger) write(c *conn, mark int64) error {
	args := make([]any, 0, 17)
	for _, p := range l.fields() {
		args = append(args, *p)
	}
	return c.do(`UPDATE ledgers SET rev = $2, source = $3, chunk = $4, entity = $5, relation = $6, merge_no = $7, event = $8, part = $9,
		succession = $10, seq = $11, feed_start = $12, completed = $13, errored = $14, retractions = $15, epoch = $16,
		recent = ($17::bigint || recent)[1:32] WHERE ws = $1`, append(args, mark)...)
}

// move counts a newest version out of one state and into another; 0 is outside. Those that have not ended are counted when they are asked for.
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
