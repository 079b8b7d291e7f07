package contextmem

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
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
	score   map[int64]float64 // of the returned chunks
	words   *questionWords
	anchors map[backend.Partition][]*backend.Relation
}

// graph fills the graph context: relations of the returned chunks, and chains from the entities that the question names.
func (r *recallRun) graph(ctx context.Context, hits []*scopeHit) error {
	gc := &GraphContext{QueryPaths: []Path{}, ChunkRelations: []Path{}, ChunkGroups: map[string][]string{}}
	r.res.Graph = gc
	g := &graphRun{recallRun: r, graphReader: r.reader(ctx, hits), gc: gc, score: make(map[int64]float64, len(hits)),
		words: newQuestionWords(r.q.Query), anchors: map[backend.Partition][]*backend.Relation{}}
	if err := g.chunkRelations(hits); err != nil {
		return err
	}
	if err := g.nameMemories(); err != nil {
		return err
	}
	for _, part := range sortedParts(r.ents) {
		paths, err := g.queryPaths(part, r.ents[part])
		if err != nil {
			return err
		}
		gc.QueryPaths = append(gc.QueryPaths, paths...)
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

// sortedParts lists partitions in order.
func sortedParts[T any](m map[backend.Partition]T) []backend.Partition {
	return slices.SortedFunc(maps.Keys(m), compareParts)
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
		part := found.part
		for chunks := range slices.Chunk(found.chunks, chunkBatch) {
			rels, err := g.read(backend.RelationQuery{Part: part, Chunks: chunks}, 1, false)
			if err != nil {
				return err
			}
			g.anchors[part] = append(g.anchors[part], rels...)
			if len(g.anchors[part]) >= 2*maxChunkRelations {
				break // chunks come best first
			}
		}
		all = append(all, g.anchors[part]...)
	}
	slices.SortStableFunc(all, func(a, b *backend.Relation) int {
		return cmp.Compare(g.score[b.Chunk]*confidence(b), g.score[a.Chunk]*confidence(a))
	})
	perChunk := map[int64]int{}
	for _, rel := range all {
		if len(g.gc.ChunkRelations) == maxChunkRelations {
			return nil
		}
		if perChunk[rel.Chunk]++; perChunk[rel.Chunk] > pathPerChunk {
			continue
		}
		p := g.path(g.score[rel.Chunk]*confidence(rel), rel)
		p.GroupID = "p_" + strconv.Itoa(len(g.gc.ChunkRelations))
		g.gc.ChunkRelations = append(g.gc.ChunkRelations, p)
		g.gc.ChunkGroups[p.ChunkIDs[0]] = append(g.gc.ChunkGroups[p.ChunkIDs[0]], p.GroupID)
	}
	return nil
}

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
	var keys []string
	var grams []rules.Gram
	for _, part := range sortedParts(g.ents) {
		if part.Class != backend.Memory || len(g.ents[part]) > 0 {
			continue
		}
		if grams == nil {
			grams = append(g.cuesAt(g.recallRun.now).Grams, selfGrams(g.q.Query)...)
			for _, w := range grams {
				keys = append(keys, w.Key)
			}
		}
		if len(keys) == 0 {
			return nil
		}
		found, err := g.held.ws.Graph().MatchEntities(g.ctx, part, keys)
		if err != nil {
			return err
		}
		by := make(map[string]int64, len(found))
		for _, m := range found {
			by[m.Key] = m.Entity
		}
		end := 0 // of the words that are taken: grams come by start, longest first
		for _, w := range grams {
			e, ok := by[w.Key]
			if !ok || w.Start < end && w.End > 0 || w.Words == 1 && (lexical.IsStopWord(w.Key) || lexical.IsQuestionWord(w.Key)) {
				continue
			}
			end = max(end, w.End)
			if !slices.Contains(g.ents[part], e) {
				g.ents[part] = append(g.ents[part], e)
			}
		}
	}
	return nil
}

// selfGrams is the user as an entity when a question speaks in the first person.
func selfGrams(query string) []rules.Gram {
	for _, w := range strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return !(r >= 'a' && r <= 'z' || r == '\'') }) {
		switch w {
		case "i", "i'm", "i've", "i'd", "my", "me", "mine", "we", "our", "us", "user":
			return []rules.Gram{{Key: extract.Key(defaultUserName), Words: 1}}
		}
	}
	return nil
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
	return w * (1 + float64(g.words.held(rel.Predicate, rel.Context))/math.Max(1, float64(g.words.left)))
}

