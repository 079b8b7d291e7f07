package local

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/vector"
)

// askedRecall records the recall target that each search passed to a part.
type askedRecall struct {
	*vector.Mem
	asked *[]float32
}

func (a askedRecall) Search(ctx context.Context, q *vector.Query, dst []vector.Hit) ([]vector.Hit, error) {
	*a.asked = append(*a.asked, q.Recall)
	return a.Mem.Search(ctx, q, dst)
}

// TestRecallOfQuery checks that each part is searched at the recall target of the query.
func TestRecallOfQuery(t *testing.T) {
	t.Parallel()
	owner, err := Open(t.TempDir(), nil)
	require.NoError(t, err)
	ix := openTest(t, owner).(*index)
	require.NoError(t, ix.Apply(t.Context(), []backend.Change{{Seq: 1, Kind: backend.PutChunks, Part: benchPart, Source: 1,
		Rows: []backend.Row{{Chunk: 1, Text: "x", Vector: []float32{1, 0}}}}}))
	var asked []float32
	require.NoError(t, ix.read(t.Context(), benchPart, needOf(backend.Filter{}), func(p *partition) error {
		for _, v := range p.vectors {
			v.search = askedRecall{v.mem, &asked}
		}
		return nil
	}))
	for _, recall := range []float32{0, .9, .99, 1} {
		t.Run(fmt.Sprint(recall), func(t *testing.T) {
			hits, err := ix.SearchVectors(t.Context(), backend.VectorQuery{Part: benchPart, Vector: []float32{1, 1}, K: 3, Recall: recall})
			require.NoError(t, err)
			require.Len(t, hits, 1)
		})
	}
	assert.Equal(t, []float32{0, .9, .99, 1}, asked)
}
