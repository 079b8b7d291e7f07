package backend

import (
	"context"
	"time"
)

// Backuper is a [Backend] or [Stores] that copies itself while it is in use. A
// deployment can be backed up only when its backend is one.
type Backuper interface {
	// Backup writes a copy of the deployment to the directory dir, or brings the one
	// that is there up to date. The copy of each workspace is from one moment, and
	// holds every change that was acknowledged before the call. The registry in the
	// copy names no workspace that is not in it, remembers no more than they do, and
	// has a wake time for each, so that nothing waits for ever after a restore. Until
	// the call returns, dir holds the copy that was there before. beside are small
	// files that go with it, by name.
	//
	// An error may say that single workspaces could not be copied: then the rest is
	// there, with what an earlier copy had of those.
	Backup(ctx context.Context, dir string, beside map[string][]byte) (BackupReport, error)
}

// BackupReport is what a call of Backup did.
type BackupReport struct {
	At     time.Time // when it began
	Copied int       // workspaces that were copied
	Kept   int       // workspaces that had not changed since the copy that was there
	Failed []string  // UIDs of those that could not be copied
	Bytes  int64     // size of the whole copy
}
