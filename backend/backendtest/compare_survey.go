package backendtest

import (
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// survey compares Survey's answer with those of the single methods of the same indexes. It does nothing if
// the indexes do not implement [backend.Surveyor].
func (c *comparer) survey(lane backend.Lane, text string, f backend.Filter) {
	c.t.Helper()
	x, ok := c.got.Graph().(backend.Surveyor)
	if !ok {
		return
	}
	ctx, v := c.t.Context(), Vector(text, dim)
	near, err := c.got.Vectors().SearchVectors(ctx, backend.VectorQuery{Part: c.part, Lane: lane, Vector: v, K: 1 << 20, Filter: f})
	if err != nil {
		return // vectors of another length
	}
	words, err := c.got.Keywords().SearchKeywords(ctx, backend.KeywordQuery{Part: c.part, Text: text, K: 1 << 20, Filter: f})
	require.NoError(c.t, err, c.msg)
	known, _ := c.pairs()
	around, err := c.got.Graph().Neighbours(ctx, c.part, known)
	require.NoError(c.t, err, c.msg)
	byChunk, live := make(map[int64]backend.Neighbours), 0
	for _, a := range around {
		if a.Chunk != 0 {
			byChunk[a.Chunk] = a
			live++
		}
	}
	q := backend.SurveyQuery{Part: c.part, Lane: lane, Text: text, Vector: v, Filter: f, Most: live}
	s := backend.Survey{Rows: []backend.Surveyed{{Chunk: -1, Dense: 3}}, Terms: []backend.TermInfo{{Term: "old"}}}
	ok, err = x.Survey(ctx, q, &s)
	require.NoError(c.t, err, c.msg)
	if !ok {
		require.Zero(c.t, live, "%s: no survey", c.msg)
		return
	}
	all, speakers := s.Rows, s.Speakers
	terms, docs, avg, err := c.got.Keywords().Terms(ctx, c.part, text)
	require.NoError(c.t, err, c.msg)
	require.Equal(c.t, []any{docs, avg}, []any{s.Docs, s.AvgTerms}, c.msg)
	require.ElementsMatch(c.t, terms, s.Terms, c.msg)
	places := make(map[int64]int32, len(all))
	for i, s := range all {
		places[s.Chunk] = int32(i + 1)
	}
	require.Len(c.t, places, len(all), "%s: a chunk twice", c.msg)
	filtered := len(f.All)+len(f.Not) > 0
	if !filtered {
		require.Len(c.t, all, live, c.msg)
	}
	keyword, dense := byChunkScore(words), byChunkScore(near)
	for _, s := range all {
		a, ok := byChunk[s.Chunk]
		require.True(c.t, ok, "%s: chunk %d", c.msg, s.Chunk)
		require.Equal(c.t, a.Source, s.Source, c.msg)
		require.Equal(c.t, []float32{keyword[s.Chunk], dense[s.Chunk]}, []float32{s.Keyword, s.Dense}, "%s: chunk %d", c.msg, s.Chunk)
		delete(keyword, s.Chunk)
		delete(dense, s.Chunk)
		if c.part.Class != backend.Memory {
			require.Zero(c.t, s.NeighbourPlaces, c.msg)
			continue
		}
		require.Equal(c.t, besideOf(a, places, speakers, s.Speaker), s.NeighbourPlaces, "%s: beside chunk %d", c.msg, s.Chunk)
	}
	require.Empty(c.t, keyword, c.msg)
	require.Empty(c.t, dense, c.msg)
	if live > 0 {
		q.Most = live - 1
		ok, err := x.Survey(ctx, q, &s)
		require.NoError(c.t, err, c.msg)
		require.False(c.t, ok, c.msg)
	}
}

func byChunkScore(hits []backend.Hit) map[int64]float32 {
	m := make(map[int64]float32, len(hits))
	for _, h := range hits {
		m[h.Chunk] = h.Score
	}
	return m
}

// besideOf converts an answer of Neighbours into the form that a survey has. The survey found the chunk's
// speaker at speakers[at].
func besideOf(a backend.Neighbours, places map[int64]int32, speakers []string, at int32) backend.NeighbourPlaces {
	b := backend.NeighbourPlaces{Session: a.Session, Time: backend.MicrosOf(a.Time), Speaker: -1}
	if speakers[at] == a.Speaker {
		b.Speaker = at
	}
	for i := range 2 {
		b.Prev[i], b.Next[i] = places[a.Prev[i]], places[a.Next[i]]
	}
	for mark, has := range map[backend.Marks]bool{
		backend.MarkQuestion: a.Question, backend.MarkHasTime: a.HasTime, backend.MarkAsks: a.Asks, backend.MarkFirst: a.First,
		backend.MarkSecond: a.Second, backend.MarkOpens: a.Prev[0] == 0 && a.Next[0] != 0,
	} {
		if has {
			b.Marks |= mark
		}
	}
	return b
}

// scores compares ScoreChunks' scores with those of a search. It does nothing if the vectors do not
// implement [backend.ChunkScorer].
func (c *comparer) scores(lane backend.Lane, text string) {
	c.t.Helper()
	x, ok := c.got.Vectors().(backend.ChunkScorer)
	if !ok {
		return
	}
	ctx, v := c.t.Context(), Vector(text, dim)
	near, err := c.got.Vectors().SearchVectors(ctx, backend.VectorQuery{Part: c.part, Lane: lane, Vector: v, K: 1 << 20})
	if err != nil {
		return // vectors of another length
	}
	want := byChunkScore(near)
	known, _ := c.pairs()
	asked := append([]int64{-5}, known...)
	got, err := x.ScoreChunks(ctx, backend.ScoreQuery{Part: c.part, Lane: lane, Vector: v, Chunks: asked, Into: []backend.Hit{{Chunk: -1, Score: 100}}})
	require.NoError(c.t, err, c.msg)
	require.Len(c.t, got, len(near), c.msg)
	at := 0
	for _, chunk := range asked {
		if at < len(got) && got[at].Chunk == chunk {
			require.InDelta(c.t, want[chunk], got[at].Score, tolerance, "%s: chunk %d", c.msg, chunk)
			at++
		}
	}
	require.Equal(c.t, len(got), at, "%s: not in the order asked", c.msg)
	for _, h := range near {
		require.Contains(c.t, got, backend.Hit{Chunk: h.Chunk, Source: h.Source, Score: h.Score}, c.msg)
	}
	none, err := x.ScoreChunks(ctx, backend.ScoreQuery{Part: c.part, Lane: lane, Vector: append(v, 1), Chunks: asked})
	require.NoError(c.t, err, c.msg)
	require.Empty(c.t, none, "%s: vectors of another length", c.msg)
}
