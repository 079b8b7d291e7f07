//go:build cgo && (linux || darwin || freebsd)

package sqlite

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
)

func TestConformanceEncrypted(t *testing.T) {
	backendtest.RunStores(t, backendtest.StoresHarness{Open: func(t testing.TB, dir string) backend.Stores {
		d, err := Open(t.Context(), dir, &Options{EncryptionKey: testKey})
		require.NoError(t, err)
		return checkedDB{d, t}
	}})
}

// filesOf calls f with the bytes of each file below a directory.
func filesOf(t *testing.T, dir string, f func(path string, data []byte)) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		f(path, data)
		return err
	}))
}

// Writes pages and log frames. Some transactions exceed the cache, so that frames are written twice in a transaction.
func TestEncryptedFiles(t *testing.T) {
	t.Parallel()
	dir, o := t.TempDir(), &Options{EncryptionKey: testKey, CacheBytes: 1 << 17}
	d, err := Open(t.Context(), dir, o)
	require.NoError(t, err)
	const uid = "0123456789abcdef0123456789abcdef"
	st, err := d.OpenStore(t.Context(), uid)
	require.NoError(t, err)
	const secret = "xylophone quartz"
	value := []byte(strings.Repeat(secret+" ", 40000))
	for i := range 12 {
		name := fmt.Sprintf("name of %s %d", secret, i%7)
		old, err := st.Get(t.Context(), name)
		require.NoError(t, err)
		require.NoError(t, st.Set(t.Context(), name, old, append(value, byte(i))))
	}
	look := func(what string) {
		n := 0
		filesOf(t, dir, func(path string, data []byte) {
			n++
			require.False(t, bytes.Contains(data, []byte("xylophone")), "%s: %s", what, path)
			require.False(t, bytes.Contains(data, []byte("CREATE TABLE")), "%s: %s", what, path)
		})
		require.Greater(t, n, 2, what)
	}
	look("open")

	// A copy of the files as a crash leaves them.
	crashed := t.TempDir()
	require.NoError(t, os.CopyFS(crashed, os.DirFS(dir)))
	b := filepath.Join(t.TempDir(), "backup")
	_, err = d.Backup(t.Context(), b, nil)
	require.NoError(t, err)
	filesOf(t, b, func(path string, data []byte) {
		require.False(t, bytes.Contains(data, []byte("xylophone")), path)
	})
	require.NoError(t, st.(backend.Purger).Purge(t.Context()))
	look("purged")
	require.NoError(t, d.Close())
	look("closed")

	restored := filepath.Join(t.TempDir(), "restored")
	require.NoError(t, Restore(t.Context(), b, restored))
	for what, dir := range map[string]string{"closed": dir, "crashed": crashed, "restored": restored} {
		t.Run(what, func(t *testing.T) {
			d, err := Open(t.Context(), dir, o)
			require.NoError(t, err, what)
			if what == "restored" { // the registry does not name the workspace
				require.NoError(t, d.Close())
				return
			}
			st, err := d.OpenStore(t.Context(), uid)
			require.NoError(t, err, what)
			for i := 5; i < 12; i++ {
				got, err := st.Get(t.Context(), fmt.Sprintf("name of %s %d", secret, i%7))
				require.NoError(t, err, what)
				require.Equal(t, append(value, byte(i)), got, what)
			}
			check(t, st.(*store))
			require.NoError(t, d.Close())
		})
	}
}

