package rank

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/language"
)

// patient is a vector search that waits for the end of a search of sessions.
type patient struct {
	vectors
	begun, sessions chan struct{}
	ended           *bool
}

func (p patient) SearchVectors(ctx context.Context, q backend.VectorQuery) ([]backend.Hit, error) {
	close(p.begun)
	<-p.sessions
	*p.ended = true
	return p.vectors.SearchVectors(ctx, q)
}

// told is a keyword search that tells when the sessions were searched. It fails with err.
type told struct {
	keywords
	begun, sessions chan struct{}
	err             error
}

func (k told) SearchKeywords(ctx context.Context, q backend.KeywordQuery) ([]backend.Hit, error) {
	if k.err != nil {
		<-k.begun
		time.AfterFunc(time.Second, func() { close(k.sessions) })
		return nil, k.err
	}
	return k.keywords.SearchKeywords(ctx, q)
}

func (k told) SearchSessions(ctx context.Context, q backend.KeywordQuery) ([]backend.Hit, error) {
	defer close(k.sessions)
	return k.keywords.SearchSessions(ctx, q)
}

// TestSearchesAtOnce checks that vectors of a large partition are searched while keywords and sessions are, and that a search whose keywords
// fail returns only when the search of the vectors has ended.
func TestSearchesAtOnce(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]error{"both": nil, "keywords fail": errors.New("the disk is gone")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := conversation()
				w.docs = largeDocs
				begun, sessions, ended := make(chan struct{}), make(chan struct{}), false
				sp := w.space()
				sp.Vectors = patient{vectors{world: w}, begun, sessions, &ended}
				sp.Keywords = told{keywords{world: w}, begun, sessions, fails}
				e := engine()
				_, err := e.Search(t.Context(), sp, Request{Part: memories, Question: e.Ask("bridge", time.Time{}, language.AllCues), K: 10, Alpha: balanced})
				require.ErrorIs(t, err, fails)
				assert.True(t, ended)
			})
		})
	}
}

// TestAtOnceRanksEqually checks that searches at once lead to the ranking of searches one after the other.
func TestAtOnceRanksEqually(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 12))
	for range 200 {
		w := randomWorld(rng)
		w.sessions = map[int64]float32{1: 1 + rng.Float32()} // the fake sorts sessions with equal scores in no fixed order
		for _, thinking := range []bool{false, true} {
			var got [2][]Scored
			for i, docs := range []int{largeDocs - 1, largeDocs} {
				w.docs = docs
				got[i] = hitsOf(search(t, engine(), w, Request{Part: memories, K: 10, Thinking: thinking, Alpha: balanced}))
			}
			require.Equal(t, got[0], got[1])
		}
	}
}

// fatal is a vector search that panics.
type fatal struct{ vectors }

func (fatal) SearchVectors(context.Context, backend.VectorQuery) ([]backend.Hit, error) {
	panic("a lost page")
}

// TestAtOnceKeepsPanics checks that a panic of the vector search fails the search and does not end the process.
func TestAtOnceKeepsPanics(t *testing.T) {
	t.Parallel()
	w := conversation()
	w.docs = largeDocs
	sp := w.space()
	sp.Vectors = fatal{vectors{world: w}}
	e := engine()
	_, err := e.Search(t.Context(), sp, Request{Part: memories, Question: e.Ask("bridge", time.Time{}, language.AllCues), K: 10, Alpha: balanced})
	require.ErrorContains(t, err, "panicked")
}

// recalled wraps the vectors of an index and records the recall asked for.
type recalled struct {
	vectors
	asked *[]float32
}

func (r recalled) SearchVectors(ctx context.Context, q backend.VectorQuery) ([]backend.Hit, error) {
	*r.asked = append(*r.asked, q.Recall)
	return r.vectors.SearchVectors(ctx, q)
}

// TestPoolRecall checks that a calibrated embedder's list is found as well as the index does by default, and other lists less well.
func TestPoolRecall(t *testing.T) {
	t.Parallel()
	for want, unrelated := range map[float32]*Spread{.8: nil, 0: {Mean: .1, Std: .1}} {
		t.Run(fmt.Sprint(want), func(t *testing.T) {
			t.Parallel()
			var asked []float32
			w := conversation()
			sp := w.space()
			sp.Vectors = recalled{vectors{world: w}, &asked}
			e := engine()
			e.Unrelated = unrelated
			_, err := e.Search(t.Context(), sp, Request{Part: memories, Question: e.Ask("bridge", time.Time{}, language.AllCues), K: 10, Alpha: balanced})
			require.NoError(t, err)
			assert.Equal(t, []float32{want}, asked)
		})
	}
}
