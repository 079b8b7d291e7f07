package postgres

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/testtool"
)

// The server of this package's tests, which does not wait for the disk, and a database with the tables, which others are copies of.
var server struct {
	once sync.Once
	pg   *testtool.Postgres
	err  error
}

const (
	template       = "template_tables"
	testPartitions = 3
)

func TestMain(m *testing.M) {
	code := m.Run()
	if server.pg != nil {
		server.pg.Stop()
	}
	os.Exit(code)
}

// sharedServer returns the server of this package's tests.
func sharedServer(t testing.TB) *testtool.Postgres {
	server.once.Do(func() {
		if server.pg, server.err = testtool.StartPostgres(false); server.err != nil {
			return
		}
		if server.err = server.pg.CreateDatabase(template, ""); server.err != nil {
			return
		}
		var d *DB
		if d, server.err = Open(context.Background(), server.pg.URL(template), &Options{Partitions: testPartitions}); server.err == nil {
			server.err = d.Close()
		}
	})
	if errors.Is(server.err, testtool.ErrNoPostgres) {
		testtool.Missing(t, server.err.Error())
	}
	require.NoError(t, server.err)
	return server.pg
}

// databases are the databases created by tests, by the name they were created for.
var databases struct {
	sync.Mutex
	made map[string]bool
}

// database returns the URL of the database for a name. The first call creates it; it is removed with the server.
func database(t testing.TB, name string) string {
	pg := sharedServer(t)
	name = databaseName(name)
	databases.Lock()
	defer databases.Unlock()
	if databases.made == nil {
		databases.made = make(map[string]bool)
	}
	if !databases.made[name] {
		databases.made[name] = true
		require.NoError(t, pg.CreateDatabase(name, template))
	}
	return pg.URL(name)
}

func databaseName(name string) string { return fmt.Sprintf("t%x", sha256.Sum256([]byte(name)))[:20] }

// openTest opens the deployment for a name.
func openTest(t testing.TB, name string, o *Options) *DB {
	d, err := Open(t.Context(), database(t, name), o)
	require.NoError(t, err)
	return d
}
