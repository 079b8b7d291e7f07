package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/wire"
)

// maxReceipt bounds the file of a receipt, in bytes: 10,000 ids of 256 bytes, with room to spare.
const maxReceipt = 16 << 20

func (a *app) eraseCmd() *cobra.Command {
	var q contextmem.EraseRequest
	var everywhere bool
	var receipt string
	c := &cobra.Command{Use: "erase ID...", Short: "Delete items for good, from every file, and write a signed receipt",
		Long: "Erase deletes items, rewrites the files that held them, and writes a signed receipt as JSON. It erases the items named, or with --user-name the memories\n" +
			"of a user, or with --all everything, in one sub-tenant, or with --everywhere in all of the tenant. Backups and exports made before keep what they have.",
		Example: "  contextmem erase -s alice coffee > receipt.json\n  contextmem erase --everywhere --user-name Alice > receipt.json\n  contextmem erase --verify receipt.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if receipt != "" {
				if len(args) > 0 || q.All || q.User != "" || everywhere {
					return usage("--verify stands alone")
				}
				return a.verifyReceipt(cmd, receipt)
			}
			switch q.IDs = args; {
			case len(args) == 0 && q.User == "" && !q.All:
				return usage("name items, or --user-name, or --all")
			case len(args) > 0 && (q.User != "" || q.All), q.User != "" && q.All:
				return usage("name items, or --user-name, or --all: one of them")
			case everywhere && a.sub != "":
				return usage("--everywhere and --sub are two things")
			case q.All && !everywhere && a.sub == "":
				return usage("--all wants a --sub, or --everywhere")
			}
			if len(args) == 0 {
				q.IDs = nil
			}
			return a.with(cmd, func(ctx context.Context, h home) error {
				var r contextmem.EraseReceipt
				var err error
				if everywhere {
					r, err = h.EraseTenant(ctx, a.tenant, q)
				} else {
					r, err = h.Erase(ctx, a.tenant, a.sub, q)
				}
				if err != nil {
					return err
				}
				a.say("%d erased", r.Items)
				for _, place := range r.Remains {
					a.say("may be left: %s", place)
				}
				e := json.NewEncoder(a.out)
				e.SetEscapeHTML(false)
				e.SetIndent("", "  ")
				return e.Encode(wire.OfReceipt(&r))
			})
		}}
	c.Flags().StringVar(&q.User, "user-name", "", "erase the memories of the user of this name, which were added with it")
	c.Flags().BoolVar(&q.All, "all", false, "erase everything in the sub-tenant")
	c.Flags().BoolVar(&everywhere, "everywhere", false, "in all sub-tenants of the tenant")
	c.Flags().StringVar(&receipt, "verify", "", "erase nothing: check that the receipt in this file is of this deployment and unchanged")
	return c
}

// verifyReceipt checks the receipt in a file.
func (a *app) verifyReceipt(cmd *cobra.Command, path string) error {
	f, err := os.Open(path)
	if err != nil {
		var reason *os.PathError
		if errors.As(err, &reason) {
			err = reason.Err
		}
		return usage("--verify: %q can't be read: %v", path, err)
	}
	defer f.Close()
	var row wire.Receipt
	if err := json.NewDecoder(io.LimitReader(f, maxReceipt)).Decode(&row); err != nil {
		return usage("--verify: %q is not a receipt", path)
	}
	return a.with(cmd, func(ctx context.Context, h home) error {
		r := row.Receipt()
		if err := h.VerifyReceipt(ctx, r); err != nil {
			return err
		}
		return a.show(map[string]any{"id": r.ID, "verified": true}, func(w io.Writer) {
			fmt.Fprintf(w, "the receipt is of this deployment and unchanged: %d erased in %s by %s\n", r.Items, r.Tenant, when(r.Ended))
		})
	})
}
