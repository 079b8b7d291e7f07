package recall_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// recallRecorder is a dense index that records the recall requested by the last search.
type recallRecorder struct {
	backend.Vectors
	asked float32
}

func (r *recallRecorder) SearchVectors(ctx context.Context, q backend.VectorQuery) ([]backend.Hit, error) {
	r.asked = q.Recall
	return r.Vectors.SearchVectors(ctx, q)
}

// TestVectorRecall sets the recall by option and by request, and checks that the index receives it.
func TestVectorRecall(t *testing.T) {
	t.Parallel()
	for name, option := range map[string]float64{"default": 0, "by option": .95} {
		t.Run(name, func(t *testing.T) {
			ctx, rec := t.Context(), &recallRecorder{}
			be, dense := inmem.New(), inmem.New()
			indexers := backend.WithVectors(be, func(uid string) (backend.Vectors, error) {
				set, err := dense.OpenIndexes(ctx, uid)
				if err == nil {
					rec.Vectors = set.Vectors()
				}
				return rec, err
			})
			svc, err := contextmem.New(ctx, backend.Compose(be, indexers), &contextmem.Options{VectorRecall: option})
			require.NoError(t, err)
			defer func() { require.NoError(t, svc.Close()) }()
			sub := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "pictures", Embeddings: true, Dimension: 2}).Sub("")
			_, err = sub.InsertVectors(ctx, contextmem.InsertVectorsRequest{Sources: []contextmem.VectorSource{
				{SourceID: "a", Vectors: []contextmem.Vector{{ChunkID: "a", Vector: []float32{1, 0}}}}}})
			require.NoError(t, err)
			for want, req := range map[float32]contextmem.SearchVectorsRequest{
				float32(option): {}, .9: {Recall: .9}, 1: {Exact: true}, .99: {Recall: .99},
			} {
				req.Vector = []float32{1, 1}
				hits, err := sub.SearchVectors(ctx, req)
				require.NoError(t, err)
				assert.Len(t, hits, 1)
				assert.InDelta(t, want, rec.asked, 0)
			}
			for _, bad := range []contextmem.SearchVectorsRequest{{Recall: .5}, {Recall: 1.1}, {Recall: math.NaN()}, {Recall: .95, Exact: true}} {
				bad.Vector = []float32{1, 1}
				_, err := sub.SearchVectors(ctx, bad)
				var fe *fault.Error
				require.ErrorAs(t, err, &fe)
				assert.Equal(t, fault.KindInvalid, fe.Kind)
				assert.Equal(t, "Recall", fe.Field)
			}
		})
	}
	_, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{VectorRecall: .5})
	assert.ErrorContains(t, err, "VectorRecall")
}
