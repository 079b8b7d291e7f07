package pipeline

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"

	"golang.org/x/sync/semaphore"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/extract"
)

// parsed returns the size of the texts of jobs, in bytes.
func parsed(jobs []*job) (size int) {
	for _, j := range jobs {
		if j.prep != nil {
			size += len(j.prep.text)
		}
	}
	return size
}

// release drops what is not needed once the chunks of jobs are stored, except for what the indexes are still to receive: of a large
// document that is a multiple of its text. It returns the size of the texts, in bytes.
func release(jobs []*job) (size int) {
	for _, j := range jobs {
		if j.release(); j.prep != nil {
			size += j.prep.size
		}
	}
	return size
}

func (j *job) release() {
	p := j.prep
	if p == nil {
		return
	}
	p.blobs, p.record = nil, nil
	j.count, p.size, j.weight = len(p.chunks), 0, 0
	for i := range p.chunks {
		ch := &p.chunks[i]
		p.size += len(ch.Text)
		j.weight += 1 + len(ch.Text)/weightOf
		ch.Vector, ch.Layout, ch.Extra, ch.Key = nil, nil, nil, ""
	}
	if len(p.chunks) > 1 && len(blob(j.Blobs, backend.Supplied)) == 0 { // a supplied graph is tied to chunks by their words
		p.chunks = []backend.Chunk{p.chunks[0]}
	}
}

// weightOf is the size, in bytes of its text, from which on a chunk weighs as much as two: what indexes hold of it in memory grows with it.
const weightOf = 512

// clip keeps the first bytes of the text, at most the given number.
func (p *prepared) clip(most int) {
	if len(p.text) <= most {
		return
	}
	p.text = strings.Clone(p.text[:most])
	for i := range p.chunks {
		ch := &p.chunks[i]
		ch.Text, ch.Heading = strings.Clone(ch.Text), strings.Clone(ch.Heading) // they are of the whole text
	}
}

// collectFrom is the size of a batch, in bytes of its text, from which on the garbage that it leaves is collected and the indexes are
// written before it goes on: otherwise that memory is held beside what the next step allocates.
const collectFrom = 8 << 20

// clip leaves what the extractor reads of the texts of a large batch.
func (c *Config) clip(jobs []*job, size int) {
	l, ok := c.Extractor.(extract.Limited)
	if !ok || size < collectFrom {
		return
	}
	for _, j := range jobs {
		if j.prep != nil {
			j.prep.clip(l.MaxBytes())
		}
	}
}

// lighten frees the memory that a large batch no longer needs once it is searchable.
func (c *Config) lighten(ctx context.Context, s Space, jobs []*job, size int) {
	c.clip(jobs, size)
	collect(size)
	if err := s.Follower.Flush(ctx); err != nil && ctx.Err() == nil {
		c.Logger.Warn("indexes cannot be written and stay in memory", "err", err)
	}
	giveMemoryBack(size)
}

// collect runs the garbage collector after a batch of at least collectFrom bytes of text, if what the batch held is much of the
// heap: in a larger heap a collection takes long and frees little.
func collect(size int) {
	if fillsHeap(size) {
		runtime.GC()
	}
}

// giveMemoryBack is collect that returns the memory to the system as well: the extractor allocates large blocks next, for which what was
// freed in pieces has no room.
func giveMemoryBack(size int) {
	if fillsHeap(size) {
		debug.FreeOSMemory()
	}
}

func fillsHeap(size int) bool {
	if size < collectFrom {
		return false
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return live[0].Value.Kind() == metrics.KindUint64 && live[0].Value.Uint64() <= 8*uint64(size)
}

// Bounds of what the extractors of this process read at once: while they read they hold a multiple of it. Texts of less than freeSize
// together do not wait.
const (
	readingSize = 512 << 10 // bytes of text for each processor
	freeSize    = 256 << 10 // bytes of text
)

// reserve waits until an extractor of this process may read ins. The caller calls free when it has.
func (c *Config) reserve(ctx context.Context, ins []extract.Input) (free func(), err error) {
	l, ok := c.Extractor.(extract.Limited)
	if !ok {
		return func() {}, nil
	}
	size := 0
	for i := range ins {
		size += min(len(ins[i].Text), l.MaxBytes())
	}
	if size < freeSize {
		return func() {}, nil
	}
	c.readingOnce.Do(func() {
		c.readingRoom = int64(runtime.GOMAXPROCS(0)) * readingSize
		c.readings = semaphore.NewWeighted(c.readingRoom)
	})
	n := min(int64(size), c.readingRoom)
	if err := c.readings.Acquire(ctx, n); err != nil {
		return nil, err
	}
	return func() { c.readings.Release(n) }, nil
}
