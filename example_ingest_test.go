package contextmem_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
)

// Items are durable and queued when AddMemories returns; an id that exists is replaced.
func ExampleSub_AddMemories() {
	ctx := context.Background()
	svc, acme := demo(nil)
	defer svc.Close()

	res, err := acme.Sub("alice").AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{
		{ID: "coffee", Text: "Alice takes her coffee black."},
		{ID: "code", Text: "The door code is 4711.", TTL: 24 * time.Hour},
	}})
	check(err)
	for _, it := range res.Items {
		fmt.Println(it.ID, it.Status)
	}
	// Output:
	// coffee queued
	// code queued
}

// From a conversation facts about the user are inferred.
func ExampleSub_AddMemories_infer() {
	ctx := context.Background()
	svc, acme := demo(nil)
	defer svc.Close()
	alice := acme.Sub("alice")
	learn(alice, contextmem.Memory{ID: "chat", Infer: true, UserName: "Alice", Pairs: []contextmem.Pair{
		{User: "I live in Lisbon.", Assistant: "A lovely city!"},
	}})

	f, err := alice.Fetch(ctx, contextmem.FetchRequest{ID: "chat"})
	check(err)
	fmt.Println(f.Inferred)
	// Output: Alice lives in Lisbon.
}

// An existing id can fail its item; the others are accepted.
func ExampleSub_AddMemories_failIfExists() {
	ctx := context.Background()
	svc, acme := demo(nil)
	defer svc.Close()
	alice := acme.Sub("alice")
	learn(alice, contextmem.Memory{ID: "coffee", Text: "Alice takes her coffee black."})

	res, err := alice.AddMemories(ctx, contextmem.MemoryBatch{FailIfExists: true, Memories: []contextmem.Memory{
		{ID: "coffee", Text: "Alice gave up coffee."},
		{ID: "tea", Text: "Alice drinks tea."},
	}})
	check(err)
	fmt.Println(res.Accepted, res.Failed, errors.Is(res.Items[0].Err, fault.ErrExists))
	// Output: 1 1 true
}

// Files are parsed, cut into chunks and indexed.
func ExampleTenant_AddKnowledge() {
	ctx := context.Background()
	svc, acme := demo(nil)
	defer svc.Close()

	res, err := acme.AddKnowledge(ctx, contextmem.KnowledgeBatch{Files: []contextmem.File{
		{Name: "returns.html", Data: []byte("<h1>Returns</h1><p>Goods come back within thirty days.</p>")},
	}})
	check(err)
	_, err = acme.Wait(ctx, res.IDs()...)
	check(err)
	found, err := acme.Recall(ctx, contextmem.Recall{Query: "how long can goods be returned?"})
	check(err)
	fmt.Println(found.Chunks[0].Title)
	fmt.Println(found.Chunks[0].Heading)
	// Output:
	// Returns
	// Returns
}

// Mails, messages, tickets and pages keep their fields.
func ExampleTenant_AddKnowledge_appItems() {
	ctx := context.Background()
	svc, acme := demo(nil)
	defer svc.Close()

	res, err := acme.AddKnowledge(ctx, contextmem.KnowledgeBatch{Apps: []contextmem.AppItem{{
		ID: "T-17", Kind: content.AppTicket, Provider: "tracker", ExternalID: "17",
		Fields: map[string]any{"title": "Kettle leaks", "description": "Water drips from the handle."},
	}}})
	check(err)
	_, err = acme.Wait(ctx, res.IDs()...)
	check(err)
	found, err := acme.Recall(ctx, contextmem.Recall{Query: "leaking kettle", Apps: true})
	check(err)
	fmt.Println(found.Sources[0].ID, found.Sources[0].App.Kind)
	// Output: T-17 ticket
}

// Status knows every id; one that is unknown is no error.
func ExampleSub_Status() {
	ctx := context.Background()
	svc, acme := demo(nil)
	defer svc.Close()
	alice := acme.Sub("alice")
	learn(alice, contextmem.Memory{ID: "coffee", Text: "Alice takes her coffee black."})

	st, err := alice.Status(ctx, "coffee", "tea")
	check(err)
	for _, s := range st {
		fmt.Println(s.ID, s.Status, s.Unknown)
	}
	// Output:
	// coffee completed false
	// tea errored true
}

