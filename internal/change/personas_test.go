package change

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// TestPersonas prints what the rules find in labelled conversations, and what of it is right: set CONTEXTMEM_PERSONAS to a
// folder of persona files with the field "replaces".
func TestPersonas(t *testing.T) {
	dir := os.Getenv("CONTEXTMEM_PERSONAS")
	if dir == "" {
		t.Skip("CONTEXTMEM_PERSONAS is not set")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	found, right, labels := map[string]int{}, map[string]int{}, 0
	for _, f := range files {
		var p struct {
			ID, Lang string
			Docs     []struct {
				ID, Role, Text string
				Time           time.Time
			}
			Replaces [][2]string
		}
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &p))
		truth := map[[2]string]bool{}
		for _, r := range p.Replaces {
			truth[r] = true
		}
		labels += len(truth)
		v := &vocabulary{df: map[string]int{}}
		var ids []string
		var all []*said
		for _, d := range p.Docs {
			if d.Role != "user" {
				continue
			}
			s := &said{src: &backend.Source{ID: d.ID, Time: d.Time}, text: d.Text}
			v.docs++
			for term := range termsOf(d.Text) {
				v.df[term]++
			}
			ids, all = append(ids, d.ID), append(all, s)
		}
		for j := range all {
			for i := range j {
				x, ok := byRules(all[j], all[i], v)
				if !ok {
					continue
				}
				found[x.decider]++
				mark := "WRONG"
				if truth[[2]string{ids[j], ids[i]}] {
					right[x.decider]++
					mark = "right"
				}
				fmt.Printf("%s %s %s | %s %q | %q\n", mark, p.ID, x.decider, ids[i], x.matter, x.evidence)
			}
		}
	}
	matters, err := filepath.Glob(filepath.Join(dir, "../matters.en.jsonl"))
	require.NoError(t, err)
	for _, f := range matters {
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		for line := range strings.Lines(string(data)) {
			var m struct {
				Statements []struct{ Text string }
				Replaces   [][2]int
				Traps      []string
			}
			require.NoError(t, json.Unmarshal([]byte(line), &m))
			labels += len(m.Replaces)
			var all []*said
			v := &vocabulary{docs: 100, df: map[string]int{}}
			for i := range m.Statements {
				all = append(all, &said{src: &backend.Source{}, text: m.Statements[i].Text})
			}
			for _, trap := range m.Traps {
				all = append(all, &said{src: &backend.Source{}, text: trap})
			}
			for j := range all {
				for i := range min(j, len(m.Statements)) {
					x, ok := byRules(all[j], all[i], v)
					if !ok {
						continue
					}
					found["matters "+x.decider]++
					mark := "WRONG"
					if slices.Contains(m.Replaces, [2]int{j, i}) {
						right["matters "+x.decider]++
						mark = "right"
					}
					fmt.Printf("%s matter %s | %q | %q\n", mark, x.decider, x.matter, x.evidence)
				}
			}
		}
	}
	n, r := 0, 0
	for d := range found {
		fmt.Printf("%s: %d of %d right\n", d, right[d], found[d])
		n, r = n+found[d], r+right[d]
	}
	fmt.Printf("all: %d of %d right, precision %.3f; %d pairs are labelled\n", r, n, float64(r)/float64(max(n, 1)), labels)
}
