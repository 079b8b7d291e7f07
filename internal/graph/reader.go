package graph

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/language"
	"github.com/contextmem/contextmem/internal/pipeline"
)

// Reader reads the entities that relations refer to and the chunks that are their evidence, each once.
// A Reader is for one call and one goroutine.
type Reader struct {
	reading
	scratch
}

// reading is the part of a Reader that belongs to one call.
type reading struct {
	ctx     context.Context
	store   backend.Store
	now     time.Time
	visible backend.Filter // what the caller may see; zero: everything
	hits    []Hit
	met     bool                           // whether the hits were added to chunks
	fetched struct{ entities, chunks int } // number of table entries read so far
	last    referred
	revived revived // restored memories and facts of the workspace
	ids     idRoom
	types   map[entityKey]string // entity types by visible sources
	view    *View                // nil until needed

	prepared prepared
}

// scratch is the memory of a Reader, which the pool passes on to the next one.
type scratch struct {
	entities table[Entity]
	chunks   table[Row]
	links    []Link
	byPart   []PartChunks
	anchors  []anchors
	shown    []Path // paths of chunk relations
	chains   []Path // paths that begin at entities of the question
	best     []Path // the best of chains
	worths   []float64
	pairs    map[[2]int64]bool // pairs of relation numbers that are already a chain
	grams    []language.Gram   // n-grams of the question
	keys     []string          // keys of grams
	words    questionWords
}

// readers pools readers. This saves a quarter of the processor time of a recall with graph context in a small tenant.
var readers = sync.Pool{New: func() any { return new(Reader) }}

// maxScratch is the size above which the memory of a rare large graph is not kept.
const maxScratch = 1 << 11

// Release returns the reader's memory to the pool. Neither the reader nor anything that it returned may be used afterwards.
func (r *Reader) Release() {
	s := &r.scratch
	if max(len(s.entities.nums), len(s.chunks.nums), cap(s.links), cap(s.shown), cap(s.chains), cap(s.grams), cap(s.words.left)) > maxScratch {
		return
	}
	s.entities.reset()
	s.chunks.reset()
	for i := range s.byPart {
		s.byPart[i] = PartChunks{Chunks: s.byPart[i].Chunks[:0]}
	}
	s.links, s.byPart, s.anchors, s.shown, s.chains, s.best, s.grams, s.keys = emptied(s.links), s.byPart[:0], emptied(s.anchors), emptied(s.shown), emptied(s.chains),
		emptied(s.best), emptied(s.grams), emptied(s.keys)
	clear(s.pairs)
	s.words.texts.Forget()
	r.reading = reading{}
	readers.Put(r)
}

// emptied returns s with length 0 and its elements cleared.
func emptied[T any](s []T) []T {
	clear(s)
	return s[:0]
}

// Row is a chunk that is the evidence of relations.
type Row struct {
	Row   *backend.Hydrated // nil if not found or not read yet
	hit   bool              // whether the chunk is a hit, with that score
	score float64
	shown int // number of its relations that are shown
}

// Link is a relation with the entities and the chunk that it refers to.
type Link struct {
	*backend.Relation
	Subject, Target *Entity // nil if the relation has none
	Proof           *Row
	Restored        time.Time // when the fact was last restored, see RestoreFact; zero if never
	ids             *idRoom
}

// NewReader returns a reader. hits are the hits of a recall, best first, and may be empty.
// visible limits what the caller may see. Evidence that expired before now is left out. The caller must call Release.
func NewReader(ctx context.Context, st backend.Store, now time.Time, visible backend.Filter, hits []Hit) *Reader {
	r := readers.Get().(*Reader)
	r.ctx, r.store, r.now, r.visible, r.hits = ctx, st, now, visible, hits
	return r
}

// meet adds the hits to the chunks. It runs late, because most recalls find no relation that refers to a hit.
func (r *Reader) meet() {
	if r.met {
		return
	}
	r.met = true
	for _, h := range r.hits {
		if r.chunks.get(h.Row.Num) == nil {
			*r.chunks.add(h.Row.Num) = Row{Row: h.Row, hit: true, score: h.Score}
		}
	}
	r.fetched.chunks = len(r.chunks.nums)
}

// Share makes the reader use s, a View of the same Store and filter, instead of one of its own.
func (r *Reader) Share(s *View) { r.view = s }

// callerView returns the View of the caller and creates it if needed.
func (r *Reader) callerView() *View {
	if r.view == nil {
		r.view = NewView(r.store, r.now, r.visible)
	}
	return r.view
}

// PartChunks is a list of chunks of one partition.
type PartChunks struct {
	Part   backend.Partition
	Chunks []int64
}

