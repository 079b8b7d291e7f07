package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// column is a column of a table.
type column struct {
	table, name string
	row         string // condition for one row of the table; empty: the table has no row numbers
}

// columnsOf lists the columns of all tables that have rows, but not those by which items, sub-tenants and aliases are found, nor those
// that all items share.
func columnsOf(t *testing.T, s *store) (out []column) {
	t.Helper()
	var tables []column
	require.NoError(t, s.read(t.Context(), func(c *conn) error {
		return c.each(bg, "SELECT name, sql LIKE '%WITHOUT ROWID%' FROM sqlite_master WHERE type = 'table' AND name NOT IN ('counters', 'epochs', 'parts') ORDER BY name", func(r *row) error {
			x := column{table: r.str(0)}
			if r.int(1) == 0 {
				x.row = " WHERE rowid = (SELECT min(rowid) FROM " + x.table + ")"
			}
			tables = append(tables, x)
			return nil
		})
	}))
	keys := []string{"sources.num", "sources.hash", "sources.part", "sources.id", "sources.newest", "aliases.part", "aliases.key"}
	for _, x := range tables {
		require.NoError(t, s.read(t.Context(), func(c *conn) error {
			return c.each(bg, "SELECT name FROM pragma_table_info(?) WHERE EXISTS (SELECT 1 FROM "+x.table+")", func(r *row) error {
				if x.name = r.str(0); !slices.Contains(keys, x.table+"."+x.name) {
					out = append(out, x)
				}
				return nil
			}, x.table)
		}))
	}
	return out
}

// countRows counts the rows of a table.
func countRows(t *testing.T, s *store, table string) (n int64) {
	t.Helper()
	require.NoError(t, s.read(context.Background(), func(c *conn) error {
		_, err := c.one(bg, "SELECT count(*) FROM "+table, func(r *row) error {
			n = r.int(0)
			return nil
		})
		return err
	}))
	return n
}

// TestWhateverIsDamagedCanBeDeleted damages each column of each table in turn, and checks that all items, and the sub-tenant, can be
// deleted or replaced, and that nothing of them is left.
func TestWhateverIsDamagedCanBeDeleted(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	dir := t.TempDir()
	d, s := reopenTest(t, dir)
	accepted := ingest(t, s, rand.New(rand.NewPCG(1, 1)), 0, 4)
	_, err := s.PutSuccession(t.Context(), backend.Succession{Later: accepted[1].Num, Earlier: accepted[0].Num, LaterChunk: -1, EarlierChunk: -1, Created: testTime})
	require.NoError(t, err)
	list, _, err := s.List(t.Context(), backend.ListQuery{Part: testPart, Limit: 10})
	require.NoError(t, err)
	var ids []string
	for _, src := range list {
		ids = append(ids, src.ID)
	}
	require.Len(t, ids, 4)
	columns := columnsOf(t, s)
	require.NoError(t, d.Close())
	file := filepath.Join("tenants", testUID[:2], testUID, "store.db")
	good, err := os.ReadFile(filepath.Join(dir, file))
	require.NoError(t, err)

	values := map[string]string{
		"another value": "CASE typeof(X) WHEN 'text' THEN '~' || substr(X, 2) WHEN 'blob' THEN cast(x'fe' || substr(X, 2) AS BLOB) ELSE X + 1048576 END",
		"a near value":  "CASE typeof(X) WHEN 'text' THEN '' WHEN 'blob' THEN x'' WHEN 'integer' THEN X - 1 ELSE -1 END",
		"another type":  "CASE typeof(X) WHEN 'integer' THEN 'x' WHEN 'text' THEN 7 WHEN 'blob' THEN 7 ELSE x'01' END",
	}
	removals := map[string]func(t *testing.T, s *store) error{
		"items": func(t *testing.T, s *store) error {
			_, err := s.Delete(t.Context(), testPart, ids, backend.DeleteOptions{})
			return err
		},
		"sub-tenant": func(t *testing.T, s *store) error {
			n, err := s.DeleteSub(t.Context(), testPart.Sub, 100)
			if err == nil && n == 0 {
				err = backend.ErrNotFound
			}
			return err
		},
		"replaced": func(t *testing.T, s *store) error {
			ingest(t, s, rand.New(rand.NewPCG(1, 1)), 0, 4)
			_, err := s.Delete(t.Context(), testPart, ids, backend.DeleteOptions{})
			return err
		},
	}
	// Where one of these columns is damaged, nothing tells that a row belongs to the item, or is needed no longer. Verify reports such rows.
	unknown := []string{"entities.uses", "relations.source", "relations.to_key", "sources.graph", "sources.chunks", "stated_aliases.source", "vectors.chunk"}
	content := []string{"sources", "chunks", "vectors", "lane_vectors", "blobs", "pieces", "mentions", "stated_aliases", "relations", "successions", "entities"}
	for _, c := range columns {
		for how, value := range values {
			for what, remove := range removals {
				if what != "items" && how != "another value" { // an item whose own row has another type has to be deleted before it is ingested again
					continue
				}
				t.Run(fmt.Sprintf("%s.%s %s %s", c.table, c.name, how, what), func(t *testing.T) {
					require.NoError(t, os.WriteFile(filepath.Join(dir, file), good, 0o600))
					db, s := reopenTest(t, dir)
					err := s.change(t.Context(), func(tx *tx) error {
						return tx.c.do("UPDATE OR IGNORE " + c.table + " SET " + c.name + " = " + strings.ReplaceAll(value, "X", c.name) + c.row)
					})
					if err != nil {
						return // a constraint forbids it
					}
					require.NoError(t, db.Close())
					_, s = reopenTest(t, dir)
					require.NoError(t, remove(t, s))
					for _, table := range content {
						if slices.Contains(unknown, c.table+"."+c.name) {
							break
						}
						assert.Zero(t, countRows(t, s, table), table)
					}
				})
			}
		}
	}
}
