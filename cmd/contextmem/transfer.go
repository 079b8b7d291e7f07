package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/cmd/contextmem/internal/convert"
	"github.com/contextmem/contextmem/content"
)

func (a *app) exportCmd() *cobra.Command {
	var out, format string
	c := &cobra.Command{Use: "export", Short: "Write a tenant as lines of JSON, or a sub-tenant as Markdown", Args: takes(0, 0),
		Long: `With --format jsonl, export writes the tenant with everything that was put into it, as docs/export.md describes; import reads it again.
With --format markdown it writes the memories and documents of --sub for people to read.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := check("format", format, "jsonl", "markdown"); err != nil {
				return err
			}
			return a.with(cmd, func(ctx context.Context, h home) (err error) {
				write := func(w io.Writer) error { return h.Export(ctx, a.tenant, w) }
				if format == "markdown" {
					write = func(w io.Writer) error { return markdown(ctx, w, h.Sub(a.tenant, a.sub)) }
				}
				if out == "" {
					return write(a.out)
				}
				n := &progress{a: a, verb: "wrote"}
				err = whole(out, func(w io.Writer) error { n.w = w; return write(n) })
				n.end()
				if err != nil {
					return err
				}
				return a.show(map[string]any{"file": out, "format": format, "bytes": n.bytes}, func(w io.Writer) { fmt.Fprintf(w, "wrote %s to %s\n", size(n.bytes), out) })
			})
		}}
	c.Flags().StringVarP(&out, "output", "o", "", "file to write; empty: standard output")
	c.Flags().StringVar(&format, "format", "jsonl", "jsonl or markdown")
	return c
}

// whole writes a file atomically.
func whole(name string, write func(io.Writer) error) (err error) {
	tmp := name + ".part"
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return usage("--output: the file can't be made")
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return os.Rename(tmp, name)
}

// markdown writes memories as a list, oldest last, and each document under its title.
func markdown(ctx context.Context, w io.Writer, m contextmem.Memories) error {
	b := bufio.NewWriter(w)
	each := func(class contextmem.Class, f func(s *contextmem.SourceInfo) error) error {
		for page := 1; ; page++ {
			p, err := m.List(ctx, contextmem.ListRequest{Class: class, Page: page, PageSize: 100, Content: class == contextmem.ClassMemory})
			if err != nil {
				return err
			}
			for i := range p.Sources {
				if err := f(&p.Sources[i]); err != nil {
					return err
				}
			}
			if page >= p.Pages() {
				return nil
			}
		}
	}
	fmt.Fprint(b, "# Memories\n\n") // a failed write is reported by Flush
	err := each(contextmem.ClassMemory, func(s *contextmem.SourceInfo) error {
		at := s.Timestamp
		if at.IsZero() {
			at = s.CreatedAt
		}
		_, err := fmt.Fprintf(b, "- %s: %s\n", at.UTC().Format(time.DateOnly), strings.ReplaceAll(strings.TrimSpace(s.Content), "\n", "\n  "))
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprint(b, "\n# Documents\n")
	err = each(contextmem.ClassKnowledge, func(s *contextmem.SourceInfo) error {
		f, err := m.Fetch(ctx, contextmem.FetchRequest{ID: s.ID, ParsedText: true})
		if err != nil {
			return err
		}
		title := s.Title
		if title == "" {
			title = s.ID
		}
		_, err = fmt.Fprintf(b, "\n## %s\n\n%s\n", title, strings.TrimSpace(f.Text))
		return err
	})
	return errors.Join(err, b.Flush())
}

// importer adds items of other programs to partitions.
type importer struct {
	a       *app
	h       home
	byOwner bool
	dry     bool

	Format    string         `json:"format"`
	Memories  int            `json:"memories"`
	Documents int            `json:"documents"`
	Subs      map[string]int `json:"subs"`
	Failed    []failedFile   `json:"failed,omitempty"`
}

func (a *app) importCmd() *cobra.Command {
	im := &importer{a: a}
	c := &cobra.Command{Use: "import FILE", Short: "Take in an export of contextmem or of another program; - is standard input", Args: takes(1, 1),
		Long: `Import makes the tenant of --tenant of what "contextmem export" wrote. Exports of other programs it puts into --tenant and --sub: memories of
mem0 (JSON and SQLite history), Zep and Graphiti, MCP's reference memory server, message histories of LangChain, conversations of ChatGPT and Claude
(the ZIP archive, its directory or conversations.json), and documents of chromem-go (an export or the directory of a database). The same file again
replaces what it brought the first time.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if im.Format != "" && im.Format != "contextmem" {
				if err := check("format", im.Format, append([]string{"contextmem"}, convert.Formats...)...); err != nil {
					return err
				}
			}
			open, err := a.source(args[0])
			if err != nil {
				return err
			}
			ours := im.Format == "contextmem"
			if im.Format == "" {
				if ours, err = isExport(open); err != nil {
					return err
				}
			}
			if ours {
				return im.ours(cmd, open)
			}
			items, format, err := convert.Read(args[0], im.Format, open)
			if errors.Is(err, convert.ErrUnknown) {
				return usageError{err}
			}
			if err != nil {
				return err
			}
			im.Format, im.Subs = format, map[string]int{}
			return a.with(cmd, func(ctx context.Context, h home) error {
				im.h = h
				return im.run(ctx, items)
			})
		}}
	f := c.Flags()
	f.StringVar(&im.Format, "format", "", "contextmem, "+strings.Join(convert.Formats, ", ")+"; empty: what the file seems to be")
	f.BoolVar(&im.byOwner, "by-owner", false, "put what belongs to a user or collection into a sub-tenant of that name")
	f.BoolVar(&im.dry, "dry-run", false, "say what would be taken in, and change nothing")
	return c
}

