package contextmem

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/extract/rules"
	"github.com/contextmem/contextmem/internal/lexical"
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
	gc      *GraphContext
	anchors []partRelations // of the returned chunks
}

type partRelations struct {
	part backend.Partition
	rels []*backend.Relation
}

// partEntities is entities of a partition.
type partEntities struct {
	part backend.Partition
	ents []int64
}

// graphScratch is what the graph context of a recall needs and leaves clean for the next.
type graphScratch struct {
	reader graphReader
	score  map[int64]float64 // of the returned chunks
	words  questionWords
	keys   []string // of windows of the question
	chains []chain
	worths []float64
}

// chain is one or two relations that follow from the question.
type chain struct {
	a, b  int // places of relations; b is -1 for one relation
	score float64
}

// maxGraphScratch keeps a rare large graph context from staying in memory.
const maxGraphScratch = 1 << 11

func (s *graphScratch) forget() {
	s.reader.forget()
	if len(s.score) > maxGraphScratch || cap(s.keys) > maxGraphScratch || cap(s.chains) > maxGraphScratch || cap(s.worths) > maxGraphScratch {
		*s = graphScratch{reader: s.reader}
		return
	}
	s.words.forget()
	clear(s.score)
	clear(s.keys)
	s.keys = s.keys[:0]
}

