package change

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// TestConversations counts what the rules find in twelve whole conversations (CC0, written for this project). It compares each statement
// with the twelve earlier ones that share most terms with it. In 597 labelled pairs the later statement replaces the earlier one. Few of
// these say so in words; a pair that the rules find should be one of them.
func TestConversations(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("computes in one goroutine: left out with -short")
	}
	f, err := os.Open("testdata/conversations.jsonl.gz")
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	found, right, pairs, labels := 0, 0, 0, 0
	for lines.Scan() {
		var c struct {
			ID       string
			Said     []string
			Replaces [][2]int // later, earlier
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &c))
		truth := map[[2]int]bool{}
		for _, r := range c.Replaces {
			truth[r] = true
		}
		labels += len(truth)
		v := &vocabulary{df: map[string]int{}, docs: len(c.Said)}
		var all []*statement
		var terms []map[string]bool
		for i, text := range c.Said {
			all = append(all, &statement{src: &backend.Source{Num: int64(i), Time: time.Unix(int64(i)*3600, 0)}, text: text})
			terms = append(terms, termsOf(text))
			for term := range terms[i] {
				v.df[term]++
			}
		}
		for j := range all {
			if !all[j].cued() {
				continue
			}
			for _, i := range nearest(terms[:j], terms[j], v) {
				pairs++
				x, ok := byRules(all[j], all[i], v, nil)
				if !ok {
					continue
				}
				found++
				if truth[[2]int{j, i}] {
					right++
				} else {
					t.Logf("%s %s: %q | %q", c.ID, x.decider, x.matter, x.evidence)
				}
			}
		}
	}
	require.NoError(t, lines.Err())
	t.Logf("%d of %d right, of %d pairs; %d are labelled", right, found, pairs, labels)
	require.Greater(t, pairs, 2_000)
	assert.GreaterOrEqual(t, float64(right), .8*float64(found), "precision of what is found")
	assert.GreaterOrEqual(t, right, 7)
}

// nearest returns the places of the maxNear statements that share most terms with one, by their weights.
func nearest(all []map[string]bool, one map[string]bool, v *vocabulary) []int {
	shared := make([]float64, len(all))
	at := make([]int, len(all))
	for i, a := range all {
		at[i] = i
		for term := range a {
			if one[term] {
				shared[i] += v.weight(term)
			}
		}
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(shared[b], shared[a]) })
	return at[:min(len(at), maxNear)]
}
