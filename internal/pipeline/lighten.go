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

// parsed returns the total size of the texts of jobs, in bytes.
func parsed(jobs []*job) (size int) {
	for _, j := range jobs {
		if j.prep != nil {
			size += len(j.prep.text)
		}
	}
	return size
}

// release drops the data of jobs that is not needed once their chunks are stored. For a large document it is a multiple of the text. It keeps
// what the indexes have yet to receive. release returns the total size of the texts, in bytes.
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
	if len(p.chunks) > 1 && len(blob(j.Blobs, backend.Supplied)) == 0 { // suppliedGraph still needs the words of the chunks
		p.chunks = []backend.Chunk{p.chunks[0]}
	}
}

// weightOf is the number of bytes of text that add 1 to a chunk's weight. The memory that indexes use for a chunk grows with its text.
const weightOf = 512

// shorten shortens the text to at most the given number of bytes. The chunks keep the whole text in memory.
func (p *prepared) shorten(most int) {
	if len(p.text) > most {
		p.text, p.cut = strings.Clone(p.text[:most]), true
	}
}

// clip is shorten, but nothing keeps the whole text in memory.
func (p *prepared) clip(most int) {
	if p.shorten(most); !p.cut {
		return
	}
	p.cut = false
	for i := range p.chunks {
		ch := &p.chunks[i]
		ch.Text, ch.Heading = strings.Clone(ch.Text), strings.Clone(ch.Heading)
	}
}

// collectFrom is the size of a batch's text, in bytes, from which on the pipeline collects garbage and flushes the indexes between steps.
// Otherwise the garbage of a step would be in memory together with the allocations of the next step.
const collectFrom = 8 << 20

// clip shortens the texts of a large batch to the part that the extractor reads.
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

// lighten frees the memory that a large batch no longer needs once it is searchable. If the extractor has yet to read texts of it, that includes
// the index entries, which are flushed. Otherwise the scheduler flushes them once the batch is completed.
func (c *Config) lighten(ctx context.Context, s Space, jobs []*job, size int) {
	c.clip(jobs, size)
	collect(size)
	if extracted(jobs) {
		return
	}
	if err := s.Follower.Flush(ctx); err != nil && ctx.Err() == nil {
		c.Logger.Warn("indexes cannot be written and stay in memory", "err", err)
	}
	giveMemoryBack(size)
}

// collect runs the garbage collector after a batch of at least collectFrom bytes of text, if the batch is a large part of the
// heap. In a larger heap a collection takes long and frees little.
func collect(size int) {
	if fillsHeap(size) {
		runtime.GC()
	}
}

// collectSmall counts the text of a batch that has ended, and collects garbage after smallSize bytes of small batches. A batch leaves a multiple of its
// text as garbage, and where other programs use the processors, the runtime collects it late.
func (c *Config) collectSmall(size int) {
	if size < collectFrom && c.ended.Add(int64(size)) >= smallSize {
		c.ended.Store(0)
		collect(collectFrom)
	}
}

// smallSize is the number of bytes of small batches after which garbage is collected.
const smallSize = 2 << 20

// giveMemoryBack is collect, but also returns memory to the system. The extractor allocates large blocks next, for which the freed pieces
// are too small.
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

// Bounds of the text that the extractors of this process read concurrently. An extractor needs a multiple of its text as memory. Texts with
// less than freeSize bytes together do not wait.
const (
	readingSize = 512 << 10 // bytes of text for each processor
	freeSize    = 256 << 10 // bytes of text that never wait
)

// reserve waits until an extractor of this process may read ins. The caller calls free when the extractor has finished.
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
