package backendtest

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// expected holds a version that a caller has read from got and from want.
type expected [2]backend.Version

// read reads the newest version of an id and adds it to seen.
func (m *model) read(part backend.Partition, id string) (e expected) {
	ctx := m.t.Context()
	for side, s := range []backend.Store{m.got, m.want} {
		srcs, err := s.Sources(ctx, part, []string{id})
		require.NoError(m.t, err)
		if srcs[0] != nil {
			e[side] = srcs[0].Version()
		}
	}
	require.Equal(m.t, e[1].Rev, e[0].Rev)
	if e[1].Num != 0 {
		m.seen = append(m.seen, e)
	}
	return e
}

// expect returns the expectation for a write to an id: none (half of the calls), the newest version (a
// quarter), or a version that was read earlier, perhaps of another id.
func (m *model) expect(part backend.Partition, id string) expected {
	switch n := m.rng.IntN(8); {
	case n < 4:
		return expected{}
	case n < 6 || len(m.seen) == 0:
		return m.read(part, id)
	default:
		return m.seen[len(m.seen)-1-m.rng.IntN(min(len(m.seen), 12))]
	}
}

// noteOutcome counts whether a write with an expectation was taken or refused.
func (m *model) noteOutcome(e expected, conflict bool) {
	switch {
	case e[1].Num == 0:
	case conflict:
		m.did["conflict"]++
	default:
		m.did["expected"]++
	}
}

func (m *model) metadata() {
	ctx := m.t.Context()
	m.serial++
	p, id, tags, meta := m.part(), pick(m.rng, modelIDs), randomTags(m.rng), fmt.Appendf(nil, `{"n":%d}`, m.serial)
	e := m.expect(p, id)
	m.note("metadata of %v %q, tags %v, expect %v", p, id, tags, e[1])
	got, err := m.got.UpdateMetadata(ctx, p, id, e[0], meta, nil, nil, tags, m.now)
	want, wantErr := m.want.UpdateMetadata(ctx, p, id, e[1], meta, nil, nil, tags, m.now)
	m.noteOutcome(e, wantErr != nil)
	if m.sameOutcome(err, wantErr) {
		require.Equal(m.t, want, got)
	}
}

func (m *model) set() {
	ctx := m.t.Context()
	m.serial++
	name, value := pick(m.rng, modelValues), fmt.Appendf(nil, "value %d", m.serial)
	old, err := m.want.Get(ctx, name)
	require.NoError(m.t, err)
	switch m.rng.IntN(4) {
	case 0:
		old = []byte("something else")
	case 1:
		value = nil
	}
	m.note("set %s from %q to %q", name, old, value)
	m.sameOutcome(m.got.Set(ctx, name, old, value), m.want.Set(ctx, name, old, value))
}
