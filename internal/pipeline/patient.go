package pipeline

import (
	"context"
	"slices"
	"sync/atomic"
)

// Sizes of the calls of a patient embedder. Two transformers read patientCall texts in about half a second.
const (
	patientCall  = 16       // texts
	patientBytes = 16 << 10 // bytes of text after which it waits; a slice of the refiner seldom has more if its items are messages
)

// Patient returns an embedder that calls wait between calls of e, after each patientBytes bytes of text, and before it begins with texts that have more
// together. Refining one large document takes a transformer minutes, and its first call loads a model into memory. It could otherwise take both from items
// that arrive meanwhile. wait may be called from several goroutines.
func Patient(e Embedder, wait func()) Embedder { return &patient{e, wait, new(atomic.Int64)} }

type patient struct {
	Embedder
	wait func()
	read *atomic.Int64 // bytes that were embedded, by all that share wait
}

func (p *patient) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) <= patientCall {
		return p.some(ctx, texts)
	}
	if bytesOf(texts) >= patientBytes {
		p.wait()
	}
	all := make([][]float32, 0, len(texts))
	for part := range slices.Chunk(texts, patientCall) {
		vecs, err := p.some(ctx, part)
		if err != nil {
			return nil, err
		}
		if len(vecs) != len(part) {
			return nil, errCount
		}
		all = append(all, vecs...)
	}
	return all, nil
}

func (p *patient) some(ctx context.Context, texts []string) ([][]float32, error) {
	size := bytesOf(texts)
	if n := p.read.Add(size); (n-size)/patientBytes != n/patientBytes {
		p.wait()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return p.Embedder.EmbedDocuments(ctx, texts)
}

func bytesOf(texts []string) (size int64) {
	for _, t := range texts {
		size += int64(len(t))
	}
	return size
}
