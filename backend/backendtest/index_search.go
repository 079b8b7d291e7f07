package backendtest

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

const tolerance = 1e-4 // of scores that must be equal

func runIndex(t *testing.T, h IndexersHarness) {
	tests := []namedTest[*indexEnv]{
		{"Vectors", testVectors},
		{"VectorTies", testVectorTies},
		{"VectorLengths", testVectorLengths},
		{"SearchFilter", testSearchFilter},
		{"Keywords", testKeywords},
		{"KeywordFields", testKeywordFields},
		{"KeywordTies", testKeywordTies},
		{"QuestionWords", testQuestionWords},
		{"AndAndPhrase", testAndAndPhrase},
		{"StopWords", testStopWords},
		{"Stems", testStems},
		{"Emoji", testEmoji},
		{"WeightedTerms", testWeightedTerms},
		{"Terms", testTerms},
		{"Sessions", testSearchSessions},
	}
	tests = append(tests, indexGraphTests...)
	tests = append(tests, indexRuleTests...)
	run(t, func(t *testing.T) *indexEnv { return openIndex(t, h) }, tests)
	t.Run("Model", func(t *testing.T) { runIndexModel(t, h) })
}

func unit(xs ...float32) []float32 { return append(xs, make([]float32, dim-len(xs))...) }

func testVectors(t *testing.T, e *indexEnv) {
	src, c := e.put(entry{texts: []string{"a", "b", "c", "d"}, vectors: [][]float32{
		unit(1), unit(.6, .8), unit(0, -1), nil,
	}})
	hits := e.vectors(backend.VectorQuery{Vector: unit(1)})
	require.Equal(t, []int64{c[0], c[1], c[2]}, chunksOf(hits), "a chunk without a vector is not found")
	for i, want := range []float32{1, .6, 0} {
		assert.InDelta(t, want, hits[i].Score, tolerance)
		assert.Equal(t, src, hits[i].Source)
	}
	hits = e.vectors(backend.VectorQuery{Vector: unit(0, 2)})
	require.Equal(t, []int64{c[1], c[0], c[2]}, chunksOf(hits))
	assert.InDelta(t, 1.6, hits[0].Score, tolerance, "inner products, not cosines")
	assert.InDelta(t, -2, hits[2].Score, tolerance, "negative ones count")
	assert.Len(t, e.vectors(backend.VectorQuery{Vector: unit(1), K: 2}), 2)
	none, err := e.Vectors().SearchVectors(t.Context(), backend.VectorQuery{Part: notes, Vector: unit(1)})
	require.NoError(t, err)
	assert.Empty(t, none, "K of 0")
	assert.Empty(t, e.vectors(backend.VectorQuery{Part: other, Vector: unit(1)}), "an unknown partition has no hits")
	assert.Empty(t, e.vectors(backend.VectorQuery{Part: other, Vector: []float32{1}}), "of any length")
}

func testVectorTies(t *testing.T, e *indexEnv) {
	var want []int64
	for range 5 {
		_, c := e.put(entry{texts: []string{"x", "y"}, vectors: [][]float32{unit(1), unit(1)}})
		want = append(want, c...)
	}
	assert.Equal(t, want, chunksOf(e.vectors(backend.VectorQuery{Vector: unit(1)})), "smaller chunks first")
	assert.Equal(t, want[:3], chunksOf(e.vectors(backend.VectorQuery{Vector: unit(1), K: 3})))
}

func testVectorLengths(t *testing.T, e *indexEnv) {
	e.put(entry{texts: []string{"x"}})
	e.put(entry{part: other, texts: []string{"x"}, vectors: [][]float32{{1, 2, 3}}})
	_, err := e.Vectors().SearchVectors(t.Context(), backend.VectorQuery{Part: notes, Vector: []float32{1, 2, 3}, K: 5})
	require.Error(t, err)
	assert.Contains(t, err.Error(), "16")
	assert.Contains(t, err.Error(), "3", "the error names both lengths")
	hits := e.vectors(backend.VectorQuery{Part: other, Vector: []float32{1, 1, 1}})
	require.Len(t, hits, 1, "partitions have lengths of their own")
	assert.InDelta(t, 6, hits[0].Score, tolerance)
	_, err = e.Vectors().SearchVectors(t.Context(), backend.VectorQuery{Part: notes, K: 5})
	require.Error(t, err, "an empty vector")
}