// An item that ended errored says why, and is processed again from the content that was kept.
func ExampleSub_Retry() {
	ctx := context.Background()
	svc, acme := demo(nil)
	defer svc.Close()
	files := acme.Sub("")

	res, err := files.AddKnowledge(ctx, contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: "scan", Name: "scan.pdf", Data: []byte("%PDF-1.7\nnothing more")}}})
	check(err)
	st, err := files.Wait(ctx, res.IDs()...)
	check(err)
	fmt.Println(st[0].Status, st[0].ErrorCode)
	fmt.Println(files.Retry(ctx, contextmem.ClassKnowledge, "scan"))
	// Output:
	// errored E2001
	// <nil>
}

// A function can be told how the items of a call move on.
func ExampleProgressFunc() {
	ctx := context.Background()
	svc, acme := demo(nil)
	defer svc.Close()

	done := make(chan contextmem.ItemProgress, 1)
	_, err := acme.AddMemories(ctx, contextmem.MemoryBatch{
		Memories: []contextmem.Memory{{ID: "kettle", Text: "The kettle is on the shelf."}},
		Progress: func(p contextmem.ItemProgress) {
			if p.Done == p.Total {
				done <- p
			}
		},
	})
	check(err)
	p := <-done
	fmt.Println(p.ID, p.ItemStatus.Status, p.Done, "of", p.Total)
	// Output: kettle completed 1 of 1
}

// Sources yields all items, page by page.
func ExampleSub_Sources() {
	ctx := context.Background()
	svc, acme := demo(nil)
	defer svc.Close()
	alice := acme.Sub("alice")
	learn(alice, contextmem.Memory{ID: "cello", Title: "Music", Text: "Alice plays the cello."})

	for src, err := range alice.Sources(ctx, contextmem.ListRequest{Class: contextmem.ClassMemory}) {
		check(err)
		fmt.Println(src.ID, src.Title, src.Status)
	}
	// Output: cello Music completed
}

// List returns a page, newest first.
func ExampleSub_List() {
	ctx := context.Background()
	svc, acme := demo(nil)
	defer svc.Close()
	alice := acme.Sub("alice")
	for i := range 3 {
		learn(alice, contextmem.Memory{ID: fmt.Sprint("m", i), Text: "Alice plays the cello."})
	}

	page, err := alice.List(ctx, contextmem.ListRequest{Class: contextmem.ClassMemory, PageSize: 2})
	check(err)
	fmt.Println(len(page.Sources), "of", page.Total, "on page", page.Page, "of", page.Pages())
	// Output: 2 of 3 on page 1 of 2
}

// Fetch returns the original.
func ExampleSub_Fetch() {
	ctx := context.Background()
	svc, acme := demo(nil)
	defer svc.Close()
	alice := acme.Sub("alice")
	learn(alice, contextmem.Memory{ID: "cello", Text: "Alice plays the cello."})

	f, err := alice.Fetch(ctx, contextmem.FetchRequest{ID: "cello"})
	check(err)
	fmt.Println(f.Text)
	// Output: Alice plays the cello.
}

// Deleted items are gone from every read when DeleteItems returns.
func ExampleSub_DeleteItems() {
	ctx := context.Background()
	svc, acme := demo(nil)
	defer svc.Close()
	alice := acme.Sub("alice")
	learn(alice, contextmem.Memory{ID: "cello", Text: "Alice plays the cello."})

	res, err := alice.DeleteItems(ctx, contextmem.DeleteItemsRequest{IDs: []string{"cello", "violin"}})
	check(err)
	for _, it := range res.Items {
		fmt.Println(it.ID, it.Deleted, errors.Is(it.Err, fault.ErrNotFound))
	}
	// Output:
	// cello true false
	// violin false true
}

// Metadata changes without a new ingestion; nil removes a key.
func ExampleSub_EditMetadata() {
	ctx := context.Background()
	svc, acme := demo(nil)
	defer svc.Close()
	alice := acme.Sub("alice")
	learn(alice, contextmem.Memory{ID: "cello", Text: "Alice plays the cello.", Additional: map[string]any{"mood": "calm", "draft": true}})

	e, err := alice.EditMetadata(ctx, contextmem.EditMetadataRequest{ID: "cello", Additional: map[string]any{"mood": "happy", "draft": nil}})
	check(err)
	fmt.Println(e.Additional)
	// Output: map[mood:happy]
}
