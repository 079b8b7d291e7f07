package httpapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/wire"
)

func epochJSON(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.Unix()
}

// chunkJSON returns a chunk as both generations encode it.
func chunkJSON(ch *contextmem.Chunk, explain bool) map[string]any {
	m := map[string]any{
		"chunk_uuid": ch.ID, "id": ch.SourceID, "source_id": ch.SourceID, "chunk_content": ch.Text, "source_type": ch.Kind, "source_title": ch.Title,
		"source_upload_time": wire.Time(ch.CreatedAt), "source_last_updated_time": wire.Time(ch.UpdatedAt), "layout": wire.Null(ch.Layout),
		"relevancy_score": score(ch.Score), "metadata": orEmpty(ch.Metadata), "additional_metadata": orEmpty(ch.Additional),
		"tenant_metadata": orEmpty(ch.Metadata), "document_metadata": orEmpty(ch.Additional), "extra_context_ids": orNone(ch.ExtraContextIDs),
		"collection": ch.Sub, "sub_tenant_id": ch.Sub,
	}
	if len(ch.AlsoFrom) > 0 {
		m["also_source_ids"] = ch.AlsoFrom
	}
	if len(ch.Statements) > 0 {
		m["statements"] = ch.Statements
	}
	if s := ch.SupersededBy; s != nil {
		m["superseded_by"] = map[string]any{"id": s.ID, "time": wire.Time(s.Time), "confidence": score(s.Confidence), "matter": s.Matter, "evidence": s.Evidence, "decider": s.Decider}
		if s.Partly {
			m["superseded_by"].(map[string]any)["partly"] = true
		} else {
			m["valid_to"] = wire.Time(ch.ValidTo)
		}
		if ch.Retracted {
			m["retracted"] = true
		}
	}
	if ch.SupersededBy != nil || explain && !ch.ValidFrom.IsZero() {
		m["valid_from"] = wire.Time(ch.ValidFrom)
	}
	if explain && ch.Explain != nil {
		m["relevance"] = score(ch.Relevance)
		m["score_parts"] = scoreParts(ch.Explain)
	}
	return m
}

// scoreParts returns the parts of a score that apply.
func scoreParts(e *contextmem.Explain) map[string]any {
	m := map[string]any{}
	for _, p := range [...]struct {
		name string
		v    float64
	}{{"semantic", e.Semantic}, {"keyword", e.Keyword}, {"context", e.Context}, {"speaker", e.Speaker}, {"time", e.Time}, {"entity", e.Entity}, {"graph", e.Graph},
		{"bridge", e.Bridge}, {"expansion", e.Expansion}, {"late_interaction", e.Late}, {"rerank", e.Rerank}, {"app", e.App}, {"recency", e.Recency}, {"feedback", e.Feedback}, {"succession", e.Succession}} {
		if p.v != 0 {
			m[p.name] = score(p.v)
		}
	}
	return m
}

// sourceJSON returns a source of a recall result.
func sourceJSON(s *contextmem.SourceInfo) map[string]any {
	m := map[string]any{
		"id": s.ID, "title": s.Title, "type": s.Kind, "description": s.Description, "url": s.URL, "timestamp": wire.Time(firstTime(s.Timestamp, s.CreatedAt)),
		"metadata": orEmpty(s.Metadata), "additional_metadata": orEmpty(s.Additional), "tenant_metadata": orEmpty(s.Metadata), "document_metadata": orEmpty(s.Additional),
		"app_kind": nil, "app_provider": nil, "app_external_id": nil, "collection": s.Sub, "sub_tenant_id": s.Sub,
	}
	if s.App != nil {
		m["app_kind"], m["app_provider"], m["app_external_id"] = wire.Null(string(s.App.Kind)), wire.Null(s.App.Provider), wire.Null(s.App.ExternalID)
	}
	return m
}

