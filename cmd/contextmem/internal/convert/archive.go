package convert

import (
	"archive/zip"
	"bytes"
	"encoding/gob"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// isConversations reports whether a file of a ChatGPT or Claude export contains conversations. Such a file is named conversations.json,
// or has a number, such as conversations-001.json.
func isConversations(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(base, "conversations") && strings.HasSuffix(base, ".json") && !strings.HasPrefix(name, "__MACOSX/")
}

var errNoConversations = errors.New("there is no conversations.json in it")

// readZip reads the conversations in the ZIP archive of a ChatGPT or Claude export.
func readZip(b []byte, format string) ([]Item, string, error) {
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, format, errors.New("the file is a damaged ZIP archive")
	}
	return readTree(z, format)
}

// readTree reads all conversation files of a file tree.
func readTree(tree fs.FS, format string) (items []Item, _ string, _ error) {
	var names []string
	err := fs.WalkDir(tree, ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && isConversations(name) {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return nil, format, errors.New("its files can't be listed")
	}
	if len(names) == 0 {
		return nil, format, errNoConversations
	}
	slices.Sort(names)
	for _, name := range names {
		list, of, err := Read("", format, func() (io.ReadCloser, error) { return tree.Open(name) })
		if err != nil {
			return nil, of, err
		}
		items, format = append(items, list...), of
	}
	return items, format, nil
}

// readDir reads the directory of a chromem-go database or of an unpacked ChatGPT or Claude export.
func readDir(dir, format string) ([]Item, string, error) {
	if format == "" || format == "chromem" {
		items, err := chromemDir(dir)
		if err != nil || items != nil || format == "chromem" {
			return items, "chromem", err
		}
	}
	items, of, err := readTree(os.DirFS(dir), format)
	if errors.Is(err, errNoConversations) && format == "" {
		err = ErrUnknown
	}
	return items, of, err
}

// chromemDir reads the directory of a chromem-go database. The directory has a folder for each collection. A folder has a file with the
// collection's name and a file for each document. chromemDir returns nil if the directory is not such a database.
func chromemDir(dir string) ([]Item, error) {
	folders, err := os.ReadDir(dir)
	if err != nil {
		return nil, errors.New("the directory can't be read")
	}
	var out []Item
	for _, f := range folders {
		files, err := os.ReadDir(filepath.Join(dir, f.Name()))
		if err != nil {
			continue // an unrelated file
		}
		about := slices.IndexFunc(files, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), "00000000.gob") })
		if about < 0 {
			continue
		}
		read := func(e os.DirEntry, to any) error {
			b, err := readAll(func() (io.ReadCloser, error) { return os.Open(filepath.Join(dir, f.Name(), e.Name())) })
			if err == nil && gob.NewDecoder(bytes.NewReader(b)).Decode(to) != nil {
				err = errors.New("a file of the database is damaged")
			}
			return err
		}
		var c struct{ Name string }
		if err := read(files[about], &c); err != nil {
			return nil, err
		}
		for i, e := range files {
			if i == about || !strings.Contains(e.Name(), ".gob") {
				continue
			}
			var d chromemDocument
			if err := read(e, &d); err != nil {
				return nil, err
			}
			if it, ok := d.item(c.Name); ok {
				out = append(out, it)
			}
		}
	}
	return out, nil
}
