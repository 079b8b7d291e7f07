// Package storerules has the rules of a [backend.Store] that do not depend on its database: how the change feed is numbered, how merges and
// aliases change entities, which relations hold, and which rows are removed with a version. A store over an SQL database embeds a [Tx] in
// the state of its writing calls, and implements [Rows] with its SQL.
package storerules

import (
	"maps"
	"slices"

	"github.com/contextmem/contextmem/backend"
)

// partCache is the number of partitions whose aliases a Tx caches.
const partCache = 4096

// Numbers holds the last numbers that a store has assigned, the start of its feed, and the number of retractions.
type Numbers struct {
	Source, Chunk, Entity, Relation, Merge, Event, Part int64
	Seq, FeedStart                                      int64 // entries of the feed; see [SeqOf]
	Retractions                                         int64
}

// PartSum is a change of a partition's counters.
type PartSum struct{ Items, Chunks int64 }

// Plus returns the sum of two changes.
func (s PartSum) Plus(items, chunks int64) PartSum {
	return PartSum{s.Items + items, s.Chunks + chunks}
}

// Tx applies the rules of writing calls, one call after the other, in transactions of the store. It holds changes that the current call has not written yet, and
// caches small values that are looked up often. A Tx is not safe for concurrent use.
type Tx struct {
	Rows     Rows
	Numbers  *Numbers
	Inserted bool             // the current call has put new rows into caches
	Dropped  []backend.Change // tombstones that the current call has added to the feed
	Left     bool             // the current call has removed a version of which something is damaged, so that rows may be left that belong to nothing

	// Folded holds a FoldEntity change for each merge of the current call that changes mentions in the feed. Reput is the number of versions whose
	// mentions it put into the feed again. Unfolded reports whether the call made a change of roots that Folded does not have.
	Folded   []backend.Change
	Reput    int64
	Unfolded bool

	// Mentioned holds the mentions of the last finished version in the form for indexes.
	Mentioned []backend.MentionRef

	aliases map[int64]*aliases        // aliases of each partition, loaded when needed
	stated  map[int64]map[string]bool // result of statedKeys for each partition, loaded when needed

	head Head // the version that is being accepted

	// Changes by the current call, which Settle writes.
	sums      map[int64]PartSum
	uses      map[int64]*Use
	unweighed map[EntityKey]bool // keys whose stated aliases the call has changed
}

// NewTx returns a Tx over the rows of a store. It takes new numbers from n.
func NewTx(rows Rows, n *Numbers) Tx {
	return Tx{
		Rows: rows, Numbers: n,
		aliases: make(map[int64]*aliases), stated: make(map[int64]map[string]bool),
		sums: make(map[int64]PartSum), uses: make(map[int64]*Use), unweighed: make(map[EntityKey]bool),
	}
}

// Begin starts a call.
func (t *Tx) Begin() {
	t.Inserted, t.Dropped, t.Left = false, nil, false
	t.Folded, t.Reput, t.Unfolded = nil, 0, false
}

// Clear drops the unwritten changes of a failed call.
func (t *Tx) Clear() {
	clear(t.sums)
	clear(t.uses)
	clear(t.unweighed)
}

// Forget empties the caches of stored rows.
func (t *Tx) Forget() {
	clear(t.aliases)
	clear(t.stated)
}

// Count changes the counters of a partition.
func (t *Tx) Count(part, items, chunks int64) { t.sums[part] = t.sums[part].Plus(items, chunks) }

// Settle writes the changes that a call holds in memory.
func (t *Tx) Settle() error {
	for _, part := range slices.Sorted(maps.Keys(t.sums)) {
		if sum := t.sums[part]; sum != (PartSum{}) {
			if err := t.Rows.CountPart(part, sum); err != nil {
				return err
			}
		}
	}
	clear(t.sums)
	if err := t.settleUses(); err != nil {
		return err
	}
	return t.settleStated()
}
