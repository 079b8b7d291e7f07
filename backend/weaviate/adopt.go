package weaviate

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/go-openapi/strfmt"
	"golang.org/x/sync/errgroup"

	"github.com/contextmem/contextmem/backend"
)

// A process that begins to lead applies the feed again from the last change that all replicas are known to have. What the leader before it has stored since
// then is compared with the content of the nodes, and only what they lack is stored again. To store everything again, objects deleted first, takes seconds for
// each hundred versions, and no new change is applied meanwhile.

// longAgo is when writes of other processes count as begun: before any node was seen to go away, so that a node which lacks them may have stored them in part.
var longAgo = time.Time{}.Add(-time.Hour)

// inherit notes what the leader before has stored. The caller holds mu and has set the position.
func (x *index) inherit(r progress) {
	if x.storedTo = 0; r.seq <= x.applied.Load() {
		return
	}
	x.storedTo = r.seq
	if r.primary != nil && !r.primary.isDown() {
		x.pending.setPrimary(r.primary)
	}
}

// adopting reports whether changes that the leader before has stored are still to be compared. The caller holds mu.
func (x *index) adopting() bool { return x.applied.Load() < x.storedTo }

// adopted ends adopting once the position has reached what the leader before has stored. The caller holds mu.
func (x *index) adopted() {
	if x.storedTo != 0 && !x.adopting() {
		x.storedTo = 0
		x.leaderPrimary.Store(nil) // pending knows which node has everything
	}
}

// adopt is write for changes that the leader before has stored. It writes only what nodes lack.
func (x *index) adopt(ctx context.Context, changes []backend.Change) error {
	if plans := planOf(x.unproven(ctx, changes)); len(plans) > 0 {
		return x.write(ctx, changes, plans)
	}
	last, replicated := point{changes[len(changes)-1].Seq, x.next.Load()}, x.pending.primaryNode() == nil
	if err := x.pending.keep(changes, last, longAgo, replicated); err != nil {
		return err
	}
	if replicated {
		x.pending.markReplicated()
	}
	x.ownState.finish(last, x.ownState.replicatedPoint())
	return nil
}

// unproven returns those of changes whose effect is not seen on the node that has everything, or on all nodes that answer if there is no such node.
func (x *index) unproven(ctx context.Context, changes []backend.Change) []backend.Change {
	if slices.ContainsFunc(changes, func(c backend.Change) bool { return c.Kind == backend.DropSub || c.Kind == backend.DropVectors }) {
		return changes // done again, they also delete what later changes have stored
	}
	nodes := x.x.cluster.nodes
	if n := x.pending.primaryNode(); n != nil {
		nodes = []*node{n}
		if n.isDown() {
			return changes
		}
	}
	d := desired(changes)
	sources := make([]int64, 0, len(d.last))
	for source := range d.last {
		sources = append(sources, source)
	}
	var mu sync.Mutex
	lacked := map[int64]bool{}
	g, ctx := errgroup.WithContext(ctx)
	for _, n := range nodes {
		if n.isDown() {
			continue
		}
		g.Go(func() error {
			wrong := map[int64]map[string][]strfmt.UUID{}
			err := x.compareOn(ctx, n, d, sources, wrong)
			mu.Lock()
			defer mu.Unlock()
			for source := range wrong {
				lacked[source] = true
			}
			return err
		})
	}
	if g.Wait() != nil {
		return changes
	}
	var out []backend.Change
	for _, c := range changes {
		if _, compared := d.last[c.Source]; !compared || lacked[c.Source] {
			out = append(out, c)
		}
	}
	return out
}