func testSearchFilter(t *testing.T, e *indexEnv) {
	chunk := map[int64]string{}
	for _, in := range []entry{
		{id: "a", tags: []uint64{1, 10}}, {id: "b", tags: []uint64{2, 10}}, {id: "c", tags: []uint64{1, 20}}, {id: "d"},
		{id: "e", tags: []uint64{1<<63 | 5}},
	} {
		in.texts = []string{"word " + in.id}
		in.vectors = [][]float32{unit(1)}
		_, c := e.put(in)
		chunk[c[0]] = in.id
	}
	ids := func(hits []backend.Hit) []string {
		out := []string{}
		for _, h := range hits {
			out = append(out, chunk[h.Chunk])
		}
		return out
	}
	for _, c := range filterCases {
		assert.Equal(t, c.want, ids(e.vectors(backend.VectorQuery{Vector: unit(1), Filter: c.f})), "vectors, %s", c.name)
		assert.Equal(t, c.want, ids(e.keywords(backend.KeywordQuery{Text: "word", Filter: c.f})), "keywords, %s", c.name)
		assert.Equal(t, c.want, ids(e.keywords(backend.KeywordQuery{Text: "word", Filter: c.f, Operator: backend.And})), "and, %s", c.name)
		assert.Equal(t, c.want[:min(1, len(c.want))], ids(e.vectors(backend.VectorQuery{Vector: unit(1), Filter: c.f, K: 1})), "best of %s", c.name)
	}
	all := e.keywords(backend.KeywordQuery{Text: "word"})
	some := e.keywords(backend.KeywordQuery{Text: "word", Filter: backend.Filter{All: [][]uint64{{20}}}})
	require.Len(t, some, 1)
	assert.InDelta(t, all[2].Score, some[0].Score, tolerance, "a filter does not change scores")

	e.change(backend.Change{Kind: backend.PutTags, Source: 4, SourceID: "d", Tags: []uint64{99}})
	e.change(backend.Change{Kind: backend.PutTags, Source: 1, SourceID: "a"})
	f := backend.Filter{All: [][]uint64{{99, 1}}}
	assert.Equal(t, []string{"c", "d"}, ids(e.vectors(backend.VectorQuery{Vector: unit(1), Filter: f})), "tags are replaced")
	assert.Equal(t, []string{"c", "d"}, ids(e.keywords(backend.KeywordQuery{Text: "word", Filter: f})))
}

// bm25 returns the score of one term that occurs tf times in a document of the given length.
func bm25(docs, df, tf, length int, average float64) float64 {
	idf := math.Log(1 + (float64(docs-df)+.5)/(float64(df)+.5))
	return idf * float64(tf) / (float64(tf) + 1.2*(1-.75+.75*float64(length)/average))
}

func testKeywords(t *testing.T, e *indexEnv) {
	src, c := e.put(entry{texts: []string{"apple banana apple", "banana cherry", "damson"}})
	// The documents have 3, 2 and 1 terms.
	hits := e.keywords(backend.KeywordQuery{Text: "apple"})
	require.Len(t, hits, 1)
	assert.Equal(t, []int64{c[0], src}, []int64{hits[0].Chunk, hits[0].Source})
	assert.InDelta(t, bm25(3, 1, 2, 3, 2), hits[0].Score, tolerance)
	hits = e.keywords(backend.KeywordQuery{Text: "Banana, CHERRY!"})
	require.Equal(t, []int64{c[1], c[0]}, chunksOf(hits))
	assert.InDelta(t, bm25(3, 2, 1, 2, 2)+bm25(3, 1, 1, 2, 2), hits[0].Score, tolerance)
	assert.InDelta(t, bm25(3, 2, 1, 3, 2), hits[1].Score, tolerance)
	twice := e.keywords(backend.KeywordQuery{Text: "cherry cherry"})
	require.Len(t, twice, 1)
	assert.InDelta(t, 2*bm25(3, 1, 1, 2, 2), twice[0].Score, tolerance, "each occurrence in a query counts")
	assert.Len(t, e.keywords(backend.KeywordQuery{Text: "apple banana cherry damson", K: 2}), 2)
	for _, text := range []string{"", "  ?!", "elderberry"} {
		assert.Empty(t, e.keywords(backend.KeywordQuery{Text: text}), "%q", text)
	}
	assert.Empty(t, e.keywords(backend.KeywordQuery{Part: other, Text: "apple"}), "an unknown partition")
	none, err := e.Keywords().SearchKeywords(t.Context(), backend.KeywordQuery{Part: notes, Text: "apple"})
	require.NoError(t, err)
	assert.Empty(t, none, "K of 0")
	_, c = e.put(entry{texts: []string{"apple", "fig fig fig"}})
	e.drop(src)
	hits = e.keywords(backend.KeywordQuery{Text: "apple"})
	require.Equal(t, c[:1], chunksOf(hits))
	assert.InDelta(t, bm25(2, 1, 1, 1, 2), hits[0].Score, tolerance, "what is gone does not count")
}

