package local

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Checks that an abandoned merge can remove its file while a reset cleans the folder.
func TestSweepBesideMerges(t *testing.T) {
	dir := t.TempDir()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for id := uint64(0); ; id = (id + 1) % 8 {
			select {
			case <-stop:
				return
			default:
			}
			name := filepath.Join(dir, fileName(id)+tempSuffix)
			if os.WriteFile(name, nil, 0o600) == nil {
				_ = os.Remove(name) // the sweep may be first
			}
		}
	})
	defer wg.Wait()
	defer close(stop)
	for range 2000 {
		require.NoError(t, sweep(dir, nil))
	}
}
