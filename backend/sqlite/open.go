// Package sqlite keeps the stores of a deployment on one machine: a SQLite file for
// the registry and one for each workspace.
//
//	dir/LOCK                             held while the deployment is open
//	dir/deployment.db                    the registry
//	dir/tenants/<2 hex>/<uid>/store.db   one workspace
//	dir/template.db                      an empty one, while the first of a process is made
//
// Writers of different workspaces never wait for each other, removing a workspace is
// removing a directory, and a query across workspaces cannot be written. Inside a
// file one connection writes: calls that arrive together share a transaction and its
// fsync (write-ahead log, synchronous FULL), and a few read-only connections, opened
// when they are needed, never wait for it.
//
// SQLite is the one of a C compiler (cgo) unless the program registers another one: package backend/sqlite/purego, a module of
// its own, does. Without either [Open] says what to do.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/atrest"
	"github.com/contextmem/contextmem/internal/dirlock"
	"github.com/contextmem/contextmem/internal/storerules"
)

// Defaults of [Options].
const (
	DefaultReaders    = 2
	DefaultCacheBytes = 8 << 20
)

// Options tunes a deployment. The zero value is good for thousands of workspaces.
type Options struct {
	// Readers is how many connections of one file may read at once; default
	// DefaultReaders, at most 64.
	Readers int
	// CacheBytes bounds the page cache of the connection that writes to a file. Each
	// that reads has three eighths of it, and rows that recall reads again and again are
	// kept decoded in half of it. Memory is taken as it is used. Default
	// DefaultCacheBytes, at least 131072.
	CacheBytes int
	// EncryptionKey encrypts every file that holds content, page by page (AES-256-GCM); 32 bytes. A deployment is encrypted
	// from its first opening on or not at all: a directory that is not, and a key that is another than at the first opening, are refused with
	// [backend.ErrKey]. It needs Linux, macOS or FreeBSD. Default: none.
	EncryptionKey []byte

	// Moving lets a directory be opened that [DB.Side] was moved away from, or whose filling has not ended; others are refused with [backend.ErrMoved].
	Moving bool

	vfs    string // the file system of encrypted files; empty: none are
	cipher *atrest.Cipher
	logs   *logs
	ice    *ice
	apart  *sync.RWMutex // held for reading while a connection is open that is not of a file's writer and readers
}

func (o *Options) complete() (Options, error) {
	c := Options{}
	if o != nil {
		c = *o
	}
	if c.Readers == 0 {
		c.Readers = DefaultReaders
	}
	if c.CacheBytes == 0 {
		c.CacheBytes = DefaultCacheBytes
	}
	var errs []error
	if c.Readers < 1 || c.Readers > 64 {
		errs = append(errs, fmt.Errorf("sqlite: Readers is %d, want 1 to 64", c.Readers))
	}
	if c.CacheBytes < 1<<17 {
		errs = append(errs, fmt.Errorf("sqlite: CacheBytes is %d, want at least 131072", c.CacheBytes))
	}
	if n := len(c.EncryptionKey); n != 0 && n != atrest.KeyBytes {
		errs = append(errs, fmt.Errorf("sqlite: EncryptionKey has %d bytes, want %d", n, atrest.KeyBytes))
	}
	return c, errors.Join(errs...)
}

// DB is an open deployment directory. It is a [backend.Stores]. Safe for concurrent
// use.
type DB struct {
	storerules.Gate
	dir  string
	o    Options
	lock *os.File
	reg  *registry

	template template
	unmount  func() // o.vfs; nil: there is none

	mu   sync.Mutex
	open map[string]*store // nil while one is being opened or removed
}

var _ backend.Stores = (*DB)(nil)

// Open opens the deployment in dir, making it when it is absent. It fails at once
// with [backend.ErrLocked] when another process (or another DB) has it open, and with
// [backend.ErrNewerSchema] when a newer release wrote it. ctx bounds the opening
// alone. nil options are the defaults.
func Open(ctx context.Context, dir string, o *Options) (*DB, error) {
	opts, err := o.complete()
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open deployment: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "tenants"), 0o700); err != nil {
		return nil, fmt.Errorf("open deployment: %w", err)
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	opts.logs, opts.ice, opts.apart = newLogs(), new(ice), new(sync.RWMutex)
	d := &DB{dir: dir, o: opts, lock: lock, open: make(map[string]*store)}
	file := filepath.Join(dir, "deployment.db")
	if err = d.checkMoved(); err == nil {
		err = refuseLost(file, filepath.Join(dir, "tenants"))
	}
	if err == nil {
		err = d.encrypt(file)
	}
	if err == nil {
		err = ownFile(file)
	}
	if err == nil {
		d.reg, err = openRegistry(ctx, file, d.o)
	}
	if err == nil {
		err = errors.Join(syncDir(dir), syncDir(filepath.Dir(dir)))
	}
	if err != nil {
		if d.reg != nil {
			err = errors.Join(err, d.reg.close())
		}
		d.decrypt()
		return nil, errors.Join(fmt.Errorf("open deployment: %w", err), dirlock.Unlock(lock), lock.Close())
	}
	opened.Store(dir, d)
	return d, nil
}

// opened are the deployments that this process has open, by directory.
var opened sync.Map

