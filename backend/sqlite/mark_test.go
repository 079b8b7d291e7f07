package sqlite

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
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
