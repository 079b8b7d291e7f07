package graph

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/language"
)

// MaxChunkRelations bounds Context.ChunkRelations.
const MaxChunkRelations = 60

// Bounds of the graph around one result.
const (
	maxQueryPaths     = 20
	pathPerChunk      = 8
	chunkBatch        = 10  // chunks whose relations are read in one call
	relationPage      = 200 // relations read in one call
	relationPages     = 3   // pages read for the relations of the question's entities, as long as the filter removes too many
	maxFrontier       = 40  // entities from which second relations are read
	maxPaths          = 400 // paths that are scored
	defaultConfidence = .8  // confidence of relations that came without one
	secondHop         = .6  // factor of a chain of two relations
	coOccurrence      = .5  // factor of "related_to", which says little
)

// Question describes the recall that a graph context is made for.
type Question struct {
	Query    string
	Cues     func() *language.Cues // language cues of the query
	Named    []Named               // entities that the query names; those in memories are found by nameMemories
	UserKey  string                // key of the entity that stands for the user
	Graph    backend.Graph
	Keywords backend.Keywords
	Thinking bool
	Filter   backend.Filter
	AsOf     time.Time // as in [backend.RelationQuery]
	KnownAt  time.Time
}

// Context is the graph around a result.
type Context struct {
	QueryPaths     []Path // best first
	ChunkRelations []Path // best first; each path has one link
	Synthesis      string // the query paths as text; only in thinking mode
	AsOf           time.Time
}

// Path is one relation, or a chain of two.
type Path struct {
	First  *Link
	Second *Link // nil for a path of one relation
	Score  float64
}

// Links returns the links of a path and how many there are, 1 or 2.
func (p *Path) Links() ([2]*Link, int) {
	if p.Second == nil {
		return [2]*Link{p.First}, 1
	}
	return [2]*Link{p.First, p.Second}, 2
}

// builder builds the graph context of one recall.
type builder struct {
	*Reader
	*Question
	out    Context
	judged struct { // the evidence of the relation that relationScore scored last; the next relation mostly has the same
		chunk int64
		row   *Row
	}
}

// anchors holds the relations of the hits in one partition.
type anchors struct {
	part  backend.Partition
	links []Link
}

// Context returns the relations of the hits and the chains that begin at the entities of the question.
func (r *Reader) Context(q *Question) (Context, error) {
	r.meet()
	g := builder{Reader: r, Question: q, out: Context{AsOf: q.AsOf}}
	if err := g.chunkRelations(); err != nil {
		return Context{}, err
	}
	slices.SortFunc(q.Named, func(a, b Named) int { return compareParts(a.Part, b.Part) })
	if !r.prepared.done {
		if err := g.nameMemories(); err != nil {
			return Context{}, err
		}
		if slices.ContainsFunc(q.Named, func(n Named) bool { return len(n.Entities) > 0 }) {
			g.words.ask(q.Query)
		}
	}
	for _, named := range q.Named {
		if err := g.queryPaths(named.Part, named.Entities); err != nil {
			return Context{}, err
		}
	}
	slices.SortStableFunc(g.best, comparePaths)
	g.out.QueryPaths = g.best[:min(len(g.best), maxQueryPaths)]
	if r.restricted() {
		if err := r.showVisiblePaths(g.out.QueryPaths, g.out.ChunkRelations); err != nil {
			return Context{}, err
		}
	}
	if q.Thinking {
		g.out.Synthesis = synthesis(g.out.QueryPaths)
	}
	return g.out, nil
}

// chunkRelations adds the relations whose evidence is among the hits, those of the best chunks first.
func (g *builder) chunkRelations() error {
	paths := g.shown
	for _, found := range g.HitsByPart() {
		a := anchors{part: found.Part}
		for chunks := range slices.Chunk(found.Chunks, chunkBatch) {
			ls, err := g.read(backend.RelationQuery{Part: found.Part, Chunks: chunks}, 1, false)
			if err != nil {
				return err
			}
			if a.links == nil {
				a.links = ls
			} else {
				a.links = append(a.links, ls...)
			}
			if len(a.links) >= 2*MaxChunkRelations {
				break // hits are sorted, best first
			}
		}
		g.anchors = append(g.anchors, a)
		paths = slices.Grow(paths, len(a.links))
		for i := range a.links {
			l := &a.links[i]
			paths = append(paths, Path{First: l, Score: l.Proof.score * confidence(l.Relation)})
		}
	}
	g.shown = paths
	slices.SortStableFunc(paths, comparePaths)
	shown := paths[:0]
	for _, p := range paths {
		if len(shown) == MaxChunkRelations {
			break
		}
		if p.First.Proof.shown++; p.First.Proof.shown <= pathPerChunk {
			shown = append(shown, p)
		}
	}
	g.out.ChunkRelations = shown
	return nil
}

