package testtool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// WeaviateVersion is the release of the server that tests run against.
const WeaviateVersion = "v1.35.2"

// ErrNoWeaviate is returned when the server cannot be built.
var ErrNoWeaviate = errors.New("the Weaviate server (built from its Go module) is missing")

// EnvWeaviate names the variable with the path of an existing server. Without it the server is built once, into the cache.
const EnvWeaviate = "CONTEXTMEM_TEST_WEAVIATE"

// BuildWeaviate returns the path of a Weaviate server. If the cache has none, BuildWeaviate builds it from its Go module. That
// takes some minutes and downloads some hundred MB. Other processes that need the server wait meanwhile.
func BuildWeaviate(ctx context.Context) (string, error) {
	if path := os.Getenv(EnvWeaviate); path != "" {
		return path, nil
	}
	path, err := buildProgram(ctx, "github.com/weaviate/weaviate/cmd/weaviate-server", WeaviateVersion)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoWeaviate, err)
	}
	return path, nil
}

// Weaviate is a cluster of Weaviate servers on this machine's loopback.
type Weaviate struct {
	bin, dir string
	env      map[string]string // further environment of the nodes
	nodes    []*weaviateNode
}

type weaviateNode struct {
	name  string
	dir   string
	ports [6]int

	mu     sync.Mutex
	cmd    *exec.Cmd
	exited chan struct{}
	log    bytes.Buffer
}

// Indexes into the ports of a node.
const (
	portHTTP = iota
	portGRPC
	portGossip
	portData
	portRaft
	portRaftInternal
)

// StartWeaviate starts a cluster of nodes with its data below dir and returns when all nodes are ready. bin is the path of the
// server. env is added to the environment of the nodes; it may be nil. If another program has taken a port meanwhile, StartWeaviate
// retries with other ports. The caller must call Stop.
func StartWeaviate(bin, dir string, nodes int, env map[string]string) (w *Weaviate, err error) {
	for range 3 {
		if w, err = startWeaviate(bin, dir, nodes, env); err == nil || !strings.Contains(err.Error(), "address already in use") {
			return w, err
		}
		if err := os.RemoveAll(dir); err != nil {
			return nil, err
		}
	}
	return w, err
}

func startWeaviate(bin, dir string, nodes int, more map[string]string) (*Weaviate, error) {
	w := &Weaviate{bin: bin, dir: dir, env: more}
	for i := range nodes {
		n := &weaviateNode{name: fmt.Sprintf("node%d", i+1)}
		n.dir = filepath.Join(dir, n.name)
		if err := os.MkdirAll(n.dir, 0o755); err != nil {
			return nil, err
		}
		w.nodes = append(w.nodes, n)
	}
	if err := w.choosePorts(); err != nil {
		return nil, err
	}
	for i := range w.nodes {
		if err := w.launch(i); err != nil {
			w.Stop()
			return nil, err
		}
		for deadline := time.Now().Add(weaviateStart); i == 0 && !w.gossips(0) && time.Now().Before(deadline); {
			time.Sleep(20 * time.Millisecond) // the other nodes join the first one
		}
	}
	for i := range w.nodes {
		if err := w.Ready(i); err != nil {
			w.Stop()
			return nil, err
		}
	}
	return w, nil
}

// choosePorts assigns free ports to the nodes.
func (w *Weaviate) choosePorts() error {
	for _, n := range w.nodes {
		// On one machine nodes take the port above that of gossip for data, and that above raft for calls.
		for _, pair := range [][2]int{{portHTTP, portGRPC}, {portGossip, portData}, {portRaft, portRaftInternal}} {
			first, err := Ports(2)
			if err != nil {
				return err
			}
			n.ports[pair[0]], n.ports[pair[1]] = first, first+1
		}
	}
	return nil
}

