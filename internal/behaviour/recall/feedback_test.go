package recall_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/servicetest"
)

func TestFeedbackBoosts(t *testing.T) {
	t.Parallel()
	svc, acme := servicetest.Open(t, &contextmem.Options{FeedbackBoosts: true})
	s := acme.Sub("a")
	servicetest.Remember(t, s, contextmem.Memory{ID: "1", Text: "The kettle is on the left shelf."}, contextmem.Memory{ID: "2", Text: "The kettle is on the right shelf."})
	score := func() (float64, contextmem.Result) {
		res, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "which shelf is the kettle on"})
		require.NoError(t, err)
		i := slices.IndexFunc(res.Chunks, func(c contextmem.Chunk) bool { return c.SourceID == "2" })
		return res.Chunks[i].Score, *res
	}
	before, res := score()
	var fs []contextmem.Feedback
	for range 10 {
		f, err := svc.AddFeedback(t.Context(), contextmem.Feedback{RequestID: res.RequestID, Text: "no", GroundTruth: contextmem.GroundTruth{SourceIDs: []string{"2", "2", " "}}})
		require.NoError(t, err)
		require.True(t, f.Known)
		fs = append(fs, f)
	}
	after, _ := score()
	require.Greater(t, after, before)
	require.LessOrEqual(t, after, before+.15*max(before, res.Chunks[0].Score)+1e-9, "bounded")
	bs, err := acme.Boosts(t.Context())
	require.NoError(t, err)
	require.Len(t, bs, 10)
	for _, f := range fs {
		require.NoError(t, acme.DropBoosts(t.Context(), f.ID))
		require.ErrorIs(t, acme.DropBoosts(t.Context(), f.ID), contextmem.ErrNotFound)
	}
	again, _ := score()
	require.InDelta(t, before, again, 1e-9, "reversible")
	f, err := svc.AddFeedback(t.Context(), contextmem.Feedback{RequestID: contextmem.NewRequestID(), Text: "x"})
	require.NoError(t, err)
	require.False(t, f.Known)
	page, err := svc.ListFeedback(t.Context(), fs[4].ID, 3)
	require.NoError(t, err)
	require.Len(t, page, 3)
	require.Equal(t, fs[5].ID, page[0].ID)
}

// TestFeedbackBoostsWhere checks that feedback has no effect without the option. With it, feedback affects only the
// partition of the recall, and the explanation reports the effect.
func TestFeedbackBoostsWhere(t *testing.T) {
	t.Parallel()
	for _, on := range []bool{false, true} {
		t.Run(fmt.Sprint(on), func(t *testing.T) {
			t.Parallel()
			svc, acme := servicetest.Open(t, &contextmem.Options{FeedbackBoosts: on})
			for _, sub := range []string{"a", "b"} {
				servicetest.Remember(t, acme.Sub(sub), contextmem.Memory{ID: "1", Text: "The kettle is on the left shelf."}, contextmem.Memory{ID: "2", Text: "The kettle is on the right shelf."})
			}
			look := func(sub string) (string, contextmem.Chunk) {
				res, err := acme.Sub(sub).Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "which shelf is the kettle on"})
				require.NoError(t, err)
				i := slices.IndexFunc(res.Chunks, func(c contextmem.Chunk) bool { return c.SourceID == "2" })
				return res.RequestID, res.Chunks[i]
			}
			id, before := look("a")
			_, other := look("b")
			_, err := svc.AddFeedback(t.Context(), contextmem.Feedback{RequestID: id, Text: "no", GroundTruth: contextmem.GroundTruth{SourceIDs: []string{"2"}}})
			require.NoError(t, err)
			_, after := look("a")
			_, still := look("b")
			require.Zero(t, before.Explain.Feedback)
			require.InDelta(t, other.Score, still.Score, 1e-9)
			require.Zero(t, still.Explain.Feedback)
			if !on {
				require.InDelta(t, before.Score, after.Score, 1e-9)
				require.Zero(t, after.Explain.Feedback)
				return
			}
			require.Positive(t, after.Explain.Feedback)
			require.InDelta(t, before.Score+after.Explain.Feedback, after.Score, 1e-9)
		})
	}
}

// TestRatingsMoveTheShownSources checks that a rating without a ground truth affects the first three sources, the first
// one most. A negative rating lowers them. Both are bounded and affect only the class of the recall.
func TestRatingsMoveTheShownSources(t *testing.T) {
	t.Parallel()
	svc, acme := servicetest.Open(t, &contextmem.Options{FeedbackBoosts: true})
	s := acme.Sub("a")
	for i, side := range []string{"left", "right", "upper", "lower"} {
		servicetest.Remember(t, s, contextmem.Memory{ID: fmt.Sprint(i), Text: "The kettle is on the " + side + " shelf."})
		servicetest.AddDocuments(t, s, contextmem.File{ID: fmt.Sprint(i), Data: []byte("The kettle is on the " + side + " shelf.")})
	}
	ask := func(class contextmem.Class) (string, map[string]float64, float64) {
		res, err := s.Recall(t.Context(), contextmem.Recall{Class: class, Query: "which shelf is the kettle on"})
		require.NoError(t, err)
		lifts := map[string]float64{}
		top := 0.0
		for _, c := range res.Chunks {
			lifts[c.SourceID] = c.Explain.Feedback
			top = max(top, c.Score-c.Explain.Feedback)
		}
		return res.RequestID, lifts, top
	}
	request, _, top := ask(contextmem.ClassMemory)
	rate := func(r contextmem.Rating) {
		_, err := svc.AddFeedback(t.Context(), contextmem.Feedback{RequestID: request, Text: "so", Rating: r})
		require.NoError(t, err)
	}
	rate(contextmem.RatingNegative)
	_, lifts, _ := ask(contextmem.ClassMemory)
	var values []float64
	for _, v := range lifts {
		values = append(values, v/top)
	}
	slices.Sort(values)
	require.InDeltaSlice(t, []float64{-.05, -.025, -.05 / 3, 0}, values, 1e-9)
	for range 20 {
		rate(contextmem.RatingNegative)
	}
	_, lifts, _ = ask(contextmem.ClassMemory)
	least := 0.0
	for _, v := range lifts {
		least = min(least, v)
	}
	require.InDelta(t, -.15*top, least, 1e-9, "bounded")
	_, lifts, _ = ask(contextmem.ClassKnowledge)
	for id, v := range lifts {
		require.Zero(t, v, "source %s of the other class", id)
	}
	for range 60 {
		rate(contextmem.RatingPositive)
	}
	_, lifts, top = ask(contextmem.ClassMemory)
	most := 0.0
	for _, v := range lifts {
		most = max(most, v)
	}
	require.InDelta(t, .15*top, most, 1e-9)
	bs, err := acme.Boosts(t.Context())
	require.NoError(t, err)
	require.Len(t, bs, 81)
	require.Len(t, bs[0].Sources, 3)
	require.NotEmpty(t, bs[0].Terms)
}
