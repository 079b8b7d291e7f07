package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

func TestOpenLocked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d, err := Open(t.Context(), dir, nil)
	require.NoError(t, err)
	_, err = Open(t.Context(), dir, nil)
	require.ErrorIs(t, err, backend.ErrLocked)
	require.ErrorContains(t, err, "this process has it open already")
	out, err := child(t, "open", dir).CombinedOutput()
	require.Error(t, err, "another process got in")
	assert.Contains(t, string(out), backend.ErrLocked.Error())
	require.NoError(t, d.Close())
	out, err = child(t, "open", dir).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// TestChild is the program of child processes, not a test.
func TestChild(t *testing.T) {
	what, dir := os.Getenv("SQLITE_TEST_CHILD"), os.Getenv("SQLITE_TEST_DIR")
	switch what {
	case "":
		return // run as part of the suite: nothing to do
	case "open":
		d, err := Open(t.Context(), dir, nil)
		require.NoError(t, err)
		require.NoError(t, d.Close())
	case "write":
		writeForEver(t, dir, nil)
	case "write encrypted":
		writeForEver(t, dir, &Options{EncryptionKey: testKey})
	default:
		t.Fatalf("unknown child %q", what)
	}
}

// child returns a command that runs TestChild in its own process.
func child(t *testing.T, what, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestChild$", "-test.timeout=60s")
	cmd.Env = append(os.Environ(), "SQLITE_TEST_CHILD="+what, "SQLITE_TEST_DIR="+dir)
	return cmd
}

func TestOpenOptions(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{{Readers: -1}, {Readers: 65}, {CacheBytes: 100}} {
		t.Run(o.vfs, func(t *testing.T) {
			_, err := Open(t.Context(), t.TempDir(), &o)
			require.Error(t, err, "%+v", o)
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := filepath.Join(t.TempDir(), "new")
	_, err := Open(ctx, dir, nil)
	require.ErrorIs(t, err, context.Canceled)
	assert.NoDirExists(t, dir)
}

func TestOpenOddDirectories(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a?b=c", "100%41", "hash#tag", "späce and 'quote'", "semi;colon&amp"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), name)
			d, err := Open(t.Context(), dir, nil)
			require.NoError(t, err, "%q", name)
			s, err := d.OpenStore(t.Context(), testUID)
			require.NoError(t, err)
			require.NoError(t, s.Set(t.Context(), "k", nil, []byte("v")))
			require.NoError(t, d.Close())
			assert.FileExists(t, filepath.Join(dir, "deployment.db"))
			assert.FileExists(t, filepath.Join(dir, "tenants", testUID[:2], testUID, "store.db"))
		})
	}
}

func TestUIDs(t *testing.T) {
	t.Parallel()
	d, _ := openTest(t)
	for _, uid := range []string{
		"", "..", "../../../../../../../../etc/passwd0", strings.Repeat("a", 31), strings.Repeat("a", 33),
		strings.Repeat("A", 32), strings.Repeat("a", 31) + "/", strings.Repeat("a", 31) + "\x00", strings.Repeat("g", 32),
	} {
		t.Run(uid, func(t *testing.T) {
			_, err := d.OpenStore(t.Context(), uid)
			require.Error(t, err, "%q", uid)
			require.Error(t, d.RemoveStore(t.Context(), uid), "%q", uid)
		})
	}
	_, err := d.OpenStore(t.Context(), testUID)
	require.ErrorIs(t, err, backend.ErrConflict, "opened twice")
	require.ErrorIs(t, d.RemoveStore(t.Context(), testUID), backend.ErrConflict, "removed while open")
}

func TestNewerSchema(t *testing.T) {
	t.Parallel()
	for file, known := range map[string]schema{"deployment.db": deploymentSchema, filepath.Join("tenants", testUID[:2], testUID, "store.db"): storeSchema} {
		t.Run(file, func(t *testing.T) {
			dir := t.TempDir()
			d, _ := openOnce(t, dir)
			require.NoError(t, d.Close())
			c, err := openConn(filepath.Join(dir, file), connOptions{})
			require.NoError(t, err)
			require.NoError(t, c.script("PRAGMA user_version = 77"))
			require.NoError(t, c.close())
			d, err = Open(t.Context(), dir, nil)
			if err == nil {
				_, err = d.OpenStore(t.Context(), testUID)
				require.NoError(t, d.Close())
			}
			require.ErrorIs(t, err, backend.ErrNewerSchema)
			require.ErrorContains(t, err, "schema 77")
			require.ErrorContains(t, err, fmt.Sprint("up to ", len(known)))
		})
	}
}