// launch starts a node.
func (w *Weaviate) launch(i int) error {
	n := w.nodes[i]
	n.mu.Lock()
	defer n.mu.Unlock()
	join := make([]string, len(w.nodes))
	for j, m := range w.nodes {
		join[j] = m.name + ":" + strconv.Itoa(m.ports[portRaft])
	}
	env := map[string]string{
		"PERSISTENCE_DATA_PATH": n.dir, "CLUSTER_HOSTNAME": n.name, "CLUSTER_IN_LOCALHOST": "true",
		"CLUSTER_BIND_ADDR": "127.0.0.1", "CLUSTER_ADVERTISE_ADDR": "127.0.0.1",
		"CLUSTER_GOSSIP_BIND_PORT": strconv.Itoa(n.ports[portGossip]), "CLUSTER_DATA_BIND_PORT": strconv.Itoa(n.ports[portData]),
		"RAFT_PORT": strconv.Itoa(n.ports[portRaft]), "RAFT_INTERNAL_RPC_PORT": strconv.Itoa(n.ports[portRaftInternal]),
		"RAFT_JOIN": strings.Join(join, ","), "RAFT_BOOTSTRAP_EXPECT": strconv.Itoa(len(w.nodes)), "RAFT_BOOTSTRAP_TIMEOUT": "90",
		"GRPC_PORT": strconv.Itoa(n.ports[portGRPC]), "AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED": "true",
		"DEFAULT_VECTORIZER_MODULE": "none", "ENABLE_MODULES": "", "API_BASED_MODULES_DISABLED": "true",
		"DISABLE_TELEMETRY": "true", "AUTOSCHEMA_ENABLED": "false", "GO_PROFILING_DISABLE": "true", "PROMETHEUS_MONITORING_ENABLED": "false", "LOG_LEVEL": "error",
		"DISK_USE_READONLY_PERCENTAGE": "0", "DISK_USE_WARNING_PERCENTAGE": "0", "MEMORY_WARNING_PERCENTAGE": "0", "MEMORY_READONLY_PERCENTAGE": "0",
		"MEMBERLIST_FAST_FAILURE_DETECTION": "true",
		"COLLECTION_RETRIEVAL_STRATEGY":     "LocalOnly", "RAFT_TIMEOUTS_MULTIPLIER": "1", // else calls wait for an election when the leader dies
		"PERSISTENCE_MEMTABLES_MIN_SIZE_MB": "1",
		"ASYNC_REPLICATION_HASHTREE_HEIGHT": "8", // see "Settings of the cluster" in docs/scale.md
	}
	for j, m := range w.nodes {
		if j != i && w.gossips(j) {
			env["CLUSTER_JOIN"] = "127.0.0.1:" + strconv.Itoa(m.ports[portGossip])
			break
		}
	}
	cmd := exec.Command(w.bin, "--scheme", "http", "--host", "127.0.0.1", "--port", strconv.Itoa(n.ports[portHTTP]),
		"--read-timeout=120s", "--write-timeout=120s")
	cmd.Dir = n.dir
	for _, e := range os.Environ() {
		if strings.HasPrefix(e, "PATH=") || strings.HasPrefix(e, "HOME=") || strings.HasPrefix(e, "TMPDIR=") {
			cmd.Env = append(cmd.Env, e)
		}
	}
	maps.Copy(env, w.env)
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	n.log.Reset()
	cmd.Stdout, cmd.Stderr = &n.log, &n.log
	exited, err := startChild(cmd)
	if err != nil {
		return err
	}
	n.cmd, n.exited = cmd, exited
	return nil
}

// gossips reports whether other nodes can join node i.
func (w *Weaviate) gossips(i int) bool {
	c, err := net.DialTimeout("tcp", "127.0.0.1:"+strconv.Itoa(w.nodes[i].ports[portGossip]), time.Second)
	if err == nil {
		_ = c.Close()
	}
	return err == nil
}

// weaviateStart is the time limit for a node to become ready.
const weaviateStart = 3 * time.Minute

// Ready waits until a node answers.
func (w *Weaviate) Ready(i int) error {
	n := w.nodes[i]
	n.mu.Lock()
	exited := n.exited
	n.mu.Unlock()
	for deadline := time.Now().Add(weaviateStart); time.Now().Before(deadline); {
		resp, err := http.Get(w.URL(i) + "/v1/.well-known/ready")
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-exited:
			return fmt.Errorf("%s of Weaviate ended: %s", n.name, n.log.String())
		case <-time.After(50 * time.Millisecond):
		}
	}
	return fmt.Errorf("%s of Weaviate is not ready", n.name)
}

// URL returns the HTTP address of node i.
func (w *Weaviate) URL(i int) string {
	return "http://127.0.0.1:" + strconv.Itoa(w.nodes[i].ports[portHTTP])
}

// URLs returns the addresses of all nodes with their gRPC ports, in the form that package weaviate expects.
func (w *Weaviate) URLs() (out []string) {
	for i, n := range w.nodes {
		out = append(out, w.URL(i)+"?grpc="+strconv.Itoa(n.ports[portGRPC]))
	}
	return out
}

// Processor returns the processor time that all nodes have used since their start, to about 10 ms.
func (w *Weaviate) Processor() (total time.Duration) {
	for _, n := range w.nodes {
		n.mu.Lock()
		cmd := n.cmd
		n.mu.Unlock()
		if cmd == nil {
			continue
		}
		data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
		fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:])) // the process name before may contain any character
		for i := 11; i <= 12 && i < len(fields); i++ {                            // user and system, in hundredths of a second
			ticks, _ := strconv.Atoi(fields[i])
			total += time.Duration(ticks) * 10 * time.Millisecond
		}
	}
	return total
}

// Kill ends a node at once with SIGKILL. Unlike in a crash of the machine, writes in the system's page cache survive.
func (w *Weaviate) Kill(i int) { w.nodes[i].end(syscall.SIGKILL) }

// Pause suspends a node until Resume. Its connections stay open, but it answers nothing.
func (w *Weaviate) Pause(i int) { w.nodes[i].signal(syscall.SIGSTOP) }

// Resume continues a paused node.
func (w *Weaviate) Resume(i int) { w.nodes[i].signal(syscall.SIGCONT) }

// Start restarts a killed node without waiting for it; see Ready.
func (w *Weaviate) Start(i int) error { return w.launch(i) }

func (n *weaviateNode) signal(sig syscall.Signal) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cmd != nil {
		_ = n.cmd.Process.Signal(sig)
	}
}

func (n *weaviateNode) end(sig syscall.Signal) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cmd == nil {
		return
	}
	_ = n.cmd.Process.Signal(sig)
	<-n.exited
	n.cmd = nil
}

// Stop ends all nodes.
func (w *Weaviate) Stop() {
	for _, n := range w.nodes {
		n.end(syscall.SIGKILL)
	}
}
