package contextmem

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/extract/rules"
)

// Bounds of the graph around one result.
const (
	maxQueryPaths     = 20
	maxChunkRelations = 60
	pathPerChunk      = 8
	chunkBatch        = 10  // chunks whose relations are read in one call
	relationPage      = 200 // relations read in one call
	relationPages     = 3   // calls for the relations of entities, while filtered ones fill them
	maxFrontier       = 40  // entities that second relations may begin at
	maxPaths          = 400 // that are weighed
	defaultConfidence = .8  // of relations that came without one
	secondHop         = .6  // a chain of two is worth less than each of its relations
	coOccurrence      = .5  // "related_to" says little
)

// graphRun fills the graph context of one recall.
type graphRun struct {
	*recallRun
	*graphReader
	gc *GraphContext
}

// partLinks is relations of a partition.
type partLinks struct {
	part  backend.Partition
	links []link
}

// partEntities is entities of a partition.
type partEntities struct {
	part backend.Partition
	ents []int64
}

// partChunks is chunks of a partition.
type partChunks struct {
	part   backend.Partition
	chunks []int64
}

// graphScratch is what the graph context and the dated facts of a recall need and leave clean for the next.
type graphScratch struct {
	reader  graphReader
	ents    []partEntities // that the question names
	found   []partChunks   // the returned chunks, once they are listed
	anchors []partLinks    // relations of the returned chunks
	slots   []link         // that anchors and chains point to
	words   questionWords
	grams   []rules.Gram // of the question
	keys    []string     // of grams
	chains  []chain
	worths  []float64
}

// chain is one or two relations that follow from the question, or one of a returned chunk.
type chain struct {
	a, b  *link // b is nil for one relation
	score float64
}

// maxGraphScratch keeps a rare large graph context from staying in memory.
const maxGraphScratch = 1 << 11

func (s *graphScratch) forget() {
	s.reader.forget()
	s.words.forget()
	if max(cap(s.slots), cap(s.grams), cap(s.chains), cap(s.worths), cap(s.found), cap(s.anchors)) > maxGraphScratch {
		*s = graphScratch{reader: s.reader, words: s.words}
		return
	}
	clear(s.ents)
	clear(s.anchors)
	clear(s.slots)
	clear(s.grams)
	clear(s.keys)
	clear(s.chains[:cap(s.chains)])
	s.ents, s.found, s.anchors, s.slots, s.grams, s.keys, s.chains = s.ents[:0], s.found[:0], s.anchors[:0], s.slots[:0], s.grams[:0], s.keys[:0], s.chains[:0]
}

// graph fills the graph context: relations of the returned chunks, and chains from the entities that the question names.
func (r *recallRun) graph(ctx context.Context, hits []*scopeHit) error {
	mem := r.res.memory
	gc := mem.newGraph()
	r.res.Graph = gc
	g := &graphRun{recallRun: r, graphReader: r.reader(ctx, hits), gc: gc}
	if err := g.chunkRelations(hits); err != nil {
		return err
	}
	slices.SortFunc(r.ents, func(a, b partEntities) int { return compareParts(a.part, b.part) })
	if err := g.nameMemories(); err != nil {
		return err
	}
	if slices.ContainsFunc(r.ents, func(p partEntities) bool { return len(p.ents) > 0 }) {
		g.words.ask(r.q.Query)
	}
	for _, named := range r.ents {
		if err := g.queryPaths(named.part, named.ents); err != nil {
			return err
		}
	}
	slices.SortStableFunc(gc.QueryPaths, func(a, b Path) int { return cmp.Compare(b.Score, a.Score) })
	gc.QueryPaths = gc.QueryPaths[:min(len(gc.QueryPaths), maxQueryPaths)]
	if r.res.Mode == ModeThinking {
		gc.Synthesis = synthesis(gc.QueryPaths)
	}
	return nil
}

// compareParts orders partitions, so that answers are the same every time.
func compareParts(a, b backend.Partition) int {
	return cmp.Or(cmp.Compare(a.Sub, b.Sub), cmp.Compare(a.Class, b.Class))
}

// chunksOf lists the chunks of hits by partition, in the order of the hits. Partitions are few.
func (r *recallRun) chunksOf(hits []*scopeHit) []partChunks {
	if len(r.found) > 0 {
		return r.found
	}
	for _, h := range hits {
		i := slices.IndexFunc(r.found, func(p partChunks) bool { return p.part == h.part })
		if i < 0 {
			i = len(r.found)
			r.found = slices.Grow(r.found, 1)[:i+1]
			r.found[i] = partChunks{h.part, r.found[i].chunks[:0]}
		}
		r.found[i].chunks = append(r.found[i].chunks, h.Chunk)
	}
	slices.SortFunc(r.found, func(a, b partChunks) int { return compareParts(a.part, b.part) })
	return r.found
}

