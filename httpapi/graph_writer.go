package httpapi

import "github.com/contextmem/contextmem"

// graphWriter caches the written JSON of parts of the graph context, since many parts are repeated. The entities that a question names are in
// most paths, and a path of one relation contains its sentence twice.
type graphWriter struct {
	source, target writtenEntity
	confidence     float64
	confidenceAt   span
	chunk          string
	chunkAt        span
}

// span is the written range b[from:to].
type span struct{ from, to int }

// writtenEntity is an entity of the result together with the range in which it was written.
type writtenEntity struct {
	is *contextmem.Entity // nil: none yet
	at span
}

func (w *writer) graph(b []byte, g *contextmem.GraphContext) []byte {
	if g == nil {
		return append(b, `{"chunk_id_to_group_ids":{},"chunk_relations":[],"query_paths":[]}`...)
	}
	b = append(b, `{"chunk_id_to_group_ids":{`...)
	var room [32]string
	for i, k := range sortedKeys(room[:0], g.ChunkGroups) {
		b = append(appendString(comma(b, i), k), ':')
		b = appendTexts(b, g.ChunkGroups[k])
	}
	b = w.paths(append(b, `},"chunk_relations":[`...), g.ChunkRelations)
	b = w.paths(append(b, `],"query_paths":[`...), g.QueryPaths)
	b = textOrNull(append(b, `],"synthesis_context":`...), g.Synthesis)
	return append(b, '}')
}

func (w *writer) paths(b []byte, ps []contextmem.Path) []byte {
	for i := range ps {
		p := &ps[i]
		b = append(comma(b, i), `{"combined_context":`...)
		context := len(b)
		b = textOrNull(b, p.Context)
		contextEnd := len(b)
		b = textOrNull(append(b, `,"group_id":`...), p.GroupID)
		b = w.score(append(b, `,"relevancy_score":`...), p.Score)
		b = append(b, `,"source_chunk_ids":[`...)
		for j, id := range p.ChunkIDs {
			b = append(w.chunkID(append(comma(b, j), '"'), id), '"')
		}
		b = append(b, `],"triplets":[`...)
		for j := range p.Triplets {
			t := &p.Triplets[j]
			b = append(comma(b, j), `{"relation":`...)
			if t.Relation.Context == p.Context && p.Context != "" {
				b = w.evidence(b, &t.Relation, span{context, contextEnd})
			} else {
				b = w.evidence(b, &t.Relation, span{})
			}
			b = w.inGraph.source.write(append(b, `,"source":`...), &t.Source)
			b = w.inGraph.target.write(append(b, `,"target":`...), &t.Target)
			b = append(b, '}')
		}
		b = append(b, "]}"...)
	}
	return b
}

// write appends an entity.
func (w *writtenEntity) write(b []byte, e *contextmem.Entity) []byte {
	if w.is != nil && *e == *w.is {
		return append(b, b[w.at.from:w.at.to]...)
	}
	w.is, w.at.from = e, len(b)
	b = appendText(append(b, `{"entity_id":"`...), e.ID)
	if e.Identifier == "" {
		b = append(b, `","identifier":null,"name":"`...)
	} else {
		b = append(appendString(append(b, `","identifier":`...), e.Identifier), `,"name":"`...)
	}
	b = appendText(b, e.Name)
	if e.Namespace == "default" && e.Provider == "" { // most entities are like this
		b = append(b, `","namespace":"default","provider":"","type":"`...)
	} else {
		b = appendText(append(b, `","namespace":"`...), e.Namespace)
		b = append(appendText(append(b, `","provider":"`...), e.Provider), `","type":"`...)
	}
	b = appendText(b, e.Type)
	b = append(b, `"}`...)
	w.at.to = len(b)
	return b
}

// evidence appends evidence. context is the range in which its sentence was already written, if any.
func (w *writer) evidence(b []byte, e *contextmem.Evidence, context span) []byte {
	b = append(b, `{"canonical_predicate":"`...)
	predicate := span{from: len(b)}
	b = appendText(b, e.Canonical)
	predicate.to = len(b)
	b = w.chunkID(append(b, `","chunk_id":"`...), e.ChunkID)
	b = w.appendConfidence(append(b, `","confidence":`...), e.Confidence)
	b = append(b, `,"context":`...)
	if context.to > 0 {
		b = append(b, b[context.from:context.to]...)
	} else {
		b = appendString(b, e.Context)
	}
	if e.Origin != "" {
		b = appendString(append(b, `,"origin":`...), e.Origin)
	}
	b = append(b, `,"raw_predicate":"`...)
	if e.Raw == e.Canonical {
		b = append(b, b[predicate.from:predicate.to]...)
	} else {
		b = appendText(b, e.Raw)
	}
	b = appendText(append(b, `","relationship_id":"`...), e.ID)
	b = textOrNull(append(b, `","source_entity_id":`...), e.SourceID)
	b = textOrNull(append(b, `,"target_entity_id":`...), e.TargetID)
	b = textOrNull(append(b, `,"temporal_details":`...), e.Temporal)
	b = w.time(append(b, `,"timestamp":`...), e.Timestamp)
	if e.ToldLater {
		b = append(b, `,"told_later":true`...)
	}
	return append(b, '}')
}

// chunkID appends the id of a chunk without quotes. It reuses the previous output, since consecutive relations mostly share a chunk.
func (w *writer) chunkID(b []byte, id string) []byte {
	if at := w.inGraph.chunkAt; at.to > 0 && id == w.inGraph.chunk {
		return append(b, b[at.from:at.to]...)
	}
	w.inGraph.chunk, w.inGraph.chunkAt.from = id, len(b)
	b = appendText(b, id)
	w.inGraph.chunkAt.to = len(b)
	return b
}

// appendConfidence appends a confidence, which is stored as a float32.
func (w *writer) appendConfidence(b []byte, f float64) []byte {
	if w.inGraph.confidenceAt.to > 0 && f == w.inGraph.confidence {
		return append(b, b[w.inGraph.confidenceAt.from:w.inGraph.confidenceAt.to]...)
	}
	w.inGraph.confidence, w.inGraph.confidenceAt.from = f, len(b)
	b, err := appendFloat(b, float64(float32(f)), 32)
	w.fail(err)
	w.inGraph.confidenceAt.to = len(b)
	return b
}
