package httpapi

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/contextmem/contextmem"
)

// recallAnswer is a recall result in the shape of a generation. Most bytes that this package
// writes are its, so it is written without maps in between; members are sorted all
// the same. The graph context is empty where it was not asked for in the first
// generation, and left out in the second; the parts of scores are the second's.
type recallAnswer struct {
	res *contextmem.Result
	f   family
}

// appendTo appends the answer as JSON.
func (a recallAnswer) appendTo(b []byte) ([]byte, error) {
	w := writer{b: b}
	res := a.res
	w.raw(`{"additional_context":{`)
	for i, k := range slices.Sorted(maps.Keys(res.Additional)) {
		ch := res.Additional[k]
		w.comma(i)
		w.text(k)
		w.raw(":")
		w.chunk(&ch, false)
	}
	w.raw(`},"chunks":[`)
	for i := range res.Chunks {
		w.comma(i)
		w.chunk(&res.Chunks[i], a.f != gen1)
	}
	w.raw("]")
	if res.Graph != nil || a.f == gen1 {
		w.raw(`,"graph_context":`)
		w.graph(res.Graph)
	}
	w.raw(`,"sources":[`)
	for i := range res.Sources {
		w.comma(i)
		w.source(&res.Sources[i])
	}
	w.raw("]")
	if res.Temporal != nil {
		w.temporal(res.Temporal, len(res.Chunks))
	}
	if a.f == gen1 && len(res.Warnings) > 0 { // it has no meta to hold them
		w.raw(`,"warnings":`)
		w.value(warnings(res.Warnings))
	}
	w.raw("}")
	return w.b, w.err
}

// writer appends JSON. Names are constants that need no escapes.
type writer struct {
	b   []byte
	err error // of the first value that has no JSON form

	at       time.Time // written last, as b[from:to]
	from, to int

	last                 string // layout, written last as b[layoutFrom:layoutTo]
	layoutFrom, layoutTo int
}

func (w *writer) raw(s string) { w.b = append(w.b, s...) }

// comma separates element i from the one before it.
func (w *writer) comma(i int) {
	if i > 0 {
		w.b = append(w.b, ',')
	}
}

func (w *writer) text(s string) { w.b = appendString(w.b, s) }

// orNull writes a text, null when it is empty.
func (w *writer) orNull(s string) {
	if s == "" {
		w.raw("null")
		return
	}
	w.text(s)
}

func (w *writer) time(t time.Time) {
	if t.IsZero() {
		w.raw(`""`)
		return
	}
	if t == w.at {
		w.again(w.from, w.to)
		return
	}
	w.from = len(w.b)
	w.b = append(w.b, '"')
	w.b = t.UTC().AppendFormat(w.b, time.RFC3339Nano)
	w.b = append(w.b, '"')
	w.at, w.to = t, len(w.b)
}

// layout writes the layout of a chunk, all of which are often the same.
func (w *writer) layout(s string) {
	if s == w.last && s != "" {
		w.again(w.layoutFrom, w.layoutTo)
		return
	}
	w.last, w.layoutFrom = s, len(w.b)
	w.orNull(s)
	w.layoutTo = len(w.b)
}

// named writes members that are texts, each behind its name.
func (w *writer) named(pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		w.raw(pairs[i])
		w.text(pairs[i+1])
	}
}

func (w *writer) value(v any) {
	b, err := appendJSON(w.b, v)
	w.b = b
	w.fail(err)
}

func (w *writer) members(ms members) {
	b, err := appendMembers(w.b, ms)
	w.b = b
	w.fail(err)
}

func (w *writer) number(f float64) {
	b, err := appendFloat(w.b, f)
	w.b = b
	w.fail(err)
}

func (w *writer) score(f float64) {
	b, err := appendScore(w.b, f)
	w.b = b
	w.fail(err)
}

// confidence writes a number that is kept as a float32.
func (w *writer) confidence(f float64) {
	b, err := appendFloat32(w.b, float32(f))
	w.b = b
	w.fail(err)
}

