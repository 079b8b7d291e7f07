package meter

import (
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// filesEvery is the shortest interval between measurements. With many tenants, a measurement reads many directories.
const filesEvery = time.Minute

// Files measures the files that a deployment owns in a directory.
type Files struct {
	mu           sync.Mutex
	at           time.Time
	store, index int64
}

// Measure returns the size in bytes of stores and of search indexes, at most a minute old. It returns -1 twice if there is no
// directory.
func (f *Files) Measure(dir string) (store, index int64) {
	if dir == "" {
		return -1, -1
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.at.IsZero() && time.Since(f.at) < filesEvery {
		return f.store, f.index
	}
	f.store, f.index = 0, 0
	_ = filepath.WalkDir(filepath.Join(dir, "tenants"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // files deleted during the walk do not count
		}
		info, err := d.Info()
		switch {
		case err != nil:
		case strings.Contains(path, string(filepath.Separator)+"index"+string(filepath.Separator)):
			f.index += info.Size()
		default:
			f.store += info.Size()
		}
		return nil
	})
	f.at = time.Now()
	return f.store, f.index
}
