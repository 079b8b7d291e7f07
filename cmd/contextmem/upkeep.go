package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/shared"
)

// onDirectory runs f on the directory of --data. The commands that use it are not available over REST.
func (a *app) onDirectory(cmd *cobra.Command, f func(ctx context.Context, d *shared.Deployment) error) error {
	if a.url != "" {
		return usageError{errLocal}
	}
	if _, err := os.Stat(a.data); err != nil {
		return usage("--data: there is no such directory")
	}
	return a.with(cmd, func(ctx context.Context, h home) error { return f(ctx, h.(*shared.Deployment)) })
}

func (a *app) backupCmd() *cobra.Command {
	return &cobra.Command{Use: "backup DIR", Short: "Copy everything to a directory, while it is in use", Args: takes(1, 1),
		Long: `Backup writes a copy of all tenants, with the key file that seals secrets, to a directory that is absent, empty or holds an earlier backup, which
is brought up to date: tenants that did not change are not copied again. Restore makes a directory for --data of it. Search indexes are left out:
they are built again from the stored vectors.`,
		Example: "  contextmem backup /mnt/backup/memory\n  contextmem restore /mnt/backup/memory --data ~/memory",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onDirectory(cmd, func(ctx context.Context, d *shared.Deployment) error {
				start := time.Now()
				r, err := d.Backup(ctx, args[0])
				if err != nil {
					return err
				}
				return a.show(map[string]any{"at": r.At, "copied": r.Copied, "kept": r.Kept, "failed": r.Failed, "bytes": r.Bytes}, func(w io.Writer) {
					fmt.Fprintf(w, "%d tenants copied, %d had not changed; %s in %v\n", r.Copied, r.Kept, size(r.Bytes), time.Since(start).Round(time.Millisecond))
				})
			})
		}}
}

// size formats a number of bytes for display.
func size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.0f KiB", float64(n)/(1<<10))
}

func (a *app) restoreCmd() *cobra.Command {
	return &cobra.Command{Use: "restore BACKUP", Short: "Make the directory of --data of a backup", Args: takes(1, 1),
		Long: `Restore makes the directory of --data, which must be absent or empty, of what "contextmem backup" wrote. The backup is checked while it is read; a
damaged one leaves nothing behind.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.url != "" {
				return usageError{errLocal}
			}
			if i, err := os.Stat(args[0]); err != nil || !i.IsDir() {
				return usage("%s: is no directory that can be read", args[0])
			}
			if err := makeData(filepath.Dir(filepath.Clean(a.data))); err != nil {
				return err
			}
			if err := contextmem.Restore(cmd.Context(), args[0], a.data); err != nil {
				return err
			}
			return a.show(map[string]any{"data": a.data}, func(w io.Writer) { fmt.Fprintf(w, "restored to %s\n", a.data) })
		}}
}

// problem is one damage found by verify.
type problem struct {
	Org    string `json:"org,omitempty"`
	Tenant string `json:"tenant,omitempty"`
	Where  string `json:"where"`
	Sub    string `json:"sub,omitempty"`
	ID     string `json:"id,omitempty"`
	What   string `json:"what"`
}

func (a *app) verifyCmd() *cobra.Command {
	return &cobra.Command{Use: "verify", Short: "Look for damage in everything that is stored", Args: takes(0, 0),
		Long: `Verify compares the checksums of all rows and index files and looks every chunk up in the indexes. It repairs nothing. It ends with code 1 when
something is damaged: items that are named are to be ingested again or deleted; damaged indexes are built anew by themselves.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.onDirectory(cmd, func(ctx context.Context, d *shared.Deployment) error {
				r, err := d.Verify(ctx)
				if err != nil {
					return err
				}
				found := []problem{}
				for _, p := range r.Problems {
					found = append(found, problem{p.Org, p.Tenant, p.Where, p.Sub, p.ItemID, p.What})
				}
				err = a.show(map[string]any{"ok": r.OK(), "tenants": r.Tenants, "rows": r.Rows, "chunks": r.Indexed, "bytes": r.Bytes, "found": r.Found, "problems": found}, func(w io.Writer) {
					for _, p := range found {
						fmt.Fprintf(w, "damaged: %s\t%s\t%s\t%s\t%s\n", p.Tenant, p.Where, p.Sub, p.ID, p.What)
					}
					fmt.Fprintf(w, "%d problems in %d tenants: %d rows, %d chunks, %s of indexes read in %v\n", r.Found, r.Tenants, r.Rows, r.Indexed, size(r.Bytes), r.Took.Round(time.Millisecond))
				})
				if err == nil && !r.OK() {
					err = errors.New("something is damaged")
				}
				return err
			})
		}}
}
