package rank

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/language"
	"github.com/contextmem/contextmem/internal/lexical"
	"github.com/contextmem/contextmem/rerank/local"
)

// memo is a chunk of a fake partition.
type memo struct {
	chunk, source, session int64
	keyword, dense         float32 // scores that the searches return; 0: not found
	far                    float32 // dense score of a chunk that the search does not return
	speaker, text          string
	question, asks, time   bool
	first, second          bool
	at                     time.Time
	entities               []int64
}

// world is a fake partition whose searches return given scores.
type world struct {
	backend.Store
	backend.Graph
	memos    []memo
	sessions map[int64]float32
	terms    []backend.TermInfo
	avg      float32
	docs     int              // number of documents; 0: the number of memos
	rest     []backend.Hit    // hits of a search for weighted terms
	keys     map[string]int64 // entities by key
	mu       sync.Mutex       // guards asked, since searches run at once
	most     int              // number of calls of ScoreChunks that do not fail
	listed   int              // number of keyword searches that do not fail; 0: none fails
	// leavesOut returns the keyword hits without some that a search for k of them does not find, and the highest score of these; nil: it finds all.
	leavesOut func(all []backend.Hit, k int) (some []backend.Hit, unlisted float32)
	asked     struct {
		keywords, vectors int
		lists             []int    // lengths of keyword lists
		scores            int      // calls of ScoreChunks
		chunks            []int64  // chunks that they asked for
		text              []string // texts of the keyword searches, for chunks and for sessions
	}
}

// Types for the indexes of a world, since several have methods of the same name.
type (
	keywords struct {
		backend.Keywords
		*world
	}
	vectors struct {
		backend.Vectors
		*world
	}
)

func (w *world) space() Space {
	return Space{Store: storeOf{w.Store, w}, Graph: graphOf{w.Graph, w}, Keywords: keywords{world: w}, Vectors: vectors{world: w}}
}

type storeOf struct {
	backend.Store
	w *world
}

type graphOf struct {
	backend.Graph
	w *world
}

func hits(ms []memo, score func(m *memo) float32) []backend.Hit {
	var out []backend.Hit
	for i := range ms {
		if v := score(&ms[i]); v != 0 {
			out = append(out, backend.Hit{Chunk: ms[i].chunk, Source: ms[i].source, Score: v})
		}
	}
	slices.SortStableFunc(out, func(a, b backend.Hit) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return int(a.Chunk - b.Chunk)
	})
	return out
}

func (k keywords) SearchKeywords(_ context.Context, q backend.KeywordQuery) ([]backend.Hit, error) {
	if q.Text == "" {
		return k.rest, nil
	}
	k.mu.Lock()
	k.asked.keywords++
	k.asked.text = append(k.asked.text, q.Text)
	k.asked.lists = append(k.asked.lists, q.K)
	k.mu.Unlock()
	if k.listed > 0 && len(k.asked.lists) > k.listed {
		return nil, errors.New("down")
	}
	all := hits(k.memos, func(m *memo) float32 { return m.keyword })
	if k.leavesOut != nil {
		var unlisted float32
		if all, unlisted = k.leavesOut(all, q.K); q.Answer.Unlisted != nil {
			*q.Answer.Unlisted = unlisted
		}
	}
	return all[:min(q.K, len(all))], nil
}

func (k keywords) SearchSessions(_ context.Context, q backend.KeywordQuery) ([]backend.Hit, error) {
	k.mu.Lock()
	k.asked.text = append(k.asked.text, q.Text)
	k.mu.Unlock()
	var out []backend.Hit
	for s, v := range k.sessions {
		out = append(out, backend.Hit{Source: s, Score: v})
	}
	slices.SortFunc(out, func(a, b backend.Hit) int { return int(b.Score*1000) - int(a.Score*1000) })
	return out, nil
}

func (k keywords) Terms(context.Context, backend.Partition, string) ([]backend.TermInfo, int, float32, error) {
	docs := k.docs
	if docs == 0 {
		docs = len(k.memos)
	}
	return k.terms, docs, k.avg, nil
}

func (v vectors) SearchVectors(context.Context, backend.VectorQuery) ([]backend.Hit, error) {
	v.mu.Lock()
	v.asked.vectors++
	v.mu.Unlock()
	return hits(v.memos, func(m *memo) float32 { return m.dense }), nil
}

// scorers are vectors that implement [backend.ChunkScorer].
type scorers struct{ vectors }

// exact are scorers that implement [backend.Exact].
type exact struct {
	scorers
	upTo int
}

func (e exact) ExactUpTo() int { return e.upTo }

func (s scorers) ScoreChunks(_ context.Context, q backend.ScoreQuery) ([]backend.Hit, error) {
	if s.asked.scores++; s.asked.scores > s.most {
		return nil, errors.New("down")
	}
	s.asked.chunks = append(s.asked.chunks, q.Chunks...)
	var out []backend.Hit
	for _, c := range q.Chunks {
		for _, m := range s.memos {
			if m.chunk == c && m.far != 0 {
				out = append(out, backend.Hit{Chunk: c, Source: m.source, Score: m.far})
			}
		}
	}
	return out, nil
}

func (s storeOf) Chunks(_ context.Context, nums []int64, _ time.Time) ([]*backend.Hydrated, error) {
	var out []*backend.Hydrated
	for _, m := range s.w.memos {
		if slices.Contains(nums, m.chunk) {
			out = append(out, &backend.Hydrated{Chunk: backend.Chunk{Num: m.chunk, Text: m.text}, Src: &backend.Source{Num: m.source}})
		}
	}
	return out, nil
}

