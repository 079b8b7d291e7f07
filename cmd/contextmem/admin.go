package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/contextmem/contextmem"
)

func (a *app) tenantsCmd() *cobra.Command {
	c := &cobra.Command{Use: "tenants", Short: "List tenants, or manage them", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd, func(ctx context.Context, h home) error {
				ts, err := h.Tenants(ctx)
				if err != nil {
					return err
				}
				type sub struct {
					Name              string
					Knowledge, Memory int
				}
				type tenant struct {
					ID      string                `json:"id"`
					State   string                `json:"state"`
					Created string                `json:"created,omitempty"`
					Subs    []contextmem.SubStats `json:"subs"`
				}
				list := []tenant{}
				for _, t := range ts {
					subs, err := h.Subs(ctx, t.ID)
					if err != nil && !errors.Is(err, contextmem.ErrNotReady) {
						return err
					}
					list = append(list, tenant{t.ID, string(t.State), when(t.CreatedAt), subs})
				}
				return a.show(list, func(w io.Writer) {
					tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
					for _, t := range list {
						sum := sub{}
						for _, s := range t.Subs {
							sum.Knowledge += s.Knowledge
							sum.Memory += s.Memory
						}
						fmt.Fprintf(tw, "%s\t%s\t%d sub-tenants\t%d files and app items\t%d memories\n", t.ID, t.State, len(t.Subs), sum.Knowledge, sum.Memory)
					}
					_ = tw.Flush() // a terminal that is gone reads nothing
				})
			})
		}}
	var match []string
	create := &cobra.Command{Use: "create ID", Short: "Make a tenant", Args: takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			spec := contextmem.TenantSpec{ID: args[0]}
			for _, n := range match {
				spec.Schema = append(spec.Schema, contextmem.Field{Name: n, Match: true})
			}
			return a.with(cmd, func(ctx context.Context, h home) error {
				if err := h.CreateTenant(ctx, spec); err != nil {
					return err
				}
				return a.show(map[string]any{"id": spec.ID, "state": contextmem.TenantReady}, func(w io.Writer) { fmt.Fprintf(w, "%s is ready\n", spec.ID) })
			})
		}}
	create.Flags().StringSliceVar(&match, "filterable", nil, "names of metadata that recall can filter by")
	rm := &cobra.Command{Use: "rm ID", Short: "Delete a tenant and everything in it", Args: takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd, func(ctx context.Context, h home) error {
				if err := h.DeleteTenant(ctx, args[0]); err != nil {
					return err
				}
				return a.show(map[string]any{"deleted": args[0]}, func(w io.Writer) { fmt.Fprintf(w, "%s is deleted\n", args[0]) })
			})
		}}
	c.AddCommand(create, rm)
	return c
}

func (a *app) keysCmd() *cobra.Command {
	c := &cobra.Command{Use: "keys", Short: "List API keys, or manage them", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd, func(ctx context.Context, h home) error {
				ks, err := h.Keys(ctx)
				if err != nil {
					return err
				}
				type key struct {
					ID      string             `json:"id"`
					Owner   string             `json:"owner,omitempty"`
					Scopes  []contextmem.Scope `json:"scopes,omitempty"`
					Tenants []string           `json:"tenants,omitempty"`
					Created string             `json:"created,omitempty"`
					Expires string             `json:"expires,omitempty"`
				}
				list := make([]key, len(ks))
				for i, k := range ks {
					list[i] = key{k.ID, k.Owner, k.Scopes, k.Tenants, when(k.CreatedAt), when(k.ExpiresAt)}
				}
				return a.show(list, func(w io.Writer) {
					tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
					for _, k := range list {
						may := "everything"
						if len(k.Scopes) > 0 {
							may = strings.Trim(fmt.Sprint(k.Scopes), "[]")
						}
						if len(k.Tenants) > 0 {
							may += " in " + strings.Join(k.Tenants, ", ")
						}
						fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", k.ID, k.Owner, may, k.Expires)
					}
					_ = tw.Flush() // a terminal that is gone reads nothing
				})
			})
		}}
	var spec contextmem.KeySpec
	var scopes []string
	create := &cobra.Command{Use: "create", Short: "Make an API key and show it, this once", Args: takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, s := range scopes {
				if err := check("scopes", s, "ingest", "query", "manage"); err != nil {
					return err
				}
				spec.Scopes = append(spec.Scopes, contextmem.Scope(s))
			}
			return a.with(cmd, func(ctx context.Context, h home) error {
				k, text, err := h.CreateKey(ctx, spec)
				if err != nil {
					return err
				}
				return a.show(map[string]any{"id": k.ID, "key": text}, func(w io.Writer) { fmt.Fprintln(w, text) })
			})
		}}
	f := create.Flags()
	f.StringVar(&spec.Owner, "owner", "", "free text: whose key it is")
	f.StringSliceVar(&scopes, "scopes", nil, "what it may do: ingest, query, manage; none: everything")
	f.StringSliceVar(&spec.Tenants, "tenants", nil, "the tenants that it may touch; none: all")
	f.DurationVar(&spec.TTL, "ttl", 0, "time until it expires; 0: never")
	rm := &cobra.Command{Use: "rm ID", Aliases: []string{"revoke"}, Short: "End a key at once", Args: takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd, func(ctx context.Context, h home) error {
				if err := h.RevokeKey(ctx, args[0]); err != nil {
					return err
				}
				return a.show(map[string]any{"revoked": args[0]}, func(w io.Writer) { fmt.Fprintf(w, "%s has ended\n", args[0]) })
			})
		}}
	c.AddCommand(create, rm)
	return c
}

func (a *app) reembedCmd() *cobra.Command {
	return &cobra.Command{Use: "reembed", Short: "Make the vectors of the tenant anew with the embedder of --embedder", Args: takes(0, 0),
		Long: `Reembed brings a tenant to the embedder of --embedder. Recall goes on meanwhile: with the old vectors where --previous-embedders names what
made them, else with keywords alone. A call that is interrupted goes on where it stopped when it is repeated.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd, func(ctx context.Context, h home) error {
				start := time.Now()
				n, err := h.Reembed(ctx, a.tenant)
				if err != nil {
					return err
				}
				return a.show(map[string]any{"items": n}, func(w io.Writer) {
					fmt.Fprintf(w, "%d items in %v\n", n, time.Since(start).Round(time.Millisecond))
				})
			})
		}}
}

func manCmd() *cobra.Command {
	return &cobra.Command{Use: "man DIR", Short: "Write the manual pages into a directory", Args: takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return usage("%s: can't be made", args[0])
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			return doc.GenManTree(root, &doc.GenManHeader{Title: "CONTEXTMEM", Section: "1", Source: "contextmem", Manual: "contextmem"}, args[0])
		}}
}
