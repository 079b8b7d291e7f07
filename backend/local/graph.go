package local

import (
	"cmp"
	"context"
	"slices"

	"github.com/contextmem/contextmem/backend"
)

// Neighbours describes chunks; see [backend.Graph].
func (x *index) Neighbours(ctx context.Context, part backend.Partition, chunks []int64) ([]backend.Neighbours, error) {
	return x.AppendNeighbours(ctx, nil, part, chunks)
}

// AppendNeighbours implements [backend.NeighbourAppender].
func (x *index) AppendNeighbours(ctx context.Context, dst []backend.Neighbours, part backend.Partition, chunks []int64) ([]backend.Neighbours, error) {
	out := slices.Grow(dst, len(chunks))[:len(dst)+len(chunks)]
	around := out[len(dst):]
	clear(around)
	err := x.read(ctx, part, facetRows|facetSessions, func(p *partition) error {
		for i, c := range chunks {
			if row, ok := p.row(c); ok {
				p.around(row, &around[i])
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (p *partition) around(row uint32, a *backend.Neighbours) {
	at := p.of[row]
	s := &p.sources[at]
	a.Chunk, a.Source, a.Ordinal = p.chunk[row], p.sourceNum[at], int(p.ordinal[row])
	a.Time = backend.Micros(s.time).Time()
	a.Speaker = p.names[p.speaker[row]]
	m := backend.Marks(p.flags[row])
	a.Question, a.HasTime, a.Asks = m&backend.MarkQuestion != 0, m&backend.MarkHasTime != 0, m&backend.MarkAsks != 0
	a.First, a.Second = m&backend.MarkFirst != 0, m&backend.MarkSecond != 0
	if k := p.link(at).session; k != none {
		a.Session = p.number(k)
	}
	prev, next := p.neighbours(row)
	for i := range 2 {
		if prev[i] != none {
			a.Prev[i] = p.chunk[prev[i]]
		}
		if next[i] != none {
			a.Next[i] = p.chunk[next[i]]
		}
	}
}

// neighbours returns the two rows before and the two rows after a row, the nearest first; none stands for
// a row that does not exist.
func (p *partition) neighbours(row uint32) (prev, next [2]uint32) {
	prev, next = [2]uint32{none, none}, [2]uint32{none, none}
	if prev[0] = p.before(row); prev[0] != none {
		prev[1] = p.before(prev[0])
	}
	if next[0] = p.after(row); next[0] != none {
		next[1] = p.after(next[0])
	}
	return prev, next
}

// before returns the row before a row in its session or source, or none.
func (p *partition) before(row uint32) uint32 {
	at := p.of[row]
	if row > p.sources[at].first {
		return row - 1
	}
	l := p.link(at)
	if l.session == none || l.prev == none || p.link(l.prev).session != l.session {
		return none
	}
	prev := &p.sources[l.prev]
	return prev.first + prev.rows - 1
}

// after returns the row after a row in its session or source, or none.
func (p *partition) after(row uint32) uint32 {
	at := p.of[row]
	if s := &p.sources[at]; row+1 < s.first+s.rows {
		return row + 1
	}
	l := p.link(at)
	if l.session == none || l.next == none || p.link(l.next).session != l.session {
		return none
	}
	return p.sources[l.next].first
}

// SessionChunks lists the chunks of a session; see [backend.Graph].
func (x *index) SessionChunks(ctx context.Context, part backend.Partition, num int64, limit int) (out []int64, err error) {
	err = x.read(ctx, part, facetRows|facetSessions, func(p *partition) error {
		row, ok := p.row(num)
		if !ok {
			return nil
		}
		k := p.link(p.of[row]).session
		if k == none || p.number(k) != num {
			return nil
		}
		for ; row != none && len(out) < limit; row = p.after(row) {
			out = append(out, p.chunk[row])
		}
		return nil
	})
	return out, err
}

// MatchEntities finds entities by key; see [backend.Graph].
func (x *index) MatchEntities(ctx context.Context, part backend.Partition, keys []string) (out []backend.EntityMatch, err error) {
	err = x.read(ctx, part, facetGraph, func(p *partition) error {
		m := &p.mentions
		for _, text := range keys {
			k, ok := m.findKey(text)
			if !ok || slices.ContainsFunc(out, func(m backend.EntityMatch) bool { return m.Key == text }) { // a repeated key; keys are few
				continue
			}
			if out == nil {
				out = make([]backend.EntityMatch, 0, 8)
			}
			from := len(out)
			for _, n := range m.keys[k].named {
				e := &m.entities[n.entity]
				out = append(out, backend.EntityMatch{Entity: e.num, Key: text, DF: len(e.edges)})
			}
			slices.SortFunc(out[from:], func(a, b backend.EntityMatch) int { return cmp.Compare(a.Entity, b.Entity) })
		}
		return nil
	})
	return out, err
}

// Mentions lists the entities of chunks; see [backend.Graph].
func (x *index) Mentions(ctx context.Context, part backend.Partition, chunks []int64) (out []backend.EntityRef, err error) {
	err = x.read(ctx, part, facetRows|facetGraph, func(p *partition) error {
		m := &p.mentions
		for _, c := range chunks {
			row, ok := p.row(c)
			if !ok {
				continue
			}
			refs := p.refsOf[p.of[row]]
			i, _ := slices.BinarySearchFunc(refs, row, func(r ref, row uint32) int { return cmp.Compare(r.row, row) })
			for last := none; i < len(refs) && refs[i].row == row; i++ {
				r := refs[i]
				if r.entity != last {
					e := &m.entities[r.entity]
					out = append(out, backend.EntityRef{Chunk: c, Entity: e.num, Weight: r.weight, DF: len(e.edges)})
				}
				last = r.entity
			}
		}
		return nil
	})
	return out, err
}

// MentionedIn lists the chunks of entities; see [backend.Graph].
func (x *index) MentionedIn(ctx context.Context, part backend.Partition, entities []int64, perEntity int) (out []backend.EntityRef, err error) {
	err = x.read(ctx, part, facetGraph, func(p *partition) error {
		m, total := &p.mentions, 0
		known := make([]*entity, 0, len(entities))
		for _, num := range entities {
			if at, ok := m.findEntity(num); ok {
				e := &m.entities[at]
				known = append(known, e)
				total += min(len(e.edges), max(perEntity, 0))
			}
		}
		if total == 0 {
			return nil
		}
		out = make([]backend.EntityRef, 0, total)
		for _, e := range known {
			for _, g := range e.edges[:min(len(e.edges), max(perEntity, 0))] {
				out = append(out, backend.EntityRef{Chunk: p.chunk[g.row], Entity: e.num, Weight: g.weight, DF: len(e.edges)})
			}
		}
		return nil
	})
	return out, err
}

// Info describes the partition; see [backend.Graph].
func (x *index) Info(ctx context.Context, part backend.Partition) (info backend.GraphInfo, err error) {
	err = x.read(ctx, part, facetGraph, func(p *partition) error {
		m := &p.mentions
		info = backend.GraphInfo{Chunks: p.liveN, Entities: m.count(), Shared: m.shared, Links: m.links}
		return nil
	})
	return info, err
}
