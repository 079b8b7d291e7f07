package pipeline

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/extract"
)

// extractBeside begins to extract the graphs of a large batch while its chunks are stored: the Store writes them on one processor, and the extractor
// reads on another. An extractor of this process needs a multiple of the text that it reads as memory. At this point there is room for it, since no
// index entries of the batch are in memory. The batch can then be completed before its index entries are flushed.
//
// It only reads the items at the beginning whose texts have at most MaxBytes bytes together, and leaves the others to extract. It also leaves them
// to extract if it fails, so that the items are searchable meanwhile. The caller calls end, which waits for the extractor, at least once.
func (c *Config) extractBeside(ctx context.Context, jobs []*job, size int) (end func()) {
	l, ok := c.Extractor.(extract.Limited)
	if !ok || size < collectFrom {
		return func() {}
	}
	var of []*job
	var ins []extract.Input
	room := l.MaxBytes()
	for _, j := range jobs {
		if j.prep == nil || !j.extractable() {
			continue
		}
		j.prep.shorten(l.MaxBytes())
		if room -= len(j.prep.text); room < 0 {
			break
		}
		in := j.input()
		in.Title = strings.Clone(in.Title) // what was extracted keeps it in memory, and the whole text if it is a part of that
		of, ins = append(of, j), append(ins, in)
	}
	if len(of) == 0 {
		return func() {}
	}
	giveMemoryBack(size) // the extractor allocates large blocks, for which the freed pieces are too small
	var outs []extract.Output
	var err error
	var reading sync.WaitGroup
	reading.Go(func() { outs, err = c.extractAll(ctx, ins) })
	return sync.OnceFunc(func() {
		reading.Wait()
		if err == nil {
			for i, j := range of {
				j.out = &outs[i]
			}
		}
		ins = nil // garbage is collected once the chunks are released
	})
}

// extractable reports whether the graph of a job has yet to be extracted.
func (j *job) extractable() bool {
	return !j.lost && j.fail == nil && j.out == nil && len(blob(j.Blobs, backend.Supplied)) == 0
}

// extracted reports whether no job's graph has yet to be extracted.
func extracted(jobs []*job) bool { return !slices.ContainsFunc(jobs, (*job).extractable) }