// comparePaths orders paths, best first.
func comparePaths(a, b Path) int { return cmp.Compare(b.Score, a.Score) }

// read returns the relations that hold at the times of the recall, from at most the given number of pages.
// It drops relations without visible evidence, unless later says that the caller checks the evidence itself.
func (g *builder) read(q backend.RelationQuery, pages int, later bool) ([]Link, error) {
	q.AsOf, q.KnownAt, q.Limit = g.AsOf, g.KnownAt, relationPage
	var out []Link
	for range pages {
		rels, last, more, err := g.relations(q, later && g.sketchable())
		if err != nil {
			return nil, err
		}
		q.After = last
		ls := g.link(rels)
		if !later {
			if ls, err = g.resolve(ls, g.Filter); err != nil {
				return nil, err
			}
		}
		if out == nil {
			out = ls
		} else {
			out = append(out, ls...)
		}
		if !more || len(out) >= q.Limit {
			break
		}
	}
	return out, nil
}

// lazy reports whether evidence is read only for the relations that are shown.
// This pays where no filter removes most relations and no second relations are read.
func (g *builder) lazy() bool {
	return !g.Thinking && len(g.Filter.All)+len(g.Filter.Not) == 0
}

// relationScore returns the score of a relation. The score grows with its confidence, with the rank of its evidence among the hits, and with the
// words that it shares with the question.
func (g *builder) relationScore(l *Link) float64 {
	w := confidence(l.Relation)
	if l.Predicate == relatedTo {
		w *= coOccurrence
	}
	if l.Chunk != g.judged.chunk || g.judged.row == nil {
		g.judged.chunk, g.judged.row = l.Chunk, g.chunks.get(l.Chunk)
	}
	if row := g.judged.row; row != nil && row.hit {
		w *= 1 + row.score
	}
	return w * (1 + float64(g.words.count(l.Relation))/max(1, float64(len(g.words.left))))
}

// relatedTo is the predicate of entities that are only mentioned together.
const relatedTo = "related_to"

// queryPaths adds chains of up to two relations that begin at an entity of the question.
// A chain scores higher if it ends at another such entity or if its evidence is among the hits.
func (g *builder) queryPaths(part backend.Partition, ents []int64) error {
	if len(ents) == 0 {
		return nil
	}
	first, err := g.firstRelations(part, ents)
	if err != nil {
		return err
	}
	paths := slices.Grow(g.chains[:0], len(first))
	g.worths = g.worths[:0]
	for i := range first {
		l := &first[i]
		w := g.relationScore(l)
		g.worths = append(g.worths, w)
		if slices.Contains(ents, l.From) && slices.Contains(ents, l.To) {
			w *= 2
		}
		paths = append(paths, Path{First: l, Score: w})
	}
	if g.Thinking {
		if paths, err = g.secondRelations(paths, part, ents, first); err != nil {
			return err
		}
	}
	g.chains = paths
	slices.SortStableFunc(paths, comparePaths)
	left := maxQueryPaths
	for some := range slices.Chunk(paths, maxQueryPaths) {
		if g.lazy() {
			shown := make([]*Link, len(some))
			for i, p := range some {
				shown[i] = p.First
			}
			if err := g.complete(part, shown); err != nil {
				return err
			}
			for _, l := range shown {
				if l.Relation != nil {
					g.refer(l)
				}
			}
			if err := g.fetch(); err != nil {
				return err
			}
		}
		for _, p := range some {
			if p.First.Relation == nil || !p.First.visible(g.Filter) {
				continue
			}
			g.best = append(g.best, p)
			if left--; left == 0 {
				return nil
			}
		}
	}
	return nil
}