func testKeywordFields(t *testing.T, e *indexEnv) {
	_, c := e.put(entry{title: "apple", heading: "banana", texts: []string{"cherry cherry"},
		extra: backend.RowExtra{Keywords: []string{"damson", "elder damson"}}})
	e.put(entry{texts: []string{"filler words"}})
	// The first chunk has 9 terms: title 3, heading 1, text 2, keywords 3. The other has 2.
	const length, average = 9, 11. / 2
	for term, tf := range map[string]int{"apple": 3, "banana": 1, "cherry": 2, "damson": 2, "elder": 1} {
		hits := e.keywords(backend.KeywordQuery{Text: term})
		require.Equal(t, c, chunksOf(hits), term)
		assert.InDelta(t, bm25(2, 1, tf, length, average), hits[0].Score, tolerance, term)
	}
	assert.Len(t, e.keywords(backend.KeywordQuery{Text: "apple elder", Operator: backend.And}), 1, "over fields")
	for _, text := range []string{"apple banana", "banana cherry", "cherry damson", "damson elder"} {
		assert.Empty(t, e.keywords(backend.KeywordQuery{Text: text, Operator: backend.Phrase}), "no phrase reaches from field to field: %s", text)
	}
	assert.Len(t, e.keywords(backend.KeywordQuery{Text: "elder damson", Operator: backend.Phrase}), 1)
}

// testStems checks that a search finds other forms of words in languages other than English, and that
// stems do not count in the length of a document.
func testStems(t *testing.T, e *indexEnv) {
	_, c := e.put(entry{texts: []string{
		"Ayer vendimos las bicicletas rojas porque ya no las usaba nadie.",
		"Wir haben gestern die alten Schränke in den Keller getragen.",
		"Мы вчера купили новые книги для школы.",
		"We sold the red bicycles yesterday because nobody used them.",
	}})
	find := func(op backend.Operator, text string) []int64 {
		return chunksOf(e.keywords(backend.KeywordQuery{Text: text, Operator: op}))
	}
	assert.Equal(t, c[:1], find(backend.Or, "¿Dónde está mi bicicleta?"))
	assert.Equal(t, c[:1], find(backend.Or, "bicicleta roja"), "where nothing tells the language")
	assert.Equal(t, c[1:2], find(backend.Or, "Wo ist der alte Schrank?"))
	assert.Equal(t, c[2:3], find(backend.Or, "Где моя книга?"))
	assert.Equal(t, c[3:], find(backend.Or, "where is the red bicycle?"))
	assert.Empty(t, find(backend.And, "alte Schrank"), "every word as it stands")
	assert.Equal(t, c[1:2], find(backend.Phrase, "alten Schränke"))
	terms, _, average, err := e.Keywords().Terms(t.Context(), notes, "bicicletas rojas")
	require.NoError(t, err)
	assert.Len(t, terms, 2, "words alone")
	assert.InDelta(t, (10+9+7+9)/4., average, tolerance, "stems count in no length, nor do the English stop words")
}

// testEmoji checks that emoji are found like words, and do not come between the words of a phrase.
func testEmoji(t *testing.T, e *indexEnv) {
	_, c := e.put(entry{texts: []string{"🎂🎉", "party 🎉 time", "party time", "👍🏽 \u2764\ufe0f"}})
	find := func(op backend.Operator, text string) []int64 {
		return chunksOf(e.keywords(backend.KeywordQuery{Text: text, Operator: op}))
	}
	assert.Equal(t, c[:1], find(backend.Or, "🎂"))
	assert.ElementsMatch(t, c[:2], find(backend.Or, "🎉"))
	assert.Equal(t, c[3:], find(backend.Or, "👍"), "without the tone")
	assert.Equal(t, c[3:], find(backend.Phrase, "👍 ❤"))
	assert.Equal(t, c[1], find(backend.Or, "party 🎉")[0])
	assert.Equal(t, c[1:2], find(backend.And, "🎉 party"))
	assert.Equal(t, c[1:2], find(backend.Phrase, "party 🎉 time"))
	assert.ElementsMatch(t, c[1:3], find(backend.Phrase, "party time"))
	assert.Empty(t, find(backend.Or, "🎈"))
}

