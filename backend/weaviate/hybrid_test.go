package weaviate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/weaviate/weaviate-go-client/v5/weaviate/filters"
	"github.com/weaviate/weaviate-go-client/v5/weaviate/graphql"
	"github.com/weaviate/weaviate/entities/models"
	"github.com/weaviate/weaviate/entities/schema"
	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/backend/local"
	"github.com/contextmem/contextmem/backend/sqlite"
	"github.com/contextmem/contextmem/embed/static"
	rules "github.com/contextmem/contextmem/judge"
)

// BenchmarkHybrid alternates a recall of memories, or of knowledge, over a cluster of one node with Weaviate's own hybrid query, by gRPC and by
// GraphQL, over the same texts and vectors. It reports p50, the processor time of client and node, and the ratios of
// p50; of the first recall its time, and the processor time until the partition is in memory. In "writes" a text is added to both before each
// round, and is found when the round begins. In "beyond" the cache has room for the dictionary and recent chunks, but neither for the
// terms nor for the vectors. In "partitions" seven other sub-tenants have as many texts each, which are shorter, and Weaviate's own query
// filters by sub-tenant.
func BenchmarkHybrid(b *testing.B) {
	for _, n := range []int{1500, 5000, 20_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { hybrid(b, n, 1, contextmem.ClassMemory) })
	}
	for _, n := range []int{5000, 20_000} {
		b.Run(fmt.Sprint("knowledge/", n), func(b *testing.B) { hybrid(b, n, 1, contextmem.ClassKnowledge) })
	}
	for _, n := range []int{2500, 5000} {
		b.Run(fmt.Sprint("partitions/", n), func(b *testing.B) { hybrid(b, n, 8, contextmem.ClassKnowledge) })
	}
}

