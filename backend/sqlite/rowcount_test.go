package sqlite

import (
	"context"
	"database/sql/driver"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// countedQuery is a statement that counts the rows of its queries.
type countedQuery struct {
	driver.StmtQueryContext
	rows *atomic.Int64
}

func (q countedQuery) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := q.StmtQueryContext.QueryContext(ctx, args)
	return countedRows{rows, q.rows}, err
}

type countedRows struct {
	driver.Rows
	n *atomic.Int64
}

func (r countedRows) Next(to []driver.Value) error {
	err := r.Rows.Next(to)
	if err == nil {
		r.n.Add(1)
	}
	return err
}

// rowsOf returns how many rows f reads with statements whose text holds part. It runs f twice: the first time prepares the statements. f must read
// from the database each time.
func rowsOf(t *testing.T, s *store, part string, f func()) int {
	t.Helper()
	f()
	var n atomic.Int64
	for range len(s.readers.free) {
		c := <-s.readers.free
		if c != nil {
			for _, x := range c.stmts {
				if strings.Contains(x.sql, part) {
					x.query = countedQuery{x.query, &n}
				}
			}
		}
		s.readers.free <- c
	}
	f()
	return int(n.Load())
}

// finish runs one memory through all steps of ingestion.
func finish(t *testing.T, s *store, in backend.Incoming, ix backend.Indexed, fin backend.Finished) {
	t.Helper()
	ctx := t.Context()
	out, err := s.Accept(ctx, []backend.Incoming{in})
	require.NoError(t, err)
	_, err = s.Claim(ctx, "w", testTime, testTime.Add(time.Minute), 1, 0)
	require.NoError(t, err)
	ix.Num, ix.Token, fin.Num, fin.Token = out[0].Num, "w", out[0].Num, "w"
	_, err = s.Index(ctx, []backend.Indexed{ix})
	require.NoError(t, err)
	_, err = s.Finish(ctx, []backend.Finished{fin})
	require.NoError(t, err)
}

// Checks that the relations of several entities that are not cached are read once each, not first together up to the limit and then again.
func TestFactsOfEntitiesAreReadOnce(t *testing.T) {
	t.Parallel()
	_, s := openTest(t)
	const each, limit = 30, 40
	ctx := t.Context()
	in, ix, fin := memory(rand.New(rand.NewPCG(3, 3)), 1)
	fin.Mentions, fin.Relations, fin.Aliases = nil, nil, nil
	for _, to := range []string{"anna", "bert", "carl"} {
		fin.Mentions = append(fin.Mentions, backend.Mention{Key: to, Name: to, Weight: 1})
		for range each {
			fin.Relations = append(fin.Relations, backend.Relation{FromKey: to, Predicate: "likes", Object: "tea", Confidence: .5, KnownFrom: testTime})
		}
	}
	finish(t, s, in, ix, fin)
	es, err := s.EntitiesByKey(ctx, testPart, []string{"anna", "bert", "carl"})
	require.NoError(t, err)
	q := backend.RelationQuery{Part: testPart, Limit: limit}
	for _, e := range es {
		q.Entities = append(q.Entities, e.Num)
	}
	want, err := s.readRelations(ctx, q)
	require.NoError(t, err)
	require.Len(t, want, limit)
	require.Equal(t, len(es)*each, rowsOf(t, s, "FROM relations", func() {
		s.cache.empty()
		rels, err := s.Relations(ctx, q)
		require.NoError(t, err)
		require.Equal(t, want, rels)
	}))
}
