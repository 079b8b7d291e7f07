package sqlite

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/dirlock"
	"github.com/contextmem/contextmem/internal/storerules"
)

var _ backend.Backuper = (*DB)(nil)

// Backup implements [backend.Backuper]. The directory holds a file for the registry, one for each workspace
// and a manifest that names them:
//
//	dir/LOCK         held while a backup is written or read
//	dir/BACKUP.json  the manifest, with checksums
//	dir/files/       registry, workspaces, further files
//
// Each file is written by VACUUM INTO in one read transaction, which does not block writers and leaves
// out free pages. If a workspace has not changed since its file was written, the file is kept.
// Indexes are not in a backup: they are rebuilt from the stores.
//
// The registry is copied first and the workspaces after it. A record about a workspace, such as the progress
// of a connector, is therefore never newer than the workspace. Deliveries of events are copied last, so an
// event that a workspace hands over meanwhile is in the workspace or in the deliveries.
func (d *DB) Backup(ctx context.Context, dir string, beside map[string][]byte) (r backend.BackupReport, err error) {
	return d.backup(ctx, dir, beside, nil)
}

// BackupCopy is [DB.Backup] of a directory that is a copy of another deployment. revs has a revision for each workspace, read before the copy was made. The other
// deployment raises it with each change. A workspace whose revision equals that of the backup is not copied again.
func (d *DB) BackupCopy(ctx context.Context, dir string, beside map[string][]byte, revs map[string]int64) (backend.BackupReport, error) {
	if revs == nil {
		revs = make(map[string]int64)
	}
	return d.backup(ctx, dir, beside, revs)
}

func (d *DB) backup(ctx context.Context, dir string, beside map[string][]byte, revs map[string]int64) (r backend.BackupReport, err error) {
	if err := d.Enter(ctx); err != nil {
		return r, err
	}
	defer d.Leave()
	b, err := d.openBackup(dir)
	if err != nil {
		return r, err
	}
	b.revs = revs
	defer func() { err = errors.Join(err, dirlock.Unlock(b.lock), b.lock.Close()) }()
	if err := b.run(ctx, beside); err != nil {
		return r, errors.Join(err, b.sweep(b.old))
	}
	return b.report, errors.Join(b.failed...)
}

// backup is the state of a call of Backup.
type backup struct {
	db     *DB
	revs   map[string]int64 // see BackupCopy; nil: the directory is no copy
	dir    string
	lock   *os.File
	old    *backupManifest // manifest of the backup in the directory; never nil
	next   *backupManifest
	report backend.BackupReport
	failed []error
}

// openBackup locks a directory for a backup. It makes the directory if there is none.
func (d *DB) openBackup(dir string) (*backup, error) {
	if err := CheckDir(dir); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := onlyBackup(dir); err != nil {
		return nil, err
	}
	if err := os.Mkdir(filepath.Join(dir, backupFiles), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	b := &backup{db: d, dir: dir}
	if b.lock, err = lockDir(dir); err != nil {
		return nil, err
	}
	b.old, err = readBackup(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, backend.ErrCorrupt) { // copy everything
		b.old, err = &backupManifest{}, nil
	}
	if err != nil {
		return nil, errors.Join(err, dirlock.Unlock(b.lock), b.lock.Close())
	}
	return b, nil
}

// onlyBackup returns an error if a directory has files that do not belong to a backup.
func onlyBackup(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch e.Name() {
		case "LOCK", backupFiles, backupName, backupName + tempBackup:
		default:
			return fmt.Errorf("the directory holds something that is no backup: %w", backend.ErrExists)
		}
	}
	return nil
}

func (b *backup) run(ctx context.Context, beside map[string][]byte) error {
	b.report.At = time.Now().UTC()
	b.next = &backupManifest{Format: backupFormat, At: b.report.At, Beside: make(map[string]backupFile)}
	registry := b.newName("registry")
	if err := b.vacuumInto(ctx, b.db.reg.path, registry); err != nil {
		return fmt.Errorf("registry: %w", err)
	}
	for name, data := range beside {
		file := b.newName("beside")
		if err := writeNew(file, data); err != nil {
			return err
		}
		x, err := describe(file)
		if err != nil {
			return err
		}
		b.next.Beside[name] = x
	}
	uids, err := b.tenants(ctx, registry)
	if err != nil {
		return err
	}
	for _, uid := range uids {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := b.workspace(ctx, uid); err != nil {
			return err
		}
	}
	if err := b.complete(ctx, registry); err != nil {
		return fmt.Errorf("registry: %w", err)
	}
	if b.next.Registry, err = describe(registry); err != nil {
		return err
	}
	b.report.Bytes = b.next.size()
	if err := b.next.publish(b.dir); err != nil {
		return err
	}
	return b.sweep(b.next)
}

