package sqlite

import (
	"context"
	"maps"
	"slices"

	"github.com/contextmem/contextmem/internal/storerules"
)

// maxLag is the number of placed versions that the counters in the file may lack.
const maxLag = 64

// lag describes how far the counters in the file lag behind. The row of a version placed under a
// new id determines its effect on all counters: its number, the number of its last chunk, one more
// completed item, and the partition. A commit that only places such versions does not write the
// counters, up to maxLag versions; any other commit does. All versions above the last number in
// row 0 are therefore placed and completed, and readers of counters add them.
type lag struct {
	placed []lagged // versions that the counters in the file lack
	total  ledger   // sum of row 0 and these versions
}

// lagged is a version that the counter of its partition lacks.
type lagged struct{ part, chunks int64 }

// readLag reads the ledger and its lag.
func readLag(c *conn) (l ledger, g lag, err error) {
	l, err = readLedger(c)
	if err == nil {
		g.total = l
		err = c.each(context.Background(), behindSQL, func(r *row) error {
			g.placed = append(g.placed, lagged{r.int(0), r.int(1)})
			return nil
		})
	}
	return l, g, err
}

const behindSQL = "SELECT part, chunks FROM sources WHERE num > (SELECT source FROM counters WHERE id = 0)"

// note adds a version placed under a new id, which changed the ledger from before to after. It
// returns false if the counters must be written anyway.
func (g *lag) note(before, after *ledger, v *head) bool {
	if g.total != *before {
		return false
	}
	g.total = *after
	g.placed = append(g.placed, lagged{v.Part, v.Chunks})
	return true
}

// due reports whether the counters must be written for the file to represent led.
func (g *lag) due(led *ledger) bool { return g.total != *led || len(g.placed) > maxLag }

// write writes the counters.
func (g *lag) write(c *conn, led *ledger) error {
	sums := make(map[int64]storerules.PartSum)
	for _, v := range g.placed {
		sums[v.part] = sums[v.part].Plus(1, v.chunks)
	}
	for _, part := range slices.Sorted(maps.Keys(sums)) {
		if err := addToPart(c, part, sums[part]); err != nil {
			return err
		}
	}
	return led.write(c)
}

// behind returns, for each partition, what its counters in the file lack. It runs in the transaction of c.
func behind(ctx context.Context, c *conn) (map[int64]storerules.PartSum, error) {
	sums := make(map[int64]storerules.PartSum)
	err := c.each(ctx, behindSQL, func(r *row) error {
		sums[r.int(0)] = sums[r.int(0)].Plus(1, r.int(1))
		return nil
	})
	return sums, err
}
