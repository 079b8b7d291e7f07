package contextmem_test

import (
	"context"
	"fmt"
	"os"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/document"
)

// Open keeps everything in one directory and finds it again.
func ExampleOpen() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "contextmem")
	check(err)
	defer os.RemoveAll(dir)

	svc, err := contextmem.Open(ctx, dir, nil)
	check(err)
	_, err = svc.CreateTenant(ctx, contextmem.TenantSpec{ID: "acme"})
	check(err)
	check(svc.Tenant("acme").WaitReady(ctx))
	check(svc.Close())

	svc, err = contextmem.Open(ctx, dir, nil)
	check(err)
	defer svc.Close()
	info, err := svc.Tenant("acme").Info(ctx)
	check(err)
	fmt.Println(info.ID, info.State)
	// Output: acme ready
}

// In tests a service needs neither a directory nor cgo.
func ExampleNew_inMemory() {
	svc, err := contextmem.New(context.Background(), inmem.New(), nil)
	check(err)
	defer svc.Close()
	fmt.Println(svc.ID())
	// Output: default
}

// A tenant is created in the background; its metadata schema is given with it.
func ExampleOrganisation_CreateTenant() {
	ctx := context.Background()
	svc, err := contextmem.New(ctx, inmem.New(), nil)
	check(err)
	defer svc.Close()

	_, err = svc.CreateTenant(ctx, contextmem.TenantSpec{ID: "acme", Schema: []contextmem.Field{{Name: "team", Match: true}}})
	check(err)
	acme := svc.Tenant("acme")
	check(acme.WaitReady(ctx))

	fields, err := acme.Schema(ctx)
	check(err)
	for _, f := range fields {
		fmt.Println(f.Name, f.Type, f.MaxLength)
	}
	// Output: team VARCHAR 1024
}

// Organisations do not see each other's tenants.
func ExampleService_Org() {
	ctx := context.Background()
	svc, _ := demo(nil)
	defer svc.Close()

	_, err := svc.Org("other").Tenant("acme").Info(ctx)
	fmt.Println(err)
	// Output: contextmem: tenant "acme": tenant not found
}

// Fields that are added later filter what was ingested before.
func ExampleTenant_AddSchemaFields() {
	ctx := context.Background()
	svc, acme := demo(nil)
	defer svc.Close()

	added, err := acme.AddSchemaFields(ctx, []contextmem.Field{{Name: "year", Type: content.Int32, Match: true}})
	check(err)
	fmt.Println(added[0].Name, added[0].Type)
	// Output: year INT32
}

// Stats counts what a tenant holds.
func ExampleTenant_Stats() {
	ctx := context.Background()
	svc, acme := demo(nil)
	defer svc.Close()
	learn(acme.Sub("alice"), contextmem.Memory{Text: "Alice plays the cello."})
	learn(acme.Sub("bob"), contextmem.Memory{Text: "Bob plays chess."}, contextmem.Memory{Text: "Bob drinks green tea."})

	stats, err := acme.Stats(ctx)
	check(err)
	fmt.Println(stats.Memory.Sources)
	for _, s := range stats.Subs {
		fmt.Println(s.Name, s.Memory)
	}
	// Output:
	// 3
	// alice 1
	// bob 2
}

// A parser of one's own reads a further media type.
func ExampleOptions_parser() {
	ctx := context.Background()
	shout := document.ParserFunc(func(_ context.Context, in document.Input, _ document.Limits) (*document.Document, error) {
		return &document.Document{Title: "A note", Text: string(in.Data)}, nil
	})
	svc, acme := demo(&contextmem.Options{Parsers: map[string]document.Parser{"application/x-note": shout}})
	defer svc.Close()

	res, err := acme.AddKnowledge(ctx, contextmem.KnowledgeBatch{Files: []contextmem.File{
		{ID: "n", Name: "n.note", ContentType: "application/x-note", Data: []byte("The safe is behind the mirror.")},
	}})
	check(err)
	_, err = acme.Wait(ctx, res.IDs()...)
	check(err)
	found, err := acme.Recall(ctx, contextmem.Recall{Query: "where is the safe?"})
	check(err)
	fmt.Println(found.Chunks[0].Text)
	// Output: The safe is behind the mirror.
}

// letters is an embedder that counts letters; a real one asks a model.
type letters struct{}

func (letters) Model() string { return "letters/1" }

func (letters) Dim() int { return 26 }

func (letters) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	v := make([]float32, 26)
	for _, r := range text {
		if r >= 'a' && r <= 'z' {
			v[r-'a']++
		}
	}
	return v, nil
}

func (l letters) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i], _ = l.EmbedQuery(ctx, t)
	}
	return out, nil
}

// An embedder of one's own replaces the built-in model.
func ExampleEmbedder() {
	ctx := context.Background()
	svc, acme := demo(&contextmem.Options{Embedder: letters{}})
	defer svc.Close()
	learn(acme.Sub("alice"), contextmem.Memory{Text: "Alice plays the cello."})

	stats, err := acme.Stats(ctx)
	check(err)
	fmt.Println(stats.Memory.Dimension)
	// Output: 26
}

// Drain waits until all that was accepted is processed.
func ExampleService_Drain() {
	ctx := context.Background()
	svc, acme := demo(nil)
	defer svc.Close()
	res, err := acme.AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{{Text: "The kettle is on the shelf."}}})
	check(err)
	check(svc.Drain(ctx))

	st, err := acme.Status(ctx, res.IDs()...)
	check(err)
	fmt.Println(st[0].Status)
	// Output: completed
}

// DrainProgress reports the counts at each change.
func ExampleService_DrainProgress() {
	ctx := context.Background()
	svc, acme := demo(nil)
	defer svc.Close()
	_, err := acme.AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{{Text: "The kettle is on the shelf."}, {Text: "The stove is new."}}})
	check(err)

	var last contextmem.Progress
	check(svc.DrainProgress(ctx, func(p contextmem.Progress) { last = p }))
	fmt.Println(last.Waiting(), "waiting,", last.Errored, "errored")
	// Output: 0 waiting, 0 errored
}
