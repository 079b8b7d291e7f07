package recall

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// versions is a Store of the newest versions of items. It counts calls.
type versions struct {
	backend.Store
	of    map[string]*backend.Source
	asked int
}

func (v *versions) Sources(_ context.Context, _ backend.Partition, ids []string) (out []*backend.Source, err error) {
	v.asked++
	for _, id := range ids {
		out = append(out, v.of[id])
	}
	return out, nil
}

// TestReplacedWaitsForNoCommit checks that a recall does not wait for a commit if the newer versions of its items are not indexed
// yet, and that it does wait if one is indexed already.
func TestReplacedWaitsForNoCommit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		peeked, told backend.Source
		waits        int
		state        backend.State
	}{
		{name: "queued", peeked: backend.Source{Num: 9, Older: 7, State: backend.Queued}, state: backend.Queued},
		{name: "errored", peeked: backend.Source{Num: 9, Older: 7, State: backend.Errored}, state: backend.Errored},
		{name: "indexed meanwhile", peeked: backend.Source{Num: 9, State: backend.Completed}, told: backend.Source{Num: 9, State: backend.Completed}, waits: 1, state: backend.Completed},
		{name: "indexed and replaced again", peeked: backend.Source{Num: 10, Older: 9, State: backend.Queued}, told: backend.Source{Num: 10, Older: 9, State: backend.Queued}, waits: 1, state: backend.Queued},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.peeked.ID, c.told.ID = "a", "a"
			peek, settled := &versions{of: map[string]*backend.Source{"a": &c.peeked}}, &versions{of: map[string]*backend.Source{"a": &c.told}}
			row := &backend.Hydrated{Src: &backend.Source{ID: "a", Num: 7, Replaced: true}}
			r := &run{ctx: t.Context(), res: Result{Hits: []*Hit{{Row: row}}}}
			r.store.Store, r.settled, r.own.Store = peek, settled, &r.store
			r.Workspace = &r.own
			require.NoError(t, r.replaced())
			require.Equal(t, map[int64]backend.State{7: c.state}, r.res.Newer)
			require.Equal(t, 1, peek.asked)
			require.Equal(t, c.waits, settled.asked)
		})
	}
}
