package httpapi

import (
	"slices"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
)

// queryRequest is the body of /query.
type queryRequest struct {
	Query       string   `json:"query" need:"text"`
	Type        string   `json:"type" also:"kind,source" default:"knowledge" oneof:"knowledge,memory,all"`
	MaxResults  *int     `json:"max_results" range:"1,50"`
	Collections weights  `json:"collections" was:"sub_tenant_ids"`
	IDs         []string `json:"ids"`
	Titles      []string `json:"titles"`
	ACL         []string `json:"acl"`
	recallOptions
	By       string `json:"query_by" default:"hybrid" oneof:"hybrid,text"`
	Operator string `json:"operator" default:"or" oneof:"or,and,phrase"`
}

// hybridOptions are the parameters of hybrid queries. Text queries ignore them.
type hybridOptions struct {
	Mode          string  `json:"mode" default:"auto" oneof:"fast,thinking,auto"`
	GraphContext  bool    `json:"graph_context" default:"true"`
	Relations     *bool   `json:"query_forceful_relations" also:"search_forceful_relations"`
	Apps          bool    `json:"query_apps" also:"search_apps"`
	RelatedChunks int     `json:"num_related_chunks" default:"0" range:"0,50"`
	VectorPrune   bool    `json:"graph_vector_prune"`
	EntityPrune   bool    `json:"graph_vector_prune_spacy_entities"`
	MinRelevance  float64 `json:"min_relevance"`
	PerSource     int     `json:"per_source" default:"0" range:"0,1001"`
	Superseded    string  `json:"superseded" default:"demote" oneof:"mark,demote,drop"`
	AsOf          moment  `json:"as_of"`
	KnownAt       moment  `json:"known_at"`
}

// queryNames are the names of all query parameters except scope and time.
var queryNames = []map[string]bool{planFor[queryRequest]().names, planFor[hybridOptions]().names, {"temporal_reasoning": true, "temporal_now": true, "temporal_intent": true}}

var queryClasses = map[string]contextmem.Class{"knowledge": contextmem.ClassKnowledge, "memory": contextmem.ClassMemory, "all": contextmem.ClassAll}

func v2Query(c *call, sub contextmem.Sub) (any, error) {
	r := &c.v2
	if err := c.read(r); err != nil {
		return nil, err
	}
	if r.Collections != nil && c.in.has("collection") {
		return nil, bad(fault.KindInvalid, "collections", "excludes collection")
	}
	c.warnUnknown(queryNames)
	q := contextmem.Recall{Query: r.Query, Class: queryClasses[r.Type], Subs: r.Collections, IDs: r.IDs, Titles: r.Titles, Principals: r.ACL, RequestID: c.id}
	if r.MaxResults != nil {
		q.MaxResults = *r.MaxResults
	}
	if !c.in.has("type") && !c.in.has("kind") && !c.in.has("source") {
		q.Class = 0 // the service's default applies
	}
	r.set(&q)
	if r.By == "text" {
		return c.textQuery(sub, q, contextmem.Operator(r.Operator))
	}
	if c.in.has("operator") {
		c.ignored("operator", "operator counts for query_by text only")
	}
	if err := c.hybrid(&q); err != nil {
		return nil, err
	}
	res, err := sub.Recall(c.lend(), q)
	if err != nil {
		return nil, err
	}
	graph, alpha := q.GraphContext, res.Alpha
	return c.queryAnswer(res, queryMeta{GraphContext: &graph, Alpha: &alpha, Mode: string(res.Mode)}), nil
}

// maxUnknown is the maximal number of warnings about unknown fields in one response.
const maxUnknown = 20

// warnUnknown adds warnings about members of the request that are not among the names.
func (c *call) warnUnknown(names []map[string]bool) {
	var unknown []string
	for k := range c.in.members.all() {
		known := k == "database" || k == "collection" || slices.ContainsFunc(names, func(m map[string]bool) bool { return m[k] })
		if !known {
			unknown = append(unknown, cut(k))
		}
	}
	c.warnOf(unknown)
}

// warnOf adds a warning about each unknown field, up to a limit.
func (c *call) warnOf(unknown []string) {
	slices.Sort(unknown)
	for _, k := range unknown[:min(len(unknown), maxUnknown)] {
		c.warn = append(c.warn, fault.Warning{Code: "unknown_field", Field: k, Message: k + " is not a field of this request and was ignored"})
	}
}

