package sqlite

import (
	"context"
	"hash/crc32"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func crcText(b []byte) string {
	return strconv.FormatUint(uint64(crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))), 10)
}

// check requires that a store passes its integrity checks.
func check(t testing.TB, s *store) {
	t.Helper()
	require.NoError(t, s.read(context.Background(), func(c *conn) error {
		for what, sql := range invariants {
			n := 0
			require.NoError(t, c.each(bg, sql, func(*row) error { n++; return nil }), what)
			assert.Zero(t, n, what)
		}
		return c.each(bg, "PRAGMA integrity_check", func(r *row) error {
			assert.Equal(t, "ok", r.str(0))
			return nil
		})
	}))
}
