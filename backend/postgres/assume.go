package postgres

import (
	"errors"

	"github.com/contextmem/contextmem/backend"
)

// A writing call that shares its transaction with no other is sent to the server in one message if two assumptions hold: the last
// transaction of the workspace is this process's last one, and the call's items are new. The first statement locks the ledger and fails if
// the ledger does not carry the mark of that transaction. The unique indexes make a second newest version of an item fail. If an
// assumption is wrong, the server has changed nothing, and the call runs again after it has read the ledger and the items.

// errAssumed is the error of a transaction whose assumption was wrong.
var errAssumed = errors.New("the workspace is not as assumed")

// assumedCode is the SQLSTATE of 1 / 0, with which the statements below fail.
const assumedCode = "22012"

// assumedItems is the maximal number of items of a call that are assumed to be new. For more items a wrong assumption costs more than it saves.
const assumedItems = 8

// holds returns the statement that locks the ledger, and fails unless transaction mark wrote it last.
func (l *ledger) holds(c *conn, mark int64) statement {
	return statement{sql: "SELECT 1 / count(*), " + c.plans + " FROM (SELECT 1 FROM ledgers WHERE ws = $1 AND rev = $2 AND recent[1] = $3 FOR UPDATE) x",
		args: c.bind([]any{l.rev, mark})}
}

// writeOver returns the statement that writes the ledger, and fails unless transaction old wrote it last.
func (l *ledger) writeOver(c *conn, old, mark int64) statement {
	return statement{sql: "WITH written AS (" + ledgerUpdate + " AND rev = $2 - 1 AND recent[1] = $18 RETURNING 1) SELECT 1 / count(*) FROM written",
		args: c.bind(append(l.values(mark), old))}
}

// assumes reports whether a result of the current transaction may come from an assumption that the server has not confirmed.
func (t *tx) assumes() bool { return t.absent || t.c.lock.sql != "" }

// mistaken reports whether the error of a transaction may come from a wrong assumption.
func (t *tx) mistaken(err error) bool {
	var violated *constraintError
	return errors.Is(err, errAssumed) || t.absent && errors.As(err, &violated)
}

// assumesNew reports whether the n items of the current call are assumed to be new. They are if the items looked up last were.
func (t *tx) assumesNew(n int) bool { return t.may && t.news && !t.expects && n <= assumedItems }

func expects(in *backend.Incoming) bool { return in.Expect != backend.Version{} }
