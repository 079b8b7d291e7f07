package httpapi

import "github.com/contextmem/contextmem"

func v1FullRecall(c *call, sub contextmem.Sub) (any, error) {
	return v1Recall(c, sub, contextmem.ClassKnowledge)
}

func v1RecallPreferences(c *call, sub contextmem.Sub) (any, error) {
	return v1Recall(c, sub, contextmem.ClassMemory)
}

func v1Recall(c *call, sub contextmem.Sub, class contextmem.Class) (any, error) {
	var err error
	q := contextmem.Recall{Class: class}
	if q.Query, err = c.in.required("query"); err != nil {
		return nil, err
	}
	if err := c.maxResults(&q.MaxResults, 10, 1001); err != nil {
		return nil, err
	}
	mode, err := c.in.choice("mode", "fast", "fast", "thinking")
	if err != nil {
		return nil, err
	}
	q.Mode = contextmem.Mode(mode)
	if err := c.recallCommon(&q); err != nil {
		return nil, err
	}
	if q.GraphContext, err = c.in.boolean("graph_context", false); err != nil {
		return nil, err
	}
	if q.Apps, err = c.in.boolean("search_apps", false); err != nil {
		return nil, err
	}
	related, err := c.in.boolean("search_forceful_relations", true)
	if err != nil {
		return nil, err
	}
	q.SkipRelations = !related
	if err := scalarsOnly("metadata_filters", q.Filters); err != nil {
		return nil, err
	}
	q.RequestID = c.id
	res, err := sub.Recall(c.ctx, q)
	if err != nil {
		return nil, err
	}
	return recallAnswer{res, gen1}, nil
}

func (c *call) maxResults(to *int, def, limit int) error {
	n, err := c.in.integer("max_results", def)
	*to = n
	if err != nil {
		return err
	}
	if !c.in.fields.has("max_results") {
		return nil
	}
	return ranged("max_results", n, 1, limit)
}

// recallCommon reads what both generations share.
func (c *call) recallCommon(q *contextmem.Recall) error {
	var err error
	if q.Alpha, err = alpha(&c.in); err != nil {
		return err
	}
	if v := c.in.fields.get("recency_bias"); v != nil {
		if q.RecencyBias, err = toFloat("recency_bias", v); err != nil {
			return err
		}
	}
	if q.Hint, err = c.in.str("additional_context"); err != nil {
		return err
	}
	q.Filters, err = filters(&c.in, "metadata_filters")
	return err
}

// booleanRefused are the recall fields that boolean recall does not know and refuses.
var booleanRefused = []string{"mode", "alpha", "recency_bias", "graph_context", "metadata_filters", "additional_context"}

func v1BooleanRecall(c *call, sub contextmem.Sub) (any, error) {
	var err error
	for _, f := range booleanRefused {
		if c.in.fields.has(f) {
			return nil, bad(contextmem.KindInvalid, f, "is not supported by boolean recall")
		}
	}
	q := contextmem.TextQuery{Class: contextmem.ClassKnowledge, RequestID: c.id}
	if q.Query, err = c.in.required("query"); err != nil {
		return nil, err
	}
	op, err := c.in.choice("operator", "or", "or", "and", "phrase")
	if err != nil {
		return nil, err
	}
	q.Operator = contextmem.Operator(op)
	mode, err := c.in.choice("search_mode", "sources", "sources", "memories")
	if err != nil {
		return nil, err
	}
	if mode == "memories" {
		q.Class = contextmem.ClassMemory
	}
	if err := c.maxResults(&q.MaxResults, 10, 1000); err != nil {
		return nil, err
	}
	res, err := sub.BooleanRecall(c.ctx, q)
	if err != nil {
		return nil, err
	}
	return recallAnswer{res, gen1}, nil
}
