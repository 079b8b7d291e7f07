package pipeline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/extract"
)

func decodeLayout(b []byte) Layout {
	var l Layout
	_ = json.Unmarshal(b, &l) // ours; an unreadable one counts as offset 0
	return l
}

// IsInferred tells whether a chunk with this layout holds inferred statements.
func IsInferred(layout []byte) bool {
	return bytes.Contains(layout, []byte(`"inferred":true`))
}

// SuppliedGraph is a graph that came with an item instead of being extracted.
type SuppliedGraph struct {
	Entities  []SuppliedEntity   `json:"e"`
	Relations []SuppliedRelation `json:"r"`
}

// SuppliedEntity is a node; Name is lower case.
type SuppliedEntity struct {
	Name       string `json:"n"`
	Type       string `json:"t,omitempty"`
	Namespace  string `json:"s,omitempty"`
	Identifier string `json:"i,omitempty"`
}

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

// graphOf puts what was extracted from a job, or supplied with it, into f.
func graphOf(j *job, f *backend.Finished) {
	if b := blob(j.Blobs, backend.Supplied); len(b) > 0 {
		suppliedGraph(j, b, f)
		return
	}
	if j.out == nil {
		return
	}
	known := j.prep.time
	if known.IsZero() {
		known = j.UpdatedAt
	}
	text := len(j.prep.spans) // chunks of the text; inferred ones follow
	type spot struct {
		key   string
		chunk int
	}
	seen := map[spot]int{}
	mention := func(chunk int, m backend.Mention) {
		if len(f.Mentions) >= maxMentions || m.Key == "" || len(m.Key) > 512 {
			return
		}
		m.Chunk = chunk
		if i, ok := seen[spot{m.Key, chunk}]; ok {
			f.Mentions[i].Weight = max(f.Mentions[i].Weight, m.Weight)
			return
		}
		seen[spot{m.Key, chunk}] = len(f.Mentions)
		f.Mentions = append(f.Mentions, m)
	}
	for _, m := range j.out.Mentions {
		bm := backend.Mention{Key: m.Key, Name: m.Name, Type: m.Type, Weight: m.Weight}
		if m.Chunk == extract.TitleChunk {
			for i := range text {
				mention(i, bm)
			}
		} else if m.Chunk >= 0 && m.Chunk < text {
			mention(m.Chunk, bm)
		}
	}
	functional := map[[2]string]bool{} // subject and predicate of which a newer statement retires an older one
	for _, x := range j.out.Facts {
		if x.Functional && !x.Negated {
			functional[[2]string{extract.Key(x.Subject), x.Predicate}] = true
		}
	}
	for _, r := range j.out.Relations {
		if r.Source == "" || r.Target == "" || r.Chunk < 0 || r.Chunk >= text {
			continue
		}
		rel := backend.Relation{Chunk: int64(r.Chunk), FromKey: r.Source, ToKey: r.Target, Predicate: r.Predicate, Raw: r.Raw, Context: r.Context,
			Confidence: r.Confidence, Temporal: r.Temporal, Precision: r.Precision, ValidFrom: r.ValidFrom, ValidTo: r.ValidTo, KnownFrom: known,
			Functional: !r.Negated && functional[[2]string{r.Source, r.Predicate}]}
		if r.Negated {
			rel.Predicate = "not_" + strings.TrimPrefix(rel.Predicate, "not_")
		}
		f.Relations = append(f.Relations, rel)
	}
	types := map[string]string{}
	for _, m := range j.out.Mentions {
		if types[m.Key] == "" {
			types[m.Key] = m.Type
		}
	}
	for _, x := range j.out.Facts {
		key := extract.Key(x.Subject)
		if key == "" {
			continue
		}
		at := 0
		for i, s := range j.prep.spans {
			if x.Start >= s.Start {
				at = i
			}
		}
		mention(at, backend.Mention{Key: key, Name: x.Subject, Type: cmp.Or(types[key], extract.TypePerson), Weight: extract.WeightText})
		to := ""
		if k := extract.Key(x.Object); k != "" && len(k) <= 512 {
			if _, ok := seen[spot{k, at}]; ok {
				to = k
			}
		}
		f.Relations = append(f.Relations, backend.Relation{Chunk: int64(at), FromKey: key, ToKey: to, Predicate: x.Predicate, Raw: x.Text, Context: x.Evidence,
			Confidence: x.Confidence, Origin: "inferred", Kind: x.Kind, Object: x.Object, Precision: x.Precision, ValidFrom: x.ValidFrom, ValidTo: x.ValidTo,
			KnownFrom: known, Functional: x.Functional, Retracts: x.Retracts})
	}
}

// suppliedGraph attaches each supplied relation to the chunk that shares most words with it.
func suppliedGraph(j *job, b []byte, f *backend.Finished) {
	var g SuppliedGraph
	if json.Unmarshal(b, &g) != nil {
		return
	}
	known := j.Time
	if known.IsZero() {
		known = time.Now().UTC()
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
			f.Mentions = append(f.Mentions, backend.Mention{Chunk: at, Key: extract.Key(e.Name), Name: e.Name, Type: e.Type, Weight: extract.WeightText})
		}
		f.Relations = append(f.Relations, backend.Relation{Chunk: int64(at), FromKey: extract.Key(a.Name), ToKey: extract.Key(z.Name),
			Predicate: r.Predicate, Raw: r.Predicate, Context: r.Context, Confidence: .8, Temporal: r.Temporal, Origin: "byog", KnownFrom: known})
	}
}

func (j *job) chunks() []backend.Chunk {
	if j.prep != nil && len(j.prep.chunks) > 0 {
		return j.prep.chunks
	}
	return j.Chunks
}
