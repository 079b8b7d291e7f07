// Package change finds out which memories replace which. A background step compares the statements of each memory with the nearest earlier
// statements of the same person. Deciders say which of the earlier ones no longer hold: rules, which know corrections, cancellations and
// endings, and a judge if the service has one. The Store keeps the results as successions, and ranking uses them.
package change

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/pipeline"
	"github.com/contextmem/contextmem/internal/slot"
	"github.com/contextmem/contextmem/judge"
)

// Bounds of the confidence of a succession. Nine in ten of the shown ones are right, on conversations that no decider was made from.
const (
	Shown  = 0.8 // from here on a memory is shown as superseded
	Orders = 0.5 // above it ranking puts the later of two memories before the earlier one
	Kept   = 0.2 // from here on a succession is listed for a caller to decide
	Hints  = 0.1 // from here on a succession is stored: several hints for one question together show which memory holds
)

// rulesVersion is changed together with the rules, so that memories are compared again.
const rulesVersion = "rules 18"

// Engine compares memories. It is safe for concurrent use.
type Engine struct {
	Judge       judge.Judge    // nil: rules alone
	Consolidate bool           // a repeat in the same words replaces the earlier statement
	Slots       *slot.Taxonomy // names the matters of facts; nil: the standard slots
	Logger      *slog.Logger

	fixed fixedVectors
}

// Generation returns a positive number that identifies the deciders. Memories that other deciders compared are compared again.
func (e *Engine) Generation() int64 {
	h := fnv.New64a()
	h.Write([]byte(rulesVersion))
	if e.Slots != nil {
		h.Write([]byte(e.Slots.Additions()))
	}
	if e.Judge != nil {
		h.Write([]byte{0})
		h.Write([]byte(e.Judge.Model()))
	}
	if e.Consolidate {
		h.Write([]byte("\x00" + again + " 2"))
	}
	return int64(h.Sum64()>>2) + 1
}

// Space holds the parts of an open workspace that Compare uses.
type Space struct {
	Store    backend.Store
	Vectors  backend.Vectors
	Keywords backend.Keywords
	Graph    backend.Graph
	Embedder pipeline.Embedder // made the vectors in Lane; nil: near memories are found by words alone
	Model    string            // name of Embedder
	Lane     backend.Lane
	Yield    func() // called between searches, so that recalls come first; nil: it is not called
}

// Compare compares versions with earlier statements and stores the successions that it finds.
// It skips versions that change meanwhile: they are due again later. The indexes must have applied the versions.
func (e *Engine) Compare(ctx context.Context, sp *Space, nums []int64) error {
	r := &run{Engine: e, Space: sp, ctx: ctx, now: time.Now(), docs: map[int64]*item.Doc{}}
	versions, out, err := r.compareAll(nums)
	if err != nil {
		return err
	}
	if _, err := sp.Store.Compare(ctx, e.Generation(), out); err != nil {
		return err
	}
	again, err := r.outgrown(versions)
	if err != nil || len(again) == 0 {
		return err
	}
	if _, out, err = r.compareAll(again); err != nil {
		return err
	}
	_, err = sp.Store.Compare(ctx, e.Generation(), out)
	return err
}

// compareAll compares versions.
func (r *run) compareAll(nums []int64) ([]*version, []backend.Compared, error) {
	if len(nums) == 0 {
		return nil, nil, nil
	}
	versions, err := r.load(nums)
	if err != nil {
		return nil, nil, err
	}
	if err := r.leaveOut(r.ctx, r.Store, versions); err != nil {
		return nil, nil, err
	}
	if err := r.topics(versions); err != nil {
		return nil, nil, err
	}
	if err := r.embed(versions); err != nil {
		return nil, nil, err
	}
	out := make([]backend.Compared, len(versions))
	for i, v := range versions {
		found, err := r.compare(v)
		if err != nil {
			return nil, nil, err
		}
		out[i] = backend.Compared{Source: v.src.Version(), Found: found}
	}
	return versions, out, nil
}

// run is one call of Compare.
type run struct {
	*Engine
	*Space
	ctx      context.Context
	now      time.Time
	known    int                 // statements known to the index when the last one was compared, vectorsDeep at most
	docs     map[int64]*item.Doc // decoded records by source number
	speakers map[headed]bool     // see topic
}

