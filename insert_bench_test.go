package contextmem_test

import (
	"database/sql"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
)

const benchDim = 128

func randomVector(rng *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	return v
}

func openRaw(b *testing.B, dim int) contextmem.Sub {
	b.Helper()
	svc, err := contextmem.Open(b.Context(), b.TempDir(), nil)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, svc.Close()) })
	_, err = svc.CreateTenant(b.Context(), contextmem.TenantSpec{ID: "raw", Embeddings: true, Dimension: dim})
	require.NoError(b, err)
	require.NoError(b, svc.Tenant("raw").WaitReady(b.Context()))
	return svc.Tenant("raw").Sub("s")
}

// BenchmarkInsertOne measures one vector made durable and searchable, alternately with a row of a plain SQLite table
// with the same bytes and durability, so that both see the same disk.
func BenchmarkInsertOne(b *testing.B) {
	for _, dim := range []int{128, 768} {
		b.Run(fmt.Sprintf("dim=%d", dim), func(b *testing.B) { benchInsertOne(b, dim) })
	}
}

func benchInsertOne(b *testing.B, dim int) {
	s := openRaw(b, dim)
	plain, err := sql.Open("sqlite3", "file:"+filepath.Join(b.TempDir(), "plain.db")+"?_journal_mode=WAL&_synchronous=FULL")
	require.NoError(b, err)
	defer func() { require.NoError(b, plain.Close()) }()
	plain.SetMaxOpenConns(1)
	_, err = plain.Exec("CREATE TABLE t (id TEXT PRIMARY KEY, vector BLOB NOT NULL)")
	require.NoError(b, err)
	insert, err := plain.Prepare("INSERT INTO t (id, vector) VALUES (?, ?)")
	require.NoError(b, err)
	rng := rand.New(rand.NewPCG(1, 2))
	var ours, theirs []time.Duration
	var oursCPU, theirsCPU time.Duration
	for b.Loop() {
		v := randomVector(rng, dim)
		id := fmt.Sprintf("v%07d", len(ours))
		cpu, start := cpuTime(), time.Now()
		_, err := s.InsertVectors(b.Context(), contextmem.InsertVectorsRequest{Sources: []contextmem.VectorSource{{SourceID: id, Vectors: []contextmem.Vector{{ChunkID: id, Vector: v}}}}})
		ours = append(ours, time.Since(start))
		oursCPU += cpuTime() - cpu
		require.NoError(b, err)
		cpu, start = cpuTime(), time.Now()
		blob := make([]byte, 0, 4*dim)
		for _, x := range v {
			blob = binary.LittleEndian.AppendUint32(blob, math.Float32bits(x))
		}
		_, err = insert.Exec(id, blob)
		theirs = append(theirs, time.Since(start))
		theirsCPU += cpuTime() - cpu
		require.NoError(b, err)
	}
	b.ReportMetric(float64(oursCPU.Microseconds())/float64(len(ours)), "cpu-µs")
	b.ReportMetric(float64(theirsCPU.Microseconds())/float64(len(ours)), "plain-cpu-µs")
	percentiles(b, ours)
	slices.Sort(theirs)
	b.ReportMetric(float64(theirs[len(theirs)/2].Microseconds()), "plain-p50-µs")
	b.ReportMetric(float64(ours[len(ours)/2])/float64(theirs[len(theirs)/2]), "x-plain")
}

// BenchmarkInsertBulk measures vectors inserted in calls of 1000. Each call returns when its vectors are durable and
// searchable.
func BenchmarkInsertBulk(b *testing.B) {
	for _, perSource := range []int{1, 1000} {
		b.Run(fmt.Sprintf("per-source=%d", perSource), func(b *testing.B) {
			s := openRaw(b, benchDim)
			const n = 1000
			rng := rand.New(rand.NewPCG(1, 2))
			vectors := make([][]float32, n)
			for i := range vectors {
				vectors[i] = randomVector(rng, benchDim)
			}
			total := 0
			cpu := cpuTime()
			for b.Loop() {
				var in contextmem.InsertVectorsRequest
				for i := 0; i < n; i += perSource {
					src := contextmem.VectorSource{SourceID: fmt.Sprintf("s%07d", total+i)}
					for j := i; j < i+perSource; j++ {
						src.Vectors = append(src.Vectors, contextmem.Vector{ChunkID: fmt.Sprintf("c%07d", total+j), Vector: vectors[j]})
					}
					in.Sources = append(in.Sources, src)
				}
				_, err := s.InsertVectors(b.Context(), in)
				require.NoError(b, err)
				total += n
			}
			b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/float64(total), "cpu-µs/vector")
			b.ReportMetric(float64(total)/b.Elapsed().Seconds(), "vectors/s")
		})
	}
}