// chunkRelations adds the relations whose evidence was returned, those of the best chunks first.
func (g *graphRun) chunkRelations(hits []*scopeHit) error {
	for _, found := range g.chunksOf(hits) {
		anchors := partLinks{part: found.part}
		for chunks := range slices.Chunk(found.chunks, chunkBatch) {
			links, err := g.read(backend.RelationQuery{Part: found.part, Chunks: chunks}, 1, false)
			if err != nil {
				return err
			}
			if anchors.links == nil {
				anchors.links = links
			} else {
				anchors.links = append(anchors.links, links...)
			}
			if len(anchors.links) >= 2*maxChunkRelations {
				break // chunks come best first
			}
		}
		g.anchors = append(g.anchors, anchors)
		for i := range anchors.links {
			l := &anchors.links[i]
			g.chains = append(g.chains, chain{a: l, score: l.chunk.score * confidence(l.Relation)})
		}
	}
	slices.SortStableFunc(g.chains, compareChains)
	for _, c := range g.chains {
		if len(g.gc.ChunkRelations) == maxChunkRelations {
			break
		}
		if c.a.chunk.shown++; c.a.chunk.shown > pathPerChunk {
			continue
		}
		g.gc.ChunkRelations = g.appendPath(g.gc.ChunkRelations, c)
		p := &g.gc.ChunkRelations[len(g.gc.ChunkRelations)-1]
		p.GroupID = groupIDs[len(g.gc.ChunkRelations)-1]
		ids, ok := g.gc.ChunkGroups[p.ChunkIDs[0]]
		if !ok {
			ids = take(&g.res.memory.texts, pathPerChunk)[:0]
		}
		g.gc.ChunkGroups[p.ChunkIDs[0]] = append(ids, p.GroupID)
	}
	return nil
}

// compareChains orders chains, best first.
func compareChains(a, b chain) int { return cmp.Compare(b.score, a.score) }

// groupIDs are the ids of the groups of chunk relations.
var groupIDs = func() (ids [maxChunkRelations]string) {
	for i := range ids {
		ids[i] = "p_" + strconv.Itoa(i)
	}
	return ids
}()

// read reads relations as the recall wants them: held at its times, and visible and allowed unless that is found out
// later.
func (g *graphRun) read(q backend.RelationQuery, pages int, later bool) ([]link, error) {
	q.AsOf, q.KnownAt, q.Limit = g.q.AsOf, g.q.KnownAt, relationPage
	var out []link
	for range pages {
		rels, err := g.store.Relations(g.ctx, q)
		if err != nil {
			return nil, err
		}
		full := len(rels) == q.Limit
		if full {
			q.After = rels[len(rels)-1].Num
		}
		links := appendShown(take(&g.slots, len(rels))[:0], rels)
		if !later {
			if links, err = g.resolve(links, g.filter); err != nil {
				return nil, err
			}
		}
		if out == nil {
			out = links
		} else {
			out = append(out, links...)
		}
		if !full || len(out) >= q.Limit {
			break
		}
	}
	return out, nil
}

// lazy tells whether evidence is only read of the relations that are shown: where no filter turns most of them
// away, and no second relations are looked for.
func (g *graphRun) lazy() bool {
	return g.res.Mode != ModeThinking && len(g.filter.All)+len(g.filter.Not) == 0
}

func confidence(r *backend.Relation) float64 {
	if r.Confidence == 0 {
		return defaultConfidence
	}
	return float64(r.Confidence)
}

// worth is what a relation counts: how sure it is, whether its evidence was returned, and
// how many of the question's words it holds.
func (g *graphRun) worth(l *link) float64 {
	w := confidence(l.Relation)
	if l.Predicate == "related_to" {
		w *= coOccurrence
	}
	if row := g.chunks.get(l.Chunk); row != nil && row.hit {
		w *= 1 + row.score
	}
	return w * (1 + float64(g.words.held(l.Relation))/max(1, float64(len(g.words.left))))
}

