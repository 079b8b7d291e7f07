package sqlite

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Checks that the write-ahead logs of many stores stay below 64 MiB in all and lose nothing. A reader that prevents one log from being
// truncated does not block other calls.
func TestLogsAreBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d, err := Open(t.Context(), dir, nil)
	require.NoError(t, err)
	logsOf := func() (n int64) {
		require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, "-wal") {
				if i, err := e.Info(); err == nil {
					n += i.Size()
				}
			}
			return nil
		}))
		return n
	}
	const stores, rounds = 12, 24
	value := []byte(strings.Repeat("harbour lantern ", 20_000)) // 320 KB
	var open []*store
	for i := range stores {
		s, err := d.OpenStore(t.Context(), fmt.Sprintf("%032x", i))
		require.NoError(t, err)
		open = append(open, s.(*store))
	}
	reading, done := make(chan struct{}), make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		_ = open[0].read(t.Context(), func(c *conn) error {
			_, err := readValue(t.Context(), c, "x")
			close(reading)
			<-done
			return err
		})
	})
	<-reading
	most := int64(0)
	for round := range rounds {
		var writers sync.WaitGroup
		for _, s := range open {
			writers.Go(func() { require.NoError(t, s.Set(t.Context(), fmt.Sprint("v", round), nil, value)) })
		}
		writers.Wait()
		most = max(most, logsOf())
	}
	require.Greater(t, int64(stores*rounds*len(value)), int64(80<<20), "the logs would be larger without a bound")
	require.LessOrEqual(t, most, int64(64<<20))
	close(done)
	reader.Wait()
	for _, s := range open {
		for round := range rounds {
			got, err := s.Get(t.Context(), fmt.Sprint("v", round))
			require.NoError(t, err)
			require.Len(t, got, len(value))
		}
		check(t, s)
	}
	require.NoError(t, d.Close())
	require.Zero(t, logsOf())
}
