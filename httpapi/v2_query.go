package httpapi

import (
	"encoding/json"
	"math"
	"time"

	"github.com/contextmem/contextmem"
)

var queryClasses = map[string]contextmem.Class{"knowledge": contextmem.ClassKnowledge, "memory": contextmem.ClassMemory, "all": contextmem.ClassAll}

// collections reads a list of names, or a map of names to weights with at most one decimal.
func (c *call) collections() (map[string]float64, error) {
	v := c.in.fields.get("collections")
	if v == nil {
		return nil, nil
	}
	if c.in.fields.has("collection") {
		return nil, bad(contextmem.KindInvalid, "collections", "excludes collection")
	}
	out := map[string]float64{}
	switch x := v.(type) {
	case map[string]any:
		for name, w := range x {
			n, ok := w.(json.Number)
			if !ok {
				return nil, bad(contextmem.KindUnprocessed, "collections."+cut(name), "want a number, got %s", typeName(w))
			}
			f, err := n.Float64()
			if err != nil || f <= 0 || math.Abs(f*10-math.Round(f*10)) > 1e-9 {
				return nil, bad(contextmem.KindInvalid, "collections."+cut(name), "a weight must be above 0 with at most one decimal")
			}
			out[name] = f
		}
	default:
		names, err := toStrings("collections", v)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			out[n] = 1
		}
	}
	if len(out) < 1 || len(out) > 100 {
		return nil, bad(contextmem.KindInvalid, "collections", "needs 1 to 100 entries")
	}
	return out, nil
}

func v2Query(c *call, sub contextmem.Sub) (any, error) {
	var err error
	q := contextmem.Recall{}
	if q.Query, err = c.in.required("query"); err != nil {
		return nil, err
	}
	if v := c.in.fields.get("source"); v != nil && !c.in.fields.has("type") { // older name
		c.in.fields.set("type", v)
	}
	class, err := c.in.choice("type", "knowledge", "knowledge", "memory", "all")
	if err != nil {
		return nil, err
	}
	q.Class = queryClasses[class]
	if err := c.maxResults(&q.MaxResults, 0, 50); err != nil {
		return nil, err
	}
	if q.Subs, err = c.collections(); err != nil {
		return nil, err
	}
	if q.IDs, err = c.in.strings("ids"); err != nil {
		return nil, err
	}
	if q.Titles, err = c.in.strings("titles"); err != nil {
		return nil, err
	}
	if q.Principals, err = c.in.strings("acl"); err != nil {
		return nil, err
	}
	if err := c.recallCommon(&q); err != nil {
		return nil, err
	}
	by, err := c.in.choice("query_by", "hybrid", "hybrid", "text")
	if err != nil {
		return nil, err
	}
	op, err := c.in.choice("operator", "or", "or", "and", "phrase")
	if err != nil {
		return nil, err
	}
	if by == "text" {
		return c.textQuery(sub, q, contextmem.Operator(op))
	}
	if c.in.fields.has("operator") {
		c.warn = append(c.warn, contextmem.Warning{Code: "ignored_flag", Field: "operator", Message: "operator counts for query_by text only"})
	}
	if err := c.hybridOnly(&q); err != nil {
		return nil, err
	}
	q.RequestID = c.id
	res, err := sub.Recall(c.ctx, q)
	if err != nil {
		return nil, err
	}
	return c.queryAnswer(res, queryMeta{by: by, graph: q.GraphContext, alpha: res.Alpha, mode: string(res.Mode)}), nil
}

func (c *call) queryAnswer(res *contextmem.Result, meta queryMeta) any {
	c.query = meta
	c.warn = append(c.warn, res.Warnings...)
	return recallAnswer{res, gen2}
}

