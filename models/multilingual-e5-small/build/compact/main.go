// Command compact turns a tokenizer.json into the compact form of internal/tokenize.
//
//	go run ./build/compact tokenizer.json tokenizer.bin
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/contextmem/contextmem/internal/tokenize"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "compact:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: compact tokenizer.json tokenizer.bin")
	}
	data, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	t, err := tokenize.FromJSON(data)
	if err != nil {
		return err
	}
	return os.WriteFile(args[1], t.Compact(), 0o644)
}
