//go:build cgo

package contextmem_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
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
			acme := tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
			remember(t, sub,
				contextmem.Memory{ID: "bad", Title: "Inventory of kettles", Text: "The kettle in the pantry is made of copper. Alice is fond of rhubarb cake.", Metadata: map[string]any{"shelf": "kettle-metadata"}},
				contextmem.Memory{ID: "good", Text: "The kettle in the attic is made of steel."})
			info, err := acme.Info(t.Context())
			require.NoError(t, err)
			require.NoError(t, svc.Close())
			flipBits(t, storeFiles(t, dir, info.UID), text)
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
