package parquet

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/document"
)

// damaged returns damaged forms of a file whose rows have a word each. It has several row groups, a column without compression, and
// columns with it.
func damaged(tb testing.TB, rows int) map[string][]byte {
	tb.Helper()
	type row struct {
		Word  string `parquet:"word"`
		Where string `parquet:"where,zstd"`
		Count int64  `parquet:"count,delta"`
		Note  string `parquet:"note,dict,snappy"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b)
	for i := range rows {
		_, err := w.Write([]row{{fmt.Sprintf("w%03d", i), fmt.Sprintf("by wall %d", i*i), int64(i), fmt.Sprintf("note %d", i%7)}})
		require.NoError(tb, err)
		if i%20 == 19 {
			require.NoError(tb, w.Flush())
		}
	}
	require.NoError(tb, w.Close())
	whole := b.Bytes()
	n := len(whole)
	footer := int(binary.LittleEndian.Uint32(whole[n-8:]))
	start := n - 8 - footer // of the metadata
	out := map[string][]byte{"an empty file": {}, "its first mark only": whole[:4], "both marks only": []byte("PAR1PAR1")}
	for _, part := range []int{10, 50, 90} {
		out[fmt.Sprintf("cut at %d %%", part)] = whole[:n*part/100]
	}
	out["without its last byte"] = whole[:n-1]
	out["without its beginning"] = whole[n/3:]
	out["a hole in the middle"] = append(bytes.Clone(whole[:start/3]), whole[start*2/3:]...)
	change := func(what string, f func(b []byte)) {
		c := bytes.Clone(whole)
		f(c)
		out[what] = c
	}
	for what, length := range map[string]uint32{"none": 0, "short": uint32(footer / 2), "long": uint32(footer * 2), "that of 4 GB": 1<<32 - 1, "negative": 1 << 31} {
		change("length of the metadata: "+what, func(b []byte) { binary.LittleEndian.PutUint32(b[n-8:], length) })
	}
	change("zeros in the pages", func(b []byte) { clear(b[start/4 : start*3/4]) })
	change("zeros in the metadata", func(b []byte) { clear(b[start+footer/3 : start+footer*2/3]) })
	change("the first page header", func(b []byte) { copy(b[4:], bytes.Repeat([]byte{0xff}, 16)) })
	for i := range 12 {
		at := 4 + (start-4)*i/12
		change(fmt.Sprintf("a byte in the pages, %d", i), func(b []byte) { b[at] ^= 0x55 })
		change(fmt.Sprintf("a byte in the metadata, %d", i), func(b []byte) { b[start+footer*i/12] ^= 0x15 })
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
			res, err := s.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{Name: "beds.parquet", Data: data}}})
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
