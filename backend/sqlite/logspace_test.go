package sqlite

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLogSpace checks that the log of a store that is written in small commits grows in few steps beyond its content,
// and that a copy of the files has every acknowledged write.
func TestLogSpace(t *testing.T) {
	t.Parallel()
	d, s := openTest(t)
	log := filepath.Join(d.path(testUID), "store.db-wal")
	size := func() int64 {
		info, err := os.Stat(log)
		require.NoError(t, err)
		return info.Size()
	}
	sizes := map[int64]bool{}
	const commits = 600
	var last []byte
	for i := range commits {
		value := []byte{byte(i), byte(i >> 8)}
		require.NoError(t, s.Set(t.Context(), "name", last, value))
		last = value
		sizes[size()] = true
	}
	// A commit is one frame: 16 until there are 64 KiB, and few steps from there on.
	assert.Less(t, len(sizes), 40)
	assert.Greater(t, size(), int64((commits+10)*4120), "space ahead")
	dir := emptyDeployment(t)
	to := filepath.Join(dir, "tenants", testUID[:2], testUID)
	require.NoError(t, os.MkdirAll(to, 0o700))
	for _, name := range []string{"store.db", "store.db-wal"} {
		data, err := os.ReadFile(filepath.Join(d.path(testUID), name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(to, name), data, 0o600))
	}
	_, copied := reopenTest(t, dir)
	value, err := copied.Get(t.Context(), "name")
	require.NoError(t, err)
	assert.Equal(t, []byte{byte((commits - 1) % 256), byte((commits - 1) >> 8)}, value)
	check(t, copied)
}

// TestLogSpaceSteps checks the size to which a log of a given length grows.
func TestLogSpaceSteps(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	for _, test := range []struct {
		name                string
		before, size, after int64
	}{
		{"small", 0, minLogSpace - 1, minLogSpace - 1},
		{"doubled", 0, minLogSpace, 2 * minLogSpace},
		{"not grown", 5 << 20, 5 << 20, 5 << 20},
		{"cut", 6 << 20, 5 << 20, 5 << 20},
		{"by one step", 5<<20 - 4120, 5 << 20, 5<<20 + maxLogSpace},
		{"by a large commit", 5<<20 - maxLogGrowth - 1, 5 << 20, 5 << 20},
		{"full", logBytes - 1, logBytes, logBytes},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(path+"-wal", make([]byte, test.size), 0o600))
			l := newLogSpace(path)
			l.size = test.before
			l.ahead()
			info, err := os.Stat(path + "-wal")
			require.NoError(t, err)
			assert.Equal(t, test.after, info.Size(), test.name)
			if test.size < logBytes {
				assert.Equal(t, test.after, l.size, test.name)
			}
		})
	}
	require.NoError(t, os.Remove(path+"-wal"))
	l := newLogSpace(path)
	l.ahead()
	assert.Zero(t, l.size, "without a log there is nothing to do")
	assert.NoFileExists(t, path+"-wal")
}
