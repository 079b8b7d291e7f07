//go:build cgo

package durability_test

import (
	stdsql "database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// editStore runs SQL in a store that no process has open, and returns the number of changed rows.
func editStore(t *testing.T, path, sql string) int64 {
	t.Helper()
	db, err := stdsql.Open("sqlite3", path)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	res, err := db.Exec(sql)
	if err != nil {
		return 0 // a constraint forbids it
	}
	n, err := res.RowsAffected()
	require.NoError(t, err)
	return n
}

// storeColumns lists the columns of a store's tables. The second value has the condition for the first row of the table.
func storeColumns(t *testing.T, path string) (out [][3]string) {
	t.Helper()
	db, err := stdsql.Open("sqlite3", path)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	// Without the record of its models a tenant is not served, and without its partition a sub-tenant is not found.
	rows, err := db.Query(`SELECT m.name, c.name, iif(m.sql LIKE '%WITHOUT ROWID%', '', ' WHERE rowid = (SELECT min(rowid) FROM ' || m.name || ')')
		FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT IN ('counters', 'epochs', 'parts', 'vals')`)
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	for rows.Next() {
		var c [3]string
		require.NoError(t, rows.Scan(&c[0], &c[1], &c[2]))
		out = append(out, c)
	}
	require.NoError(t, rows.Err())
	return out
}

// TestAWrongTypeStopsNothingElse stores a value of a wrong type in one row of each column in turn, as somebody may who edits the file. All
// lists answer without it, other items are found and processed, and items can be deleted.
func TestAWrongTypeStopsNothingElse(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("opens a hundred stores")
	}
	base := filepath.Join(t.TempDir(), "d")
	svc, err := contextmem.Open(t.Context(), base, nil)
	require.NoError(t, err)
	acme := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
	sub := acme.Sub("a")
	for i, s := range []string{"one", "two", "three"} {
		servicetest.Remember(t, sub, contextmem.Memory{ID: s, Session: s, Text: fmt.Sprintf("Anna Meyer works at Acme%d in Lisbon. She met Peter Vogel%d in the harbour.", i, i)})
	}
	servicetest.Remember(t, sub, contextmem.Memory{ID: "old", Text: "Robert Klein, also known as Bobby Klein, lives in Oslo."}, contextmem.Memory{ID: "new", Text: "Robert Klein lives in Bern."})
	_, err = sub.MergeEntities(t.Context(), facts.MergeEntitiesRequest{Class: contextmem.ClassMemory, From: "Anna Meyer", Into: "Robert Klein"})
	require.NoError(t, err)
	require.NoError(t, sub.Supersede(t.Context(), "old", "new", "he moved"))
	info, err := acme.Info(t.Context())
	require.NoError(t, err)
	require.NoError(t, svc.Close())
	file, err := filepath.Rel(base, servicetest.StoreFiles(t, base, info.UID)[0])
	require.NoError(t, err)
	for _, c := range storeColumns(t, filepath.Join(base, file)) {
		for _, queued := range []bool{false, true} {
			if queued && c[0] != "sources" && c[0] != "blobs" {
				continue
			}
			t.Run(fmt.Sprintf("%s.%s, queued: %v", c[0], c[1], queued), func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join(t.TempDir(), "d")
				require.NoError(t, os.CopyFS(dir, os.DirFS(base)))
				path := filepath.Join(dir, file)
				if editStore(t, path, fmt.Sprintf("UPDATE OR IGNORE %s SET %s = CASE typeof(%[2]s) WHEN 'integer' THEN 'x' WHEN 'real' THEN 'x' WHEN 'null' THEN x'01' WHEN 'text' THEN x'0102' ELSE 7 END%s", c[0], c[1], c[2])) == 0 {
					return
				}
				if queued {
					editStore(t, path, "UPDATE sources SET state = 1 WHERE num = 1 AND typeof(state) = 'integer'")
				}
				require.NoError(t, os.RemoveAll(filepath.Join(filepath.Dir(path), "index"))) // it is built from the feed
				serves(t, dir)
			})
		}
	}
}

// serves checks that a deployment of which the memory "one" may be damaged serves the others.
func serves(t *testing.T, dir string) {
	t.Helper()
	ctx := t.Context()
	svc, err := contextmem.Open(ctx, dir, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	sub := svc.Tenant("acme").Sub("a")
	require.Subset(t, servicetest.RecallIDs(t, sub, contextmem.Recall{Query: "who met Peter Vogel in the harbour"}), []string{"two", "three"})
	lists := map[string]func() error{
		"items":    func() error { _, err := sub.List(ctx, content.ListRequest{Class: contextmem.ClassMemory}); return err },
		"sessions": func() error { _, err := sub.Sessions(ctx, content.SessionsRequest{}); return err },
		"messages": func() error {
			_, err := sub.SessionMessages(ctx, content.SessionMessagesRequest{Session: "two"})
			return err
		},
		"facts": func() error {
			_, err := sub.Facts(ctx, facts.Request{Class: contextmem.ClassMemory, History: true})
			return err
		},
		"profile": func() error {
			_, err := sub.Profile(ctx, facts.ProfileRequest{Class: contextmem.ClassMemory, Subject: "Anna Meyer"})
			return err
		},
		"entities": func() error {
			_, err := sub.ListEntities(ctx, facts.EntityRequest{Class: contextmem.ClassMemory})
			return err
		},
		"relations": func() error {
			_, err := sub.GraphRelations(ctx, contextmem.GraphRelationsRequest{Class: contextmem.ClassMemory})
			return err
		},
		"merges": func() error {
			_, err := sub.Merges(ctx, facts.MergesRequest{Class: contextmem.ClassMemory})
			return err
		},
		"conflicts": func() error { _, err := sub.Conflicts(ctx, facts.ConflictsRequest{}); return err },
		"history":   func() error { _, err := sub.History(ctx, content.HistoryRequest{ID: "two"}); return err },
	}
	for what, list := range lists {
		require.NoError(t, list(), what)
	}
	servicetest.Remember(t, sub, contextmem.Memory{ID: "added", Text: "Anna Meyer works at Globex in Porto. Robert Klein, also known as Bobby Klein, lives in Rome."})
	require.Contains(t, servicetest.RecallIDs(t, sub, contextmem.Recall{Query: "who works at Globex in Porto?"}), "added")
	d, err := sub.DeleteItems(ctx, contextmem.DeleteItemsRequest{Class: contextmem.ClassMemory, IDs: []string{"one", "two", "added"}})
	require.NoError(t, err)
	require.GreaterOrEqual(t, d.Deleted, 2)
}
