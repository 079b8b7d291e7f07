// Command table measures contextmem beside other embedded search engines and prints
// Markdown tables. Each experiment runs in a process of its own, so that none
// inherits the memory of another.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/contextmem/contextmem/bench"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	var c bench.Config
	flags := flag.NewFlagSet("table", flag.ContinueOnError)
	names := make([]string, len(bench.Experiments))
	for i, e := range bench.Experiments {
		names[i] = e.Name
	}
	only := flags.String("only", strings.Join(names, ","), "the experiments to run, comma-separated")
	inner := flags.Bool("inner", false, "run the one experiment of -only in this process")
	flags.BoolVar(&c.Full, "full", false, "the sizes of README's tables, instead of small ones")
	flags.StringVar(&c.Corpus, "corpus", "", "the text `file` that corpus.sh made (default: made-up texts, in small runs alone)")
	flags.StringVar(&c.Dir, "dir", "", "the `folder` for scratch files (default: the system's)")
	flags.StringVar(&c.Keep, "keep", "", "the `folder` in which graphs of hnswlib and our own indexes are kept between runs (default: none)")
	flags.BoolVar(&c.Alone, "alone", false, "leave the contenders out of exact, large and keywords")
	flags.StringVar(&c.Profile, "cpuprofile", "", "the `file` for a processor profile of the timed queries, with -inner")
	flags.IntVar(&c.Rows, "rows", 0, "the `number` of rows of exact and large, or the one size of sweep (default: theirs); targets do not count then")
	flags.IntVar(&c.Dim, "dim", 0, "the one `length` of vectors of sweep (default: all)")
	flags.Uint64Var(&c.Seed, "seed", 1, "the seed of data and queries")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	wanted := strings.Split(*only, ",")
	for _, w := range wanted {
		if !slices.Contains(names, w) {
			return fmt.Errorf("-only: no experiment %q; there are %s", w, strings.Join(names, ", "))
		}
	}
	if *inner {
		return one(ctx, &c, wanted[0], out)
	}
	machine(out, args)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var failed []string
	for _, w := range wanted {
		cmd := exec.CommandContext(ctx, self, append(slices.Clone(args), "-inner", "-only", w)...)
		cmd.Stdout, cmd.Stderr = out, os.Stderr
		if err := cmd.Run(); err != nil {
			fmt.Fprintf(out, "### %s\n\nfailed: %v\n\n", w, err)
			failed = append(failed, w)
		}
	}
	if failed != nil {
		return fmt.Errorf("failed: %s", strings.Join(failed, ", "))
	}
	return ctx.Err()
}

// one runs an experiment and prints its report.
func one(ctx context.Context, c *bench.Config, name string, out io.Writer) error {
	for _, e := range bench.Experiments {
		if e.Name == name {
			start := time.Now()
			r, err := e.Run(ctx, c)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			r.Notes = append(r.Notes, fmt.Sprintf("experiment %s took %s; load average then %s", name, time.Since(start).Round(time.Second), load()))
			return r.WriteMarkdown(out)
		}
	}
	return fmt.Errorf("no experiment %q", name)
}

// machine prints the machine and the arguments of the measurement.
func machine(out io.Writer, args []string) {
	model := "unknown"
	if f, err := os.Open("/proc/cpuinfo"); err == nil {
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	fmt.Fprintf(out, "%s, %d processors, %s/%s, %s, load average %s; `table %s`\n\n",
		model, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), load(), strings.Join(args, " "))
}

// load returns the load average of the last minute. A high load makes the measured times unreliable.
func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	one, _, _ := strings.Cut(string(b), " ")
	return one
}
