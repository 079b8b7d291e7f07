package sqlite

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/document"
)

// damaged returns damaged forms of a database whose rows have a word each, on several pages of two tables, with an index and a value on
// overflow pages.
func damaged(tb testing.TB, rows int) map[string][]byte {
	tb.Helper()
	statements := []string{"PRAGMA page_size=1024", "CREATE TABLE beds (word TEXT, place TEXT)", "CREATE TABLE more (word TEXT, place TEXT)", "CREATE INDEX places ON beds (place)"}
	for i := range rows {
		table := "beds"
		if i >= rows/2 {
			table = "more"
		}
		statements = append(statements, fmt.Sprintf("INSERT INTO %s VALUES ('w%03d', '%s')", table, i, strings.Repeat(fmt.Sprintf("by wall %d ", i), 10+i/50*200)))
	}
	whole := database(tb, statements...)
	n := len(whole)
	out := map[string][]byte{"an empty file": {}, "its mark only": whole[:16], "its header only": whole[:100]}
	for _, part := range []int{10, 50, 90} {
		out[fmt.Sprintf("cut at %d %%", part)] = whole[:n*part/100]
	}
	out["without its last byte"] = whole[:n-1]
	out["without its last page"] = whole[:n-1024]
	out["without its beginning"] = whole[n/3:]
	out["a page is missing"] = append(bytes.Clone(whole[:4096]), whole[5120:]...)
	change := func(what string, f func(b []byte)) {
		c := bytes.Clone(whole)
		f(c)
		out[what] = c
	}
	for _, size := range []uint16{0, 1, 512, 1000, 4096, 65535} {
		change(fmt.Sprintf("a page size of %d", size), func(b []byte) { binary.BigEndian.PutUint16(b[16:], size) })
	}
	for _, pages := range []uint32{0, 1, 1 << 20, 1<<32 - 1} {
		change(fmt.Sprintf("%d pages", pages), func(b []byte) { binary.BigEndian.PutUint32(b[28:], pages) })
	}
	change("the form of another version", func(b []byte) { b[18], b[19] = 9, 9 })
	change("a text encoding that there is not", func(b []byte) { b[59] = 9 })
	change("zeros in a page", func(b []byte) { clear(b[n/2/1024*1024 : n/2/1024*1024+1024]) })
	change("zeros in the first page", func(b []byte) { clear(b[100:1024]) })
	change("a page that holds itself", func(b []byte) {
		for p := 1; p < n/1024; p++ {
			if page := b[p*1024:]; page[0] == 5 { // an inner page: its right child
				binary.BigEndian.PutUint32(page[8:], uint32(p+1))
			}
		}
	})
	change("counts of cells", func(b []byte) {
		for p := 1; p < n/1024; p++ {
			if page := b[p*1024:]; page[0] == 13 {
				binary.BigEndian.PutUint16(page[3:], 0x7fff)
			}
		}
	})
	for i := range 12 {
		change(fmt.Sprintf("a byte, %d", i), func(b []byte) { b[100+(n-100)*i/12+i] ^= 0x55 })
		change(fmt.Sprintf("bytes, %d", i), func(b []byte) {
			for at := 1024 + i*17; at < n; at += 1024 {
				b[at] ^= 0x55
			}
		})
	}
	return out
}

// TestDamagedInAService sends damaged files to a service: cut, with other bytes, with wrong lengths. Each must fail with a hint, or be complete,
// or be told to be partial. A changed byte of a value cannot be noticed and may change the words of one row.
func TestDamagedInAService(t *testing.T) {
	t.Parallel()
	svc, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{Parsers: map[string]document.Parser{MediaType: Parser{}}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, svc.Close()) })
	_, err = svc.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	require.NoError(t, svc.Tenant("acme").WaitReady(t.Context()))
	s := svc.Tenant("acme").Sub("")
	const rows = 60
	files := damaged(t, rows)
	failed, partial := 0, 0
	for what, data := range files {
		t.Run(what, func(t *testing.T) {
			res, err := s.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{Name: "beds.db", Data: data}}})
			if err != nil { // refused at once, as an empty file is
				require.ErrorContains(t, err, ": ")
				return
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			st, err := s.Wait(ctx, res.IDs()...)
			require.NoError(t, err)
			if st[0].Status == contextmem.StatusErrored {
				failed++
				require.Contains(t, st[0].ErrorMessage, ": ", "no hint")
				require.NotContains(t, st[0].ErrorMessage, "internal")
				return
			}
			require.Equal(t, contextmem.StatusCompleted, st[0].Status)
			if st[0].Partial != "" {
				partial++
				return
			}
			doc, err := Parser{}.Parse(t.Context(), document.Input{Data: data}, document.Limits{}.WithDefaults(0))
			require.NoError(t, err)
			there := 0
			for i := range rows {
				if strings.Contains(doc.Text, fmt.Sprintf("w%03d", i)) {
					there++
				}
			}
			require.GreaterOrEqual(t, there, rows-1, "rows are missing and nothing is said")
		})
	}
	t.Logf("of %d files %d failed, %d are partial", len(files), failed, partial)
	require.Positive(t, failed)
	require.Positive(t, partial)
}