// resultJSON returns a recall result. A graph context that was not requested is empty in the first generation, and left
// out in the second.
func resultJSON(res *contextmem.Result, f family) map[string]any {
	chunks := make([]map[string]any, len(res.Chunks))
	for i := range res.Chunks {
		chunks[i] = chunkJSON(&res.Chunks[i], f != gen1)
	}
	sources := make([]map[string]any, len(res.Sources))
	for i := range res.Sources {
		sources[i] = sourceJSON(&res.Sources[i])
	}
	additional := make(map[string]any, len(res.Additional))
	for k, ch := range res.Additional {
		additional[k] = chunkJSON(&ch, false)
	}
	m := map[string]any{"chunks": chunks, "sources": sources, "additional_context": additional}
	if f == gen1 && len(res.Warnings) > 0 { // it has no meta to hold them
		m["warnings"] = warnings(res.Warnings)
	}
	if res.Graph != nil || f == gen1 {
		m["graph_context"] = graphJSON(res.Graph)
	}
	if t := res.Temporal; t != nil {
		fact := func(x contextmem.TemporalFact) map[string]any {
			return map[string]any{"subject": x.Subject, "relation": x.Relation, "object": x.Object, "fact_type": x.Type, "status": x.Status, "event_start": epochJSON(x.Start),
				"event_end": epochJSON(x.End), "date_precision": x.Precision, "evidence_phrase": x.Phrase, "chunk_id": x.ChunkID, "source_id": x.SourceID, "relationship_id": x.RelationID}
		}
		facts := make([]map[string]any, len(t.Facts))
		for i, x := range t.Facts {
			facts[i] = fact(x)
		}
		m["temporal_facts"] = facts
		m["temporal_filter"] = map[string]any{"applied": t.Applied, "mode": t.Mode, "matched_facts": len(t.Facts), "chunk_scope": len(res.Chunks), "promoted": 0,
			"scope": "", "truncated": t.Truncated, "degraded": t.Degraded}
		if d := t.Duration; d != nil {
			span := map[string]any{"days": d.Days, "from_date": wire.Time(d.FromDate), "to_date": wire.Time(d.ToDate), "approximate": d.Approximate, "pairing_confidence": d.Confidence}
			if d.From != nil {
				span["from"] = fact(*d.From)
			}
			if d.To != nil {
				span["to"] = fact(*d.To)
			}
			m["temporal_duration"] = span
		}
	}
	return m
}

func graphJSON(g *contextmem.GraphContext) map[string]any {
	if g == nil {
		return map[string]any{"query_paths": []any{}, "chunk_relations": []any{}, "chunk_id_to_group_ids": map[string]any{}}
	}
	groups := g.ChunkGroups
	if groups == nil {
		groups = map[string][]string{}
	}
	return map[string]any{"query_paths": pathsJSON(g.QueryPaths), "chunk_relations": pathsJSON(g.ChunkRelations), "chunk_id_to_group_ids": groups, "synthesis_context": wire.Null(g.Synthesis)}
}

func pathsJSON(ps []contextmem.Path) []map[string]any {
	out := make([]map[string]any, len(ps))
	for i, p := range ps {
		ts := make([]map[string]any, len(p.Triplets))
		for j, t := range p.Triplets {
			ts[j] = map[string]any{"source": wire.OfEntity(&t.Source), "relation": wire.OfEvidence(&t.Relation), "target": wire.OfEntity(&t.Target)}
		}
		out[i] = map[string]any{"triplets": ts, "relevancy_score": score(p.Score), "combined_context": wire.Null(p.Context), "group_id": wire.Null(p.GroupID), "source_chunk_ids": orNone(p.ChunkIDs)}
	}
	return out
}

