// Command million builds a deployment of a million generated texts through the public library and measures
// ingestion, a kill with unindexed changes, reopening, recall, deletion of half of the items, and disk usage.
//
//	go run ./cmd/million -n 1000000 -dir /var/tmp/million      # some 3 GB; -n 250000 needs 0.8 GB
//
// Every step runs in a process of its own, so that no step profits or suffers from memory that an earlier one filled. -step runs a single step
// on the files that the earlier steps left in -dir. Nine of ten texts are chat turns, added as memories of a sub-tenant. The tenth is an abstract,
// added as knowledge of the same sub-tenant. Times are wall-clock times; cpu is processor time of the process. It is for Linux and macOS.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"strconv"
)

// settings holds the parameters that all steps share.
type settings struct {
	dir    string
	n      int // texts
	behind int // number of texts that the indexes lack after the kill
	keep   bool
}

// steps lists the steps in the order in which they run.
var steps = []struct {
	name string
	run  func(ctx context.Context, s *settings) error
}{
	{"ingest", ingest}, {"rest", rest}, {"first", first}, {"recall", recalls}, {"kill", kill}, {"behind", behind}, {"halve", halve}, {"first", first}, {"recall", recalls},
}

func main() {
	var s settings
	step := flag.String("step", "", "one step alone: ingest, rest, first, recall, kill, behind, halve")
	flag.StringVar(&s.dir, "dir", "", "where the deployment is; it must not exist yet; default: a new one that is removed in the end")
	flag.IntVar(&s.n, "n", 1_000_000, "texts")
	flag.IntVar(&s.behind, "behind", 100_000, "texts that the indexes lack after a kill")
	flag.BoolVar(&s.keep, "keep", false, "leave the deployment")
	profile := flag.String("profile", "", "write a profile of the processor time of one step to a file")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := profiled(*profile, func() error { return do(ctx, &s, *step) }); err != nil {
		fmt.Fprintln(os.Stderr, "million:", err)
		os.Exit(1)
	}
}

// profiled calls f and writes a processor profile of it to the file name. An empty name means no profile.
func profiled(name string, f func() error) error {
	if name == "" {
		return f()
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return errors.Join(err, file.Close())
	}
	err = f()
	pprof.StopCPUProfile()
	return errors.Join(err, file.Close())
}

func do(ctx context.Context, s *settings, only string) (err error) {
	if only != "" {
		for _, x := range steps {
			if x.name == only {
				return x.run(ctx, s)
			}
		}
		return fmt.Errorf("there is no step %q", only)
	}
	if s.n < 10*s.behind/9 {
		return errors.New("-n must be at least 10/9 of -behind")
	}
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp("", "contextmem-million-"); err != nil {
			return err
		}
		s.dir = filepath.Join(s.dir, "data")
	}
	if _, err := os.Stat(s.dir); err == nil {
		return fmt.Errorf("%s exists", s.dir)
	}
	if !s.keep {
		defer func() { err = errors.Join(err, os.RemoveAll(s.dir), os.RemoveAll(s.dir+".indexes")) }()
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, x := range steps {
		fmt.Println("#", x.name)
		cmd := exec.CommandContext(ctx, self, "-step", x.name, "-dir", s.dir, "-n", strconv.Itoa(s.n), "-behind", strconv.Itoa(s.behind))
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w", x.name, err)
		}
	}
	return nil
}
