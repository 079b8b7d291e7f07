package weaviate

import (
	"context"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// rewriteMarks is what this process knows of rewrites by other processes: writes that delete objects and store them again,
// or that repair a replica. A read beside such a write may miss objects, or find what the write corrects. Each process stores in
// its state how many it has made, after they are done. A mark is a hash of these numbers. What was read under a mark is
// right as long as later reads of the states give the same mark.
type rewriteMarks struct {
	mu     sync.Mutex
	mark   uint64    // 0: the states were not read yet
	at     time.Time // when the read of the states began that gave it
	other  time.Time // when this process last saw another mark than before
	asking sync.Mutex
	failed time.Time // when the states could last not be read; guarded by asking
}

// last returns the mark that was read last.
func (m *rewriteMarks) last() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mark
}

// recent returns the mark if it was read within countsTTL, else 0.
func (m *rewriteMarks) recent() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Since(m.at) > countsTTL {
		return 0
	}
	return m.mark
}

// set records the states of all processes, by name. The read of them began at a time.
func (m *rewriteMarks) set(own string, newest map[string]state, began time.Time) {
	h := fnv.New64a()
	for _, process := range slices.Sorted(maps.Keys(newest)) {
		s := newest[process]
		n := s.Rewrites
		if n == 0 { // an earlier release stored it, which does not count its rewrites
			n = s.Version
		}
		if process == own { // this process drops what it has read beside its own rewrites
			continue
		}
		if process == generation {
			n = s.Epoch
		}
		_, _ = h.Write([]byte(process + "\x00" + strconv.FormatUint(n, 36) + "\x00"))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if began.After(m.at) {
		mark := h.Sum64() | 1
		if m.mark != 0 && m.mark != mark {
			m.other = time.Now()
		}
		m.mark, m.at = mark, began
	}
}

// changed returns when this process last noticed rewrites by others.
func (m *rewriteMarks) changed() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.other
}

// markTimeout is how long a search waits for the states of other processes. Without them it reads from the cluster.
const markTimeout = time.Second

// currentMark returns the mark of at most countsTTL ago, or 0 if the states cannot be read.
func (x *index) currentMark(ctx context.Context) uint64 {
	m := &x.marks
	if mark := m.recent(); mark != 0 {
		return mark
	}
	m.asking.Lock()
	defer m.asking.Unlock()
	if mark := m.recent(); mark != 0 || time.Since(m.failed) < countsTTL {
		return mark
	}
	ctx, cancel := context.WithTimeout(ctx, markTimeout)
	defer cancel()
	if _, err := x.states(ctx); err != nil {
		m.failed = time.Now()
		return 0
	}
	return m.recent()
}

// noteRewrite counts a rewrite of this process. The next state that it stores tells the others. The caller holds mu.
func (x *index) noteRewrite() {
	x.rewritten++
	x.repaired.note()
}

// moment is the time at which something last happened. It is safe for concurrent use.
type moment struct{ at atomic.Pointer[time.Time] }

func (m *moment) note() {
	now := time.Now()
	m.at.Store(&now)
}

// last returns the time, which is zero if it has not happened.
func (m *moment) last() time.Time {
	if at := m.at.Load(); at != nil {
		return *at
	}
	return time.Time{}
}
