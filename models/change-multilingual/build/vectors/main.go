// Command vectors reads texts, a JSON string a line, and writes what the heads compare of each: the mean of its tokens' vectors after the
// first layers of the encoder, and the logarithm of the number of tokens, as little-endian float32. With -tokens it writes the number of tokens instead, in
// 32 bits, and the vector of each, as float16.
//
//	go run ./build/vectors <texts.jsonl >vectors.f32
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
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
	each := flag.Bool("tokens", false, "write the vector of each token")
	flag.Parse()
	if err := run(ctx, os.Stdin, os.Stdout, *each); err != nil {
		fmt.Fprintln(os.Stderr, "vectors:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, in io.Reader, to io.Writer, each bool) error {
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
			var v any = mean(s, encoder.Dim())
			if each {
				if err := binary.Write(out, binary.LittleEndian, int32(len(s)/encoder.Dim())); err != nil {
					return err
				}
				v = float16s(s)
			}
			if err := binary.Write(out, binary.LittleEndian, v); err != nil {
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

// float16s returns values as float16, cut off behind its last bit. Values too small are 0.
func float16s(v []float32) []uint16 {
	const bias, mantissa = 127 - 15, 23 - 10
	out := make([]uint16, len(v))
	for i, f := range v {
		b := math.Float32bits(f)
		out[i] = uint16(b >> 16 & 0x8000)
		if e := int(b>>23&0xff) - bias; e > 0 {
			out[i] |= uint16(min(e, 30))<<10 | uint16(b>>mantissa&0x3ff)
		}
	}
	return out
}
