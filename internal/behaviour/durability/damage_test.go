//go:build cgo

package durability_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// flipBits flips a bit in each occurrence of a text in the files.
func flipBits(t *testing.T, files []string, text string) {
	t.Helper()
	n := 0
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		for at := 0; ; n++ {
			i := bytes.Index(b[at:], []byte(text))
			if i < 0 {
				break
			}
			b[at+i+len(text)/2] ^= 1
			at += i + len(text)
		}
		require.NoError(t, os.WriteFile(f, b, 0o600))
	}
	require.Positive(t, n)
}

func hasWarning(ws []fault.Warning, code string) bool {
	for _, w := range ws {
		if w.Code == code {
			return true
		}
	}
	return false
}

// TestDamagedItemIsReplaced checks that an item of which something is damaged can be ingested again beside others of the same call,
// edited, brought back from an earlier version, and deleted.
func TestDamagedItemIsReplaced(t *testing.T) {
	t.Parallel()
	first := contextmem.Memory{ID: "bad", Title: "Inventory of pans", Text: "The pan in the pantry is made of bronze."}
	last := contextmem.Memory{ID: "bad", Title: "Inventory of kettles", Text: "The kettle in the pantry is made of copper.", Metadata: map[string]any{"shelf": "kettle-metadata"}}
	damages := map[string]string{"text": last.Text, "title": last.Title, "metadata": `"kettle-metadata"`, "versions": first.Text}
	text := "The kettle in the cellar is made of steel."
	changes := map[string]func(t *testing.T, s contextmem.Sub, damaged string) error{
		"ingested again": func(t *testing.T, s contextmem.Sub, _ string) error {
			_, err := s.Remember(t.Context(), contextmem.Memory{ID: "new", Text: text}, contextmem.Memory{ID: "bad", Text: text})
			return err
		},
		"deleted": func(t *testing.T, s contextmem.Sub, _ string) error {
			d, err := s.DeleteItems(t.Context(), contextmem.DeleteItemsRequest{Class: contextmem.ClassMemory, IDs: []string{"bad", "good"}})
			if err == nil {
				require.Equal(t, 2, d.Deleted)
			}
			return err
		},
		"deleted by session": func(t *testing.T, s contextmem.Sub, damaged string) error {
			n, err := s.DeleteMatching(t.Context(), content.Matching{Class: contextmem.ClassMemory, Session: "one"})
			if damaged == "title" || damaged == "metadata" { // the row does not say what it matches
				require.Equal(t, 1, n)
				require.True(t, fault.Damaged(err), "%v", err)
				return nil
			}
			require.Equal(t, 2, n)
			return err
		},
	}
	for what, damaged := range damages {
		for how, change := range changes {
			t.Run(what+" "+how, func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join(t.TempDir(), "d")
				open := func() (*contextmem.Service, contextmem.Sub) {
					svc, err := contextmem.Open(t.Context(), dir, nil)
					require.NoError(t, err)
					return svc, svc.Tenant("acme").Sub("a")
				}
				svc, sub := open()
				acme := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
				first, last, good := first, last, contextmem.Memory{ID: "good", Text: "The kettle in the attic is made of tin.", Session: "one"}
				first.Session, last.Session = "one", "one"
				servicetest.Remember(t, sub, first, good)
				servicetest.Remember(t, sub, last)
				info, err := acme.Info(t.Context())
				require.NoError(t, err)
				require.NoError(t, svc.Close())
				flipBits(t, servicetest.StoreFiles(t, dir, info.UID), damaged)
				svc, sub = open()
				defer func() { require.NoError(t, svc.Close()) }()
				sts, err := sub.Status(t.Context(), "bad", "good", "absent")
				require.NoError(t, err)
				want := [...]string{"", "", "FILE_NOT_FOUND"}
				if what == "title" || what == "metadata" {
					want[0] = "E6002"
				}
				require.Equal(t, want, [...]string{sts[0].ErrorCode, sts[1].ErrorCode, sts[2].ErrorCode})
				require.NoError(t, change(t, sub, what))
				ids := servicetest.RecallIDs(t, sub, contextmem.Recall{Query: "which kettle is made of steel?"})
				if how == "ingested again" {
					require.Subset(t, ids, []string{"bad", "new", "good"})
					in, err := sub.Fetch(t.Context(), contextmem.FetchRequest{ID: "bad"})
					require.NoError(t, err)
					require.Equal(t, text, in.Text)
					_, err = sub.History(t.Context(), content.HistoryRequest{ID: "bad"})
					require.NoError(t, err)
					rep, err := svc.Verify(t.Context())
					require.NoError(t, err)
					require.Empty(t, rep.Problems)
					return
				}
				require.Empty(t, ids)
			})
		}
	}
}

