package client

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/wire"
)

// Recall implements contextmem.Memories. REST bounds MaxResults by 50 and gives weights of sub-tenants one decimal.
func (s scope) Recall(ctx context.Context, q contextmem.Recall) (*contextmem.Result, error) {
	const op = "recall"
	class, err := className(op, q.Class, true)
	if err != nil {
		return nil, err
	}
	if q.RequestID != "" {
		return nil, notOverREST(op, "RequestID")
	}
	if q.Rejected != 0 {
		return nil, notOverREST(op, "Rejected")
	}
	if q.Missing != "" {
		return nil, notOverREST(op, "Missing")
	}
	body := s.body()
	if q.Subs != nil {
		delete(body, "collection")
		body["collections"] = q.Subs
	}
	mode := q.Mode
	if mode == "" {
		mode = contextmem.ModeFast
	}
	body["query"], body["type"], body["mode"], body["graph_context"] = q.Query, class, mode, q.GraphContext
	put(body, "max_results", q.MaxResults, q.MaxResults == 0)
	put(body, "alpha", q.Alpha, q.Alpha == contextmem.Alpha{})
	put(body, "recency_bias", q.RecencyBias, q.RecencyBias == 0)
	put(body, "query_apps", true, !q.Apps)
	put(body, "query_forceful_relations", !q.SkipForcefulRelations, !q.ForcefulRelations && !q.SkipForcefulRelations)
	put(body, "additional_context", q.Hint, q.Hint == "")
	put(body, "ids", q.IDs, q.IDs == nil)
	put(body, "titles", q.Titles, q.Titles == nil)
	put(body, "num_related_chunks", q.RelatedChunks, q.RelatedChunks == 0)
	put(body, "acl", q.Principals, q.Principals == nil)
	put(body, "as_of", q.AsOf, q.AsOf.IsZero())
	put(body, "known_at", q.KnownAt, q.KnownAt.IsZero())
	put(body, "min_relevance", q.MinRelevance, q.MinRelevance == 0)
	put(body, "per_source", q.PerSource, q.PerSource == 0)
	put(body, "superseded", q.Superseded, q.Superseded == "")
	put(body, "strict_filters", true, !q.Filters.Strict)
	filters := map[string]any{}
	for k, v := range q.Filters.Metadata {
		filters[k] = v
	}
	put(filters, "additional_metadata", q.Filters.Additional, q.Filters.Additional == nil)
	put(body, "metadata_filters", filters, len(filters) == 0)
	temporal(body, q.Temporal)
	var a answer
	m, err := s.c.send(ctx, request{op: op, method: http.MethodPost, path: "/query", json: body, of: q}, &a)
	if err != nil {
		return nil, err
	}
	res := a.result(q.Class)
	res.RequestID, res.Mode, res.Alpha, res.Warnings = m.RequestID, contextmem.Mode(m.Mode), m.Alpha, m.Warnings
	if q.Temporal == nil {
		res.Temporal = nil
	}
	return res, nil
}

// temporal sets the temporal parameters.
func temporal(body map[string]any, t *contextmem.Temporal) {
	body["temporal_reasoning"] = t != nil
	if t == nil {
		return
	}
	put(body, "temporal_now", t.Now, t.Now.IsZero())
	intent := map[string]any{}
	put(intent, "mode", t.Mode, t.Mode == "")
	put(intent, "window_start", t.Start, t.Start.IsZero())
	put(intent, "window_end", t.End, t.End.IsZero())
	put(intent, "event_phrases", t.Events, t.Events == nil)
	put(intent, "duration_to_now", true, !t.DurationToNow)
	put(body, "temporal_intent", intent, len(intent) == 0)
}

// answer is the data of a response to a query.
type answer struct {
	Chunks     []chunk          `json:"chunks"`
	Additional map[string]chunk `json:"additional_context"`
	Sources    []wire.SourceRow `json:"sources"`
	Graph      *struct {
		Groups    map[string][]string `json:"chunk_id_to_group_ids"`
		Relations []path              `json:"chunk_relations"`
		Paths     []path              `json:"query_paths"`
		Synthesis *string             `json:"synthesis_context"`
	} `json:"graph_context"`
	wire.Temporal
}

type chunk struct {
	ID         string         `json:"chunk_uuid"`
	SourceID   string         `json:"source_id"`
	Collection string         `json:"collection"`
	Text       string         `json:"chunk_content"`
	Title      string         `json:"source_title"`
	Kind       string         `json:"source_type"`
	Uploaded   string         `json:"source_upload_time"`
	Updated    string         `json:"source_last_updated_time"`
	Layout     layout         `json:"layout"`
	Score      float64        `json:"relevancy_score"`
	Metadata   map[string]any `json:"metadata"`
	Additional map[string]any `json:"additional_metadata"`
	Extra      []string       `json:"extra_context_ids"`
	AlsoFrom   []string       `json:"also_source_ids"`
	Heading    string         `json:"heading"`
	Page       int            `json:"page"`
	Passage    struct {
		Start int    `json:"start"`
		End   int    `json:"end"`
		Text  string `json:"text"`
	} `json:"passage"`
	Relevance  float64           `json:"relevance"`
	Statements []string          `json:"statements"`
	Newer      contextmem.Status `json:"newer_version_status"`
	Superseded *supersession     `json:"superseded_by"`
	ValidFrom  string            `json:"valid_from"`
	ValidTo    string            `json:"valid_to"`
	Retracted  bool              `json:"retracted"`
	ToldLater  bool              `json:"told_later"`
	Parts      *struct {
		App        float64 `json:"app"`
		Bridge     float64 `json:"bridge"`
		Context    float64 `json:"context"`
		Entity     float64 `json:"entity"`
		Expansion  float64 `json:"expansion"`
		Feedback   float64 `json:"feedback"`
		Graph      float64 `json:"graph"`
		Keyword    float64 `json:"keyword"`
		Late       float64 `json:"late_interaction"`
		Recency    float64 `json:"recency"`
		Forgetting float64 `json:"forgetting"`
		Rerank     float64 `json:"rerank"`
		Semantic   float64 `json:"semantic"`
		Speaker    float64 `json:"speaker"`
		Succession float64 `json:"succession"`
		Time       float64 `json:"time"`
	} `json:"score_parts"`
}

