package contextmem_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/connector/filesystem"
)

// A receiver is registered for the whole organisation; the secret is shown once.
func ExampleOrganisation_SetWebhook() {
	ctx := context.Background()
	svc, _ := demo(nil)
	defer svc.Close()

	hook, err := svc.SetWebhook(ctx, contextmem.WebhookSpec{URL: "https://hooks.example.com/contextmem", GenerateSecret: true})
	check(err)
	fmt.Println(hook.EventTypes, hook.Secret != "")
	hook, err = svc.Webhook(ctx)
	check(err)
	fmt.Println(hook.SecretConfigured, hook.Secret == "")
	// Output:
	// [indexing.status_changed] true
	// true true
}

// A key is shown once; afterwards only its description is known.
func ExampleOrganisation_CreateKey() {
	ctx := context.Background()
	svc, _ := demo(nil)
	defer svc.Close()

	key, text, err := svc.CreateKey(ctx, contextmem.KeySpec{Owner: "crawler", Scopes: []contextmem.Scope{contextmem.ScopeIngest}, Tenants: []string{"acme"}, TTL: 30 * 24 * time.Hour})
	check(err)
	fmt.Println(text[:8], key.AllowsTenant("acme"), key.AllowsTenant("other"))
	check(svc.RevokeKey(ctx, key.ID))
	// Output: sk_live_ true false
}

// Feedback names a recall; ratings move later rankings when Options.FeedbackBoosts is set.
func ExampleOrganisation_AddFeedback() {
	ctx := context.Background()
	svc, acme := demo(&contextmem.Options{FeedbackBoosts: true})
	defer svc.Close()
	alice := acme.Sub("alice")
	learn(alice, contextmem.Memory{ID: "cello", Text: "Alice plays the cello."})
	res, err := alice.Recall(ctx, contextmem.Recall{Class: contextmem.ClassMemory, Query: "which instrument does she play?"})
	check(err)

	f, err := svc.AddFeedback(ctx, contextmem.Feedback{RequestID: res.RequestID, Text: "right", Rating: contextmem.RatingPositive})
	check(err)
	boosts, err := acme.Boosts(ctx)
	check(err)
	fmt.Println(f.Known, len(boosts))
	// Output: true 1
}

// A connector keeps a folder in step with a tenant.
func ExampleOrganisation_CreateConnector() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	root, err := os.MkdirTemp("", "handbook")
	check(err)
	defer os.RemoveAll(root)
	check(os.WriteFile(filepath.Join(root, "leave.md"), []byte("# Leave\n\nEverybody has thirty days of leave."), 0o600))

	folders, err := filesystem.New(root)
	check(err)
	svc, acme := demo(&contextmem.Options{Providers: []contextmem.Provider{folders}})
	defer svc.Close()

	c, err := svc.CreateConnector(ctx, contextmem.ConnectorSpec{Provider: filesystem.Name, Tenant: "acme"})
	check(err)
	found, _, err := svc.Discover(ctx, c.ID, "", 0)
	check(err)
	_, err = svc.AddResources(ctx, c.ID, []contextmem.ConnectorResource{{ResourceID: found[0].ID, Name: found[0].Name, Type: found[0].Type}})
	check(err)

	for { // the first sync starts by itself
		rs, err := svc.Resources(ctx, c.ID)
		check(err)
		if rs[0].LastStatus != "" {
			fmt.Println(rs[0].LastStatus, rs[0].LastRows)
			break
		}
		select {
		case <-ctx.Done():
			check(ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
	check(svc.Drain(ctx))
	res, err := acme.Recall(ctx, contextmem.Recall{Query: "how many days of leave?"})
	check(err)
	fmt.Println(res.Chunks[0].Title)
	// Output:
	// ok 1
	// Leave
}
