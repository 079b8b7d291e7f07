package contextmem

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/sqlite"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/atrest"
	"github.com/contextmem/contextmem/internal/backup"
)

// BackupReport is what [Service.Backup] did.
type BackupReport struct {
	At     time.Time // when it began; what was acknowledged before is in the backup
	Copied int       // tenants that were copied
	Kept   int       // tenants that had not changed since the backup that was there
	Failed []string  // TenantInfo.UID of those that could not be copied; the backup has an earlier copy of them, or none
	Bytes  int64     // size of the whole backup
}

// Backup writes a copy of the deployment to a directory, beside whatever else happens, and [Restore] makes a deployment of
// it. Everything that was acknowledged before the call is in it; of what is written meanwhile each tenant has what
// was there at one moment. A directory that holds a backup is brought up to date: tenants that were not written to since are
// not copied again. Until the call returns the directory holds the earlier backup; a call that is cut off leaves that.
//
// The backup has the key file secret.key, without which webhook secrets and connector credentials are lost, and so is to be
// kept as the deployment is; a key that Options.SecretKey gave is not in it. The backup of an encrypted deployment is encrypted,
// and what Restore makes of it opens with the EncryptionKey of that time. Search indexes are not in it
// either: they are built again from the stored vectors when a tenant is first opened.
//
// When single tenants can't be read the others are backed up, and the error says so with a report that names them. fault.ErrExists
// when the directory holds anything else than a backup. A deployment in PostgreSQL is copied as it was at one moment, by way of a
// folder beside the directory, so that there must be room for two copies; Restore makes a directory of it, which the command migrate moves to a database. It needs a backend that implements backend.Backuper, as that of [Open] does.
func (s *Service) Backup(ctx context.Context, dir string) (BackupReport, error) {
	const op = "backup"
	var r backend.BackupReport
	err := s.call(func() error {
		if shot := backup.Of(s.be); shot != nil {
			ctx, cancel := s.gate.Bind(ctx)
			defer cancel()
			return fault.Wrap(op, "", "", s.leases.HoldSoon(ctx, leaseOfSecret, func(ctx context.Context) error {
				return s.secrets.Copied(ctx, func(files map[string][]byte) (err error) {
					r, err = backup.Write(ctx, shot, dir, files)
					return err
				})
			}))
		}
		b, ok := s.be.(backend.Backuper)
		if !ok {
			return &fault.Error{Op: op, Kind: fault.KindConflict, Err: errors.ErrUnsupported}
		}
		ctx, cancel := s.gate.Bind(ctx)
		defer cancel()
		return s.secrets.Beside(ctx, func(files map[string][]byte) (err error) {
			if s.opts.EncryptionKey != nil {
				if files[atrest.EnvelopeName], err = os.ReadFile(filepath.Join(s.opts.keyDir, atrest.EnvelopeName)); err != nil {
					return fault.Wrap(op, "", "", err)
				}
			}
			r, err = b.Backup(ctx, dir, files)
			return fault.Wrap(op, "", "", err)
		})
	})
	return BackupReport(r), err
}

// Restore makes a deployment of a backup that [Service.Backup] wrote: in dir, which must be absent or empty. The backup is
// checked as it is read; when a file of it is damaged the error says so and dir is empty. The deployment works on as if the time
// since the backup had not been: items that waited are processed, events that were not delivered are, and what
// is accepted from now on has other event ids than what was accepted after the backup.
func Restore(ctx context.Context, backupDir, dir string) error {
	return fault.Wrap("restore", "", "", sqlite.Restore(ctx, backupDir, dir))
}
