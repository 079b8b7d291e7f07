package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/local"
	"github.com/contextmem/contextmem/judge"
)

var erased = []string{"Quibblefrost", "Zanthorpe", "Ophidianne", "blorptitle", "vundermeta", "krazzfield", "glimmerold", "snorkelid"}

// eraseSome fills a deployment and erases a part of it.
func eraseSome(t *testing.T, p *process) contextmem.EraseReceipt {
	t.Helper()
	ctx := t.Context()
	_, err := p.CreateTenant(ctx, contextmem.TenantSpec{ID: "acme", Schema: []contextmem.Field{{Name: "place", Match: true}}})
	require.NoError(t, err)
	require.NoError(t, p.Tenant("acme").WaitReady(ctx))
	sub := p.sub()
	remember(t, sub, contextmem.Memory{ID: "snorkelid", Title: "The blorptitle", Text: "Glimmerold was here first, and left."})
	require.NoError(t, p.Drain(ctx))
	remember(t, sub, contextmem.Memory{ID: "snorkelid", Title: "The blorptitle", Text: "Ophidianne is married to Quibblefrost. Ophidianne works at Zanthorpe.", Infer: true, UserName: "Ophidianne",
		Metadata: map[string]any{"place": "vundermeta"}, Additional: map[string]any{"x": "krazzfield"}},
		contextmem.Memory{ID: "long", Text: strings.Repeat("Zanthorpe has many rooms. ", 40_000)})
	remember(t, p.Tenant("acme").Sub("keep"), contextmem.Memory{ID: "kept", Text: "The kettle is on the shelf."})
	require.NoError(t, p.Drain(ctx))
	receipt, err := sub.Erase(ctx, contextmem.EraseRequest{IDs: []string{"snorkelid", "long", "absent"}})
	require.NoError(t, err)
	assert.Equal(t, 2, receipt.Items)
	require.NoError(t, p.VerifyReceipt(receipt))
	altered := receipt
	altered.Remains = nil
	require.ErrorIs(t, p.VerifyReceipt(altered), contextmem.ErrInvalid, "what remains is signed")
	report, err := p.Verify(ctx)
	require.NoError(t, err)
	assert.Empty(t, report.Problems)
	assert.Positive(t, report.Rows)
	return receipt
}

func nameOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	return strings.TrimPrefix(u.Path, "/")
}

// plainProcess is a service whose secret key is stored in the registry.
func plainProcess(t *testing.T, address string) *process {
	t.Helper()
	stores, err := Open(t.Context(), address, nil)
	require.NoError(t, err)
	stores.horizonWait = 5 * time.Minute
	indexes, err := local.Open(t.TempDir(), nil)
	require.NoError(t, err)
	svc, err := contextmem.New(t.Context(), backend.Compose(stores, indexes), &contextmem.Options{Judge: judge.None})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, svc.Close()) })
	return &process{Service: svc}
}

// tableRows returns the number of rows that contain a word, for each table. It reads columns as bytes.
func tableRows(t *testing.T, address, word string) string {
	t.Helper()
	pg := sharedServer(t)
	out, err := pg.SQL(nameOf(t, address), fmt.Sprintf(`SELECT string_agg(t.name || ': ' || t.n, ', ') FROM (
		SELECT c.relname AS name, (xpath('/row/n/text()', query_to_xml(format('SELECT count(*) AS n FROM %%I x WHERE position(encode(convert_to(%[1]s, ''UTF8''), ''hex'') in lower(x::text)) > 0 OR position(lower(%[1]s) in lower(x::text)) > 0', c.relname), false, true, '')))[1]::text::int AS n
		FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace) t WHERE t.n > 0`, "''"+word+"''"))
	require.NoError(t, err, out)
	return strings.TrimSpace(out)
}

func TestErase(t *testing.T) {
	t.Parallel()
	address := database(t, t.Name())
	p := plainProcess(t, address)
	receipt := eraseSome(t, p)
	assert.Len(t, receipt.Remains, 4, "other processes, the log, backups, free space: %q", receipt.Remains)
	for _, word := range erased {
		assert.Empty(t, tableRows(t, address, word), word)
	}
	assert.NotEmpty(t, tableRows(t, address, "kettle"), "or the test would see nothing")
	r, err := p.Tenant("acme").Sub("keep").Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "where is the kettle?"})
	require.NoError(t, err)
	assert.NotEmpty(t, r.Chunks)
}

