package local

import (
	"cmp"
	"slices"

	"github.com/contextmem/contextmem/backend"
)

// sessions are the conversations of a partition of memories. A line is an ordered list of
// sources. Each explicit session has a line. Sources that only have a time are in one more
// line, which is divided into sessions at gaps longer than backend.SessionGap.
type sessions struct {
	timed  []uint32   // the line of sources without an explicit session, by (time, number)
	named  [][]uint32 // lines of explicit sessions, by place of their name; it may be shorter than the names
	all    []session
	free   []uint32 // unused places in all
	live   int      // number of sessions
	length int64    // terms of all rows in sessions
	gone   []uint32 // removed sources that are still in timed; see settle
	terms  sessionTerms
}

// session is a run of neighbouring sources in a line.
type session struct {
	first, last uint32 // sources
	num         int64  // the public number: the first chunk
	sources     int
	length      int64 // terms of all its rows
}

// link has the neighbours of a source in its line, and its session.
type link struct {
	prev, next uint32 // sources
	session    uint32
}

var unlinked = link{none, none, none}

// link returns the link of a source, or unlinked in partitions without sessions.
func (p *partition) link(at uint32) link {
	if len(p.links) == 0 {
		return unlinked
	}
	return p.links[at]
}

const gapMicros = int64(backend.SessionGap / 1000)

// line returns the line of a source.
func (x *sessions) line(s *source) []uint32 {
	switch {
	case s.name == 0:
		return x.timed
	case int(s.name) < len(x.named):
		return x.named[s.name]
	}
	return nil
}

// setLine replaces the line of a source.
func (x *sessions) setLine(s *source, line []uint32) {
	if s.name == 0 {
		x.timed = line
		return
	}
	if n := int(s.name) + 1 - len(x.named); n > 0 {
		x.named = append(x.named, make([][]uint32, n)...)
	}
	if len(line) == 0 {
		line = nil
	}
	x.named[s.name] = line
}

// compare compares source a with a source of the given time and number, in the order of a line.
func (p *partition) compare(a uint32, time, num int64) int {
	return cmp.Or(cmp.Compare(p.sources[a].time, time), cmp.Compare(p.sourceNum[a], num))
}

// place returns the place of a source in a line, or the place at which to insert it.
func (p *partition) place(line []uint32, time, num int64) int {
	if n := len(line); n == 0 || p.compare(line[n-1], time, num) < 0 {
		return n
	}
	i, _ := slices.BinarySearchFunc(line, num, func(a uint32, num int64) int { return p.compare(a, time, num) })
	return i
}

// neighbours returns the sessions before and after place i of a line that a source of the
// given time would join there; none if there is no such session.
func (x *sessions) neighbours(p *partition, line []uint32, i int, time int64, named bool) (before, behind uint32) {
	before, behind = none, none
	if i > 0 {
		if s := &p.sources[line[i-1]]; named || time-s.time <= gapMicros {
			before = p.links[line[i-1]].session
		}
	}
	if i < len(line) {
		if s := &p.sources[line[i]]; named || s.time-time <= gapMicros {
			behind = p.links[line[i]].session
		}
	}
	return before, behind
}

// sessional reports whether a source belongs to a session.
func (p *partition) sessional(s *source) bool {
	return p.class == backend.Memory && (s.name != 0 || s.time != noTime)
}

// buildSessions puts all sources into their sessions. Recalls may wait for it, so it is fast: it reads the sources twice and the
// lines once.
func (p *partition) buildSessions() {
	if p.has(facetSessions) {
		return
	}
	x := &p.sessions
	if p.class == backend.Memory {
		p.links = make([]link, len(p.sources))
		sizes := make([]uint32, len(p.names)) // lengths of the lines, by name; 0 is the line by time
		for at := range p.sources {
			if s := &p.sources[at]; p.sessional(s) && p.live.Has(s.first) {
				sizes[s.name]++
			} else {
				p.links[at] = unlinked
			}
		}
		room, lines := make([]uint32, len(p.sources)), 0
		x.named = make([][]uint32, len(p.names))
		for name, n := range sizes {
			x.named[name], room = room[:0:n], room[n:]
			if n > 0 {
				lines++
			}
		}
		for at := range p.sources {
			if s := &p.sources[at]; p.links[at] != unlinked {
				x.named[s.name] = append(x.named[s.name], uint32(at))
			}
		}
		x.all = make([]session, 0, lines)
		x.timed, x.named[0] = x.named[0], nil
		x.divide(p, x.timed, false)
		for _, line := range x.named {
			x.divide(p, line, true)
		}
	}
	p.ready.Or(uint32(facetSessions))
}

