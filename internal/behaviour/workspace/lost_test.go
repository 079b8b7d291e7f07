//go:build cgo

package workspace_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/servicetest"
)

func TestLostStoreIsRefused(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(path string) error{
		"removed": os.Remove,
		"emptied": func(path string) error {
			if filepath.Base(path) != "store.db" {
				return os.Remove(path)
			}
			return os.Truncate(path, 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, uid := servicetest.ClosedDeployment(t)
			for _, f := range servicetest.StoreFiles(t, dir, uid) {
				require.NoError(t, lose(f))
			}
			for range 2 { // the first opening does not make it look new to the second
				svc, err := contextmem.Open(t.Context(), dir, nil)
				require.NoError(t, err)
				_, err = svc.Tenant("acme").AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{Text: "x"}}})
				require.ErrorIs(t, err, contextmem.ErrUnavailable)
				require.ErrorContains(t, err, "store.db")
				res, err := svc.Tenant("other").Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "kettle"})
				require.NoError(t, err)
				require.Len(t, res.Chunks, 1)
				require.NoError(t, svc.Close())
			}
		})
	}
}

func TestLostRegistryIsRefused(t *testing.T) {
	t.Parallel()
	dir, _ := servicetest.ClosedDeployment(t)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(filepath.Join(dir, "deployment.db"+suffix)); suffix == "" {
			require.NoError(t, err)
		}
	}
	for range 2 {
		_, err := contextmem.Open(t.Context(), dir, nil)
		require.ErrorContains(t, err, "deployment.db")
	}
}

func TestFilesAreTheOwnersAlone(t *testing.T) {
	t.Parallel()
	dir, _ := servicetest.ClosedDeployment(t)
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		require.Zero(t, info.Mode().Perm()&0o077, "%s is %v", d.Name(), info.Mode())
		return err
	}))
}

// TestDeletedTenantHasNoLosses checks that metrics count the tenants that lack acknowledged changes, without those that were deleted.
func TestDeletedTenantHasNoLosses(t *testing.T) {
	t.Parallel()
	dir, uid := servicetest.ClosedDeployment(t)
	require.NoError(t, os.WriteFile(servicetest.StoreFiles(t, dir, uid)[0]+"-lost", []byte(`{"at":"2026-01-02T03:04:05Z","items":1,"changes":2}`+"\n"), 0o600))
	svc, err := contextmem.Open(t.Context(), dir, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	losses := func() string {
		var b strings.Builder
		require.NoError(t, svc.WriteMetrics(t.Context(), &b))
		_, rest, _ := strings.Cut(b.String(), "\ncontextmem_tenants_with_losses ")
		n, _, _ := strings.Cut(rest, "\n")
		return n
	}
	_, err = svc.Tenant("acme").Status(t.Context(), "m")
	require.NoError(t, err)
	require.Equal(t, "1", losses())
	require.NoError(t, svc.Tenant("acme").Delete(t.Context()))
	require.Equal(t, "0", losses())
}
