package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
)

// versionLine is a version of an item in the command's output.
type versionLine struct {
	Version    int          `json:"version"`
	Stored     string       `json:"stored"`
	Replaced   string       `json:"replaced,omitempty"`
	ReplacedBy int          `json:"replaced_by,omitempty"`
	Cause      string       `json:"cause,omitempty"`
	Title      string       `json:"title,omitempty"`
	Text       string       `json:"text"`
	Lost       bool         `json:"lost,omitempty"`
	Changes    []changeLine `json:"changes,omitempty"`
}

type changeLine struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// showHistory prints the versions of an item.
func (a *app) showHistory(ctx context.Context, m contextmem.Memories, id string) error {
	h, err := m.History(ctx, content.HistoryRequest{ID: id})
	if err != nil {
		return err
	}
	lines := make([]versionLine, len(h.Versions))
	for i, v := range h.Versions {
		lines[i] = versionLine{v.Version, v.Stored.UTC().Format(time.RFC3339), "", v.ReplacedBy, string(v.Cause), v.Title, v.Text, v.Lost, nil}
		if !v.Replaced.IsZero() {
			lines[i].Replaced = v.Replaced.UTC().Format(time.RFC3339)
		}
		for _, d := range v.Changes {
			lines[i].Changes = append(lines[i].Changes, changeLine{string(d.Kind), d.Text})
		}
	}
	return a.show(lines, func(w io.Writer) {
		for i, v := range lines {
			if i > 0 {
				fmt.Fprintln(w)
			}
			fmt.Fprintf(w, "version %d, stored %s", v.Version, v.Stored)
			if v.Replaced != "" {
				fmt.Fprintf(w, ", replaced %s by %d (%s)", v.Replaced, v.ReplacedBy, v.Cause)
			}
			fmt.Fprintln(w)
			switch {
			case v.Lost && v.Text == "":
				fmt.Fprintln(w, "  too large to be kept")
			case v.Changes == nil:
				printMarked(w, "  ", v.Text)
			}
			for _, d := range v.Changes {
				printMarked(w, map[string]string{"same": "  ", "added": "+ ", "removed": "- "}[d.Kind], d.Text)
			}
		}
	})
}

// printMarked prints a text with a marker before each line.
func printMarked(w io.Writer, mark, text string) {
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		fmt.Fprintln(w, mark+line)
	}
}

func (a *app) revertCmd() *cobra.Command {
	return &cobra.Command{Use: "revert ID VERSION", Short: "Store what an earlier version of an item said as a new version; see show --history", Args: takes(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := strconv.Atoi(args[1])
			if err != nil || n < 1 {
				return usage("the version must be a number from 1 on, as show --history tells")
			}
			return a.memories(cmd, func(ctx context.Context, m contextmem.Memories) error {
				it, err := m.RestoreVersion(ctx, content.RestoreVersionRequest{ID: args[0], Version: n})
				if err != nil {
					return err
				}
				return a.show(map[string]any{"id": it.ID, "status": it.Status}, func(w io.Writer) { fmt.Fprintf(w, "%s says again what version %d said\n", it.ID, n) })
			})
		}}
}
