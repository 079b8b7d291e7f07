// Command vectors reads texts, a JSON string a line, and writes what the heads compare of each: the mean of its tokens' vectors after the
// first layers of the encoder, and the logarithm of the number of tokens, as little-endian float32.
//
//	go run ./build/vectors <texts.jsonl >vectors.f32
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"slices"

	e5 "github.com/contextmem/contextmem/models/multilingual-e5-small"
)

// As in config.json.
const layers, tokens = 8, 128

const atOnce = 32

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "vectors:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, in io.Reader, to io.Writer) error {
	encoder, err := e5.New()
	if err != nil {
		return err
	}
	var texts []string
	for d := json.NewDecoder(bufio.NewReader(in)); ; {
		var text string
		if err := d.Decode(&text); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		texts = append(texts, text)
	}
	out := bufio.NewWriter(to)
	for part := range slices.Chunk(texts, atOnce) {
		states, err := encoder.States(ctx, part, layers, tokens)
		if err != nil {
			return err
		}
		for _, s := range states {
			if err := binary.Write(out, binary.LittleEndian, mean(s, encoder.Dim())); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

// mean returns the mean of the vectors of a text and the logarithm of their number.
func mean(states []float32, dim int) []float32 {
	n := len(states) / dim
	sums := make([]float64, dim)
	for i, v := range states {
		sums[i%dim] += float64(v)
	}
	m := make([]float32, dim, dim+1)
	for i, v := range sums {
		m[i] = float32(v / float64(n))
	}
	return append(m, float32(math.Log(float64(n))))
}
