package backendtest

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// randomLane returns 0 three times out of four.
func (m *model) randomLane() backend.Lane {
	if m.rng.IntN(4) > 0 {
		return 0
	}
	return backend.Lane(1 + m.rng.IntN(int(backend.LaneCount)-1))
}

// putVectors fills a lane for a version that was read earlier.
func (m *model) putVectors() {
	ctx := m.t.Context()
	if len(m.seen) == 0 {
		return
	}
	e := m.seen[len(m.seen)-1-m.rng.IntN(min(len(m.seen), 12))]
	if m.rng.IntN(2) == 0 {
		e = m.read(m.part(), pick(m.rng, modelIDs))
	}
	lane := backend.Lane(1 + m.rng.IntN(int(backend.LaneCount)-1))
	chunks, err := m.want.SourceChunks(ctx, e[1].Num, 0, 1<<30, false)
	require.NoError(m.t, err)
	m.serial++
	var vectors [][]float32
	for i := range chunks {
		var v []float32
		if m.rng.IntN(5) > 0 {
			v = Vector(fmt.Sprint(m.serial, i), dim)
		}
		vectors = append(vectors, v)
	}
	m.note("put %d vectors of %v into lane %d", len(vectors), e[1], lane)
	got, err := m.got.PutVectors(ctx, lane, []backend.LaneVectors{{Source: e[0], Vectors: vectors}})
	want, wantErr := m.want.PutVectors(ctx, lane, []backend.LaneVectors{{Source: e[1], Vectors: vectors}})
	m.sameOutcome(err, wantErr)
	require.Equal(m.t, want, got)
	if want != nil && want[0] && len(vectors) > 0 {
		m.did["vectors"]++
	}
}

// missing compares the versions that lack a lane in both stores.
func (m *model) missing() {
	ctx := m.t.Context()
	lane := backend.Lane(m.rng.IntN(int(backend.LaneCount)))
	m.note("missing in lane %d", lane)
	var lacking [2][]string
	for side, s := range []backend.Store{m.got, m.want} {
		limit := 1 + m.rng.IntN(4)
		for after := int64(0); ; {
			nums, err := s.MissingVectors(ctx, lane, after, limit)
			require.NoError(m.t, err)
			if len(nums) == 0 {
				break
			}
			for _, n := range nums {
				require.Greater(m.t, n, after)
				after = n
				lacking[side] = append(lacking[side], m.names[side][n])
			}
		}
	}
	require.Equal(m.t, lacking[1], lacking[0])
}

// dropLane drops all vectors of a lane above 0, in steps.
func (m *model) dropLane() {
	lane := backend.Lane(1 + m.rng.IntN(int(backend.LaneCount)-1))
	m.note("drop lane %d", lane)
	for _, s := range []backend.Store{m.got, m.want} {
		for after, limit := int64(0), 1+m.rng.IntN(4); ; {
			next, err := s.DropLane(m.t.Context(), lane, after, limit)
			require.NoError(m.t, err)
			if next == 0 {
				break
			}
			require.Greater(m.t, next, after)
			after = next
		}
	}
}
