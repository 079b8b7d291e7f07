// Command fit learns weights for the parts of a recall's score and reports whether they also help on sets that
// they were not learnt on.
//
//	go run ./examples/fit -collect rows.jsonl a.json.gz b.json     # ask every question; keep the parts of the 50 best
//	go run ./examples/fit -out weights.json rows.jsonl             # a table, each set judged by weights of the others
//
// The sets are those of examples/eval. Weights are factors on the parts that Explain shows: 1 is what recall does today. A lane (memory or
// knowledge) has weights of its own. One line of rows.jsonl is one question.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	switch err := run(ctx, os.Args[1:]); {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "fit:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	fs := flag.NewFlagSet("fit", flag.ContinueOnError)
	collectTo := fs.String("collect", "", "ask the questions of the sets with the default models and write their rows to this file")
	out := fs.String("out", "", "write the weights, learnt on all sets, to this file")
	strength := fs.Float64("keep", .02, "how strongly weights are kept near 1")
	fs.Usage = func() {
		fmt.Fprintln(fs.Output(), "Usage: fit -collect ROWS SET...\n       fit [flags] ROWS...\nA set is one of examples/eval.")
		fs.PrintDefaults()
	}
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() == 0 {
		return errors.New("name sets to collect, or files of rows")
	}
	if !(*strength >= 0) {
		return errors.New("-keep: want 0 or more")
	}
	if *collectTo != "" {
		return collect(ctx, *collectTo, fs.Args())
	}
	var questions []question
	for _, name := range fs.Args() {
		more, err := read(name)
		if err != nil {
			return err
		}
		questions = append(questions, more...)
	}
	learnt := map[string]map[string]float64{}
	for _, lane := range lanesOf(questions) {
		of := inLane(questions, lane)
		for _, row := range leaveOneOut(of, *strength) {
			fmt.Println(row)
		}
		w := learn(of, *strength)
		learnt[lane] = map[string]float64{}
		for i, name := range partNames {
			learnt[lane][name] = w[i]
			fmt.Printf("%s %s %.3f\n", lane, name, w[i])
		}
	}
	if *out == "" {
		return nil
	}
	b, err := json.MarshalIndent(learnt, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(*out, append(b, '\n'), 0o644)
}

const maxLine = 1 << 24

func read(name string) ([]question, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []question
	s := bufio.NewScanner(f)
	s.Buffer(nil, maxLine)
	for s.Scan() {
		var q question
		if err := json.Unmarshal(s.Bytes(), &q); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", name, len(out)+1, err)
		}
		if q.Set == "" || q.Lane == "" || len(q.Grades) == 0 {
			return nil, fmt.Errorf("%s, line %d: set, lane and grades must not be empty", name, len(out)+1)
		}
		out = append(out, q)
	}
	return out, s.Err()
}