// queryPaths are chains of up to two relations from an entity of the question; one that ends at another such
// entity, or whose evidence was returned, counts more.
func (g *graphRun) queryPaths(part backend.Partition, ents []int64) ([]Path, error) {
	if len(ents) == 0 {
		return nil, nil
	}
	named := map[int64]bool{}
	for _, e := range ents {
		named[e] = true
	}
	first, err := g.read(backend.RelationQuery{Part: part, Entities: ents}, relationPages, g.lazy())
	if err != nil {
		return nil, err
	}
	if g.lazy() {
		if err := g.readEntities(slices.DeleteFunc(slices.Clone(ents), func(e int64) bool {
			return g.entities[e] != nil || !slices.ContainsFunc(first, func(r *backend.Relation) bool { return r.From == e || r.To == e })
		})); err != nil {
			return nil, err
		}
	}
	for _, e := range ents { // every relation of an entity holds its name
		if e := g.entities[e]; e != nil {
			g.words.drop(e.Name)
		}
	}
	have := make(map[int64]bool, len(first))
	for _, rel := range first {
		have[rel.Num] = true
	}
	for _, rel := range g.anchors[part] { // those beyond what was read
		if (named[rel.From] || named[rel.To]) && !have[rel.Num] {
			first = append(first, rel)
		}
	}
	worth := make(map[int64]float64, len(first))
	weigh := func(rel *backend.Relation) float64 {
		w, ok := worth[rel.Num]
		if !ok {
			w = g.worth(rel)
			worth[rel.Num] = w
		}
		return w
	}
	type chain struct {
		a, b  int // b is -1 for one relation
		score float64
	}
	chains := make([]chain, 0, len(first))
	var frontier []int64
	for i, rel := range first {
		w := weigh(rel)
		if named[rel.From] && named[rel.To] {
			w *= 2
		}
		chains = append(chains, chain{i, -1, w})
		for _, e := range [...]int64{rel.From, rel.To} {
			if e != 0 && !named[e] && !slices.Contains(frontier, e) && len(frontier) < maxFrontier {
				frontier = append(frontier, e)
			}
		}
	}
	var second []*backend.Relation
	if len(frontier) > 0 && g.res.Mode == ModeThinking {
		if second, err = g.read(backend.RelationQuery{Part: part, Entities: frontier}, 1, false); err != nil {
			return nil, err
		}
	}
	seen := map[[2]int64]bool{}
	for i, a := range first {
		if a.Predicate == "related_to" || named[a.From] && named[a.To] {
			continue
		}
		start, mid := a.From, a.To
		if !named[start] {
			start, mid = mid, start
		}
		for j, b := range second {
			end := b.From
			if end == mid {
				end = b.To
			}
			pair := [2]int64{min(a.Num, b.Num), max(a.Num, b.Num)}
			if b.From != mid && b.To != mid || end == start || end == mid || b.Predicate == "related_to" || seen[pair] || len(chains) > maxPaths {
				continue
			}
			seen[pair] = true
			w := weigh(a) * weigh(b) * secondHop
			if named[end] {
				w *= 2
			}
			chains = append(chains, chain{i, j, w})
		}
	}
	slices.SortStableFunc(chains, func(a, b chain) int { return cmp.Compare(b.score, a.score) })
	paths := make([]Path, 0, min(len(chains), maxQueryPaths))
	for some := range slices.Chunk(chains, maxQueryPaths) {
		if len(paths) == maxQueryPaths {
			break
		}
		if g.lazy() {
			rels := make([]*backend.Relation, len(some))
			for i, c := range some {
				rels[i] = first[c.a]
			}
			if rels, err = g.resolve(rels, g.filter); err != nil {
				return nil, err
			}
			for _, c := range some {
				if len(rels) > 0 && rels[0] == first[c.a] && len(paths) < maxQueryPaths {
					paths, rels = append(paths, g.path(c.score, rels[0])), rels[1:]
				}
			}
			continue
		}
		for _, c := range some[:min(len(some), maxQueryPaths-len(paths))] {
			if c.b < 0 {
				paths = append(paths, g.path(c.score, first[c.a]))
			} else {
				paths = append(paths, g.path(c.score, first[c.a], second[c.b]))
			}
		}
	}
	return paths, nil
}

func (g *graphReader) path(score float64, rels ...*backend.Relation) Path {
	p := Path{Score: score, Triplets: make([]Triplet, len(rels)), ChunkIDs: make([]string, 0, len(rels))}
	context := make([]string, 0, 2)
	for i, r := range rels {
		t := &p.Triplets[i]
		*t = g.triplet(r)
		if !slices.Contains(p.ChunkIDs, t.Relation.ChunkID) {
			p.ChunkIDs = append(p.ChunkIDs, t.Relation.ChunkID)
		}
		if r.Context != "" && !slices.Contains(context, r.Context) {
			context = append(context, r.Context)
		}
	}
	p.Context = strings.Join(context, " ")
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
