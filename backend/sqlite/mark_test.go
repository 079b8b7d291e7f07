package sqlite

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// TestCutLogIsNoticed crashes a store after its writes, and does to its write-ahead log what keeps SQLite from reading all of it. The store
// says what it lacks, as often as it is opened, until somebody has dealt with it. Where nothing is lost it says nothing.
func TestCutLogIsNoticed(t *testing.T) {
	t.Parallel()
	for name, o := range plainAndEncrypted("plain", "encrypted") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			_, s := reopenWith(t, dir, o)
			ingest(t, s, rand.New(rand.NewPCG(1, 1)), 0, 4)
			for n := 4; n < 24; n += 4 {
				ingest(t, s, rand.New(rand.NewPCG(uint64(n), 1)), n, n+4)
			}
			db := filepath.Join("tenants", testUID[:2], testUID, "store.db")
			log, err := os.ReadFile(filepath.Join(dir, db+"-wal"))
			require.NoError(t, err)
			half := len(bytes.TrimRight(log, "\x00")) / 2
			flipped := bytes.Clone(log)
			flipped[half] ^= 1
			for _, c := range []struct {
				name string
				log  []byte // nil: removed
				mark int64  // bytes that are left of the mark; -1: all
				lost bool
			}{
				{name: "as the crash left it", log: log, mark: -1},
				{name: "a bit in its middle", log: flipped, mark: -1, lost: true},
				{name: "cut in its middle", log: log[:half], mark: -1, lost: true},
				{name: "empty", log: []byte{}, mark: -1, lost: true},
				{name: "removed", mark: -1, lost: true},
				{name: "cut and half a mark", log: log[:half], mark: 20},
				{name: "cut and an empty mark", log: log[:half]},
			} {
				t.Run(c.name, func(t *testing.T) {
					crashed := t.TempDir()
					require.NoError(t, os.CopyFS(crashed, os.DirFS(dir)))
					require.NoError(t, os.Remove(filepath.Join(crashed, db+"-wal")))
					if c.log != nil {
						require.NoError(t, os.WriteFile(filepath.Join(crashed, db+"-wal"), c.log, 0o600))
					}
					if c.mark >= 0 {
						require.NoError(t, os.Truncate(filepath.Join(crashed, db+markSuffix), c.mark))
					}
					for i := range 2 {
						d, s := reopenWith(t, crashed, o)
						said := s.Lost()
						var found []string
						_, err := s.Verify(t.Context(), func(f backend.Finding) { found = append(found, f.What) })
						require.NoError(t, err)
						if assert.Equal(t, said, found); c.lost {
							require.Len(t, said, 1)
							require.Contains(t, said[0], "had acknowledged")
						} else {
							require.Empty(t, said)
						}
						ingest(t, s, rand.New(rand.NewPCG(uint64(i), 2)), 100+4*i, 104+4*i) // it goes on
						require.NoError(t, d.Close())
					}
					_ = os.Remove(filepath.Join(crashed, db+lostSuffix))
					_, s := reopenWith(t, crashed, o)
					require.Empty(t, s.Lost())
				})
			}
		})
	}
}

// markedStore returns the directory of a closed store, with the path of its database. The store has a mark.
func markedStore(t *testing.T) (dir, db string) {
	t.Helper()
	dir = t.TempDir()
	d, s := reopenTest(t, dir)
	ingest(t, s, rand.New(rand.NewPCG(1, 1)), 0, 4)
	require.NoError(t, d.Close())
	return dir, filepath.Join(dir, "tenants", testUID[:2], testUID, "store.db")
}

// raiseMark writes a mark that is ahead of a closed store, as if the store had lost changes.
func raiseMark(t *testing.T, db string, by int64) {
	t.Helper()
	m := highMark{path: db + markSuffix}
	m.write(&storerules.Numbers{Source: 4 + by, Seq: 100 + by, Event: 100, Entity: 100, Relation: 100, Merge: 100})
	require.NoError(t, m.close())
}