// Opened returns the deployment that this process has open in a directory, nil when it has none.
func Opened(dir string) *DB {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil
	}
	d, _ := opened.Load(dir)
	found, _ := d.(*DB)
	return found
}

// Exists reports whether a deployment was made in dir.
func Exists(dir string) (bool, error) {
	info, err := os.Stat(filepath.Join(dir, "deployment.db"))
	if errors.Is(err, os.ErrNotExist) {
		shards, err := os.ReadDir(filepath.Join(dir, "tenants"))
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		return len(shards) > 0, err
	}
	return err == nil && info.Size() > 0, err
}

// refuseLost reports a registry that is missing or empty beside tenants: a new one would not know them.
func refuseLost(file, tenants string) error {
	info, err := os.Stat(file)
	if err == nil && info.Size() > 0 || err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	shards, err := os.ReadDir(tenants)
	if err != nil {
		return err
	}
	if len(shards) > 0 {
		return fmt.Errorf("%s is missing or empty beside the tenants that it names: put it back from a copy: %w", filepath.Base(file), backend.ErrCorrupt)
	}
	return nil
}

// ownFile makes a file that only its owner may read, or takes others' rights to it away.
func ownFile(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Close())
}

// lockDir takes the lock of a directory. The file stays when the lock is given back:
// removing it would let two processes lock two files of one name.
func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "LOCK"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open deployment: %w", err)
	}
	taken, err := dirlock.TryLock(f)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock directory %q: %w", dir, err), f.Close())
	}
	if !taken {
		return nil, errors.Join(fmt.Errorf("directory %q: %w", dir, backend.ErrLocked), f.Close())
	}
	return f, nil
}

// Registry returns the registry of the deployment.
func (d *DB) Registry() backend.Registry { return d.reg }

// OpenStore opens the store of the workspace uid, 32 lower-case hexadecimal
// characters, making it when it is absent. [backend.ErrConflict] when it is open.
func (d *DB) OpenStore(ctx context.Context, uid string) (backend.Store, error) {
	if err := d.Enter(ctx); err != nil {
		return nil, err
	}
	defer d.Leave()
	if err := d.reserve(uid, "open"); err != nil {
		return nil, err
	}
	s, err := d.openStore(ctx, uid)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		delete(d.open, uid)
		return nil, fmt.Errorf("open workspace %s: %w", uid, err)
	}
	d.open[uid] = s
	return s, nil
}

func (d *DB) openStore(ctx context.Context, uid string) (*store, error) {
	path := filepath.Join(d.path(uid), "store.db")
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		if err := d.makeStore(ctx, path); err != nil {
			return nil, err
		}
	}
	if err := d.fits(path); err != nil {
		return nil, err
	}
	s, err := openStore(ctx, path, d.o)
	if err != nil {
		return nil, err
	}
	s.uid = uid
	s.onClose = func() { d.release(uid) }
	return s, nil
}

// makeStore makes the file of a new workspace, which survives a crash.
func (d *DB) makeStore(ctx context.Context, path string) error {
	data, err := d.template.bytes(ctx, d.dir, d.o)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	shard := filepath.Dir(dir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := writeNew(path, data); err != nil {
		return err
	}
	return errors.Join(syncDir(dir), syncDir(shard), syncDir(filepath.Dir(shard)))
}

// RemoveStore deletes the workspace uid with everything of it; removing an absent one
// is no error. [backend.ErrConflict] when it is open.
func (d *DB) RemoveStore(ctx context.Context, uid string) error {
	if err := d.Enter(ctx); err != nil {
		return err
	}
	defer d.Leave()
	if err := d.reserve(uid, "remove"); err != nil {
		return err
	}
	defer d.release(uid)
	dir := d.path(uid)
	if _, err := os.Stat(filepath.Dir(dir)); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := errors.Join(os.RemoveAll(dir), syncDir(filepath.Dir(dir))); err != nil {
		return fmt.Errorf("remove workspace %s: %w: %w", uid, err, backend.ErrUnavailable)
	}
	return nil
}

// Close closes the deployment and the workspaces still open. It waits for calls that
// are under way. Closing again does nothing.
func (d *DB) Close() error {
	if !d.Shut() {
		return nil
	}
	d.mu.Lock()
	var stores []*store
	for _, s := range d.open {
		stores = append(stores, s)
	}
	d.mu.Unlock()
	var errs []error
	for _, s := range stores {
		errs = append(errs, s.Close())
	}
	opened.Delete(d.dir)
	errs = append(errs, d.reg.close())
	d.decrypt()
	errs = append(errs, dirlock.Unlock(d.lock), d.lock.Close())
	return errors.Join(errs...)
}

// path is where a workspace lives; uid has been checked.
func (d *DB) path(uid string) string { return filepath.Join(d.dir, "tenants", uid[:2], uid) }

// reserve makes sure that a uid is well-formed and used by one call at a time.
func (d *DB) reserve(uid, what string) error {
	if err := backend.CheckUID(uid); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.open[uid]; ok {
		return fmt.Errorf("%s workspace %s: it is open: %w", what, uid, backend.ErrConflict)
	}
	d.open[uid] = nil
	return nil
}

func (d *DB) release(uid string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.open, uid)
}