// hybridOnly reads the parameters of hybrid queries.
func (c *call) hybridOnly(q *contextmem.Recall) error {
	mode, err := c.in.choice("mode", "auto", "fast", "thinking", "auto")
	if err != nil {
		return err
	}
	q.Mode = contextmem.Mode(mode)
	if q.GraphContext, err = c.in.boolean("graph_context", true); err != nil {
		return err
	}
	related, err := c.in.boolean("query_forceful_relations", true)
	if err != nil {
		return err
	}
	q.SkipRelations = !related
	q.Relations = c.in.fields.has("query_forceful_relations")
	q.Relations = q.Relations && related
	if q.Apps, err = c.in.boolean("query_apps", false); err != nil {
		return err
	}
	if q.RelatedChunks, err = c.in.integer("num_related_chunks", 0); err != nil {
		return err
	}
	if err := ranged("num_related_chunks", q.RelatedChunks, 0, 50); err != nil {
		return err
	}
	for _, flag := range []string{"graph_vector_prune", "graph_vector_prune_spacy_entities"} {
		on, err := c.in.boolean(flag, false)
		if err != nil {
			return err
		}
		if on {
			c.warn = append(c.warn, contextmem.Warning{Code: "ignored_flag", Field: flag, Message: flag + " has no effect here"})
		}
	}
	if q.AsOf, err = c.in.moment("as_of"); err != nil {
		return err
	}
	if q.KnownAt, err = c.in.moment("known_at"); err != nil {
		return err
	}
	q.Temporal = c.temporal()
	return nil
}

// moment reads a time that may be absent.
func (in *input) moment(name string) (time.Time, error) {
	s, err := in.str(name)
	if err != nil || s == "" {
		return time.Time{}, err
	}
	return readTime(name, s)
}

// temporal reads the temporal parameters; what can't be read never fails the call.
func (c *call) temporal() *contextmem.Temporal {
	if on, ok := c.in.fields.get("temporal_reasoning").(bool); ok && !on {
		return nil
	}
	t := &contextmem.Temporal{}
	read := func(field string, v any) time.Time {
		s, ok := v.(string)
		if !ok {
			return time.Time{}
		}
		at, err := readTime(field, s)
		if err != nil {
			c.warn = append(c.warn, contextmem.Warning{Code: "ignored_flag", Field: field, Message: field + " could not be read and was left out"})
		}
		return at
	}
	t.Now = read("temporal_now", c.in.fields.get("temporal_now"))
	if m, ok := c.in.fields.get("temporal_intent").(map[string]any); ok {
		if mode, _ := m["mode"].(string); mode == "as-of" {
			t.Mode = "as_of"
		} else {
			t.Mode = mode
		}
		t.Start, t.End = read("temporal_intent.window_start", m["window_start"]), read("temporal_intent.window_end", m["window_end"])
		if cutoff := read("temporal_intent.cutoff", m["cutoff"]); !cutoff.IsZero() {
			t.End = cutoff
		}
		if ps, err := toStrings("event_phrases", m["event_phrases"]); err == nil {
			t.Events = ps
		}
		t.DurationToNow, _ = m["duration_to_now"].(bool)
	}
	return t
}

// textOnlyIgnored are parameters without effect on text queries.
var textOnlyIgnored = []string{"mode", "alpha", "recency_bias", "graph_context", "query_forceful_relations", "query_apps", "additional_context", "num_related_chunks"}

func (c *call) textQuery(sub contextmem.Sub, q contextmem.Recall, op contextmem.Operator) (any, error) {
	for _, f := range textOnlyIgnored {
		if c.in.fields.has(f) {
			c.warn = append(c.warn, contextmem.Warning{Code: "ignored_flag", Field: f, Message: f + " has no effect on query_by text"})
		}
	}
	t := contextmem.TextQuery{Query: q.Query, Class: q.Class, Operator: op, MaxResults: q.MaxResults, Filters: q.Filters, IDs: q.IDs, Titles: q.Titles, Subs: q.Subs, Principals: q.Principals, RequestID: c.id}
	if t.MaxResults == 0 && q.Subs != nil {
		t.MaxResults = min(1000, 10*len(q.Subs))
	}
	res, err := sub.BooleanRecall(c.ctx, t)
	if err != nil {
		return nil, err
	}
	return c.queryAnswer(res, queryMeta{by: "text", operator: string(op), results: len(res.Chunks)}), nil
}
