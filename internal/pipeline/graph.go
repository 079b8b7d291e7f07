package pipeline

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/placeindex"
)

func decodeLayout(b []byte) Layout {
	var l Layout
	_ = json.Unmarshal(b, &l) // an unreadable layout counts as offset 0
	return l
}

// Reading is the content of a blob of kind Usage: how the extractor read an item.
type Reading struct {
	*extract.Usage          // nil: no model was called
	Unheeded       []string `json:",omitempty"` // see extract.Output
}

// SuppliedGraph is a graph that the caller supplied with an item, instead of an extracted one.
type SuppliedGraph struct {
	Entities  []SuppliedEntity   `json:"e"`
	Relations []SuppliedRelation `json:"r"`
}

// SuppliedEntity is a node. Name is in lower case.
type SuppliedEntity struct {
	Name       string `json:"n"`
	Type       string `json:"t,omitempty"`
	Namespace  string `json:"s,omitempty"`
	Identifier string `json:"i,omitempty"`
}

// key returns the key of the identifier, which distinguishes entities with equal names. Without an identifier it returns the key of the name.
func (e *SuppliedEntity) key() string {
	if e.Identifier != "" {
		return item.IdentifiedKey(e.Namespace, e.Identifier)
	}
	return extract.Key(e.Name)
}

// suppliedName is the recorded reason for an alias from a name to an entity with an identifier.
const suppliedName = "named so in a supplied graph"

// SuppliedRelation is an edge between entities by index.
type SuppliedRelation struct {
	From      int    `json:"f"`
	To        int    `json:"o"`
	Predicate string `json:"p"`
	Context   string `json:"c,omitempty"`
	Temporal  string `json:"t,omitempty"`
}

// maxMentions bounds the mentions of one source, so that a hostile document can't fill the graph.
const maxMentions = 20000

// graphBuilder adds what was extracted from a job to what the job has finished.
type graphBuilder struct {
	j     *job
	f     *backend.Finished
	known time.Time         // when the statements became known: the time of the source
	text  int               // number of chunks of the text, which inferred statements follow
	types map[string]string // types of the mentions by key
	seen  placeindex.Index  // mentions by chunk and key
	said  placeindex.Index  // relations by what they state
}

// graphOf adds the graph that was extracted from a job, or supplied with it, to f.
func graphOf(j *job, f *backend.Finished) {
	if b := blob(j.Blobs, backend.Supplied); len(b) > 0 {
		suppliedGraph(j, b, f)
		return
	}
	if j.out == nil {
		return
	}
	b := graphBuilder{j: j, f: f, known: j.prep.time, text: len(j.prep.spans), types: map[string]string{}}
	if b.known.IsZero() {
		b.known = j.UpdatedAt
	}
	count := len(j.out.Mentions) + len(j.out.Facts)
	for _, m := range j.out.Mentions {
		if m.Chunk == extract.TitleChunk {
			count += b.text
		}
	}
	f.Mentions = make([]backend.Mention, 0, min(count, maxMentions))
	f.Relations = make([]backend.Relation, 0, len(j.out.Relations)+len(j.out.Facts))
	b.mentions()
	b.aliases()
	b.relations()
	b.facts()
}

// mentions adds the mentions of the text. One in the title applies to every chunk.
func (b *graphBuilder) mentions() {
	for _, m := range b.j.out.Mentions {
		if b.types[m.Key] == "" {
			b.types[m.Key] = m.Type
		}
		bm := backend.Mention{Key: m.Key, Name: m.Name, Type: m.Type, Weight: m.Weight}
		if m.Chunk == extract.TitleChunk {
			for i := range b.text {
				b.mention(i, bm)
			}
		} else if m.Chunk >= 0 && m.Chunk < b.text {
			b.mention(m.Chunk, bm)
		}
	}
}

// mention adds a mention to a chunk, or raises the weight of the one that the chunk has.
func (b *graphBuilder) mention(chunk int, m backend.Mention) {
	f := b.f
	if len(f.Mentions) >= maxMentions || m.Key == "" || len(m.Key) > 512 {
		return
	}
	m.Chunk = chunk
	hash := placeindex.Hash(int64(chunk), m.Key)
	if i := b.seen.Find(hash, func(i int) bool { return f.Mentions[i].Chunk == chunk && f.Mentions[i].Key == m.Key }); i >= 0 {
		f.Mentions[i].Weight = max(f.Mentions[i].Weight, m.Weight)
		return
	}
	b.seen.Add(hash, len(f.Mentions))
	f.Mentions = append(f.Mentions, m)
}

