package e5_test

import (
	"context"
	"fmt"
	"log"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	e5 "github.com/contextmem/contextmem/models/multilingual-e5-small"
)

// A question in one language finds what was said in another.
func ExampleNew() {
	ctx := context.Background()
	model, err := e5.New()
	if err != nil {
		log.Fatal(err)
	}
	svc, err := contextmem.New(ctx, inmem.New(), &contextmem.Options{Embedder: model})
	if err != nil {
		log.Fatal(err)
	}
	defer svc.Close()
	if _, err := svc.CreateTenant(ctx, contextmem.TenantSpec{ID: "acme"}); err != nil {
		log.Fatal(err)
	}
	acme := svc.Tenant("acme")
	if err := acme.WaitReady(ctx); err != nil {
		log.Fatal(err)
	}
	clara := acme.Sub("clara")
	_, err = clara.AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{
		{Text: "Meine Tochter hat am Freitag einen Termin beim Zahnarzt."},
		{Text: "Wir sind im März nach Leipzig gezogen."},
		{Text: "Der Hund frisst nur noch das Futter aus der blauen Dose."},
	}})
	if err != nil {
		log.Fatal(err)
	}
	if err := svc.Drain(ctx); err != nil {
		log.Fatal(err)
	}
	res, err := clara.Recall(ctx, contextmem.Recall{Class: contextmem.ClassMemory, Query: "which city do we live in now?", MaxResults: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Chunks[0].Text)
	// Output: Wir sind im März nach Leipzig gezogen.
}
