// Package filesystem is a connector provider that reads folders of the local machine:
//
//	p, err := filesystem.New("/srv/handbook", "/srv/tickets")
//	svc, err := contextmem.Open(ctx, "data", &contextmem.Options{Providers: []connector.Provider{p}})
//
// The deployment names the root folders. The provider reads nothing outside of them, whatever a resource id, a symbolic
// link or a path with ".." says. A resource is a folder and everything below it: "handbook" is the first root above,
// "handbook/2024" a folder in it. Files in overlapping resources are delivered once for each resource.
//
// A sync reads files whose modification time or size changed, and delivers files whose content changed. It reports removed
// files as deleted. It skips hidden files and folders (a leading dot), symbolic links, empty files, files that are too
// large and files in unreadable formats. A resource has two filters: "extensions", a list such as ["md", "pdf"], and
// "recursive", false to read only the folder's own files.
package filesystem

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/contextmem/contextmem/connector"
)

// Name is the provider's name.
const Name = "filesystem"

// Limits of a folder.
const (
	// MaxFiles bounds the number of files in one folder and everything below it.
	MaxFiles = 200_000
	// maxDepth bounds nesting, as a guard against file systems that loop.
	maxDepth = 64
	// pageBytes is the content size after which the next page begins.
	pageBytes = 32 << 20
	// maxFolders bounds the folders that Discover visits.
	maxFolders = 100_000
)

// Provider reads folders. It is safe for concurrent use.
type Provider struct {
	roots map[string]string // name -> absolute path
}

// New returns a provider that reads below the given root folders. There must be at least one, and each must exist.
// A root's name is its last path element. Names must be unique and must not begin with a dot.
func New(roots ...string) (*Provider, error) {
	if len(roots) == 0 {
		return nil, errors.New("filesystem: no root is allowed")
	}
	p := &Provider{roots: map[string]string{}}
	for _, r := range roots {
		abs, err := filepath.Abs(r)
		if err != nil {
			return nil, fmt.Errorf("filesystem: %w", err)
		}
		info, err := os.Stat(abs)
		if err != nil {
			return nil, fmt.Errorf("filesystem: %w", err)
		}
		if !info.IsDir() {
			return nil, fmt.Errorf("filesystem: root %q is not a folder", r)
		}
		name := filepath.Base(abs)
		if !fs.ValidPath(name) || hidden(name) {
			return nil, fmt.Errorf("filesystem: root %q has no usable name", r)
		}
		if p.roots[name] != "" {
			return nil, fmt.Errorf("filesystem: two roots are named %q", name)
		}
		p.roots[name] = abs
	}
	return p, nil
}

// Describe implements connector.Provider.
func (p *Provider) Describe() connector.Info {
	return connector.Info{
		Name: Name, Category: "files", ConnectorType: "files", ObjectTypes: []string{"file"}, AuthTypes: []string{connector.AuthNone},
		CredentialSchema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
		Searchable:       []connector.Field{{Name: "content", DataType: "string", Description: "text of the file"}, {Name: "title", DataType: "string", Description: "name of the file"}},
		Filterable: []connector.Field{{Name: "path", DataType: "string", FilterKey: "additional_metadata.path", Description: "path of the file below its root"},
			{Name: "folder", DataType: "string", FilterKey: "additional_metadata.folder", Description: "folder of the file"},
			{Name: "extension", DataType: "string", FilterKey: "additional_metadata.extension", Description: "ending of the name, lower case"}},
		SetupGuide: "The deployment names the folders that may be read. Discover lists them and the folders below; no credentials are needed.",
	}
}

// Check implements connector.Provider. The provider has no credentials to check.
func (p *Provider) Check(_ context.Context, c connector.Credentials) error {
	if len(c) > 0 {
		return fmt.Errorf("%w: the provider takes none", connector.ErrBadCredentials)
	}
	return nil
}

func hidden(name string) bool { return strings.HasPrefix(name, ".") }

// open opens the folder that a resource id names.
func (p *Provider) open(id string) (*os.Root, error) {
	name, rel, below := strings.Cut(id, "/")
	dir, ok := p.roots[name]
	if !ok || below && !fs.ValidPath(rel) {
		return nil, fmt.Errorf("folder %q is not below an allowed root", id)
	}
	for _, part := range strings.Split(rel, "/") {
		if hidden(part) {
			return nil, fmt.Errorf("folder %q is hidden", id)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, plain(err)
	}
	if !below {
		return root, nil
	}
	defer root.Close()
	sub, err := root.OpenRoot(filepath.FromSlash(rel))
	return sub, plain(err)
}

// plain returns an error without absolute paths.
func plain(err error) error {
	if pe := new(fs.PathError); errors.As(err, &pe) {
		return fmt.Errorf("%s: %w", pe.Op, pe.Err)
	}
	return err
}

// Discover lists the roots and the folders below them, in path order. The cursor is the last listed path.
func (p *Provider) Discover(ctx context.Context, _ connector.Credentials, cursor string, limit int) ([]connector.Resource, string, error) {
	names := make([]string, 0, len(p.roots))
	for n := range p.roots {
		names = append(names, n)
	}
	sort.Strings(names)
	var out []connector.Resource
	seen, more := 0, false
	for _, name := range names {
		if cursor != "" && before(name, cursor) && !within(cursor, name) {
			continue
		}
		root, err := p.open(name)
		if err != nil {
			return nil, "", err
		}
		after := ""
		if within(cursor, name) {
			after = cursor[len(name)+1:]
		}
		err = walk(ctx, root, after, func(rel string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return nil
			}
			id := path.Join(name, rel)
			if seen++; seen > maxFolders {
				return fmt.Errorf("more than %d folders", maxFolders)
			}
			if cursor != "" && !before(cursor, id) {
				return nil
			}
			if len(out) == limit {
				more = true
				return fs.SkipAll
			}
			out = append(out, connector.Resource{ID: id, Name: path.Base(id), Type: "folder", Metadata: map[string]any{"path": id}})
			return nil
		})
		_ = root.Close()
		if err != nil {
			return nil, "", err
		}
		if more {
			return out, out[len(out)-1].ID, nil
		}
	}
	return out, "", nil
}

// before compares paths in walk order: element by element.
func before(a, b string) bool {
	for {
		x, restA, moreA := strings.Cut(a, "/")
		y, restB, moreB := strings.Cut(b, "/")
		if x != y {
			return x < y
		}
		if !moreA || !moreB {
			return !moreA && moreB
		}
		a, b = restA, restB
	}
}

// within reports whether p lies below dir.
func within(p, dir string) bool { return dir == "." || strings.HasPrefix(p, dir+"/") }

// walk calls f in path order for each entry of root after the given path. It skips hidden entries and does not follow
// links. It does not read folders that lie entirely before the given path.
func walk(ctx context.Context, root *os.Root, after string, f fs.WalkDirFunc) error {
	return fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if cerr := ctx.Err(); cerr != nil {
			return cerr
		}
		if d == nil {
			return plain(err) // the folder itself can't be read
		}
		if p != "." {
			if hidden(d.Name()) || strings.Count(p, "/") >= maxDepth {
				if d.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
			if after != "" && d.IsDir() && !before(after, p) && p != after && !within(after, p) {
				return fs.SkipDir
			}
		}
		if err != nil && p == "." {
			return plain(err)
		}
		return f(p, d, err)
	})
}

// modified returns a modification time at the cursor's precision.
func modified(i fs.FileInfo) int64 { return i.ModTime().UnixNano() / int64(time.Microsecond) }
