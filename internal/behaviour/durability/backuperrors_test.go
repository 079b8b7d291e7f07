package durability_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
)

// TestBackupSaysWhichDirectoryIsWrong: errors about directories name the one that is meant, in one sentence.
func TestBackupSaysWhichDirectoryIsWrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, copied, file, none := filepath.Join(dir, "data"), filepath.Join(dir, "copy"), filepath.Join(dir, "file"), filepath.Join(dir, "none")
	require.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
	svc, err := contextmem.Open(t.Context(), data, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	_, err = svc.Backup(t.Context(), copied)
	require.NoError(t, err)
	backup := func(to string) error { _, err := svc.Backup(t.Context(), to); return err }
	restore := func(from, to string) error { return contextmem.Restore(t.Context(), from, to) }
	for name, c := range map[string]struct {
		err  error
		kind error
		want string
	}{
		"backup to no name":     {backup(""), contextmem.ErrInvalid, `contextmem: backup: the directory has no name`},
		"backup to a file":      {backup(file), contextmem.ErrInvalid, `contextmem: backup "` + file + `": it is a file, want a directory`},
		"backup into the data":  {backup(data), contextmem.ErrExists, `contextmem: backup "` + data + `": the directory holds something that is no backup: already exists`},
		"restore of no name":    {restore("", none), contextmem.ErrInvalid, `contextmem: restore: the directory has no name`},
		"restore of nothing":    {restore(none, filepath.Join(dir, "new")), contextmem.ErrNotFound, `contextmem: restore "` + none + `": there is no backup in it`},
		"restore of the data":   {restore(data, filepath.Join(dir, "new")), contextmem.ErrNotFound, `contextmem: restore "` + data + `": there is no backup in it`},
		"restore of a file":     {restore(file, filepath.Join(dir, "new")), contextmem.ErrInvalid, `contextmem: restore "` + file + `": it is a file, want a directory`},
		"restore to no name":    {restore(copied, ""), contextmem.ErrInvalid, `contextmem: restore: the directory has no name`},
		"restore to a file":     {restore(copied, file), contextmem.ErrInvalid, `contextmem: restore "` + file + `": it is a file, want a directory`},
		"restore over the data": {restore(copied, data), contextmem.ErrExists, `contextmem: restore "` + data + `": the directory is not empty: already exists`},
	} {
		t.Run(name, func(t *testing.T) {
			require.EqualError(t, c.err, c.want)
			require.ErrorIs(t, c.err, c.kind)
		})
	}
	require.NoDirExists(t, filepath.Join(dir, "new"))
}