// TestRelationsOfTheFirstSchema checks that relations stored before rivals had their own time keep the time at which
// they were learnt.
func TestRelationsOfTheFirstSchema(t *testing.T) {
	t.Parallel()
	c, err := openConn(filepath.Join(t.TempDir(), "old.db"), connOptions{})
	require.NoError(t, err)
	defer c.close()
	require.NoError(t, storeSchema[:1].migrate(t.Context(), c, "file"))
	for i, ord := range []int64{7, storerules.Never} {
		require.NoError(t, c.do(`INSERT INTO relations (num, part, source, chunk, from_id, to_id, ord, flags, confidence, predicate, from_key, to_key, raw, context,
			temporal, origin, kind, object, precision) VALUES (?, 1, 1, 1, 1, 0, ?, 0, 1, 'p', 'k', '', '', '', '', '', '', '', '')`, i+1, ord))
	}
	require.NoError(t, storeSchema.migrate(t.Context(), c, "file"))
	var known []time.Time
	require.NoError(t, c.each(t.Context(), "SELECT "+relationCols+" FROM relations r ORDER BY num", func(r *row) error {
		rel := readRelation(r)
		require.Zero(t, rel.Asserted)
		known = append(known, rel.KnownFrom)
		return nil
	}))
	require.Equal(t, []time.Time{time.UnixMicro(7).UTC(), {}}, known)
}

// openOnce opens a store without closing it at the end of the test.
func openOnce(t *testing.T, dir string) (*DB, backend.Store) {
	t.Helper()
	d, err := Open(t.Context(), dir, nil)
	require.NoError(t, err)
	s, err := d.OpenStore(t.Context(), testUID)
	require.NoError(t, err)
	return d, s
}

// TestSchema1 opens files written by the first release.
func TestSchema1(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "tenants", testUID[:2], testUID)
	require.NoError(t, os.MkdirAll(path, 0o700))
	fixture(t, filepath.Join(dir, "deployment.db"), deploymentSchema[:1],
		"INSERT INTO tenants VALUES ('"+testUID+"', 'default', 'demo', 'ready', '', 5, x'01', 3, NULL)")
	fixture(t, filepath.Join(path, "store.db"), storeSchema[:1],
		"INSERT INTO vals VALUES ('name', "+crcText([]byte("value"))+", x'76616c7565')")
	d, s := openOnce(t, dir)
	tenant, err := d.Registry().Tenant(t.Context(), "default", "demo")
	require.NoError(t, err)
	assert.Equal(t, int64(3), tenant.Rev)
	value, err := s.Get(t.Context(), "name")
	require.NoError(t, err)
	assert.Equal(t, "value", string(value))
	require.NoError(t, d.Close())
}

func fixture(t *testing.T, path string, s schema, sql string) {
	t.Helper()
	c, err := openConn(path, connOptions{})
	require.NoError(t, err)
	require.NoError(t, s.migrate(t.Context(), c, "fixture"))
	require.NoError(t, c.script(sql))
	require.NoError(t, c.close())
}

func TestMigrationIsAtomic(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	c, err := openConn(path, connOptions{})
	require.NoError(t, err)
	s := schema{"CREATE TABLE one (a)", "CREATE TABLE two (a); CREATE TABLE one (a)"}
	require.Error(t, s.migrate(t.Context(), c, "file"))
	require.NoError(t, c.do("INSERT INTO one VALUES (1)"), "the first step stays")
	require.Error(t, c.do("INSERT INTO two VALUES (1)"), "the second left nothing")
	require.NoError(t, schema{s[0], "CREATE TABLE two (a)"}.migrate(t.Context(), c, "file"), "and can be repeated")
	require.NoError(t, c.close())
}

func TestRemoveStore(t *testing.T) {
	t.Parallel()
	d, s := openTest(t)
	require.NoError(t, s.Set(t.Context(), "k", nil, []byte("v")))
	require.NoError(t, s.Close())
	require.NoError(t, d.RemoveStore(t.Context(), testUID))
	assert.NoDirExists(t, d.path(testUID))
	require.NoError(t, d.RemoveStore(t.Context(), testUID))
	require.NoError(t, d.RemoveStore(t.Context(), strings.Repeat("ef", 16)), "never there")
}

func TestCloseTwice(t *testing.T) {
	t.Parallel()
	d, old := openTest(t)
	require.NoError(t, old.Close())
	s, err := d.OpenStore(t.Context(), testUID)
	require.NoError(t, err)
	require.NoError(t, old.Close())
	_, err = d.OpenStore(t.Context(), testUID)
	require.ErrorIs(t, err, backend.ErrConflict, "closing the old one again let a second in")
	require.NoError(t, s.Set(t.Context(), "k", nil, nil))
}

func TestClose(t *testing.T) {
	t.Parallel()
	d, s := openTest(t)
	started, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		var err error
		for n := 0; err == nil; n++ {
			if n == 20 {
				close(started)
			}
			_, err = s.Accept(context.Background(), []backend.Incoming{{Source: backend.Source{Part: testPart, ID: "a"}}})
		}
		ended <- err
	}()
	<-started
	require.NoError(t, d.Close(), "with calls under way")
	require.ErrorIs(t, <-ended, backend.ErrClosed)
	require.NoError(t, d.Close())
	require.NoError(t, s.Close())
	_, err := s.Get(t.Context(), "k")
	require.ErrorIs(t, err, backend.ErrClosed)
	_, err = d.OpenStore(t.Context(), testUID)
	require.ErrorIs(t, err, backend.ErrClosed)
	_, err = d.Registry().Tenant(t.Context(), "", "x")
	require.ErrorIs(t, err, backend.ErrClosed)
	wal, err := os.Stat(filepath.Join(d.path(testUID), "store.db-wal"))
	assert.True(t, errors.Is(err, os.ErrNotExist), "the log is in the file: %v", wal)
}
