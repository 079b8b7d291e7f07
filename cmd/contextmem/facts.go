package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/facts"
)

// factLine is a fact in the command's output.
type factLine struct {
	ID        string  `json:"id"`
	Subject   string  `json:"subject"`
	Predicate string  `json:"predicate"`
	Object    string  `json:"object"`
	Slot      string  `json:"slot,omitempty"`
	Status    string  `json:"status"`
	Since     string  `json:"since,omitempty"`
	Until     string  `json:"until,omitempty"`
	Learnt    string  `json:"learnt,omitempty"`
	Score     float64 `json:"confidence"`
	Evidence  string  `json:"evidence"`
	Source    string  `json:"source"`
	Successor string  `json:"superseded_by,omitempty"`
}

func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

func (a *app) factsCmd() *cobra.Command {
	var r facts.Request
	var class, asOf string
	var limit int
	c := &cobra.Command{Use: "facts [QUESTION...]", Short: "List what is believed, with the sentence that says so", Args: cobra.ArbitraryArgs,
		Long: `Facts lists the facts that inference found (add --infer) and relations of the graph. A question chooses the matter that it asks about, such as
homes or allergies; one that asks about none chooses nothing.`,
		Example: "  contextmem facts -s alice\n  contextmem facts -s alice where does she live --history\n  contextmem facts --subject Bob --predicate works_at",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := check("class", class, "memory", "knowledge"); err != nil {
				return err
			}
			if limit < 0 {
				return usage("--max: must not be negative")
			}
			r.Class, r.Question = classes[class], strings.Join(args, " ")
			if asOf != "" {
				if r.AsOf, err = readTime(asOf); err != nil {
					return err
				}
			}
			return a.memories(cmd, func(ctx context.Context, m contextmem.Memories) error {
				lines := []factLine{}
				for limit == 0 || len(lines) < limit {
					p, err := m.Facts(ctx, r)
					if err != nil {
						return err
					}
					for i := range p.Facts {
						f := &p.Facts[i]
						lines = append(lines, factLine{f.ID, f.Subject, f.Predicate, f.Object, f.Slot, string(f.Status), day(f.Since), day(f.Until), day(f.Learnt), f.Confidence,
							f.Evidence, f.SourceID, f.SupersededBy})
					}
					if r.Cursor = p.Next; p.Next == 0 {
						break
					}
				}
				if limit > 0 {
					lines = lines[:min(limit, len(lines))]
				}
				return a.show(lines, func(w io.Writer) {
					t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
					for _, f := range lines {
						fmt.Fprintf(t, "%s\t%s %s %s\t%s\t%s\n", f.Source, f.Subject, strings.ReplaceAll(f.Predicate, "_", " "), f.Object, f.Status, excerpt(f.Evidence, 80))
					}
					_ = t.Flush() // a terminal that is gone reads nothing
				})
			})
		}}
	f := c.Flags()
	f.StringVar(&class, "class", "memory", "memory or knowledge")
	f.StringVar(&r.Subject, "subject", "", "name of whom or what they are about")
	f.StringVar(&r.Predicate, "predicate", "", "predicate, such as lives_in")
	f.StringVar(&r.Slot, "slot", "", "matter, such as home, employer or allergy")
	f.BoolVar(&r.History, "history", false, "what holds no longer too")
	f.BoolVar(&r.Upcoming, "upcoming", false, "only what lies ahead")
	f.StringVar(&asOf, "as-of", "", "as it held at a date, or a time of RFC 3339")
	f.IntVarP(&limit, "max", "n", 100, "most facts; 0: all")
	return c
}
