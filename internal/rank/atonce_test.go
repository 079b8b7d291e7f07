package rank

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/language"
)

// meeting wraps the indexes of a world whose searches wait for each other: the keywords for the begin of the vectors, the vectors for the
// end of the keywords, and the sessions for the first call that reads neighbours.
type meeting struct {
	*world
	vectors, keywords, neighbours chan struct{} // closed when these began, ended, began
	begun                         sync.Once
	ended                         atomic.Int32 // searches of vectors and sessions that ended
	fails                         error        // of the keyword search
}

type (
	meetingVectors struct {
		vectors
		*meeting
	}
	meetingKeywords struct {
		keywords
		*meeting
	}
	meetingGraph struct {
		graphOf
		*meeting
	}
)

func (v meetingVectors) SearchVectors(ctx context.Context, q backend.VectorQuery) ([]backend.Hit, error) {
	defer v.ended.Add(1)
	close(v.meeting.vectors)
	<-v.meeting.keywords
	if v.fails != nil {
		time.Sleep(time.Second)
	}
	return v.vectors.SearchVectors(ctx, q)
}

func (k meetingKeywords) SearchKeywords(ctx context.Context, q backend.KeywordQuery) ([]backend.Hit, error) {
	<-k.meeting.vectors
	defer close(k.meeting.keywords)
	if k.fails != nil {
		k.begun.Do(func() { close(k.neighbours) }) // nothing reads neighbours
		return nil, k.fails
	}
	return k.keywords.SearchKeywords(ctx, q)
}

func (k meetingKeywords) SearchSessions(ctx context.Context, q backend.KeywordQuery) ([]backend.Hit, error) {
	defer k.ended.Add(1)
	<-k.neighbours
	return k.keywords.SearchSessions(ctx, q)
}

func (g meetingGraph) Neighbours(ctx context.Context, part backend.Partition, chunks []int64) ([]backend.Neighbours, error) {
	g.begun.Do(func() { close(g.neighbours) })
	return g.graphOf.Neighbours(ctx, part, chunks)
}

// TestSearchesAtOnce checks that vectors of a large partition are searched while keywords are, and sessions while neighbours are read. A search
// whose keywords fail returns only when the others have ended.
func TestSearchesAtOnce(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]error{"all": nil, "keywords fail": errors.New("the disk is gone")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := conversation()
				w.docs = largeDocs
				m := &meeting{world: w, vectors: make(chan struct{}), keywords: make(chan struct{}), neighbours: make(chan struct{}), fails: fails}
				sp := w.space()
				sp.Vectors, sp.Keywords = meetingVectors{vectors{world: w}, m}, meetingKeywords{keywords{world: w}, m}
				sp.Graph = meetingGraph{graphOf{w.Graph, w}, m}
				e := engine()
				_, err := e.Search(t.Context(), sp, Request{Part: memories, Question: e.Ask("bridge", time.Time{}, language.AllCues), K: 10, Alpha: balanced})
				require.ErrorIs(t, err, fails)
				assert.EqualValues(t, 2, m.ended.Load())
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

// fatal are indexes that panic in searches of vectors or of sessions.
type (
	fatalVectors  struct{ vectors }
	fatalSessions struct{ keywords }
)

func (fatalVectors) SearchVectors(context.Context, backend.VectorQuery) ([]backend.Hit, error) {
	panic("a lost page")
}

func (fatalSessions) SearchSessions(context.Context, backend.KeywordQuery) ([]backend.Hit, error) {
	panic("a lost page")
}

// TestAtOnceKeepsPanics checks that a panic of a search beside others fails the search and does not end the process.
func TestAtOnceKeepsPanics(t *testing.T) {
	t.Parallel()
	w := conversation()
	w.docs = largeDocs
	for name, spoil := range map[string]func(*Space){
		"vectors":  func(sp *Space) { sp.Vectors = fatalVectors{vectors{world: w}} },
		"sessions": func(sp *Space) { sp.Keywords = fatalSessions{keywords{world: w}} },
	} {
		t.Run(name, func(t *testing.T) {
			sp := w.space()
			spoil(&sp)
			e := engine()
			_, err := e.Search(t.Context(), sp, Request{Part: memories, Question: e.Ask("bridge", time.Time{}, language.AllCues), K: 10, Alpha: balanced})
			require.ErrorContains(t, err, "panicked")
		})
	}
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