// textsOnly is a store that reads no more of chunks than their texts.
type textsOnly struct {
	backend.Store
	of storeOf
}

func (s textsOnly) ChunkTexts(ctx context.Context, nums []int64, now time.Time) ([]backend.ChunkText, error) {
	rows, err := s.of.Chunks(ctx, nums, now)
	var out []backend.ChunkText
	for _, r := range rows {
		out = append(out, backend.ChunkText{Num: r.Num, Text: r.Text})
	}
	return out, err
}

func (g graphOf) Neighbours(_ context.Context, _ backend.Partition, chunks []int64) ([]backend.Neighbours, error) {
	out := make([]backend.Neighbours, len(chunks))
	for i, c := range chunks {
		for at, m := range g.w.memos {
			if m.chunk != c {
				continue
			}
			out[i] = backend.Neighbours{Chunk: c, Source: m.source, Session: m.session, Speaker: m.speaker, Question: m.question, Asks: m.asks, HasTime: m.time, First: m.first, Second: m.second, Time: m.at}
			for d := range 2 {
				if j := at - 1 - d; j >= 0 && m.session != 0 && g.w.memos[j].session == m.session {
					out[i].Prev[d] = g.w.memos[j].chunk
				}
				if j := at + 1 + d; j < len(g.w.memos) && m.session != 0 && g.w.memos[j].session == m.session {
					out[i].Next[d] = g.w.memos[j].chunk
				}
			}
		}
	}
	return out, nil
}

func (g graphOf) SessionChunks(_ context.Context, _ backend.Partition, session int64, limit int) ([]int64, error) {
	var out []int64
	for _, m := range g.w.memos {
		if m.session == session && len(out) < limit {
			out = append(out, m.chunk)
		}
	}
	return out, nil
}

func (g graphOf) df(e int64) int {
	n := 0
	for _, m := range g.w.memos {
		if slices.Contains(m.entities, e) {
			n++
		}
	}
	return n
}

func (g graphOf) MatchEntities(_ context.Context, _ backend.Partition, keys []string) ([]backend.EntityMatch, error) {
	var out []backend.EntityMatch
	for _, k := range keys {
		if e, ok := g.w.keys[k]; ok {
			out = append(out, backend.EntityMatch{Entity: e, Key: k, DF: g.df(e)})
		}
	}
	return out, nil
}

func (g graphOf) Mentions(_ context.Context, _ backend.Partition, chunks []int64) ([]backend.EntityRef, error) {
	var out []backend.EntityRef
	for _, m := range g.w.memos {
		if slices.Contains(chunks, m.chunk) {
			for _, e := range m.entities {
				out = append(out, backend.EntityRef{Chunk: m.chunk, Entity: e, Weight: 1, DF: g.df(e)})
			}
		}
	}
	return out, nil
}

func (g graphOf) MentionedIn(_ context.Context, _ backend.Partition, entities []int64, _ int) ([]backend.EntityRef, error) {
	var out []backend.EntityRef
	for _, m := range g.w.memos {
		for _, e := range m.entities {
			if slices.Contains(entities, e) {
				out = append(out, backend.EntityRef{Chunk: m.chunk, Entity: e, Weight: 1, DF: g.df(e)})
			}
		}
	}
	return out, nil
}

func (g graphOf) Info(context.Context, backend.Partition) (backend.GraphInfo, error) {
	return backend.GraphInfo{Chunks: len(g.w.memos), Entities: len(g.w.keys), Shared: len(g.w.memos)}, nil
}

// oneWay is an embedder whose vectors do not matter, since the world has fixed scores.
type oneWay struct{ fails bool }

func (o oneWay) EmbedQuery(context.Context, string) ([]float32, error) {
	if o.fails {
		return nil, errors.New("down")
	}
	return []float32{1}, nil
}

// twinWords returns a lexicon over twins.
func twinWords() *local.Lexicon { return local.NewLexicon(twins{}) }

// twins has equal vectors for words that begin with the same letter.
type twins struct{}

func (twins) AppendWord(dst []float32, word string) ([]float32, bool) {
	v := make([]float32, 26)
	i := strings.IndexByte("abcdefghijklmnopqrstuvwxyz", word[0])
	if i < 0 {
		return dst, false
	}
	v[i] = 1
	return append(dst, v...), true
}

func engine() *Engine {
	return &Engine{Embedder: oneWay{}, MemoryStrength: .5, KnowledgeStrength: .2}
}

func search(t *testing.T, e *Engine, w *world, r Request) *Answer {
	t.Helper()
	if r.Question == nil {
		r.Question = e.Ask("anything", r.Now, language.AllCues)
	}
	a, err := e.Search(t.Context(), w.space(), r)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// hitsOf returns the hits of an answer, of which no test has more than 50.
func hitsOf(a *Answer) []Scored { return slices.Clone(a.Best(50)) }

// scores returns a ranking as a map from chunk to score.
func scores(a *Answer) map[int64]float64 {
	m := map[int64]float64{}
	for _, h := range hitsOf(a) {
		m[h.Chunk] = h.Score
	}
	return m
}

func term(word string, idf float32) backend.TermInfo {
	return backend.TermInfo{Term: lexical.Stem(strings.ToLower(word)), DF: 1, IDF: idf}
}