// TestDamageIsLeftOut checks that a recall or a list leaves out a damaged row and reports that, also after the indexes
// are rebuilt.
func TestDamageIsLeftOut(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"text":     "The kettle in the pantry is made of copper.",
		"title":    "Inventory of kettles",
		"metadata": `"kettle-metadata"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "d")
			open := func() (*contextmem.Service, contextmem.Sub) {
				svc, err := contextmem.Open(t.Context(), dir, nil)
				require.NoError(t, err)
				return svc, svc.Tenant("acme").Sub("a")
			}
			svc, sub := open()
			acme := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
			servicetest.Remember(t, sub,
				contextmem.Memory{ID: "bad", Title: "Inventory of kettles", Text: "The kettle in the pantry is made of copper. Alice is fond of rhubarb cake.", Metadata: map[string]any{"shelf": "kettle-metadata"}},
				contextmem.Memory{ID: "good", Text: "The kettle in the attic is made of steel."})
			info, err := acme.Info(t.Context())
			require.NoError(t, err)
			require.NoError(t, svc.Close())
			flipBits(t, servicetest.StoreFiles(t, dir, info.UID), text)
			for _, rebuilt := range []bool{false, true} {
				if rebuilt {
					require.NoError(t, os.RemoveAll(filepath.Join(dir, "tenants", info.UID[:2], info.UID, "index")))
				}
				svc, sub = open()
				for _, mode := range []contextmem.Mode{contextmem.ModeFast, contextmem.ModeThinking} {
					res, err := sub.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "which kettle is made of copper, and who likes cake?", Mode: mode, GraphContext: true})
					require.NoError(t, err)
					require.True(t, hasWarning(res.Warnings, "damaged") || name == "text" && rebuilt, "%v", res.Warnings) // the index has no such row then
					found := map[string]bool{}
					for _, c := range res.Chunks {
						found[c.SourceID] = true
					}
					require.True(t, found["good"])
					require.False(t, found["bad"])
				}
				list, err := sub.List(t.Context(), contextmem.ListRequest{Class: contextmem.ClassMemory})
				require.NoError(t, err)
				require.True(t, hasWarning(list.Warnings, "damaged"))
				require.Len(t, list.Sources, 1)
				require.NoError(t, svc.Close())
			}
		})
	}
}

// TestColumnsOfAnotherType edits the store as no release writes it. Lists of sessions and merges leave out such rows and say so.
func TestColumnsOfAnotherType(t *testing.T) {
	t.Parallel()
	for name, sql := range map[string]string{
		"time of a memory":   "UPDATE sources SET time = 'x' WHERE session = 'two'",
		"bytes as a session": "UPDATE sources SET session = x'0102' WHERE session = 'two'",
		"reason of a merge":  "UPDATE merges SET reason = x'00' WHERE num = 2",
		"time of a merge":    "UPDATE merges SET at = 'x' WHERE num = 2",
		"key of a merge":     "UPDATE merges SET into_key = x'00' WHERE num = 2",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "d")
			svc, err := contextmem.Open(t.Context(), dir, nil)
			require.NoError(t, err)
			acme := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
			sub := acme.Sub("a")
			for _, s := range []string{"one", "three", "two"} {
				servicetest.Remember(t, sub, contextmem.Memory{ID: s, Session: s, Text: "Anna Meyer met Robert Klein, Maria Sommer and Peter Vogel in the harbour."})
			}
			for _, pair := range [][2]string{{"Anna Meyer", "Robert Klein"}, {"Maria Sommer", "Peter Vogel"}, {"Peter Vogel", "Robert Klein"}} {
				_, err := sub.MergeEntities(t.Context(), facts.MergeEntitiesRequest{Class: contextmem.ClassMemory, From: pair[0], Into: pair[1]})
				require.NoError(t, err)
			}
			info, err := acme.Info(t.Context())
			require.NoError(t, err)
			require.NoError(t, svc.Close())
			require.EqualValues(t, 1, editStore(t, servicetest.StoreFiles(t, dir, info.UID)[0], sql))
			svc, err = contextmem.Open(t.Context(), dir, nil)
			require.NoError(t, err)
			defer func() { require.NoError(t, svc.Close()) }()
			sub = svc.Tenant("acme").Sub("a")
			for _, limit := range []int{1, 2, 100} {
				var sessions []string
				warned := false
				for next := ""; ; {
					page, err := sub.Sessions(t.Context(), content.SessionsRequest{Limit: limit, Cursor: next})
					require.NoError(t, err)
					for _, s := range page.Sessions {
						sessions = append(sessions, s.Name)
					}
					warned = warned || hasWarning(page.Warnings, "damaged")
					if next = page.Next; next == "" {
						break
					}
				}
				merges, err := sub.Merges(t.Context(), facts.MergesRequest{Class: contextmem.ClassMemory, Limit: 2})
				require.NoError(t, err)
				var nums []int64
				for _, m := range merges.Merges {
					nums = append(nums, m.ID)
				}
				if strings.Contains(name, "merge") {
					require.Equal(t, []string{"one", "three", "two"}, sessions)
					require.Equal(t, []int64{1, 3}, nums)
					require.True(t, hasWarning(merges.Warnings, "damaged"))
				} else {
					require.Equal(t, []string{"one", "three"}, sessions)
					require.Equal(t, []int64{1, 2}, nums)
					require.True(t, warned)
				}
			}
		})
	}
}
