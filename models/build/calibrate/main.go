// Command calibrate measures an embedding model over pairs of questions and answers and writes its calibration.json.
//
//	go run ./models/build/calibrate -dir models/multilingual-e5-small -query "query: " -document "passage: "
//	go run ./models/build/calibrate -dir models/e5-memory -base models/multilingual-e5-small -pairs models/multilingual-e5-small/build/pairs.jsonl.gz -query "query: " -document "passage: "
//	go run ./models/build/calibrate -dir models/bge-small-en -query "Represent this sentence for searching relevant passages: " -cls
//
// The pairs are build/pairs.jsonl.gz in the model's folder, or the file of -pairs. A line is {"query": ..., "document": ..., "group": language or kind of
// text, "topic": ...}.
package main

import (
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

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
	set := flag.NewFlagSet("calibrate", flag.ContinueOnError)
	dir := set.String("dir", ".", "folder of the model")
	query := set.String("query", "", "what a question begins with")
	passage := set.String("document", "", "what a document begins with")
	of := set.String("pairs", "", "file of the pairs; default build/pairs.jsonl.gz in the folder of the model")
	base := set.String("base", "", "folder of the model that this one was trained further from, whose tokeniser and other weights it has")
	cls := set.Bool("cls", false, "the vector is that of the first token, not the mean")
	if err := set.Parse(args); err != nil {
		return err
	}
	if set.NArg() > 0 {
		return fmt.Errorf("unknown argument %q", set.Arg(0))
	}
	pairs, err := read(cmp.Or(*of, filepath.Join(*dir, "build", "pairs.jsonl.gz")))
	if err != nil {
		return err
	}
	file := filepath.Join(*dir, neural.CalibrationFile)
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	o := &neural.Options{QueryPrefix: query, DocumentPrefix: passage}
	if *cls {
		o.Pooling = neural.CLS
	}
	model, err := load(*dir, *base, o)
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
	return os.WriteFile(file, append(data, '\n'), 0o644)
}

// load opens the model of a folder. If base is named, the weights of the folder replace some of base's.
func load(dir, base string, o *neural.Options) (*neural.Embedder, error) {
	if base == "" {
		return neural.Load(dir, o)
	}
	var f neural.Files
	for name, to := range map[string]*[]byte{
		filepath.Join(base, "config.json"): &f.Config, filepath.Join(base, "tokenizer.bin"): &f.Tokenizer, filepath.Join(base, "model.safetensors"): &f.Weights,
		filepath.Join(dir, "model.safetensors"): &f.Over,
	} {
		var err error
		if *to, err = os.ReadFile(name); err != nil {
			return nil, err
		}
	}
	o.Model = filepath.Base(dir)
	return neural.New(f, o)
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
