package contextmem_test

import (
	"context"
	"fmt"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/facts"
)

// A fast recall takes one pass. Chunks come best first.
func ExampleSub_Recall() {
	ctx := context.Background()
	svc, acme := demo(nil)
	defer svc.Close()
	alice := acme.Sub("alice")
	learn(alice, contextmem.Memory{Text: "Alice takes her coffee black."}, contextmem.Memory{Text: "Alice has a dentist's appointment on Friday."})

	res, err := alice.Recall(ctx, contextmem.Recall{Class: contextmem.ClassMemory, Query: "when is the dentist?", MaxResults: 1})
	check(err)
	fmt.Println(res.Mode, res.Chunks[0].Text)
	// Output: fast Alice has a dentist's appointment on Friday.
}

// Thinking mode asks sub-queries and walks the graph, within Options.RecallBudget.
func ExampleSub_Recall_thinking() {
	ctx := context.Background()
	svc, acme := demo(&contextmem.Options{RecallBudget: 10 * time.Second})
	defer svc.Close()
	alice := acme.Sub("alice")
	learn(alice, contextmem.Memory{Text: "Alice works at Acme."}, contextmem.Memory{Text: "Acme has its office in Lisbon."})

	res, err := alice.Recall(ctx, contextmem.Recall{Class: contextmem.ClassMemory, Query: "in which city is Alice's office?", Mode: contextmem.ModeThinking})
	check(err)
	fmt.Println(res.Mode, len(res.Chunks))
	// Output: thinking 2
}

// The parts of a score say why a chunk was found: here by its words alone.
func ExampleExplain() {
	ctx := context.Background()
	svc, acme := demo(nil)
	defer svc.Close()
	alice := acme.Sub("alice")
	learn(alice, contextmem.Memory{Text: "The invoice has the number ZX-4711."})

	res, err := alice.Recall(ctx, contextmem.Recall{Class: contextmem.ClassMemory, Query: "ZX-4711", Alpha: contextmem.FixedAlpha(0)})
	check(err)
	e := res.Chunks[0].Explain
	fmt.Println("keyword:", e.Keyword > 0, "semantic:", e.Semantic > 0)
	// Output: keyword: true semantic: false
}

// BooleanRecall finds exact words; scores are BM25.
func ExampleSub_BooleanRecall() {
	ctx := context.Background()
	svc, acme := demo(nil)
	defer svc.Close()
	alice := acme.Sub("alice")
	learn(alice, contextmem.Memory{ID: "left", Text: "The kettle is on the left shelf."}, contextmem.Memory{ID: "right", Text: "The kettle is on the right shelf."})

	res, err := alice.BooleanRecall(ctx, contextmem.BooleanRecallRequest{Class: contextmem.ClassMemory, Query: "left shelf", Operator: contextmem.OperatorPhrase})
	check(err)
	for _, c := range res.Chunks {
		fmt.Println(c.SourceID)
	}
	// Output: left
}

// Several sub-tenants can be searched at once, with weights.
func ExampleSub_Recall_subTenants() {
	ctx := context.Background()
	svc, acme := demo(nil)
	defer svc.Close()
	learn(acme.Sub("alice"), contextmem.Memory{Text: "The kettle is Alice's."})
	learn(acme.Sub("bob"), contextmem.Memory{Text: "The kettle is Bob's."})

	res, err := acme.Recall(ctx, contextmem.Recall{Class: contextmem.ClassMemory, Query: "kettle", Subs: map[string]float64{"alice": 1, "bob": 0.2}})
	check(err)
	for _, c := range res.Chunks {
		fmt.Println(c.Sub)
	}
	// Output:
	// alice
	// bob
}

// AsOf reads facts as they held on a day, KnownAt as they were known then.
func ExampleSub_Recall_asOf() {
	ctx := context.Background()
	svc, acme := demo(nil)
	defer svc.Close()
	alice := acme.Sub("alice")
	learn(alice, contextmem.Memory{Text: "Alice lives in Lisbon.", Time: time.Date(2020, 3, 1, 0, 0, 0, 0, time.UTC)})
	learn(alice, contextmem.Memory{Text: "Alice moved to Porto.", Time: time.Date(2022, 6, 1, 0, 0, 0, 0, time.UTC)})

	cities := func(asOf, knownAt time.Time) (out []string) {
		res, err := alice.Recall(ctx, contextmem.Recall{Class: contextmem.ClassMemory, Query: "where does Alice live?", GraphContext: true, AsOf: asOf, KnownAt: knownAt})
		check(err)
		for _, p := range res.Graph.ChunkRelations {
			for _, t := range p.Triplets {
				if t.Relation.Canonical == "lives_in" {
					out = append(out, t.Target.Name)
				}
			}
		}
		return out
	}
	in2021 := time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC)
	fmt.Println("now:", cities(time.Time{}, time.Time{}))
	fmt.Println("as of 2021:", cities(in2021, time.Time{}))
	fmt.Println("known in 2021:", cities(time.Time{}, in2021))
	// Output:
	// now: [porto]
	// as of 2021: [lisbon]
	// known in 2021: [lisbon]
}

