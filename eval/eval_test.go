package eval_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/eval"
)

func measure(t *testing.T, name string, mode contextmem.Mode) *eval.Report {
	t.Helper()
	set, err := eval.Load("testdata/" + name + ".json")
	require.NoError(t, err)
	svc, err := contextmem.New(t.Context(), inmem.New(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, svc.Close()) })
	_, err = svc.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "eval"})
	require.NoError(t, err)
	tn := svc.Tenant("eval")
	require.NoError(t, tn.WaitReady(t.Context()))
	rep, err := eval.Run(t.Context(), &eval.InProcess{Tenant: tn, Recall: contextmem.Recall{Mode: mode}}, set, eval.Options{})
	require.NoError(t, err)
	return rep
}

// TestFloor checks that recall stays above a floor on small sets written for this project. The floors are a question or two below the
// results when they were set.
func TestFloor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		set      string
		mode     contextmem.Mode
		r5, ndcg float64
	}{
		{"memories", contextmem.ModeFast, .75, .50},
		{"memories", contextmem.ModeThinking, .75, .60},
		{"knowledge", contextmem.ModeFast, .91, .90},
		{"knowledge", contextmem.ModeThinking, .91, .90},
	} {
		t.Run(c.set+"/"+string(c.mode), func(t *testing.T) {
			t.Parallel()
			rep := measure(t, c.set, c.mode)
			r5, ndcg := rep.Mean(eval.Metrics[2]).Mean, rep.Mean(eval.Metrics[4]).Mean
			t.Logf("R@5 %.3f nDCG@10 %.3f", r5, ndcg)
			require.GreaterOrEqual(t, r5, c.r5, "R@5")
			require.GreaterOrEqual(t, ndcg, c.ndcg, "nDCG@10")
		})
	}
}

func TestRunsAreEqual(t *testing.T) {
	t.Parallel()
	a, b := measure(t, "memories", contextmem.ModeThinking), measure(t, "memories", contextmem.ModeThinking)
	for _, d := range eval.Compare(a, b) {
		require.Zero(t, d.Mean, d.Metric)
		require.InDelta(t, 1, d.P, 1e-9, d.Metric)
	}
}

func TestReadRefusesBrokenSets(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]string{
		"no JSON":        `{`,
		"lane":           `{"lane":"x"}`,
		"repeated id":    `{"groups":[{"docs":[{"id":"a"},{"id":"a"}]}]}`,
		"unknown target": `{"groups":[{"docs":[{"id":"a"}],"queries":[{"id":"q","text":"t","rel":{"b":1}}]}]}`,
		"no relevant":    `{"groups":[{"docs":[{"id":"a"}],"queries":[{"id":"q","text":"t"}]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := eval.Read(strings.NewReader(s))
			require.Error(t, err, name)
		})
	}
}

func TestPrint(t *testing.T) {
	t.Parallel()
	rep := measure(t, "knowledge", contextmem.ModeFast)
	var b strings.Builder
	require.NoError(t, rep.Print(&b, true))
	require.Contains(t, b.String(), "nDCG@10")
	require.Contains(t, b.String(), "12")
}

// TestInstructionsCountAsReturned checks that a standing instruction counts as returned although no rank has it.
func TestInstructionsCountAsReturned(t *testing.T) {
	t.Parallel()
	svc, err := contextmem.New(t.Context(), inmem.New(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, svc.Close()) })
	_, err = svc.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "eval"})
	require.NoError(t, err)
	tn := svc.Tenant("eval")
	require.NoError(t, tn.WaitReady(t.Context()))
	set := &eval.Set{Name: "orders", Lane: "memory", Groups: []eval.Group{{ID: "anna",
		Docs:    []eval.Doc{{ID: "a", Text: "user: Always name the source when I ask about numbers."}, {ID: "b", Text: "user: I sail on Sundays."}},
		Queries: []eval.Query{{ID: "q", Text: "zzz", Relevant: map[string]float64{"a": 1}}}}}}
	rep, err := eval.Run(t.Context(), &eval.InProcess{Tenant: tn, Infer: true}, set, eval.Options{Results: 1})
	require.NoError(t, err)
	require.InDelta(t, 1, rep.Answers[0].Returned, 1e-9)
	require.Less(t, rep.Answers[0].NDCG, 1e-9, "no hit holds it")
}
