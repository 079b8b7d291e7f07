package rank

import (
	"sync"

	"github.com/contextmem/contextmem/internal/lexical"
	"github.com/contextmem/contextmem/internal/numtable"
)

// numbers is a list of numbers without repetition.
type numbers struct {
	nums  []int64
	table numtable.Table
}

// find returns the index of a number, and whether the list has it.
func (l *numbers) find(n int64) (int, bool) {
	at, ok := l.table.Get(l.nums, n)
	return int(at), ok
}

// add returns the index of a number. It appends the number if the list does not have it.
func (l *numbers) add(n int64) int {
	if at, ok := l.find(n); ok {
		return at
	}
	l.nums = append(l.nums, n)
	l.table.Put(l.nums, uint32(len(l.nums)-1))
	return len(l.nums) - 1
}

func (l *numbers) empty() {
	l.nums = l.nums[:0]
	l.table.Clear()
}

// graph is the part of the bipartite graph of passages and entities that a walk can reach.
type graph struct {
	q        *work
	chunks   numbers
	entities numbers
	grown    numbers // entities whose passages were read
	asked    int     // the entities of the first asked chunks were read
	edges    []edge
}

// edge joins a passage and an entity, given by their indexes.
type edge struct {
	chunk, entity int32
	toEntity      float64 // weight times rarity
	toChunk       float64 // weight
}

var graphs = sync.Pool{New: func() any { return new(graph) }}

// maxWalk is the greatest number of edges and of passages with which a graph goes back to the pool.
const maxWalk = 1 << 17

// newGraph returns an empty graph. The caller releases it.
func newGraph(q *work) *graph {
	g := graphs.Get().(*graph)
	g.q = q
	return g
}

func (g *graph) release() {
	if max(cap(g.edges), cap(g.chunks.nums)) > maxWalk {
		return
	}
	for _, l := range [...]*numbers{&g.chunks, &g.entities, &g.grown} {
		l.empty()
	}
	g.q, g.asked, g.edges = nil, 0, g.edges[:0]
	graphs.Put(g)
}

// growEntities adds the passages that mention entities.
func (g *graph) growEntities(nums []int64) error {
	known := len(g.grown.nums)
	for _, n := range nums {
		g.grown.add(n)
	}
	fresh := g.grown.nums[known:]
	if len(fresh) == 0 {
		return nil
	}
	refs, err := g.q.Graph.MentionedIn(g.q.ctx, g.q.req.Part, fresh, walkPerNode)
	if err != nil {
		return err
	}
	for i, r := range refs {
		g.chunks.add(r.Chunk)
		if i == 0 || r.Entity != refs[i-1].Entity {
			g.entities.add(r.Entity)
		}
	}
	return nil
}

// growChunks adds the entities of the known passages and of more, and the passages that
// mention these entities.
func (g *graph) growChunks(more []int64) error {
	for _, c := range more {
		g.chunks.add(c)
	}
	fresh := g.chunks.nums[g.asked:]
	if len(fresh) == 0 {
		return nil
	}
	g.asked = len(g.chunks.nums)
	refs, err := g.q.Graph.Mentions(g.q.ctx, g.q.req.Part, fresh)
	if err != nil {
		return err
	}
	var ents []int64
	chunk := 0
	for i, r := range refs {
		if i == 0 || r.Chunk != refs[i-1].Chunk {
			chunk = g.chunks.add(r.Chunk)
		}
		entity := g.entities.add(r.Entity)
		w := float64(r.Weight)
		g.edges = append(g.edges, edge{chunk: int32(chunk), entity: int32(entity), toEntity: w * lexical.IDF(g.q.docs, r.DF), toChunk: w})
		if r.DF >= 2 && r.DF <= walkPerNode {
			ents = append(ents, r.Entity)
		}
	}
	if len(g.chunks.nums) >= walkPassages {
		return nil
	}
	return g.growEntities(ents)
}

// pagerank returns the rank of each passage.
func (g *graph) pagerank(restartP, restartE []float64) []float64 {
	grow := func(v []float64, n int) []float64 {
		for len(v) < n {
			v = append(v, 0)
		}
		return v
	}
	restartP, restartE = grow(restartP, len(g.chunks.nums)), grow(restartE, len(g.entities.nums))
	outP, outE := make([]float64, len(g.chunks.nums)), make([]float64, len(g.entities.nums))
	for _, e := range g.edges {
		outP[e.chunk] += e.toEntity
		outE[e.entity] += e.toChunk
	}
	p, e := append([]float64(nil), restartP...), append([]float64(nil), restartE...)
	np, ne := make([]float64, len(p)), make([]float64, len(e))
	for range walkRounds {
		for i := range np {
			np[i] = (1 - walkDamping) * restartP[i]
		}
		for i := range ne {
			ne[i] = (1 - walkDamping) * restartE[i]
		}
		for _, x := range g.edges {
			if outP[x.chunk] > 0 {
				ne[x.entity] += walkDamping * p[x.chunk] * x.toEntity / outP[x.chunk]
			}
			if outE[x.entity] > 0 {
				np[x.chunk] += walkDamping * e[x.entity] * x.toChunk / outE[x.entity]
			}
		}
		p, np = np, p
		e, ne = ne, e
	}
	return p
}
