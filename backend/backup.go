package backend

import (
	"context"
	"time"
)

// Backuper is a [Backend] or [Stores] that copies itself while it is in use. A
// deployment can be backed up only when its backend is one.
type Backuper interface {
	// Backup writes a copy of the deployment to the directory dir, or updates the copy
	// there. The copy of each workspace is a snapshot with every change that was
	// acknowledged before the call. The registry in the copy names only workspaces that
	// the copy has, its records are not newer than they are, and it has a wake time for
	// each, so that no item waits forever after a restore. Until the call returns, dir
	// has the previous copy. beside are small additional files, by name.
	//
	// An error may mean that some workspaces could not be copied. The copy then has all
	// others, and the previous copies of these.
	Backup(ctx context.Context, dir string, beside map[string][]byte) (BackupReport, error)
}

// BackupReport is the result of a call of Backup.
type BackupReport struct {
	At     time.Time // when it began
	Copied int       // workspaces that were copied
	Kept   int       // number of workspaces that have not changed since the previous copy
	Failed []string  // UIDs of workspaces that could not be copied
	Bytes  int64     // size of the whole copy
}
