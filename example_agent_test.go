package contextmem_test

import (
	"context"
	"fmt"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/facts"
)

// An agent keeps a conversation, and asks before the next turn what holds of the user.
func Example_agent() {
	ctx := context.Background()
	svc, err := contextmem.New(ctx, inmem.New(), nil)
	if err != nil {
		panic(err)
	}
	defer svc.Close()
	if _, err := svc.EnsureTenant(ctx, contextmem.TenantSpec{ID: "acme"}); err != nil {
		panic(err)
	}
	anna := svc.Tenant("acme").Sub("anna")
	day := time.Date(2024, 3, 1, 9, 0, 0, 0, time.UTC)
	_, err = anna.Remember(ctx,
		contextmem.Memory{ID: "first", Session: "chat", Infer: true, UserName: "Anna", Messages: []contextmem.Message{
			{Role: content.RoleUser, Text: "I live in Oslo. Always answer in French.", Time: day}, {Role: content.RoleAssistant, Text: "I love Oslo."}}},
		contextmem.Memory{ID: "second", Session: "chat", Infer: true, UserName: "Anna", Messages: []contextmem.Message{
			{Role: content.RoleUser, Text: "I moved to Lisbon.", Time: day.AddDate(0, 0, 9)}}})
	if err != nil {
		panic(err)
	}
	p, err := anna.Profile(ctx, facts.ProfileRequest{Subject: "Anna", Slots: []string{"home"}})
	if err != nil {
		panic(err)
	}
	fmt.Print(p.Summary)
	fmt.Println(p.Instructions[0].Text)
	past, err := anna.Facts(ctx, facts.Request{Subject: "Anna", Question: "Where do I live?", History: true})
	if err != nil {
		panic(err)
	}
	for _, f := range past.Facts {
		fmt.Println(f.Object, f.Status)
	}
	// Output:
	// I moved to Lisbon.
	// Anna wants the assistant to always answer in French.
	// oslo superseded
	// lisbon current
}

// What took the place of a memory comes first, and the other says that it holds no longer.
func ExampleSub_Remember_changed() {
	ctx := context.Background()
	svc, err := contextmem.New(ctx, inmem.New(), nil)
	if err != nil {
		panic(err)
	}
	defer svc.Close()
	if _, err := svc.EnsureTenant(ctx, contextmem.TenantSpec{ID: "acme"}); err != nil {
		panic(err)
	}
	notes := svc.Tenant("acme").Sub("notes")
	for _, text := range []string{"Alice lives in Bonn.", "Alice moved to Oslo and no longer lives in Bonn."} {
		if _, err := notes.Remember(ctx, contextmem.Memory{Text: text}); err != nil {
			panic(err)
		}
	}
	res, err := notes.Recall(ctx, contextmem.Recall{Class: contextmem.ClassMemory, Query: "where does Alice live?"})
	if err != nil {
		panic(err)
	}
	for _, c := range res.Chunks {
		fmt.Println(c.Text, "holds:", c.SupersededBy == nil)
	}
	// Output:
	// Alice moved to Oslo and no longer lives in Bonn. holds: true
	// Alice lives in Bonn. holds: false
}
