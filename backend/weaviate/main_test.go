package weaviate

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/testtool"
)

// The server of this package's tests: one node.
var server struct {
	once sync.Once
	dir  string
	w    *testtool.Weaviate
	err  error
}

func TestMain(m *testing.M) {
	// Parallel tests mostly wait for nodes, so more of them run at once than there are processors.
	if flag.Parse(); !given("test.parallel") {
		_ = flag.Set("test.parallel", "4")
	}
	code := m.Run()
	if server.w != nil {
		server.w.Stop()
	}
	if server.dir != "" {
		_ = os.RemoveAll(server.dir)
	}
	os.Exit(code)
}

// given reports whether a flag was set on the command line.
func given(name string) (found bool) {
	flag.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

// sharedServer returns the server of this package's tests.
func sharedServer(t testing.TB) *testtool.Weaviate {
	bin := serverProgram(t)
	server.once.Do(func() {
		if server.dir, server.err = os.MkdirTemp("", "weaviate"); server.err != nil {
			return
		}
		server.w, server.err = testtool.StartWeaviate(bin, server.dir, 1, nil)
	})
	require.NoError(t, server.err)
	return server.w
}

// serverProgram returns the program of the server.
func serverProgram(t testing.TB) string {
	t.Helper()
	bin, err := testtool.BuildWeaviate(context.Background())
	if errors.Is(err, testtool.ErrNoWeaviate) {
		testtool.Missing(t, err.Error())
	}
	require.NoError(t, err)
	return bin
}

// prefixOf returns the prefix of collections for a test's name.
func prefixOf(name string) string { return fmt.Sprintf("T%x", sha256.Sum256([]byte(name)))[:17] }