func (w *writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// object writes a map, an absent one as {}.
func (w *writer) object(m map[string]any) {
	if len(m) == 0 {
		w.raw("{}")
		return
	}
	w.value(m)
}

func (w *writer) texts(list []string) {
	w.raw("[")
	for i, s := range list {
		w.comma(i)
		w.text(s)
	}
	w.raw("]")
}

// again writes the bytes once more that start at from and end at to.
func (w *writer) again(from, to int) { w.b = append(w.b, w.b[from:to]...) }

// chunk writes a chunk as both generations show it. Metadata have two names each.
func (w *writer) chunk(ch *contextmem.Chunk, explain bool) {
	w.raw(`{"additional_metadata":`)
	additional := len(w.b)
	w.object(ch.Additional)
	additionalEnd := len(w.b)
	if len(ch.AlsoFrom) > 0 {
		w.raw(`,"also_source_ids":`)
		w.texts(ch.AlsoFrom)
	}
	w.raw(`,"chunk_content":`)
	w.text(ch.Text)
	w.raw(`,"chunk_uuid":`)
	w.text(ch.ID)
	w.raw(`,"collection":`)
	w.text(ch.Sub)
	w.raw(`,"document_metadata":`)
	w.again(additional, additionalEnd)
	w.raw(`,"extra_context_ids":`)
	w.texts(ch.ExtraContextIDs)
	w.raw(`,"id":`)
	w.text(ch.SourceID)
	w.raw(`,"layout":`)
	w.layout(ch.Layout)
	w.raw(`,"metadata":`)
	metadata := len(w.b)
	w.object(ch.Metadata)
	metadataEnd := len(w.b)
	w.raw(`,"relevancy_score":`)
	w.score(ch.Score)
	if explain && ch.Explain != nil {
		w.raw(`,"score_parts":`)
		w.parts(ch.Explain)
	}
	w.raw(`,"source_id":`)
	w.text(ch.SourceID)
	w.raw(`,"source_last_updated_time":`)
	w.time(ch.UpdatedAt)
	w.raw(`,"source_title":`)
	w.text(ch.Title)
	w.raw(`,"source_type":`)
	w.text(ch.Kind)
	w.raw(`,"source_upload_time":`)
	w.time(ch.CreatedAt)
	w.raw(`,"sub_tenant_id":`)
	w.text(ch.Sub)
	w.raw(`,"tenant_metadata":`)
	w.again(metadata, metadataEnd)
	w.raw("}")
}

// parts writes the parts of a score that apply.
func (w *writer) parts(e *contextmem.Explain) {
	w.raw("{")
	n := 0
	for _, p := range [...]struct {
		name string
		v    float64
	}{{`"app":`, e.App}, {`"bridge":`, e.Bridge}, {`"context":`, e.Context}, {`"entity":`, e.Entity}, {`"expansion":`, e.Expansion},
		{`"feedback":`, e.Feedback}, {`"graph":`, e.Graph}, {`"keyword":`, e.Keyword}, {`"late_interaction":`, e.Late}, {`"recency":`, e.Recency},
		{`"rerank":`, e.Rerank}, {`"semantic":`, e.Semantic}, {`"speaker":`, e.Speaker}, {`"time":`, e.Time}} {
		if p.v == 0 {
			continue
		}
		w.comma(n)
		n++
		w.raw(p.name)
		w.score(p.v)
	}
	w.raw("}")
}

// source writes a source of a recall result.
func (w *writer) source(s *contextmem.SourceInfo) {
	w.raw(`{"additional_metadata":`)
	additional := len(w.b)
	w.object(s.Additional)
	additionalEnd := len(w.b)
	var app contextmem.AppInfo
	if s.App != nil {
		app = *s.App
	}
	w.raw(`,"app_external_id":`)
	w.orNull(app.ExternalID)
	w.raw(`,"app_kind":`)
	w.orNull(string(app.Kind))
	w.raw(`,"app_provider":`)
	w.orNull(app.Provider)
	w.raw(`,"collection":`)
	w.text(s.Sub)
	w.raw(`,"description":`)
	w.text(s.Description)
	w.raw(`,"document_metadata":`)
	w.again(additional, additionalEnd)
	w.raw(`,"id":`)
	w.text(s.ID)
	w.raw(`,"metadata":`)
	metadata := len(w.b)
	w.object(s.Metadata)
	metadataEnd := len(w.b)
	w.raw(`,"sub_tenant_id":`)
	w.text(s.Sub)
	w.raw(`,"tenant_metadata":`)
	w.again(metadata, metadataEnd)
	w.raw(`,"timestamp":`)
	w.time(firstTime(s.Timestamp, s.CreatedAt))
	w.raw(`,"title":`)
	w.text(s.Title)
	w.raw(`,"type":`)
	w.text(s.Kind)
	w.raw(`,"url":`)
	w.text(s.URL)
	w.raw("}")
}

func (w *writer) graph(g *contextmem.GraphContext) {
	if g == nil {
		w.raw(`{"chunk_id_to_group_ids":{},"chunk_relations":[],"query_paths":[]}`)
		return
	}
	w.raw(`{"chunk_id_to_group_ids":{`)
	for i, k := range slices.Sorted(maps.Keys(g.ChunkGroups)) {
		w.comma(i)
		w.text(k)
		w.raw(":")
		w.texts(g.ChunkGroups[k])
	}
	w.raw(`},"chunk_relations":`)
	w.paths(g.ChunkRelations)
	w.raw(`,"query_paths":`)
	w.paths(g.QueryPaths)
	w.raw(`,"synthesis_context":`)
	w.orNull(g.Synthesis)
	w.raw("}")
}

func (w *writer) paths(ps []contextmem.Path) {
	w.raw("[")
	for i := range ps {
		p := &ps[i]
		w.comma(i)
		w.raw(`{"combined_context":`)
		w.orNull(p.Context)
		w.raw(`,"group_id":`)
		w.orNull(p.GroupID)
		w.raw(`,"relevancy_score":`)
		w.score(p.Score)
		w.raw(`,"source_chunk_ids":`)
		w.texts(p.ChunkIDs)
		w.raw(`,"triplets":[`)
		for j := range p.Triplets {
			t := &p.Triplets[j]
			w.comma(j)
			w.raw(`{"relation":`)
			w.evidence(&t.Relation)
			w.raw(`,"source":`)
			w.entity(&t.Source)
			w.raw(`,"target":`)
			w.entity(&t.Target)
			w.raw("}")
		}
		w.raw("]}")
	}
	w.raw("]")
}

func (w *writer) entity(e *contextmem.Entity) {
	w.named(`{"entity_id":`, e.ID)
	w.raw(`,"identifier":`)
	w.orNull(e.Identifier)
	w.named(`,"name":`, e.Name, `,"namespace":`, e.Namespace, `,"provider":`, e.Provider, `,"type":`, e.Type)
	w.raw("}")
}

func (w *writer) evidence(e *contextmem.Evidence) {
	w.named(`{"canonical_predicate":`, e.Canonical, `,"chunk_id":`, e.ChunkID)
	w.raw(`,"confidence":`)
	w.confidence(e.Confidence)
	w.named(`,"context":`, e.Context)
	if e.Origin != "" {
		w.named(`,"origin":`, e.Origin)
	}
	w.named(`,"raw_predicate":`, e.Raw, `,"relationship_id":`, e.ID)
	w.raw(`,"source_entity_id":`)
	w.orNull(e.SourceID)
	w.raw(`,"target_entity_id":`)
	w.orNull(e.TargetID)
	w.raw(`,"temporal_details":`)
	w.orNull(e.Temporal)
	w.raw(`,"timestamp":`)
	w.time(e.Timestamp)
	w.raw("}")
}

// temporal writes the members of a result that speak of dated facts.
func (w *writer) temporal(t *contextmem.TemporalResult, chunks int) {
	if d := t.Duration; d != nil {
		w.raw(`,"temporal_duration":`)
		w.duration(d)
	}
	w.raw(`,"temporal_facts":[`)
	for i := range t.Facts {
		w.comma(i)
		w.fact(&t.Facts[i])
	}
	w.raw(`],"temporal_filter":{"applied":`)
	w.b = strconv.AppendBool(w.b, t.Applied)
	w.raw(`,"chunk_scope":`)
	w.int(int64(chunks))
	w.raw(`,"degraded":`)
	w.b = strconv.AppendBool(w.b, t.Degraded)
	w.raw(`,"matched_facts":`)
	w.int(int64(len(t.Facts)))
	w.raw(`,"mode":`)
	w.text(t.Mode)
	w.raw(`,"promoted":0,"scope":"","truncated":`)
	w.b = strconv.AppendBool(w.b, t.Truncated)
	w.raw("}")
}

func (w *writer) int(n int64) { w.b = strconv.AppendInt(w.b, n, 10) }

// duration writes a span between facts; an end that is now has no fact.
func (w *writer) duration(d *contextmem.TemporalDuration) {
	w.raw(`{"approximate":`)
	w.b = strconv.AppendBool(w.b, d.Approximate)
	w.raw(`,"days":`)
	w.int(int64(d.Days))
	if d.From != nil {
		w.raw(`,"from":`)
		w.fact(d.From)
	}
	w.raw(`,"from_date":`)
	w.time(d.FromDate)
	w.raw(`,"pairing_confidence":`)
	w.number(d.Confidence)
	if d.To != nil {
		w.raw(`,"to":`)
		w.fact(d.To)
	}
	w.raw(`,"to_date":`)
	w.time(d.ToDate)
	w.raw("}")
}

func (w *writer) fact(f *contextmem.TemporalFact) {
	w.named(`{"chunk_id":`, f.ChunkID, `,"date_precision":`, f.Precision)
	w.raw(`,"event_end":`)
	w.epoch(f.End)
	w.raw(`,"event_start":`)
	w.epoch(f.Start)
	w.named(`,"evidence_phrase":`, f.Phrase, `,"fact_type":`, f.Type, `,"object":`, f.Object, `,"relation":`, f.Relation,
		`,"relationship_id":`, f.RelationID, `,"source_id":`, f.SourceID, `,"status":`, f.Status, `,"subject":`, f.Subject)
	w.raw("}")
}

// epoch writes a time in seconds, null where it is unknown.
func (w *writer) epoch(t time.Time) {
	if t.IsZero() {
		w.raw("null")
		return
	}
	w.int(t.Unix())
}