// graph fills the graph context: relations of the returned chunks, and chains from the entities that the question names.
func (r *recallRun) graph(ctx context.Context, hits []*scopeHit) error {
	mem := r.res.memory
	gc := mem.newGraph()
	r.res.Graph = gc
	g := &graphRun{recallRun: r, graphReader: r.reader(ctx, hits), gc: gc}
	if g.score == nil {
		g.score = make(map[int64]float64, len(hits))
	}
	g.words.ask(r.q.Query)
	if err := g.chunkRelations(hits); err != nil {
		return err
	}
	slices.SortFunc(r.ents, func(a, b partEntities) int { return compareParts(a.part, b.part) })
	if err := g.nameMemories(); err != nil {
		return err
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

// partChunks is chunks of one partition.
type partChunks struct {
	part   backend.Partition
	chunks []int64
}

// chunksOf lists the chunks of hits by partition, in the order of the hits. Partitions are few.
func chunksOf(hits []*scopeHit) []partChunks {
	var out []partChunks
	for _, h := range hits {
		i := slices.IndexFunc(out, func(p partChunks) bool { return p.part == h.part })
		if i < 0 {
			i = len(out)
			out = append(out, partChunks{h.part, make([]int64, 0, len(hits))})
		}
		out[i].chunks = append(out[i].chunks, h.Chunk)
	}
	slices.SortFunc(out, func(a, b partChunks) int { return compareParts(a.part, b.part) })
	return out
}

// chunkRelations adds the relations whose evidence was returned, those of the best chunks first.
func (g *graphRun) chunkRelations(hits []*scopeHit) error {
	for _, h := range hits {
		g.score[h.Chunk] = h.Score
	}
	var all []*backend.Relation
	for _, found := range chunksOf(hits) {
		anchors := partRelations{part: found.part}
		for chunks := range slices.Chunk(found.chunks, chunkBatch) {
			rels, err := g.read(backend.RelationQuery{Part: found.part, Chunks: chunks}, 1, false)
			if err != nil {
				return err
			}
			anchors.rels = append(anchors.rels, rels...)
			if len(anchors.rels) >= 2*maxChunkRelations {
				break // chunks come best first
			}
		}
		all = append(all, anchors.rels...)
		g.anchors = append(g.anchors, anchors)
	}
	slices.SortStableFunc(all, func(a, b *backend.Relation) int {
		return cmp.Compare(g.score[b.Chunk]*confidence(b), g.score[a.Chunk]*confidence(a))
	})
	var perChunk sourceCount
	for _, rel := range all {
		if len(g.gc.ChunkRelations) == maxChunkRelations {
			return nil
		}
		if perChunk.add(rel.Chunk) > pathPerChunk {
			continue
		}
		p := g.path(g.score[rel.Chunk]*confidence(rel), rel)
		p.GroupID = groupIDs[len(g.gc.ChunkRelations)]
		g.gc.ChunkRelations = append(g.gc.ChunkRelations, p)
		ids, ok := g.gc.ChunkGroups[p.ChunkIDs[0]]
		if !ok {
			ids = take(&g.res.memory.texts, pathPerChunk)[:0]
		}
		g.gc.ChunkGroups[p.ChunkIDs[0]] = append(ids, p.GroupID)
	}
	return nil
}

// groupIDs are the ids of the groups of chunk relations.
var groupIDs = func() (ids [maxChunkRelations]string) {
	for i := range ids {
		ids[i] = "p_" + strconv.Itoa(i)
	}
	return ids
}()

// read reads relations as the recall wants them: held at its times, and visible and allowed unless that is found out
// later.
func (g *graphRun) read(q backend.RelationQuery, pages int, later bool) ([]*backend.Relation, error) {
	q.AsOf, q.KnownAt, q.Limit = g.q.AsOf, g.q.KnownAt, relationPage
	var out []*backend.Relation
	for range pages {
		rels, err := g.store.Relations(g.ctx, q)
		if err != nil {
			return nil, err
		}
		full := len(rels) == q.Limit
		if full {
			q.After = rels[len(rels)-1].Num
		}
		visible := shown(rels)
		if !later {
			if visible, err = g.resolve(visible, g.filter); err != nil {
				return nil, err
			}
		}
		if out == nil {
			out = visible
		} else {
			out = append(out, visible...)
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

// nameMemories finds the entities that the question names in memories, which ranking does not need.
func (g *graphRun) nameMemories() error {
	var grams []rules.Gram
	for i := range g.ents {
		named := &g.ents[i]
		if named.part.Class != backend.Memory || len(named.ents) > 0 {
			continue
		}
		if grams == nil {
			grams = g.cuesAt(g.recallRun.now).Grams
			for _, w := range grams {
				g.keys = append(g.keys, w.Key)
			}
			if speaksOfSelf(g.q.Query) { // of the user
				self := rules.Gram{Key: extract.Key(defaultUserName), Words: 1}
				grams, g.keys = append(slices.Clip(grams), self), append(g.keys, self.Key)
			}
		}
		if len(g.keys) == 0 {
			return nil
		}
		found, err := g.held.ws.Graph().MatchEntities(g.ctx, named.part, g.keys)
		if err != nil {
			return err
		}
		end := 0 // of the words that are taken: grams come by start, longest first
		for i := range grams {
			w := &grams[i]
			at := slices.IndexFunc(found, func(m backend.EntityMatch) bool { return m.Key == w.Key }) // a few are found
			if at < 0 || w.Start < end && w.End > 0 || w.Words == 1 && (lexical.IsStopWord(w.Key) || lexical.IsQuestionWord(w.Key)) {
				continue
			}
			end = max(end, w.End)
			if e := found[at].Entity; !slices.Contains(named.ents, e) {
				named.ents = append(named.ents, e)
			}
		}
	}
	return nil
}

// speaksOfSelf tells whether a question speaks in the first person, or of the user.
func speaksOfSelf(query string) bool {
	for i := 0; i < len(query); i++ {
		var word [4]byte // in lower case, as far as it fits
		n := 0
		for ; i < len(query); i++ {
			c := query[i] | 0x20
			if (c < 'a' || c > 'z') && query[i] != '\'' {
				break
			}
			if n < len(word) {
				word[n] = c
			}
			n++
		}
		if n == 0 || n > len(word) {
			continue
		}
		switch string(word[:n]) {
		case "i", "i'm", "i've", "i'd", "my", "me", "mine", "we", "our", "us", "user":
			return true
		}
	}
	return false
}

func confidence(r *backend.Relation) float64 {
	if r.Confidence == 0 {
		return defaultConfidence
	}
	return float64(r.Confidence)
}

// worth is what a relation counts: how sure it is, whether its evidence was returned, and
// how many of the question's words it holds.
func (g *graphRun) worth(rel *backend.Relation) float64 {
	w := confidence(rel)
	if rel.Predicate == "related_to" {
		w *= coOccurrence
	}
	if s, ok := g.score[rel.Chunk]; ok {
		w *= 1 + s
	}
	return w * (1 + float64(g.words.held(rel))/max(1, float64(len(g.words.left))))
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
	if g.lazy() {
		if err := g.readEntities(slices.DeleteFunc(slices.Clone(ents), func(e int64) bool {
			return g.entities[e] != nil || !slices.ContainsFunc(first, func(r *backend.Relation) bool { return r.From == e || r.To == e })
		})); err != nil {
			return err
		}
	}
	for _, e := range ents { // every relation of an entity holds its name
		if e := g.entities[e]; e != nil {
			g.words.drop(e.Name)
		}
	}
	read := first
	for _, anchors := range g.anchors {
		if anchors.part != part {
			continue
		}
		for _, rel := range anchors.rels { // those beyond what was read
			if named(rel.From) || named(rel.To) {
				if _, ok := slices.BinarySearchFunc(read, rel.Num, func(r *backend.Relation, num int64) int { return cmp.Compare(r.Num, num) }); !ok {
					first = append(first, rel)
				}
			}
		}
	}
	g.chains, g.worths = g.chains[:0], g.worths[:0]
	for i, rel := range first {
		w := g.worth(rel)
		g.worths = append(g.worths, w)
		if named(rel.From) && named(rel.To) {
			w *= 2
		}
		g.chains = append(g.chains, chain{i, -1, w})
	}
	var second []*backend.Relation
	if g.res.Mode == ModeThinking {
		if second, err = g.secondRelations(part, ents, first); err != nil {
			return err
		}
	}
	slices.SortStableFunc(g.chains, func(a, b chain) int { return cmp.Compare(b.score, a.score) })
	left := maxQueryPaths
	for some := range slices.Chunk(g.chains, maxQueryPaths) {
		if left == 0 {
			break
		}
		if g.lazy() {
			rels := make([]*backend.Relation, len(some))
			for i, c := range some {
				rels[i] = first[c.a]
			}
			if rels, err = g.resolve(rels, g.filter); err != nil {
				return err
			}
			for _, c := range some {
				if len(rels) > 0 && rels[0] == first[c.a] && left > 0 {
					g.gc.QueryPaths, rels = append(g.gc.QueryPaths, g.path(c.score, rels[0])), rels[1:]
					left--
				}
			}
			continue
		}
		for _, c := range some[:min(len(some), left)] {
			if c.b < 0 {
				g.gc.QueryPaths = append(g.gc.QueryPaths, g.path(c.score, first[c.a]))
			} else {
				g.gc.QueryPaths = append(g.gc.QueryPaths, g.path(c.score, first[c.a], second[c.b]))
			}
			left--
		}
	}
	return nil
}

// secondRelations reads the relations of where the first ones lead to, and adds chains of two.
func (g *graphRun) secondRelations(part backend.Partition, ents []int64, first []*backend.Relation) ([]*backend.Relation, error) {
	named := func(e int64) bool { return slices.Contains(ents, e) }
	var frontier []int64
	for _, rel := range first {
		for _, e := range [...]int64{rel.From, rel.To} {
			if e != 0 && !named(e) && !slices.Contains(frontier, e) && len(frontier) < maxFrontier {
				frontier = append(frontier, e)
			}
		}
	}
	if len(frontier) == 0 {
		return nil, nil
	}
	second, err := g.read(backend.RelationQuery{Part: part, Entities: frontier}, 1, false)
	if err != nil {
		return nil, err
	}
	worths := make([]float64, len(second))
	for j, b := range second {
		worths[j] = g.worth(b)
	}
	seen := map[[2]int64]bool{}
	for i, a := range first {
		if a.Predicate == "related_to" || named(a.From) && named(a.To) {
			continue
		}
		start, mid := a.From, a.To
		if !named(start) {
			start, mid = mid, start
		}
		for j, b := range second {
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
			g.chains = append(g.chains, chain{i, j, w})
		}
	}
	return second, nil
}

// path shows a chain of relations that were resolved.
func (g *graphRun) path(score float64, rels ...*backend.Relation) Path {
	mem := g.res.memory
	p := Path{Score: score, Triplets: take(&mem.triplets, len(rels)), ChunkIDs: take(&mem.texts, len(rels))[:0]}
	for i, r := range rels {
		t := &p.Triplets[i]
		g.triplet(t, r)
		if !slices.Contains(p.ChunkIDs, t.Relation.ChunkID) {
			p.ChunkIDs = append(p.ChunkIDs, t.Relation.ChunkID)
		}
		switch {
		case r.Context == "" || r.Context == p.Context:
		case p.Context == "":
			p.Context = r.Context
		default:
			p.Context += " " + r.Context
		}
	}
	return p
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