// ignored adds a warning about a parameter that has no effect.
func (c *call) ignored(field, message string) {
	c.warn = append(c.warn, fault.Warning{Code: "ignored_flag", Field: field, Message: message})
}

func (c *call) queryAnswer(res *contextmem.Result, m queryMeta) any {
	c.query = m
	c.warns(res.Warnings)
	return recallAnswer{res, gen2}
}

// hybrid reads the parameters of hybrid queries.
func (c *call) hybrid(q *contextmem.Recall) error {
	o := &c.mixed
	if err := c.read(o); err != nil {
		return err
	}
	q.Mode, q.GraphContext, q.Apps, q.RelatedChunks = contextmem.Mode(o.Mode), o.GraphContext, o.Apps, o.RelatedChunks
	q.ForcefulRelations = o.Relations != nil && *o.Relations
	q.SkipForcefulRelations = o.Relations != nil && !*o.Relations
	q.MinRelevance, q.PerSource, q.Superseded = o.MinRelevance, o.PerSource, contextmem.Superseded(o.Superseded)
	q.AsOf, q.KnownAt = time.Time(o.AsOf), time.Time(o.KnownAt)
	if o.VectorPrune {
		c.ignored("graph_vector_prune", "graph_vector_prune has no effect here")
	}
	if o.EntityPrune {
		c.ignored("graph_vector_prune_spacy_entities", "graph_vector_prune_spacy_entities has no effect here")
	}
	q.Temporal = c.temporal()
	return nil
}

// temporal reads the temporal parameters. It ignores invalid ones.
func (c *call) temporal() *contextmem.Temporal {
	on, _ := c.in.members.get("temporal_reasoning")
	if string(on.json) == "false" {
		return nil
	}
	t := &c.dated
	*t = contextmem.Temporal{}
	now, _ := c.in.members.get("temporal_now")
	t.Now = c.lenientTime("temporal_now", now)
	intent, ok := c.in.members.get("temporal_intent")
	if !ok || intent.typeName() != "object" {
		return t
	}
	ms, err := intent.members("temporal_intent")
	if err != nil {
		return t
	}
	mode, _ := ms.get("mode")
	if t.Mode, _ = mode.string(""); t.Mode == "as-of" {
		t.Mode = "as_of"
	}
	at := func(name string) time.Time {
		m, _ := ms.get(name)
		return c.lenientTime("temporal_intent."+name, m)
	}
	t.Start, t.End = at("window_start"), at("window_end")
	if cutoff := at("cutoff"); !cutoff.IsZero() {
		t.End = cutoff
	}
	if events, ok := ms.get("event_phrases"); ok {
		_ = c.decoder().value("event_phrases", events, valueOf(&t.Events))
	}
	toNow, _ := ms.get("duration_to_now")
	t.DurationToNow = string(toNow.json) == "true"
	return t
}

// lenientTime reads a time. It ignores an invalid time and adds a warning.
func (c *call) lenientTime(field string, m member) time.Time {
	s, err := m.string(field)
	if err != nil || m.absent() {
		return time.Time{}
	}
	t, err := readTime(field, s)
	if err != nil {
		c.ignored(field, field+" could not be read and was left out")
	}
	return t
}

// textOnlyIgnored are the names of the parameters that have no effect on text queries.
var textOnlyIgnored = [][]string{{"mode"}, {"alpha"}, {"recency_bias"}, {"graph_context"}, {"query_forceful_relations", "search_forceful_relations"}, {"query_apps", "search_apps"},
	{"additional_context"}, {"num_related_chunks"}}

func (c *call) textQuery(sub contextmem.Sub, q contextmem.Recall, op contextmem.Operator) (any, error) {
	for _, names := range textOnlyIgnored {
		for _, f := range names {
			if c.in.has(f) {
				c.ignored(names[0], names[0]+" has no effect on query_by text")
				break
			}
		}
	}
	t := contextmem.BooleanRecallRequest{Query: q.Query, Class: q.Class, Operator: op, MaxResults: q.MaxResults, Filters: q.Filters, IDs: q.IDs, Titles: q.Titles, Subs: q.Subs, Principals: q.Principals, RequestID: c.id}
	if t.MaxResults == 0 && q.Subs != nil {
		t.MaxResults = min(1000, 10*len(q.Subs))
	}
	res, err := sub.BooleanRecall(c.ctx, t)
	if err != nil {
		return nil, err
	}
	n := len(res.Chunks)
	return c.queryAnswer(res, queryMeta{By: "text", Operator: string(op), Results: &n}), nil
}
