package bench

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestExperiments runs every experiment at its small size. It checks that the harness works,
// that every contender that is built in answers, and that judged answers are right.
func TestExperiments(t *testing.T) {
	for _, e := range Experiments {
		t.Run(e.Name, func(t *testing.T) {
			r, err := e.Run(t.Context(), &Config{Dir: t.TempDir(), Seed: 1})
			require.NoError(t, err)
			require.NotEmpty(t, r.Rows)
			for _, row := range r.Rows {
				require.Len(t, row, len(r.Columns), row)
			}
			for _, x := range r.Targets {
				require.True(t, x.NotAsked, "a small run decides no demand")
				if strings.Contains(x.What, "recall") && x.Unit == "" {
					require.GreaterOrEqual(t, x.Got, .93, x.What)
				} else {
					require.Positive(t, x.Got, x.What)
				}
			}
			var out bytes.Buffer
			require.NoError(t, r.WriteMarkdown(&out))
			require.Contains(t, out.String(), r.Title)
		})
	}
}

func TestFullRunNeedsTheCorpus(t *testing.T) {
	_, err := Keywords(t.Context(), &Config{Full: true, Dir: t.TempDir()})
	require.ErrorContains(t, err, "corpus.sh")
	_, err = Keywords(t.Context(), &Config{Corpus: t.TempDir() + "/absent", Dir: t.TempDir()})
	require.ErrorContains(t, err, "corpus.sh")
}

func TestClusters(t *testing.T) {
	v := Clusters(7, 3000, 96, 20)
	again := Clusters(7, 3000, 96, 20)
	require.Equal(t, v, again)
	require.NotEqual(t, v.Flat, Clusters(8, 3000, 96, 20).Flat)
	for i := range v.N {
		square := 0.0
		for _, x := range v.Row(i) {
			square += float64(x) * float64(x)
		}
		require.InDelta(t, 1, square, 1e-4)
	}
	require.Greater(t, Exact(v, nil).LID(), 5.0, "rows of too few dimensions are too easy")
}

func TestRecall(t *testing.T) {
	v := Clusters(1, 500, 32, 5)
	even := func(i int) bool { return i%2 == 0 }
	for _, allow := range []func(int) bool{nil, even} {
		truth := Exact(v, allow)
		for q, query := range v.Queries {
			var rows []int
			for i := range v.N {
				if allow == nil || allow(i) {
					rows = append(rows, i)
				}
			}
			dot := func(i int) (s float64) {
				for j, x := range v.Row(i) {
					s += float64(x) * float64(query[j])
				}
				return s
			}
			slices.SortFunc(rows, func(a, b int) int { return int(math.Copysign(1, dot(b)-dot(a))) })
			require.InDelta(t, 1, truth.Recall(q, rows[:TopK]), 1e-9)
			require.InDelta(t, .6, truth.Recall(q, append(slices.Clone(rows[:6]), rows[400/2:404/2]...)), 1e-9)
			require.InDelta(t, .1, truth.Recall(q, []int{rows[0], rows[0], -1, v.N}), 1e-9, "a row counts once, unknown rows never")
			if allow != nil {
				require.Zero(t, truth.Recall(q, []int{1, 3, 5}), "forbidden rows do not count")
			}
		}
	}
	none := Exact(v, func(int) bool { return false })
	require.InDelta(t, 1, none.Recall(0, nil), 0)
}

func TestShares(t *testing.T) {
	const n = 100_000
	for _, s := range Shares[1:] {
		allowed := 0
		for i := range n {
			ok := s.Allows()(i)
			if ok {
				allowed++
			}
			if slices.Contains(tagsOf(i), s.tag) != ok {
				t.Fatalf("row %d: its tags and the filter of %s disagree", i, s.Name)
			}
		}
		want := map[string]float64{"50%": .5, "10%": .1, "1%": .01}[s.Name]
		require.InEpsilon(t, want, float64(allowed)/n, .1)
	}
}

func TestQueries(t *testing.T) {
	docs := MadeUp(1, 300)
	docs = append(docs, "The cat and the dog; the CAT again, of course: twice-told tales")
	qs := Queries(1, docs, 50)
	require.Equal(t, qs, Queries(1, docs, 50))
	for i, q := range qs {
		require.Len(t, q, 1+i%5)
		require.True(t, slices.ContainsFunc(docs, func(d string) bool {
			for _, w := range q {
				if !strings.Contains(strings.ToLower(d), w) {
					return false
				}
			}
			return true
		}), "words of one document: %v", q)
	}
	for _, q := range Queries(2, docs[300:], 20) {
		require.NotContains(t, q, "the")
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(q))), len(q))
	}
}

func TestStretch(t *testing.T) {
	docs := MadeUp(3, 10)
	require.Equal(t, docs[:4], Stretch(docs, 4))
	more := Stretch(docs, 25)
	require.Len(t, more, 25)
	require.Equal(t, docs, more[:10])
	for _, d := range more[10:] {
		require.NotEmpty(t, d)
	}
}

func TestPercentiles(t *testing.T) {
	var all []time.Duration
	for i := range 200 {
		all = append(all, time.Duration(200-i))
	}
	p50, p99 := Percentiles(all)
	require.Equal(t, time.Duration(101), p50)
	require.Equal(t, time.Duration(199), p99)
}

func TestTarget(t *testing.T) {
	most := Target{What: "p50", Want: 5, AtMost: true, Got: 4, Unit: " ms"}
	require.Equal(t, "p50: at most 5 ms, measured 4 ms: met", most.String())
	most.Got = 6
	require.Contains(t, most.String(), ": missed")
	least := Target{What: "faster", Want: 8, Got: 7, Unit: "x"}
	require.Contains(t, least.String(), "at least 8x, measured 7x: missed")
	least.NotAsked = true
	require.Contains(t, least.String(), "does not count")
}

func TestMeasureTakesTurns(t *testing.T) {
	var order []string
	subject := func(name string, queries int) *Subject {
		return &Subject{Name: name, Queries: queries, Search: func(int) ([]int, error) {
			order = append(order, name)
			return nil, nil
		}}
	}
	times, err := Measure(100, 200, subject("a", 0), subject("b", 10))
	require.NoError(t, err)
	require.Equal(t, 200, times[0].Asked)
	require.Equal(t, 20, times[1].Asked)
	switches := 0
	for i := 1; i < len(order); i++ {
		if order[i] != order[i-1] {
			switches++
		}
	}
	require.GreaterOrEqual(t, switches, 5)
	require.InDelta(t, -1, times[0].Recall, 0)
}
