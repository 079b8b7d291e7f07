// Package backup makes a backup of a deployment that is stored in a database. The backup has the same form as that of a
// directory.
package backup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/sqlite"
	"github.com/contextmem/contextmem/internal/move"
)

// Snapshotter is a [backend.Stores] that supports consistent snapshots. revs are the numbers of [move.Side.Stamps] of all
// workspaces, taken before the snapshot.
type Snapshotter interface {
	Snapshot(ctx context.Context) (from move.Side, revs map[string]int64, end func(), err error)
}

// Of returns the Snapshotter of a backend, or nil if it has none.
func Of(b backend.Backend) Snapshotter {
	if c, ok := b.(interface{ Stores() backend.Stores }); ok {
		s, _ := c.Stores().(Snapshotter)
		return s
	}
	return nil
}

// Write copies a snapshot into a temporary deployment next to dir and removes that deployment at the end. The temporary
// deployment writes the backup to dir, together with the files in beside.
func Write(ctx context.Context, s Snapshotter, dir string, beside map[string][]byte) (r backend.BackupReport, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return r, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return r, err
	}
	copied, err := os.MkdirTemp(filepath.Dir(dir), ".contextmem-backup-")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(copied)) }()
	began := time.Now().UTC()
	if err := fill(ctx, s, copied, func(d *sqlite.DB, revs map[string]int64) (err error) {
		r, err = d.BackupCopy(ctx, dir, beside, revs)
		return err
	}); err != nil {
		return r, err
	}
	r.At = began
	return r, nil
}

func fill(ctx context.Context, s Snapshotter, dir string, then func(d *sqlite.DB, revs map[string]int64) error) (err error) {
	d, err := sqlite.Open(ctx, dir, &sqlite.Options{Moving: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	from, revs, end, err := s.Snapshot(ctx)
	if err != nil {
		return err
	}
	_, err = move.Copy(ctx, move.Config{From: from, To: d.Side()})
	end()
	if err != nil {
		return err
	}
	return then(d, revs)
}
