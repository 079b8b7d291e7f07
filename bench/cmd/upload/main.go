// Command upload measures what a server of contextmem needs for text: it starts the server, uploads a text over REST as one file or several, asks
// for their states until all are completed, and prints the clock, the processor time and the memory of the server's process.
//
//	go build -o new ../examples/server
//	go run ./cmd/upload -text prose.txt -rounds 5 new     # one binary
//	go run ./cmd/upload -text prose.txt old new           # two, in turns, with the ratio of their medians
//
// A server has a new directory in each round. Memory is what the process has beyond that of the started server, as a multiple of the text: at most until
// the files are completed (peak), and after -rest (left). It needs Linux.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

type settings struct {
	text   string
	files  []int
	rounds int
	rest   time.Duration
}

func main() {
	var s settings
	files := ""
	flag.StringVar(&s.text, "text", "", "file with the text, which is uploaded as Markdown, or a PDF, which is uploaded whole")
	flag.StringVar(&files, "files", "1,20", "numbers of files into which the text is cut")
	flag.IntVar(&s.rounds, "rounds", 3, "rounds of each server and number of files")
	flag.DurationVar(&s.rest, "rest", time.Minute, "how long after completion the remaining memory is read; 0: not at all")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: upload -text FILE [flags] SERVER [SERVER]")
		flag.PrintDefaults()
	}
	flag.Parse()
	for f := range strings.SplitSeq(files, ",") {
		n, err := strconv.Atoi(f)
		if err != nil || n < 1 {
			flag.Usage()
			os.Exit(2)
		}
		s.files = append(s.files, n)
	}
	if s.text == "" || s.rounds < 1 || flag.NArg() < 1 || flag.NArg() > 2 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, &s, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "upload:", err)
		os.Exit(1)
	}
}

// run measures the servers in turns, and in the other order in each second round, so that other load affects both.
func run(ctx context.Context, s *settings, servers []string) error {
	text, err := os.ReadFile(s.text)
	if err != nil {
		return err
	}
	if len(text) == 0 {
		return errors.New("the text is empty")
	}
	fmt.Printf("%.1f MB of text\n%-24s %5s %8s %8s %8s %8s %8s\n", float64(len(text))/1e6, "server", "files", "clock s", "MB/s", "cpu s", "peak x", "left x")
	ending := ".md"
	if strings.EqualFold(filepath.Ext(s.text), ".pdf") {
		ending, s.files = ".pdf", []int{1}
	}
	for _, count := range s.files {
		parts := cut(text, count)
		all := make([][]result, len(servers))
		for round := range s.rounds {
			order := []int{0, 1}[:len(servers)]
			if round%2 == 1 {
				slices.Reverse(order)
			}
			for _, i := range order {
				r, err := measure(ctx, servers[i], ending, parts, s.rest)
				if err != nil {
					return fmt.Errorf("%s, %d files: %w", servers[i], count, err)
				}
				all[i] = append(all[i], r)
				r.print(servers[i], count, len(text))
			}
		}
		for i := range servers {
			medians(all[i]).print(servers[i]+" median", count, len(text))
		}
		if len(servers) == 2 {
			old, now := medians(all[0]), medians(all[1])
			fmt.Printf("%s by %s, %d files: clock %.2f, cpu %.2f\n", servers[0], servers[1], count, old.clock.Seconds()/now.clock.Seconds(), old.cpu.Seconds()/now.cpu.Seconds())
		}
	}
	return nil
}

// result is what one upload took.
type result struct {
	clock, cpu time.Duration // from the upload until all files were completed
	peak, left float64       // bytes beyond those of the started server
}

func (r result) print(server string, count, size int) {
	if len(server) > 24 {
		server = "…" + server[len(server)-22:]
	}
	fmt.Printf("%-24s %5d %8.2f %8.1f %8.2f %8.2f %8.2f\n", server, count, r.clock.Seconds(), float64(size)/1e6/r.clock.Seconds(), r.cpu.Seconds(), r.peak/float64(size), r.left/float64(size))
}

func medians(of []result) result {
	return result{median(of, func(r result) time.Duration { return r.clock }), median(of, func(r result) time.Duration { return r.cpu }),
		median(of, func(r result) float64 { return r.peak }), median(of, func(r result) float64 { return r.left })}
}

func median[T cmp.Ordered](of []result, get func(result) T) T {
	all := make([]T, len(of))
	for i := range of {
		all[i] = get(of[i])
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// cut cuts a text into count parts of about equal size, between lines.
func cut(text []byte, count int) (parts [][]byte) {
	for left := count; left > 0; left-- {
		n := len(text) / left
		for left > 1 && n < len(text) && text[n-1] != '\n' {
			n++
		}
		parts, text = append(parts, text[:n]), text[n:]
	}
	return parts
}
