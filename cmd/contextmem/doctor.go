package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/shared"
)

// finding is the result of one check.
type finding struct {
	What  string `json:"what"`
	State string `json:"state"` // ok, note, bad
	Text  string `json:"text"`
}

func (a *app) doctorCmd() *cobra.Command {
	return &cobra.Command{Use: "doctor", Short: "Say what is well and what is not", Args: takes(0, 0),
		Long: `Doctor looks at the directory, who owns it, the embedder, the programs that some formats need, and at every tenant with its items that failed.
It ends with code 1 when something is bad.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var list []finding
			say := func(state, what, format string, args ...any) {
				list = append(list, finding{what, state, fmt.Sprintf(format, args...)})
			}
			say("ok", "program", "contextmem %s, %s on %s/%s", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			for _, p := range [...]struct{ name, use string }{{"tesseract", "--ocr"}, {"pdftoppm", "--ocr of scanned PDF documents"}, {"pdftotext", "--pdftotext"}} {
				if _, err := exec.LookPath(p.name); err != nil {
					say("note", p.name, "is not installed; %s needs it", p.use)
				} else {
					say("ok", p.name, "is installed")
				}
			}
			a.examine(cmd, say)
			if err := a.show(list, func(w io.Writer) {
				for _, f := range list {
					fmt.Fprintf(w, "%-5s %-12s %s\n", f.State, f.What, f.Text)
				}
			}); err != nil {
				return err
			}
			for _, f := range list {
				if f.State == "bad" {
					return errors.New("something is bad")
				}
			}
			return nil
		}}
}

// examine checks the home.
func (a *app) examine(cmd *cobra.Command, say func(state, what, format string, args ...any)) {
	ctx := cmd.Context()
	if a.url == "" {
		o, err := a.engine.options(a.streams.err)
		if err != nil {
			say("bad", "options", "%s", message(err))
			return
		}
		start := time.Now()
		if _, err := o.Embedder.EmbedQuery(ctx, "Is the embedder well?"); err != nil {
			say("bad", "embedder", "%s does not answer", o.Embedder.Model())
		} else {
			say("ok", "embedder", "%s, %d dimensions, first text in %v", o.Embedder.Model(), o.Embedder.Dim(), time.Since(start).Round(time.Millisecond))
		}
		if _, err := os.Stat(filepath.Join(a.data, "deployment.db")); err != nil {
			say("note", "directory", "there is none yet: the first command makes it")
			return
		}
	}
	start := time.Now()
	err := a.with(cmd, func(ctx context.Context, h home) error {
		switch d := h.(type) {
		case *shared.Deployment:
			if d.Service() == nil {
				say("ok", "directory", "another process owns it, which answers")
			} else {
				say("ok", "directory", "opened in %v", time.Since(start).Round(time.Millisecond))
			}
		default:
			say("ok", "server", "is asked over REST")
		}
		ts, err := h.Tenants(ctx)
		if err != nil {
			return err
		}
		say("ok", "tenants", "%d", len(ts))
		for _, t := range ts {
			if err := a.examineTenant(ctx, h, t, say); err != nil {
				say("bad", t.ID, "%s", message(err))
			}
		}
		return nil
	})
	if err != nil {
		say("bad", "home", "%s", message(err))
	}
}

func (a *app) examineTenant(ctx context.Context, h home, t contextmem.TenantInfo, say func(state, what, format string, args ...any)) error {
	subs, err := h.Subs(ctx, t.ID)
	if err != nil {
		return err
	}
	items, errored := 0, 0
	for _, s := range subs {
		items += s.Knowledge + s.Memory
		for page := 1; s.Knowledge > 0; page++ {
			p, err := h.Sub(t.ID, s.Name).List(ctx, contextmem.ListRequest{Page: page, PageSize: 100})
			if err != nil {
				return err
			}
			for _, x := range p.Sources {
				if x.Status == contextmem.StatusErrored {
					errored++
				}
			}
			if page >= p.Pages() {
				break
			}
		}
	}
	state := "ok"
	if errored > 0 {
		state = "note"
	}
	say(state, t.ID, "%s, %d sub-tenants, %d items, %d failed files (ls --status errored, show ID)", t.State, len(subs), items, errored)
	return nil
}