// rewriting is a service whose erasures rewrite the tables.
func rewriting(t *testing.T, address string, wait time.Duration) *process {
	t.Helper()
	stores, err := Open(t.Context(), address, &Options{Rewrite: true})
	require.NoError(t, err)
	stores.horizonWait = wait
	p := &process{Service: serviceOver(t, stores)}
	t.Cleanup(func() { assert.NoError(t, p.Close()) })
	return p
}

// filesWith returns a function that returns the files of a database that contain a word.
func filesWith(t *testing.T, address string) func(word string) []string {
	t.Helper()
	pg, name := sharedServer(t), nameOf(t, address)
	oid, err := pg.SQL(name, "CHECKPOINT; SELECT oid FROM pg_database WHERE datname = current_database()")
	require.NoError(t, err)
	fields := strings.Fields(oid)
	dir := filepath.Join(pg.Dir, "data", "base", fields[len(fields)-1])
	return func(word string) (files []string) {
		require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) { // the server replaces files of its own, such as pg_internal.init
				return nil
			}
			if bytes.Contains(bytes.ToLower(b), []byte(strings.ToLower(word))) {
				files = append(files, filepath.Base(path))
			}
			return err
		}))
		return files
	}
}

// TestEraseRewrites checks that with Rewrite no file of the tables contains a byte of erased content. Tests beside it hold row versions for
// a while, so it waits for them as long as it takes.
func TestEraseRewrites(t *testing.T) {
	t.Parallel()
	address := database(t, t.Name())
	receipt := eraseSome(t, rewriting(t, address, 5*time.Minute))
	assert.Len(t, receipt.Remains, 3, "%q", receipt.Remains)
	holding := filesWith(t, address)
	assert.NotEmpty(t, holding("kettle"), "or the test would see nothing")
	for _, word := range erased {
		assert.Empty(t, holding(word), word)
	}
}

