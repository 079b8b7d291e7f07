package weaviate

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/weaviate/weaviate/entities/models"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/backend/inmem"
)

// BenchmarkOffload measures how long a tenant takes to be offloaded and to come back, and how many bytes it has in the object store, by
// replicas and chunks. Its vectors have 128 dimensions.
func BenchmarkOffload(b *testing.B) {
	for _, nodes := range []int{1, 3} {
		c := startStoring(b, nodes)
		for _, chunks := range []int{1_000, 10_000} {
			b.Run(fmt.Sprintf("%d/%d", nodes, chunks), func(b *testing.B) { benchOffload(b, c, chunks) })
		}
	}
}

func benchOffload(b *testing.B, c storing, chunks int) {
	x, err := Open(b.Context(), c.URLs(), inmem.New(), &Options{Prefix: "Bench", OffloadAfter: time.Hour})
	require.NoError(b, err)
	defer func() { require.NoError(b, x.Close()) }()
	uid := backendtest.UID(fmt.Sprint("bench", chunks, b.N))
	var feed []backend.Change
	for i := range int64(chunks) {
		text := fmt.Sprintf("Lantern number%d of shelf%d was moved to the attic by the gardener, who keeps a list of what stands where in house %d", i, i%7, i%100)
		feed = append(feed, backend.Change{Seq: uint64(i + 1), Part: testPart, Kind: backend.PutChunks, Source: i + 1, Time: time.Unix(i, 0), Rows: []backend.Row{{Chunk: i + 1, Text: text, Vector: backendtest.Vector(text, 128)}}})
	}
	set, err := x.OpenIndexes(b.Context(), uid)
	require.NoError(b, err)
	require.NoError(b, set.Indexes()[0].Apply(b.Context(), feed))
	requireConfirmed(b, set.Indexes()[0])
	require.NoError(b, set.Close())
	collections := x.schema.all()
	var away, back time.Duration
	var size int64
	for b.Loop() {
		last, err := x.offloading.lastUse(b.Context(), uid)
		require.NoError(b, err)
		began := time.Now()
		done, err := x.offloading.offloadClaimed(b.Context(), last, collections)
		require.NoError(b, err)
		require.True(b, done)
		away += time.Since(began)
		_, size, err = c.s3.Objects(uid)
		require.NoError(b, err)
		began = time.Now()
		set, err := x.OpenIndexes(b.Context(), uid)
		require.NoError(b, err)
		_, err = set.Vectors().SearchVectors(b.Context(), backend.VectorQuery{Part: testPart, Vector: feed[0].Rows[0].Vector, K: 1})
		require.NoError(b, err)
		back += time.Since(began)
		require.NoError(b, set.Close())
		for _, collection := range collections {
			require.NoError(b, x.offloading.set(b.Context(), collection, uid, models.TenantActivityStatusACTIVE, time.Time{}))
		}
	}
	b.ReportMetric(away.Seconds()/float64(b.N), "s/offload")
	b.ReportMetric(back.Seconds()/float64(b.N), "s/return")
	b.ReportMetric(float64(size)/1e6, "MB")
}