// TestRecordsOfLosses checks what a store says of its losses where the files that keep them are torn, or cannot be read or written.
func TestRecordsOfLosses(t *testing.T) {
	t.Parallel()
	lost := func(t *testing.T, dir string, n int) {
		t.Helper()
		d, s := reopenTest(t, dir)
		said := s.Lost()
		require.Len(t, said, n, "%q", said)
		ingest(t, s, rand.New(rand.NewPCG(9, 2)), 100, 104)
		require.Len(t, s.Lost(), n)
		require.NoError(t, d.Close())
	}
	t.Run("a torn line", func(t *testing.T) {
		t.Parallel()
		dir, db := markedStore(t)
		raiseMark(t, db, 1000)
		lost(t, dir, 1)
		b, err := os.ReadFile(db + lostSuffix)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(db+lostSuffix, b[:len(b)/2], 0o600))
		raiseMark(t, db, 2000)
		d, s := reopenTest(t, dir)
		said := s.Lost()
		require.Len(t, said, 2)
		require.Contains(t, said[0], "had acknowledged")
		require.Contains(t, said[1], "cannot be read")
		require.NoError(t, d.Close())
	})
	t.Run("a mark that cannot be read", func(t *testing.T) {
		t.Parallel()
		dir, db := markedStore(t)
		require.NoError(t, os.Remove(db+markSuffix))
		require.NoError(t, os.Mkdir(db+markSuffix, 0o700))
		lost(t, dir, 0)
	})
	t.Run("a mark that cannot be written for a while", func(t *testing.T) {
		t.Parallel()
		dir, db := markedStore(t)
		require.NoError(t, os.Remove(db+markSuffix))
		require.NoError(t, os.Mkdir(db+markSuffix, 0o700))
		d, s := reopenTest(t, dir)
		ingest(t, s, rand.New(rand.NewPCG(1, 2)), 4, 8)
		require.NoError(t, os.Remove(db+markSuffix))
		ingest(t, s, rand.New(rand.NewPCG(1, 3)), 8, 12)
		info, err := os.Stat(db + markSuffix)
		require.NoError(t, err)
		require.EqualValues(t, markBytes, info.Size())
		require.NoError(t, d.Close())
		lost(t, dir, 0)
	})
	t.Run("a record that cannot be written", func(t *testing.T) {
		t.Parallel()
		dir, db := markedStore(t)
		raiseMark(t, db, 1000)
		require.NoError(t, os.Mkdir(db+lostSuffix, 0o700))
		d, s := reopenTest(t, dir)
		require.NotEmpty(t, s.Lost())
		ingest(t, s, rand.New(rand.NewPCG(1, 2)), 4, 8)
		require.NoError(t, d.Close())
		require.NoError(t, os.Remove(db+lostSuffix))
		lost(t, dir, 1)
		lost(t, dir, 1)
	})
	t.Run("a mark that could not be set", func(t *testing.T) {
		t.Parallel()
		dir, db := markedStore(t)
		raiseMark(t, db, 1000)
		b, err := os.ReadFile(db + markSuffix)
		require.NoError(t, err)
		info, err := os.Stat(db + markSuffix)
		require.NoError(t, err)
		lost(t, dir, 1)
		require.NoError(t, os.WriteFile(db+markSuffix, b, 0o600))
		require.NoError(t, os.Chtimes(db+markSuffix, info.ModTime(), info.ModTime()))
		lost(t, dir, 1)
		require.NoError(t, os.WriteFile(db+markSuffix, b, 0o600)) // the same numbers again, later
		lost(t, dir, 2)
	})
	t.Run("closed twice", func(t *testing.T) {
		t.Parallel()
		dir, _ := markedStore(t)
		_, s := reopenTest(t, dir)
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { _ = s.Set(context.Background(), "x", nil, []byte("y")) })
			wg.Go(func() { assert.NoError(t, s.Close()) })
		}
		wg.Wait()
		s.high.write(&s.tx.led.Numbers)
		require.Nil(t, s.high.f)
	})
}
