package backendtest

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// copyFiles copies a directory in the state that a crash would leave, and returns the number of
// files. The caller makes sure that nothing writes to the directory meanwhile.
func copyFiles(t testing.TB, from, to string) int {
	t.Helper()
	n := 0
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if entry.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		// The file was removed after it was listed; after a crash it would be missing too.
		if err := copyFile(path, target); !errors.Is(err, fs.ErrNotExist) {
			n++
			return err
		}
		return nil
	})
	require.NoError(t, err)
	return n
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
