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

// Reader reads what relations refer to: entities, and the chunks that are their evidence. It reads each once. It is
// for one call, by one goroutine.
type Reader struct {
	ctx     context.Context
	store   backend.Store
	now     time.Time
	visible backend.Filter // what the caller may see; zero: everything
	hits    []Hit
	met     bool                           // the hits are among chunks
	fetched struct{ entities, chunks int } // how many were read, from the first on
	last    referred
	revived revived // what was restored
	ids     idRoom
	types   map[entityKey]string // as visible sources have them
	sight   *Sight               // nil: not needed yet
	scratch
}

// scratch is the memory of a reader, which the next one uses again.
type scratch struct {
	entities table[Entity]
	chunks   table[Row]
	links    []Link
	byPart   []PartChunks
	anchors  []anchors
	shown    []Path // of chunks
	chains   []Path // from the question
	best     []Path // of chains
	worths   []float64
	pairs    map[[2]int64]bool // of relations, the chains of two
	grams    []language.Gram   // of the question
	keys     []string          // of grams
	words    questionWords
}

// readers saves a recall with a graph context of a small tenant a quarter of its processor time.
var readers = sync.Pool{New: func() any { return new(Reader) }}

// maxScratch keeps the memory of a rare large graph from being kept.
const maxScratch = 1 << 11

// Release gives the memory of a reader, and of all that it returned, to later ones. Nothing of it may be used any more.
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
	*r = Reader{scratch: r.scratch}
	readers.Put(r)
}

// emptied returns the memory of a slice without what it held.
func emptied[T any](s []T) []T {
	clear(s)
	return s[:0]
}

// Row is a chunk that relations refer to.
type Row struct {
	Row   *backend.Hydrated // nil: not found, or not read yet
	hit   bool              // it is among the hits, with the score
	score float64
	shown int // of its relations, how many are shown
}

// Link is a relation with what it refers to.
type Link struct {
	*backend.Relation
	Subject, Target *Entity // nil: the relation has none
	Proof           *Row
	Restored        time.Time // when it was restored last, see RestoreFact; zero: it was not
	ids             *idRoom
}

// NewReader returns a reader that knows the hits of a recall, best first, if there is one. visible is the filter of what
// the caller may see at all. Expired evidence is left out as of now. The caller releases it.
func NewReader(ctx context.Context, st backend.Store, now time.Time, visible backend.Filter, hits []Hit) *Reader {
	r := readers.Get().(*Reader)
	r.ctx, r.store, r.now, r.visible, r.hits = ctx, st, now, visible, hits
	return r
}

// meet puts the hits among the chunks, before the first relation that may refer to one: most recalls find none with a date.
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

// Share makes the reader use the sight of its caller, of the same Store and filter, which others use too.
func (r *Reader) Share(s *Sight) { r.sight = s }

// seer returns the sight of the caller.
func (r *Reader) seer() *Sight {
	if r.sight == nil {
		r.sight = NewSight(r.store, r.now, r.visible)
	}
	return r.sight
}

// PartChunks is chunks of a partition.
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
		i := slices.IndexFunc(out, func(p PartChunks) bool { return p.Part == part }) // partitions are few
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

// compareParts orders partitions, so that answers are the same every time.
func compareParts(a, b backend.Partition) int {
	return cmp.Or(cmp.Compare(a.Sub, b.Sub), cmp.Compare(a.Class, b.Class))
}

// Load returns the relations that users may see, with what they refer to: those whose evidence is there and fits the
// filter.
func (r *Reader) Load(rels []*backend.Relation, filter backend.Filter) ([]Link, error) {
	ls, err := r.resolve(r.link(rels), filter)
	if err != nil || !r.restricted() {
		return ls, err
	}
	told := make([]*Link, len(ls))
	for i := range ls {
		told[i] = &ls[i]
	}
	return ls, r.retell(told)
}

