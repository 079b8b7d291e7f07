package recall

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/graph"
	"github.com/contextmem/contextmem/internal/language"
)

const (
	maxFacts  = 50
	factsRead = 1000 // maximal number of relations read of a partition
)

// Modes of dated facts.
const (
	modeCurrent  = "current"
	modeAsOf     = "as_of"
	modeRange    = "range"
	modeUpcoming = "upcoming"
)

// dated adds dated facts to the result. It never changes the hits. If it fails, it only sets Degraded.
func (r *run) dated() {
	t := *r.Request.Temporal
	if t.Now.IsZero() {
		t.Now = r.Now
	}
	out := &facts.TemporalResult{Mode: t.Mode}
	r.res.Temporal = out
	switch t.Mode {
	case modeCurrent, modeAsOf, modeRange, modeUpcoming:
	default:
		cues := r.cuesAt(t.Now)
		out.Mode, t.Start, t.End = cmp.Or(string(cues.Intent), "none"), cues.WindowStart, cues.WindowEnd
		if cues.Intent == language.IntentAsOf {
			t.End = cues.Cutoff
		}
	}
	for _, found := range r.links().HitsByPart() {
		rels, _, _, err := r.links().Relations(r.factQuery(found, out.Mode, &t))
		var links []graph.Link
		if err == nil {
			links, err = r.links().Load(rels, r.Filter)
		}
		if err != nil {
			r.Logger.Warn("looking up temporal facts failed", "err", err)
			out.Degraded = true
			return
		}
		r.addFacts(out, links, &t)
	}
	slices.SortStableFunc(out.Facts, func(a, b facts.TemporalFact) int { return a.Start.Compare(b.Start) })
	out.Applied = out.Mode != "none"
	out.Duration = duration(r.Query, out.Facts, &t)
}

// factQuery returns the query for the dated relations of chunks.
func (r *run) factQuery(found graph.PartChunks, mode string, t *facts.Temporal) backend.RelationQuery {
	q := backend.RelationQuery{Part: found.Part, Chunks: found.Chunks, AsOf: r.AsOf, KnownAt: r.KnownAt, Dated: true, Limit: factsRead}
	switch {
	case mode == modeCurrent && q.AsOf.IsZero():
		q.AsOf = t.Now
	case mode == modeAsOf && !t.End.IsZero():
		q.AsOf = t.End
	default:
		q.AllTime = q.AsOf.IsZero()
	}
	return q
}

// addFacts adds those facts of links that t asks for.
func (r *run) addFacts(out *facts.TemporalResult, links []graph.Link, t *facts.Temporal) {
	for i := range links {
		l := &links[i]
		if !inWindow(l.Relation, out.Mode, t) || !mentions(l.Relation, t.Events) || r.unknown(l.KnownFrom) {
			continue
		}
		if len(out.Facts) == maxFacts {
			out.Truncated = true
			return
		}
		f := facts.TemporalFact{Subject: l.Subject.Name, Relation: l.Canonical(), Object: l.Object().Name, Type: cmp.Or(l.Kind, "relation"), Status: "current",
			Start: l.ValidFrom, End: l.ValidTo, Precision: cmp.Or(l.Precision, "day"), Phrase: l.Context, ChunkID: l.Proof.Row.Key,
			SourceID: l.Proof.Row.Src.ID, RelationID: l.ID()}
		switch {
		case !l.KnownTo.IsZero() && !l.Retracts && !r.unknown(l.KnownTo):
			f.Status = "superseded"
		case f.Start.After(t.Now):
			f.Status = "upcoming"
		case !f.End.IsZero() && f.End.Before(t.Now):
			f.Status = "past"
		}
		out.Facts = append(out.Facts, f)
	}
}

func inWindow(rel *backend.Relation, mode string, t *facts.Temporal) bool {
	start, end := rel.ValidFrom, rel.ValidTo
	switch mode {
	case modeUpcoming:
		return start.After(t.Now)
	case modeRange:
		return (t.End.IsZero() || !start.After(t.End)) && (t.Start.IsZero() || end.IsZero() && !start.Before(t.Start) || end.After(t.Start))
	}
	return true // the Store has selected the relations that held then
}

func mentions(rel *backend.Relation, phrases []string) bool {
	if len(phrases) == 0 {
		return true
	}
	text := strings.ToLower(rel.Context)
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(text, strings.ToLower(p)) })
}

// durationCues are phrases of a question that asks for a duration.
var durationCues = []string{"how long", "how many days", "how many weeks", "how many months", "how many years"}

// duration answers "how long". It returns the time between the two facts that share most words with
// the question, or from one fact to now. It returns nil if no fact shares an entity's word with the question.
func duration(query string, dated []facts.TemporalFact, t *facts.Temporal) *facts.TemporalDuration {
	if len(dated) == 0 {
		return nil
	}
	q := strings.ToLower(query)
	if !t.DurationToNow && !slices.ContainsFunc(durationCues, func(cue string) bool { return strings.Contains(q, cue) }) {
		return nil
	}
	shared := func(f facts.TemporalFact) float64 {
		n, all := 0.0, 0.0
		for _, w := range strings.Fields(f.Subject + " " + f.Object) {
			all++
			if len(w) > 2 && strings.Contains(q, strings.ToLower(w)) {
				n++
			}
		}
		if all == 0 {
			return 0
		}
		return n / all
	}
	var best []facts.TemporalFact
	conf := 0.0
	for _, f := range dated {
		if s := shared(f); s > 0 && !f.Start.IsZero() {
			best = append(best, f)
			conf = max(conf, s)
		}
	}
	if len(best) == 0 {
		return nil
	}
	slices.SortStableFunc(best, func(a, b facts.TemporalFact) int { return cmp.Compare(shared(b), shared(a)) })
	out := &facts.TemporalDuration{From: &best[0], FromDate: best[0].Start, ToDate: t.Now, Approximate: best[0].Precision != "day", Confidence: conf}
	if strings.Contains(q, "between") && len(best) > 1 && !t.DurationToNow {
		out.To, out.ToDate = &best[1], best[1].Start
		out.Approximate = out.Approximate || best[1].Precision != "day"
	}
	if out.ToDate.Before(out.FromDate) {
		out.From, out.To, out.FromDate, out.ToDate = out.To, out.From, out.ToDate, out.FromDate
	}
	out.Days = int(math.Round(out.ToDate.Sub(out.FromDate).Hours() / 24))
	return out
}