// Checks that a wrong key neither opens a directory nor changes a byte of it.
func TestKeysThatDoNotFit(t *testing.T) {
	t.Parallel()
	make := func(o *Options) string {
		dir := t.TempDir()
		d, err := Open(t.Context(), dir, o)
		require.NoError(t, err)
		st, err := d.OpenStore(t.Context(), "0123456789abcdef0123456789abcdef")
		require.NoError(t, err)
		require.NoError(t, st.Set(t.Context(), "a", nil, []byte("b")))
		crashed := t.TempDir() // with logs
		require.NoError(t, os.CopyFS(crashed, os.DirFS(dir)))
		require.NoError(t, d.Close())
		return crashed
	}
	sealed, plain := make(&Options{EncryptionKey: testKey}), make(nil)
	for name, test := range map[string]struct {
		dir  string
		o    *Options
		want error
		says string
	}{
		"another key": {sealed, &Options{EncryptionKey: bytes.Repeat([]byte{1}, 32)}, backend.ErrKey, "another key"},
		"no key":      {sealed, nil, backend.ErrCorrupt, "no key is given"},
		"not sealed":  {plain, &Options{EncryptionKey: testKey}, backend.ErrKey, "not encrypted"},
	} {
		t.Run(name, func(t *testing.T) {
			before := map[string][]byte{}
			filesOf(t, test.dir, func(path string, data []byte) { before[path] = data })
			_, err := Open(t.Context(), test.dir, test.o)
			require.ErrorIs(t, err, test.want, name)
			require.ErrorContains(t, err, test.says, name)
			filesOf(t, test.dir, func(path string, data []byte) {
				require.True(t, bytes.Equal(before[path], data), "%s: %s", name, path)
				delete(before, path)
			})
			require.Zero(t, len(before), name)
		})
	}
	_, err := Open(t.Context(), t.TempDir(), &Options{EncryptionKey: []byte("short")})
	require.ErrorContains(t, err, "5 bytes, want 32")

	// A store file of another deployment, copied under this deployment's registry.
	other := make(&Options{EncryptionKey: bytes.Repeat([]byte{9}, 32)})
	tenant := filepath.Join("tenants", "01", "0123456789abcdef0123456789abcdef")
	require.NoError(t, os.RemoveAll(filepath.Join(sealed, tenant)))
	require.NoError(t, os.CopyFS(filepath.Join(sealed, tenant), os.DirFS(filepath.Join(other, tenant))))
	d, err := Open(t.Context(), sealed, &Options{EncryptionKey: testKey})
	require.NoError(t, err)
	_, err = d.OpenStore(t.Context(), "0123456789abcdef0123456789abcdef")
	require.ErrorIs(t, err, backend.ErrKey)
	require.NoError(t, d.Close())
}

// Checks that a flipped byte in a page is detected, and that only this page is lost.
func TestEncryptedDamage(t *testing.T) {
	t.Parallel()
	dir, o := t.TempDir(), &Options{EncryptionKey: testKey}
	d, err := Open(t.Context(), dir, o)
	require.NoError(t, err)
	const uid = "0123456789abcdef0123456789abcdef"
	st, err := d.OpenStore(t.Context(), uid)
	require.NoError(t, err)
	require.NoError(t, st.Set(t.Context(), "big", nil, bytes.Repeat([]byte("word "), 20000)))
	require.NoError(t, st.Set(t.Context(), "small", nil, []byte("word")))
	require.NoError(t, d.Close())
	file := filepath.Join(dir, "tenants", uid[:2], uid, "store.db")
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	const stored = 4096 + 40
	require.Zero(t, len(data)%stored)
	damaged := 0
	for page := 1; page < len(data)/stored; page += 3 {
		bad := bytes.Clone(data)
		bad[page*stored+1000] ^= 4
		require.NoError(t, os.WriteFile(file, bad, 0o600))
		d, err := Open(t.Context(), dir, o)
		require.NoError(t, err)
		st, err := d.OpenStore(t.Context(), uid)
		if err != nil {
			require.ErrorIs(t, err, backend.ErrCorrupt)
			damaged++
			require.NoError(t, d.Close())
			continue
		}
		if _, err = st.Get(t.Context(), "big"); err != nil {
			require.ErrorIs(t, err, backend.ErrCorrupt)
			damaged++
			small, err := st.Get(t.Context(), "small")
			require.True(t, err != nil || string(small) == "word")
		}
		var found []backend.Finding
		_, err = st.(backend.Verifier).Verify(t.Context(), func(f backend.Finding) { found = append(found, f) })
		require.NoError(t, err)
		require.NotEmpty(t, found, "page %d", page)
		require.NoError(t, d.Close())
	}
	require.Greater(t, damaged, 5)
}
