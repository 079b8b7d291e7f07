// Command vectors writes the vectors of texts, as memories, for memories.py: it reads {"questions":[...],"statements":[...]} from its input and
// writes [questions + statements, 768] little-endian 32-bit floats.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"

	both "github.com/contextmem/contextmem/models/e5-bge"
)

func main() {
	w := bufio.NewWriter(os.Stdout)
	if err := run(os.Stdin, w); err != nil {
		fmt.Fprintln(os.Stderr, "vectors:", err)
		os.Exit(1)
	}
	if err := w.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, "vectors:", err)
		os.Exit(1)
	}
}

const atOnce = 32

func run(r io.Reader, w io.Writer) error {
	var texts struct{ Questions, Statements []string }
	if err := json.NewDecoder(r).Decode(&texts); err != nil {
		return err
	}
	all, err := both.New()
	if err != nil {
		return err
	}
	e := all.Memories()
	ctx := context.Background()
	for _, q := range texts.Questions {
		v, err := e.EmbedQuery(ctx, q)
		if err != nil {
			return err
		}
		if err := binary.Write(w, binary.LittleEndian, v); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(texts.Statements, atOnce) {
		vs, err := e.EmbedDocuments(ctx, part)
		if err != nil {
			return err
		}
		for _, v := range vs {
			if err := binary.Write(w, binary.LittleEndian, v); err != nil {
				return err
			}
		}
	}
	return nil
}