// Settled reports for each memory in all whether it needs no comparison under [Engine.Generation] once it is stored.
// Compare would find no successions for such a memory. It returns nil if it cannot tell.
func (e *Engine) Settled(ctx context.Context, st backend.Store, all []pipeline.Fresh) []bool {
	versions := make([]*version, len(all))
	for i, f := range all {
		versions[i] = &version{src: f.Source}
		versions[i].read(f.Doc, f.Chunks[:min(len(f.Chunks), maxChunks)])
	}
	if err := fault.Guard(func() error { return e.leaveOut(ctx, st, versions) }); err != nil {
		return nil
	}
	settled := make([]bool, len(all))
	for i, v := range versions {
		settled[i] = len(v.statements) == 0
	}
	return settled
}

// leaveOut drops the statements of versions for which no neighbours have to be found: by the rules, they neither replace earlier statements
// nor can be replaced by stored ones.
func (e *Engine) leaveOut(ctx context.Context, st backend.Store, versions []*version) error {
	x, ok := st.(backend.AheadChecker)
	if !ok || e.Judge != nil || e.Consolidate {
		return nil
	}
	still := map[backend.Partition][]*version{}
	for _, v := range versions {
		if v.src.Time.IsZero() && !slices.ContainsFunc(v.statements, (*statement).cued) { // a dated memory may be earlier than one that was stored before
			still[v.src.Part] = append(still[v.src.Part], v)
		}
	}
	for part, all := range still {
		// If no stored memory is later than the oldest version, none is later than the others. This is the usual case.
		slices.SortStableFunc(all, func(a, b *version) int { return b.src.CreatedAt.Compare(a.src.CreatedAt) })
		for len(all) > 0 {
			ahead, err := x.AnyAhead(ctx, part, all[len(all)-1].src.CreatedAt)
			if err != nil {
				return err
			}
			if !ahead {
				break
			}
			all = all[:len(all)-1] // the oldest version keeps its statements
		}
		for _, v := range all {
			v.statements = nil
		}
	}
	return nil
}

// compare returns the successions between a version and earlier or later memories.
func (r *run) compare(v *version) (out []backend.Succession, err error) {
	for _, s := range v.statements {
		near, err := r.neighbours(s)
		if err != nil {
			return nil, err
		}
		found, err := r.decide(s, near)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
		if found, err = r.corrected(s); err != nil {
			return nil, err
		}
		out = append(out, found...)
		v.known = r.known
	}
	return best(out), nil
}

// best keeps the most certain succession for each pair of versions.
func best(found []backend.Succession) []backend.Succession {
	at := map[[2]int64]int{}
	out := found[:0]
	for _, f := range found {
		k := [2]int64{f.Later, f.Earlier}
		i, ok := at[k]
		switch {
		case !ok:
			at[k] = len(out)
			out = append(out, f)
		case f.Confidence > out[i].Confidence:
			out[i] = f
		}
	}
	return out
}

