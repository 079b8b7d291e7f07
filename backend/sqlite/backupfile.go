package sqlite

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/contextmem/contextmem/backend"
)

const (
	backupName   = "BACKUP.json"
	backupFiles  = "files"
	backupFormat = 1
	tempBackup   = ".new"
)

// backupManifest is the content of BACKUP.json.
type backupManifest struct {
	Format     int                   `json:"format"`
	At         time.Time             `json:"at"`
	Registry   backupFile            `json:"registry"`
	Workspaces map[string]backupFile `json:"workspaces"` // by UID
	Beside     map[string]backupFile `json:"beside"`     // by name
}

// backupFile is a file of a backup.
type backupFile struct {
	File   string    `json:"file"` // in the folder files
	Size   int64     `json:"size"`
	SHA256 string    `json:"sha256"`
	Mark   storeMark `json:"mark"`
}

func (m *backupManifest) add(uid string, x backupFile) {
	if m.Workspaces == nil {
		m.Workspaces = make(map[string]backupFile)
	}
	m.Workspaces[uid] = x
}

func (m *backupManifest) size() int64 {
	n := m.Registry.Size
	for _, x := range m.Workspaces {
		n += x.Size
	}
	for _, x := range m.Beside {
		n += x.Size
	}
	return n
}

// here reports whether the file exists and has the recorded size.
func (x backupFile) here(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, backupFiles, x.File))
	return err == nil && info.Size() == x.Size
}

// readBackup reads the manifest of a directory. It returns [backend.ErrCorrupt] if the file is no manifest.
func readBackup(dir string) (*backupManifest, error) {
	b, err := os.ReadFile(filepath.Join(dir, backupName))
	if err != nil {
		return nil, err
	}
	m := &backupManifest{}
	if err := json.Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("%s: %w", backupName, backend.ErrCorrupt)
	}
	if m.Format > backupFormat {
		return nil, fmt.Errorf("%s has format %d, this release knows formats up to %d: %w", backupName, m.Format, backupFormat, backend.ErrNewerSchema)
	}
	for uid, x := range m.Workspaces {
		if backend.CheckUID(uid) != nil || !plainName(x.File) {
			return nil, fmt.Errorf("%s: %w", backupName, backend.ErrCorrupt)
		}
	}
	for name, x := range m.Beside {
		if !plainName(name) || !plainName(x.File) {
			return nil, fmt.Errorf("%s: %w", backupName, backend.ErrCorrupt)
		}
	}
	if !plainName(m.Registry.File) {
		return nil, fmt.Errorf("%s: %w", backupName, backend.ErrCorrupt)
	}
	return m, nil
}

// plainName reports whether a name has no path elements, so that it cannot lead out of its folder.
func plainName(name string) bool {
	return name != "" && name != "." && name != ".." && filepath.IsLocal(name) && filepath.Base(name) == name
}

// publish writes m as the manifest of a directory. The files that m names must be durable already.
func (m *backupManifest) publish(dir string) error {
	b, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	if err := syncDir(filepath.Join(dir, backupFiles)); err != nil {
		return err
	}
	if err := writeNew(filepath.Join(dir, backupName), b); err != nil {
		return err
	}
	return errors.Join(syncDir(dir), syncDir(filepath.Dir(dir)))
}
