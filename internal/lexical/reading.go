package lexical

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// reading analyzes documents in goroutines of its own while another one adds those that are analyzed, in order. It is some parts of addTogether
// documents ahead: otherwise the processors would wait for each other after every part. A worker that has to wait holds taking, so that parts begin in the order of their
// documents.
type reading struct {
	n   int
	doc func(i int) Doc

	taking  sync.Mutex
	taken   int            // documents in parts that were begun; guarded by taking
	free    chan *readPart // parts without documents
	begun   chan *readPart // parts in the order of their documents
	ended   atomic.Bool
	workers sync.WaitGroup
}

// readPart is a part of the documents.
type readPart struct {
	room []analyzed
	from int
	docs []analyzed
	read chan struct{} // has an element once docs are analyzed
}

// partsAhead is how many parts are in memory beside one for each goroutine.
const partsAhead = 6

// newReading begins to analyze n documents. The caller calls next and release for all of them, or fewer, and then end.
func newReading(n int, doc func(i int) Doc) *reading {
	all := (n + addTogether - 1) / addTogether
	workers := min(runtime.GOMAXPROCS(0), all)
	parts := min(workers+partsAhead, all)
	r := &reading{n: n, doc: doc, free: make(chan *readPart, parts), begun: make(chan *readPart, parts)}
	for range parts {
		r.free <- &readPart{room: make([]analyzed, min(n, addTogether)), read: make(chan struct{}, 1)}
	}
	for range workers {
		r.workers.Go(func() {
			for p := r.begin(); p != nil; p = r.begin() {
				for i := range p.docs {
					p.docs[i].read(doc(p.from + i))
				}
				p.read <- struct{}{}
			}
		})
	}
	return r
}

// begin takes the next part that is to be analyzed, once there is room for it. It returns nil if none is left.
func (r *reading) begin() *readPart {
	r.taking.Lock()
	defer r.taking.Unlock()
	if r.taken == r.n {
		return nil
	}
	p := <-r.free
	if r.ended.Load() {
		return nil
	}
	p.from = r.taken
	p.docs = p.room[:min(r.n-r.taken, addTogether)]
	r.taken += len(p.docs)
	r.begun <- p
	return p
}

// next waits until the next part is analyzed and returns it. The caller gives it back by release.
func (r *reading) next() *readPart {
	p := <-r.begun
	<-p.read
	return p
}

func (r *reading) release(p *readPart) { r.free <- p }

// end stops after the parts that are being analyzed, and waits for them.
func (r *reading) end() {
	r.ended.Store(true)
	close(r.free)
	r.workers.Wait()
}
