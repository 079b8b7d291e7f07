package backend

import (
	"context"
	"time"
)

// Backuper is a [Backend] or [Stores] that can copy its data while it is in use. A
// deployment can be backed up only when its backend implements Backuper.
type Backuper interface {
	// Backup writes a copy of the deployment to the directory dir, or updates the copy
	// there. Until the call returns, dir has the previous copy. beside are small
	// additional files, by name.
	//
	// The copy of each workspace is a snapshot with every change that was acknowledged
	// before the call. The copy of the registry names only workspaces that are in the
	// copy. Its records are not newer than the workspaces. It has a wake time for each
	// workspace, so that no item waits forever after a restore.
	//
	// An error may mean that some workspaces could not be copied. The new copy then has
	// all other workspaces, and the previous copies of the failed ones.
	Backup(ctx context.Context, dir string, beside map[string][]byte) (BackupReport, error)
}

// BackupReport is the result of a call of Backup.
type BackupReport struct {
	At     time.Time // when the backup began
	Copied int       // number of workspaces that were copied
	Kept   int       // number of workspaces that have not changed since the previous copy
	Failed []string  // UIDs of workspaces that could not be copied
	Bytes  int64     // size of the whole copy in bytes
}
