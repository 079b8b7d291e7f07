package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/dirlock"
)

// Restore restores the backup in the directory from to dir, which must be missing or empty. It compares every file with
// its checksum. If one is damaged, it empties dir and returns [backend.ErrCorrupt]. Without a backup in from it returns [backend.ErrNotFound]. It writes the registry last, so
// that [Open] returns an error for a partial deployment after a crash.
func Restore(ctx context.Context, from, dir string) (err error) {
	if err := errors.Join(CheckDir(from), CheckDir(dir)); err != nil {
		return err
	}
	if from, err = filepath.Abs(from); err != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	m, err := readBackup(from)
	if errors.Is(err, fs.ErrNotExist) {
		return said{"there is no backup in it", backend.ErrNotFound}
	}
	if err != nil {
		return err
	}
	lock, err := lockDir(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dirlock.Unlock(lock), lock.Close()) }()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("the directory is not empty: %w", backend.ErrExists)
	}
	if err := m.restore(ctx, from, dir); err != nil {
		entries, rerr := os.ReadDir(dir)
		errs := []error{err, rerr}
		for _, e := range entries { // the workspaces; the registry follows
			errs = append(errs, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
		return errors.Join(errs...)
	}
	return nil
}

func (m *backupManifest) restore(ctx context.Context, from, dir string) error {
	tenants := filepath.Join(dir, "tenants")
	if err := os.MkdirAll(tenants, 0o700); err != nil {
		return err
	}
	for uid, x := range m.Workspaces {
		if err := ctx.Err(); err != nil {
			return err
		}
		shard := filepath.Join(tenants, uid[:2])
		home := filepath.Join(shard, uid)
		if err := os.MkdirAll(home, 0o700); err != nil {
			return err
		}
		if err := x.copyTo(from, filepath.Join(home, "store.db")); err != nil {
			return fmt.Errorf("workspace %s: %w", uid, err)
		}
		if err := errors.Join(syncDir(home), syncDir(shard)); err != nil {
			return err
		}
	}
	for name, x := range m.Beside {
		if err := x.copyTo(from, filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := errors.Join(syncDir(tenants), syncDir(dir)); err != nil {
		return err
	}
	if err := m.Registry.copyTo(from, filepath.Join(dir, "deployment.db")); err != nil {
		return fmt.Errorf("registry: %w", err)
	}
	return errors.Join(syncDir(dir), syncDir(filepath.Dir(dir)))
}

// copyTo copies a file of a backup durably to a path, if its checksum is correct.
func (x backupFile) copyTo(from, path string) (err error) {
	in, err := os.Open(filepath.Join(from, backupFiles, x.File))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.OpenFile(path+tempBackup, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	sum := sha256.New()
	_, err = io.Copy(out, io.TeeReader(in, sum))
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != x.SHA256 {
		return fmt.Errorf("its checksum is another: %w", backend.ErrCorrupt)
	}
	return os.Rename(path+tempBackup, path)
}
