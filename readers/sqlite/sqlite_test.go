package sqlite

import (
	"bytes"
	"database/sql"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/document"
)

// database writes a file with SQLite.
func database(tb testing.TB, statements ...string) []byte {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "a.sqlite")
	db, err := sql.Open("sqlite3", path)
	require.NoError(tb, err)
	for _, s := range statements {
		_, err := db.Exec(s)
		require.NoError(tb, err, s)
	}
	require.NoError(tb, db.Close())
	data, err := os.ReadFile(path)
	require.NoError(tb, err)
	return data
}

var garden = []string{`CREATE TABLE "the beds" (name TEXT, rows INTEGER, share REAL, photo BLOB, note)`,
	`INSERT INTO "the beds" VALUES ('north', 5, 0.084, x'00ff', 'by the wall | shaded'), ('south', 8, NULL, NULL, 'line one` + "\n" + `line two')`,
	`CREATE TABLE tools (tool TEXT)`, `INSERT INTO tools VALUES ('spade')`, `CREATE TABLE empty (x)`,
	`CREATE VIEW endless AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n) SELECT x FROM n`}

func TestParse(t *testing.T) {
	t.Parallel()
	doc, err := Parser{}.Parse(t.Context(), document.Input{Data: database(t, garden...)}, document.Limits{}.WithDefaults(0))
	require.NoError(t, err)
	assert.Equal(t, "## the beds\n\n| name | rows | share | photo | note |\n| --- | --- | --- | --- | --- |\n| north | 5 | 0.084 |  | by the wall \\| shaded |\n"+
		"| south | 8 |  |  | line one line two |\n\n## tools\n\n| tool |\n| --- |\n| spade |\n\n## empty", doc.Text)
	assert.Empty(t, doc.Partial)
	require.Len(t, doc.Pages, 3)
	assert.Equal(t, "tools", doc.Pages[1].Label)

	many := []string{"CREATE TABLE t (x)"}
	for i := range 20 {
		many = append(many, "INSERT INTO t VALUES ("+strconv.Itoa(i)+")")
	}
	doc, err = Parser{MaxRows: 5}.Parse(t.Context(), document.Input{Data: database(t, many...)}, document.Limits{}.WithDefaults(0))
	require.NoError(t, err)
	assert.NotEmpty(t, doc.Partial)
	assert.NotContains(t, doc.Text, "| 5 |")
}

// TestInAService: the option makes such files supported, and their rows are found.
func TestInAService(t *testing.T) {
	t.Parallel()
	svc, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{Parsers: map[string]document.Parser{MediaType: Parser{}}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, svc.Close()) })
	require.True(t, svc.Supported("garden.db", ""))
	_, err = svc.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	require.NoError(t, svc.Tenant("acme").WaitReady(t.Context()))
	s := svc.Tenant("acme").Sub("")
	res, err := s.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{Name: "garden.db", Data: database(t, garden...)}}})
	require.NoError(t, err)
	st, err := s.Wait(t.Context(), res.IDs()...)
	require.NoError(t, err)
	require.Equal(t, contextmem.StatusCompleted, st[0].Status, st[0].ErrorMessage)
	hits, err := s.Recall(t.Context(), contextmem.Recall{Query: "what is shaded by the wall?"})
	require.NoError(t, err)
	require.NotEmpty(t, hits.Chunks)
}

func TestDamaged(t *testing.T) {
	t.Parallel()
	whole := database(t, garden...)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		data := bytes.Clone(whole)
		if i%3 == 0 {
			data = data[:rnd.IntN(len(data))]
		} else {
			for range 1 + i%64 {
				data[rnd.IntN(len(data))] = byte(rnd.Uint32())
			}
		}
		doc, err := Parser{}.Parse(t.Context(), document.Input{Data: data}, document.Limits{}.WithDefaults(0))
		if err != nil {
			var e *document.Error
			require.ErrorAs(t, err, &e)
			continue
		}
		if i%3 == 0 {
			assert.NotEmpty(t, doc.Partial, "%d of %d bytes", len(data), len(whole))
		}
	}
}
