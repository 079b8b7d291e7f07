package llm

import (
	"sort"
	"strings"

	"github.com/contextmem/contextmem/extract"
)

// merge combines a model's answer with the fallback's output. The answer's relations and facts replace those of the fallback. Its
// entities are added to the mentions, and their types override those of existing mentions.
func merge(in *extract.Input, out *extract.Output, a *itemAnswer) {
	byKey := make(map[string][]int, len(out.Mentions))
	for i := range out.Mentions {
		byKey[out.Mentions[i].Key] = append(byKey[out.Mentions[i].Key], i)
	}
	for i := range a.entities {
		e := &a.entities[i]
		at, ok := byKey[e.key]
		for _, k := range at {
			m := &out.Mentions[k]
			m.Type, m.Weak, m.Part, m.Phrase = *e.Type, false, false, false
		}
		if !ok {
			byKey[e.key] = []int{len(out.Mentions)}
			m := extract.Mention{Name: *e.Name, Key: e.key, Type: *e.Type, Weight: extract.WeightText, Chunk: chunkAt(in.Chunks, e.start), Start: e.start, End: e.end}
			if e.inTitle {
				m.Chunk = extract.TitleChunk
			}
			out.Mentions = append(out.Mentions, m)
		}
	}
	out.Relations = make([]extract.Relation, 0, len(a.relations))
	for i := range a.relations {
		r := &a.relations[i]
		raw := *r.Predicate
		if filled(r.Raw, maxName) {
			raw = *r.Raw
		}
		out.Relations = append(out.Relations, extract.Relation{Source: extract.Key(*r.Source), Target: extract.Key(*r.Target), Predicate: predicate(*r.Predicate), Raw: raw,
			Context: in.Text[r.start:r.end], Confidence: float32(*r.Confidence), Temporal: temporal(r.ValidFrom, r.ValidTo), ValidFrom: r.from, ValidTo: r.to,
			Precision: r.prec, Chunk: chunkAt(in.Chunks, r.start), Negated: r.Negated != nil && *r.Negated})
	}
	if !in.Infer {
		return
	}
	out.Unheeded = nil // the model received all instructions
	out.Facts = make([]extract.Fact, 0, len(a.facts))
	for i := range a.facts {
		f := &a.facts[i]
		negated, name := f.Negated != nil && *f.Negated, predicate(*f.Predicate)
		if negated && !strings.HasPrefix(name, extract.NotPrefix) {
			name = extract.NotPrefix + name
		}
		out.Facts = append(out.Facts, extract.Fact{Subject: *f.Subject, Predicate: name, Object: *f.Object, Kind: *f.Kind, Text: strings.TrimSpace(*f.Text),
			Confidence: float32(*f.Confidence), Time: in.Time, ValidFrom: f.from, ValidTo: f.to, Precision: f.prec, Evidence: in.Text[f.start:f.end], Start: f.start, End: f.end,
			Functional: f.Functional != nil && *f.Functional, Retracts: f.Retracts != nil && *f.Retracts, Negated: negated})
	}
}

// temporal formats a relation's bounds.
func temporal(from, to *string) string {
	var parts []string
	if from != nil && *from != "" {
		parts = append(parts, "from "+*from)
	}
	if to != nil && *to != "" {
		parts = append(parts, "to "+*to)
	}
	return strings.Join(parts, " ")
}

// chunkAt returns the last chunk that begins at or before off.
func chunkAt(chunks []extract.Span, off int) int {
	return max(0, sort.Search(len(chunks), func(i int) bool { return chunks[i].Start > off })-1)
}
