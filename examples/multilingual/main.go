// Command multilingual remembers in one language and asks in another, offline: the embedding model is built into the program.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/contextmem/contextmem"
	e5 "github.com/contextmem/contextmem/models/multilingual-e5-small"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "contextmem-multilingual-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	model, err := e5.New()
	if err != nil {
		return err
	}
	svc, err := contextmem.Open(ctx, dir, &contextmem.Options{Embedder: model})
	if err != nil {
		return err
	}
	defer svc.Close()
	if _, err := svc.CreateTenant(ctx, contextmem.TenantSpec{ID: "acme"}); err != nil {
		return err
	}
	acme := svc.Tenant("acme")
	if err := acme.WaitReady(ctx); err != nil {
		return err
	}
	if _, err := acme.AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{
		{Text: "Ich vertrage keine Erdnüsse, davon schwillt mir der Hals zu."},
		{Text: "Le samedi matin, je cours douze kilomètres au bord du lac."},
		{Text: "Mi hermana trabaja de enfermera en el hospital de Cádiz."},
		{Text: "週末はたいてい庭で野菜を育てています。"},
		{Text: "The car is at the garage until Thursday because of the brakes."},
	}}); err != nil {
		return err
	}
	if err := svc.Drain(ctx); err != nil {
		return err
	}
	for _, question := range []string{
		"What am I allergic to?",
		"When do I go running?",
		"Wo arbeitet meine Schwester?",
		"Que fais-je de mon temps libre au jardin ?",
	} {
		res, err := acme.Recall(ctx, contextmem.Recall{Class: contextmem.ClassMemory, Query: question, MaxResults: 1})
		if err != nil {
			return err
		}
		fmt.Println(question)
		for _, c := range res.Chunks {
			fmt.Println("  ", c.Text)
		}
	}
	return nil
}
