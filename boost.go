package contextmem

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/lexical"
)

// boostName is the workspace value that holds what feedback taught.
const boostName = "feedback_boosts"

const (
	boostStep   = .05 // of the best score, for one opinion
	boostBound  = .15 // most that feedback moves a source, either way
	boostAnswer = 2   // a ground truth weighs as much as two ratings
	boostLimit  = 2000
	boostWords  = 12
)

// boosts are opinions by question and source. A boost applies to questions that
// share most words with the one it came from.
type boosts struct {
	Opinions []opinion `json:"o"`
}

type opinion struct {
	Feedback string             `json:"f"`
	Class    Class              `json:"c"`
	Subs     []string           `json:"s"`
	Terms    []string           `json:"t"` // of the question, sorted
	Sources  map[string]float64 `json:"b"` // source id -> weight, positive or negative
}

// BoostReport says what feedback changed.
type BoostReport struct {
	FeedbackID string
	Terms      []string           // of the questions it applies to
	Sources    map[string]float64 // source id -> what was added, as a share of the best score
}

func questionTerms(q string) []string {
	var out []string
	for _, t := range lexical.ParseQuery(q, lexical.Or).Terms {
		out = append(out, t.Term)
	}
	slices.Sort(out)
	return slices.Compact(out)[:min(len(slices.Compact(out)), boostWords)]
}

func (s *Service) readBoosts(ctx context.Context, st backend.Store) (*boosts, error) {
	b, err := st.Get(ctx, boostName)
	if err != nil || b == nil {
		return &boosts{}, err
	}
	out := new(boosts)
	if err := json.Unmarshal(b, out); err != nil {
		return nil, fmt.Errorf("boosts of feedback: %w", backend.ErrCorrupt)
	}
	return out, nil
}

// learn turns feedback on a remembered recall into boosts.
func (s *Service) learn(ctx context.Context, org string, f Feedback, seen recalled) error {
	o := opinion{Feedback: f.ID, Class: seen.class, Subs: seen.subs, Terms: questionTerms(seen.query), Sources: map[string]float64{}}
	for _, id := range f.GroundTruth.SourceIDs {
		o.Sources[id] = boostAnswer * boostStep
	}
	if len(o.Sources) == 0 {
		sign := map[Rating]float64{RatingPositive: 1, RatingNegative: -1}[f.Rating]
		for i, id := range seen.sources[:min(3, len(seen.sources))] {
			if sign != 0 {
				o.Sources[id] = sign * boostStep / float64(i+1)
			}
		}
	}
	if len(o.Sources) == 0 || len(o.Terms) == 0 {
		return nil
	}
	h, err := s.acquire(ctx, "add feedback", org, seen.tenant)
	if err != nil {
		return err
	}
	defer s.spaces.Release(h.uid)
	return s.changeBoosts(ctx, h.space, func(b *boosts) {
		b.Opinions = append(b.Opinions, o)
		b.Opinions = b.Opinions[max(0, len(b.Opinions)-boostLimit):]
	})
}

func (s *Service) changeBoosts(ctx context.Context, sp *space, f func(b *boosts)) error {
	sp.edits.Lock()
	defer sp.edits.Unlock()
	b, err := s.readBoosts(ctx, sp.store)
	if err != nil {
		return err
	}
	f(b)
	data, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return sp.store.Set(ctx, boostName, data)
}

// Boosts reports what feedback changed in the tenant, oldest first. See
// Options.FeedbackBoosts.
func (t Tenant) Boosts(ctx context.Context) ([]BoostReport, error) {
	const op = "list boosts"
	h, err := t.svc.open(ctx, op, t.org, t.tenant)
	if err != nil {
		return nil, err
	}
	defer h.release()
	b, err := t.svc.readBoosts(ctx, h.store)
	if err != nil {
		return nil, wrap(op, ResourceTenant, t.tenant, err)
	}
	out := make([]BoostReport, len(b.Opinions))
	for i, o := range b.Opinions {
		out[i] = BoostReport{FeedbackID: o.Feedback, Terms: o.Terms, Sources: o.Sources}
	}
	return out, nil
}

// DropBoosts takes back what a feedback changed. ErrNotFound when it changed nothing.
func (t Tenant) DropBoosts(ctx context.Context, feedbackID string) error {
	const op = "drop boosts"
	h, err := t.svc.open(ctx, op, t.org, t.tenant)
	if err != nil {
		return err
	}
	defer h.release()
	found := false
	err = t.svc.changeBoosts(ctx, h.space, func(b *boosts) {
		b.Opinions = slices.DeleteFunc(b.Opinions, func(o opinion) bool {
			found = found || o.Feedback == feedbackID
			return o.Feedback == feedbackID
		})
	})
	if err == nil && !found {
		return &Error{Op: op, Kind: KindNotFound, Resource: ResourceFeedback, ID: shortID(feedbackID), Err: errors.New("it changed nothing")}
	}
	return wrap(op, ResourceTenant, t.tenant, err)
}

// boosted is a source that opinions are about.
type boosted struct {
	part backend.Partition
	id   string
}

// boost moves hits by what feedback on similar questions said of their sources.
func (r *recallRun) boost(ctx context.Context, hits []*scopeHit) error {
	b, err := r.svc.readBoosts(ctx, r.held.store)
	if err != nil || len(b.Opinions) == 0 || len(hits) == 0 {
		return err
	}
	terms := questionTerms(r.q.Query)
	sum := map[boosted]float64{}
	for _, o := range b.Opinions {
		shared := 0
		for _, t := range o.Terms {
			if _, ok := slices.BinarySearch(terms, t); ok {
				shared++
			}
		}
		// Half of the words of both questions, at least.
		if like := float64(shared) / math.Max(float64(len(o.Terms)), float64(len(terms))); like >= .5 {
			for id, w := range o.Sources {
				for _, sub := range o.Subs {
					for _, class := range [...]Class{ClassKnowledge, ClassMemory} {
						if o.Class == class || o.Class == ClassAll {
							sum[boosted{backend.Partition{Class: backend.Class(class), Sub: sub}, id}] += like * w
						}
					}
				}
			}
		}
	}
	top := hits[0].Score
	for i := range hits {
		src := hits[i].row.Src
		if w := sum[boosted{src.Part, src.ID}]; w != 0 {
			lift := top * math.Max(-boostBound, math.Min(boostBound, w))
			hits[i].parts.Feedback = lift
			hits[i].Score += lift
		}
	}
	return nil
}