// randomResult returns a result in which any field may be empty.
func randomResult(r *rand.Rand) *contextmem.Result {
	text := func() string {
		return []string{"", "plain", "quote \" and \\ line\nend", "grüße \u2028 <b>&</b>", "bad \xff utf8"}[r.IntN(5)]
	}
	at := func() time.Time {
		if r.IntN(3) == 0 {
			return time.Time{}
		}
		return time.Unix(r.Int64N(4e9), r.Int64N(1000)*1e6).In(time.FixedZone("x", 3600))
	}
	number := func() float64 {
		return []float64{0, 1, .1, 1e-7, -2.5e-9, 3e21, -.125, r.Float64(), 1e300, math.SmallestNonzeroFloat64}[r.IntN(10)]
	}
	object := func() map[string]any {
		if r.IntN(3) == 0 {
			return nil
		}
		m := map[string]any{}
		for i := range r.IntN(4) {
			m[fmt.Sprint(text(), i)] = []any{nil, true, json.Number("12.50"), text(), []any{1.5, text()}, map[string]any{"k": text()}}[r.IntN(6)]
		}
		return m
	}
	list := func() []string {
		var out []string
		for range r.IntN(3) {
			out = append(out, text())
		}
		return out
	}
	chunk := func() contextmem.Chunk {
		c := contextmem.Chunk{ID: text(), SourceID: text(), Sub: text(), Text: text(), Title: text(), Kind: text(), CreatedAt: at(), UpdatedAt: at(), Layout: text(),
			Score: number(), Relevance: number(), Metadata: object(), Additional: object(), ExtraContextIDs: list(), AlsoFrom: list()}
		if r.IntN(3) == 0 {
			c.SupersededBy = &contextmem.Supersession{ID: text(), Time: at(), Confidence: number(), Matter: text(), Evidence: text(), Decider: text()}
			c.ValidFrom, c.ValidTo, c.Retracted, c.Statements = at(), at(), r.IntN(2) == 0, list()
			if r.IntN(2) == 0 {
				c.SupersededBy.Partly, c.ValidTo, c.Retracted = true, time.Time{}, false
			}
		}
		if r.IntN(2) == 0 {
			c.Explain = &contextmem.Explain{Semantic: number(), Keyword: number(), Context: number(), Speaker: number(), Time: number(), Entity: number(), Graph: number(),
				Bridge: number(), Expansion: number(), Late: number(), Rerank: number(), App: number(), Recency: number(), Feedback: number(), Succession: number(), RawDense: number(), RawKeyword: number()}
		}
		return c
	}
	var last contextmem.Entity
	entity := func() contextmem.Entity {
		if r.IntN(2) == 0 { // many come again
			return last
		}
		last = contextmem.Entity{ID: text(), Name: text(), Type: text(), Namespace: text(), Identifier: text(), Provider: text()}
		return last
	}
	paths := func() []contextmem.Path {
		var out []contextmem.Path
		for range r.IntN(3) {
			p := contextmem.Path{Score: number(), Context: text(), GroupID: text(), ChunkIDs: list()}
			for range r.IntN(3) {
				p.Triplets = append(p.Triplets, contextmem.Triplet{Source: entity(), Target: entity(), Relation: contextmem.Evidence{ID: text(), Canonical: text(), Raw: text(),
					Context: text(), Confidence: float64([]float32{0, 1, .7, r.Float32()}[r.IntN(4)]), Temporal: text(), Timestamp: at(), ChunkID: text(), SourceID: text(), TargetID: text(), Origin: text()}})
			}
			out = append(out, p)
		}
		return out
	}
	res := &contextmem.Result{}
	for range r.IntN(4) {
		res.Chunks = append(res.Chunks, chunk())
	}
	for range r.IntN(4) {
		s := contextmem.SourceInfo{ID: text(), Sub: text(), Title: text(), Kind: text(), Description: text(), URL: text(), Timestamp: at(), CreatedAt: at(), Metadata: object(), Additional: object()}
		if r.IntN(2) == 0 {
			s.App = &contextmem.AppInfo{Kind: content.AppKind(text()), Provider: text(), ExternalID: text()}
		}
		res.Sources = append(res.Sources, s)
	}
	if r.IntN(2) == 0 {
		res.Additional = map[string]contextmem.Chunk{"b": chunk(), "a": chunk()}
	}
	if r.IntN(2) == 0 {
		res.Graph = &contextmem.GraphContext{QueryPaths: paths(), ChunkRelations: paths(), Synthesis: text()}
		if r.IntN(2) == 0 {
			res.Graph.ChunkGroups = map[string][]string{"c2": {"p_1", "p_2"}, "c1": {"p_0"}}
		}
	}
	for range r.IntN(3) {
		res.Warnings = append(res.Warnings, fault.Warning{Code: text(), Field: text(), Message: text()})
	}
	if r.IntN(2) == 0 {
		res.Temporal = &contextmem.TemporalResult{Applied: true, Mode: text(), Truncated: r.IntN(2) == 0}
		for range r.IntN(3) {
			res.Temporal.Facts = append(res.Temporal.Facts, contextmem.TemporalFact{Subject: text(), Relation: text(), Start: at(), End: at(), Phrase: text()})
		}
		if r.IntN(2) == 0 {
			res.Temporal.Duration = &contextmem.TemporalDuration{Days: 3, From: &contextmem.TemporalFact{Subject: text(), Start: at()}, FromDate: at(), Confidence: number()}
		}
	}
	return res
}

// appendAnswer returns a recall answer as it is sent.
func appendAnswer(res *contextmem.Result, f family) ([]byte, error) {
	return marshal(recallAnswer{res, f})
}

// TestRecallAnswer checks that an answer is what encoding/json makes of maps with the same members.
func TestRecallAnswer(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	n := 1000
	if testing.Short() {
		n = 100
	}
	for range n {
		res := randomResult(r)
		for _, f := range []family{gen1, gen2} {
			want, err := json.Marshal(resultJSON(res, f))
			require.NoError(t, err)
			got, err := appendAnswer(res, f)
			require.NoError(t, err)
			require.JSONEq(t, string(want), string(got))
		}
	}
}

