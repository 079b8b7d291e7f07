package sqlite

import (
	"context"
	"maps"
	"slices"

	"github.com/contextmem/contextmem/internal/storerules"
)

// maxLag is how many placed versions the counters may be behind.
const maxLag = 64

// lag is how far the counters in the file are behind. A version that is placed under a new id
// says by its row all that counters would: its number, that of its last chunk, that it is one
// more, completed, and in which partition. A commit that did nothing else leaves the counters'
// page alone, up to maxLag versions; any other writes them. So the versions above the last number
// that row 0 gave out are all placed and completed, and whoever reads counters adds them.
type lag struct {
	placed []lagged // the versions that the counters lack
	told   ledger   // what row 0 and those versions say
}

// lagged is a version that the counter of its partition lacks.
type lagged struct{ part, chunks int64 }

// readLag reads the ledger and how far it is ahead of the counters.
func readLag(c *conn) (l ledger, g lag, err error) {
	l, err = readLedger(c)
	if err == nil {
		g.told = l
		err = c.each(context.Background(), behindSQL, func(r *row) error {
			g.placed = append(g.placed, lagged{r.int(0), r.int(1)})
			return nil
		})
	}
	return l, g, err
}

const behindSQL = "SELECT part, chunks FROM sources WHERE num > (SELECT source FROM counters WHERE id = 0)"

// note notes that a version was placed under a new id, which made before into after. It is
// false when the counters have to be written anyway.
func (g *lag) note(before, after *ledger, v *head) bool {
	if g.told != *before {
		return false
	}
	g.told = *after
	g.placed = append(g.placed, lagged{v.Part, v.Chunks})
	return true
}

// due reports whether the counters have to be written so that the file says led.
func (g *lag) due(led *ledger) bool { return g.told != *led || len(g.placed) > maxLag }

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

// behind counts by partition what its counters lack, in the read that c is in.
func behind(ctx context.Context, c *conn) (map[int64]storerules.PartSum, error) {
	sums := make(map[int64]storerules.PartSum)
	err := c.each(ctx, behindSQL, func(r *row) error {
		sums[r.int(0)] = sums[r.int(0)].Plus(1, r.int(1))
		return nil
	})
	return sums, err
}
