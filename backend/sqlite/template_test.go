package sqlite

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend/backendtest"
)

// Checks that a template left incomplete by a crash does not prevent new workspaces, and that workspaces share nothing.
func TestNewWorkspaces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, templateName+suffix), []byte("half"), 0o600))
	}
	d, err := Open(t.Context(), dir, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	for _, name := range []string{"a", "b", "c"} {
		t.Run(name, func(t *testing.T) {
			uid := backendtest.UID(name)
			path := filepath.Join(d.path(uid), "store.db")
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path+".new", []byte("half"), 0o600))
			s, err := d.OpenStore(t.Context(), uid)
			require.NoError(t, err)
			v, err := s.Get(t.Context(), "name")
			require.NoError(t, err)
			require.Nil(t, v)
			require.NoError(t, s.Set(t.Context(), "name", nil, []byte(name)))
			st, err := os.Stat(path)
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), st.Mode().Perm())
			require.NoFileExists(t, path+".new")
			require.NoError(t, s.Close())
		})
	}
	require.NoFileExists(t, filepath.Join(dir, templateName))
	for _, name := range []string{"a", "b", "c"} {
		t.Run(name, func(t *testing.T) {
			s, err := d.OpenStore(t.Context(), backendtest.UID(name))
			require.NoError(t, err)
			v, err := s.Get(t.Context(), "name")
			require.NoError(t, err)
			require.Equal(t, name, string(v))
		})
	}
}
