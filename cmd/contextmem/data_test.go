package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestErrorsNameTheDirectory: who gives a file where a directory is expected reads which one, and why it can't be.
func TestErrorsNameTheDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, data, copied := filepath.Join(dir, "file"), filepath.Join(dir, "data"), filepath.Join(dir, "copy")
	require.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
	require.Zero(t, inProcess(t, data, "", "add", "Alice takes her coffee black.").code)
	require.Zero(t, inProcess(t, data, "", "backup", copied).code)
	for name, x := range map[string]struct {
		data string
		args []string
		want string
	}{
		"recall":          {file, []string{"recall", "coffee"}, `--data: "` + file + `" can't be made: not a directory`},
		"recall below":    {filepath.Join(file, "x"), []string{"recall", "coffee"}, `--data: "` + filepath.Join(file, "x") + `" can't be made: not a directory`},
		"backup":          {data, []string{"backup", file}, `backup "` + file + `": it is a file, want a directory`},
		"restore to":      {file, []string{"restore", copied}, `restore "` + file + `": it is a file, want a directory`},
		"restore nothing": {filepath.Join(dir, "new"), []string{"restore", data}, `restore "` + data + `": there is no backup in it`},
		"restore over":    {data, []string{"restore", copied}, `restore "` + data + `": the directory is not empty`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := inProcess(t, x.data, "", x.args...)
			require.NotZero(t, c.code)
			require.Contains(t, c.err, x.want)
		})
	}
}