// queryPaths adds chains of up to two relations from an entity of the question; one that ends at another such
// entity, or whose evidence was returned, counts more.
func (g *graphRun) queryPaths(part backend.Partition, ents []int64) error {
	if len(ents) == 0 {
		return nil
	}
	named := func(e int64) bool { return slices.Contains(ents, e) }
	first, err := g.read(backend.RelationQuery{Part: part, Entities: ents}, relationPages, g.lazy())
	if err != nil {
		return err
	}
	for _, num := range ents {
		if slices.ContainsFunc(first, func(l link) bool { return l.From == num || l.To == num }) {
			g.entity(num)
		}
	}
	if err := g.fetch(); err != nil {
		return err
	}
	for _, num := range ents { // every relation of an entity holds its name
		if e := g.entities.get(num); there(e) {
			g.words.drop(e.Name)
		}
	}
	read := first
	for _, anchors := range g.anchors {
		if anchors.part != part {
			continue
		}
		for _, l := range anchors.links { // those beyond what was read
			if named(l.From) || named(l.To) {
				if _, ok := slices.BinarySearchFunc(read, l.Num, func(l link, num int64) int { return cmp.Compare(l.Num, num) }); !ok {
					first = append(first, l)
				}
			}
		}
	}
	g.chains, g.worths = g.chains[:0], g.worths[:0]
	for i := range first {
		l := &first[i]
		w := g.worth(l)
		g.worths = append(g.worths, w)
		if named(l.From) && named(l.To) {
			w *= 2
		}
		g.chains = append(g.chains, chain{a: l, score: w})
	}
	if g.res.Mode == ModeThinking {
		if err := g.secondRelations(part, ents, first); err != nil {
			return err
		}
	}
	slices.SortStableFunc(g.chains, compareChains)
	left := maxQueryPaths
	for some := range slices.Chunk(g.chains, maxQueryPaths) {
		if g.lazy() {
			for _, c := range some {
				g.refer(c.a)
			}
			if err := g.fetch(); err != nil {
				return err
			}
		}
		for _, c := range some {
			if !c.a.visible(g.filter) {
				continue
			}
			g.gc.QueryPaths = g.appendPath(g.gc.QueryPaths, c)
			if left--; left == 0 {
				return nil
			}
		}
	}
	return nil
}

// secondRelations adds chains of two: with the relations of where the first ones lead to.
func (g *graphRun) secondRelations(part backend.Partition, ents []int64, first []link) error {
	named := func(e int64) bool { return slices.Contains(ents, e) }
	var frontier []int64
	for _, l := range first {
		for _, e := range [...]int64{l.From, l.To} {
			if e != 0 && !named(e) && !slices.Contains(frontier, e) && len(frontier) < maxFrontier {
				frontier = append(frontier, e)
			}
		}
	}
	if len(frontier) == 0 {
		return nil
	}
	second, err := g.read(backend.RelationQuery{Part: part, Entities: frontier}, 1, false)
	if err != nil {
		return err
	}
	worths := make([]float64, len(second))
	for j := range second {
		worths[j] = g.worth(&second[j])
	}
	seen := map[[2]int64]bool{}
	for i := range first {
		a := &first[i]
		if a.Predicate == "related_to" || named(a.From) && named(a.To) {
			continue
		}
		start, mid := a.From, a.To
		if !named(start) {
			start, mid = mid, start
		}
		for j := range second {
			b := &second[j]
			end := b.From
			if end == mid {
				end = b.To
			}
			pair := [2]int64{min(a.Num, b.Num), max(a.Num, b.Num)}
			if b.From != mid && b.To != mid || end == start || end == mid || b.Predicate == "related_to" || seen[pair] || len(g.chains) > maxPaths {
				continue
			}
			seen[pair] = true
			w := g.worths[i] * worths[j] * secondHop
			if named(end) {
				w *= 2
			}
			g.chains = append(g.chains, chain{a, b, w})
		}
	}
	return nil
}

// appendPath appends what shows a chain of visible relations.
func (g *graphRun) appendPath(paths []Path, c chain) []Path {
	mem := g.res.memory
	paths = append(paths, Path{Score: c.score})
	p := &paths[len(paths)-1]
	links := [...]*link{c.a, c.b}
	n := 2
	if c.b == nil {
		n = 1
	}
	p.Triplets, p.ChunkIDs = take(&mem.triplets, n), take(&mem.texts, n)[:0]
	for i, l := range links[:n] {
		g.triplet(&p.Triplets[i], l)
		if !slices.Contains(p.ChunkIDs, l.chunk.row.Key) {
			p.ChunkIDs = append(p.ChunkIDs, l.chunk.row.Key)
		}
		switch {
		case l.Context == "" || l.Context == p.Context:
		case p.Context == "":
			p.Context = l.Context
		default:
			p.Context += " " + l.Context
		}
	}
	return paths
}

// synthesis renders paths as text, a line each.
func synthesis(paths []Path) string {
	var b strings.Builder
	for _, p := range paths {
		for i, t := range p.Triplets {
			if i > 0 {
				b.WriteString("; ")
			}
			fmt.Fprintf(&b, "%s %s %s", t.Source.Name, strings.ReplaceAll(t.Relation.Canonical, "_", " "), t.Target.Name)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
