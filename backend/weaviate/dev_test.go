package weaviate

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend/local"
	"github.com/contextmem/contextmem/internal/testtool"
)

// TestDevelopmentServers starts the servers of deploy/dev, opens an index at the address that it prints, and interrupts it: the
// servers end and their data goes.
func TestDevelopmentServers(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts servers")
	}
	sharedServer(t) // builds the server, or skips
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres"); len(found) == 0 {
		testtool.Missing(t, testtool.ErrNoPostgres.Error())
	}
	program := filepath.Join(t.TempDir(), "dev")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./deploy/dev")
	build.Dir = "../.."
	said, err := build.CombinedOutput()
	require.NoError(t, err, string(said))

	data := t.TempDir()
	cmd := exec.CommandContext(t.Context(), program, "-nodes", "2")
	cmd.Env = append(os.Environ(), "TMPDIR="+data)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	found := regexp.MustCompile(`--store 'postgres://contextmem@/contextmem\?host=([^']+)' --index '([^']+)'`).FindStringSubmatch(line)
	require.NotNil(t, found, line)
	rest, err := local.Open(t.TempDir(), nil)
	require.NoError(t, err)
	x, err := Open(t.Context(), strings.Split(found[2], ","), rest, nil)
	require.NoError(t, err)
	require.NoError(t, x.Close())
	sockets := strings.ReplaceAll(found[1], "%2F", "/")
	require.DirExists(t, sockets)

	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.NoError(t, cmd.Wait())
	require.NoDirExists(t, sockets)
	left, err := os.ReadDir(data)
	require.NoError(t, err)
	require.Empty(t, left)
}
