package feedback

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/cas"
	"github.com/contextmem/contextmem/internal/lexical"
)

// boostName is the key of a workspace's opinions in the Store.
const boostName = "feedback_boosts"

const (
	boostStep    = .05 // effect of one opinion, as a share of the best score
	boostBound   = .15 // maximum effect of all feedback on a source, up or down
	boostAnswer  = 2   // weight of a ground truth relative to a rating
	boostSources = 3   // number of sources of a rated answer, from the first, that the rating counts for
	boostLimit   = 2000
	boostWords   = 12
	boostLike    = .5 // minimum share of common words of two questions
)

// Opinion is the effect of one feedback on sources, for questions that share most words with the rated one.
type Opinion struct {
	Feedback string             `json:"f"` // id of the feedback
	Class    uint8              `json:"c"`
	Subs     []string           `json:"s"`
	Terms    []string           `json:"t"` // words of the question, sorted
	Sources  map[string]float64 `json:"b"` // source id -> weight, positive or negative
}

// boosts is the stored form of opinions.
type boosts struct {
	Opinions []Opinion `json:"o"`
}

// Target is a source that an opinion moves.
type Target struct {
	Part backend.Partition
	ID   string
}

func questionTerms(q string) []string {
	var out []string
	for _, t := range lexical.ParseQuery(q, lexical.Or).Terms {
		if !lexical.IsStem(t.Term) {
			out = append(out, t.Term)
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), boostWords)]
}

// OpinionOf returns the effect of a rating, or of the ids of the right sources, on the sources of a recall.
// rating is 1, -1 or 0. It returns false if there is no effect.
func OpinionOf(id string, rating float64, right []string, seen *Recalled) (Opinion, bool) {
	o := Opinion{Feedback: id, Class: seen.Class, Subs: seen.Subs, Terms: questionTerms(seen.Query), Sources: map[string]float64{}}
	for _, id := range right {
		o.Sources[id] = boostAnswer * boostStep
	}
	if len(o.Sources) == 0 && rating != 0 {
		for i, id := range seen.Sources[:min(boostSources, len(seen.Sources))] {
			o.Sources[id] = rating * boostStep / float64(i+1)
		}
	}
	return o, len(o.Sources) > 0 && len(o.Terms) > 0
}

// Opinions returns the opinions of a tenant, oldest first.
func Opinions(ctx context.Context, st backend.Store) ([]Opinion, error) {
	b, err := st.Get(ctx, boostName)
	if err != nil {
		return nil, err
	}
	return decodeOpinions(b)
}

// decodeOpinions decodes the stored form; nil holds no opinions.
func decodeOpinions(b []byte) ([]Opinion, error) {
	var out boosts
	if b != nil && json.Unmarshal(b, &out) != nil {
		return nil, fmt.Errorf("boosts of feedback: %w", backend.ErrCorrupt)
	}
	return out.Opinions, nil
}

// Learn stores an opinion. The mutex edits serializes the changes of one process.
func Learn(ctx context.Context, st backend.Store, edits *sync.Mutex, o Opinion) error {
	return change(ctx, st, edits, func(all []Opinion) []Opinion {
		all = append(all, o)
		return all[max(0, len(all)-boostLimit):]
	})
}

// Forget removes the opinions of a feedback and reports whether there were any. edits is as in [Learn].
func Forget(ctx context.Context, st backend.Store, edits *sync.Mutex, id string) (found bool, err error) {
	err = change(ctx, st, edits, func(all []Opinion) []Opinion {
		found = false // only the last attempt counts
		return slices.DeleteFunc(all, func(o Opinion) bool {
			found = found || o.Feedback == id
			return o.Feedback == id
		})
	})
	return found, err
}

// Erase removes the opinions for which gone returns true, and returns their number. edits is as in [Learn].
func Erase(ctx context.Context, st backend.Store, edits *sync.Mutex, gone func(o Opinion) bool) (n int, err error) {
	all, err := Opinions(ctx, st)
	if err != nil || !slices.ContainsFunc(all, gone) {
		return 0, err
	}
	err = change(ctx, st, edits, func(all []Opinion) []Opinion {
		n = len(all)
		all = slices.DeleteFunc(all, gone)
		n -= len(all)
		return all
	})
	return n, err
}

func change(ctx context.Context, st backend.Store, edits *sync.Mutex, f func([]Opinion) []Opinion) error {
	edits.Lock() // changes of one process wait here, which saves failed attempts
	defer edits.Unlock()
	return cas.Retry(ctx, func() error {
		old, err := st.Get(ctx, boostName)
		if err != nil {
			return err
		}
		all, err := decodeOpinions(old)
		if err != nil {
			return err
		}
		data, err := json.Marshal(boosts{f(all)})
		if err != nil {
			return err
		}
		return st.Set(ctx, boostName, old, data)
	})
}

// classAll stands for both classes in an opinion.
const classAll = 9

// Lifts returns the effect of opinions on similar questions on each source, as a share of the best score from -boostBound to boostBound.
func Lifts(ctx context.Context, st backend.Store, query string) (map[Target]float64, error) {
	all, err := Opinions(ctx, st)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	terms := questionTerms(query)
	sum := map[Target]float64{}
	for i := range all {
		o := &all[i]
		like := o.like(terms)
		if like < boostLike {
			continue
		}
		for id, w := range o.Sources {
			for _, sub := range o.Subs {
				for _, class := range [...]backend.Class{backend.Knowledge, backend.Memory} {
					if o.Class == uint8(class) || o.Class == classAll {
						sum[Target{backend.Partition{Class: class, Sub: sub}, id}] += like * w
					}
				}
			}
		}
	}
	for t := range maps.Keys(sum) {
		sum[t] = math.Max(-boostBound, math.Min(boostBound, sum[t]))
	}
	return sum, nil
}

// like returns the share of words that a question has in common with the opinion's question.
func (o *Opinion) like(terms []string) float64 {
	shared := 0
	for _, t := range o.Terms {
		if _, ok := slices.BinarySearch(terms, t); ok {
			shared++
		}
	}
	return float64(shared) / math.Max(float64(len(o.Terms)), float64(len(terms)))
}
