package backendtest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

func (m *model) remove() {
	ctx := m.t.Context()
	p, ids := m.part(), []string{pick(m.rng, modelIDs), "nobody"}
	o := backend.DeleteOptions{KeepIndexing: m.rng.IntN(2) == 0}
	e, wantO := expected{}, o
	if m.rng.IntN(2) == 0 {
		e = m.expect(p, ids[0])
		o.Expect, wantO.Expect = []backend.Version{e[0], {}}, []backend.Version{e[1], {}}
		if tags := randomTags(m.rng); len(tags) > 0 && m.rng.IntN(2) == 0 {
			o.Still = &backend.Condition{Filter: backend.Filter{All: [][]uint64{tags}}}
			wantO.Still = o.Still
		}
	}
	m.note("delete %v %q, keep those being indexed %v, expect %v or %v", p, ids[0], o.KeepIndexing, e[1], o.Still)
	got, err := m.got.Delete(ctx, p, ids, o)
	want, wantErr := m.want.Delete(ctx, p, ids, wantO)
	m.noteOutcome(e, wantErr == nil && want[0].Conflict)
	m.sameOutcome(err, wantErr)
	require.Equal(m.t, want, got)
}

func (m *model) removeSub() {
	ctx := m.t.Context()
	sub, limit := m.part().Sub, 1+m.rng.IntN(4)
	m.note("delete sub-tenant %q, %d at a time", sub, limit)
	for _, s := range []backend.Store{m.got, m.want} {
		for left := 1000; ; left-- {
			require.Positive(m.t, left, "DeleteSub comes to an end")
			n, err := s.DeleteSub(ctx, sub, limit)
			require.NoError(m.t, err)
			require.LessOrEqual(m.t, n, limit)
			if n == 0 {
				break
			}
		}
	}
}

func (m *model) expire() {
	ctx := m.t.Context()
	m.note("expire")
	var next [2]time.Time
	for side, s := range []backend.Store{m.got, m.want} {
		for n := 1; n > 0; {
			var err error
			n, next[side], err = s.Expire(ctx, m.now, 1000)
			require.NoError(m.t, err)
		}
	}
	require.Equal(m.t, next[1], next[0], "the next expiry")
}

func (m *model) merge() {
	ctx := m.t.Context()
	p, from, into := m.part(), pick(m.rng, modelKeys), pick(m.rng, modelKeys)
	m.note("merge %q into %q in %v", from, into, p)
	got, err := m.got.MergeEntities(ctx, p, from, into, "why", m.now)
	want, wantErr := m.want.MergeEntities(ctx, p, from, into, "why", m.now)
	if m.sameOutcome(err, wantErr) {
		m.note("  it is merge %d", len(m.merges[1]))
		m.merges[0], m.merges[1] = append(m.merges[0], got), append(m.merges[1], want)
	}
}

func (m *model) undo() {
	if len(m.merges[1]) == 0 {
		return
	}
	if m.rng.IntN(2) == 0 {
		m.undoAny()
		return
	}
	i := m.rng.IntN(len(m.merges[1]))
	m.note("undo merge %d", i)
	m.sameOutcome(m.got.UndoMerge(m.t.Context(), m.merges[0][i]), m.want.UndoMerge(m.t.Context(), m.merges[1][i]))
}

// undoAny undoes a random merge of a partition, which a source may have stated.
func (m *model) undoAny() {
	ctx, p := m.t.Context(), m.part()
	got, err := m.got.Merges(ctx, p, 0, 1000)
	require.NoError(m.t, err)
	want, err := m.want.Merges(ctx, p, 0, 1000)
	require.NoError(m.t, err)
	require.Len(m.t, got, len(want))
	if len(want) > 0 {
		i := m.rng.IntN(len(want))
		m.note("undo merge %q into %q in %v", want[i].From, want[i].Into, p)
		m.sameOutcome(m.got.UndoMerge(ctx, got[i].Num), m.want.UndoMerge(ctx, want[i].Num))
	}
}

func (m *model) acknowledge() {
	ctx := m.t.Context()
	got, err := m.got.Events(ctx, 3)
	require.NoError(m.t, err)
	want, err := m.want.Events(ctx, 3)
	require.NoError(m.t, err)
	require.Len(m.t, got, len(want))
	if len(want) > 0 {
		i := m.rng.IntN(len(want))
		m.note("acknowledge %d events", i+1)
		m.sameOutcome(m.got.Acknowledge(ctx, got[i].Seq), m.want.Acknowledge(ctx, want[i].Seq))
	}
}

func (m *model) compact() {
	seq := uint64(m.rng.Int64N(int64(m.got.LastSeq()) + 1))
	m.note("compact the feed up to %d", seq)
	_, err := m.got.CompactFeed(m.t.Context(), seq, 1+m.rng.IntN(4))
	require.NoError(m.t, err)
}

func (m *model) restart() {
	m.note("reopen")
	m.reopen()
}
