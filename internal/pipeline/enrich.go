package pipeline

import (
	"context"
	"math"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/item"
)

// embed gives the chunks of all jobs their vectors: in one call where that works,
// else item by item so that one item can't fail the others.
func (c *Config) embed(ctx context.Context, jobs []*job) {
	var ready []*job
	for _, j := range jobs {
		if j.fail == nil && j.prep != nil {
			ready = append(ready, j)
		}
	}
	if len(ready) == 0 || c.embedAll(ctx, ready) == nil {
		return
	}
	for _, j := range ready {
		if ctx.Err() != nil {
			return
		}
		c.guard(j, func() {
			if err := c.embedAll(ctx, []*job{j}); err != nil {
				c.Logger.Warn("embedding failed", "source", j.Num, "err", err)
				j.fail = &failure{code: CodeEmbedding, message: "embedding failed", retry: true}
			}
		})
	}
}

// maxEmbedTexts bounds the texts of one call to an embedder.
const maxEmbedTexts = 512

func (c *Config) embedAll(ctx context.Context, jobs []*job) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errPanic
		}
	}()
	var texts []string
	var to []*backend.Chunk
	flush := func() error {
		if len(texts) == 0 {
			return nil
		}
		vecs, err := c.Embedder.EmbedDocuments(ctx, texts)
		if err != nil {
			return err
		}
		if len(vecs) != len(texts) {
			return errCount
		}
		for i, v := range vecs {
			if len(v) != c.Embedder.Dim() {
				return errDim
			}
			for _, x := range v {
				if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
					return errNumber
				}
			}
			to[i].Vector = v
		}
		texts, to = texts[:0], to[:0]
		return nil
	}
	for _, j := range jobs {
		for i := range j.prep.chunks {
			if j.prep.embed[i] == "" {
				continue
			}
			texts = append(texts, j.prep.embed[i])
			to = append(to, &j.prep.chunks[i])
			if len(texts) == maxEmbedTexts {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	return flush()
}

type constError string

func (e constError) Error() string { return string(e) }

const (
	errPanic  = constError("the plug-in panicked")
	errCount  = constError("the embedder answered with another number of vectors")
	errDim    = constError("the embedder answered with vectors of another length")
	errNumber = constError("the embedder answered with numbers that are not finite")
)

// extract finds the graph of the jobs that are indexed.
func (c *Config) extract(ctx context.Context, jobs []*job) {
	var ins []extract.Input
	var of []*job
	for _, j := range jobs {
		if j.lost || j.fail != nil {
			continue
		}
		if j.prep == nil { // taken up again at GraphCreation
			c.guard(j, func() { c.resume(j) })
			if j.fail != nil {
				continue
			}
		}
		if j.out != nil || len(blob(j.Blobs, backend.Supplied)) > 0 {
			continue
		}
		ins = append(ins, j.input())
		of = append(of, j)
	}
	if len(ins) == 0 {
		return
	}
	outs, err := c.extractAll(ctx, ins)
	if err == nil {
		for i, j := range of {
			j.out = &outs[i]
		}
		return
	}
	for i, j := range of {
		if ctx.Err() != nil {
			return
		}
		outs, err := c.extractAll(ctx, ins[i:i+1])
		if err != nil {
			c.Logger.Warn("extraction failed", "source", j.Num, "err", err)
			j.fail = &failure{code: CodeExtraction, message: "graph extraction failed", retry: true}
			continue
		}
		j.out = &outs[0]
	}
}

func (c *Config) extractAll(ctx context.Context, ins []extract.Input) (outs []extract.Output, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errPanic
		}
	}()
	outs, err = c.Extractor.Extract(ctx, ins)
	if err == nil && len(outs) != len(ins) {
		err = constError("the extractor answered with another number of outputs")
	}
	return outs, err
}

// resume rebuilds what extraction needs from the stored chunks.
func (c *Config) resume(j *job) {
	doc, err := item.Decode(j.Doc)
	if err != nil {
		j.fail = &failure{code: CodeDamaged, message: "the stored record is damaged"}
		return
	}
	p := &prepared{doc: doc, time: j.Time, chunks: j.Chunks}
	text := blob(j.Blobs, backend.Text)
	if text == nil {
		text = blob(j.Blobs, backend.Original)
	}
	p.text = string(text)
	for _, ch := range j.Chunks {
		lay := decodeLayout(ch.Layout)
		if lay.Inferred {
			break
		}
		start := min(lay.Offsets.Document, len(p.text))
		p.spans = append(p.spans, extract.Span{Start: start, End: min(start+len(ch.Text), len(p.text))})
	}
	j.prep = p
}
