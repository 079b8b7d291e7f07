package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/contextmem/contextmem"
)

var classes = map[string]contextmem.Class{"knowledge": contextmem.ClassKnowledge, "memory": contextmem.ClassMemory, "all": contextmem.ClassAll}

// hit is a chunk as the commands show it.
type hit struct {
	ID       string         `json:"id"`
	Title    string         `json:"title,omitempty"`
	Heading  string         `json:"heading,omitempty"`
	Text     string         `json:"text"`
	Passage  string         `json:"passage,omitempty"` // the part of Text that answers
	Score    float64        `json:"score"`
	Sub      string         `json:"sub,omitempty"`
	Updated  string         `json:"updated,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`
}

func hits(res *contextmem.Result) []hit {
	out := make([]hit, len(res.Chunks))
	for i, c := range res.Chunks {
		out[i] = hit{ID: c.SourceID, Title: c.Title, Heading: c.Heading, Text: c.Text, Passage: c.Passage.Text, Score: c.Score, Sub: c.Sub, Metadata: c.Metadata}
		if !c.UpdatedAt.IsZero() {
			out[i].Updated = c.UpdatedAt.UTC().Format("2006-01-02T15:04:05Z07:00")
		}
	}
	return out
}

func (a *app) recallCmd() *cobra.Command {
	var class, mode, alpha string
	var filters []string
	var q contextmem.Recall
	c := &cobra.Command{Use: "recall QUESTION...", Aliases: []string{"query", "search"}, Short: "Find what answers a question", Args: cobra.MinimumNArgs(1),
		Example: `  contextmem recall "how does Alice drink her coffee?" --sub alice
  contextmem recall oven cleaning --class knowledge --mode thinking --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			var ok bool
			if q.Class, ok = classes[class]; !ok {
				return check("class", class, "all", "knowledge", "memory")
			}
			if err := check("mode", mode, "fast", "thinking", "auto"); err != nil {
				return err
			}
			q.Query, q.Mode = strings.Join(args, " "), contextmem.Mode(mode)
			switch alpha {
			case "":
			case "auto":
				q.Alpha = contextmem.AutoAlpha()
			default:
				v, err := strconv.ParseFloat(alpha, 64)
				if err != nil {
					return usage("--alpha: wants a number from 0 to 1, or auto")
				}
				q.Alpha = contextmem.FixedAlpha(v)
			}
			var err error
			if q.Filters.Metadata, err = pairs("filter", filters); err != nil {
				return err
			}
			return a.memories(cmd, func(ctx context.Context, m contextmem.Memories) error {
				res, err := m.Recall(ctx, q)
				if err != nil {
					return err
				}
				for _, w := range res.Warnings {
					a.say("warning: %s", w.Message)
				}
				found := hits(res)
				return a.show(map[string]any{"request_id": res.RequestID, "hits": found}, func(w io.Writer) { a.printHits(w, found) })
			})
		}}
	f := c.Flags()
	f.StringVar(&class, "class", "all", "knowledge (files), memory, or all")
	f.IntVarP(&q.MaxResults, "max", "n", 5, "most passages")
	f.StringVar(&mode, "mode", "fast", "fast, thinking or auto")
	f.StringVar(&alpha, "alpha", "", "weight of meaning against words, 0 to 1 or auto; empty: the default")
	f.Float64Var(&q.RecencyBias, "recency", 0, "preference for newer content, 0 to 1")
	f.StringArrayVarP(&filters, "filter", "f", nil, "metadata that must match, as name=value; may be repeated")
	return c
}

// words are the text of a hit of at most n characters, of a longer one the passage that answers.
func (h *hit) words(n int) string {
	if text := excerpt(h.Text, n); h.Passage == "" || !strings.HasSuffix(text, "…") {
		return text
	}
	return excerpt(h.Passage, n)
}

// printHits writes passages for people, or a line each for programs.
func (a *app) printHits(w io.Writer, found []hit) {
	if len(found) == 0 {
		a.say("nothing was found")
	}
	for i, h := range found {
		name := h.Title
		if name == "" {
			name = h.ID
		}
		if h.Heading != "" {
			name += " › " + h.Heading
		}
		if !a.terminal {
			fmt.Fprintf(w, "%.3f\t%s\t%s\n", h.Score, h.ID, excerpt(h.Text, 1<<20))
			continue
		}
		fmt.Fprintf(w, "%d. %s  (%.2f)\n   %s\n", i+1, name, h.Score, h.words(400))
	}
}
