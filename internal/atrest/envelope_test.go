package atrest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEnvelope(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	a, b := bytes.Repeat([]byte{1}, KeyBytes), bytes.Repeat([]byte{2}, KeyBytes)
	full := false
	used := func() (bool, error) { return full, nil }

	got, err := DirKey(dir, nil, used)
	require.NoError(t, err)
	require.Nil(t, got)
	full = true
	require.NoError(t, os.MkdirAll(dir, 0o700))
	_, err = DirKey(dir, a, used)
	require.ErrorIs(t, err, ErrNotSealed)
	full = false
	data, err := DirKey(dir, a, used)
	require.NoError(t, err)
	require.Len(t, data, KeyBytes)
	full = true
	again, err := DirKey(dir, a, used)
	require.NoError(t, err)
	require.Equal(t, data, again)
	_, err = DirKey(dir, nil, used)
	require.ErrorIs(t, err, ErrNoKey)
	_, err = DirKey(dir, b, used)
	require.ErrorIs(t, err, ErrWrongKey)

	require.ErrorIs(t, Rewrap(dir, b, a), ErrWrongKey)
	require.NoError(t, Rewrap(dir, a, b))
	again, err = DirKey(dir, b, used)
	require.NoError(t, err)
	require.Equal(t, data, again)
	_, err = DirKey(dir, a, used)
	require.ErrorIs(t, err, ErrWrongKey)

	file := filepath.Join(dir, EnvelopeName)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode().Perm())
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	require.False(t, bytes.Contains(raw, data))
	require.NoError(t, os.WriteFile(file, raw[:20], 0o600))
	_, err = DirKey(dir, b, used)
	require.ErrorContains(t, err, EnvelopeName+" is damaged")
}
