package contextmem_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/facts"
)

// folder returns a new directory for an example, and a function that removes it.
func folder() (string, func()) {
	dir, err := os.MkdirTemp("", "contextmem")
	check(err)
	return dir, func() { check(os.RemoveAll(dir)) }
}

// A backup is made while the deployment is in use; Restore makes a deployment of it, in a new directory.
func ExampleService_Backup() {
	ctx := context.Background()
	dir, remove := folder()
	defer remove()
	svc, err := contextmem.Open(ctx, filepath.Join(dir, "data"), nil)
	check(err)
	defer svc.Close()
	_, err = svc.EnsureTenant(ctx, contextmem.TenantSpec{ID: "acme"})
	check(err)
	learn(svc.Tenant("acme").Sub("alice"), contextmem.Memory{ID: "coffee", Text: "Alice takes her coffee black."})

	report, err := svc.Backup(ctx, filepath.Join(dir, "backup"))
	check(err)
	check(contextmem.Restore(ctx, filepath.Join(dir, "backup"), filepath.Join(dir, "restored")))

	restored, err := contextmem.Open(ctx, filepath.Join(dir, "restored"), nil)
	check(err)
	defer restored.Close()
	f, err := restored.Tenant("acme").Sub("alice").Fetch(ctx, contextmem.FetchRequest{ID: "coffee"})
	check(err)
	fmt.Println(report.Copied, "tenant:", f.Text)
	// Output: 1 tenant: Alice takes her coffee black.
}

// What is stored about one user is handed out, and then erased with a receipt. The user has a sub-tenant of its own.
func ExampleSub_Erase() {
	ctx := context.Background()
	dir, remove := folder()
	defer remove()
	svc, err := contextmem.Open(ctx, dir, nil)
	check(err)
	defer svc.Close()
	_, err = svc.EnsureTenant(ctx, contextmem.TenantSpec{ID: "acme"})
	check(err)
	alice := svc.Tenant("acme").Sub("alice")
	learn(alice, contextmem.Memory{ID: "home", Text: "I live in Lisbon.", UserName: "Alice", Infer: true})

	for _, class := range []contextmem.Class{contextmem.ClassMemory, contextmem.ClassKnowledge} { // a list is of one class
		for src, err := range alice.Sources(ctx, contextmem.ListRequest{Class: class, Content: true}) {
			check(err)
			fmt.Println("stored:", src.Content)
		}
	}
	for r := (facts.Request{History: true}); ; {
		page, err := alice.Facts(ctx, r)
		check(err)
		for _, f := range page.Facts {
			fmt.Println("concluded:", f.Subject, f.Predicate, f.Object)
		}
		if r.Cursor = page.Next; r.Cursor == 0 {
			break
		}
	}

	receipt, err := alice.Erase(ctx, contextmem.EraseRequest{All: true})
	check(err)
	fmt.Println("erased:", receipt.Items, svc.VerifyReceipt(receipt) == nil)
	// Output:
	// stored: I live in Lisbon.
	// concluded: alice lives_in lisbon
	// erased: 1 true
}
