// Package sqlite stores a deployment on one machine: a SQLite file for the registry and
// one for each workspace.
//
//	dir/LOCK                             held while the deployment is open
//	dir/deployment.db                    the registry
//	dir/tenants/<2 hex>/<uid>/store.db   one workspace
//	dir/template.db                      an empty workspace, temporarily
//
// Writers of different workspaces never wait for each other, a workspace is removed by
// removing a directory, and a query across workspaces is impossible. Each file has one
// writing connection. Concurrent writes share a transaction and its fsync (write-ahead
// log, synchronous FULL). A few read-only connections, opened when they are needed, never
// wait for the writer.
//
// The package uses SQLite in C (cgo) unless the program registers another driver, as package backend/sqlite/purego does, which is a
// module of its own. Without a driver, the error of [Open] says what to do.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"

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

// Options are the options of a deployment. The zero value is suitable for thousands of workspaces.
type Options struct {
	// Readers is the maximal number of read connections of one file. Default
	// DefaultReaders, at most 64.
	Readers int
	// CacheBytes bounds the page cache of a file's writing connection. The page cache of
	// each reading connection has three eighths of it, and the cache of decoded rows half
	// of it. While 512 items or more of a file wait, its writing connection may use eight times
	// CacheBytes, one file of a deployment at a time. Memory is allocated as needed. Default DefaultCacheBytes, at least 131072.
	CacheBytes int
	// EncryptionKey, 32 bytes, encrypts every file with content page by page (AES-256-GCM). A deployment is either encrypted from its
	// first opening on or never. If the directory is not encrypted, or was first opened with another key, Open returns
	// [backend.ErrKey]. Encryption needs Linux, macOS or FreeBSD. Default: none.
	EncryptionKey []byte

	// Moving allows opening a directory whose content was moved elsewhere with [DB.Side], or is still being moved here. Without it Open returns [backend.ErrMoved] for
	// such a directory.
	Moving bool

	vfs    string // VFS of encrypted files; empty: files are not encrypted
	cipher *atrest.Cipher
	logs   *logs
	gate   *writeGate
	room   *room
	apart  *sync.RWMutex // read-locked while a connection beside a file's writer and readers is open
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

// DB is an open deployment directory. It implements [backend.Stores] and is safe for
// concurrent use.
type DB struct {
	storerules.Gate
	dir  string
	o    Options
	lock *os.File
	reg  *registry

	template template
	unmount  func() // unregisters o.vfs; nil: there is none

	mu   sync.Mutex
	open map[string]*store // open stores by uid; nil while a store is being opened or removed
}

var _ backend.Stores = (*DB)(nil)

// Open opens the deployment in dir, and creates it if there is none. It returns
// [backend.ErrLocked] at once if another process, or another DB, has it open, and
// [backend.ErrNewerSchema] if a newer release wrote it. ctx bounds only the opening. nil
// options mean the defaults.
func Open(ctx context.Context, dir string, o *Options) (*DB, error) {
	opts, err := o.complete()
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := CheckDir(dir); err != nil {
		return nil, fmt.Errorf("open deployment: %w", err)
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
	opts.logs, opts.gate, opts.room, opts.apart = newLogs(), new(writeGate), new(room), new(sync.RWMutex)
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

// opened maps directories to the deployments that this process has open.
var opened sync.Map

// Opened returns the deployment that this process has open in a directory, or nil if there is none.
func Opened(dir string) *DB {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil
	}
	d, _ := opened.Load(dir)
	found, _ := d.(*DB)
	return found
}

// said is an error of package backend with a text of its own.
type said struct {
	text string
	kind error
}

// Error implements error.
func (s said) Error() string { return s.text }

// Unwrap returns the error of package backend.
func (s said) Unwrap() error { return s.kind }

// CheckDir returns an error if dir cannot be a directory: it has no name, or it is a file or below one.
func CheckDir(dir string) error {
	if dir == "" {
		return errors.New("the directory has no name")
	}
	switch info, err := os.Stat(dir); {
	case errors.Is(err, syscall.ENOTDIR):
		return errors.New("it is below a file, want a directory")
	case err == nil && !info.IsDir():
		return errors.New("it is a file, want a directory")
	}
	return nil
}

// Exists reports whether dir has a deployment.
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

// refuseLost returns an error if the registry is missing or empty although there are tenants, which a new registry would not know.
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

// ownFile creates a file that only its owner may read, or restricts the permissions of an existing one.
func ownFile(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Close())
}

// lockDir locks a directory. Unlocking does not remove the lock file, since two processes
// could then lock two files of one name.
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
		err := fmt.Errorf("the directory is %w", backend.ErrLocked)
		if Opened(dir) != nil {
			err = said{"this process has it open already: use that Service, or close it first", backend.ErrLocked}
		}
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Registry returns the registry of the deployment.
func (d *DB) Registry() backend.Registry { return d.reg }

// OpenStore opens the store of the workspace uid, 32 lower-case hexadecimal characters, and
// creates it if there is none. It returns [backend.ErrConflict] if the store is open.
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
	s.onClose = func() {
		d.o.room.giveBack(s)
		d.release(uid)
	}
	return s, nil
}

// makeStore creates the file of a new workspace durably.
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

// RemoveStore deletes the workspace uid. It returns no error if there is none, and
// [backend.ErrConflict] if it is open.
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

// Close closes the deployment and all open workspaces. It waits for calls in flight. Further
// calls do nothing.
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

// path returns the directory of a workspace. The caller has checked uid.
func (d *DB) path(uid string) string { return filepath.Join(d.dir, "tenants", uid[:2], uid) }

// reserve checks that a uid is well-formed and that no other call uses it.
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
