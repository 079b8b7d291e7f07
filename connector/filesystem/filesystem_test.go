package filesystem

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/connector"
)

// writeFile writes a file and creates its folders.
func writeFile(t *testing.T, dir, name, text string) {
	t.Helper()
	p := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
	require.NoError(t, os.WriteFile(p, []byte(text), 0o644))
}

// age sets a file's modification time.
func age(t *testing.T, dir, name string, at time.Time) {
	t.Helper()
	require.NoError(t, os.Chtimes(filepath.Join(dir, name), at, at))
}

func provider(t *testing.T, roots ...string) *Provider {
	t.Helper()
	p, err := New(roots...)
	require.NoError(t, err)
	return p
}

func request(id, cursor string) connector.SyncRequest {
	return connector.SyncRequest{ResourceID: id, Cursor: cursor, Limit: 100, MaxBytes: 1 << 20,
		Supported: func(name, _ string) bool { return filepath.Ext(name) != ".zip" }}
}

// syncAll syncs until there is no more.
func syncAll(t *testing.T, p *Provider, r connector.SyncRequest) (found, deleted []string, cursor string) {
	t.Helper()
	for range 1000 {
		page, err := p.Sync(t.Context(), r)
		require.NoError(t, err)
		for _, o := range page.Objects {
			found = append(found, o.ExternalID)
		}
		deleted = append(deleted, page.Deleted...)
		r.Cursor = page.Cursor
		if !page.More {
			return found, deleted, r.Cursor
		}
	}
	t.Fatal("the sync does not end")
	return nil, nil, ""
}

func TestSyncFindsWhatChanged(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1, 2, 3, 100} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "docs")
			for _, f := range []string{"a.txt", "a/x.txt", "a/y/z.txt", "b.md", ".hidden", ".git/config.txt", "c.zip", "empty.txt"} {
				writeFile(t, dir, f, "text of "+f)
			}
			writeFile(t, dir, "empty.txt", "")
			writeFile(t, dir, "large.txt", strings.Repeat("x", 1<<20+1))
			p := provider(t, dir)
			r := request("docs", "")
			r.Limit = limit
			found, deleted, cursor := syncAll(t, p, r)
			require.Equal(t, []string{"a/x.txt", "a/y/z.txt", "a.txt", "b.md"}, found, limit)
			require.Empty(t, deleted)

			r.Cursor = cursor
			found, deleted, cursor = syncAll(t, p, r)
			require.Empty(t, found)
			require.Empty(t, deleted)

			writeFile(t, dir, "a/y/z.txt", "longer text now")
			age(t, dir, "b.md", time.Now().Add(-time.Hour)) // another time, the same content
			writeFile(t, dir, "a/new.txt", "new")
			require.NoError(t, os.Remove(filepath.Join(dir, "a.txt")))
			require.NoError(t, os.Remove(filepath.Join(dir, "a", "x.txt")))
			r.Cursor = cursor
			found, deleted, cursor = syncAll(t, p, r)
			require.Equal(t, []string{"a/new.txt", "a/y/z.txt"}, found, limit)
			slices.Sort(deleted)
			require.Equal(t, []string{"a.txt", "a/x.txt"}, deleted, limit)

			require.NoError(t, os.RemoveAll(filepath.Join(dir, "a")))
			r.Cursor = cursor
			found, deleted, _ = syncAll(t, p, r)
			require.Empty(t, found)
			require.Len(t, deleted, 2)
		})
	}
}

