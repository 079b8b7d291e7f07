package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/contextmem/contextmem"
)

// row is an item in a list.
type row struct {
	ID         string         `json:"id"`
	Class      string         `json:"class"`
	Title      string         `json:"title,omitempty"`
	Text       string         `json:"text,omitempty"`
	Status     string         `json:"status,omitempty"`
	Updated    string         `json:"updated,omitempty"`
	Metadata   map[string]any `json:"metadata,omitempty"`
	Additional map[string]any `json:"additional,omitempty"`
}

func rowOf(class string, s *contextmem.SourceInfo) row {
	return row{ID: s.ID, Class: class, Title: s.Title, Text: excerpt(s.Content, 200), Status: string(s.Status), Updated: when(s.UpdatedAt), Metadata: s.Metadata, Additional: s.Additional}
}

func (a *app) lsCmd() *cobra.Command {
	var class, status string
	var limit int
	c := &cobra.Command{Use: "ls", Aliases: []string{"list"}, Short: "List items, newest first", Args: takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := check("class", class, "all", "knowledge", "memory"); err != nil {
				return err
			}
			return a.memories(cmd, func(ctx context.Context, m contextmem.Memories) error {
				rows := []row{}
				for _, name := range []string{"knowledge", "memory"} {
					if class != "all" && class != name {
						continue
					}
					for page, more := 1, true; more && (limit == 0 || len(rows) < limit); page++ {
						p, err := m.List(ctx, contextmem.ListRequest{Class: classes[name], Page: page, PageSize: 100, Content: name == "memory"})
						if err != nil {
							return err
						}
						for i := range p.Sources {
							if status == "" || string(p.Sources[i].Status) == status {
								rows = append(rows, rowOf(name, &p.Sources[i]))
							}
						}
						more = page < p.Pages()
					}
				}
				if limit > 0 {
					rows = rows[:min(limit, len(rows))]
				}
				return a.show(rows, func(w io.Writer) {
					t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
					for _, r := range rows {
						what := r.Title
						if what == "" || what == r.ID {
							what = r.Text
						}
						fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", r.ID, r.Class, r.Status, r.Updated, excerpt(what, 70))
					}
					_ = t.Flush() // a terminal that is gone reads nothing
				})
			})
		}}
	c.Flags().StringVar(&class, "class", "all", "knowledge (files), memory, or all")
	c.Flags().StringVar(&status, "status", "", "only items in this state, such as errored")
	c.Flags().IntVarP(&limit, "max", "n", 100, "most items; 0: all")
	return c
}

func (a *app) showCmd() *cobra.Command {
	var raw, history bool
	c := &cobra.Command{Use: "show ID", Short: "Show an item with its state and its content", Args: takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if raw && history {
				return usage("--raw and --history are two things")
			}
			return a.memories(cmd, func(ctx context.Context, m contextmem.Memories) error {
				if history {
					return a.showHistory(ctx, m, args[0])
				}
				st, err := m.Status(ctx, args[0])
				if err != nil {
					return err
				}
				if st[0].Unknown {
					return fmt.Errorf("%q: %w", args[0], contextmem.ErrNotFound)
				}
				f, err := m.Fetch(ctx, contextmem.FetchRequest{ID: args[0], ParsedText: !raw})
				if err != nil {
					return err
				}
				if raw {
					_, err := io.Copy(a.out, f.Reader())
					return err
				}
				v := map[string]any{"id": args[0], "status": st[0].Status, "content_type": f.ContentType, "size": f.SizeBytes, "text": f.Text}
				for k, s := range map[string]string{"error_code": st[0].ErrorCode, "error": st[0].ErrorMessage, "hint": st[0].Hint, "inferred": f.Inferred} {
					if s != "" {
						v[k] = s
					}
				}
				return a.show(v, func(w io.Writer) {
					fmt.Fprintf(w, "id:      %s\nstatus:  %s\ntype:    %s, %d bytes\n", args[0], st[0].Status, f.ContentType, f.SizeBytes)
					if st[0].ErrorCode != "" {
						fmt.Fprintf(w, "error:   %s %s\n", st[0].ErrorCode, st[0].ErrorMessage)
					}
					if st[0].Hint != "" {
						fmt.Fprintf(w, "hint:    %s\n", st[0].Hint)
					}
					fmt.Fprintf(w, "\n%s\n", f.Text)
					if f.Inferred != "" {
						fmt.Fprintf(w, "\ninferred:\n%s\n", f.Inferred)
					}
				})
			})
		}}
	c.Flags().BoolVar(&raw, "raw", false, "write the original and nothing else")
	c.Flags().BoolVar(&history, "history", false, "show its versions, the newest first, with what changed")
	return c
}

func (a *app) rmCmd() *cobra.Command {
	var all bool
	c := &cobra.Command{Use: "rm ID...", Aliases: []string{"forget"}, Short: "Delete items, or with --all a sub-tenant",
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return usage("name items, or --all and a --sub")
			}
			if all && a.sub == "" {
				return usage("--all wants a --sub; a tenant is deleted by tenants rm")
			}
			return a.with(cmd, func(ctx context.Context, h home) error {
				if all {
					return h.DeleteSub(ctx, a.tenant, a.sub)
				}
				res, err := h.Sub(a.tenant, a.sub).DeleteItems(ctx, contextmem.DeleteItemsRequest{IDs: args})
				if err != nil {
					return err
				}
				var missing []string
				for _, it := range res.Items {
					if !it.Deleted {
						missing = append(missing, it.ID)
					}
				}
				if err := a.show(map[string]any{"deleted": res.Deleted, "missing": missing}, func(w io.Writer) { fmt.Fprintf(w, "%d deleted\n", res.Deleted) }); err != nil {
					return err
				}
				switch {
				case len(missing) == len(args):
					return fmt.Errorf("%s: %w", strings.Join(missing, ", "), contextmem.ErrNotFound)
				case len(missing) > 0:
					for _, id := range missing {
						a.say("not found: %s", id)
					}
					return errPartial
				}
				return nil
			})
		}}
	c.Flags().BoolVar(&all, "all", false, "delete the sub-tenant with everything in it")
	return c
}
