// Package storerules holds what a [backend.Store] decides whatever keeps its rows: how the change feed is numbered, what merges
// and aliases do to entities, what is believed of relations, and which rows go with a version. A store over an SQL database embeds a
// [Tx] in what its changing calls share and gives it its SQL as [Rows].
package storerules

import (
	"maps"
	"slices"

	"github.com/contextmem/contextmem/backend"
)

// partCache is of how many partitions a Tx remembers the aliases.
const partCache = 4096

// Numbers are those that a store gave out last, where its feed starts, and how many relations retract others.
type Numbers struct {
	Source, Chunk, Entity, Relation, Merge, Event, Part int64
	Seq, FeedStart                                      int64 // entries of the feed, see [SeqOf]
	Retractions                                         int64
}

// PartSum is a change of a partition's counters.
type PartSum struct{ Items, Chunks int64 }

// Plus returns the sum of a change and another one.
func (s PartSum) Plus(items, chunks int64) PartSum {
	return PartSum{s.Items + items, s.Chunks + chunks}
}

// Tx runs the rules of changing calls, one call after the other, in transactions of the store. It remembers what the call under way
// left in memory and small things that are looked up often. It is used by one goroutine at a time.
type Tx struct {
	Rows     Rows
	Numbers  *Numbers
	Inserted bool             // the call under way put new rows into what is remembered
	Dropped  []backend.Change // tombstones that the call under way added to the feed

	// Mentioned is what the version that was finished last mentions, as indexes see it.
	Mentioned []backend.MentionRef

	aliases map[int64]*aliases        // by partition; loaded when needed
	stated  map[int64]map[string]bool // keys that sources name aliases of, by partition; loaded when needed

	head Head // the version that is being accepted

	// Of the call under way; Settle writes them.
	sums      map[int64]PartSum
	uses      map[int64]*Use
	unweighed map[EntityKey]bool // keys for which it changed what sources say that they stand for
}

// NewTx returns a Tx over the rows of a store, which counts in n.
func NewTx(rows Rows, n *Numbers) Tx {
	return Tx{
		Rows: rows, Numbers: n,
		aliases: make(map[int64]*aliases), stated: make(map[int64]map[string]bool),
		sums: make(map[int64]PartSum), uses: make(map[int64]*Use), unweighed: make(map[EntityKey]bool),
	}
}

// Begin starts a call.
func (t *Tx) Begin() { t.Inserted, t.Dropped = false, nil }

// Clear drops what a call that failed left in memory.
func (t *Tx) Clear() {
	clear(t.sums)
	clear(t.uses)
	clear(t.unweighed)
}

// Forget empties what the Tx remembers of stored rows.
func (t *Tx) Forget() {
	clear(t.aliases)
	clear(t.stated)
}

// Count changes the counters of a partition.
func (t *Tx) Count(part, items, chunks int64) { t.sums[part] = t.sums[part].Plus(items, chunks) }

// Settle writes what a call left in memory.
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
