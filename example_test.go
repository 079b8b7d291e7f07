package contextmem_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/content"
)

// A directory, a tenant, two memories, a question.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "contextmem")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	svc, err := contextmem.Open(ctx, dir, nil)
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
	alice := acme.Sub("alice")
	_, err = alice.AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{
		{Text: "Alice takes her coffee black."},
		{Text: "Alice has a dentist's appointment on Friday."},
	}})
	if err != nil {
		log.Fatal(err)
	}
	if err := svc.Drain(ctx); err != nil {
		log.Fatal(err)
	}
	res, err := alice.Recall(ctx, contextmem.Recall{Class: contextmem.ClassMemory, Query: "how does she drink coffee?", MaxResults: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Chunks[0].Text)
	// Output: Alice takes her coffee black.
}

// Metadata that a schema declares can be filtered by, exactly.
func ExampleSub_Recall_filters() {
	ctx := context.Background()
	svc, err := contextmem.New(ctx, inmem.New(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer svc.Close()
	_, err = svc.CreateTenant(ctx, contextmem.TenantSpec{ID: "shop", Schema: []contextmem.Field{{Name: "department", Type: content.Varchar, Match: true}}})
	if err != nil {
		log.Fatal(err)
	}
	shop := svc.Tenant("shop")
	if err := shop.WaitReady(ctx); err != nil {
		log.Fatal(err)
	}
	files := shop.Sub("")
	_, err = files.AddKnowledge(ctx, contextmem.KnowledgeBatch{Files: []contextmem.File{
		{Name: "returns.md", Data: []byte("# Returns\n\nGoods come back within thirty days."), Metadata: map[string]any{"department": "sales"}},
		{Name: "leave.md", Data: []byte("# Leave\n\nEverybody has thirty days of leave."), Metadata: map[string]any{"department": "people"}},
	}})
	if err != nil {
		log.Fatal(err)
	}
	if err := svc.Drain(ctx); err != nil {
		log.Fatal(err)
	}
	res, err := files.Recall(ctx, contextmem.Recall{Class: contextmem.ClassKnowledge, Query: "thirty days",
		Filters: contextmem.Filters{Metadata: map[string]any{"department": "people"}}})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range res.Chunks {
		fmt.Println(c.Title)
	}
	// Output: Leave
}

// Errors are matched by kind.
func ExampleError() {
	ctx := context.Background()
	svc, err := contextmem.New(ctx, inmem.New(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer svc.Close()
	_, err = svc.Tenant("nobody").Sub("").Recall(ctx, contextmem.Recall{Class: contextmem.ClassMemory, Query: "anything"})
	fmt.Println(errors.Is(err, contextmem.ErrNotFound))
	// Output: true
}

// A receiver checks the signature over the raw body before it reads it.
func ExampleVerifyWebhook() {
	const secret = "whsec_shared"
	_ = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil || contextmem.VerifyWebhook(body, r.Header.Get(contextmem.HeaderSignature), secret) != nil {
			http.Error(w, "not ours", http.StatusUnauthorized)
			return
		}
		w.WriteHeader(http.StatusNoContent) // then deduplicate by contextmem.HeaderDeliveryID
	})
	body := []byte(`{"event":"indexing.status_changed"}`)
	fmt.Println(contextmem.VerifyWebhook(body, contextmem.SignWebhook(secret, body), secret))
	fmt.Println(contextmem.VerifyWebhook([]byte("{}"), contextmem.SignWebhook(secret, body), secret))
	// Output:
	// <nil>
	// contextmem: webhook signature does not match
}

// Wait returns when the named items have reached their end.
func ExampleSub_Wait() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	svc, err := contextmem.New(ctx, inmem.New(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer svc.Close()
	if _, err := svc.CreateTenant(ctx, contextmem.TenantSpec{ID: "acme"}); err != nil {
		log.Fatal(err)
	}
	if err := svc.Tenant("acme").WaitReady(ctx); err != nil {
		log.Fatal(err)
	}
	bob := svc.Tenant("acme").Sub("bob")
	if _, err := bob.AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "tea", Text: "Bob drinks green tea."}}}); err != nil {
		log.Fatal(err)
	}
	st, err := bob.Wait(ctx, "tea")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(st[0].ID, st[0].Status)
	// Output: tea completed
}