// TestRecallEnvelope checks that the envelope of a recall answer is that of other answers.
func TestRecallEnvelope(t *testing.T) {
	t.Parallel()
	c := &call{rt: &route{family: gen2}, id: "an \"id\"", started: time.Now(), warn: []fault.Warning{{Code: "ignored_flag", Field: "operator", Message: "no effect"}}}
	m := c.meta(scopeNames{"acme", "a"})
	res := randomResult(rand.New(rand.NewPCG(3, 4)))
	got, err := marshal(&envelope{Data: recallAnswer{res, gen2}, Meta: m, Success: true})
	require.NoError(t, err)
	want, err := marshal(&envelope{Data: resultJSON(res, gen2), Meta: m, Success: true})
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(got))
}

// TestRecallAnswerBadNumber checks that an answer fails if any number has no JSON form.
func TestRecallAnswerBadNumber(t *testing.T) {
	t.Parallel()
	for _, res := range []*contextmem.Result{
		{Chunks: []contextmem.Chunk{{Score: math.NaN()}}},
		{Chunks: []contextmem.Chunk{{Explain: &contextmem.Explain{Late: math.Inf(1)}}}},
		{Chunks: []contextmem.Chunk{{Metadata: map[string]any{"a": math.NaN()}}}},
		{Graph: &contextmem.GraphContext{QueryPaths: []contextmem.Path{{Score: math.Inf(-1)}}}},
		{Graph: &contextmem.GraphContext{QueryPaths: []contextmem.Path{{Triplets: []contextmem.Triplet{{Relation: contextmem.Evidence{Confidence: math.NaN()}}}}}}},
		{Temporal: &contextmem.TemporalResult{Duration: &contextmem.TemporalDuration{Confidence: math.NaN()}}},
	} {
		_, err := appendAnswer(res, gen2)
		require.Error(t, err)
	}
}

// TestMeta checks the members of meta, which describe how a query was understood.
func TestMeta(t *testing.T) {
	t.Parallel()
	yes, alpha, three := true, .25, 3
	for _, x := range []struct {
		q    queryMeta
		want map[string]any
	}{
		{queryMeta{}, map[string]any{}},
		{queryMeta{GraphContext: &yes, Alpha: &alpha, Mode: "fast"}, map[string]any{"graph_context": true, "resolved_alpha": .25, "resolved_mode": "fast"}},
		{queryMeta{By: "text", Operator: "or", Results: &three}, map[string]any{"query_by": "text", "operator": "or", "results": 3}},
	} {
		for _, noted := range []bool{false, true} {
			c := &call{rt: &route{family: gen2}, id: "an \"id\"", started: time.Now(), query: x.q}
			want := map[string]any{"api_version": openAPIVersion, "request_id": c.id}
			if noted {
				c.warn = []fault.Warning{{Code: "ignored_flag", Field: "operator", Message: "no effect"}}
				c.in.deprecated = []alias{{"database", "tenant_id", true}}
				want["warnings"], want["deprecation"] = warnings(c.warn), c.deprecations()
			}
			maps.Copy(want, x.want)
			m := c.meta(scopeNames{"acme", "a \"b\""})
			want["database"], want["tenant_id"], want["collection"], want["sub_tenant_id"] = "acme", "acme", "a \"b\"", "a \"b\""
			want["latency_ms"] = m.Latency
			b, err := json.Marshal(want)
			require.NoError(t, err)
			got, err := marshal(m)
			require.NoError(t, err)
			require.JSONEq(t, string(b), string(got))
			own := new(buffer)
			if require.Equal(t, !noted && x.q.By == "", own.meta(&m)); len(own.b) > 0 {
				require.Equal(t, string(got), string(own.b))
			}
		}
	}
	nan := math.NaN()
	_, err := marshal((&call{rt: &route{family: gen2}, query: queryMeta{Alpha: &nan}}).meta(scopeNames{}))
	require.Error(t, err)
}

// TestWriteTime writes times with and without the same seconds as the time before.
func TestWriteTime(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	seconds := []int64{0, 1, 1.7e9, 1.7e9 + 1, -62135596800, -62135596801, 253402300799, 253402300800, 1 << 40}
	nanos := []int64{0, 1, 999_999_999, 500_000_000, 123_456_000, 10, 100_000_001}
	var w writer
	var b []byte
	for range 3000 {
		at := time.Unix(seconds[r.IntN(len(seconds))], nanos[r.IntN(len(nanos))])
		if r.IntN(2) > 0 {
			at = at.UTC()
		}
		from, want := len(b), `""`
		if b = w.time(b, at); !at.IsZero() {
			want = `"` + at.UTC().Format(time.RFC3339Nano) + `"`
		}
		require.Equal(t, want, string(b[from:]))
	}
}
