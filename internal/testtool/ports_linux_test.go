package testtool

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPorts checks that returned ports are free, are not ephemeral and are returned only once.
func TestPorts(t *testing.T) {
	low := ephemeral(portRange)
	if low < lowestPort+fewPorts {
		t.Skip("outgoing connections take almost all ports")
	}
	seen := map[int]bool{}
	for range 200 {
		first, err := Ports(2)
		require.NoError(t, err)
		for port := first; port < first+2; port++ {
			assert.GreaterOrEqual(t, port, lowestPort)
			assert.Less(t, port, low)
			assert.False(t, seen[port])
			seen[port] = true
		}
		l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(first+1))
		require.NoError(t, err)
		require.NoError(t, l.Close())
	}
}

// TestPortsAreTaken checks that neither a port in use nor one returned earlier is returned.
func TestPortsAreTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { assert.NoError(t, l.Close()) }()
	taken := l.Addr().(*net.TCPAddr).Port
	_, err = free(taken, 1, nil)
	require.Error(t, err)
	_, err = free(taken-1, 2, nil)
	require.Error(t, err)
	first, err := portsBelow(0, 2, nil) // where the system has some
	require.NoError(t, err)
	_, err = free(first, 2, map[int]bool{first + 1: true})
	require.ErrorIs(t, err, errGiven)
}

// TestEphemeral checks that an unreadable file counts as an unknown range.
func TestEphemeral(t *testing.T) {
	file := filepath.Join(t.TempDir(), "range")
	assert.Zero(t, ephemeral(file))
	require.NoError(t, os.WriteFile(file, []byte("32768\t60999\n"), 0o600))
	assert.Equal(t, 32768, ephemeral(file))
	require.NoError(t, os.WriteFile(file, []byte("many"), 0o600))
	assert.Zero(t, ephemeral(file))
}
