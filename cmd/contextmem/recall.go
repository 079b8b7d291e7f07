package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/contextmem/contextmem"
)

var classes = map[string]contextmem.Class{"knowledge": contextmem.ClassKnowledge, "memory": contextmem.ClassMemory, "all": contextmem.ClassAll}

// hit is a chunk in the output of the commands.
type hit struct {
	ID           string              `json:"id"`
	Title        string              `json:"title,omitempty"`
	Heading      string              `json:"heading,omitempty"`
	Page         int                 `json:"page,omitempty"`
	Offset       int                 `json:"offset,omitempty"` // byte of the extracted text at which Text begins
	Text         string              `json:"text"`
	Passage      string              `json:"passage,omitempty"` // the part of Text that answers the query
	Statements   []string            `json:"statements,omitempty"`
	Score        float64             `json:"score"`
	Relevance    float64             `json:"relevance"`
	Since        string              `json:"valid_from,omitempty"`
	Until        string              `json:"valid_to,omitempty"`
	SupersededBy string              `json:"superseded_by,omitempty"`   // id of the superseding item
	Part         string              `json:"superseded_part,omitempty"` // the words that no longer hold, if others of the text do
	Retracted    bool                `json:"retracted,omitempty"`
	ToldLater    bool                `json:"told_later,omitempty"`    // told after --as-of
	Newer        contextmem.Status   `json:"newer_version,omitempty"` // state of a newer version that is not indexed yet
	Sub          string              `json:"sub,omitempty"`
	Updated      string              `json:"updated,omitempty"`
	Metadata     map[string]any      `json:"metadata,omitempty"`
	Explain      *contextmem.Explain `json:"explain,omitempty"`
}

func hits(res *contextmem.Result) []hit {
	out := make([]hit, len(res.Chunks))
	for i, c := range res.Chunks {
		out[i] = hit{ID: c.SourceID, Title: c.Title, Heading: c.Heading, Page: c.Page, Text: c.Text, Passage: c.Passage.Text, Statements: c.Statements, Score: c.Score, Relevance: c.Relevance,
			Since: when(c.ValidFrom), Until: when(c.ValidTo), Retracted: c.Retracted, ToldLater: c.ToldLater, Newer: c.Newer, Sub: c.Sub, Updated: when(c.UpdatedAt), Metadata: c.Metadata}
		if !c.Inferred {
			out[i].Offset = offset(c.Layout)
		}
		if c.SupersededBy != nil {
			if out[i].SupersededBy = c.SupersededBy.ID; c.SupersededBy.Partly {
				out[i].Part = c.SupersededBy.Matter
			}
		}
	}
	return out
}

// offset returns the byte offset of a chunk in the text of its document; see contextmem.Chunk.Layout.
func offset(layout string) int {
	var l struct {
		Offsets struct {
			Document int `json:"document_level_start_index"`
		} `json:"offsets"`
	}
	_ = json.Unmarshal([]byte(layout), &l) // a hit without a layout begins its document
	return l.Offsets.Document
}

// place says where in its document a hit stands: headings and page, or if it has neither, the offset.
func (h *hit) place() string {
	var parts []string
	if h.Heading != "" {
		parts = append(parts, strings.ReplaceAll(h.Heading, " > ", " › "))
	}
	if h.Page > 0 {
		parts = append(parts, fmt.Sprintf("page %d", h.Page))
	}
	if len(parts) == 0 && h.Offset > 0 {
		parts = append(parts, fmt.Sprintf("from byte %d", h.Offset))
	}
	return strings.Join(parts, ", ")
}

// timeFlags holds the flags of recall and facts that are times.
type timeFlags struct{ asOf, knownAt string }

func (t *timeFlags) define(f *pflag.FlagSet) {
	f.StringVar(&t.asOf, "as-of", "", "what was true at a date, or a time of RFC 3339; what was told later may not have been, and is marked")
	f.StringVar(&t.knownAt, "known-at", "", "only what had been told by a date, or a time of RFC 3339")
}

