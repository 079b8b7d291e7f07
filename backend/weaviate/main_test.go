package weaviate

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

// The server of this package's tests: one node.
var server struct {
	once sync.Once
	dir  string
	w    *testtool.Weaviate
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if server.w != nil {
		server.w.Stop()
	}
	if server.dir != "" {
		_ = os.RemoveAll(server.dir)
	}
	os.Exit(code)
}

// sharedServer returns the server of this package's tests.
func sharedServer(t testing.TB) *testtool.Weaviate {
	server.once.Do(func() {
		var bin string
		if bin, server.err = testtool.BuildWeaviate(context.Background()); server.err != nil {
			return
		}
		if server.dir, server.err = os.MkdirTemp("", "weaviate"); server.err != nil {
			return
		}
		server.w, server.err = testtool.StartWeaviate(bin, server.dir, 1)
	})
	if errors.Is(server.err, testtool.ErrNoWeaviate) {
		testtool.Missing(t, server.err.Error())
	}
	require.NoError(t, server.err)
	return server.w
}

// prefixOf names the collections of the deployment that stands for a name.
func prefixOf(name string) string { return fmt.Sprintf("T%x", sha256.Sum256([]byte(name)))[:17] }
