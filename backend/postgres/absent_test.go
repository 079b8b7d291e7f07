package postgres

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// TestOpenWaitsForTheServer: a server that comes up later is waited for, as services that start together need it. Where none comes, the error
// names the address and keeps the password.
func TestOpenWaitsForTheServer(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(database(t, t.Name()))
	require.NoError(t, err)
	socket := filepath.Join(u.Query().Get("host"), ".s.PGSQL.5432")
	dir, err := os.MkdirTemp("/tmp", "pgwait") // the name of a socket is short
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	u.RawQuery = url.Values{"host": {dir}}.Encode()
	u.User = url.UserPassword(u.User.Username(), "sesame")

	_, err = Open(t.Context(), u.String(), &Options{Retry: -1})
	require.ErrorIs(t, err, backend.ErrUnavailable)
	require.Contains(t, err.Error(), "no server answers at ")
	require.Contains(t, err.Error(), dir)
	require.NotContains(t, err.Error(), "sesame")

	opened := make(chan error, 1)
	go func() {
		d, err := Open(t.Context(), u.String(), &Options{Retry: time.Minute})
		if err == nil {
			err = d.Close()
		}
		opened <- err
	}()
	select {
	case err := <-opened:
		require.FailNow(t, "there was no server", "%v", err)
	case <-time.After(50 * time.Millisecond): // it has tried by then, as a rule
	}
	require.NoError(t, os.Symlink(socket, filepath.Join(dir, ".s.PGSQL.5432")))
	require.NoError(t, <-opened)
}
