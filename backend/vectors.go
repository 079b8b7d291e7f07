package backend

import (
	"context"
	"errors"
	"io"
	"slices"
)

// WithVectors returns Indexers like x with another dense index. A workspace has the Vectors
// that open returns for its UID, and the Keywords and the Graph of x. These get rows
// without vectors. The Vectors of x are not searched, and get no changes unless they also
// serve as Keywords or Graph.
//
// open is called at most once at a time for a UID. Vectors that implement [io.Closer] are
// closed with the workspace. When a workspace is removed, its Vectors are opened, Reset
// and closed.
func WithVectors(x Indexers, open func(uid string) (Vectors, error)) Indexers {
	return &withVectors{x, open}
}

type withVectors struct {
	Indexers
	open func(uid string) (Vectors, error)
}

func (x *withVectors) OpenIndexes(ctx context.Context, uid string) (IndexSet, error) {
	set, err := x.Indexers.OpenIndexes(ctx, uid)
	if err != nil {
		return nil, err
	}
	v, err := x.open(uid)
	if err != nil {
		return nil, errors.Join(err, set.Close())
	}
	return newVectorSet(set, v), nil
}

func (x *withVectors) RemoveIndexes(ctx context.Context, uid string) error {
	if err := x.Indexers.RemoveIndexes(ctx, uid); err != nil {
		return err
	}
	v, err := x.open(uid)
	if err != nil {
		return err
	}
	return errors.Join(v.Reset(ctx), closeVectors(v))
}

func closeVectors(v Vectors) error {
	if c, ok := v.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// vectorSet is the IndexSet real with other Vectors.
type vectorSet struct {
	real     IndexSet
	vectors  Vectors
	keywords Keywords
	graph    Graph
	indexes  []Index
}

func newVectorSet(real IndexSet, v Vectors) *vectorSet {
	s := &vectorSet{real: real, vectors: v, indexes: []Index{v}}
	k, g := real.Keywords(), real.Graph()
	if any(k) == any(g) {
		both := &textAndGraph{textOnly{k}, graphOnly{g}}
		s.keywords, s.graph = both, both
		s.indexes = append(s.indexes, both)
	} else {
		s.keywords, s.graph = textOnly{k}, graphOnly{g}
		s.indexes = append(s.indexes, s.keywords, s.graph)
	}
	return s
}

func (s *vectorSet) Vectors() Vectors   { return s.vectors }
func (s *vectorSet) Keywords() Keywords { return s.keywords }
func (s *vectorSet) Graph() Graph       { return s.graph }
func (s *vectorSet) Indexes() []Index   { return slices.Clone(s.indexes) }
func (s *vectorSet) Close() error       { return errors.Join(closeVectors(s.vectors), s.real.Close()) }

// textOnly is a keyword index that gets no vectors.
type textOnly struct{ Keywords }

func (x textOnly) Apply(ctx context.Context, changes []Change) error {
	return x.Keywords.Apply(ctx, withoutVectors(changes))
}

// graphOnly is a graph index that gets no vectors.
type graphOnly struct{ Graph }

func (x graphOnly) Apply(ctx context.Context, changes []Change) error {
	return x.Graph.Apply(ctx, withoutVectors(changes))
}

// AppendNeighbours implements [NeighbourAppender]. It calls Neighbours if the index does
// not implement it.
func (x graphOnly) AppendNeighbours(ctx context.Context, dst []Neighbours, part Partition, chunks []int64) ([]Neighbours, error) {
	if a, ok := x.Graph.(NeighbourAppender); ok {
		return a.AppendNeighbours(ctx, dst, part, chunks)
	}
	found, err := x.Neighbours(ctx, part, chunks)
	return append(dst, found...), err
}

// textAndGraph is one index that serves as Keywords and as Graph and gets no vectors.
type textAndGraph struct {
	textOnly
	graphOnly
}

func (x *textAndGraph) Applied() uint64 { return x.Keywords.Applied() }

func (x *textAndGraph) Apply(ctx context.Context, changes []Change) error {
	return x.textOnly.Apply(ctx, changes)
}

func (x *textAndGraph) Flush(ctx context.Context) error { return x.Keywords.Flush(ctx) }
func (x *textAndGraph) Reset(ctx context.Context) error { return x.Keywords.Reset(ctx) }

// Epoch implements [EpochKeeper].
func (x *textAndGraph) Epoch() (uint64, bool) { return x.textOnly.Epoch() }

// SetEpoch implements [EpochKeeper].
func (x *textAndGraph) SetEpoch(epoch uint64) { x.textOnly.SetEpoch(epoch) }

// Epoch implements [EpochKeeper].
func (x textOnly) Epoch() (uint64, bool) { return epochOf(x.Keywords) }

// SetEpoch implements [EpochKeeper].
func (x textOnly) SetEpoch(epoch uint64) { setEpoch(x.Keywords, epoch) }

// Epoch implements [EpochKeeper].
func (x graphOnly) Epoch() (uint64, bool) { return epochOf(x.Graph) }

// SetEpoch implements [EpochKeeper].
func (x graphOnly) SetEpoch(epoch uint64) { setEpoch(x.Graph, epoch) }

func epochOf(x Index) (uint64, bool) {
	if k, ok := x.(EpochKeeper); ok {
		return k.Epoch()
	}
	return 0, false
}

func setEpoch(x Index, epoch uint64) {
	if k, ok := x.(EpochKeeper); ok {
		k.SetEpoch(epoch)
	}
}

// withoutVectors returns copies of changes without vectors. Changes of vectors alone become Marks.
func withoutVectors(changes []Change) []Change {
	out := slices.Clone(changes)
	for i := range out {
		if k := out[i].Kind; k == PutVectors || k == DropVectors {
			out[i] = Change{Seq: out[i].Seq, Kind: Mark}
		}
		if len(out[i].Rows) == 0 {
			continue
		}
		out[i].Rows = slices.Clone(out[i].Rows)
		for j := range out[i].Rows {
			out[i].Rows[j].Vector = nil
		}
	}
	return out
}