// firstRelations returns the relations of the entities of a question, and those of the hits that the query for them did not reach.
func (g *builder) firstRelations(part backend.Partition, ents []int64) ([]Link, error) {
	first := g.prepared.first
	if g.prepared.done {
		g.dropNames(ents) // those that only relations of the hits led to
	} else {
		var err error
		if first, err = g.reached(part, ents); err != nil {
			return nil, err
		}
	}
	read := first
	for _, a := range g.anchors {
		if a.part != part {
			continue
		}
		for i := range a.links {
			l := &a.links[i]
			if slices.Contains(ents, l.From) || slices.Contains(ents, l.To) {
				if _, ok := sort.Find(len(read), func(i int) int { return cmp.Compare(l.Num, read[i].Num) }); !ok {
					first = append(first, *l)
				}
			}
		}
	}
	return first, nil
}

// reached reads the first relations of the entities of a question, and whole those whose context may hold words of the question.
func (g *builder) reached(part backend.Partition, ents []int64) ([]Link, error) {
	first, err := g.read(backend.RelationQuery{Part: part, Entities: ents}, relationPages, g.lazy())
	if err != nil {
		return nil, err
	}
	for _, num := range ents {
		if slices.ContainsFunc(first, func(l Link) bool { return l.From == num || l.To == num }) {
			g.entity(num)
		}
	}
	if err := g.fetch(); err != nil {
		return nil, err
	}
	g.dropNames(ents)
	return g.spell(part, first)
}

// dropNames drops the words of the names of entities from the question's words, because each relation of an entity holds them.
func (g *builder) dropNames(ents []int64) {
	for _, num := range ents {
		if e := g.entities.get(num); loaded(e) {
			g.words.drop(e.Name)
		}
	}
}

// secondRelations appends chains of two relations: each first relation with the relations of the entity that it leads to.
func (g *builder) secondRelations(paths []Path, part backend.Partition, ents []int64, first []Link) ([]Path, error) {
	named := func(e int64) bool { return slices.Contains(ents, e) }
	// leads returns the entity of the question at which a first relation begins, and the entity at which its chain goes on; 0 if no chain
	// begins with it: its object is a plain text, or the chain would say little.
	leads := func(l *Link) (start, mid int64) {
		start, mid = l.From, l.To
		if !named(start) {
			start, mid = mid, start
		}
		if l.Predicate == relatedTo || named(mid) {
			return start, 0
		}
		return start, mid
	}
	var frontier []int64
	for i := range first {
		if _, e := leads(&first[i]); e != 0 && !slices.Contains(frontier, e) && len(frontier) < maxFrontier {
			frontier = append(frontier, e)
		}
	}
	if len(frontier) == 0 {
		return paths, nil
	}
	second, err := g.read(backend.RelationQuery{Part: part, Entities: frontier}, 1, false)
	if err != nil {
		return nil, err
	}
	worths := make([]float64, len(second))
	for j := range second {
		worths[j] = g.relationScore(&second[j])
	}
	if g.pairs == nil {
		g.pairs = make(map[[2]int64]bool, maxPaths)
	}
	seen := g.pairs
	for i := range first {
		a := &first[i]
		start, mid := leads(a)
		if mid == 0 {
			continue
		}
		for j := range second {
			b := &second[j]
			end := b.From
			if end == mid {
				end = b.To
			}
			pair := [2]int64{min(a.Num, b.Num), max(a.Num, b.Num)}
			if b.From != mid && b.To != mid || end == start || end == mid || b.Predicate == relatedTo || seen[pair] || len(paths) > maxPaths {
				continue
			}
			seen[pair] = true
			w := g.worths[i] * worths[j] * secondHop
			if named(end) {
				w *= 2
			}
			paths = append(paths, Path{a, b, w})
		}
	}
	return paths, nil
}

// synthesis renders paths as text, one line each.
func synthesis(paths []Path) string {
	var b strings.Builder
	for i := range paths {
		ls, n := paths[i].Links()
		for j, l := range ls[:n] {
			if j > 0 {
				b.WriteString("; ")
			}
			b.WriteString(l.Subject.Name)
			b.WriteByte(' ')
			b.WriteString(strings.ReplaceAll(l.Canonical(), "_", " "))
			b.WriteByte(' ')
			b.WriteString(l.objectName())
		}
		b.WriteByte('\n')
	}
	return b.String()
}
