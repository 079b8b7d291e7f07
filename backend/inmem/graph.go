package inmem

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/contextmem/contextmem/backend"
)

// session holds the chunks of one conversation in order. Its number is the number of its first chunk.
type session struct {
	num  int64
	rows []*row
	doc  *doc
}

// sessionMap holds the current sessions of a partition.
type sessionMap struct {
	byNum map[int64]*session
	of    map[*row]sessionPlace
	once  sync.Once
	index *words
}

type sessionPlace struct {
	*session
	at int
}

// sessionMap returns the sessions of p. Several readers may build the map concurrently; the results are equal.
func (p *indexPart) sessionMap(class backend.Class) *sessionMap {
	if m := p.sessions.Load(); m != nil {
		return m
	}
	m := &sessionMap{byNum: make(map[int64]*session), of: make(map[*row]sessionPlace)}
	if class == backend.Memory {
		named := make(map[string][]*row)
		var timed []*row
		for _, r := range p.rows {
			switch {
			case r.of.session != "":
				named[r.of.session] = append(named[r.of.session], r)
			case !r.of.time.IsZero():
				timed = append(timed, r)
			}
		}
		for _, rows := range named {
			sortRows(rows)
			m.add(rows)
		}
		sortRows(timed)
		for start, i := 0, 1; i <= len(timed); i++ {
			if i == len(timed) || timed[i].of.time.Sub(timed[i-1].of.time) > backend.SessionGap {
				m.add(timed[start:i])
				start = i
			}
		}
	}
	p.sessions.Store(m)
	return m
}

// sortRows sorts rows by their order within the session.
func sortRows(rows []*row) {
	slices.SortFunc(rows, func(a, b *row) int {
		return cmp.Or(a.of.time.Compare(b.of.time), cmp.Compare(a.of.num, b.of.num),
			cmp.Compare(a.Ordinal, b.Ordinal), cmp.Compare(a.Chunk, b.Chunk))
	})
}

func (m *sessionMap) add(rows []*row) {
	s := &session{num: rows[0].Chunk, rows: rows}
	for i, r := range rows {
		m.of[r] = sessionPlace{s, i}
	}
	m.byNum[s.num] = s
}

// words returns the sessions as documents for keyword search.
func (m *sessionMap) words() *words {
	m.once.Do(func() {
		m.index = newWords()
		for _, s := range m.byNum {
			s.doc = &doc{terms: make(map[string]*occurrences)}
			for i, r := range s.rows {
				s.doc.join(r.doc, i)
			}
			m.index.insert(s.doc)
		}
	})
	return m.index
}

// join adds the terms of part, the i-th part of a session. A phrase never spans two parts.
func (dc *doc) join(part *doc, i int) {
	for term, occ := range part.terms {
		sum := dc.terms[term]
		if sum == nil {
			sum = &occurrences{places: make(map[place]struct{})}
			dc.terms[term] = sum
		}
		sum.tf += occ.tf
		for at := range occ.places {
			sum.places[place{int64(i)<<32 | at.field, at.pos}] = struct{}{}
		}
	}
	dc.length += part.length
}

func (x *index) Neighbours(ctx context.Context, part backend.Partition, chunks []int64) ([]backend.Neighbours, error) {
	out := make([]backend.Neighbours, len(chunks))
	err := x.read(ctx, part, func(p *indexPart) error {
		sessions := p.sessionMap(part.Class)
		for i, num := range chunks {
			r := p.rows[num]
			if r == nil {
				continue
			}
			a := backend.Neighbours{
				Chunk: num, Source: r.of.num, Ordinal: r.Ordinal, Time: r.of.time,
				Speaker: r.facts.Speaker, Question: r.facts.Question, HasTime: r.facts.HasTime, Asks: r.facts.Asks, First: r.facts.First, Second: r.facts.Second,
			}
			line, at := r.of.rows, r.place
			if s, ok := sessions.of[r]; ok {
				a.Session = s.num
				line, at = s.rows, s.at
			}
			for j := range 2 {
				if k := at - 1 - j; k >= 0 {
					a.Prev[j] = line[k].Chunk
				}
				if k := at + 1 + j; k < len(line) {
					a.Next[j] = line[k].Chunk
				}
			}
			out[i] = a
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (x *index) SessionChunks(ctx context.Context, part backend.Partition, num int64, limit int) (out []int64, err error) {
	err = x.read(ctx, part, func(p *indexPart) error {
		if s := p.sessionMap(part.Class).byNum[num]; s != nil {
			for _, r := range firstN(s.rows, limit) {
				out = append(out, r.Chunk)
			}
		}
		return nil
	})
	return out, err
}

func (x *index) MatchEntities(ctx context.Context, part backend.Partition, keys []string) (out []backend.EntityMatch, err error) {
	err = x.read(ctx, part, func(p *indexPart) error {
		seen := make(map[string]bool, len(keys))
		for _, key := range keys {
			if seen[key] {
				continue
			}
			seen[key] = true
			for _, e := range sortedKeys(p.keys[key]) {
				out = append(out, backend.EntityMatch{Entity: e, Key: key, DF: len(p.entities[e])})
			}
		}
		return nil
	})
	return out, err
}

func (p *indexPart) public(e *ref) backend.EntityRef {
	return backend.EntityRef{Chunk: e.row.Chunk, Entity: e.entity, Weight: e.weight, DF: len(p.entities[e.entity])}
}

func (x *index) Mentions(ctx context.Context, part backend.Partition, chunks []int64) (out []backend.EntityRef, err error) {
	err = x.read(ctx, part, func(p *indexPart) error {
		for _, num := range chunks {
			if r := p.rows[num]; r != nil {
				for _, e := range sortedKeys(r.refs) {
					out = append(out, p.public(r.refs[e]))
				}
			}
		}
		return nil
	})
	return out, err
}

func (x *index) MentionedIn(ctx context.Context, part backend.Partition, entities []int64, perEntity int) (out []backend.EntityRef, err error) {
	err = x.read(ctx, part, func(p *indexPart) error {
		for _, num := range entities {
			for _, e := range firstN(p.entities[num], perEntity) {
				out = append(out, p.public(e))
			}
		}
		return nil
	})
	return out, err
}

func (x *index) Info(ctx context.Context, part backend.Partition) (info backend.GraphInfo, err error) {
	err = x.read(ctx, part, func(p *indexPart) error {
		info.Chunks, info.Entities = len(p.rows), len(p.entities)
		for _, refs := range p.entities {
			if len(refs) > 1 {
				info.Shared++
				info.Links += len(refs)
			}
		}
		return nil
	})
	return info, err
}

func sortedKeys[V any](m map[int64]V) []int64 {
	keys := make([]int64, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
