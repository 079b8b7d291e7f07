package shared_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/shared"
)

const childEnv = "CONTEXTMEM_TEST_SHARED_CHILD"

// TestMain runs the test binary as one of the processes of TestOwnersAreKilled when the environment says so.
func TestMain(m *testing.M) {
	spec := os.Getenv(childEnv)
	if spec == "" {
		os.Exit(m.Run())
	}
	if err := child(context.Background(), spec); err != nil {
		fmt.Println("failed", err)
		os.Exit(1)
	}
}

// child remembers and recalls until it is killed or done. It prints a line for each acknowledged memory.
func child(ctx context.Context, spec string) error {
	f := strings.SplitN(spec, ",", 4) // name, first, last, dir
	first, err := strconv.Atoi(f[1])
	if err != nil {
		return err
	}
	last, err := strconv.Atoi(f[2])
	if err != nil {
		return err
	}
	d, err := shared.Open(ctx, f[3], &contextmem.Options{Workers: 1})
	if err != nil {
		return err
	}
	if err := d.EnsureTenant(ctx, "acme"); err != nil {
		return err
	}
	m := d.Sub("acme", "all")
	for i := first; i <= last; i++ {
		start := time.Now()
		res, err := m.AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{{Text: fmt.Sprintf("Process %s noted the number %d.", f[0], i)}}})
		if err != nil || res.Accepted != 1 {
			return fmt.Errorf("remember: %w", err)
		}
		fmt.Println("acknowledged", i, res.Items[0].ID, time.Since(start).Microseconds())
		start = time.Now()
		if _, err := m.Recall(ctx, contextmem.Recall{Class: contextmem.ClassMemory, Query: fmt.Sprintf("which number did process %s note?", f[0])}); err != nil {
			return fmt.Errorf("recall: %w", err)
		}
		fmt.Println("recalled", i, time.Since(start).Microseconds())
	}
	fmt.Println("done")
	_, _ = os.Stdin.Read(make([]byte, 1)) // work through the parent's kills until it closes the pipe
	return d.Close()
}

// fleet is what the parent knows of its processes.
type fleet struct {
	t    *testing.T
	dir  string
	each int
	wg   sync.WaitGroup

	mu       sync.Mutex
	acked    map[string]string // id -> text
	slowest  time.Duration
	procs    map[int]*exec.Cmd // by process id, those not killed
	killed   map[int]bool
	progress int
	done     map[string]bool
}

// start runs a process from one number on, and another one from where it was when it is killed.
func (f *fleet) start(name string, first int) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s,%d,%d,%s", childEnv, name, first, f.each, f.dir))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(f.t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(f.t, err)
	require.NoError(f.t, cmd.Start())
	f.mu.Lock()
	f.procs[cmd.Process.Pid] = cmd
	f.mu.Unlock()
	f.wg.Go(func() {
		at := first - 1
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			w := strings.Fields(lines.Text())
			f.mu.Lock()
			switch w[0] {
			case "acknowledged":
				at, _ = strconv.Atoi(w[1])
				f.acked[w[2]] = fmt.Sprintf("Process %s noted the number %d.", name, at)
				f.slow(w[3])
				f.progress++
			case "recalled":
				f.slow(w[2])
			case "done":
				f.done[name] = true
			default:
				f.t.Errorf("process %s: %s", name, lines.Text())
			}
			f.mu.Unlock()
		}
		_ = in.Close()
		_ = cmd.Wait() // killed, or told above
		f.mu.Lock()
		again := f.killed[cmd.Process.Pid]
		delete(f.procs, cmd.Process.Pid)
		f.mu.Unlock()
		if again {
			f.start(name, at+1)
		}
	})
}

func (f *fleet) slow(us string) {
	n, _ := strconv.Atoi(us)
	f.slowest = max(f.slowest, time.Duration(n)*time.Microsecond)
}

// killOwner kills the process that owns the directory, if it is one of ours that was not killed yet.
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
	if cmd == nil {
		return false
	}
	delete(f.procs, o.PID) // its successor takes the place
	f.killed[o.PID] = true
	return cmd.Process.Kill() == nil
}

// TestOwnersAreKilled: processes share a directory whose owner is killed again and again. Nothing that was acknowledged is
// lost and nothing is stored twice. CONTEXTMEM_KILL_TEST=full runs it at its full size, and bounds the slowest call.
func TestOwnersAreKilled(t *testing.T) {
	processes, each, kills := 3, 25, 2
	full := os.Getenv("CONTEXTMEM_KILL_TEST") == "full"
	if full {
		processes, each, kills = 5, 1000, 10
	} else if testing.Short() {
		t.Skip("starts processes")
	}
	f := &fleet{t: t, dir: t.TempDir(), each: each, acked: map[string]string{}, procs: map[int]*exec.Cmd{}, killed: map[int]bool{}, done: map[string]bool{}}
	for i := range processes {
		f.start(string(rune('A'+i)), 1)
	}
	total := processes * each
	for k := range kills {
		require.Eventually(t, func() bool {
			f.mu.Lock()
			far := f.progress >= total*(k+1)/(kills+2)
			f.mu.Unlock()
			return far && f.killOwner()
		}, 10*time.Minute, 2*time.Millisecond)
	}
	require.Eventually(t, func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(f.done) == processes && len(f.procs) == processes || t.Failed()
	}, 10*time.Minute, 5*time.Millisecond)
	f.mu.Lock()
	for _, cmd := range f.procs { // the last owner is not asked to end well either
		require.NoError(t, cmd.Process.Kill())
	}
	f.mu.Unlock()
	f.wg.Wait()

	svc, err := contextmem.Open(t.Context(), f.dir, &contextmem.Options{Workers: 1})
	require.NoError(t, err)
	defer svc.Close()
	require.NoError(t, svc.Drain(t.Context()))
	texts := map[string]int{}
	stored := map[string]string{}
	for s, err := range svc.Tenant("acme").Sub("all").Sources(t.Context(), contextmem.ListRequest{Class: contextmem.ClassMemory, Content: true}) {
		require.NoError(t, err)
		stored[s.ID] = s.Content
		texts[s.Content]++
	}
	for id, text := range f.acked {
		require.Equal(t, text, stored[id], "acknowledged and lost")
	}
	again := 0
	for _, n := range texts {
		again += n - 1
	}
	// A process that is killed between the write and its acknowledgement does not know of it, and its successor writes it again.
	require.LessOrEqual(t, again, kills)
	require.Len(t, f.acked, total)
	t.Logf("%d processes, %d memories, %d kills: slowest call %v, %d written again by a successor", processes, total, kills, f.slowest, again)
	if full {
		require.Less(t, f.slowest, 2*time.Second)
	}
}