func testStopWords(t *testing.T, e *indexEnv) {
	_, c := e.put(entry{texts: []string{"To be, or not to be: that is the question", "state of the art", "state some other art",
		"not to be here or there", "I.T. is what they do"}})
	find := func(op backend.Operator, text string) []int64 {
		return chunksOf(e.keywords(backend.KeywordQuery{Text: text, Operator: op}))
	}
	assert.ElementsMatch(t, c[:1], find(backend.Phrase, "to be or not to be"))
	assert.ElementsMatch(t, []int64{c[0], c[3]}, find(backend.And, "to be or not"))
	assert.ElementsMatch(t, c[:1], find(backend.And, `be "or not to be"`))
	assert.ElementsMatch(t, c[1:2], find(backend.Phrase, "state of the art"))
	assert.Empty(t, find(backend.And, "the art of a state"), "a is missing")
	assert.ElementsMatch(t, c[1:2], find(backend.And, "the state of art"))
	assert.Empty(t, find(backend.And, "it"), "initials are no stop word")
	assert.ElementsMatch(t, c[4:], find(backend.And, "I.T."))
	assert.ElementsMatch(t, c[1:3], find(backend.Or, "the state"), "any of the words never means a stop word")
	assert.Empty(t, find(backend.Or, "to be or not to be"))
	hits := e.keywords(backend.KeywordQuery{Text: "question"})
	require.Len(t, hits, 1)
	assert.InDelta(t, bm25(5, 1, 1, 1, 11./5), hits[0].Score, tolerance, "stop words do not count in the length")
}

func testKeywordTies(t *testing.T, e *indexEnv) {
	var want []int64
	for range 4 {
		_, c := e.put(entry{texts: []string{"same words", "same words"}})
		want = append(want, c...)
	}
	assert.Equal(t, want, chunksOf(e.keywords(backend.KeywordQuery{Text: "same"})))
	assert.Equal(t, want[:3], chunksOf(e.keywords(backend.KeywordQuery{Text: "words same", K: 3})))
}

func testQuestionWords(t *testing.T, e *indexEnv) {
	_, c := e.put(entry{texts: []string{"what we did there", "the lantern of Anna", "who where when"}})
	assert.Equal(t, c[1:2], chunksOf(e.keywords(backend.KeywordQuery{Text: "Where did we put what was the lantern?"})))
	assert.Equal(t, c[2:], chunksOf(e.keywords(backend.KeywordQuery{Text: "who when"})), "where nothing else is left they count")
	assert.Equal(t, c[2:], chunksOf(e.keywords(backend.KeywordQuery{Text: `lamps "who where"`})), "and in quotes")
	assert.Empty(t, e.keywords(backend.KeywordQuery{Text: "where is the lantern", Operator: backend.And}), "AND needs them all")
}

func testAndAndPhrase(t *testing.T, e *indexEnv) {
	_, c := e.put(entry{texts: []string{"red bicycle beside a green door", "green bicycle", "the door is green", "bicycle green"}})
	find := func(op backend.Operator, text string) []int64 {
		hits := e.keywords(backend.KeywordQuery{Text: text, Operator: op})
		for _, h := range hits {
			assert.Positive(t, h.Score)
		}
		return chunksOf(hits)
	}
	assert.ElementsMatch(t, []int64{c[0], c[1], c[3]}, find(backend.And, "green bicycle"))
	assert.ElementsMatch(t, []int64{c[0]}, find(backend.And, "bicycles red door"), "analysed like the text")
	assert.ElementsMatch(t, []int64{c[1]}, find(backend.And, `"green bicycle"`), "a quoted phrase")
	assert.Empty(t, find(backend.And, "green piano"))
	assert.Empty(t, find(backend.And, ""))
	assert.ElementsMatch(t, []int64{c[1]}, find(backend.Phrase, "Green bicycle"))
	assert.ElementsMatch(t, []int64{c[3]}, find(backend.Phrase, "bicycle green"))
	assert.ElementsMatch(t, []int64{c[0]}, find(backend.Phrase, "beside a green"))
	assert.Empty(t, find(backend.Phrase, "beside the green"), "a stop word is a word")
	assert.ElementsMatch(t, []int64{c[0], c[2]}, find(backend.Phrase, "door"), "of one word")
	assert.Empty(t, find(backend.Phrase, "bicycle door"))
	assert.Empty(t, find(backend.Phrase, ""))
	scored := e.keywords(backend.KeywordQuery{Text: "green bicycle", Operator: backend.And})
	or := e.keywords(backend.KeywordQuery{Text: "green bicycle"})
	require.Len(t, or, 4)
	assert.InDelta(t, or[0].Score, scored[0].Score, tolerance, "an operator chooses, the score is the same")
}

