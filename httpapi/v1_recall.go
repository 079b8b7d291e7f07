package httpapi

import (
	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
)

// recallOptions are the recall parameters common to both generations.
type recallOptions struct {
	Alpha         weight    `json:"alpha"`
	RecencyBias   float64   `json:"recency_bias"`
	Hint          string    `json:"additional_context"`
	StrictFilters bool      `json:"strict_filters"`
	Filters       filterMap `json:"metadata_filters"`
}

// set copies the parameters to q.
func (o *recallOptions) set(q *contextmem.Recall) {
	q.Alpha, q.RecencyBias, q.Hint = o.Alpha.Alpha, o.RecencyBias, o.Hint
	q.Filters = contextmem.Filters{Metadata: o.Filters.metadata, Additional: o.Filters.additional, Strict: o.StrictFilters}
}

// v1RecallRequest is the body of /recall/full_recall and /recall/recall_preferences.
type v1RecallRequest struct {
	Query      string `json:"query" need:"text"`
	MaxResults int    `json:"max_results" default:"10" range:"1,1001"`
	Mode       string `json:"mode" default:"fast" oneof:"fast,thinking"`
	recallOptions
	GraphContext bool    `json:"graph_context"`
	Apps         bool    `json:"search_apps"`
	Relations    bool    `json:"search_forceful_relations" default:"true"`
	MinRelevance float64 `json:"min_relevance"`
	PerSource    int     `json:"per_source" default:"0" range:"0,1001"`
	Superseded   string  `json:"superseded" default:"demote" oneof:"mark,demote,drop"`
}

func v1FullRecall(c *call, sub contextmem.Sub) (any, error) {
	return v1Recall(c, sub, contextmem.ClassKnowledge)
}

func v1RecallPreferences(c *call, sub contextmem.Sub) (any, error) {
	return v1Recall(c, sub, contextmem.ClassMemory)
}

func v1Recall(c *call, sub contextmem.Sub, class contextmem.Class) (any, error) {
	r := &c.v1
	if err := c.read(r); err != nil {
		return nil, err
	}
	q := contextmem.Recall{Class: class, Query: r.Query, MaxResults: r.MaxResults, Mode: contextmem.Mode(r.Mode), GraphContext: r.GraphContext, Apps: r.Apps,
		SkipForcefulRelations: !r.Relations, MinRelevance: r.MinRelevance, PerSource: r.PerSource, Superseded: contextmem.Superseded(r.Superseded), RequestID: c.id}
	r.set(&q)
	if err := scalarsOnly("metadata_filters", q.Filters); err != nil {
		return nil, err
	}
	res, err := sub.Recall(c.lend(), q)
	if err != nil {
		return nil, err
	}
	c.rename(res.Warnings)
	return recallAnswer{res, gen1}, nil
}

// booleanRequest is the body of /recall/boolean_recall.
type booleanRequest struct {
	Query      string `json:"query" need:"text"`
	Operator   string `json:"operator" default:"or" oneof:"or,and,phrase"`
	Mode       string `json:"search_mode" default:"sources" oneof:"sources,memories"`
	MaxResults int    `json:"max_results" default:"10" range:"1,1000"`
}

// booleanRefused are the recall fields that boolean recall does not support and returns errors for.
var booleanRefused = []string{"mode", "alpha", "recency_bias", "graph_context", "metadata_filters", "additional_context"}

func v1BooleanRecall(c *call, sub contextmem.Sub) (any, error) {
	for _, f := range booleanRefused {
		if c.in.has(f) {
			return nil, bad(fault.KindInvalid, f, "is not supported by boolean recall")
		}
	}
	var r booleanRequest
	if err := c.read(&r); err != nil {
		return nil, err
	}
	q := contextmem.BooleanRecallRequest{Class: contextmem.ClassKnowledge, Query: r.Query, Operator: contextmem.Operator(r.Operator), MaxResults: r.MaxResults, RequestID: c.id}
	if r.Mode == "memories" {
		q.Class = contextmem.ClassMemory
	}
	res, err := sub.BooleanRecall(c.ctx, q)
	if err != nil {
		return nil, err
	}
	c.rename(res.Warnings)
	return recallAnswer{res, gen1}, nil
}