// Relations come with their evidence.
func ExampleSub_GraphRelations() {
	ctx := context.Background()
	svc, acme := demo(nil)
	defer svc.Close()
	alice := acme.Sub("alice")
	learn(alice, contextmem.Memory{ID: "job", Text: "Alice works at Acme."})

	page, err := alice.GraphRelations(ctx, contextmem.GraphRelationsRequest{Class: contextmem.ClassMemory, SourceID: "job"})
	check(err)
	for _, g := range page.Groups {
		fmt.Println(g.Source.Name, g.Relations[0].Canonical, g.Target.Name)
	}
	// Output: alice works_at acme
}

// Two names of one person become one entity, and apart again.
func ExampleSub_MergeEntities() {
	ctx := context.Background()
	svc, acme := demo(nil)
	defer svc.Close()
	team := acme.Sub("team")
	learn(team, contextmem.Memory{Text: "Bob lives in Lisbon."}, contextmem.Memory{Text: "Robert Smith works at Acme."})

	m, err := team.MergeEntities(ctx, contextmem.MergeEntitiesRequest{Class: contextmem.ClassMemory, From: "Bob", Into: "Robert Smith"})
	check(err)
	es, err := team.Entities(ctx, facts.LookupRequest{Class: contextmem.ClassMemory, Names: []string{"Bob"}})
	check(err)
	fmt.Println(es[0].Name)

	check(team.UndoMerge(ctx, contextmem.ClassMemory, m.ID))
	es, err = team.Entities(ctx, facts.LookupRequest{Class: contextmem.ClassMemory, Names: []string{"Bob"}})
	check(err)
	fmt.Println(es[0].Name)
	// Output:
	// robert smith
	// bob
}

// Subgraph walks along the links that sources were given.
func ExampleSub_Subgraph() {
	ctx := context.Background()
	svc, acme := demo(nil)
	defer svc.Close()
	home := acme.Sub("home")
	learn(home, contextmem.Memory{ID: "stove", Text: "The stove is new."})
	learn(home, contextmem.Memory{ID: "kettle", Text: "The kettle stands on it.", ForcefulRelations: &contextmem.ForcefulRelations{IDs: []string{"stove"}}})

	g, err := home.Subgraph(ctx, contextmem.SubgraphRequest{Class: contextmem.ClassMemory, SourceID: "kettle"})
	check(err)
	for _, m := range g.Members {
		fmt.Println(m.Depth, m.Source.ID)
	}
	// Output:
	// 0 kettle
	// 1 stove
}

// Vectors made elsewhere are kept in a tenant for embeddings.
func ExampleSub_SearchVectors() {
	ctx := context.Background()
	svc, _ := demo(nil)
	defer svc.Close()
	_, err := svc.CreateTenant(ctx, contextmem.TenantSpec{ID: "pictures", Embeddings: true, Dimension: 2})
	check(err)
	pictures := svc.Tenant("pictures")
	check(pictures.WaitReady(ctx))

	_, err = pictures.InsertVectors(ctx, contextmem.InsertVectorsRequest{Sources: []contextmem.VectorSource{
		{SourceID: "cat", Vectors: []contextmem.Vector{{ChunkID: "cat-1", Vector: []float32{1, 0}}}},
		{SourceID: "dog", Vectors: []contextmem.Vector{{ChunkID: "dog-1", Vector: []float32{0, 1}}}},
	}})
	check(err)
	hits, err := pictures.SearchVectors(ctx, contextmem.SearchVectorsRequest{Vector: []float32{3, 4}})
	check(err)
	for _, h := range hits {
		fmt.Printf("%s %.1f\n", h.SourceID, h.Score)
	}
	// Output:
	// dog 0.8
	// cat 0.6
}
