package backendtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
)

// oracleIndex is a set of inmem indexes, whose answers the suite takes as correct.
type oracleIndex struct{ backend.IndexSet }

func newOracleIndex(t testing.TB) oracleIndex {
	t.Helper()
	b := inmem.New()
	x, err := b.OpenIndexes(t.Context(), UID("oracle"))
	require.NoError(t, err)
	return oracleIndex{x}
}

// follow lets the oracle apply all changes of a store.
func (x oracleIndex) follow(t testing.TB, s backend.Store) {
	t.Helper()
	follow(t, x.IndexSet, s)
}

// follow lets all indexes of x apply all changes of a store.
func follow(t testing.TB, x backend.IndexSet, s backend.Store) {
	t.Helper()
	for _, sh := range x.Indexes() {
		catchUp(t, sh, s)
	}
}

func catchUp(t testing.TB, sh backend.Index, s backend.Store) {
	t.Helper()
	require.NoError(t, sh.Apply(t.Context(), feedAfter(t, s, sh.Applied(), 50)))
	require.LessOrEqual(t, sh.Applied(), s.LastSeq())
}

// search returns the Nums of the versions that a keyword search finds.
func (x oracleIndex) search(t testing.TB, part backend.Partition, text string) []int64 {
	t.Helper()
	hits, err := x.Keywords().SearchKeywords(t.Context(), backend.KeywordQuery{Part: part, Text: text, K: 100})
	require.NoError(t, err)
	out := []int64{}
	for _, h := range hits {
		out = append(out, h.Source)
	}
	return out
}
