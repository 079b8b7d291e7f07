package sqlite

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/internal/move"
)

// derived lists the columns that a move recomputes at its target or does not move.
var derived = map[string][]string{
	"sources":        {"hash", "due", "token", "lease", "crc", "original"},
	"vals":           {"crc"},
	"entities":       {"crc"},
	"relations":      {"crc"},
	"chunks":         {"hash", "vector_crc", "vector"}, // vectors are rows of a table of their own
	"stated_aliases": {"limited"},
}

// whole lists the tables that a move reads and writes in another form.
var whole = map[string]bool{"counters": true, "tags": true, "blobs": true, "pieces": true, "vectors": true, "lane_vectors": true, "parts": true, "sqlite_sequence": true}

// Checks that package move knows every table and column: a new one must be added there.
func TestMoveKnowsAllColumns(t *testing.T) {
	d, err := Open(t.Context(), t.TempDir(), nil)
	require.NoError(t, err)
	defer d.Close()
	s, err := d.OpenStore(t.Context(), backendtest.UID("move"))
	require.NoError(t, err)
	known := map[string][]string{}
	for _, t := range append(append(append([]*move.Table{}, move.Registry...), move.Workspace...), move.Blobs, move.Chunks, move.Vectors, move.Mentions, move.Edges, move.Stated) {
		for _, c := range t.Cols {
			known[t.Name] = append(known[t.Name], c.Name)
		}
	}
	look := func(c *conn) error {
		var tables []string
		err := c.each(bg, "SELECT name FROM sqlite_master WHERE type = 'table'", func(r *row) error {
			tables = append(tables, r.str(0))
			return nil
		})
		require.NoError(t, err)
		for _, table := range tables {
			if whole[table] {
				continue
			}
			var cols []string
			require.NoError(t, c.each(bg, fmt.Sprintf("SELECT name FROM pragma_table_info('%s')", table), func(r *row) error {
				cols = append(cols, r.str(0))
				return nil
			}))
			assert.ElementsMatch(t, cols, append(known[table], derived[table]...), table)
		}
		return nil
	}
	require.NoError(t, s.(*store).query(t.Context(), look))
	require.NoError(t, d.reg.query(context.Background(), look))
}
