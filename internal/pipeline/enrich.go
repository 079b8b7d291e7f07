package pipeline

import (
	"bytes"
	"context"
	"math"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/fixed"
	"github.com/contextmem/contextmem/internal/half"
	"github.com/contextmem/contextmem/internal/item"
)

// embed sets the vectors of the chunks of all jobs. It embeds all texts together. If that
// fails, it embeds item by item, so that one item can't fail the others.
func (c *Config) embed(ctx context.Context, e Embedder, jobs []*job) {
	var ready []*job
	for _, j := range jobs {
		if j.fail == nil && j.prep != nil {
			ready = append(ready, j)
		}
	}
	if len(ready) == 0 {
		return
	}
	if embedAll(ctx, e, ready) == nil {
		c.outage.over()
		return
	}
	down := false // two consecutive items failed, so the embedder is taken to be down
	why := ""     // the cause of the last failure
	for i, j := range ready {
		if ctx.Err() != nil {
			return
		}
		c.guard(j, func() {
			err := error(errDown)
			if !down {
				err = embedAll(ctx, e, []*job{j})
			}
			if err == nil {
				c.outage.over()
				return
			}
			_, own := err.(constError)
			if !down {
				why = causeOf("the embedder", err)
				c.warn(ctx, "embedding failed", j, err)
			}
			fail := &failure{code: CodeEmbedding, message: "embedding failed: " + why, retry: true, transient: !own || err == errDown}
			if fail.transient && c.outage.blame(j, c.MaxAttempts) {
				fail.transient = false
			}
			if fail.transient && !down {
				down = len(ready) == 1 || i == 1 && ready[0].fail != nil && ready[0].fail.transient
			}
			j.fail = fail
		})
	}
	if down {
		c.pause("embedder")
	}
}

// maxEmbedTexts bounds the texts of one call to an embedder.
const maxEmbedTexts = 512

func embedAll(ctx context.Context, e Embedder, jobs []*job) error {
	var u unembedded
	read := 0
	for _, j := range jobs {
		for i := range j.prep.chunks {
			u.add(j.Part.Class, j.reading(i), &j.prep.chunks[i].Vector)
			read += len(j.prep.chunks[i].Text)
			if u.count() < maxEmbedTexts {
				continue
			}
			if err := u.embed(ctx, e); err != nil {
				return err
			}
			if read >= collectFrom { // what was embedded is not read again
				collect(read)
				read = 0
			}
		}
	}
	return u.embed(ctx, e)
}

// reading returns the texts that the embedder reads for a chunk.
func (j *job) reading(i int) reading {
	p := j.prep
	ch := &p.chunks[i]
	if i >= len(p.spans) { // an inferred statement
		return plainReading(ch.Text)
	}
	return readingOf(p.doc, j.Part.Class, j.Title, j.Filename, ch.Text, ch.Heading)
}

// embedTexts embeds texts in calls of at most maxEmbedTexts, and calls set with the vector of each text.
// It rounds vectors to numbers that stores keep in half the space or less; see packages half and fixed.
func embedTexts(ctx context.Context, e Embedder, texts []string, set func(i int, v []float32)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errPanic
		}
	}()
	for from := 0; from < len(texts); from += maxEmbedTexts {
		part := texts[from:min(from+maxEmbedTexts, len(texts))]
		vecs, err := e.EmbedDocuments(ctx, part)
		if err != nil {
			return err
		}
		if len(vecs) != len(part) {
			return errCount
		}
		dim := e.Dim()
		room := make([]float32, dim*len(part)) // do not change the embedder's slices
		for i, v := range vecs {
			if len(v) != dim {
				return errDim
			}
			for _, x := range v {
				if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
					return errNumber
				}
			}
			rounded, ok := fixed.Rounded(room[i*dim:i*dim:(i+1)*dim], v)
			if !ok {
				rounded = half.Rounded(room[i*dim:i*dim:(i+1)*dim], v)
			}
			set(from+i, rounded)
		}
	}
	return nil
}

type constError string

func (e constError) Error() string { return string(e) }

const (
	errDown   = constError("the embedder is down")
	errPanic  = constError("the plug-in panicked")
	errCount  = constError("the embedder answered with another number of vectors")
	errDim    = constError("the embedder answered with vectors of another length")
	errNumber = constError("the embedder answered with numbers that are not finite")

	errOutputs = constError("the extractor answered with another number of outputs")
)

// extract extracts the graphs of the indexed jobs that have none yet. tried reports whether there were any.
func (c *Config) extract(ctx context.Context, jobs []*job) (tried bool) {
	var ins []extract.Input
	var of []*job
	for _, j := range jobs {
		if j.lost || j.fail != nil {
			continue
		}
		if j.prep == nil { // an earlier claim has indexed the item
			c.guard(j, func() { c.resume(j) })
			if j.fail != nil {
				continue
			}
		}
		if !j.extractable() {
			continue
		}
		ins = append(ins, j.input())
		of = append(of, j)
	}
	if len(ins) == 0 {
		return false
	}
	outs, err := c.extractAll(ctx, ins)
	if err == nil {
		for i, j := range of {
			j.out = &outs[i]
		}
		return true
	}
	for i, j := range of {
		if ctx.Err() != nil {
			return true
		}
		outs, err := c.extractAll(ctx, ins[i:i+1])
		if err != nil {
			c.warn(ctx, "extraction failed", j, err)
			_, own := err.(constError)
			j.fail = &failure{code: CodeExtraction, message: "graph extraction failed: " + causeOf("the extractor", err), retry: true, transient: !own}
			continue
		}
		j.out = &outs[0]
	}
	return true
}

func (c *Config) extractAll(ctx context.Context, ins []extract.Input) (outs []extract.Output, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errPanic
		}
	}()
	free, err := c.reserve(ctx, ins)
	if err != nil {
		return nil, err
	}
	defer free()
	outs, err = c.Extractor.Extract(ctx, ins)
	if err == nil && len(outs) != len(ins) {
		err = errOutputs
	}
	return outs, err
}

// resume rebuilds the input of extraction from the stored chunks.
func (c *Config) resume(j *job) {
	doc, err := item.Decode(j.Doc)
	if err != nil {
		j.fail = &failure{code: CodeDamaged, message: "the stored record is damaged"}
		return
	}
	p := &prepared{doc: doc, time: j.Time, chunks: j.Chunks}
	text := blob(j.Blobs, backend.Text)
	if text == nil {
		if text = blob(j.Blobs, backend.Original); j.Part.Class == backend.Knowledge && doc.App == nil {
			text = bytes.TrimRight(text, blanks) // see textIsOriginal
		}
	}
	p.text = string(text)
	for _, ch := range j.Chunks {
		p.size += len(ch.Text)
	}
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
