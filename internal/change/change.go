// Package change finds out which memories took the place of which. A step in the background compares what each memory says
// with what the same person said nearest to it before; deciders say which of the earlier statements no longer hold: rules,
// which know corrections, cancellations and endings, and a judge where the service has one. What they find is kept in the
// Store as successions, which ranking puts to use.
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
	"github.com/contextmem/contextmem/judge"
)

// Bounds of the confidence of a succession. Of those that are shown nine in ten are right, on conversations that no decider
// was made from.
const (
	Shown  = 0.8 // from here on a memory is shown as superseded
	Orders = 0.5 // above it the later of two memories stands before the earlier one
	Kept   = 0.2 // from here on a caller may want to decide it
	Hints  = 0.1 // from here on a succession is stored: many hints of one question together say which memory holds now
)

// rulesVersion is raised when the rules change, so that memories are compared again.
const rulesVersion = "rules 5"

// Engine compares memories. It is immutable and safe for concurrent use.
type Engine struct {
	Judge       judge.Judge // nil: rules alone
	Consolidate bool        // what is told again in the same words takes the place of what was told before
	Logger      *slog.Logger
}

// Generation names the deciders: memories that were compared by others are compared again. It is above 0.
func (e *Engine) Generation() int64 {
	h := fnv.New64a()
	h.Write([]byte(rulesVersion))
	if e.Judge != nil {
		h.Write([]byte{0})
		h.Write([]byte(e.Judge.Model()))
	}
	if e.Consolidate {
		h.Write([]byte("\x00" + again + " 2"))
	}
	return int64(h.Sum64()>>2) + 1
}

// Space is an open workspace.
type Space struct {
	Store    backend.Store
	Vectors  backend.Vectors
	Keywords backend.Keywords
	Graph    backend.Graph
	Embedder pipeline.Embedder // that made the vectors in Lane; nil: near memories are found by their words alone
	Model    string            // of Embedder
	Lane     backend.Lane
}

// Compare compares versions with what was said before them, and stores what it finds. Versions that change meanwhile are
// left alone: they come up again. The indexes must have applied the versions.
func (e *Engine) Compare(ctx context.Context, sp *Space, nums []int64) error {
	r := &run{Engine: e, Space: sp, ctx: ctx, now: time.Now(), docs: map[int64]*item.Doc{}}
	if err := r.load(nums); err != nil {
		return err
	}
	if err := r.leaveOut(ctx, sp.Store, r.versions); err != nil {
		return err
	}
	if err := r.embed(); err != nil {
		return err
	}
	out := make([]backend.Compared, len(r.versions))
	for i, v := range r.versions {
		found, err := r.compare(v)
		if err != nil {
			return err
		}
		out[i] = backend.Compared{Source: v.src.Version(), Found: found}
	}
	_, err := sp.Store.Compare(ctx, e.Generation(), out)
	return err
}

// run is one call of Compare.
type run struct {
	*Engine
	*Space
	ctx      context.Context
	now      time.Time
	versions []*version
	docs     map[int64]*item.Doc // of sources
}

// version is a memory that is compared.
type version struct {
	src  *backend.Source
	said []*said
}

// read adds what the user said in chunks of the version.
func (v *version) read(doc *item.Doc, chunks []backend.Chunk) {
	for i := range chunks {
		if s := read(doc, v.src, &chunks[i]); s != nil {
			v.said = append(v.said, s)
		}
	}
}

func (r *run) load(nums []int64) error {
	srcs, err := r.Store.SourcesByNum(r.ctx, nums)
	if err != nil {
		return err
	}
	for _, src := range srcs {
		if src == nil {
			continue
		}
		doc, err := r.doc(src)
		if err != nil {
			return err
		}
		chunks, err := r.Store.SourceChunks(r.ctx, src.Num, 0, maxChunks, false)
		if err != nil {
			return err
		}
		v := &version{src: src}
		v.read(doc, chunks)
		r.versions = append(r.versions, v)
	}
	return nil
}

// Settled tells which memories need no comparison once they are stored, under [Engine.Generation]: Compare would find nothing near them to look at.
// It returns none where it can't tell.
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
		settled[i] = len(v.said) == 0
	}
	return settled
}

// leaveOut drops what was said that neither changes what was said before, as far as the rules can tell, nor can be changed by it,
// so that nothing near it needs to be found.
func (e *Engine) leaveOut(ctx context.Context, st backend.Store, versions []*version) error {
	x, ok := st.(backend.AheadTeller)
	if !ok || e.Judge != nil || e.Consolidate {
		return nil
	}
	still := map[backend.Partition][]*version{}
	for _, v := range versions {
		if v.src.Time.IsZero() && !slices.ContainsFunc(v.said, (*said).cued) { // a dated one may have been told before what came in before it
			still[v.src.Part] = append(still[v.src.Part], v)
		}
	}
	for part, all := range still {
		// What is not ahead of the first is ahead of none, which is so where nothing has a time to come.
		slices.SortStableFunc(all, func(a, b *version) int { return b.src.CreatedAt.Compare(a.src.CreatedAt) })
		for len(all) > 0 {
			ahead, err := x.AnyAhead(ctx, part, all[len(all)-1].src.CreatedAt)
			if err != nil {
				return err
			}
			if !ahead {
				break
			}
			all = all[:len(all)-1] // it stays
		}
		for _, v := range all {
			v.said = nil
		}
	}
	return nil
}

