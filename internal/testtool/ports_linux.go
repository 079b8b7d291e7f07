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
	// portRange is the file that says which ports outgoing connections take.
	portRange = "/proc/sys/net/ipv4/ip_local_port_range"
	// lowestPort is the first one that Ports gives out: what is well known stands below.
	lowestPort = 10_000
	// fewPorts is how many there must be to choose from.
	fewPorts = 1000
	// portTries is how often Ports looks for ports that are free.
	portTries = 1000
)

// given are the ports that were given out.
var given struct {
	mu    sync.Mutex
	ports map[int]bool
}

// Ports returns the first of n ports of the loopback, one above the other, that are free now. They are none that outgoing
// connections take, where the system tells which those are: a server that is killed finds its ports free when it comes back.
// Those of an earlier call are not given out again.
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

// ephemeral reads the first port that outgoing connections take; 0: it is not known.
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

// portsBelow chooses n ports below a limit, or wherever the system has some free where that leaves few.
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

// free looks whether n ports from at on are free; from any one on where at is 0.
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