func testWeightedTerms(t *testing.T, e *indexEnv) {
	_, c := e.put(entry{texts: []string{"apple", "banana", "apple banana"}})
	hits := e.keywords(backend.KeywordQuery{Text: "ignored", Terms: []backend.WeightedTerm{{Term: "appl", Weight: 1}, {Term: "banana", Weight: .25}}})
	require.Equal(t, []int64{c[0], c[2], c[1]}, chunksOf(hits))
	single := bm25(3, 2, 1, 1, 4./3)
	assert.InDelta(t, single, hits[0].Score, tolerance)
	assert.InDelta(t, 1.25*bm25(3, 2, 1, 2, 4./3), hits[1].Score, tolerance)
	assert.InDelta(t, .25*single, hits[2].Score, tolerance)
	assert.Empty(t, e.keywords(backend.KeywordQuery{Text: "apple", Terms: []backend.WeightedTerm{}}), "no terms are no query")
	assert.Empty(t, e.keywords(backend.KeywordQuery{Terms: []backend.WeightedTerm{{Term: "appl", Weight: 0}}}))
}

func testTerms(t *testing.T, e *indexEnv) {
	ctx := t.Context()
	e.put(entry{title: "Lanterns", texts: []string{"the lantern of Anna", "harbour"}})
	terms, docs, avg, err := e.Keywords().Terms(ctx, notes, "Where are the lanterns and violins of Anna?")
	require.NoError(t, err)
	assert.Equal(t, 2, docs)
	assert.InDelta(t, 4.5, avg, tolerance, "3 for the title each, and 2 and 1 for the text")
	require.Len(t, terms, 3, "analysed as a query")
	want := []backend.TermInfo{{Term: "lantern", DF: 2}, {Term: "violin"}, {Term: "anna", DF: 1}}
	for i, w := range want {
		assert.Equal(t, []any{w.Term, w.DF}, []any{terms[i].Term, terms[i].DF})
		assert.InDelta(t, math.Log(1+(2-float64(w.DF)+.5)/(float64(w.DF)+.5)), terms[i].IDF, tolerance)
	}
	terms, docs, avg, err = e.Keywords().Terms(ctx, other, "lantern")
	require.NoError(t, err)
	assert.Equal(t, []any{0, float32(0)}, []any{docs, avg})
	require.Len(t, terms, 1)
	assert.Zero(t, terms[0].DF)
}

func testSearchSessions(t *testing.T, e *indexEnv) {
	ctx := t.Context()
	_, a := e.put(entry{session: "one", time: at(0), texts: []string{"we repaired the bicycle"}})
	_, b := e.put(entry{session: "one", time: at(60), texts: []string{"with a lantern"}, tags: []uint64{7}})
	_, c := e.put(entry{session: "two", time: at(0), texts: []string{"a bicycle in the harbour"}})
	e.put(entry{texts: []string{"bicycle without a session"}})
	search := func(q backend.KeywordQuery) []backend.Hit {
		q.Part = notes
		if q.K == 0 {
			q.K = 10
		}
		hits, err := e.Keywords().SearchSessions(ctx, q)
		require.NoError(t, err)
		return hits
	}
	around := e.around(a[0], b[0], c[0])
	hits := search(backend.KeywordQuery{Text: "bicycle lantern"})
	require.Len(t, hits, 2, "chunks without a session are in none")
	assert.Equal(t, around[0].Session, hits[0].Source, "a session counts as one document")
	assert.Equal(t, around[2].Session, hits[1].Source)
	assert.Contains(t, []int64{a[0], b[0]}, hits[0].Chunk)
	assert.Equal(t, c[0], hits[1].Chunk)
	// The sessions have 4 and 2 terms: we, repair, bicycle, lantern; bicycle, harbour.
	assert.InDelta(t, bm25(2, 2, 1, 4, 3)+bm25(2, 1, 1, 4, 3), hits[0].Score, tolerance)
	assert.InDelta(t, bm25(2, 2, 1, 2, 3), hits[1].Score, tolerance)
	assert.Len(t, search(backend.KeywordQuery{Text: "bicycle", K: 1}), 1)
	assert.Empty(t, search(backend.KeywordQuery{Text: "piano"}))
	filtered := search(backend.KeywordQuery{Text: "bicycle", Filter: backend.Filter{All: [][]uint64{{7}}}})
	require.Len(t, filtered, 1, "a session passes a filter with any of its chunks")
	assert.Equal(t, around[0].Session, filtered[0].Source)
	none, err := e.Keywords().SearchSessions(ctx, backend.KeywordQuery{Part: other, Text: "bicycle", K: 5})
	require.NoError(t, err)
	assert.Empty(t, none)
}
