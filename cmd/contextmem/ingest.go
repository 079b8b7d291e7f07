package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/contextmem/contextmem"
)

// hashField is the additional metadata field that stores the content hash of an ingested file.
const hashField = "content_sha256"

const (
	batchFiles = 50      // maximal number of files in one call
	batchBytes = 8 << 20 // maximal size of one call, not counting its last file
)

// failedFile is a file that could not be ingested, with the reason.
type failedFile struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// folder is the state of an ingestion of files.
type folder struct {
	a       *app
	m       contextmem.Memories
	prefix  string
	known   map[string]string // id -> content hash of stored files that did not fail
	waiting []string
	batch   []contextmem.File
	size    int

	Added       int          `json:"added"`
	Unchanged   int          `json:"unchanged"`
	Empty       int          `json:"empty"`
	Unsupported []failedFile `json:"unsupported,omitempty"`
	Failed      []failedFile `json:"failed,omitempty"`
}

func (a *app) ingestCmd() *cobra.Command {
	var prefix string
	var noWait bool
	c := &cobra.Command{Use: "ingest PATH...", Short: "Read files and folders into knowledge", Args: takes(1, anyNumber),
		Long: `Ingest reads the files that are named, and those below folders except hidden ones. A file's id is --prefix and its path below the folder.
Files whose content did not change since the last time are skipped. At the end it lists the files that no parser reads and those that failed.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd, func(ctx context.Context, h home) error {
				if err := h.EnsureTenant(ctx, a.tenant); err != nil {
					return err
				}
				f := &folder{a: a, m: h.Sub(a.tenant, a.sub), prefix: prefix}
				if err := f.know(ctx); err != nil {
					return err
				}
				for _, p := range args {
					if err := f.walk(ctx, p); err != nil {
						return err
					}
				}
				if err := f.flush(ctx); err != nil {
					return err
				}
				if !noWait {
					if err := f.wait(ctx); err != nil {
						return err
					}
					a.settle(ctx, h)
				}
				if err := a.show(f, f.print); err != nil {
					return err
				}
				if len(f.Failed) > 0 {
					return errPartial
				}
				return nil
			})
		}}
	c.Flags().StringVar(&prefix, "prefix", "", "put before every id, such as handbook/")
	c.Flags().BoolVar(&noWait, "no-wait", false, "return as soon as the files are durable, before recall finds them")
	return c
}

// know reads the ids and content hashes of the stored files.
func (f *folder) know(ctx context.Context) error {
	f.known = map[string]string{}
	for page := 1; ; page++ {
		p, err := f.m.List(ctx, contextmem.ListRequest{Page: page, PageSize: 100})
		if err != nil {
			return err
		}
		for _, s := range p.Sources {
			if h, ok := s.Additional[hashField].(string); ok && s.Status != contextmem.StatusErrored {
				f.known[s.ID] = h
			}
		}
		if page >= p.Pages() {
			return nil
		}
	}
}

// walk ingests a file, or all files below a folder.
func (f *folder) walk(ctx context.Context, root string) error {
	return filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			if name == root {
				return usage("%s: can't be read", root)
			}
			f.Failed = append(f.Failed, failedFile{name, "can't be read"})
			return nil
		}
		if name != root && strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if d.IsDir() || !d.Type().IsRegular() {
			return nil
		}
		return f.add(ctx, root, name)
	})
}

// add ingests one file.
func (f *folder) add(ctx context.Context, root, name string) error {
	rel, err := filepath.Rel(root, name)
	if err != nil || rel == "." {
		rel = filepath.Base(name)
	}
	rel = filepath.ToSlash(rel)
	id := f.prefix + strings.ReplaceAll(rel, ",", "%2C") // a comma separates ids over REST
	data, err := os.ReadFile(name)
	if err != nil {
		f.Failed = append(f.Failed, failedFile{name, "can't be read"})
		return nil
	}
	if len(data) == 0 {
		f.Empty++
		return nil
	}
	sum := sha256.Sum256(data)
	hash := hex.EncodeToString(sum[:])
	if f.known[id] == hash {
		f.Unchanged++
		return nil
	}
	file := contextmem.File{ID: id, Name: path.Base(rel), Data: data, Additional: map[string]any{hashField: hash, "path": rel}}
	if i, err := os.Stat(name); err == nil {
		file.Time = i.ModTime()
	}
	f.batch, f.size = append(f.batch, file), f.size+len(data)
	if len(f.batch) >= batchFiles || f.size >= batchBytes {
		return f.flush(ctx)
	}
	return nil
}

func (f *folder) flush(ctx context.Context) error {
	files := f.batch
	f.batch, f.size = nil, 0
	return f.send(ctx, files)
}

// send sends several files in one call. If a file makes the call fail, send finds out which.
func (f *folder) send(ctx context.Context, files []contextmem.File) error {
	if len(files) == 0 {
		return nil
	}
	res, err := f.m.AddKnowledge(ctx, contextmem.KnowledgeBatch{Files: files})
	var ce *contextmem.Error
	if err != nil && ctx.Err() == nil && errors.As(err, &ce) && refuses(err) {
		if len(files) == 1 {
			f.refused(files[0].ID, err, ce)
			return nil
		}
		half := len(files) / 2
		if err := f.send(ctx, files[:half]); err != nil {
			return err
		}
		return f.send(ctx, files[half:])
	}
	if err != nil {
		return err
	}
	for _, it := range res.Items {
		if it.Err != nil {
			errors.As(it.Err, &ce)
			f.refused(it.ID, it.Err, ce)
			continue
		}
		f.Added++
		f.waiting = append(f.waiting, it.ID)
	}
	f.bar(0)
	return nil
}

// refuses reports whether err is caused by the file and not by the service.
func refuses(err error) bool {
	for _, k := range []error{contextmem.ErrFormat, contextmem.ErrTooLarge, contextmem.ErrInvalid, contextmem.ErrUnprocessed} {
		if errors.Is(err, k) {
			return true
		}
	}
	return false
}

func (f *folder) refused(id string, err error, ce *contextmem.Error) {
	reason := err.Error()
	if ce != nil {
		reason = ce.Err.Error()
	}
	if errors.Is(err, contextmem.ErrFormat) {
		f.Unsupported = append(f.Unsupported, failedFile{id, reason})
		return
	}
	f.Failed = append(f.Failed, failedFile{id, reason})
}

// look is the number of items whose states are requested in one call.
const look = 400

// wait waits until all items are indexed.
func (f *folder) wait(ctx context.Context) error {
	total := len(f.waiting)
	for pause := 5 * time.Millisecond; len(f.waiting) > 0; {
		part := f.waiting[:min(look, len(f.waiting))]
		st, err := f.m.Status(ctx, part...)
		if err != nil {
			return err
		}
		var left []string
		for _, s := range st {
			switch {
			case s.Status == contextmem.StatusErrored:
				f.Added--
				f.Failed = append(f.Failed, failedFile{s.ID, strings.TrimSpace(s.ErrorCode + " " + s.ErrorMessage)})
			case !s.Status.Terminal():
				left = append(left, s.ID)
			}
		}
		f.waiting = append(left, f.waiting[len(part):]...)
		f.bar(total)
		if len(left) < len(part) {
			pause = 5 * time.Millisecond
			continue
		}
		t := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		case <-t.C:
			pause = min(2*pause, 500*time.Millisecond)
		}
	}
	if f.a.bar && !f.a.asJSON {
		fmt.Fprint(f.a.err, "\r\033[K")
	}
	return nil
}

// bar shows the progress on a terminal. total 0 means that files are still being sent.
func (f *folder) bar(total int) {
	if !f.a.bar || f.a.asJSON {
		return
	}
	if total == 0 {
		fmt.Fprintf(f.a.err, "\r\033[Ksent %d files, %d unchanged", f.Added, f.Unchanged)
		return
	}
	const width = 30
	done := total - len(f.waiting)
	n := width * done / total
	fmt.Fprintf(f.a.err, "\r\033[Kindexing [%s%s] %d of %d", strings.Repeat("#", n), strings.Repeat(".", width-n), done, total)
}

func (f *folder) print(w io.Writer) {
	fmt.Fprintf(w, "%d added, %d unchanged, %d empty, %d unsupported, %d failed\n", f.Added, f.Unchanged, f.Empty, len(f.Unsupported), len(f.Failed))
	for _, l := range []struct {
		title string
		files []failedFile
	}{{"unsupported", f.Unsupported}, {"failed", f.Failed}} {
		slices.SortFunc(l.files, func(x, y failedFile) int { return strings.Compare(x.Path, y.Path) })
		for _, x := range l.files {
			fmt.Fprintf(w, "%s: %s: %s\n", l.title, x.Path, x.Reason)
		}
	}
}