func (b *graphBuilder) aliases() {
	for _, a := range b.j.out.Aliases {
		if a.Name == "" || a.Of == "" {
			continue
		}
		reason := likelyAlias
		if !a.Likely {
			reason = clipped(a.Context)
		}
		b.f.Aliases = append(b.f.Aliases, backend.Alias{From: a.Name, Into: a.Of, Likely: a.Likely, Reason: reason, At: b.j.UpdatedAt})
	}
}

func (b *graphBuilder) relations() {
	for _, r := range b.j.out.Relations {
		if r.Source == "" || r.Target == "" || r.Chunk < 0 || r.Chunk >= b.text {
			continue
		}
		rel := backend.Relation{Chunk: int64(r.Chunk), FromKey: r.Source, ToKey: r.Target, Predicate: r.Predicate, Raw: r.Raw, Context: r.Context,
			Confidence: r.Confidence, Temporal: r.Temporal, Precision: r.Precision, ValidFrom: r.ValidFrom, ValidTo: r.ValidTo,
			Asserted: r.Asserted, Functional: r.Functional && !r.Negated, Retracts: r.Retracts}
		if r.Negated && !r.Retracts {
			rel.Predicate = negated(rel.Predicate)
		}
		b.add(&rel)
	}
}

// facts adds the inferred statements with their subjects, each to the chunk in which it begins.
func (b *graphBuilder) facts() {
	for _, x := range b.j.out.Facts {
		key := extract.Key(x.Subject)
		if key == "" {
			continue
		}
		at := 0
		for i, s := range b.j.prep.spans {
			if x.Start >= s.Start {
				at = i
			}
		}
		b.mention(at, backend.Mention{Key: key, Name: x.Subject, Type: cmp.Or(b.types[key], extract.TypePerson), Weight: extract.WeightText})
		rel := backend.Relation{Chunk: int64(at), FromKey: key, Predicate: x.Predicate, Raw: x.Text, Context: x.Evidence,
			Confidence: x.Confidence, Origin: "inferred", Kind: x.Kind, Precision: x.Precision, ValidFrom: x.ValidFrom, ValidTo: x.ValidTo,
			Asserted: x.Asserted, Functional: x.Functional && !x.Negated && !x.Retracts, Retracts: x.Retracts}
		// The object of a fact becomes an entity, so that equal facts of different sources are connected.
		if k := extract.Key(x.Object); k != "" && len(k) <= maxObjectKey && k != key {
			rel.ToKey = k
		} else {
			rel.Object = x.Object
		}
		b.add(&rel)
	}
}

// add adds a relation and the retraction that it implies. If the same was stated before, that relation takes the kind and origin of r.
func (b *graphBuilder) add(r *backend.Relation) {
	f := b.f
	hash := placeindex.Hash(r.Chunk, r.FromKey, r.Predicate, r.ToKey, r.Object)
	if at := b.said.Find(hash, func(i int) bool { return sameStatement(&f.Relations[i], r) }); at >= 0 { // the fact was added as a relation already
		o := &f.Relations[at]
		o.Kind, o.Origin, o.Functional = r.Kind, r.Origin, o.Functional || r.Functional
		if o.ValidFrom.IsZero() && o.ValidTo.IsZero() {
			o.ValidFrom, o.ValidTo, o.Precision, o.Asserted = r.ValidFrom, r.ValidTo, r.Precision, r.Asserted
		}
		return
	}
	if r.KnownFrom = b.known; !r.Asserted.Before(b.known) {
		r.Asserted = time.Time{}
	}
	b.said.Add(hash, len(f.Relations))
	f.Relations = append(f.Relations, *r)
	if p := opposite(r); p != "" {
		f.Relations = append(f.Relations, backend.Relation{Chunk: r.Chunk, FromKey: r.FromKey, ToKey: r.ToKey, Object: r.Object, Predicate: p, Context: r.Context,
			Origin: OriginOpposite, KnownFrom: r.KnownFrom, Asserted: r.Asserted, Retracts: true})
	}
}

// likelyAlias is the recorded reason for an alias from a first name to a full name.
const likelyAlias = "the only full name with this first name"