// source returns a function that can open a file repeatedly. It copies standard input to a file for that.
func (a *app) source(name string) (func() (io.ReadCloser, error), error) {
	if name == "-" {
		b, err := io.ReadAll(io.LimitReader(a.in, maxStdin))
		if err != nil {
			return nil, errors.New("standard input can't be read")
		}
		return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }, nil
	}
	if _, err := os.Stat(name); err != nil {
		return nil, usage("%s: is no file or directory that can be read", name)
	}
	return func() (io.ReadCloser, error) { return os.Open(name) }, nil
}

// ours imports an export of contextmem as a new tenant. It first reads the whole export to count its items and to check that it is complete.
func (im *importer) ours(cmd *cobra.Command, open func() (io.ReadCloser, error)) error {
	a := im.a
	im.Format, im.Subs = "contextmem", map[string]int{}
	r, err := open()
	if err != nil {
		return errors.New("the file can't be read")
	}
	err = im.count(r)
	if err = errors.Join(err, r.Close()); err != nil {
		return err
	}
	if im.dry {
		return im.report()
	}
	if r, err = open(); err != nil {
		return errors.New("the file can't be read")
	}
	defer r.Close()
	return a.with(cmd, func(ctx context.Context, h home) error {
		n := &progress{a: a, verb: "read", r: r}
		err := h.Import(ctx, a.tenant, n)
		n.end()
		if err != nil {
			return err
		}
		return im.report()
	})
}

// count counts the items of an export by kind and sub-tenant.
func (im *importer) count(r io.Reader) error {
	d := json.NewDecoder(r)
	for n := 1; ; n++ {
		var line struct {
			Item *struct{ Class, Sub string }
			End  *struct{}
		}
		switch err := d.Decode(&line); {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return errors.New("the file was cut off")
		case err != nil:
			return fmt.Errorf("line %d is no line of an export", n)
		case line.End != nil:
			return nil
		case line.Item == nil:
			continue
		}
		im.Subs[line.Item.Sub]++
		if line.Item.Class == "memory" {
			im.Memories++
		} else {
			im.Documents++
		}
	}
}

