package rank

import "github.com/contextmem/contextmem/internal/lexical"

// graph is the part of the bipartite graph of passages and entities that a walk can reach.
type graph struct {
	q        *work
	chunks   []int64
	chunkAt  map[int64]int
	entities []int64
	entityAt map[int64]int
	grown    map[int64]bool // entities whose passages were read
	asked    map[int64]bool // chunks whose entities were read
	edges    []edge
}

// edge joins a passage and an entity, given by their indexes.
type edge struct {
	chunk, entity int
	toEntity      float64 // weight times rarity
	toChunk       float64 // weight
}

func newGraph(q *work) *graph {
	return &graph{q: q, chunkAt: map[int64]int{}, entityAt: map[int64]int{}, grown: map[int64]bool{}, asked: map[int64]bool{}}
}

func (g *graph) chunk(n int64) int {
	at, ok := g.chunkAt[n]
	if !ok {
		at = len(g.chunks)
		g.chunkAt[n] = at
		g.chunks = append(g.chunks, n)
	}
	return at
}

func (g *graph) entity(n int64) int {
	at, ok := g.entityAt[n]
	if !ok {
		at = len(g.entities)
		g.entityAt[n] = at
		g.entities = append(g.entities, n)
	}
	return at
}

// growEntities adds the passages that mention entities.
func (g *graph) growEntities(nums []int64) error {
	var fresh []int64
	for _, n := range nums {
		if !g.grown[n] {
			g.grown[n] = true
			fresh = append(fresh, n)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	refs, err := g.q.Graph.MentionedIn(g.q.ctx, g.q.req.Part, fresh, walkPerNode)
	if err != nil {
		return err
	}
	for _, r := range refs {
		g.chunk(r.Chunk)
		g.entity(r.Entity)
	}
	return nil
}

// growChunks adds the entities of the known passages and of more, and the passages that
// mention these entities.
func (g *graph) growChunks(more []int64) error {
	for _, c := range more {
		g.chunk(c)
	}
	var fresh []int64
	for _, c := range g.chunks {
		if !g.asked[c] {
			g.asked[c] = true
			fresh = append(fresh, c)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	refs, err := g.q.Graph.Mentions(g.q.ctx, g.q.req.Part, fresh)
	if err != nil {
		return err
	}
	var ents []int64
	for _, r := range refs {
		w := float64(r.Weight)
		g.edges = append(g.edges, edge{chunk: g.chunk(r.Chunk), entity: g.entity(r.Entity), toEntity: w * lexical.IDF(g.q.docs, r.DF), toChunk: w})
		if r.DF >= 2 && r.DF <= walkPerNode {
			ents = append(ents, r.Entity)
		}
	}
	if len(g.chunks) >= walkPassages {
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
	restartP, restartE = grow(restartP, len(g.chunks)), grow(restartE, len(g.entities))
	outP, outE := make([]float64, len(g.chunks)), make([]float64, len(g.entities))
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