func (r *run) doc(src *backend.Source) (*item.Doc, error) {
	if d := r.docs[src.Num]; d != nil {
		return d, nil
	}
	d, err := item.Decode(src.Doc)
	if err != nil {
		return nil, fmt.Errorf("source %d: %w", src.Num, err)
	}
	r.docs[src.Num] = d
	return d, nil
}

// embed makes the vectors by which near memories are found.
func (r *run) embed() error {
	if r.Embedder == nil {
		return nil
	}
	var texts []string
	var to []*said
	for _, v := range r.versions {
		for _, s := range v.said {
			texts, to = append(texts, s.text), append(to, s)
		}
	}
	vs, err := r.vectors(texts)
	for i, v := range vs {
		to[i].vector = v
	}
	return err
}

// vectors embeds texts.
func (r *run) vectors(texts []string) (out [][]float32, err error) {
	for from := 0; from < len(texts); from += embedAtOnce {
		part := texts[from:min(from+embedAtOnce, len(texts))]
		var vs [][]float32
		err := fault.Guard(func() (err error) {
			vs, err = r.Embedder.EmbedDocuments(r.ctx, part)
			return err
		})
		if err == nil && len(vs) != len(part) {
			err = errors.New("another number of vectors")
		}
		if err != nil {
			return nil, fmt.Errorf("embedder: %w", err)
		}
		out = append(out, vs...)
	}
	return out, nil
}

// compare returns the successions of a version.
func (r *run) compare(v *version) (out []backend.Succession, err error) {
	for _, s := range v.said {
		near, err := r.near(s)
		if err != nil {
			return nil, err
		}
		found, err := r.decide(s, near)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return best(out), nil
}

// best keeps the most certain succession of two versions.
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

// decide asks the deciders about what was said and what stands near it.
func (r *run) decide(s *said, near []*said) ([]backend.Succession, error) {
	if len(near) == 0 {
		return nil, nil
	}
	verdicts := make([]verdict, len(near))
	if err := r.rules(s, near, verdicts); err != nil {
		return nil, err
	}
	if err := r.judge(s, near, verdicts); err != nil {
		return nil, err
	}
	if r.Consolidate {
		consolidate(s, near, verdicts)
	}
	var out []backend.Succession
	for i, x := range verdicts {
		later, earlier := order(s, near[i])
		if x.confidence < Hints || x.confidence < Kept && !(later.own && earlier.own) {
			continue
		}
		if x.confidence < Kept { // it takes no more room than its numbers
			out = append(out, backend.Succession{Later: later.src.Num, Earlier: earlier.src.Num, LaterChunk: later.ordinal, EarlierChunk: earlier.ordinal,
				Decider: x.decider, Confidence: x.confidence, Created: r.now})
			continue
		}
		extra, err := r.matter(later, earlier, &x)
		if err != nil {
			return nil, err
		}
		out = append(out, backend.Succession{Extra: extra, Later: later.src.Num, Earlier: earlier.src.Num, LaterChunk: later.ordinal, EarlierChunk: earlier.ordinal,
			Retracts: x.retracts, Matter: x.matter, Evidence: x.evidence, Decider: x.decider, Confidence: x.confidence, Created: r.now})
	}
	return out, nil
}

// order returns which of two was said later, and which earlier.
func order(a, b *said) (later, earlier *said) {
	if a.after(b) {
		return a, b
	}
	return b, a
}

// after reports whether s was said after o.
func (s *said) after(o *said) bool {
	if a, b := item.Told(s.src), item.Told(o.src); !a.Equal(b) {
		return a.After(b)
	}
	return s.src.Num > o.src.Num
}

// rules lets the rules decide.
func (r *run) rules(s *said, near []*said, out []verdict) error {
	words := map[*said]*vocabulary{}
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
		if x, ok := byRules(later, earlier, words[later]); ok {
			out[i] = x
		}
	}
	return nil
}

// vocabulary looks up how often the terms of what was said are used.
func (r *run) vocabulary(s *said) (*vocabulary, error) {
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

// judge asks the judge where there is one, and keeps what is more certain.
func (r *run) judge(s *said, near []*said, out []verdict) error {
	if r.Judge == nil {
		return nil
	}
	pairs := make([]judge.Pair, len(near))
	statement := func(x *said) judge.Statement {
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
	narrow, ok := r.Judge.(judge.Narrow)
	alone := ok && narrow.Narrow() && s.vector != nil
	for i, p := range probs {
		later, earlier := order(s, near[i])
		switch {
		case !alone:
		case later.own && earlier.own:
			p = amongOthers(p, near[i].out)
		default: // people who talk with each other come back to what they said, and mostly replace nothing
			p = min(p, Orders)
		}
		if !later.settles() {
			p *= unsettled
		}
		if p > out[i].confidence && p <= 1 {
			out[i] = verdict{confidence: p, matter: short(earlier.text), evidence: short(later.text), decider: "judge: " + r.Judge.Model()}
		}
	}
	return nil
}

// A narrow judge sees two statements and not the others. That an earlier statement is much nearer to the later one than the others are says as much
// as the judge does, and both together twice as much: see docs/recall.md.
const (
	judgeSlope  = .65 // of the logit of the judge's probability
	othersSlope = 1.55
	othersShift = -1.6
	surest      = 1e-6 // of a probability, from 0 and from 1
)

// amongOthers returns a judge's probability as what it is of a statement that stands out among the others by some deviations.
func amongOthers(p, out float64) float64 {
	p = min(max(p, surest), 1-surest)
	return 1 / (1 + math.Exp(-(judgeSlope*math.Log(p/(1-p)) + othersSlope*out + othersShift)))
}

// replaces asks the judge.
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
