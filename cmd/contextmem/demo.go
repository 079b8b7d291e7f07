package main

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path"
	"time"

	"github.com/spf13/cobra"

	"github.com/contextmem/contextmem"
)

//go:embed demo
var demoFiles embed.FS

// demoTenant contains the documents and the conversation of the demo.
const demoTenant = "demo"

// demoQuestions are example questions about the documents (no sub-tenant) or about the conversation.
var demoQuestions = []struct{ sub, text string }{
	{"", "What should I do when the burners stop working?"},
	{"", "Which cookies are safe for someone who can't eat wheat?"},
	{"noor", "What is Noor's sibling called, and where does he live?"},
	{"noor", "Is there any food that Noor must avoid?"},
}

func (a *app) demoCmd() *cobra.Command {
	var serve bool
	flags := serveFlags{shutdown: 10 * time.Second, rate: 100}
	c := &cobra.Command{Use: "demo", Short: "Load a bakery's documents and a conversation, and ask about them", Args: takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if serve && a.url != "" {
				return usage("--url: demo --serve works on a directory")
			}
			err := a.with(cmd, func(ctx context.Context, h home) error {
				if err := h.EnsureTenant(ctx, demoTenant); err != nil {
					return err
				}
				start := time.Now()
				if err := loadDemo(ctx, h); err != nil {
					return err
				}
				a.say("loaded in %v", time.Since(start).Round(time.Millisecond))
				type answer struct {
					Sub      string `json:"sub,omitempty"`
					Question string `json:"question"`
					Hits     []hit  `json:"hits"`
				}
				var answers []answer
				for _, q := range demoQuestions {
					res, err := h.Sub(demoTenant, q.sub).Recall(ctx, contextmem.Recall{Class: contextmem.ClassAll, Query: q.text, MaxResults: 2})
					if err != nil {
						return err
					}
					answers = append(answers, answer{q.sub, q.text, hits(res)})
				}
				return a.show(answers, func(w io.Writer) {
					for _, x := range answers {
						fmt.Fprintf(w, "\n? %s\n", x.Question)
						a.printHits(w, x.Hits)
					}
					fmt.Fprintf(w, "\nAsk on: contextmem recall -t %s -s noor \"...\"\nLook inside: contextmem demo --serve, at http://127.0.0.1:8080/console/\nServe it: contextmem serve\nForget it: contextmem tenants rm %s\n", demoTenant, demoTenant)
				})
			})
			if err != nil || !serve {
				return err
			}
			return a.serveDemo(cmd.Context(), &flags)
		}}
	c.Flags().BoolVar(&serve, "serve", false, "then serve it with its console, and show a key for that")
	c.Flags().StringVar(&flags.addr, "addr", "127.0.0.1:8080", "address to listen on, with --serve")
	return c
}

// loadPersona adds the messages of the persona Noor over half a year. Some later ones supersede earlier ones.
func loadPersona(ctx context.Context, h home) error {
	var b contextmem.MemoryBatch
	for i, m := range []struct{ day, text string }{
		{"2026-02-03", "I live in Lyon with my brother Samir."},
		{"2026-03-01", "I work as a pastry cook at Maison Blanche."},
		{"2026-03-20", "I like cinnamon buns with butter."},
		{"2026-05-20", "I no longer live in Lyon, I moved to Marseille."},
		{"2026-06-10", "I left Maison Blanche; I now run my own bakery, Little Anchor."},
	} {
		at, err := time.Parse("2006-01-02", m.day)
		if err != nil {
			return err
		}
		b.Memories = append(b.Memories, contextmem.Memory{ID: fmt.Sprintf("noor-%02d", i), Text: m.text, UserName: "Noor", Infer: true, Time: at})
	}
	sub := h.Sub(demoTenant, "noor")
	res, err := sub.AddMemories(ctx, b)
	if err != nil {
		return err
	}
	_, err = sub.Wait(ctx, res.IDs()...)
	return err
}

// loadDemo stores the files as knowledge and the conversation as memories of Noor.
func loadDemo(ctx context.Context, h home) error {
	entries, err := fs.ReadDir(demoFiles, "demo")
	if err != nil {
		return err
	}
	var know contextmem.KnowledgeBatch
	var talk contextmem.MemoryBatch
	for _, e := range entries {
		b, err := demoFiles.ReadFile(path.Join("demo", e.Name()))
		if err != nil {
			return err
		}
		if e.Name() != "conversation.json" {
			know.Files = append(know.Files, contextmem.File{ID: e.Name(), Name: e.Name(), Data: b})
			continue
		}
		var turns []struct {
			Time time.Time
			Text string
		}
		if err := json.Unmarshal(b, &turns); err != nil {
			return err
		}
		for i, t := range turns {
			talk.Memories = append(talk.Memories, contextmem.Memory{ID: fmt.Sprintf("turn-%02d", i), Text: t.Text, Time: t.Time})
		}
	}
	files, err := h.Sub(demoTenant, "").AddKnowledge(ctx, know)
	if err != nil {
		return err
	}
	turns, err := h.Sub(demoTenant, "noor").AddMemories(ctx, talk)
	if err != nil {
		return err
	}
	if _, err := h.Sub(demoTenant, "").Wait(ctx, files.IDs()...); err != nil {
		return err
	}
	_, err = h.Sub(demoTenant, "noor").Wait(ctx, turns.IDs()...)
	return err
}
