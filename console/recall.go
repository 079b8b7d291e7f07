package console

import (
	"math"
	"strings"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
)

type recallData struct {
	Query, Class, Mode, Superseded, AsOf, KnownAt, Missing, Filter string
	Most                                                           int
	Result                                                         *contextmem.Result
	Hits                                                           []hit
	Missed                                                         *rejected // the requested item, if it is not in the result
	Rejected                                                       []rejected
}

// hit is a chunk with the parts of its score. The sum of the parts is the score.
type hit struct {
	contextmem.Chunk
	Place int
	Parts []part
}

// rejected is a candidate that is not in the result.
type rejected struct {
	contextmem.Rejected
	Parts []part
}

// part is a part of a score.
type part struct {
	Name  string  // name of the part's text
	Value float64 // may be negative
	Width int     // width of the bar in the page, 0 to 100
}

const (
	hitsShown     = 10
	rejectedShown = 15
)

func recallPage(v *view) error {
	sub, err := v.scope(contextmem.ScopeQuery)
	if err != nil {
		return err
	}
	d := recallData{Query: strings.TrimSpace(v.value("q")), Class: v.value("class"), Mode: v.value("mode"), Superseded: v.value("superseded"), AsOf: v.value("as_of"),
		KnownAt: v.value("known_at"), Missing: strings.TrimSpace(v.value("missing")), Filter: strings.TrimSpace(v.value("filter"))}
	if d.Most, err = v.number("max", 1, 50); err != nil {
		return err
	}
	if v.value("max") == "" {
		d.Most = hitsShown
	}
	q := contextmem.Recall{Query: d.Query, MaxResults: d.Most, Mode: contextmem.Mode(d.Mode), Superseded: contextmem.Superseded(d.Superseded), Missing: d.Missing, Rejected: rejectedShown, GraphContext: true}
	switch d.Class {
	case "", "all":
		q.Class = contextmem.ClassAll
	case "memory":
		q.Class = contextmem.ClassMemory
	case "knowledge":
		q.Class = contextmem.ClassKnowledge
	default:
		return refuse(fault.KindInvalid, "class", "must be all, memory or knowledge")
	}
	if q.AsOf, err = v.day("as_of"); err != nil {
		return err
	}
	if q.KnownAt, err = v.day("known_at"); err != nil {
		return err
	}
	if d.Filter != "" {
		q.Filters.Metadata = map[string]any{}
		for pair := range strings.SplitSeq(d.Filter, ",") {
			name, value, ok := strings.Cut(pair, "=")
			if name = strings.TrimSpace(name); !ok || name == "" {
				return refuse(fault.KindInvalid, "filter", "must be field=value, joined by commas")
			}
			q.Filters.Metadata[name] = strings.TrimSpace(value)
		}
	}
	if d.Query == "" {
		return v.show("recall", d)
	}
	if d.Result, err = sub.Recall(v.r.Context(), q); err != nil {
		return err
	}
	top := 0.0
	if len(d.Result.Chunks) > 0 {
		top = math.Abs(d.Result.Chunks[0].Score)
	}
	for i, c := range d.Result.Chunks {
		d.Hits = append(d.Hits, hit{c, i + 1, parts(c.Explain, top)})
	}
	for _, x := range d.Result.Rejected {
		r := rejected{x, parts(x.Chunk.Explain, top)}
		if d.Missing != "" && (x.Chunk.SourceID == d.Missing || x.Chunk.SourceID == "") && d.Missed == nil {
			d.Missed = &r
			continue
		}
		if len(d.Rejected) < rejectedShown {
			d.Rejected = append(d.Rejected, r)
		}
	}
	return v.show("recall", d)
}

// Found reports whether the requested item is in the result, and returns its position.
func (d recallData) Found() int {
	for _, h := range d.Hits {
		if h.SourceID == d.Missing {
			return h.Place
		}
	}
	return 0
}

// parts returns the nonzero parts of a score in a fixed order. top is the best score of the result, to which bar widths are relative.
func parts(e *contextmem.Explain, top float64) (out []part) {
	if e == nil {
		return nil
	}
	for _, p := range []part{{Name: "semantic", Value: e.Semantic}, {Name: "keyword", Value: e.Keyword}, {Name: "context", Value: e.Context}, {Name: "speaker", Value: e.Speaker},
		{Name: "time", Value: e.Time}, {Name: "entity", Value: e.Entity}, {Name: "graph", Value: e.Graph}, {Name: "bridge", Value: e.Bridge}, {Name: "expansion", Value: e.Expansion},
		{Name: "late", Value: e.Late}, {Name: "rerank", Value: e.Rerank}, {Name: "app", Value: e.App}, {Name: "recency", Value: e.Recency},
		{Name: "succession", Value: e.Succession}, {Name: "feedback", Value: e.Feedback}} {
		if math.Abs(p.Value) < .0005 {
			continue
		}
		if top > 0 {
			p.Width = int(math.Round(math.Min(1, math.Abs(p.Value)/top) * 100))
		}
		out = append(out, p)
	}
	return out
}
