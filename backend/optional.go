package backend

import "context"

// The interfaces of this file are optional: a backend implements one where it can do
// better than the callers' fallback, and nothing but speed or a wait depends on it.
// Callers find them by type assertion.

// Surveyor is an index that describes a small partition in one step: the scores of
// all its chunks and what stands around them. Its answers are those of the single
// calls.
//
// If the value that serves as Vectors, Keywords and Graph is not one and the same
// Surveyor, recall asks each of them by itself.
type Surveyor interface {
	// Survey fills s, whose slices it may write to from their start. ok is false, and s as
	// good as empty, for an unknown partition and one of more chunks than q.Most.
	Survey(ctx context.Context, q SurveyQuery, s *Survey) (ok bool, err error)
}

// NeighbourAppender is a [Graph] that appends what Neighbours returns to a slice of
// the caller, which spares a large allocation for each recall.
//
// If a Graph does not implement NeighbourAppender, recall calls Neighbours.
type NeighbourAppender interface {
	AppendNeighbours(ctx context.Context, dst []Neighbours, part Partition, chunks []int64) ([]Neighbours, error)
}

// WordKeeper is a [Store] that caches relations, and with those of entities the
// hashes of their words, which recall compares with every question that names the
// entity.
//
// If a Store does not implement WordKeeper, Relation.Words is nil and recall hashes
// the words itself.
type WordKeeper interface {
	// KeepWords sets what makes Relation.Words. The service calls it before it reads
	// relations; f is safe for concurrent use.
	KeepWords(f func(predicate, context string) []uint64)
}

// LeaseVoider is a [Store] or a [Registry] that can end every lease at once: of
// sources, or of deliveries. Only a backend whose deployment belongs to one process
// implements it. The service calls it when it opens the registry and when it first
// opens a workspace, so that sources and deliveries that a dead predecessor had
// claimed can be claimed at once.
//
// If a Store or Registry does not implement LeaseVoider, those claims wait until
// their leases end.
type LeaseVoider interface {
	VoidLeases(ctx context.Context) error
}

// Walker is a [Store] that lists the newest versions of all its items in the order in
// which they were accepted. A tenant can be exported only when its Store is one.
type Walker interface {
	// Walk returns newest versions with a Num above after, by Num, at most limit,
	// expired ones too. An item that gets a newer version while a caller walks has a
	// larger Num then, so that a walk to the end meets every item that was there when
	// it began and was not deleted since.
	Walk(ctx context.Context, after int64, limit int) ([]*Source, error)
}
