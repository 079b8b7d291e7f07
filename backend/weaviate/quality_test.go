package weaviate

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/backend/local"
	"github.com/contextmem/contextmem/embed/static"
	"github.com/contextmem/contextmem/eval"
)

// TestQuality compares the answers to labelled questions over local indexes and over a cluster. CONTEXTMEM_TEST_SETS
// names files with other sets, separated as in PATH.
func TestQuality(t *testing.T) {
	t.Parallel()
	urls := sharedServer(t).URLs()
	files := []string{"../../examples/eval/data/tiny.json", "../../eval/testdata/knowledge.json"}
	if names := os.Getenv("CONTEXTMEM_TEST_SETS"); names != "" {
		files = filepath.SplitList(names)
	}
	for _, file := range files {
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		t.Run(name, func(t *testing.T) {
			set, err := eval.Load(file)
			require.NoError(t, err)
			near, err := local.Open(t.TempDir(), nil)
			require.NoError(t, err)
			want := measure(t, set, near)
			rest, err := local.Open(t.TempDir(), nil)
			require.NoError(t, err)
			far, err := Open(t.Context(), urls, rest, &Options{Prefix: prefixOf(t.Name())})
			require.NoError(t, err)
			got := measure(t, set, far)
			require.Len(t, got.Answers, len(want.Answers))
			for i, depth := range eval.Depths {
				a, b := mean(want, func(a eval.Answer) float64 { return a.Recall[i] }), mean(got, func(a eval.Answer) float64 { return a.Recall[i] })
				t.Logf("recall@%d: local %.4f, Weaviate %.4f", depth, a, b)
				assert.LessOrEqual(t, math.Abs(a-b), .01)
			}
			a, b := mean(want, func(a eval.Answer) float64 { return a.NDCG }), mean(got, func(a eval.Answer) float64 { return a.NDCG })
			t.Logf("nDCG@10: local %.4f, Weaviate %.4f", a, b)
			assert.LessOrEqual(t, math.Abs(a-b), .01)
			t.Logf("recall took %.1f ms on average, with Weaviate %.1f ms", millis(want), millis(got))
			t.Logf("filling took %v, with Weaviate %v", want.Fill, got.Fill)
		})
	}
}

func mean(r *eval.Report, f func(eval.Answer) float64) float64 {
	sum := 0.0
	for _, a := range r.Answers {
		sum += f(a)
	}
	return sum / float64(len(r.Answers))
}

func millis(r *eval.Report) float64 {
	return mean(r, func(a eval.Answer) float64 { return a.Latency.Seconds() * 1000 })
}

// measure answers the questions of a set with a service over x. It closes x.
func measure(t *testing.T, set *eval.Set, x backend.Indexers) *eval.Report {
	t.Helper()
	ctx := t.Context()
	svc, err := contextmem.New(ctx, backend.Compose(inmem.New(), x), &contextmem.Options{Embedder: static.New(), Reranker: contextmem.NoReranker})
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	_, err = svc.CreateTenant(ctx, contextmem.TenantSpec{ID: "eval"})
	require.NoError(t, err)
	tenant := svc.Tenant("eval")
	require.NoError(t, tenant.WaitReady(ctx))
	report, err := eval.Run(ctx, &eval.InProcess{Tenant: tenant}, set, eval.Options{})
	require.NoError(t, err)
	return report
}