// link returns the relations that are shown to users, with nothing that they refer to.
func (r *Reader) link(rels []*backend.Relation) []Link {
	out := take(&r.links, len(rels))[:0]
	for _, rel := range rels {
		if rel.Origin != pipeline.OriginOpposite && rel.From != rel.To { // names of one entity say nothing of each other
			out = append(out, Link{Relation: rel, Restored: r.restoredAt(rel), ids: &r.ids})
		}
	}
	return out
}

// resolve reads what links refer to and drops those whose evidence is not there or does not fit the filter.
func (r *Reader) resolve(ls []Link, filter backend.Filter) ([]Link, error) {
	for i := range ls {
		r.refer(&ls[i])
	}
	if err := r.fetch(); err != nil {
		return nil, err
	}
	ls = slices.DeleteFunc(ls, func(l Link) bool { return !l.visible(filter) })
	return ls, nil
}

// refer notes what a link refers to, for fetch to read.
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

// referred is what a link refers to: mostly the next one refers to some of it too.
type referred struct {
	from, to, chunk int64
	subject, target *Entity
	proof           *Row
}

// entityAfter is entity for what the last link may have referred to.
func (r *Reader) entityAfter(num int64) *Entity {
	switch num {
	case r.last.from:
		return r.last.subject
	case r.last.to:
		return r.last.target
	}
	return r.entity(num)
}

// entity returns an entity, which fetch reads; nil for 0.
func (r *Reader) entity(num int64) *Entity {
	if num == 0 {
		return nil
	}
	if e := r.entities.get(num); e != nil {
		return e
	}
	return r.entities.add(num)
}

// fetch reads what was referred to since the last call.
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
			if r.sight != nil {
				if own := r.sight.row(nums[i]); own != nil { // the caller sees other names of one entity
					e = own
				}
			}
			if e != nil { // the one that the number was folded into, if it was
				*r.entities.get(nums[i]) = r.ids.show(e)
			}
		}
		r.fetched.entities += len(nums)
	}
	return nil
}

// visible reports whether the evidence of a link that was read is there and fits the filter.
func (l *Link) visible(filter backend.Filter) bool {
	return l.Proof.Row != nil && loaded(l.Subject) && item.Live(filter, l.Proof.Row.Src.Tags)
}

// loaded reports whether the entity was found.
func loaded(e *Entity) bool { return e != nil && e.ID != "" }

// Show returns an entity as users see it.
func Show(e *backend.Entity) Entity { return new(idRoom).show(e) }

func (ids *idRoom) show(e *backend.Entity) Entity {
	out := Entity{ID: ids.id("ent_", e.Num), Name: lowerName(e), Type: e.Type}
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
	return out
}

// lowerName returns the name in lower case: the key itself where they are equal.
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

// idRoom is memory that ids share: a recall shows dozens of them. What was written is not written over.
type idRoom struct{ texts []byte }

// longestID is the most bytes that an id has: a prefix of four and a number.
const longestID = 4 + 20

// id returns a prefix with a number behind it.
func (ids *idRoom) id(prefix string, n int64) string {
	if room := cap(ids.texts); room-len(ids.texts) < longestID {
		ids.texts = make([]byte, 0, max(longestID, min(8*room, 512))) // a single id has little more than it needs
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

// objectName is the name of Object.
func (l *Link) objectName() string {
	if loaded(l.Target) {
		return l.Target.Name
	}
	return strings.ToLower(l.Relation.Object)
}

// ID returns the id of the relation as users see it.
func (l *Link) ID() string { return l.ids.id("rel_", l.Num) }

// RelationID is the id of a relation as users see it.
func RelationID(num int64) string { return new(idRoom).id("rel_", num) }

// Canonical returns the predicate as users see it.
func (l *Link) Canonical() string {
	if l.Retracts {
		return "no_longer_" + l.Predicate
	}
	return l.Predicate
}

// Prove sets e, which is zero, to what proves the relation.
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

// originSupplied marks relations of a graph that came with an item.
const originSupplied = "byog"

func confidence(r *backend.Relation) float64 {
	if r.Confidence == 0 {
		return defaultConfidence
	}
	return float64(r.Confidence)
}