// isExport reports whether a file is an export of contextmem.
func isExport(open func() (io.ReadCloser, error)) (bool, error) {
	r, err := open()
	if err != nil {
		return false, errors.New("the file can't be read")
	}
	defer r.Close()
	head := make([]byte, len(`{"header":`))
	_, _ = io.ReadFull(r, head) // a shorter file is not of this format
	return string(head) == `{"header":`, nil
}

// importBatch is the number of memories in one call; importFiles is the number of documents.
const (
	importBatch = 500
	importFiles = 50
)

func (im *importer) run(ctx context.Context, items []convert.Item) error {
	bySub := map[string][]convert.Item{}
	for _, it := range items {
		sub := im.a.sub
		if im.byOwner && it.Owner != "" {
			sub = it.Owner
		}
		bySub[sub] = append(bySub[sub], it)
		im.Subs[sub]++
		if it.File != nil {
			im.Documents++
		} else {
			im.Memories++
		}
	}
	if !im.dry {
		if err := im.h.EnsureTenant(ctx, im.a.tenant); err != nil {
			return err
		}
		done := 0
		for sub, list := range bySub {
			if err := im.put(ctx, im.h.Sub(im.a.tenant, sub), list, &done, len(items)); err != nil {
				return err
			}
		}
		if im.a.bar && !im.a.asJSON {
			fmt.Fprint(im.a.err, "\r\033[K")
		}
	}
	return im.report()
}

// report prints the number of imported items, or the number that a dry run would import.
func (im *importer) report() error {
	if err := im.a.show(im, func(w io.Writer) {
		verb := "took in"
		if im.dry {
			verb = "would take in"
		}
		fmt.Fprintf(w, "%s: %s %d memories and %d documents into %d sub-tenants, %d failed\n", im.Format, verb, im.Memories, im.Documents, len(im.Subs), len(im.Failed))
		for _, f := range im.Failed {
			fmt.Fprintf(w, "failed: %s: %s\n", f.Path, f.Reason)
		}
	}); err != nil {
		return err
	}
	if len(im.Failed) > 0 {
		return errPartial
	}
	return nil
}

// put adds the items of one partition and waits until they can be recalled.
func (im *importer) put(ctx context.Context, m contextmem.Memories, list []convert.Item, done *int, total int) error {
	f := &folder{a: im.a, m: m}
	var talk contextmem.MemoryBatch
	var know contextmem.KnowledgeBatch
	took := func(res *contextmem.IngestResult, err error) error {
		if err != nil {
			return err
		}
		for _, it := range res.Items {
			if it.Err != nil {
				im.Failed = append(im.Failed, failedFile{it.ID, message(it.Err)})
			}
		}
		f.waiting = append(f.waiting, res.IDs()...)
		*done += len(res.Items)
		if im.a.bar && !im.a.asJSON {
			fmt.Fprintf(im.a.err, "\r\033[Ksent %d of %d", *done, total)
		}
		return nil
	}
	flush := func(memories, files int) error {
		if len(talk.Memories) > memories {
			if err := took(m.AddMemories(ctx, talk)); err != nil {
				return err
			}
			talk = contextmem.MemoryBatch{}
		}
		if len(know.Files) > files {
			if err := took(m.AddKnowledge(ctx, know)); err != nil {
				return err
			}
			know = contextmem.KnowledgeBatch{}
		}
		return nil
	}
	for _, it := range list {
		if it.File != nil {
			know.Files = append(know.Files, *it.File)
		} else {
			talk.Memories = append(talk.Memories, *it.Memory)
			if it.Graph != nil {
				if talk.Graphs == nil {
					talk.Graphs = map[string]content.SuppliedGraph{}
				}
				talk.Graphs[it.Memory.ID] = *it.Graph
			}
		}
		if err := flush(importBatch-1, importFiles-1); err != nil {
			return err
		}
	}
	if err := flush(0, 0); err != nil {
		return err
	}
	err := f.wait(ctx)
	im.Failed = append(im.Failed, f.Failed...)
	return err
}