func hybrid(b *testing.B, n, parts int, kind contextmem.Class) {
	ctx := b.Context()
	urls, prefix := sharedServer(b).URLs(), prefixOf(b.Name())
	e := static.New()
	texts := make([]string, n)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range texts {
		texts[i] = fmt.Sprintf("%s %s", backendtest.Text(rng, 5), backendtest.Text(rng, 5))
	}
	rest, err := local.Open(b.TempDir(), nil)
	require.NoError(b, err)
	far, err := Open(ctx, urls, rest, &Options{Prefix: prefix})
	require.NoError(b, err)
	store, err := sqlite.Open(ctx, b.TempDir(), nil)
	require.NoError(b, err)
	svc, err := contextmem.New(ctx, backend.Compose(store, far), &contextmem.Options{Embedder: e, Judge: rules.None, Reranker: contextmem.NoReranker})
	require.NoError(b, err)
	defer func() { require.NoError(b, svc.Close()) }()
	_, err = svc.CreateTenant(ctx, contextmem.TenantSpec{ID: "own"})
	require.NoError(b, err)
	require.NoError(b, svc.Tenant("own").WaitReady(ctx))
	sub := svc.Tenant("own").Sub("a")

	// The collection for Weaviate's own hybrid query, with the texts and the vectors.
	node := far.cluster.nodes[0]
	class := prefix + "Hybrid"
	require.NoError(b, node.Schema().ClassCreator().WithClass(&models.Class{Class: class, Vectorizer: "none", MultiTenancyConfig: &models.MultiTenancyConfig{Enabled: true},
		Properties: []*models.Property{{Name: "text", DataType: schema.DataTypeText.PropString()}, {Name: "part", DataType: schema.DataTypeText.PropString(), Tokenization: models.PropertyTokenizationField}}, VectorIndexConfig: map[string]any{"distance": "dot"}}).Do(ctx))
	require.NoError(b, node.Schema().TenantsCreator().WithClassName(class).WithTenants(models.Tenant{Name: "own"}).Do(ctx))
	added := 0
	add := func(part string, some []string) {
		vectors, err := e.EmbedDocuments(ctx, some)
		require.NoError(b, err)
		batch := node.Batch().ObjectsBatcher()
		var ms []contextmem.Memory
		var files []contextmem.File
		for j, text := range some {
			batch.WithObjects(&models.Object{Class: class, Tenant: "own", Properties: map[string]any{"text": text, "part": part}, Vector: vectors[j]})
			ms = append(ms, contextmem.Memory{ID: fmt.Sprint("m", added+j), Text: text})
			files = append(files, contextmem.File{ID: fmt.Sprint("m", added+j), Name: fmt.Sprint(added+j, ".txt"), Data: []byte(text)})
		}
		added += len(some)
		_, err = batch.Do(ctx)
		require.NoError(b, err)
		sub := svc.Tenant("own").Sub(part)
		if kind == contextmem.ClassKnowledge {
			_, err = sub.AddKnowledge(ctx, contextmem.KnowledgeBatch{Files: files})
		} else {
			_, err = sub.AddMemories(ctx, contextmem.MemoryBatch{Memories: ms})
		}
		require.NoError(b, err)
	}
	for some := range slices.Chunk(texts, 100) { // as many files as a call takes
		add("a", some)
	}
	for i := 1; i < parts; i++ {
		others := make([]string, n)
		for j := range others {
			others[j] = backendtest.Text(rng, i)
		}
		for some := range slices.Chunk(others, 100) {
			add(fmt.Sprint("other", i), some)
		}
	}
	require.NoError(b, svc.Drain(ctx))

	// Weaviate's own query is measured by gRPC, which the recall uses, and by GraphQL, which older clients use.
	var only *pb.Filters
	var where *filters.WhereBuilder
	if parts > 1 {
		w := equal("part", "a")
		only, where = w.message(), w.builder()
	}
	byGRPC := func(ctx context.Context, question string) {
		v, err := e.EmbedQuery(ctx, question)
		require.NoError(b, err)
		//lint:ignore SA1019 as the recall asks
		reply, err := node.searcher.Search(ctx, &pb.SearchRequest{Collection: class, Tenant: "own", Limit: 10, Filters: only, Uses_123Api: true, Uses_125Api: true, Uses_127Api: true,
			Properties: &pb.PropertiesRequest{NonRefProperties: []string{"text"}}, Metadata: &pb.MetadataRequest{Score: true},
			HybridSearch: &pb.Hybrid{Query: question, Alpha: .75, Vectors: []*pb.Vectors{{VectorBytes: bytesOf(v), Type: pb.Vectors_VECTOR_TYPE_SINGLE_FP32}}}})
		require.NoError(b, err)
		require.NotEmpty(b, reply.Results)
	}
	byGraphQL := func(ctx context.Context, question string) {
		v, err := e.EmbedQuery(ctx, question)
		require.NoError(b, err)
		get := node.GraphQL().Get().WithClassName(class).WithTenant("own").WithLimit(10).WithFields(graphql.Field{Name: "text"}, graphql.Field{Name: "_additional{score}"}).
			WithHybrid(node.GraphQL().HybridArgumentBuilder().WithQuery(question).WithVector(v))
		if where != nil {
			get = get.WithWhere(where)
		}
		answer, err := get.Do(ctx)
		require.NoError(b, err)
		require.Empty(b, answer.Errors)
	}
	ours := func(ctx context.Context, question string) {
		r, err := sub.Recall(ctx, contextmem.Recall{Class: kind, Query: question, MaxResults: 10, Mode: contextmem.ModeFast})
		require.NoError(b, err)
		require.NotEmpty(b, r.Chunks)
	}
	ours(ctx, texts[0][:40])
	ix := indexOf(far)
	ix.fills.running.Wait()
	ix.forget()
	ix.fills.hurry()
	run := func(b *testing.B, writes bool) {
		// The first recall finds nothing in memory. The others are measured once the partition is there.
		start, busy := time.Now(), cpuTime(b, sharedServer(b))
		ours(ctx, texts[0][:40])
		first := time.Since(start)
		ix.fills.running.Wait()
		filling := cpuTime(b, sharedServer(b)) - busy
		var took [3][]time.Duration
		var work [3]time.Duration
		for i := 0; b.Loop(); i++ {
			question := texts[i*37%n][:40]
			if writes {
				b.StopTimer()
				add("a", []string{backendtest.Text(rng, 10)})
				require.NoError(b, svc.Drain(ctx))
				b.StartTimer()
			}
			for k, f := range []func(context.Context, string){byGRPC, byGraphQL, ours} {
				start, busy := time.Now(), cpuTime(b, sharedServer(b))
				f(ctx, question)
				took[k], work[k] = append(took[k], time.Since(start)), work[k]+cpuTime(b, sharedServer(b))-busy
			}
		}
		var p50 [3]float64
		for k := range took {
			slices.Sort(took[k])
			p50[k] = took[k][len(took[k])/2].Seconds() * 1000
			name := []string{"own", "own-graphql", "recall"}[k]
			b.ReportMetric(p50[k], name+"-p50-ms")
			b.ReportMetric(work[k].Seconds()*1000/float64(b.N), name+"-cpu-ms")
		}
		b.ReportMetric(p50[2]/p50[0], "ratio")
		b.ReportMetric(p50[2]/p50[1], "ratio-graphql")
		if !writes {
			b.ReportMetric(first.Seconds()*1000, "first-ms")
			b.ReportMetric(filling.Seconds()*1000, "first-cpu-ms")
		}
		b.ReportMetric(float64(far.partitions.kept()*parts)/float64(added), "kept-B/text")
	}
	b.Run("reads", func(b *testing.B) { run(b, false) })
	b.Run("writes", func(b *testing.B) { run(b, true) })
	time.Sleep(75 * time.Second) // until what was stored is in segments of the node
	far.partitions.most, far.partitions.settle = 200*(added/parts), 0
	ix.forget()
	ix.fills.hurry()
	b.Run("beyond", func(b *testing.B) { run(b, false) })
	b.Run("beyond/writes", func(b *testing.B) { run(b, true) })
}

// indexOf waits until an index has something in the cache, or is reading it, and returns that index.
func indexOf(x *Indexers) *index {
	for {
		x.partitions.mu.Lock()
		for ix := range x.partitions.of {
			x.partitions.mu.Unlock()
			return ix
		}
		x.partitions.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
}