// HitsByPart lists the chunks of the hits by partition, in the order of the hits.
func (r *Reader) HitsByPart() []PartChunks {
	if len(r.byPart) > 0 {
		return r.byPart
	}
	out := r.byPart
	for _, h := range r.hits {
		part := h.Row.Src.Part
		i := slices.IndexFunc(out, func(p PartChunks) bool { return p.Part == part }) // linear search: partitions are few
		if i < 0 {
			i = len(out)
			out = slices.Grow(out, 1)[:i+1]
			out[i] = PartChunks{Part: part, Chunks: out[i].Chunks[:0]}
		}
		out[i].Chunks = append(out[i].Chunks, h.Row.Num)
	}
	slices.SortFunc(out, func(a, b PartChunks) int { return compareParts(a.Part, b.Part) })
	r.byPart = out
	return out
}

// compareParts orders partitions, so that results have a stable order.
func compareParts(a, b backend.Partition) int {
	return cmp.Or(cmp.Compare(a.Sub, b.Sub), cmp.Compare(a.Class, b.Class))
}

// Load returns the relations that users may see, with what they refer to. It drops relations whose evidence is gone or does not match filter.
func (r *Reader) Load(rels []*backend.Relation, filter backend.Filter) ([]Link, error) {
	ls, err := r.resolve(r.link(rels), filter)
	if err != nil || !r.restricted() {
		return ls, err
	}
	told := make([]*Link, len(ls))
	for i := range ls {
		told[i] = &ls[i]
	}
	return ls, r.showVisible(told)
}

// link returns links for the relations that are shown to users, with nothing resolved yet.
func (r *Reader) link(rels []*backend.Relation) []Link {
	out := take(&r.links, len(rels))[:0]
	for _, rel := range rels {
		if rel.Origin != pipeline.OriginOpposite && rel.From != rel.To { // a relation between two names of one entity says nothing
			out = append(out, Link{Relation: rel, Restored: r.restoredAt(rel), ids: &r.ids})
		}
	}
	return out
}

// resolve reads what links refer to and drops links whose evidence is gone or does not match filter.
func (r *Reader) resolve(ls []Link, filter backend.Filter) ([]Link, error) {
	for i := range ls {
		r.refer(&ls[i])
	}
	if err := r.fetch(); err != nil {
		return nil, err
	}
	kept := 0
	for i := range ls { // links are large: only those behind a dropped one move
		if !ls[i].visible(filter) {
			continue
		}
		if kept < i {
			ls[kept] = ls[i]
		}
		kept++
	}
	clear(ls[kept:])
	return ls[:kept], nil
}

// refer registers what a link refers to, for fetch to read.
func (r *Reader) refer(l *Link) {
	r.meet()
	last := &r.last
	l.Subject, l.Target = r.entityAfter(l.From), r.entityAfter(l.To)
	if last.proof == nil || last.chunk != l.Chunk {
		if last.proof = r.chunks.get(l.Chunk); last.proof == nil {
			last.proof = r.chunks.add(l.Chunk)
		}
		last.chunk = l.Chunk
	}
	l.Proof = last.proof
	last.from, last.to, last.subject, last.target = l.From, l.To, l.Subject, l.Target
}

// referred is what the last link refers to; the next link mostly shares some of it.
type referred struct {
	from, to, chunk int64
	subject, target *Entity
	proof           *Row
}

// entityAfter is like entity, but first checks whether the last link refers to num.
func (r *Reader) entityAfter(num int64) *Entity {
	switch num {
	case r.last.from:
		return r.last.subject
	case r.last.to:
		return r.last.target
	}
	return r.entity(num)
}

// entity returns the entity with a number, which fetch fills in; nil for 0.
func (r *Reader) entity(num int64) *Entity {
	if num == 0 {
		return nil
	}
	if e := r.entities.get(num); e != nil {
		return e
	}
	return r.entities.add(num)
}

// fetch reads the entities and chunks that were registered since the last call.
func (r *Reader) fetch() error {
	if nums := r.chunks.nums[r.fetched.chunks:]; len(nums) > 0 {
		rows, err := r.store.Chunks(r.ctx, nums, r.now)
		if err != nil {
			return err
		}
		hidden, err := item.Hidden(r.ctx, r.store, r.visible, rows)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if !hidden[row.Src.Num] {
				r.chunks.get(row.Num).Row = row
			}
		}
		r.fetched.chunks += len(nums)
	}
	if nums := r.entities.nums[r.fetched.entities:]; len(nums) > 0 {
		es, err := r.store.Entities(r.ctx, nums)
		if err != nil {
			return err
		}
		for i, e := range es {
			if r.view != nil {
				if own := r.view.row(nums[i]); own != nil { // the caller folds names differently
					e = own
				}
			}
			if e != nil { // the entity that num was folded into, if any
				r.ids.show(r.entities.values[r.fetched.entities+i], e)
			}
		}
		r.fetched.entities += len(nums)
	}
	return nil
}