func (t *timeFlags) set(asOf, knownAt *time.Time) (err error) {
	for _, x := range []struct {
		name, text string
		to         *time.Time
	}{{"as-of", t.asOf, asOf}, {"known-at", t.knownAt, knownAt}} {
		if x.text == "" {
			continue
		}
		if *x.to, err = readTime(x.name, x.text); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) recallCmd() *cobra.Command {
	var class, mode, alpha, superseded string
	var filters []string
	var times timeFlags
	var explain bool
	var prompt int
	var q contextmem.Recall
	c := &cobra.Command{Use: "recall QUESTION...", Aliases: []string{"query", "search"}, Short: "Find what answers a question", Args: takes(1, anyNumber),
		Long: `Recall shows the passages that answer a question best. Where the output is not a terminal, each is a line of score, id, text, what holds no longer,
and the place in its document, with tabs between them; the last two may be missing. --json has more.`,
		Example: `  contextmem recall "how does Alice drink her coffee?" --sub alice
  contextmem recall oven cleaning --class knowledge --mode thinking --json
  contextmem recall "where did she live then?" --sub alice --as-of 2024-06-01
  contextmem recall "where does she live?" --sub alice --known-at 2024-06-01
  contextmem recall "what does she like to eat?" --sub alice --prompt 400`,
		RunE: func(cmd *cobra.Command, args []string) error {
			var ok bool
			if q.Class, ok = classes[class]; !ok {
				return check("class", class, "all", "knowledge", "memory")
			}
			if err := check("mode", mode, "fast", "thinking", "auto"); err != nil {
				return err
			}
			if err := check("superseded", superseded, "demote", "mark", "drop"); err != nil {
				return err
			}
			if q.Query = strings.Join(args, " "); strings.TrimSpace(q.Query) == "" {
				return usage("there is no question")
			}
			if prompt < 0 {
				return usage("--prompt: must not be negative")
			}
			if err := times.set(&q.AsOf, &q.KnownAt); err != nil {
				return err
			}
			q.Mode, q.Superseded = contextmem.Mode(mode), contextmem.Superseded(superseded)
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
				if explain {
					for i := range found {
						found[i].Explain = res.Chunks[i].Explain
					}
				}
				if prompt > 0 {
					return a.showPrompt(res, prompt, found, explain)
				}
				return a.show(map[string]any{"request_id": res.RequestID, "hits": found}, func(w io.Writer) { a.printHits(w, found) })
			})
		}}
	f := c.Flags()
	f.StringVar(&class, "class", "all", "knowledge (files), memory, or all")
	f.IntVarP(&q.MaxResults, "max", "n", 5, "most passages")
	f.StringVar(&mode, "mode", "fast", "fast, thinking or auto")
	f.StringVar(&alpha, "alpha", "", "weight of meaning against words, 0 to 1 or auto; empty: the default")
	f.Float64Var(&q.RecencyBias, "recency", 0, "preference for newer content, 0 to 1")
	f.Float64Var(&q.MinRelevance, "min-relevance", 0, "leave out what is less likely to answer, 0 to 1")
	times.define(f)
	f.StringVar(&superseded, "superseded", "demote", "memories that hold no longer: demote (behind what took their place), mark or drop")
	f.BoolVar(&explain, "explain", false, "the parts of each score; with --prompt on standard error")
	f.IntVar(&prompt, "prompt", 0, "one text of at most so many tokens for a prompt, with what the user always wants; 0: passages")
	f.StringArrayVarP(&filters, "filter", "f", nil, "metadata that must match, as name=value; may be repeated")
	return c
}

// showPrompt writes the text for a prompt. With explain it also says how the scores of the passages came about: as "hits" in JSON, else on
// standard error, since the text on standard output goes to a model.
func (a *app) showPrompt(res *contextmem.Result, tokens int, found []hit, explain bool) error {
	b := res.ContextBlock(tokens)
	out := map[string]any{"request_id": res.RequestID, "text": b.Text, "tokens": b.Tokens, "sources": append([]string{}, b.Sources...)}
	if explain {
		out["hits"] = found
	}
	return a.show(out, func(w io.Writer) {
		fmt.Fprint(w, b.Text)
		for i := range found {
			if h := &found[i]; h.Explain != nil {
				fmt.Fprintf(a.err, "%.3f\t%s\n", h.Score, h.ID)
				h.printParts(a.err)
			}
		}
	})
}

// words returns at most n characters of a hit's text. For a longer text it returns the passage that answers the query.
func (h *hit) words(n int) string {
	if text := excerpt(h.Text, n); h.Passage == "" || !strings.HasSuffix(text, "…") {
		return text
	}
	return excerpt(h.Passage, n)
}

// notice explains why a hit is not valid, or may not be. It is empty for a valid hit.
func (h *hit) notice() string {
	switch {
	case h.Retracted:
		return "taken back by " + h.SupersededBy
	case h.Part != "":
		return strconv.Quote(h.Part) + " superseded by " + h.SupersededBy
	case h.SupersededBy != "" && h.Until != "":
		return "held until " + h.Until[:len(time.DateOnly)] + ", then " + h.SupersededBy
	case h.SupersededBy != "":
		return "superseded by " + h.SupersededBy
	case h.ToldLater:
		return "told later, on " + h.Since[:len(time.DateOnly)] + ": may not have been true then"
	case h.Newer != "":
		return "an older version: the new one is " + string(h.Newer)
	}
	return ""
}

// printHits prints passages for people, or one line each for programs: score, id, text, the notice and the place.
func (a *app) printHits(w io.Writer, found []hit) {
	if len(found) == 0 {
		a.say("nothing was found")
	}
	for i, h := range found {
		if !a.terminal {
			line := fmt.Sprintf("%.3f\t%s\t%s", h.Score, h.ID, excerpt(h.Text, 1<<20))
			if n, p := h.notice(), h.place(); n != "" || p != "" {
				line += strings.TrimRight("\t"+n+"\t"+p, "\t")
			}
			fmt.Fprintln(w, line)
			h.printParts(w)
			continue
		}
		name := h.Title
		if name == "" {
			name = h.ID
		}
		if p := h.place(); p != "" {
			name += " › " + p
		}
		fmt.Fprintf(w, "%d. %s  (score %.2f, relevance %.2f)\n   %s\n", i+1, name, h.Score, h.Relevance, h.words(400))
		if n := h.notice(); n != "" {
			fmt.Fprintf(w, "   %s\n", n)
		}
		for _, s := range h.Statements {
			fmt.Fprintf(w, "   inferred: %s\n", s)
		}
		h.printParts(w)
	}
}

// printParts prints the nonzero parts of the score if the user requested them.
func (h *hit) printParts(w io.Writer) {
	if h.Explain == nil {
		return
	}
	v := reflect.ValueOf(*h.Explain)
	for i := range v.NumField() {
		if x, ok := v.Field(i).Interface().(float64); ok && x != 0 {
			fmt.Fprintf(w, "   %-12s %.3f\n", strings.ToLower(v.Type().Field(i).Name), x)
		}
	}
}