// newName returns the name of a new file of the backup.
func (b *backup) newName(what string) string {
	var random [8]byte
	_, _ = rand.Read(random[:])
	return filepath.Join(b.dir, backupFiles, what+"-"+hex.EncodeToString(random[:]))
}

// tenants lists the workspaces that the copied registry names.
func (b *backup) tenants(ctx context.Context, registry string) (uids []string, err error) {
	c, err := openPlain(registry, b.db.o.vfs)
	if err != nil {
		return nil, err
	}
	err = c.each(ctx, "SELECT uid FROM tenants WHERE state <> 'deleting' ORDER BY uid", func(r *row) error {
		uids = append(uids, r.str(0))
		return nil
	})
	return uids, errors.Join(err, c.close())
}

// workspace copies a workspace unless the backup has its current state.
func (b *backup) workspace(ctx context.Context, uid string) error {
	old, had := b.old.Workspaces[uid]
	had = had && old.here(b.dir)
	path := filepath.Join(b.db.path(uid), "store.db")
	mark, err := b.db.mark(ctx, uid, path)
	if b.revs != nil { // the mark of a copy says nothing about the original
		if mark.Commits = b.revs[uid]; mark.Commits == 0 {
			mark.Epoch = 0
		}
	}
	if err == nil && had && mark.same(old.Mark) {
		b.next.add(uid, old)
		b.report.Kept++
		return nil
	}
	var x backupFile
	if err == nil {
		file := b.newName(uid)
		if err = b.vacuumInto(ctx, path, file); err == nil {
			x, err = describe(file)
		}
	}
	switch {
	case err == nil:
		x.Mark = mark
		b.next.add(uid, x)
		b.report.Copied++
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	t, terr := b.db.reg.TenantByUID(ctx, uid)
	switch {
	case errors.Is(terr, backend.ErrNotFound) || terr == nil && t.State == backend.TenantDeleting:
		return nil // deleted meanwhile: complete removes it from the copied registry
	case terr != nil:
		return terr
	case errors.Is(err, fs.ErrNotExist) && t.State != backend.TenantReady:
		return nil // the workspace is not created yet; after a restore it will be
	}
	if had {
		b.next.add(uid, old)
	}
	b.report.Failed = append(b.report.Failed, uid)
	b.failed = append(b.failed, fmt.Errorf("workspace %s: %w", uid, err))
	return nil
}

// complete updates the copied registry: it copies the current deliveries, removes tenants that were deleted meanwhile, and
// sets the wake times of the others, since their workspaces may have items added after the registry was copied.
func (b *backup) complete(ctx context.Context, registry string) (err error) {
	if err := b.patch(ctx, registry); err != nil {
		return err
	}
	uids, err := b.tenants(ctx, registry)
	if err != nil {
		return err
	}
	known := make(map[string]bool, len(uids))
	for _, uid := range uids {
		known[uid] = true
	}
	maps.DeleteFunc(b.next.Workspaces, func(uid string, _ backupFile) bool { return !known[uid] })
	return syncFile(registry)
}

// patch makes the changes of complete in the copied registry.
func (b *backup) patch(ctx context.Context, registry string) (err error) {
	c, err := openPlain(registry, b.db.o.vfs)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if err := c.do("ATTACH ? AS live", b.db.reg.path); err != nil {
		return err
	}
	for _, sql := range []string{
		"BEGIN",
		"DELETE FROM main.deliveries",
		"INSERT INTO main.deliveries SELECT * FROM live.deliveries",
		"DELETE FROM main.tenants WHERE uid NOT IN (SELECT uid FROM live.tenants WHERE state <> 'deleting')",
	} {
		if err := c.do(sql); err != nil {
			return err
		}
	}
	if err := c.do("UPDATE main.tenants SET wake = ? WHERE state <> 'deleting'", storerules.Stamp(b.report.At)); err != nil {
		return err
	}
	return errors.Join(c.do("COMMIT"), c.do("DETACH live"), ctx.Err())
}

// openPlain opens an existing database with SQLite's default settings.
func openPlain(path, vfs string) (*conn, error) {
	if _, err := os.Stat(path); err != nil { // SQLite would create the file
		return nil, err
	}
	dc, err := openDriver(fileURL(path, "mode=rw"+connOptions{vfs: vfs}.inVFS()))
	if err != nil {
		return nil, translate(err)
	}
	return &conn{dc: dc, stmts: make(map[string]*stmt)}, nil
}

// vacuumInto writes a snapshot of a database to a new file, durably. ctx interrupts it.
func (b *backup) vacuumInto(ctx context.Context, path, to string) error {
	b.db.o.apart.RLock()
	defer b.db.o.apart.RUnlock()
	c, err := openPlain(path, b.db.o.vfs)
	if err != nil {
		return err
	}
	if err = errors.Join(c.vacuumInto(ctx, to), c.close()); err != nil {
		return err
	}
	return syncFile(to)
}

// vacuumInto writes a snapshot of the database to a new file. ctx interrupts it.
func (c *conn) vacuumInto(ctx context.Context, to string) error {
	e, ok := c.dc.(driver.ExecerContext)
	if !ok {
		return errors.New("sqlite: the driver cannot run scripts")
	}
	_, err := e.ExecContext(ctx, "VACUUM INTO ?", []driver.NamedValue{{Ordinal: 1, Value: to}})
	return translate(err)
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Sync(), f.Close())
}

