package filesystem

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/content"
)

// Sync implements connector.Provider. A page continues the walk where the previous page stopped.
func (p *Provider) Sync(ctx context.Context, r connector.SyncRequest) (*connector.Page, error) {
	st, err := decodeCursor(r.Cursor)
	if err != nil {
		return nil, err
	}
	root, err := p.open(r.ResourceID)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	w := &walker{root: root, r: r, known: make(map[string]entry, len(st.entries)), page: &connector.Page{}, recursive: true}
	if err := w.filters(); err != nil {
		return nil, err
	}
	for _, e := range st.entries {
		w.known[e.path] = e
		if st.after != "" && !before(st.after, e.path) {
			w.next.entries = append(w.next.entries, e) // visited by earlier pages
		}
	}
	if err := walk(ctx, root, st.after, func(rel string, d fs.DirEntry, err error) error { return w.visit(st.after, rel, d, err) }); err != nil {
		return nil, err
	}
	w.missing(st)
	w.page.Cursor, err = w.next.encode()
	return w.page, err
}

// walker builds one page.
type walker struct {
	root       *os.Root
	r          connector.SyncRequest
	extensions map[string]bool // nil: all
	recursive  bool
	known      map[string]entry
	next       cursor
	seen       map[string]bool
	unread     []string // unreadable folders, whose content is unknown
	last       string
	bytes      int
	page       *connector.Page
}

func (w *walker) filters() error {
	for k, v := range w.r.Filters {
		switch k {
		case "extensions":
			list, ok := v.([]any)
			if !ok {
				return errors.New(`filter "extensions" is not a list`)
			}
			w.extensions = map[string]bool{}
			for _, x := range list {
				s, ok := x.(string)
				if !ok {
					return errors.New(`filter "extensions" holds something that is no text`)
				}
				w.extensions[strings.ToLower(strings.TrimPrefix(s, "."))] = true
			}
		case "recursive":
			b, ok := v.(bool)
			if !ok {
				return errors.New(`filter "recursive" is not a boolean`)
			}
			w.recursive = b
		}
	}
	return nil
}

func extension(name string) string { return strings.ToLower(strings.TrimPrefix(path.Ext(name), ".")) }

// visit handles one entry of the folder.
func (w *walker) visit(after, rel string, d fs.DirEntry, err error) error {
	switch {
	case d.IsDir():
		return w.enter(rel, err)
	case after != "" && !before(after, rel), !w.wanted(rel, d): // visited by earlier pages, or never
		return nil
	case len(w.page.Objects) >= max(w.r.Limit, 1) || w.bytes >= pageBytes:
		w.page.More, w.next.after = true, w.last
		return fs.SkipAll
	case len(w.next.entries) >= MaxFiles:
		return fmt.Errorf("more than %d files", MaxFiles)
	}
	info, err := d.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil // removed during the walk
	}
	if err == nil && (info.Size() == 0 || w.r.MaxBytes > 0 && info.Size() > w.r.MaxBytes) {
		return nil
	}
	w.last = rel
	old, had := w.known[rel]
	if err == nil {
		err = w.file(rel, info, old, had)
	}
	if err != nil && had && !errors.Is(err, errSkip) && !errors.Is(err, fs.ErrNotExist) {
		w.keep(old) // unreadable now: keep it as unchanged
	}
	return nil
}

// enter decides whether the walk goes into a folder. err is the error of reading it.
func (w *walker) enter(rel string, err error) error {
	if err != nil {
		w.unread = append(w.unread, rel)
		return fs.SkipDir
	}
	if rel != "." && !w.recursive {
		return fs.SkipDir
	}
	return nil
}

// wanted reports whether an entry is a file of a kind that is asked for and can be read.
func (w *walker) wanted(rel string, d fs.DirEntry) bool {
	return d.Type().IsRegular() && len(rel) <= maxPath && utf8.ValidString(rel) && (w.extensions == nil || w.extensions[extension(rel)]) && w.r.Supported(path.Base(rel), "")
}

// file keeps a file, after reading it where it is not the one that was known, if one was, and is not older than what is asked for.
func (w *walker) file(rel string, info fs.FileInfo, old entry, had bool) error {
	e := entry{path: rel, modified: modified(info), size: info.Size(), hash: old.hash}
	same := had && old.modified == e.modified && old.size == e.size
	early := !had && !w.r.Since.IsZero() && info.ModTime().Before(w.r.Since)
	if !same && !early {
		if err := w.read(rel, &e, had); err != nil {
			return err
		}
	}
	w.keep(e)
	return nil
}

func (w *walker) keep(e entry) {
	w.next.entries = append(w.next.entries, e)
	if w.seen == nil {
		w.seen = map[string]bool{}
	}
	w.seen[e.path] = true
}

var errSkip = errors.New("not a file to read")

// read adds a file to the page if its content changed.
func (w *walker) read(rel string, e *entry, had bool) error {
	// Non-blocking, so that a pipe that replaced the file does not block.
	f, err := w.root.OpenFile(filepath.FromSlash(rel), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errSkip
	}
	limit := w.r.MaxBytes
	if limit <= 0 {
		limit = pageBytes
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return err
	}
	if len(data) == 0 || int64(len(data)) > limit {
		return errSkip
	}
	sum := sha256.Sum256(data)
	old := e.hash
	copy(e.hash[:], sum[:])
	e.modified, e.size = modified(info), info.Size()
	if had && old == e.hash {
		return nil
	}
	w.bytes += len(data)
	full := path.Join(w.r.ResourceID, rel)
	w.page.Objects = append(w.page.Objects, connector.Object{ExternalID: rel, File: &content.File{Name: path.Base(rel), Data: data, Kind: "file", Time: info.ModTime().UTC(),
		Additional: map[string]any{"path": full, "folder": path.Dir(full), "extension": extension(rel)}}})
	return nil
}

// missing reports as deleted the known files in this page's range that no longer exist.
func (w *walker) missing(st cursor) {
	kept := w.next.entries
	var late []entry
	for _, e := range st.entries {
		switch {
		case st.after != "" && !before(st.after, e.path), w.seen[e.path]:
		case w.page.More && before(w.last, e.path):
			late = append(late, e) // the next page handles it
		case w.hiddenFrom(e.path):
			late = append(late, e)
		default:
			w.page.Deleted = append(w.page.Deleted, e.path)
		}
	}
	w.next.entries = merge(kept, late)
}

func (w *walker) hiddenFrom(p string) bool {
	for _, dir := range w.unread {
		if within(p, dir) {
			return true
		}
	}
	return false
}