// visible reports whether the evidence of a resolved link exists and matches filter.
func (l *Link) visible(filter backend.Filter) bool {
	return l.Proof.Row != nil && loaded(l.Subject) && item.Live(filter, l.Proof.Row.Src.Tags)
}

// loaded reports whether the entity was found.
func loaded(e *Entity) bool { return e != nil && e.ID != "" }

// Show returns an entity as users see it.
func Show(e *backend.Entity) (out Entity) {
	new(idRoom).show(&out, e)
	return out
}

// show sets out, which must be zero, to an entity as users see it.
func (ids *idRoom) show(out *Entity, e *backend.Entity) {
	out.ID, out.Name, out.Type = ids.id("ent_", e.Num), lowerName(e), e.Type
	out.Namespace, out.Identifier, _ = item.Identified(e.Key)
	if out.Name == "" {
		out.Name = item.ShownKey(e.Key)
	}
	if out.Type == "" {
		out.Type = noType
	}
	if out.Namespace == "" {
		if out.Namespace = e.Namespace; out.Namespace == "" {
			out.Namespace = "default"
		}
	}
}

// lowerName returns the name in lower case. It returns the key itself where they are equal, to avoid a copy.
func lowerName(e *backend.Entity) string {
	if len(e.Name) == len(e.Key) {
		i := 0
		for i < len(e.Name) {
			c := e.Name[i]
			if c >= 'A' && c <= 'Z' {
				c |= 0x20
			}
			if c != e.Key[i] || c >= utf8.RuneSelf {
				break
			}
			i++
		}
		if i == len(e.Name) {
			return e.Key
		}
	}
	return strings.ToLower(e.Name)
}

// idRoom is a buffer that ids share, because a recall shows dozens of them. Written bytes never change.
type idRoom struct{ texts []byte }

// longestID is the maximum length of an id in bytes: a prefix of four and a number.
const longestID = 4 + 20

// id returns prefix followed by n.
func (ids *idRoom) id(prefix string, n int64) string {
	if room := cap(ids.texts); room-len(ids.texts) < longestID {
		ids.texts = make([]byte, 0, max(longestID, min(8*room, 512))) // the first buffer is small, for callers that need a single id
	}
	from := len(ids.texts)
	ids.texts = strconv.AppendInt(append(ids.texts, prefix...), n, 10)
	return unsafe.String(&ids.texts[from], len(ids.texts)-from)
}

// Object returns the entity at the end of a relation, or the literal of a fact.
func (l *Link) Object() Entity {
	if loaded(l.Target) {
		return *l.Target
	}
	return Entity{Name: l.objectName(), Type: noType, Namespace: "default"}
}

// objectName returns the name of Object.
func (l *Link) objectName() string {
	if loaded(l.Target) {
		return l.Target.Name
	}
	return strings.ToLower(l.Relation.Object)
}

// ID returns the id of the relation as users see it.
func (l *Link) ID() string { return l.ids.id("rel_", l.Num) }

// RelationID returns the id of a relation as users see it.
func RelationID(num int64) string { return new(idRoom).id("rel_", num) }

// Canonical returns the predicate as users see it.
func (l *Link) Canonical() string {
	if l.Retracts {
		return "no_longer_" + l.Predicate
	}
	return l.Predicate
}

// Prove fills e, which must be zero, with the evidence of the relation.
func (l *Link) Prove(e *facts.Evidence) {
	r := l.Relation
	e.ID, e.Canonical, e.Raw, e.Context, e.Confidence, e.Temporal = l.ID(), l.Canonical(), r.Raw, r.Context, confidence(r), r.Temporal
	e.Timestamp, e.ChunkID, e.SourceID, e.ValidFrom, e.ValidTo = r.KnownFrom, l.Proof.Row.Key, l.Subject.ID, r.ValidFrom, r.ValidTo
	e.Superseded = !r.KnownTo.IsZero() && !r.Retracts
	if e.Raw == "" {
		e.Raw = r.Predicate
	}
	if loaded(l.Target) {
		e.TargetID = l.Target.ID
	} else if r.To != 0 {
		e.TargetID = l.ids.id("ent_", r.To)
	}
	if r.Origin == originSupplied {
		e.Origin = r.Origin
	}
	if e.Timestamp.IsZero() {
		e.Timestamp = l.Proof.Row.Src.CreatedAt
	}
}

// originSupplied marks relations of a graph that was supplied with an item.
const originSupplied = "byog"

func confidence(r *backend.Relation) float64 {
	if r.Confidence == 0 {
		return defaultConfidence
	}
	return float64(r.Confidence)
}
