// Command compare runs the benchmarks of two commits on one machine, in turns, and fails where the newer one is more than 5 % worse in
// anything that benchstat calls significant.
//
//	./compare OLD NEW                                    # commits, branches or tags
//	./compare -bench 'Recall' -packages . -rounds 10 OLD NEW
//	./compare -save results NEW                          # one commit alone: a baseline, with its machine
//
// Both commits are built before any benchmark runs. A round runs each package of both commits once. The order of the two commits alternates
// between rounds, so that other load on the machine affects both. Other load makes times vary, but not memory or allocation counts.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

type settings struct {
	bench, benchtime string
	packages         []string
	rounds           int
	limit            float64
	save             string
}

func main() {
	var s settings
	packages := flag.String("packages", ". ./backend/local ./internal/lexical ./internal/vector", "packages of the root module")
	flag.StringVar(&s.bench, "bench", "^Benchmark(Recall|Ingest|Acknowledge|Apply|Search|Exact|Analyze|Around)$", "which benchmarks")
	flag.StringVar(&s.benchtime, "benchtime", "0.3s", "how long each runs in a round")
	flag.IntVar(&s.rounds, "rounds", 6, "rounds; benchstat needs six to tell anything")
	flag.Float64Var(&s.limit, "limit", 5, "per cent by which the newer commit may be worse")
	flag.StringVar(&s.save, "save", "", "keep what the newer commit measured in this folder, in a file of its name")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: compare [flags] [OLD] NEW")
		flag.PrintDefaults()
	}
	flag.Parse()
	s.packages = strings.Fields(*packages)
	if n := flag.NArg(); n != 2 && (n != 1 || s.save == "") || s.rounds < 1 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, &s, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// commit is one of the compared commits.
type commit struct {
	name string // abbreviated
	dir  string // its tree
	bins []string
	out  bytes.Buffer
}

func run(ctx context.Context, s *settings, names []string) (err error) {
	top, err := git(ctx, ".", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	room, err := os.MkdirTemp("", "contextmem-compare-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(room)) }()
	var commits []*commit
	for i, name := range names {
		c := &commit{dir: filepath.Join(room, fmt.Sprint("tree", i))}
		if c.name, err = git(ctx, top, "rev-parse", "--short=12", "--verify", name+"^{commit}"); err != nil {
			return err
		}
		if _, err := git(ctx, top, "worktree", "add", "--detach", c.dir, c.name); err != nil {
			return err
		}
		defer func() {
			_, rerr := git(context.WithoutCancel(ctx), top, "worktree", "remove", "--force", c.dir)
			err = errors.Join(err, rerr)
		}()
		if err := c.build(ctx, s, room); err != nil {
			return err
		}
		commits = append(commits, c)
	}
	for round := range s.rounds {
		fmt.Fprintf(os.Stderr, "round %d of %d\n", round+1, s.rounds)
		for at := range s.packages {
			for _, c := range commits {
				if err := c.measure(ctx, s, at); err != nil {
					return err
				}
			}
		}
		slices.Reverse(commits)
	}
	slices.SortFunc(commits, func(a, b *commit) int { return strings.Compare(a.dir, b.dir) })
	newest := commits[len(commits)-1]
	if s.save != "" {
		file := filepath.Join(s.save, newest.name+".txt")
		if err := os.WriteFile(file, append(machine(newest.name), newest.out.Bytes()...), 0o600); err != nil {
			return err
		}
	}
	if len(commits) == 1 {
		return nil
	}
	return judge(ctx, s, room, commits)
}

// build compiles the test binaries of the commit.
func (c *commit) build(ctx context.Context, s *settings, room string) error {
	for at, p := range s.packages {
		bin := filepath.Join(room, fmt.Sprintf("%s-%d.test", filepath.Base(c.dir), at))
		cmd := exec.CommandContext(ctx, "go", "test", "-c", "-o", bin, p)
		cmd.Dir = c.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s of %s: %w\n%s", p, c.name, err, out)
		}
		c.bins = append(c.bins, bin)
	}
	return nil
}

// measure runs the benchmarks of one package of the commit once.
func (c *commit) measure(ctx context.Context, s *settings, at int) error {
	cmd := exec.CommandContext(ctx, c.bins[at], "-test.run", "^$", "-test.bench", s.bench, "-test.benchtime", s.benchtime, "-test.benchmem", "-test.short")
	cmd.Dir = filepath.Join(c.dir, filepath.FromSlash(s.packages[at]))
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s of %s: %w\n%s", s.packages[at], c.name, err, out)
	}
	_, err = c.out.Write(out)
	return err
}

// machine returns configuration lines for benchstat: the machine on which a commit was measured, and when.
func machine(name string) []byte {
	load, _ := os.ReadFile("/proc/loadavg") // an error leaves the load average empty: only Linux has this file
	first, _, _ := strings.Cut(string(load), " ")
	return fmt.Appendf(nil, "commit: %s\ndate: %s\ngo: %s\nprocessors: %d\nload: %s\n", name, time.Now().UTC().Format(time.DateOnly), runtime.Version(), runtime.NumCPU(), first)
}

// judge prints benchstat's comparison of two commits and returns an error when the second is worse.
func judge(ctx context.Context, s *settings, room string, commits []*commit) error {
	args := []string{"tool", "benchstat"}
	for _, c := range commits {
		file := filepath.Join(room, c.name+".txt")
		if err := os.WriteFile(file, c.out.Bytes(), 0o600); err != nil {
			return err
		}
		args = append(args, c.name+"="+file)
	}
	show := exec.CommandContext(ctx, "go", args...)
	show.Stdout, show.Stderr = os.Stdout, os.Stderr
	if err := show.Run(); err != nil {
		return fmt.Errorf("benchstat: %w", err)
	}
	table, err := exec.CommandContext(ctx, "go", slices.Insert(args, 2, "-format", "csv")...).Output()
	if err != nil {
		return fmt.Errorf("benchstat: %w", err)
	}
	worse, err := worseThan(bytes.NewReader(table), s.limit)
	if err != nil {
		return err
	}
	if len(worse) > 0 {
		return fmt.Errorf("%s is worse than %s by more than %g %%:\n%s", commits[1].name, commits[0].name, s.limit, strings.Join(worse, "\n"))
	}
	return nil
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}
