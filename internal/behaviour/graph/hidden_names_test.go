package graph_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// visibleGraph collects, as lines, what the graph of a sub-tenant shows a principal. An entity is written with all its
// names, so that the lines of two tenants can be compared.
type visibleGraph struct {
	t          *testing.T
	s          contextmem.Sub
	principals []string
	class      contextmem.Class
	names      []string // that are asked for
	byID       map[string]map[string]bool
	lines      map[string]bool
}

// visibleTo returns the lines of everything that the graph calls show a principal.
func visibleTo(t *testing.T, s contextmem.Sub, class contextmem.Class, names []string, who ...string) []string {
	t.Helper()
	x := &visibleGraph{t: t, s: s, principals: who, class: class, names: names, byID: map[string]map[string]bool{}, lines: map[string]bool{}}
	ctx := t.Context()
	page, err := s.GraphRelations(ctx, contextmem.GraphRelationsRequest{Class: class, Principals: who})
	require.NoError(t, err)
	for _, g := range page.Groups { // first: they say which names one entity has
		x.addNames(g.Source, g.Target)
	}
	for _, g := range page.Groups {
		for _, e := range g.Relations {
			x.addLine("relation", x.entityName(g.Source), e.Canonical, x.entityName(g.Target), e.Context, e.Superseded)
		}
	}
	lookup, err := s.Entities(ctx, facts.LookupRequest{Class: class, Names: names, Principals: who})
	require.NoError(t, err)
	for i, e := range lookup {
		if e != nil {
			x.addLine("entity", names[i], x.entityName(*e), e.Type)
		}
	}
	listed, err := s.ListEntities(ctx, facts.EntityRequest{Class: class, Principals: who, Limit: 1000})
	require.NoError(t, err)
	for _, e := range listed.Entities {
		x.addLine("listed", e.Name, x.entityName(e), e.Type, e.Mentions)
	}
	held, err := s.Merges(ctx, facts.MergesRequest{Class: class, Principals: who})
	require.NoError(t, err)
	merges := held.Merges
	for _, m := range merges {
		if !m.Undone {
			x.addLine("merge", m.From, m.Into, m.Stated)
		}
	}
	for _, name := range append([]string{""}, names...) {
		f, err := s.Facts(ctx, facts.Request{Class: class, Subject: name, History: true, Limit: 1000, Principals: who})
		require.NoError(t, err)
		for _, f := range f.Facts {
			x.addLine("fact of", name, f.Subject, f.Predicate, f.Object, f.Status, f.Evidence)
		}
		p, err := s.Profile(ctx, facts.ProfileRequest{Class: class, Subject: name, PerSlot: 100, Principals: who})
		require.NoError(t, err)
		for _, slot := range p.Slots {
			for _, f := range slot.Facts {
				x.addLine("profile of", name, slot.Slot, f.Subject, f.Predicate, f.Object, f.Status)
			}
		}
		for _, f := range p.Other {
			x.addLine("profile of", name, f.Subject, f.Predicate, f.Object, f.Status)
		}
		for _, mode := range []contextmem.Mode{contextmem.ModeFast, contextmem.ModeThinking} {
			if name == "" {
				continue
			}
			r, err := s.Recall(ctx, contextmem.Recall{Class: class, Query: "What about " + name + "?", GraphContext: true, Mode: mode, MaxResults: 50, Principals: who})
			require.NoError(t, err)
			for _, c := range r.Chunks {
				x.addLine("hit of", name, mode, c.SourceID, c.Text)
			}
			for kind, paths := range map[string][]contextmem.Path{"path": r.Graph.QueryPaths, "chunk": r.Graph.ChunkRelations} {
				for _, p := range paths {
					if len(p.Triplets) > 1 && len(r.Graph.QueryPaths) >= 20 {
						continue // of more than are shown the best are, and scores are of all documents
					}
					what := []any{kind, "of", name, mode}
					for _, l := range p.Triplets {
						what = append(what, x.entityName(l.Source), l.Relation.Canonical, x.entityName(l.Target), l.Relation.Context)
					}
					x.addLine(what...)
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(x.lines))
}

// requireSameVisible checks that want and got are the same lines. got may lack the record of a merge that a hidden
// document states as well.
func requireSameVisible(t *testing.T, want, got []string) bool {
	t.Helper()
	lacks := slices.DeleteFunc(slices.Clone(want), func(l string) bool { return slices.Contains(got, l) || strings.HasPrefix(l, "merge ") })
	more := slices.DeleteFunc(slices.Clone(got), func(l string) bool { return slices.Contains(want, l) })
	return assert.Empty(t, lacks, "not told") && assert.Empty(t, more, "told of hidden documents")
}

func (x *visibleGraph) addLine(what ...any) { x.lines[strings.TrimSpace(fmt.Sprintln(what...))] = true }

func (x *visibleGraph) addNames(es ...contextmem.Entity) {
	for _, e := range es {
		if e.ID == "" {
			continue
		}
		if x.byID[e.ID] == nil {
			x.byID[e.ID] = map[string]bool{}
		}
		x.byID[e.ID][e.Name] = true
	}
}

// entityName returns an entity with all its names in relations.
func (x *visibleGraph) entityName(e contextmem.Entity) string {
	if names := x.byID[e.ID]; len(names) > 0 {
		return strings.Join(slices.Sorted(maps.Keys(names)), "=")
	}
	return e.Name
}

// TestHiddenMerge checks that names which only a hidden document joins are separate entities for a principal who may
// not see it, in all calls.
func TestHiddenMerge(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		docs := []contextmem.File{
			{ID: "open", Data: []byte("Bob Lind works at Zorblax Industries."), Time: servicetest.OnDay("2020-01-01")},
			{ID: "lives", Data: []byte("Robert Kilimanjaro works at Quux Foundry. Robert Kilimanjaro lives in Bergen."), Time: servicetest.OnDay("2021-01-01")},
		}
		hidden := contextmem.File{ID: "hidden", Data: []byte("Robert Kilimanjaro, also known as Bob Lind, likes chess."), Time: servicetest.OnDay("2022-01-01"), ACL: []string{"boss"}}
		names := []string{"Bob Lind", "Robert Kilimanjaro", "Zorblax Industries"}
		all, part := tn.Sub("all"), tn.Sub("part")
		servicetest.AddDocuments(t, part, docs...)
		servicetest.AddDocuments(t, all, append(slices.Clone(docs), hidden)...)
		want, got := visibleTo(t, part, contextmem.ClassKnowledge, names, "guest"), visibleTo(t, all, contextmem.ClassKnowledge, names, "guest")
		require.True(t, requireSameVisible(t, want, got))
		boss := visibleTo(t, all, contextmem.ClassKnowledge, names, "boss")
		require.Contains(t, boss, "merge bob lind robert kilimanjaro true")
		require.NotContains(t, strings.Join(got, "\n"), "lind=robert")
		require.Contains(t, strings.Join(boss, "\n"), "bob lind=robert kilimanjaro")

		// The access list decides, as it is now.
		edit := func(acl ...string) {
			_, err := all.EditMetadata(t.Context(), contextmem.EditMetadataRequest{ID: "hidden", ACL: &acl})
			require.NoError(t, err)
		}
		edit("guest")
		require.Contains(t, visibleTo(t, all, contextmem.ClassKnowledge, names, "guest"), "merge bob lind robert kilimanjaro true")
		edit("boss")
		require.True(t, requireSameVisible(t, want, visibleTo(t, all, contextmem.ClassKnowledge, names, "guest")))

		// What an operator merges is one for all.
		es, err := all.Entities(t.Context(), facts.LookupRequest{Names: names[:1]})
		require.NoError(t, err)
		require.Equal(t, "robert kilimanjaro", es[0].Name)
		_, err = all.DeleteItems(t.Context(), contextmem.DeleteItemsRequest{Class: contextmem.ClassKnowledge, IDs: []string{"hidden"}})
		require.NoError(t, err)
		for _, s := range []contextmem.Sub{all, part} {
			_, err = s.MergeEntities(t.Context(), contextmem.MergeEntitiesRequest{Class: contextmem.ClassKnowledge, From: "Bob Lind", Into: "Robert Kilimanjaro"})
			require.NoError(t, err)
		}
		want = visibleTo(t, part, contextmem.ClassKnowledge, names, "guest")
		require.Contains(t, strings.Join(want, "\n"), "bob lind=robert kilimanjaro")
		require.True(t, requireSameVisible(t, want, visibleTo(t, all, contextmem.ClassKnowledge, names, "guest")))
	})
}

// TestHiddenContradiction checks that a hidden statement that contradicts a visible one does not split an entity.
func TestHiddenContradiction(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		docs := []contextmem.File{
			{ID: "one", Data: []byte("Robert Kilimanjaro, also known as Bob Lind, lives in Bergen.")},
			{ID: "two", Data: []byte("Bob Lind works at Zorblax Industries.")},
		}
		hidden := contextmem.File{ID: "hidden", Data: []byte("Tobias Quill, also known as Bob Lind, lives in Oslo."), ACL: []string{"boss"}}
		names := []string{"Bob Lind", "Robert Kilimanjaro", "Tobias Quill"}
		all, part := tn.Sub("all"), tn.Sub("part")
		servicetest.AddDocuments(t, part, docs...)
		servicetest.AddDocuments(t, all, append(slices.Clone(docs), hidden)...)
		want := visibleTo(t, part, contextmem.ClassKnowledge, names, "guest")
		require.Contains(t, want, "merge bob lind robert kilimanjaro true")
		require.True(t, requireSameVisible(t, want, visibleTo(t, all, contextmem.ClassKnowledge, names, "guest")))
		require.NotContains(t, strings.Join(visibleTo(t, all, contextmem.ClassKnowledge, names, "boss"), "\n"), "bob lind=")
	})
}