func TestSyncFiltersAndSince(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "docs")
	for _, f := range []string{"a.TXT", "b.md", "sub/c.txt"} {
		writeFile(t, dir, f, "text of "+f)
	}
	p := provider(t, dir)
	r := request("docs", "")
	r.Filters = map[string]any{"extensions": []any{".txt"}}
	found, _, cursor := syncAll(t, p, r)
	require.Equal(t, []string{"a.TXT", "sub/c.txt"}, found)
	r.Filters["recursive"], r.Cursor = false, cursor
	found, deleted, _ := syncAll(t, p, r)
	require.Empty(t, found)
	require.Equal(t, []string{"sub/c.txt"}, deleted)
	r.Filters = map[string]any{"extensions": "txt"}
	_, err := p.Sync(t.Context(), r)
	require.Error(t, err)

	age(t, dir, "b.md", time.Now().Add(-48*time.Hour))
	r = request("docs", "")
	r.Since = time.Now().Add(-24 * time.Hour)
	found, _, cursor = syncAll(t, p, r)
	require.Equal(t, []string{"a.TXT", "sub/c.txt"}, found)
	writeFile(t, dir, "b.md", "newer text")
	found, _, _ = syncAll(t, p, request("docs", cursor))
	require.Equal(t, []string{"b.md"}, found)
}

func TestNothingLeadsOutOfTheRoots(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir, outside := filepath.Join(base, "docs"), filepath.Join(base, "secret")
	writeFile(t, dir, "in/a.txt", "inside")
	writeFile(t, outside, "s.txt", "outside")
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "link")))
	require.NoError(t, os.Symlink(filepath.Join(outside, "s.txt"), filepath.Join(dir, "s.txt")))
	require.NoError(t, os.Symlink("../../secret", filepath.Join(dir, "in", "up")))
	p := provider(t, dir)
	found, _, _ := syncAll(t, p, request("docs", ""))
	require.Equal(t, []string{"in/a.txt"}, found)
	for _, id := range []string{"", ".", "..", "/", outside, "secret", "docs/..", "docs/../secret", "docs/in/../../secret", "docs//secret", "docs/", "docs/link", "docs/in/up",
		"docs/.hidden", "docs/in/up/s.txt", "../secret", "docs\x00"} {
		t.Run(id, func(t *testing.T) {
			_, err := p.Sync(t.Context(), request(id, ""))
			require.Error(t, err, "%q", id)
			if id != outside {
				require.NotContains(t, err.Error(), base, "%q", id)
			}
		})
	}
	rs, _, err := p.Discover(t.Context(), nil, "", 100)
	require.NoError(t, err)
	require.Len(t, rs, 2)
}

func TestDiscoverPages(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	want := []string{"a", "a/x", "a/x/deep", "a/y", "a-b", "a-b/q", "b"}
	for _, d := range append(want, "b/.hidden") {
		require.NoError(t, os.MkdirAll(filepath.Join(base, d), 0o755))
	}
	p := provider(t, filepath.Join(base, "a"), filepath.Join(base, "a-b"), filepath.Join(base, "b"))
	for limit := 1; limit <= 8; limit++ {
		var got []string
		for cursor := ""; ; {
			rs, next, err := p.Discover(t.Context(), nil, cursor, limit)
			require.NoError(t, err)
			require.LessOrEqual(t, len(rs), limit)
			for _, r := range rs {
				got = append(got, r.ID)
			}
			if cursor = next; cursor == "" {
				break
			}
		}
		require.Equal(t, want, got, limit)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	writeFile(t, base, "file", "x")
	writeFile(t, base, "one/same/f", "x")
	writeFile(t, base, "two/same/f", "x")
	for _, roots := range [][]string{nil, {filepath.Join(base, "absent")}, {filepath.Join(base, "file")}, {"/"}, {filepath.Join(base, "one/same"), filepath.Join(base, "two/same")}} {
		_, err := New(roots...)
		require.Error(t, err, "%q", roots)
	}
}

func FuzzCursor(f *testing.F) {
	c := cursor{after: "b", entries: []entry{{path: "a/x", modified: 1, size: 2, hash: [8]byte{3}}, {path: "a/y", modified: -4, size: 5}}}
	s, err := c.encode()
	require.NoError(f, err)
	f.Add(s)
	f.Add("1")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := decodeCursor(s)
		if err != nil {
			return
		}
		again, err := c.encode()
		require.NoError(t, err)
		back, err := decodeCursor(again)
		require.NoError(t, err)
		require.Equal(t, c, back)
	})
}

