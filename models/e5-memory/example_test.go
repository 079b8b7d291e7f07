package e5memory_test

import (
	"context"
	"fmt"
	"log"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	e5memory "github.com/contextmem/contextmem/models/e5-memory"
)

// A question finds what was said in other words.
func ExampleNew() {
	ctx := context.Background()
	model, err := e5memory.New()
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
	handbook := acme.Sub("handbook")
	_, err = handbook.AddKnowledge(ctx, contextmem.KnowledgeBatch{Files: []contextmem.File{
		{ID: "post", Name: "post.txt", Data: []byte("Parcels that come after six in the evening stay with the porter until morning.")},
		{ID: "leave", Name: "leave.txt", Data: []byte("Who falls ill tells the shift leader before nine and needs a note from the doctor on the third day.")},
		{ID: "bikes", Name: "bikes.txt", Data: []byte("Bicycles are parked in the yard, not in the staircase.")},
	}})
	if err != nil {
		log.Fatal(err)
	}
	if err := svc.Drain(ctx); err != nil {
		log.Fatal(err)
	}
	if err := acme.WaitRefined(ctx); err != nil {
		log.Fatal(err)
	}
	res, err := handbook.Recall(ctx, contextmem.Recall{Query: "I have the flu, what must I do?", MaxResults: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Chunks[0].SourceID)
	// Output: leave
}