// maxReason bounds the recorded reason of a merge, in bytes.
const maxReason = 512

// clipped returns at most maxReason bytes of a text, cut between characters.
func clipped(s string) string {
	if len(s) <= maxReason {
		return s
	}
	n := maxReason
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// OriginOpposite marks retractions that a statement implies: "dislikes tea" retracts "likes
// tea". They are not statements of their own.
const OriginOpposite = "opposite"

// maxObjectKey is the maximal length, in bytes, of the key of an object that becomes an entity.
const maxObjectKey = 96

// sameStatement reports whether two relations of one chunk state the same.
func sameStatement(a, b *backend.Relation) bool {
	return a.Chunk == b.Chunk && a.Retracts == b.Retracts && a.FromKey == b.FromKey && a.Predicate == b.Predicate && a.ToKey == b.ToKey && a.Object == b.Object
}

// negated returns the predicate of the negation of a statement.
func negated(predicate string) string {
	if predicate == "likes" {
		return "dislikes"
	}
	return extract.NotPrefix + strings.TrimPrefix(predicate, extract.NotPrefix)
}

// opposite returns the predicate that a statement retracts for the same subject and object, or
// "" if there is none.
func opposite(r *backend.Relation) string {
	positive, denied := strings.CutPrefix(r.Predicate, extract.NotPrefix)
	switch {
	case r.Retracts, r.Functional:
		return ""
	case denied:
		return positive
	case r.Predicate == "likes":
		return "dislikes"
	case r.Predicate == "dislikes":
		return "likes"
	case r.Kind == extract.KindPreference:
		return extract.NotPrefix + r.Predicate
	}
	return ""
}

// suppliedGraph adds the supplied graph to f. It attaches each relation to the chunk with which it has most words in common.
func suppliedGraph(j *job, b []byte, f *backend.Finished) {
	var g SuppliedGraph
	if json.Unmarshal(b, &g) != nil {
		return
	}
	known := j.Time
	if known.IsZero() {
		known = j.UpdatedAt
	}
	words := make([]map[string]bool, len(j.chunks()))
	for i, ch := range j.chunks() {
		words[i] = map[string]bool{}
		for _, w := range strings.Fields(strings.ToLower(ch.Text)) {
			words[i][strings.Trim(w, ".,;:!?()[]\"'")] = true
		}
	}
	best := func(texts ...string) int {
		at, most := 0, -1
		for i := range words {
			n := 0
			for _, t := range texts {
				for _, w := range strings.Fields(strings.ToLower(t)) {
					if words[i][w] {
						n++
					}
				}
			}
			if n > most {
				at, most = i, n
			}
		}
		return at
	}
	for _, r := range g.Relations {
		if r.From >= len(g.Entities) || r.To >= len(g.Entities) || r.From < 0 || r.To < 0 {
			continue
		}
		a, z := g.Entities[r.From], g.Entities[r.To]
		at := best(a.Name, z.Name, r.Context, strings.ReplaceAll(r.Predicate, "_", " "))
		for _, e := range []SuppliedEntity{a, z} {
			key, name := e.key(), extract.Key(e.Name)
			f.Mentions = append(f.Mentions, backend.Mention{Chunk: at, Key: key, Name: e.Name, Type: e.Type, Weight: extract.WeightText})
			if key == name || name == "" {
				continue
			}
			// The name is mentioned too. It is an alias of the entity as long as no other entity has that name.
			f.Mentions = append(f.Mentions, backend.Mention{Chunk: at, Key: name, Name: e.Name, Type: e.Type, Weight: extract.WeightText})
			if alias := (backend.Alias{From: name, Into: key, Reason: suppliedName, At: j.UpdatedAt}); !slices.Contains(f.Aliases, alias) {
				f.Aliases = append(f.Aliases, alias)
			}
		}
		f.Relations = append(f.Relations, backend.Relation{Chunk: int64(at), FromKey: a.key(), ToKey: z.key(),
			Predicate: r.Predicate, Raw: r.Predicate, Context: r.Context, Confidence: .8, Temporal: r.Temporal, Origin: "byog", KnownFrom: known})
	}
}

func (j *job) chunks() []backend.Chunk {
	if j.prep != nil && len(j.prep.chunks) > 0 {
		return j.prep.chunks
	}
	return j.Chunks
}
