package backendtest

import (
	"context"

	"github.com/contextmem/contextmem/backend"
)

// faultyIndex wraps an index. It has the methods of Vectors, Keywords and Graph, and its workspace
// returns it only as those that the real index is.
type faultyIndex struct {
	real  backend.Index
	plan  *Plan
	v     backend.Vectors
	k     backend.Keywords
	g     backend.Graph
	parts []string
}

// follow runs a method that every [backend.Index] has, under all names of the index.
func (f *faultyIndex) follow(ctx context.Context, method string, real func() error) error {
	names := make([]string, len(f.parts))
	for i, part := range f.parts {
		names[i] = part + "." + method
	}
	return f.plan.do(ctx, names, real)
}

func (f *faultyIndex) Applied() uint64 { return f.real.Applied() }

func (f *faultyIndex) Apply(ctx context.Context, changes []backend.Change) error {
	return f.follow(ctx, "Apply", func() error { return f.real.Apply(ctx, changes) })
}

func (f *faultyIndex) Flush(ctx context.Context) error {
	return f.follow(ctx, "Flush", func() error { return f.real.Flush(ctx) })
}

func (f *faultyIndex) Reset(ctx context.Context) error {
	return f.follow(ctx, "Reset", func() error { return f.real.Reset(ctx) })
}

func (f *faultyIndex) SearchVectors(ctx context.Context, q backend.VectorQuery) ([]backend.Hit, error) {
	return get(ctx, f.plan, "Vectors.SearchVectors", func() ([]backend.Hit, error) { return f.v.SearchVectors(ctx, q) })
}

func (f *faultyIndex) SearchKeywords(ctx context.Context, q backend.KeywordQuery) ([]backend.Hit, error) {
	return get(ctx, f.plan, "Keywords.SearchKeywords", func() ([]backend.Hit, error) { return f.k.SearchKeywords(ctx, q) })
}

func (f *faultyIndex) SearchSessions(ctx context.Context, q backend.KeywordQuery) ([]backend.Hit, error) {
	return get(ctx, f.plan, "Keywords.SearchSessions", func() ([]backend.Hit, error) { return f.k.SearchSessions(ctx, q) })
}

func (f *faultyIndex) Terms(ctx context.Context, part backend.Partition, text string) (terms []backend.TermInfo, docs int, average float32, err error) {
	err = f.plan.do(ctx, []string{"Keywords.Terms"}, func() (err error) {
		terms, docs, average, err = f.k.Terms(ctx, part, text)
		return err
	})
	if err != nil {
		return nil, 0, 0, err
	}
	return terms, docs, average, nil
}

func (f *faultyIndex) Neighbours(ctx context.Context, part backend.Partition, chunks []int64) ([]backend.Neighbours, error) {
	return get(ctx, f.plan, "Graph.Neighbours", func() ([]backend.Neighbours, error) { return f.g.Neighbours(ctx, part, chunks) })
}

func (f *faultyIndex) SessionChunks(ctx context.Context, part backend.Partition, session int64, limit int) ([]int64, error) {
	return get(ctx, f.plan, "Graph.SessionChunks", func() ([]int64, error) { return f.g.SessionChunks(ctx, part, session, limit) })
}

func (f *faultyIndex) MatchEntities(ctx context.Context, part backend.Partition, keys []string) ([]backend.EntityMatch, error) {
	return get(ctx, f.plan, "Graph.MatchEntities", func() ([]backend.EntityMatch, error) { return f.g.MatchEntities(ctx, part, keys) })
}

func (f *faultyIndex) Mentions(ctx context.Context, part backend.Partition, chunks []int64) ([]backend.EntityRef, error) {
	return get(ctx, f.plan, "Graph.Mentions", func() ([]backend.EntityRef, error) { return f.g.Mentions(ctx, part, chunks) })
}

func (f *faultyIndex) MentionedIn(ctx context.Context, part backend.Partition, entities []int64, perEntity int) ([]backend.EntityRef, error) {
	return get(ctx, f.plan, "Graph.MentionedIn", func() ([]backend.EntityRef, error) { return f.g.MentionedIn(ctx, part, entities, perEntity) })
}

func (f *faultyIndex) Info(ctx context.Context, part backend.Partition) (backend.GraphInfo, error) {
	return get(ctx, f.plan, "Graph.Info", func() (backend.GraphInfo, error) { return f.g.Info(ctx, part) })
}
