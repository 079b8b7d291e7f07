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

// factLine is a fact in the command's output, or a statement.
type factLine struct {
	ID        string   `json:"id,omitempty"`
	Subject   string   `json:"subject"`
	Predicate string   `json:"predicate,omitempty"`
	Object    string   `json:"object,omitempty"`
	Slot      string   `json:"slot,omitempty"`
	Status    string   `json:"status"` // a facts.Status, or stated
	Since     string   `json:"since,omitempty"`
	Until     string   `json:"until,omitempty"`
	Learnt    string   `json:"learnt,omitempty"`
	Score     float64  `json:"confidence"`
	Evidence  string   `json:"evidence"`
	Source    string   `json:"source"`
	Also      []string `json:"also,omitempty"` // ids of the other sources that say the same
	Successor string   `json:"superseded_by,omitempty"`
	ToldLater bool     `json:"told_later,omitempty"` // told after --as-of
}

// stated is the status of a line that shows a message about the slot from which no fact was extracted.
const stated = "stated"

// factLines returns the lines of a page: its facts, then its statements.
func factLines(p *facts.Page, subject string) []factLine {
	var lines []factLine
	for i := range p.Facts {
		f := &p.Facts[i]
		l := factLine{ID: f.ID, Subject: f.Subject, Predicate: f.Predicate, Object: f.Object, Slot: f.Slot, Status: string(f.Status), Since: day(f.Since), Until: day(f.Until),
			Learnt: day(f.Learnt), Score: f.Confidence, Evidence: f.Evidence, Source: f.SourceID, Successor: f.SupersededBy, ToldLater: f.ToldLater}
		for _, t := range f.Also {
			l.Also = append(l.Also, t.SourceID)
		}
		lines = append(lines, l)
	}
	for _, s := range p.Statements {
		lines = append(lines, factLine{Subject: subject, Slot: p.Slot, Status: stated, Learnt: day(s.Learnt), Score: s.Confidence, Evidence: s.Text, Source: s.SourceID})
	}
	return lines
}

// state is the status of a line for people. What was told after --as-of, without a beginning, may not have been true then.
func (l *factLine) state() string {
	if l.ToldLater && l.Since == "" {
		return "told later, on " + l.Learnt
	}
	return l.Status
}

// says is what a line says in short: the fact, or for a statement its slot.
func (l *factLine) says() string {
	if l.Status == stated {
		return l.Subject + ": " + strings.ReplaceAll(l.Slot, "_", " ")
	}
	return l.Subject + " " + strings.ReplaceAll(l.Predicate, "_", " ") + " " + l.Object
}

func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

func (a *app) factsCmd() *cobra.Command {
	var r facts.Request
	var class string
	var times timeFlags
	var limit int
	c := &cobra.Command{Use: "facts [QUESTION...]", Short: "List what is believed, with the sentence that says so", Args: cobra.ArbitraryArgs,
		Long: `Facts lists the facts that inference found (add --infer) and relations of the graph. A question chooses the matter that it asks about, such as
homes or allergies; one that asks about none chooses nothing.

With --subject and a matter, messages about the matter from which no fact was found follow as "stated". With --subject, a fact that several memories
tell is one line with all their ids.`,
		Example: "  contextmem facts -s alice\n  contextmem facts -s alice where do I live --history\n  contextmem facts --subject Bob --predicate works_at",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := check("class", class, "memory", "knowledge"); err != nil {
				return err
			}
			if limit < 0 {
				return usage("--max: must not be negative")
			}
			r.Class, r.Question = classes[class], strings.Join(args, " ")
			if err := times.set(&r.AsOf, &r.KnownAt); err != nil {
				return err
			}
			return a.memories(cmd, func(ctx context.Context, m contextmem.Memories) error {
				lines := []factLine{}
				for limit == 0 || len(lines) < limit {
					p, err := m.Facts(ctx, r)
					if err != nil {
						return err
					}
					if r.Question != "" && p.Slot == "" && r.Cursor == 0 {
						a.say("the question names no matter such as home or allergy for sure, so all facts follow; --slot chooses one")
					}
					lines = append(lines, factLines(p, r.Subject)...)
					if r.Cursor = p.Next; p.Next == 0 {
						break
					}
				}
				if limit > 0 {
					lines = lines[:min(limit, len(lines))]
				}
				return a.show(lines, func(w io.Writer) {
					t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
					for i := range lines {
						l := &lines[i]
						sources := strings.Join(append([]string{l.Source}, l.Also...), ", ")
						fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", sources, l.says(), l.state(), excerpt(l.Evidence, 80))
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
	times.define(f)
	f.IntVarP(&limit, "max", "n", 100, "most facts; 0: all")
	return c
}
