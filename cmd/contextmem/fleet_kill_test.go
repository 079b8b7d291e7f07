package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
)

// fleet is a set of MCP clients that share a directory. Each has its own process, which may be killed.
type fleet struct {
	t   *testing.T
	dir string

	mu      sync.Mutex
	procs   map[int]*exec.Cmd // by process id
	killed  map[int]bool
	done    int
	slowest time.Duration
	acked   map[string]string // text -> id
	failed  int               // calls whose process was killed
}

// spawner is one client. When its process is gone it starts another, as an editor does.
type spawner struct {
	f       *fleet
	name    string
	session *mcp.ClientSession
	pid     int
}

func (c *spawner) connect(ctx context.Context) error {
	if c.session != nil {
		return nil
	}
	cmd := program(context.Background(), c.f.t, c.f.dir, "mcp")
	s, err := mcp.NewClient(&mcp.Implementation{Name: c.name, Version: "1"}, nil).Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return err
	}
	c.session, c.pid = s, cmd.Process.Pid
	c.f.mu.Lock()
	c.f.procs[c.pid] = cmd
	c.f.mu.Unlock()
	return nil
}

// call makes a call and decodes its structured answer. If the process was killed, it calls again in a new one.
func (c *spawner) call(tool string, in map[string]any, out any) error {
	ctx, cancel := context.WithTimeout(c.f.t.Context(), time.Minute)
	defer cancel()
	start := time.Now()
	for {
		err := c.connect(ctx)
		var res *mcp.CallToolResult
		if err == nil {
			res, err = c.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: in})
		}
		c.f.mu.Lock()
		dead := c.f.killed[c.pid]
		if err != nil && dead {
			c.f.failed++
		}
		c.f.mu.Unlock()
		if err != nil && dead && ctx.Err() == nil {
			if c.session != nil {
				_ = c.session.Close() // its process is gone
			}
			c.session = nil
			continue
		}
		if err != nil {
			return err
		}
		if res.IsError {
			return fmt.Errorf("%s: %s", tool, res.Content[0].(*mcp.TextContent).Text)
		}
		c.f.mu.Lock()
		c.f.slowest = max(c.f.slowest, time.Since(start))
		c.f.mu.Unlock()
		b, err := json.Marshal(res.StructuredContent)
		if err != nil {
			return err
		}
		return json.Unmarshal(b, out)
	}
}

func (c *spawner) work(each int) error {
	for i := range each {
		text := fmt.Sprintf("Client %s noted the number %d.", c.name, i)
		var m remembered
		if err := c.call("remember", map[string]any{"text": text}, &m); err != nil {
			return err
		}
		var r recalled
		if err := c.call("recall", map[string]any{"question": fmt.Sprintf("Which number did client %s note as the %dth?", c.name, i), "max": 3}, &r); err != nil {
			return err
		}
		if len(r.Passages) == 0 {
			return fmt.Errorf("client %s recalled nothing after %d memories", c.name, i+1)
		}
		c.f.mu.Lock()
		c.f.acked[text] = m.ID
		c.f.done++
		c.f.mu.Unlock()
	}
	return nil
}

// killOwner kills the process that owns the directory, unless it was killed already.
func (f *fleet) killOwner() bool {
	b, err := os.ReadFile(filepath.Join(f.dir, "OWNER"))
	if err != nil {
		return false
	}
	var o struct{ PID int }
	if json.Unmarshal(b, &o) != nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	cmd := f.procs[o.PID]
	if cmd == nil || f.killed[o.PID] {
		return false
	}
	f.killed[o.PID] = true
	return cmd.Process.Kill() == nil
}

// TestOwnersOfMCPAreKilled lets MCP clients share a directory while the process that owns it is killed again and again.
// No acknowledged item may be lost or stored twice. CONTEXTMEM_KILL_TEST=full runs it at full size, and bounds the
// slowest call, which includes the start of a new process.
func TestOwnersOfMCPAreKilled(t *testing.T) {
	clients, each, kills := 3, 20, 2
	full := os.Getenv("CONTEXTMEM_KILL_TEST") == "full"
	if full {
		clients, each, kills = 5, 1000, 10
	} else if testing.Short() {
		t.Skip("starts processes")
	}
	f := &fleet{t: t, dir: t.TempDir(), procs: map[int]*exec.Cmd{}, killed: map[int]bool{}, acked: map[string]string{}}
	errs := make(chan error, clients)
	for i := range clients {
		c := &spawner{f: f, name: string(rune('A' + i))}
		go func() {
			err := c.work(each)
			if c.session != nil {
				_ = c.session.Close()
			}
			errs <- err
		}()
	}
	total, running := clients*each, clients
	for k := range kills {
		require.Eventually(t, func() bool {
			f.mu.Lock()
			far := f.done >= total*(k+1)/(kills+2)
			f.mu.Unlock()
			return far && f.killOwner()
		}, 30*time.Minute, 2*time.Millisecond)
	}
	for range running {
		require.NoError(t, <-errs)
	}
	svc, err := contextmem.Open(t.Context(), f.dir, &contextmem.Options{Workers: 1})
	require.NoError(t, err)
	defer svc.Close()
	require.NoError(t, svc.Drain(t.Context()))
	stored := map[string][]string{}
	for s, err := range svc.Tenant("main").Sub("").Sources(t.Context(), contextmem.ListRequest{Class: contextmem.ClassMemory, Content: true}) {
		require.NoError(t, err)
		stored[s.Content] = append(stored[s.Content], s.ID)
	}
	require.Len(t, f.acked, total)
	for text, id := range f.acked {
		require.Equal(t, []string{id}, stored[text], "lost, or stored twice: %s", text)
	}
	require.Len(t, stored, total)
	t.Logf("%d clients, %d memories and as many recalls, %d kills: slowest call %v; %d calls were made again in a new process", clients, total, kills, f.slowest, f.failed)
	if full {
		require.Less(t, f.slowest, 2*time.Second)
	}
}