// TestHiddenAtRandom hides documents at random. A principal must see what a tenant with only the visible documents
// would show.
func TestHiddenAtRandom(t *testing.T) {
	t.Parallel()
	seeds := uint64(10)
	if n, err := strconv.ParseUint(os.Getenv("CONTEXTMEM_SEEDS"), 10, 32); err == nil {
		seeds = n
	} else if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			t.Parallel()
			_, acme := servicetest.Open(t, nil)
			hideAtRandom(t, acme, rand.New(rand.NewPCG(seed, 14)))
		})
	}
}

func hideAtRandom(t *testing.T, tn contextmem.Tenant, r *rand.Rand) {
	names := []string{"Robert Kilimanjaro", "Clara Roth", "Bob Lind", "Tobias Quill", "Nora Vale"}
	places, firms := []string{"Bergen", "Oslo", "Lisbon"}, []string{"Zorblax Industries", "Quux Foundry"}
	one := func(of []string) string { return of[r.IntN(len(of))] }
	text := func() string {
		switch a := one(names); r.IntN(5) {
		case 0, 1: // never in circles: which of the statements counts is a matter of history
			i := 1 + r.IntN(len(names)-1)
			a, b := names[r.IntN(i)], names[i]
			return a + ", also known as " + b + ", lives in " + one(places) + "."
		case 2:
			return a + " works at " + one(firms) + "."
		case 3:
			return a + " no longer works at " + one(firms) + "."
		default:
			return a + " moved to " + one(places) + "."
		}
	}
	who := []string{"ann", "ben"}
	all := tn.Sub("all")
	parts := map[string]contextmem.Sub{"ann": tn.Sub("ann"), "ben": tn.Sub("ben")}
	acl := map[string][]string{}
	docs := map[string]contextmem.File{}
	may := func(id, p string) bool { return len(acl[id]) == 0 || slices.Contains(acl[id], p) }
	remove := func(s contextmem.Sub, id string) {
		_, err := s.DeleteItems(t.Context(), contextmem.DeleteItemsRequest{Class: contextmem.ClassKnowledge, IDs: []string{id}})
		require.NoError(t, err)
	}
	lists := [][]string{nil, {"ann"}, {"ben"}, {"ann", "ben"}, {"boss"}}
	for i := range 16 {
		id := fmt.Sprintf("doc%02d", i)
		f := contextmem.File{ID: id, Data: []byte(text()), Time: servicetest.OnDay(fmt.Sprintf("2020-%02d-01", 1+i%12)).AddDate(i/12, 0, 0), ACL: lists[r.IntN(len(lists))]}
		acl[id], docs[id] = f.ACL, f
		servicetest.AddDocuments(t, all, f)
		for p, s := range parts {
			if may(id, p) {
				f.ACL = nil
				servicetest.AddDocuments(t, s, f)
			}
		}
		if r.IntN(6) == 0 {
			gone := one(slices.Sorted(maps.Keys(docs)))
			remove(all, gone)
			for p, s := range parts {
				if may(gone, p) {
					remove(s, gone)
				}
			}
			delete(docs, gone)
		}
	}
	subs := []contextmem.Sub{all, parts["ann"], parts["ben"]}
	for range 3 {
		from, into := one(names), one(names)
		if slices.ContainsFunc(subs, func(s contextmem.Sub) bool {
			es, err := s.Entities(t.Context(), facts.LookupRequest{Names: []string{from, into}})
			require.NoError(t, err)
			return es[0] == nil || es[1] == nil || es[0].ID == es[1].ID
		}) {
			continue
		}
		for _, s := range subs {
			_, err := s.MergeEntities(t.Context(), contextmem.MergeEntitiesRequest{Class: contextmem.ClassKnowledge, From: from, Into: into})
			require.NoError(t, err)
		}
	}
	asked := slices.Concat(names, firms)
	for _, p := range who {
		want, got := visibleTo(t, parts[p], contextmem.ClassKnowledge, asked, p), visibleTo(t, all, contextmem.ClassKnowledge, asked, p)
		// Which documents are hits depends on how rare words and names are in all of them.
		scored := func(l string) bool { return strings.HasPrefix(l, "hit ") || strings.HasPrefix(l, "chunk ") }
		if !requireSameVisible(t, slices.DeleteFunc(want, scored), slices.DeleteFunc(got, scored)) {
			for _, f := range slices.SortedFunc(maps.Values(docs), func(a, b contextmem.File) int { return cmp.Compare(a.ID, b.ID) }) {
				t.Log(f.ID, string(f.Data), f.ACL)
			}
		}
	}
}
