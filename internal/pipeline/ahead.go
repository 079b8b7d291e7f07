package pipeline

import (
	"context"
	"slices"
	"strings"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/extract"
)

// extractAhead extracts the graphs of a large batch before its texts are embedded. An extractor of this process needs a multiple of the text that it
// reads as memory. At this point there is room for it, since neither vectors nor index entries of the batch are in memory. The batch can then be
// completed before its index entries are flushed.
//
// It only reads the items at the beginning whose texts have at most MaxBytes bytes together, and leaves the others to extract. It also leaves them
// to extract if it fails, so that the items are searchable meanwhile. tried reports whether there were items to read.
func (c *Config) extractAhead(ctx context.Context, jobs []*job, size int) (tried bool) {
	l, ok := c.Extractor.(extract.Limited)
	if !ok || size < collectFrom {
		return false
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
		return false
	}
	giveMemoryBack(size) // the extractor allocates large blocks, for which the freed pieces are too small
	outs, err := c.extractAll(ctx, ins)
	if err != nil {
		return true
	}
	for i, j := range of {
		j.out = &outs[i]
	}
	giveMemoryBack(size)
	return true
}

// extractable reports whether the graph of a job has yet to be extracted.
func (j *job) extractable() bool {
	return !j.lost && j.fail == nil && j.out == nil && len(blob(j.Blobs, backend.Supplied)) == 0
}

// extracted reports whether no job's graph has yet to be extracted.
func extracted(jobs []*job) bool { return !slices.ContainsFunc(jobs, (*job).extractable) }