// supersession describes the memory that supersedes another.
type supersession struct {
	ID         string  `json:"id"`
	Time       string  `json:"time"`
	Confidence float64 `json:"confidence"`
	Matter     string  `json:"matter"`
	Evidence   string  `json:"evidence"`
	Decider    string  `json:"decider"`
	Partly     bool    `json:"partly"`
}

// layout is JSON, either embedded or encoded as a string.
type layout string

// UnmarshalJSON implements json.Unmarshaler.
func (l *layout) UnmarshalJSON(b []byte) error {
	var s *string
	if json.Unmarshal(b, &s) == nil {
		*l = layout(wire.Text(s))
		return nil
	}
	*l = layout(b)
	return nil
}

func (c *chunk) chunk(class contextmem.Class) contextmem.Chunk {
	out := contextmem.Chunk{ID: c.ID, SourceID: c.SourceID, Sub: c.Collection, Class: class, Text: c.Text, Title: c.Title, Kind: c.Kind, CreatedAt: wire.ReadTime(c.Uploaded),
		UpdatedAt: wire.ReadTime(c.Updated), Layout: string(c.Layout), Inferred: strings.Contains(string(c.Layout), `"inferred":true`), Score: c.Score, Metadata: c.Metadata, Additional: c.Additional, ExtraContextIDs: c.Extra, AlsoFrom: c.AlsoFrom, Heading: c.Heading,
		Page: c.Page, Passage: contextmem.Passage{Text: c.Passage.Text, Start: c.Passage.Start, End: c.Passage.End}, Relevance: c.Relevance, Statements: c.Statements, Newer: c.Newer,
		ValidFrom: wire.ReadTime(c.ValidFrom), ValidTo: wire.ReadTime(c.ValidTo), Retracted: c.Retracted, ToldLater: c.ToldLater}
	if x := c.Superseded; x != nil {
		out.SupersededBy = &contextmem.Supersession{ID: x.ID, Time: wire.ReadTime(x.Time), Confidence: x.Confidence, Matter: x.Matter, Evidence: x.Evidence, Decider: x.Decider, Partly: x.Partly}
	}
	if p := c.Parts; p != nil {
		out.Explain = &contextmem.Explain{Semantic: p.Semantic, Keyword: p.Keyword, Context: p.Context, Speaker: p.Speaker, Time: p.Time, Entity: p.Entity, Graph: p.Graph,
			Bridge: p.Bridge, Expansion: p.Expansion, Late: p.Late, Rerank: p.Rerank, App: p.App, Recency: p.Recency, Forgetting: p.Forgetting, Feedback: p.Feedback,
			Succession: p.Succession}
	}
	return out
}

type path struct {
	Context  *string  `json:"combined_context"`
	Group    *string  `json:"group_id"`
	Score    float64  `json:"relevancy_score"`
	ChunkIDs []string `json:"source_chunk_ids"`
	Triplets []struct {
		Relation wire.Evidence `json:"relation"`
		Source   wire.Entity   `json:"source"`
		Target   wire.Entity   `json:"target"`
	} `json:"triplets"`
}

func paths(list []path) []contextmem.Path {
	var out []contextmem.Path
	for _, p := range list {
		one := contextmem.Path{Score: p.Score, Context: wire.Text(p.Context), GroupID: wire.Text(p.Group), ChunkIDs: p.ChunkIDs}
		for i := range p.Triplets {
			t := &p.Triplets[i]
			one.Triplets = append(one.Triplets, contextmem.Triplet{Source: t.Source.Entity(), Relation: t.Relation.Evidence(), Target: t.Target.Entity()})
		}
		out = append(out, one)
	}
	return out
}

// result converts the response to the types of the library.
func (a *answer) result(class contextmem.Class) *contextmem.Result {
	of := class
	switch class {
	case 0:
		of = contextmem.ClassKnowledge
	case contextmem.ClassAll:
		of = 0 // the response does not distinguish the classes
	}
	res := &contextmem.Result{Temporal: a.Temporal.Result()}
	for i := range a.Chunks {
		res.Chunks = append(res.Chunks, a.Chunks[i].chunk(of))
	}
	for i := range a.Sources {
		res.Sources = append(res.Sources, a.Sources[i].Source(of))
	}
	if len(a.Additional) > 0 {
		res.Additional = map[string]contextmem.Chunk{}
		for k, c := range a.Additional {
			res.Additional[k] = c.chunk(of)
		}
	}
	if g := a.Graph; g != nil {
		res.Graph = &contextmem.GraphContext{QueryPaths: paths(g.Paths), ChunkRelations: paths(g.Relations), ChunkGroups: g.Groups, Synthesis: wire.Text(g.Synthesis)}
	}
	return res
}
