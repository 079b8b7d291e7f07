package weaviate

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/contextmem/contextmem/backend"
)

// set is the indexes of a workspace: those in the cluster, and the graph and sessions of the other Indexers.
type set struct {
	ix      *index
	rest    backend.IndexSet
	graph   backend.Graph
	indexes []backend.Index
	onClose func()
}

func newSet(ix *index, rest backend.IndexSet, onClose func()) *set {
	s := &set{ix: ix, rest: rest, graph: &graph{rest.Graph(), ix}, onClose: onClose}
	s.indexes = []backend.Index{ix, s.graph}
	ix.sessions, ix.near = rest.Keywords(), rest.Graph()
	if any(rest.Keywords()) != any(rest.Graph()) {
		s.indexes = append(s.indexes, &follower{rest.Keywords()})
	}
	return s
}

func (s *set) Vectors() backend.Vectors   { return s.ix }
func (s *set) Keywords() backend.Keywords { return s.ix }
func (s *set) Graph() backend.Graph       { return s.graph }
func (s *set) Indexes() []backend.Index   { return slices.Clone(s.indexes) }

func (s *set) Close() error {
	err := errors.Join(s.ix.close(), s.rest.Close())
	s.onClose()
	return err
}

// graph is a graph index that receives only the data it needs; see needed. It tells the index in the cluster of changes,
// which that index does not see if another process applies them to the cluster.
type graph struct {
	backend.Graph
	ix *index
}

func (g *graph) Apply(ctx context.Context, changes []backend.Change) error {
	from := g.Applied()
	if err := g.Graph.Apply(ctx, needed(changes)); err != nil {
		return err
	}
	if upto := g.Applied(); len(changes) > 0 && upto == changes[len(changes)-1].Seq {
		g.ix.saw(from, upto, after(changes, from))
	}
	return nil
}

// AppendNeighbours implements [backend.NeighbourAppender]. It calls Neighbours if the index does not implement that
// interface.
func (g *graph) AppendNeighbours(ctx context.Context, dst []backend.Neighbours, part backend.Partition, chunks []int64) ([]backend.Neighbours, error) {
	if a, ok := g.Graph.(backend.NeighbourAppender); ok {
		return a.AppendNeighbours(ctx, dst, part, chunks)
	}
	found, err := g.Neighbours(ctx, part, chunks)
	return append(dst, found...), err
}

// Epoch implements [backend.EpochKeeper].
func (g *graph) Epoch() (uint64, bool) { return epochOf(g.Graph) }

// SetEpoch implements [backend.EpochKeeper].
func (g *graph) SetEpoch(epoch uint64) { setEpoch(g.Graph, epoch) }

// follower is an index that receives only the data it needs; see needed.
type follower struct{ backend.Index }

func (f *follower) Apply(ctx context.Context, changes []backend.Change) error {
	return f.Index.Apply(ctx, needed(changes))
}

// Epoch implements [backend.EpochKeeper].
func (f *follower) Epoch() (uint64, bool) { return epochOf(f.Index) }

// SetEpoch implements [backend.EpochKeeper].
func (f *follower) SetEpoch(epoch uint64) { setEpoch(f.Index, epoch) }

func epochOf(x backend.Index) (uint64, bool) {
	if k, ok := x.(backend.EpochKeeper); ok {
		return k.Epoch()
	}
	return 0, false
}

func setEpoch(x backend.Index, epoch uint64) {
	if k, ok := x.(backend.EpochKeeper); ok {
		k.SetEpoch(epoch)
	}
}

// needed returns changes whose rows have no vectors, and texts only for memories, since only memories have sessions.
func needed(changes []backend.Change) []backend.Change {
	out := slices.Clone(changes)
	for i := range out {
		c := &out[i]
		if c.Kind == backend.PutVectors || c.Kind == backend.DropVectors {
			*c = backend.Change{Seq: c.Seq, Kind: backend.Mark}
		}
		if len(c.Rows) == 0 {
			continue
		}
		c.Rows = slices.Clone(c.Rows)
		bare := c.Part.Class != backend.Memory
		if bare {
			c.Title = ""
		}
		for j := range c.Rows {
			r := &c.Rows[j]
			r.Vector = nil
			if bare {
				r.Text, r.Heading, r.Extra = "", "", withoutWords(r.Extra)
			}
		}
	}
	return out
}

// withoutWords returns extra without its keywords.
func withoutWords(extra []byte) []byte {
	var facts backend.RowExtra
	if len(extra) == 0 || json.Unmarshal(extra, &facts) != nil {
		return nil
	}
	if len(facts.Keywords) == 0 {
		return extra
	}
	facts.Keywords = nil
	out, _ := json.Marshal(facts) // never fails
	return out
}
