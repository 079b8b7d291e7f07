package contextmem

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/sqlite"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/atrest"
	"github.com/contextmem/contextmem/internal/backup"
)

// BackupReport is the result of [Service.Backup].
type BackupReport struct {
	At     time.Time // start of the backup; every write acknowledged before it is in the backup
	Copied int       // number of tenants that were copied
	Kept   int       // number of tenants that had not changed since the earlier backup in the directory
	Failed []string  // TenantInfo.UID of each tenant that could not be copied; the backup has an earlier copy of it, or none
	Bytes  int64     // size of the whole backup
}

// Backup writes a copy of the deployment to a directory while the deployment stays in use. [Restore] makes a deployment from
// the copy. The backup contains every write that was acknowledged before the call. Writes during the call are included up to
// one moment for each tenant. If the directory already holds a backup, Backup updates it and does not copy tenants again that
// were not written to since. The directory holds the earlier backup until the call returns, and also if the call is interrupted.
//
// The backup contains the key file secret.key, without which webhook secrets and connector credentials are lost. Protect the
// backup as you protect the deployment. A key given in Options.SecretKey is not in the backup. The backup of an encrypted
// deployment is encrypted, and the restored deployment opens with the EncryptionKey at the time of the backup. The backup
// contains no search indexes: they are rebuilt from the stored vectors when a tenant is first opened.
//
// If some tenants cannot be read, Backup copies the others and returns an error together with a report that names the failed ones.
// It returns fault.ErrExists if the directory holds anything other than a backup. A deployment in PostgreSQL is copied as of
// one moment, through a temporary folder beside the directory, so the disk needs room for two copies. Restore makes a directory
// from it, which the command migrate moves to a database. Backup needs a backend that implements backend.Backuper, as that of [Open] does.
func (s *Service) Backup(ctx context.Context, dir string) (BackupReport, error) {
	const op = "backup"
	var r backend.BackupReport
	err := s.call(func() error {
		if err := checkDir(op, dir); err != nil {
			return err
		}
		if shot := backup.Of(s.be); shot != nil {
			ctx, cancel := s.gate.Bind(ctx)
			defer cancel()
			return fault.Wrap(op, "", dir, s.leases.HoldSoon(ctx, leaseOfSecret, func(ctx context.Context) error {
				return s.secrets.Copied(ctx, func(files map[string][]byte) (err error) {
					r, err = backup.Write(ctx, shot, dir, files)
					return err
				})
			}))
		}
		b, ok := s.be.(backend.Backuper)
		if !ok {
			return &fault.Error{Op: op, Kind: fault.KindConflict, Err: fmt.Errorf("the backend cannot be copied: %w", errors.ErrUnsupported)}
		}
		ctx, cancel := s.gate.Bind(ctx)
		defer cancel()
		return s.secrets.BackupFiles(ctx, func(files map[string][]byte) (err error) {
			if s.opts.EncryptionKey != nil {
				if files[atrest.EnvelopeName], err = os.ReadFile(filepath.Join(s.opts.keyDir, atrest.EnvelopeName)); err != nil {
					return fault.Wrap(op, "", "", err)
				}
			}
			r, err = b.Backup(ctx, dir, files)
			return fault.Wrap(op, "", dir, err)
		})
	})
	return BackupReport(r), err
}

// Restore makes a deployment in dir from a backup that [Service.Backup] wrote. dir must be absent or empty. Restore checks the
// files of the backup while it reads them. If a file is damaged, the error says so and dir is left empty. The restored
// deployment continues from the moment of the backup: it processes items that were waiting and delivers events that were
// undelivered. Items accepted from now on get event ids that differ from those of items accepted after the backup. Restore returns
// fault.ErrNotFound if backupDir holds no backup, and fault.ErrExists if dir is not empty.
func Restore(ctx context.Context, backupDir, dir string) error {
	const op = "restore"
	if err := cmp.Or(checkDir(op, backupDir), checkDir(op, dir)); err != nil {
		return err
	}
	err, at := sqlite.Restore(ctx, backupDir, dir), backupDir
	if errors.Is(err, backend.ErrExists) {
		at = dir
	}
	return fault.Wrap(op, "", at, err)
}
