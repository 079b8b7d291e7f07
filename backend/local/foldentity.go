package local

import (
	"cmp"
	"slices"
	"sort"
)

// foldEntity makes the mentions of one entity those of another. It changes only the rows that have such mentions. The caller holds mu.
func (p *partition) foldEntity(from, into int64) {
	x := &p.mentions
	if _, ok := x.findEntity(from); !ok || from == into {
		return
	}
	b := x.entity(into)
	a, _ := x.findEntity(from)
	moved := x.entities[a].edges
	rows := make([]uint32, len(moved))
	for i, e := range moved {
		rows[i] = e.row
	}
	slices.Sort(rows) // those of one source are in sequence
	for len(rows) > 0 {
		at, n := p.of[rows[0]], 1
		for n < len(rows) && p.of[rows[n]] == at {
			n++
		}
		p.refsOf[at] = x.renamed(p.refsOf[at], rows[:n], a, b)
		if p.sources[at].first < p.tailFrom {
			p.changedGraph[at] = struct{}{}
		}
		rows = rows[n:]
	}
	x.countLinks(a, -1)
	x.countLinks(b, -1)
	x.entities[b].edges = p.joined(x.entities[b].edges, moved)
	x.countLinks(b, 1)
	delete(x.place, from)
	x.entities[a] = entity{}
	x.free = append(x.free, a)
}

// renamed returns the refs of a source, in whose rows the refs of entity a have become refs of entity b.
func (x *mentions) renamed(refs []ref, rows []uint32, a, b uint32) []ref {
	out := slices.Clone(refs)
	at := 0
	for _, row := range rows {
		at += sort.Search(len(out)-at, func(i int) bool { return out[at+i].row >= row })
		own := out[at : at+ofRow(out[at:], row)]
		for i, r := range own {
			if r.entity != a {
				continue
			}
			if slices.ContainsFunc(own, func(o ref) bool { return o.entity == b && o.key == r.key }) {
				x.edges-- // of two refs that are now the same
			} else {
				x.name(ref{row, b, r.key, r.weight})
			}
			own[i].entity = b
			x.unname(r)
		}
		out = slices.Delete(out, at+len(x.folded(own)), at+len(own))
	}
	return out
}

// countLinks adds n times an entity to shared and links.
func (x *mentions) countLinks(entity uint32, n int) {
	if edges := len(x.entities[entity].edges); edges > 1 {
		x.shared += n
		x.links += n * edges
	}
}

// joined merges two lists of edges, each sorted by chunk. The weights of edges of one row are added up.
func (p *partition) joined(a, b []edge) []edge {
	out := make([]edge, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch order := cmp.Compare(p.chunk[a[0].row], p.chunk[b[0].row]); {
		case order < 0:
			out, a = append(out, a[0]), a[1:]
		case order > 0:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a, b = append(out, edge{a[0].row, a[0].weight + b[0].weight}), a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}