// TestEraseBesideTransactions checks that an erasure waits for transactions that may see what it deletes, and that its receipt tells when it
// has waited in vain. PostgreSQL keeps row versions for a snapshot of the same database, and for one that was taken while a transaction with
// a number ran in another.
func TestEraseBesideTransactions(t *testing.T) {
	t.Parallel()
	address, other := database(t, t.Name()), database(t, t.Name()+"Other")
	for _, kind := range []struct{ name, address, sql string }{
		{"a snapshot", address, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1"},
		{"a number elsewhere", other, "BEGIN; SELECT pg_current_xact_id()"},
	} {
		t.Run(kind.name, func(t *testing.T) {
			begin := func() func() {
				conn, err := pgx.Connect(t.Context(), kind.address)
				require.NoError(t, err)
				_, err = conn.Exec(t.Context(), kind.sql, pgx.QueryExecModeSimpleProtocol)
				require.NoError(t, err)
				return func() { assert.NoError(t, conn.Close(context.Background())) }
			}
			address := address
			if kind.address == other {
				address = database(t, t.Name())
			}
			end := begin()
			hasty := rewriting(t, address, time.Millisecond)
			receipt := eraseSome(t, hasty)
			assert.Len(t, receipt.Remains, 4, "%q", receipt.Remains)
			assert.NotEmpty(t, filesWith(t, address)(erased[0]), "or there is nothing to wait for")
			end()

			patient := rewriting(t, address, 5*time.Minute)
			sub := patient.sub()
			remember(t, sub, contextmem.Memory{ID: "late", Text: "Wumblethorn came last."})
			require.NoError(t, patient.Drain(t.Context()))
			end = begin()
			done := make(chan contextmem.EraseReceipt, 1)
			go func() {
				defer close(done)
				r, err := sub.Erase(t.Context(), contextmem.EraseRequest{IDs: []string{"late"}})
				if assert.NoError(t, err) {
					done <- r
				}
			}()
			require.Eventually(t, func() bool { return tableRows(t, address, "wumblethorn") == "" }, time.Minute, 20*time.Millisecond)
			select {
			case <-done:
				assert.Fail(t, "the erasure did not wait")
			case <-time.After(time.Second):
			}
			end()
			receipt = <-done
			assert.Len(t, receipt.Remains, 3, "%q", receipt.Remains)
			for _, word := range append([]string{"wumblethorn"}, erased...) {
				assert.Empty(t, filesWith(t, address)(word), word)
			}
		})
	}
}

// TestVerify checks that damage is found and reported with its item.
func TestVerify(t *testing.T) {
	t.Parallel()
	address := database(t, t.Name())
	stores, err := Open(t.Context(), address, nil)
	require.NoError(t, err)
	svc := serviceOver(t, stores)
	defer func() { require.NoError(t, svc.Close()) }()
	fillDeployment(t, svc)
	report, err := svc.Verify(t.Context())
	require.NoError(t, err)
	require.Empty(t, report.Problems)
	require.Greater(t, report.Rows, int64(100))
	for _, damage := range []struct{ sql, item, what string }{
		{"UPDATE chunks SET text = 'x' || text WHERE source = (SELECT num FROM sources WHERE id = 'old' AND newest)", "old", "checksum"},
		{"UPDATE vectors SET data = substring(data, 5) WHERE chunk = (SELECT first_chunk FROM sources WHERE id = 'new' AND newest)", "new", "checksum"},
		{"UPDATE blob_parts SET data = 'x' || data WHERE piece = 1", "large", "checksum"},
		{"UPDATE blobs SET data = 'x' || data WHERE pieces = 0 AND source = (SELECT num FROM sources WHERE id = 'f')", "f", "checksum"},
		{"UPDATE mentions SET crc = crc + 1 WHERE source = (SELECT num FROM sources WHERE id = 'says')", "says", "checksum"},
		{"UPDATE parts SET items = items + 1", "", "wrong count of items"},
		{"DELETE FROM chunks WHERE source = (SELECT num FROM sources WHERE id = 'new' AND newest)", "", "version without a chunk"},
		{"DELETE FROM changes WHERE sub IS NULL", "", "not in the feed"},
	} {
		_, err := sharedServer(t).SQL(nameOf(t, address), damage.sql)
		require.NoError(t, err)
		report, err := svc.Verify(t.Context())
		require.NoError(t, err)
		found := false
		for _, p := range report.Problems {
			found = found || p.ItemID == damage.item && strings.Contains(p.What, damage.what) && p.Where == "store"
		}
		assert.True(t, found, "%s: %v", damage.sql, report.Problems)
	}
}

// TestBackup checks that a backup is a directory's, of one moment, and that a directory restored from it has what the
// database has.
func TestBackup(t *testing.T) {
	t.Parallel()
	address := database(t, t.Name())
	p := plainProcess(t, address)
	fillDeployment(t, p.Service)
	require.NoError(t, p.RotateSecretKey(t.Context(), nil))
	_, err := p.SetWebhook(t.Context(), contextmem.WebhookSpec{URL: "https://hooks.example.com", Secret: "a secret of the receiver"})
	require.NoError(t, err)
	parent := t.TempDir()
	dir := filepath.Join(parent, "backup")
	back := func(least int) (copied int) {
		r, err := p.Backup(t.Context(), dir)
		require.NoError(t, err)
		assert.Equal(t, 3, r.Copied+r.Kept)
		assert.GreaterOrEqual(t, r.Copied, least)
		assert.Positive(t, r.Bytes)
		return r.Copied
	}
	back(3)
	require.Eventually(t, func() bool { return back(0) == 0 }, time.Minute, 10*time.Millisecond, "once work in the background has ended all are kept")
	remember(t, p.sub(), contextmem.Memory{ID: "last", Text: "The last word."})
	require.NoError(t, p.Drain(t.Context()))
	want := exportAll(t, p.Service)
	back(1)
	left, err := os.ReadDir(parent)
	require.NoError(t, err)
	assert.Len(t, left, 1, "nothing is left beside it")
	_, err = p.sub().DeleteItems(t.Context(), contextmem.DeleteItemsRequest{IDs: []string{"old"}}) // the backup does not change
	require.NoError(t, err)
	restored := filepath.Join(parent, "restored")
	require.NoError(t, contextmem.Restore(t.Context(), dir, restored))
	svc, err := contextmem.Open(t.Context(), restored, &contextmem.Options{Judge: judge.None})
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	assert.Equal(t, want, exportAll(t, svc))
	report, err := svc.Verify(t.Context())
	require.NoError(t, err)
	assert.Empty(t, report.Problems)
	require.NoError(t, svc.RotateSecretKey(t.Context(), nil), "the key went along")
	_, err = p.Backup(t.Context(), restored)
	require.ErrorIs(t, err, contextmem.ErrExists)
}
