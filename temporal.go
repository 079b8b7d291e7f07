package contextmem

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/extract/rules"
)

const maxTemporalFacts = 50

// temporal puts dated facts beside the result. It never changes the chunks, and a
// failure only shows in Degraded.
func (r *recallRun) temporal(ctx context.Context, hits []*scopeHit) {
	t := *r.q.Temporal
	if t.Now.IsZero() {
		t.Now = r.now
	}
	cues := r.cuesAt(t.Now)
	out := &TemporalResult{Mode: t.Mode, Facts: []TemporalFact{}}
	r.res.Temporal = out
	switch t.Mode {
	case "current", "as_of", "range", "upcoming":
	default:
		out.Mode, t.Start, t.End = cmp.Or(string(cues.Intent), "none"), cues.WindowStart, cues.WindowEnd
		if cues.Intent == rules.IntentAsOf {
			t.End = cues.Cutoff
		}
	}
	var links []link
	for _, found := range r.chunksOf(hits) {
		q := backend.RelationQuery{Part: found.part, Chunks: found.chunks, AsOf: r.q.AsOf, KnownAt: r.q.KnownAt, Dated: true, Limit: 1000}
		switch {
		case out.Mode == "current" && q.AsOf.IsZero():
			q.AsOf = t.Now
		case out.Mode == "as_of" && !t.End.IsZero():
			q.AsOf = t.End
		default:
			q.AllTime = q.AsOf.IsZero()
		}
		all, err := r.held.store.Relations(ctx, q)
		if err == nil && len(all) == 0 {
			continue
		}
		g := r.reader(ctx, hits)
		if err == nil {
			links, err = g.load(links[:0], all, r.filter)
		}
		if err != nil {
			r.svc.opts.Logger.Warn("looking up temporal facts failed", "err", err)
			out.Degraded = true
			return
		}
		for i := range links {
			rel := &links[i]
			if !inWindow(rel.Relation, out.Mode, t) || !mentions(rel.Relation, t.Events) || r.unknown(rel.KnownFrom) {
				continue
			}
			if len(out.Facts) == maxTemporalFacts {
				out.Truncated = true
				break
			}
			var tr Triplet
			g.triplet(&tr, rel)
			f := TemporalFact{Subject: tr.Source.Name, Relation: tr.Relation.Canonical, Object: tr.Target.Name, Type: cmp.Or(rel.Kind, "relation"), Status: "current",
				Start: rel.ValidFrom, End: rel.ValidTo, Precision: cmp.Or(rel.Precision, "day"), Phrase: rel.Context, ChunkID: tr.Relation.ChunkID,
				SourceID: rel.chunk.row.Src.ID, RelationID: tr.Relation.ID}
			switch {
			case !rel.KnownTo.IsZero() && !rel.Retracts && !r.unknown(rel.KnownTo):
				f.Status = "superseded"
			case f.Start.After(t.Now):
				f.Status = "upcoming"
			case !f.End.IsZero() && f.End.Before(t.Now):
				f.Status = "past"
			}
			out.Facts = append(out.Facts, f)
		}
	}
	slices.SortStableFunc(out.Facts, func(a, b TemporalFact) int { return a.Start.Compare(b.Start) })
	out.Applied = out.Mode != "none"
	out.Duration = duration(r.q.Query, out.Facts, t)
}

// unknown tells whether something of a time was not known yet at the time that the
// query asks for.
func (r *recallRun) unknown(at time.Time) bool {
	return !r.q.KnownAt.IsZero() && at.After(r.q.KnownAt)
}

// later tells whether a source was written after the time whose knowledge the query
// asks for: after its own time, or after it was accepted where it has none.
func (r *recallRun) later(src *backend.Source) bool {
	if src.Time.IsZero() {
		return r.unknown(src.CreatedAt)
	}
	return r.unknown(src.Time)
}

func inWindow(rel *backend.Relation, mode string, t Temporal) bool {
	start, end := rel.ValidFrom, rel.ValidTo
	switch mode {
	case "upcoming":
		return start.After(t.Now)
	case "range":
		return (t.End.IsZero() || !start.After(t.End)) && (t.Start.IsZero() || end.IsZero() && !start.Before(t.Start) || end.After(t.Start))
	}
	return true // the Store has picked what held then
}

func mentions(rel *backend.Relation, phrases []string) bool {
	if len(phrases) == 0 {
		return true
	}
	text := strings.ToLower(rel.Context)
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(text, strings.ToLower(p)) })
}

// durationCues are words of a question that asks for a span.
var durationCues = []string{"how long", "how many days", "how many weeks", "how many months", "how many years"}

// duration answers "how long": between the two facts that share most words with
// the question, or from one to now. Without a shared entity word there is none.
func duration(query string, facts []TemporalFact, t Temporal) *TemporalDuration {
	if len(facts) == 0 {
		return nil
	}
	q := strings.ToLower(query)
	if !t.DurationToNow && !slices.ContainsFunc(durationCues, func(cue string) bool { return strings.Contains(q, cue) }) {
		return nil
	}
	shared := func(f TemporalFact) float64 {
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
	var best []TemporalFact
	conf := 0.0
	for _, f := range facts {
		if s := shared(f); s > 0 && !f.Start.IsZero() {
			best = append(best, f)
			conf = max(conf, s)
		}
	}
	if len(best) == 0 {
		return nil
	}
	slices.SortStableFunc(best, func(a, b TemporalFact) int { return cmp.Compare(shared(b), shared(a)) })
	out := &TemporalDuration{From: &best[0], FromDate: best[0].Start, ToDate: t.Now, Approximate: best[0].Precision != "day", Confidence: conf}
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
