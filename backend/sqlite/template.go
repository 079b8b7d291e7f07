package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// template holds the bytes of an empty workspace's file. Writing them takes one fsync, while
// setting up the journal mode and the schema takes a dozen.
type template struct {
	mu   sync.Mutex
	data []byte // nil: not made yet
}

// templateName is the temporary file, beside the registry, in which the template is made.
const templateName = "template.db"

// bytes returns the template. The first call makes it in dir.
func (m *template) bytes(ctx context.Context, dir string, o Options) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.data != nil {
		return m.data, nil
	}
	path := filepath.Join(dir, templateName)
	if err := removeTemplate(path); err != nil { // a crash may have left an incomplete one
		return nil, err
	}
	c, err := openConn(path, connOptions{cacheBytes: o.CacheBytes, vfs: o.vfs})
	if err != nil {
		return nil, err
	}
	err = storeSchema.migrate(ctx, c, path)
	if err == nil {
		err = c.script("PRAGMA auto_vacuum=INCREMENTAL; VACUUM") // see incremental
	}
	err = errors.Join(err, c.close()) // moves the log into the file
	if err == nil {
		m.data, err = os.ReadFile(path)
	}
	return m.data, errors.Join(err, removeTemplate(path))
}

func removeTemplate(path string) error {
	var errs []error
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// writeNew writes a new file atomically: after a crash it has its whole content or does not exist. The
// caller makes its name durable.
func writeNew(path string, data []byte) error {
	const suffix = ".new"
	f, err := os.OpenFile(path+suffix, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(path+suffix, path)
}
