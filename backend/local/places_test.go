package local

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/bitset"
)

func TestPlaces(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 9))
	var buf []uint64
	for range 300 {
		var rows []uint32
		var p places
		row, gap := uint32(r.IntN(300)), 1+r.IntN(300)
		for range 1 + r.IntN(900) {
			rows = append(rows, row)
			p.add(row, 1)
			row++
			if r.IntN(gap) == 0 {
				row += uint32(r.IntN(200))
			}
		}
		set, share := bitset.New(1+r.IntN(int(row)+100)), 1+r.IntN(20)
		for i := range set.Len() {
			if r.IntN(share) == 0 {
				set.Add(uint32(i))
			}
		}
		got := p.of(set, &buf)
		for place, row := range rows {
			require.Equal(t, set.Has(row), got.Has(uint32(place)), "row %d", row)
			require.Equal(t, row, p.row(uint32(place)))
			require.Equal(t, uint32(place), p.before(row))
		}
		require.Equal(t, uint32(len(rows)), p.n)
		require.Equal(t, p.n, p.before(row+1))
		require.Zero(t, p.before(rows[0]))
		if len(p.runs) > 1 {
			require.Equal(t, len(rows), got.Len())
		}
	}
	require.Zero(t, new(places).of(bitset.New(5), &buf).Len())
}

func TestPlacesOfAnotherRun(t *testing.T) {
	t.Parallel()
	var p, alone places
	p.add(5, 10)
	p.add(15, 3) // goes on
	require.Len(t, p.runs, 1)
	p.add(20, 2)
	require.Equal(t, []run{{5, 0}, {20, 13}}, p.runs)
	require.Equal(t, uint32(13), p.before(18))
	require.Equal(t, uint32(13), p.before(20))
	require.Equal(t, uint32(14), p.before(21))
	alone.add(128, 10)
	buf, set := []uint64(nil), bitset.New(140)
	set.Add(130)
	got := alone.of(set, &buf)
	require.True(t, got.Has(2))
	require.Nil(t, buf, "a part at whole words needs no copy")
	require.Zero(t, alone.of(bitset.New(100), &buf).Count(), "rows that a filter does not speak of are not in it")
}
