package pipeline

import (
	"math"
	"time"
)

// bulkItems is the number of items of a batch while very many wait. The graph of a batch is one commit, which writes to pages all over the
// indexes of a large store. With four times as many items it writes a third fewer of them for each.
const bulkItems = 2048

const (
	// bulkAfter is how many batches in a row must have been full and fast before those of bulkItems. So a few thousand items are still shared
	// between workers.
	bulkAfter = 8
	// bulkPace is the time for an item of a fast batch. Models on other machines take longer, and what they have read is lost if the process ends
	// before the batch does.
	bulkPace = 16 * time.Millisecond
	// bulkLeast is the least Config.BatchItems with which batches grow. Who sets fewer wants small batches.
	bulkLeast = 512
)

// batchSize returns the number of items to claim for the next batch. Batches do not grow while somebody waits for searches or for commits.
func (c *Config) batchSize(f *Follower) int {
	if c.BatchItems < bulkLeast || f.fullRow.Load() < bulkAfter || f.Watched() || recent(&f.written) {
		return c.BatchItems
	}
	return max(bulkItems, c.BatchItems)
}

// paced records how long a batch took, and whether it was full.
func (f *Follower) paced(full bool, items int, took time.Duration) {
	if full && took <= time.Duration(items)*bulkPace {
		f.fullRow.Add(1)
		return
	}
	f.fullRow.Store(0)
}

// publishItems is the number of items of a commit while there are recalls. A recall waits until the indexes have applied all commits, so a
// small number keeps its wait short. Commits of this size take a tenth more processor time in total.
const publishItems = 64

// besideItems is the number of items of a commit while callers store few items at a time, each of which waits for the commit before it.
const besideItems = 256

// publishSize returns the number of items of a commit.
func publishSize(f *Follower) int {
	switch {
	case f.Watched():
		return publishItems
	case recent(&f.written):
		return besideItems
	}
	return math.MaxInt
}