// divide sorts a line of sources that are not in a session yet, and divides it into sessions. A named line is one session.
func (x *sessions) divide(p *partition, line []uint32, named bool) {
	sorted := true
	for i := 1; i < len(line) && sorted; i++ {
		a, b := line[i-1], line[i]
		s, t := p.sources[a].time, p.sources[b].time
		sorted = s < t || s == t && p.sourceNum[a] <= p.sourceNum[b]
	}
	if !sorted {
		slices.SortFunc(line, func(a, b uint32) int { return p.compare(a, p.sources[b].time, p.sourceNum[b]) })
	}
	var time int64 // time of the previous source
	for i, at := range line {
		s, l := &p.sources[at], &p.links[at]
		l.prev, l.next = none, none
		if i > 0 {
			l.prev = line[i-1]
		}
		if i+1 < len(line) {
			l.next = line[i+1]
		}
		if i == 0 || !named && s.time-time > gapMicros {
			x.all = append(x.all, session{first: at, num: p.firstChunk(at)})
			x.live++
		}
		l.session = uint32(len(x.all) - 1)
		se := &x.all[l.session]
		se.last, se.sources, se.length = at, se.sources+1, se.length+s.length
		x.length += s.length
		time = s.time
	}
}

// insert puts a source into its line and session.
func (x *sessions) insert(p *partition, at uint32) {
	x.settle(p)
	s := &p.sources[at]
	line := x.line(s)
	i := p.place(line, s.time, p.sourceNum[at])
	before, behind := x.neighbours(p, line, i, s.time, s.name != 0)
	x.link(p, line, i, at)
	x.setLine(s, slices.Insert(line, i, at))
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
		k := x.begin(p, at)
		p.links[at].session = k
		x.all[k].sources, x.all[k].length = 1, s.length
	}
}

// link links a source with its neighbours at place i of a line, before the caller inserts it there.
func (x *sessions) link(p *partition, line []uint32, i int, at uint32) {
	l := &p.links[at]
	l.prev, l.next = none, none
	if i > 0 {
		l.prev = line[i-1]
		p.links[l.prev].next = at
	}
	if i < len(line) {
		l.next = line[i]
		p.links[l.next].prev = at
	}
}

// begin adds a session whose first and last source is at, and returns its place. The caller sets its counts.
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

// join adds a linked source to session k, which is next to it or around it.
func (x *sessions) join(p *partition, k, at uint32) {
	l, se := &p.links[at], &x.all[k]
	l.session = k
	se.sources++
	se.length += p.sources[at].length
	if l.prev == se.last {
		se.last = at
	}
	if l.next == se.first {
		se.first, se.num = at, p.firstChunk(at)
	}
}

// merge adds session b to session a, which is directly before it.
func (x *sessions) merge(p *partition, a, b uint32) {
	x.terms.empty()
	to, from := &x.all[a], &x.all[b]
	for at, n := from.first, from.sources; n > 0; n-- {
		p.links[at].session = a
		at = p.links[at].next
	}
	to.last = from.last
	to.sources += from.sources
	to.length += from.length
	x.end(b)
}

// end frees the place of a session.
func (x *sessions) end(k uint32) {
	x.all[k] = session{first: none, last: none}
	x.free = append(x.free, k)
	x.live--
}

// remove removes a source from its line and session. The next settle removes it from timed.
func (x *sessions) remove(p *partition, at uint32) {
	x.terms.empty()
	s := &p.sources[at]
	if s.name == 0 {
		x.gone = append(x.gone, at)
	} else {
		line := x.line(s)
		i := p.place(line, s.time, p.sourceNum[at])
		x.setLine(s, slices.Delete(line, i, i+1))
	}
	l := &p.links[at]
	if l.prev != none {
		p.links[l.prev].next = l.next
	}
	if l.next != none {
		p.links[l.next].prev = l.prev
	}
	x.length -= s.length
	k := l.session
	se := &x.all[k]
	se.sources--
	se.length -= s.length
	switch {
	case se.sources == 0:
		x.end(k)
	case se.first == at:
		se.first, se.num = l.next, p.firstChunk(l.next)
	case se.last == at:
		se.last = l.prev
	case s.name == 0 && p.sources[l.next].time-p.sources[l.prev].time > gapMicros:
		x.split(p, k, l.next)
	}
	*l = unlinked
}

// settle deletes all removed sources from timed in one pass.
func (x *sessions) settle(p *partition) {
	if len(x.gone) == 0 {
		return
	}
	at := x.gone // reused for the places of the sources
	for i, a := range at {
		at[i] = uint32(p.place(x.timed, p.sources[a].time, p.sourceNum[a]))
	}
	slices.Sort(at)
	kept := x.timed[:at[0]]
	for i, from := range at {
		to := uint32(len(x.timed))
		if i+1 < len(at) {
			to = at[i+1]
		}
		kept = append(kept, x.timed[from+1:to]...)
	}
	x.timed, x.gone = kept, at[:0]
}

// split moves the sources of session k from the source from on into a new session.
func (x *sessions) split(p *partition, k, from uint32) {
	rest := x.begin(p, from)
	se, to := &x.all[k], &x.all[rest]
	to.last, se.last = se.last, p.links[from].prev
	for at := from; ; at = p.links[at].next {
		p.links[at].session = rest
		n := p.sources[at].length
		to.sources++
		to.length += n
		se.sources--
		se.length -= n
		if at == to.last {
			break
		}
	}
}

func (p *partition) firstChunk(at uint32) int64 { return p.chunk[p.sources[at].first] }

// number returns the public number of a session.
func (p *partition) number(k uint32) int64 { return p.sessions.all[k].num }
