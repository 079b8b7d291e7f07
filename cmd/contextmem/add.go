package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/contextmem/contextmem"
)

// maxStdin is the maximal size of a memory read from standard input. It equals the library's maximum.
const maxStdin = 1 << 30

func (a *app) addCmd() *cobra.Command {
	var m contextmem.Memory
	var at string
	var metadata []string
	var noWait bool
	c := &cobra.Command{Use: "add [TEXT...]", Short: "Remember a text, or what standard input holds", Args: cobra.ArbitraryArgs,
		Example: `  contextmem add "Alice takes her coffee black." --sub alice
  contextmem add --id standup < notes.md`,
		RunE: func(cmd *cobra.Command, args []string) error {
			m.Text = strings.Join(args, " ")
			if len(args) == 0 {
				b, err := io.ReadAll(io.LimitReader(a.in, maxStdin))
				if err != nil {
					return errors.New("standard input can't be read")
				}
				m.Text = string(b)
			}
			if strings.TrimSpace(m.Text) == "" {
				return usage("there is no text to remember")
			}
			var err error
			if m.Metadata, err = pairs("metadata", metadata); err != nil {
				return err
			}
			if at != "" {
				if m.Time, err = readTime("time", at); err != nil {
					return err
				}
			}
			return a.with(cmd, func(ctx context.Context, h home) error {
				if err := h.EnsureTenant(ctx, a.tenant); err != nil {
					return err
				}
				to := h.Sub(a.tenant, a.sub)
				res, err := to.AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{m}})
				if err != nil {
					return err
				}
				if res.Items[0].Err != nil {
					return res.Items[0].Err
				}
				id, status := res.Items[0].ID, contextmem.StatusQueued
				if !noWait {
					st, err := to.Wait(ctx, id)
					if err != nil {
						return err
					}
					if status = st[0].Status; status == contextmem.StatusErrored {
						return fmt.Errorf("%s: %s %s", id, st[0].ErrorCode, st[0].ErrorMessage)
					}
					a.settle(ctx, h)
				}
				return a.show(map[string]any{"id": id, "status": status}, func(w io.Writer) { fmt.Fprintln(w, id) })
			})
		}}
	f := c.Flags()
	f.StringVar(&m.ID, "id", "", "id; the same one again replaces the memory; empty: a new one")
	f.StringVar(&m.Title, "title", "", "title")
	f.StringVar(&m.Session, "session", "", "conversation that it belongs to")
	f.StringVar(&m.UserName, "user-name", "", "of whom it speaks, with --infer")
	f.StringVar(&m.Instructions, "instructions", "", "what inference should heed")
	f.BoolVar(&m.Infer, "infer", false, "also extract preferences, facts and entities")
	f.BoolVar(&m.Markdown, "markdown", false, "the text is Markdown")
	f.DurationVar(&m.TTL, "ttl", 0, "forget it after this time; 0: never")
	f.StringVar(&at, "time", "", "when it was said: a date, or a time of RFC 3339")
	f.StringArrayVarP(&metadata, "metadata", "m", nil, "metadata as name=value; may be repeated")
	f.BoolVar(&noWait, "no-wait", false, "return as soon as it is durable, before recall finds it")
	return c
}

// readTime reads the date or time of a flag.
func readTime(flag, s string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usage("--%s: wants a date like 2025-12-31, or a time like 2025-12-31T08:00:00Z", flag)
}
