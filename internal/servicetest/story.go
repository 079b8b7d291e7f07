package servicetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/facts"
)

// OnDay returns a day at midnight, which is the time of a memory if only its date is known.
func OnDay(day string) time.Time {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic(err)
	}
	return t
}

// InEachService runs f with services that keep their data in memory and in a directory.
func InEachService(t *testing.T, f func(t *testing.T, tn contextmem.Tenant)) {
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		_, acme := Open(t, nil)
		f(t, acme)
	})
	t.Run("directory", func(t *testing.T) {
		t.Parallel()
		svc, err := contextmem.Open(t.Context(), t.TempDir(), nil)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, svc.Close()) })
		f(t, Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}))
	})
}

// Story is a sub-tenant with memories added in order.
type Story struct {
	contextmem.Sub
	t    *testing.T
	Text string
}

// NewStory adds memories, in order, to a sub-tenant named after the test.
func NewStory(t *testing.T, tn contextmem.Tenant, ms ...contextmem.Memory) Story {
	t.Helper()
	c := Story{Sub: tn.Sub(strings.ReplaceAll(t.Name(), "/", "-")), t: t}
	for i, m := range ms {
		if m.ID == "" {
			m.ID = fmt.Sprint("m", i+1)
		}
		Remember(t, c.Sub, m)
		c.Text += m.Text + " "
	}
	return c
}

// GraphStates returns what the graph of a recall states for a predicate, as "subject object".
func (c Story) GraphStates(predicate string, change func(q *contextmem.Recall)) []string {
	c.t.Helper()
	q := contextmem.Recall{Class: contextmem.ClassMemory, Query: c.Text, GraphContext: true, MaxResults: 50}
	if change != nil {
		change(&q)
	}
	res, err := c.Recall(c.t.Context(), q)
	require.NoError(c.t, err)
	out := []string{}
	for _, p := range res.Graph.ChunkRelations {
		for _, x := range p.Triplets {
			if x.Relation.Canonical == predicate {
				require.False(c.t, x.Relation.Superseded && q.AsOf.IsZero() && q.KnownAt.IsZero(), "a retired fact is not what holds")
				out = append(out, x.Source.Name+" "+x.Target.Name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// DatedFacts recalls dated facts and returns them as "relation object start..end precision status".
func (c Story) DatedFacts(query string, temporal contextmem.Temporal) ([]string, *contextmem.TemporalResult) {
	c.t.Helper()
	res, err := c.Recall(c.t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: query, Temporal: &temporal, MaxResults: 50})
	require.NoError(c.t, err)
	require.NotNil(c.t, res.Temporal)
	require.False(c.t, res.Temporal.Degraded)
	out := []string{}
	for _, f := range res.Temporal.Facts {
		day := func(t time.Time) string {
			if t.IsZero() {
				return ""
			}
			return t.Format(time.DateOnly)
		}
		require.NotEmpty(c.t, f.ChunkID)
		require.NotEmpty(c.t, f.SourceID)
		require.NotEmpty(c.t, f.RelationID)
		require.NotEmpty(c.t, f.Phrase)
		out = append(out, fmt.Sprintf("%s %s %s..%s %s %s", f.Relation, f.Object, day(f.Start), day(f.End), f.Precision, f.Status))
	}
	return out, res.Temporal
}

// Resolve returns the entity names that the given names resolve to in memories, or "" if a name is unknown.
func (c Story) Resolve(names ...string) []string {
	c.t.Helper()
	es, err := c.Entities(c.t.Context(), facts.LookupRequest{Class: contextmem.ClassMemory, Names: names})
	require.NoError(c.t, err)
	out := make([]string, len(es))
	for i, e := range es {
		if e != nil {
			out[i] = e.Name
		}
	}
	return out
}

func (c *Story) Add(ms ...contextmem.Memory) {
	c.t.Helper()
	for _, m := range ms {
		Remember(c.t, c.Sub, m)
		c.Text += m.Text + " "
	}
}

func (c Story) Remove(ids ...string) {
	c.t.Helper()
	_, err := c.DeleteItems(c.t.Context(), contextmem.DeleteItemsRequest{IDs: ids})
	require.NoError(c.t, err)
}
