package testtool

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"sync"
)

const (
	// portRange is the file with the range of ephemeral ports, which outgoing connections use.
	portRange = "/proc/sys/net/ipv4/ip_local_port_range"
	// lowestPort is the lowest port that Ports returns. Well-known ports are below it.
	lowestPort = 10_000
	// fewPorts is the least number of candidate ports to choose from.
	fewPorts = 1000
	// portTries is the number of attempts that Ports makes to find free ports.
	portTries = 1000
)

// given holds the ports that Ports has already returned.
var given struct {
	mu    sync.Mutex
	ports map[int]bool
}

// Ports returns the first of n consecutive loopback ports that are free now. It avoids ephemeral ports if the system
// reports their range, so that a killed server finds its ports still free when it restarts. No port is returned twice.
func Ports(n int) (int, error) {
	given.mu.Lock()
	defer given.mu.Unlock()
	if given.ports == nil {
		given.ports = make(map[int]bool)
	}
	first, err := portsBelow(ephemeral(portRange), n, given.ports)
	for i := range n {
		given.ports[first+i] = err == nil
	}
	return first, err
}

// ephemeral reads the first ephemeral port from file. It returns 0 if the port is unknown.
func ephemeral(file string) (low int) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	if _, err := fmt.Sscan(string(data), &low); err != nil {
		return 0
	}
	return low
}

// portsBelow returns the first of n free ports below limit. If limit leaves fewer than fewPorts, the system chooses.
func portsBelow(limit, n int, but map[int]bool) (first int, err error) {
	for range portTries {
		at := 0
		if limit >= lowestPort+fewPorts {
			at = lowestPort + rand.IntN(limit-lowestPort-n+1)
		}
		if first, err = free(at, n, but); err == nil {
			return first, nil
		}
	}
	return 0, fmt.Errorf("no ports are free: %w", err)
}

// free checks that n ports starting at at are free. If at is 0, the system chooses the first.
func free(at, n int, but map[int]bool) (first int, err error) {
	for i := range n {
		port := at
		if i > 0 {
			port = first + i
		}
		l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err != nil {
			return 0, err
		}
		defer func() { _ = l.Close() }()
		port = l.Addr().(*net.TCPAddr).Port
		if but[port] {
			return 0, errGiven
		}
		if i == 0 {
			first = port
		}
	}
	return first, nil
}

var errGiven = errors.New("it was given to another server")
