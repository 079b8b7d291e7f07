package document

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"time"
)

// Limits of the programs that optional hooks run.
const (
	toolMemory  = 1 << 30 // bytes of address space
	toolCPU     = 120     // seconds of processor time
	toolTimeout = 2 * time.Minute
	toolOutput  = 64 << 20 // bytes of standard output
)

// limitScript is a shell script that limits memory and processor time and then replaces the shell by the program.
const limitScript = `ulimit -v "$1" 2>/dev/null; ulimit -t "$2" 2>/dev/null; ulimit -c 0 2>/dev/null; shift 2; exec "$@"`

var errToolOutput = errors.New("the program wrote too much")

// runTool runs a program with input on its standard input and returns its standard output. The program gets no
// environment but a search path, no arguments that come from a document, bounded memory, time and output, and is
// killed when ctx ends. Where there is no POSIX shell, memory is not bounded.
func runTool(ctx context.Context, input []byte, program string, args ...string) ([]byte, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", program, err)
	}
	ctx, cancel := context.WithTimeout(ctx, toolTimeout)
	defer cancel()
	name := path
	if shell, shErr := exec.LookPath("/bin/sh"); shErr == nil {
		name = shell
		args = append([]string{"-c", limitScript, "sh", strconv.Itoa(toolMemory / 1024), strconv.Itoa(toolCPU), path}, args...)
	}
	cmd := exec.CommandContext(ctx, name, args...)
	out := &boundedBuffer{max: toolOutput, full: cancel}
	cmd.Stdin, cmd.Stdout = bytes.NewReader(input), out
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8", "OMP_THREAD_LIMIT=1"}
	cmd.WaitDelay = 2 * time.Second
	if err := cmd.Run(); err != nil {
		if out.over {
			return nil, errToolOutput
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("run %s: %w", program, err)
	}
	return out.buf.Bytes(), nil
}

// boundedBuffer keeps up to max bytes. A write beyond max calls full once and fails.
type boundedBuffer struct {
	buf  bytes.Buffer
	max  int
	over bool
	full func()
}

func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.buf.Len()+len(p) > b.max {
		b.over = true
		b.full()
		return 0, errToolOutput
	}
	return b.buf.Write(p)
}
