package local

import (
	"cmp"
	"slices"

	"github.com/contextmem/contextmem/backend"
)

// sessions is the conversations of a partition of memories. Sources stand in lines:
// one for each explicit session and one, by time, for those that only have a time,
// which falls into sessions where its gaps exceed backend.SessionGap.
type sessions struct {
	timed  []uint32            // sources by (time, number)
	named  map[uint32][]uint32 // by name
	all    []session
	free   []uint32
	live   int
	length int64 // terms of all rows in sessions
}

// session is a run of a line.
type session struct {
	first, last uint32 // sources
	num         int64  // the public number: the first chunk
	sources     int
	length      int64
}

const gapMicros = int64(backend.SessionGap / 1000)

func newSessions() sessions {
	return sessions{named: make(map[uint32][]uint32)}
}

// compare orders sources in a line.
func (p *partition) compare(a uint32, time, num int64) int {
	return cmp.Or(cmp.Compare(p.sources[a].time, time), cmp.Compare(p.sourceNum[a], num))
}

// place returns where a source stands or would stand in a line.
func (p *partition) place(line []uint32, time, num int64) int {
	if n := len(line); n == 0 || p.compare(line[n-1], time, num) < 0 {
		return n
	}
	i, _ := slices.BinarySearchFunc(line, num, func(a uint32, num int64) int { return p.compare(a, time, num) })
	return i
}

// neighbours returns the sessions before and behind place i of a line that a source
// of that time would join.
func (x *sessions) neighbours(p *partition, line []uint32, i int, time int64, named bool) (before, behind uint32) {
	before, behind = none, none
	if i > 0 {
		if s := &p.sources[line[i-1]]; named || time-s.time <= gapMicros {
			before = s.session
		}
	}
	if i < len(line) {
		if s := &p.sources[line[i]]; named || s.time-time <= gapMicros {
			behind = s.session
		}
	}
	return before, behind
}

// sessional tells whether a source belongs to a session.
func (p *partition) sessional(s *source) bool {
	return p.class == backend.Memory && (s.name != 0 || s.time != noTime)
}

// insert puts a source into its line and session.
func (x *sessions) insert(p *partition, at uint32) {
	s := &p.sources[at]
	line := x.timed
	if s.name != 0 {
		line = x.named[s.name]
	}
	i := p.place(line, s.time, p.sourceNum[at])
	before, behind := x.neighbours(p, line, i, s.time, s.name != 0)
	x.link(p, line, i, at)
	line = slices.Insert(line, i, at)
	if s.name != 0 {
		x.named[s.name] = line
	} else {
		x.timed = line
	}
	x.length += s.length
	switch {
	case before != none:
		x.join(p, before, at)
		if behind != none && behind != before {
			x.merge(p, before, behind)
		}
	case behind != none:
		x.join(p, behind, at)
	default:
		s.session = x.begin(p, at)
		x.all[s.session].sources, x.all[s.session].length = 1, s.length
	}
}

// link sets the neighbours of a source that goes to place i of a line.
func (x *sessions) link(p *partition, line []uint32, i int, at uint32) {
	s := &p.sources[at]
	s.prev, s.next = none, none
	if i > 0 {
		s.prev = line[i-1]
		p.sources[s.prev].next = at
	}
	if i < len(line) {
		s.next = line[i]
		p.sources[s.next].prev = at
	}
}

// begin makes an empty session with a source at both ends.
func (x *sessions) begin(p *partition, at uint32) uint32 {
	se := session{first: at, last: at, num: p.firstChunk(at)}
	var k uint32
	if n := len(x.free); n > 0 {
		k = x.free[n-1]
		x.free = x.free[:n-1]
		x.all[k] = se
	} else {
		k = uint32(len(x.all))
		x.all = append(x.all, se)
	}
	x.live++
	return k
}

// join adds a source, already linked, to a session that it borders on or lies in.
func (x *sessions) join(p *partition, k, at uint32) {
	s, se := &p.sources[at], &x.all[k]
	s.session = k
	se.sources++
	se.length += s.length
	if s.prev == se.last {
		se.last = at
	}
	if s.next == se.first {
		se.first, se.num = at, p.firstChunk(at)
	}
}

// merge adds session b, which follows a, to a.
func (x *sessions) merge(p *partition, a, b uint32) {
	to, from := &x.all[a], &x.all[b]
	for at, n := from.first, from.sources; n > 0; n-- {
		p.sources[at].session = a
		at = p.sources[at].next
	}
	to.last = from.last
	to.sources += from.sources
	to.length += from.length
	x.end(b)
}

// end frees a session.
func (x *sessions) end(k uint32) {
	x.all[k] = session{first: none, last: none}
	x.free = append(x.free, k)
	x.live--
}

// remove takes a source out of its line and session.
func (x *sessions) remove(p *partition, at uint32) {
	s := &p.sources[at]
	line := x.timed
	if s.name != 0 {
		line = x.named[s.name]
	}
	i := p.place(line, s.time, p.sourceNum[at])
	line = slices.Delete(line, i, i+1)
	switch {
	case s.name == 0:
		x.timed = line
	case len(line) == 0:
		delete(x.named, s.name)
	default:
		x.named[s.name] = line
	}
	if s.prev != none {
		p.sources[s.prev].next = s.next
	}
	if s.next != none {
		p.sources[s.next].prev = s.prev
	}
	x.length -= s.length
	k := s.session
	se := &x.all[k]
	se.sources--
	se.length -= s.length
	switch {
	case se.sources == 0:
		x.end(k)
	case se.first == at:
		se.first, se.num = s.next, p.firstChunk(s.next)
	case se.last == at:
		se.last = s.prev
	case s.name == 0 && p.sources[s.next].time-p.sources[s.prev].time > gapMicros:
		x.split(p, k, s.next)
	}
	s.session, s.prev, s.next = none, none, none
}

// split makes the sources of session k from one on a session of their own.
func (x *sessions) split(p *partition, k, from uint32) {
	rest := x.begin(p, from)
	se, to := &x.all[k], &x.all[rest]
	to.last, se.last = se.last, p.sources[from].prev
	for at := from; ; at = p.sources[at].next {
		s := &p.sources[at]
		s.session = rest
		to.sources++
		to.length += s.length
		se.sources--
		se.length -= s.length
		if at == to.last {
			break
		}
	}
}

func (p *partition) firstChunk(at uint32) int64 { return p.chunk[p.sources[at].first] }

// number returns the public number of a session.
func (p *partition) number(k uint32) int64 { return p.sessions.all[k].num }