// decide asks the deciders about a statement and its neighbours.
func (r *run) decide(s *statement, near []*statement) ([]backend.Succession, error) {
	if len(near) == 0 {
		return nil, nil
	}
	verdicts, told := make([]verdict, len(near)), told(near)
	if err := r.rules(s, told, verdicts[:len(told)]); err != nil {
		return nil, err
	}
	if err := r.byName(s, told, verdicts[:len(told)]); err != nil {
		return nil, err
	}
	if err := r.judge(s, told, verdicts[:len(told)]); err != nil {
		return nil, err
	}
	if err := r.notes(s, near, verdicts); err != nil {
		return nil, err
	}
	if r.Consolidate {
		consolidate(s, told, verdicts)
	}
	var out []backend.Succession
	for i, x := range verdicts {
		later, earlier := order(s, near[i])
		if x.confidence < Hints || x.confidence < Kept && !(later.own && earlier.own) {
			continue
		}
		f, err := r.succession(later, earlier, &x)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// succession makes a verdict about two statements a succession.
func (r *run) succession(later, earlier *statement, x *verdict) (backend.Succession, error) {
	f := backend.Succession{Later: later.src.Num, Earlier: earlier.src.Num, LaterChunk: later.ordinal, EarlierChunk: earlier.ordinal, Decider: x.decider, Confidence: x.confidence, Created: r.now}
	if x.confidence < Kept && !OrdersByScores(&f) { // a hint is stored without texts, to save space
		return f, nil
	}
	extra, err := r.matter(later, earlier, x)
	if x.confidence < Kept {
		f.Extra = wrap(x.matters, extra)
		return f, err
	}
	f.Extra, f.Retracts, f.Matter, f.Evidence = wrap(x.matters, extra), x.retracts, x.matter, x.evidence
	return f, err
}

// order returns two statements as the later and the earlier one.
func order(a, b *statement) (later, earlier *statement) {
	if a.after(b) {
		return a, b
	}
	return b, a
}

// after reports whether s was told after o.
func (s *statement) after(o *statement) bool {
	if a, b := item.StatedAt(s.src), item.StatedAt(o.src); !a.Equal(b) {
		return a.After(b)
	}
	return s.src.Num > o.src.Num
}

// rules adds the verdicts of the rules to out.
func (r *run) rules(s *statement, near []*statement, out []verdict) error {
	words := map[*statement]*vocabulary{}
	for i, n := range near {
		later, earlier := order(s, n)
		if !later.cued() {
			continue
		}
		if words[later] == nil {
			v, err := r.vocabulary(later)
			if err != nil {
				return err
			}
			words[later] = v
		}
		if x, ok := byRules(later, earlier, words[later], r.Slots); ok {
			out[i] = x
		}
	}
	keepExact(s, near, out)
	return nil
}

// vocabulary reads how many chunks use each term of a statement.
func (r *run) vocabulary(s *statement) (*vocabulary, error) {
	terms, docs, _, err := r.Keywords.Terms(r.ctx, s.src.Part, s.text)
	if err != nil {
		return nil, err
	}
	v := &vocabulary{docs: docs, df: map[string]int{}}
	for _, t := range terms {
		v.df[t.Term] = t.DF
	}
	return v, nil
}

// judge asks the judge, if there is one, and keeps its verdict where it is more certain than that of the rules.
func (r *run) judge(s *statement, near []*statement, out []verdict) error {
	if r.Judge == nil || len(near) == 0 {
		return nil
	}
	pairs := make([]judge.Pair, len(near))
	statement := func(x *statement) judge.Statement {
		return judge.Statement{Text: x.text, Before: x.before, Time: x.src.Time}
	}
	for i, n := range near {
		later, earlier := order(s, n)
		pairs[i] = judge.Pair{Earlier: statement(earlier), Later: statement(later)}
	}
	probs, err := r.replaces(pairs)
	if err != nil {
		return err
	}
	alone := r.narrow() && s.vector != nil
	for i, p := range probs {
		later, earlier := order(s, near[i])
		switch {
		case !alone:
		case later.own && earlier.own:
			p = amongOthers(p, near[i].out)
		default: // people in a conversation return to earlier statements and mostly replace none
			p = min(p, Orders)
		}
		if !later.assertsTruth() {
			p *= unsettled
		}
		if p > out[i].confidence && p <= 1 {
			out[i] = verdict{confidence: p, matter: short(earlier.text), evidence: short(later.text), decider: "judge: " + r.Judge.Model()}
		}
	}
	return nil
}

// A narrow judge sees only two statements. How much nearer the earlier statement is than the other neighbours says as much as the judge,
// and both together say twice as much: see docs/recall.md.
const (
	judgeSlope  = .65 // factor of the logit of the judge's probability
	othersSlope = 1.55
	othersShift = -1.6
	surest      = 1e-6 // minimum distance of a probability from 0 and from 1
)

// amongOthers corrects a judge's probability for a statement that is nearer than the other neighbours by out standard deviations.
func amongOthers(p, out float64) float64 {
	p = min(max(p, surest), 1-surest)
	return 1 / (1 + math.Exp(-(judgeSlope*math.Log(p/(1-p)) + othersSlope*out + othersShift)))
}

// replaces returns the judge's probability for each pair.
func (r *run) replaces(pairs []judge.Pair) (probs []float64, err error) {
	err = fault.Guard(func() (err error) {
		probs, err = r.Judge.Replaces(r.ctx, pairs)
		return err
	})
	if err == nil && len(probs) != len(pairs) {
		err = errors.New("another number of probabilities")
	}
	if err != nil {
		return nil, fmt.Errorf("judge: %w", err)
	}
	return probs, nil
}