// describe returns the size and the checksum of a file.
func describe(path string) (backupFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return backupFile{}, err
	}
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	return backupFile{File: filepath.Base(path), Size: n, SHA256: hex.EncodeToString(sum.Sum(nil))}, errors.Join(err, f.Close())
}

// sweep removes files of the backup that m does not name.
func (b *backup) sweep(m *backupManifest) error {
	counts := map[string]bool{m.Registry.File: true}
	for _, x := range m.Workspaces {
		counts[x.File] = true
	}
	for _, x := range m.Beside {
		counts[x.File] = true
	}
	entries, err := os.ReadDir(filepath.Join(b.dir, backupFiles))
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if !counts[e.Name()] {
			errs = append(errs, os.RemoveAll(filepath.Join(b.dir, backupFiles, e.Name())))
		}
	}
	return errors.Join(errs...)
}

// storeMark identifies a state of a store: the epoch of the last opening that wrote, and the number of its commits. For an
// opening that has ended the epoch alone is enough.
type storeMark struct {
	Epoch   uint64 `json:"epoch,omitempty"` // 0: unknown
	Commits int64  `json:"commits,omitempty"`
}

const finalCommits = -1

// same reports whether nothing was written between two marks.
func (m storeMark) same(o storeMark) bool { return m.Epoch != 0 && m == o }

// mark returns the mark of a store. Any later write changes the mark.
func (d *DB) mark(ctx context.Context, uid, path string) (m storeMark, err error) {
	d.mu.Lock()
	s := d.open[uid]
	d.mu.Unlock()
	live, commits := uint64(0), int64(0)
	if s != nil {
		live, commits = s.standing()
	}
	d.o.apart.RLock()
	defer d.o.apart.RUnlock()
	c, err := openPlain(path, d.o.vfs)
	if err != nil {
		return m, err
	}
	_, err = c.one(ctx, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'epochs'", func(*row) error {
		m.Commits = finalCommits
		return nil
	})
	if err == nil && m.Commits == finalCommits {
		_, err = c.one(ctx, "SELECT epoch FROM epochs ORDER BY num DESC LIMIT 1", func(r *row) error {
			m.Epoch = uint64(r.int(0))
			return nil
		})
	}
	if m.Epoch != 0 && m.Epoch == live {
		m.Commits = commits
	}
	return m, errors.Join(err, c.close())
}

// standing returns the epoch of this opening and the number of its commits.
func (s *store) standing() (epoch uint64, commits int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.epoch, s.committed()
}
