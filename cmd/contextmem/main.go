// Command contextmem is a context memory for AI agents. It stores and recalls memories, ingests folders, and serves both over
// REST and the Model Context Protocol.
//
//	contextmem add "Alice takes her coffee black."
//	contextmem recall "how does Alice drink her coffee?"
//	contextmem ingest ~/notes
//	contextmem serve
//	contextmem mcp
//
// Several processes may use one directory at a time; see package shared.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
)

// Exit codes.
const (
	exitFailure   = 1
	exitUsage     = 2
	exitNotFound  = 3
	exitForbidden = 4 // the key is missing or does not allow the call
	exitPartial   = 5 // some of the items failed
	exitLater     = 6 // the same call may succeed later
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Getenv, terminal: isTerminal(os.Stdout), bar: isTerminal(os.Stderr)})
	stop()
	os.Exit(code)
}

// streams holds the standard streams of a command.
type streams struct {
	in       io.Reader
	out, err io.Writer
	env      func(string) string
	terminal bool // whether out is a terminal
	bar      bool // whether err is a terminal, which can show a progress bar
}

func isTerminal(f *os.File) bool {
	i, err := f.Stat()
	return err == nil && i.Mode()&os.ModeCharDevice != 0
}

// run runs a command and returns the exit code.
func run(ctx context.Context, args []string, s streams) int {
	a := &app{streams: s}
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if !a.begun {
		err = usageError{err}
	}
	fmt.Fprintln(s.err, "contextmem:", message(err))
	return exitCode(err)
}

// usageError is the error for an invalid command line.
type usageError struct{ error }

// errPartial is returned if some items failed. The command has already reported each of them.
var errPartial = errors.New("some items failed")

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// message returns the text of an error without the package name.
func message(err error) string {
	var ce *contextmem.Error
	if errors.As(err, &ce) && errors.Is(err, ce) && !errors.Is(err, backend.ErrLocked) {
		if ce.Kind == fault.KindNotFound && ce.Resource == fault.Tenant && ce.ID != "" {
			return fmt.Sprintf("tenant %q not found: contextmem tenants lists those there are", ce.ID)
		}
		if ce.ID != "" && (ce.Op == "open" || ce.Op == "backup" || ce.Op == "restore") { // a directory
			return fmt.Sprintf("%s %q: %s", ce.Op, ce.ID, ce.Message())
		}
		if ce.Op != "" {
			return ce.Op + ": " + ce.Message()
		}
		return ce.Message()
	}
	if errors.Is(err, backend.ErrLocked) {
		return "another process uses the directory and does not share it"
	}
	return err.Error()
}

func exitCode(err error) int {
	var u usageError
	var wrong *contextmem.Error
	switch {
	case errors.As(err, &u):
		return exitUsage
	case errors.Is(err, errPartial):
		return exitPartial
	case errors.Is(err, contextmem.ErrNotFound):
		return exitNotFound
	case errors.Is(err, contextmem.ErrUnauthorized), errors.Is(err, contextmem.ErrForbidden):
		return exitForbidden
	case errors.Is(err, contextmem.ErrUnavailable), errors.Is(err, contextmem.ErrRateLimited), errors.Is(err, contextmem.ErrNotReady),
		errors.Is(err, contextmem.ErrProcessing), errors.Is(err, backend.ErrLocked):
		return exitLater
	case errors.Is(err, contextmem.ErrInvalid) && errors.As(err, &wrong) && wrong.Field != "":
		return exitUsage // such as --max 5000
	}
	return exitFailure
}
