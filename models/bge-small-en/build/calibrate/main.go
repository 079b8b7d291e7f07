// Command calibrate measures the model in this folder over pairs of questions and
// answers and writes calibration.json.
//
//	go run ./build/calibrate build/pairs.jsonl.gz
//
// A line of pairs is {"query": ..., "document": ..., "group": kind of text, "topic": ...}.
package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/contextmem/contextmem/embed/neural"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "calibrate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("usage: calibrate pairs.jsonl.gz")
	}
	pairs, err := read(args[0])
	if err != nil {
		return err
	}
	if err := os.Remove(neural.CalibrationFile); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	query, passage := "Represent this sentence for searching relevant passages: ", ""
	model, err := neural.Load(".", &neural.Options{Pooling: neural.CLS, QueryPrefix: &query, DocumentPrefix: &passage})
	if err != nil {
		return err
	}
	c, err := neural.Calibrate(ctx, model, pairs)
	if err != nil {
		return err
	}
	fmt.Printf("%d pairs: unrelated %.4f +- %.4f, related %.4f +- %.4f\n", len(pairs), c.UnrelatedMean, c.UnrelatedStd, c.RelatedMean, c.RelatedStd)
	data, err := neural.EncodeCalibration(c)
	if err != nil {
		return err
	}
	return os.WriteFile(neural.CalibrationFile, append(data, '\n'), 0o644)
}

func read(path string) (pairs []neural.Pair, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(z); ; {
		var p neural.Pair
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return pairs, nil
		} else if err != nil {
			return nil, err
		}
		pairs = append(pairs, p)
	}
}