// TestFolderOfFiveHundred syncs a folder into a service, changes it, and syncs it again.
func TestFolderOfFiveHundred(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "handbook")
	for i := range 500 {
		writeFile(t, dir, fmt.Sprintf("part%d/note%03d.txt", i%7, i), fmt.Sprintf("Note %d says that shelf %d holds parcel number %d.", i, i%13, i*31))
	}
	writeFile(t, dir, "part0/special.md", "# Walrus\n\nThe walrus statue stands beside the fountain.\n")
	svc, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{Providers: []connector.Provider{provider(t, dir)}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, svc.Close()) })
	_, err = svc.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	acme := svc.Tenant("acme")
	require.NoError(t, acme.WaitReady(t.Context()))
	c, err := svc.CreateConnector(t.Context(), contextmem.ConnectorSpec{Provider: Name, Tenant: "acme"})
	require.NoError(t, err)
	_, err = svc.AddResources(t.Context(), c.ID, []contextmem.ConnectorResource{{ResourceID: "handbook"}})
	require.NoError(t, err)

	// settled waits for a sync to end that has handed over n objects in all.
	settled := func(n int) {
		t.Helper()
		require.Eventually(t, func() bool {
			c, err := svc.Connector(t.Context(), c.ID)
			require.NoError(t, err)
			require.Empty(t, c.LastError)
			return c.SyncStatus == contextmem.SyncIdle && c.Dispatched >= n
		}, time.Minute, 10*time.Millisecond)
		require.NoError(t, svc.Drain(t.Context()))
		c, err := svc.Connector(t.Context(), c.ID)
		require.NoError(t, err)
		require.Equal(t, n, c.Dispatched)
	}
	sources := func() int {
		p, err := acme.List(t.Context(), contextmem.ListRequest{})
		require.NoError(t, err)
		return p.Total
	}
	recall := func(q string) string {
		res, err := acme.Recall(t.Context(), contextmem.Recall{Query: q})
		require.NoError(t, err)
		var b strings.Builder
		for _, ch := range res.Chunks {
			b.WriteString(ch.Text + "\n")
		}
		return b.String()
	}
	settled(501)
	require.Equal(t, 501, sources())
	require.Contains(t, recall("where is the walrus statue?"), "fountain")

	writeFile(t, dir, "part1/note001.txt", "Note 1 was rewritten: the shelf was sold to the harbour museum.")
	writeFile(t, dir, "part2/added.txt", "A kiosk sells postcards of the canal.")
	require.NoError(t, os.Remove(filepath.Join(dir, "part0", "special.md")))
	_, err = svc.SyncNow(t.Context(), c.ID)
	require.NoError(t, err)
	settled(503)
	require.Equal(t, 501, sources())
	require.NotContains(t, recall("where is the walrus statue?"), "walrus")
	require.Contains(t, recall("harbour museum"), "harbour museum")
	require.Contains(t, recall("postcards"), "canal")
}

// TestUnreadableFoldersKeepTheirFiles checks that files of a folder that cannot be read now are not reported as
// deleted.
func TestUnreadableFoldersKeepTheirFiles(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "docs")
	writeFile(t, dir, "locked/keep", "x")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	w := &walker{r: request("docs", ""), recursive: true, page: &connector.Page{}}
	require.Error(t, w.visit("", "locked", entries[0], os.ErrPermission), "the folder is skipped")
	w.missing(cursor{entries: []entry{{path: "gone.txt"}, {path: "locked/a.txt"}, {path: "locked/b/c.txt"}, {path: "locked2.txt"}}})
	require.Equal(t, []string{"gone.txt", "locked2.txt"}, w.page.Deleted)
	require.Equal(t, []entry{{path: "locked/a.txt"}, {path: "locked/b/c.txt"}}, w.next.entries)
}
