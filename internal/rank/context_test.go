package rank

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/language"
)

// conversation is one session of three memories: a question, its reply, which no search finds, and another.
func conversation() *world {
	return &world{avg: 25, sessions: map[int64]float32{7: 4}, memos: []memo{
		{chunk: 1, source: 1, session: 7, keyword: 10, speaker: "Ann", question: true, text: "Ann: did you see the red bridge?"},
		{chunk: 2, source: 2, session: 7, speaker: "Bob", text: "yes, it was wonderful"},
		{chunk: 3, source: 3, session: 7, keyword: 4, speaker: "Ann", text: "Ann: the bridge opened late"},
		{chunk: 4, source: 4, keyword: 2, text: "bridge"}, // in no session
	}}
}

// TestContext has own scores of 1, 0, .4 and .2. The session's best score is 1, and so is its
// score as one document, which add .4 and .5 to each of its memories. The first gets .12 as
// the opening of the session.
func TestContext(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*world)
		query  string
		want   map[int64]float64
	}{
		"short memories": {func(*world) {}, "bridge", map[int64]float64{
			1: 1 + .9 + .3*.4 + .12, // chunk 3 is two away
			2: .9 + .4*1 + .4*1,     // neighbour, and the reply to a question
			3: .4 + .9 + .3*1, 4: .2}},
		"long memories":          {func(w *world) { w.avg = 50 }, "bridge", map[int64]float64{1: 1 + .5*1.14, 2: .5 * 1.7, 3: .4 + .5*1.2, 4: .2}},
		"documents":              {func(w *world) { w.avg = 9000 }, "bridge", map[int64]float64{1: 1 + .2*1.14, 2: .2 * 1.7, 3: .4 + .2*1.2, 4: .2}},
		"only asks":              {func(w *world) { w.memos[0].asks = true }, "bridge", map[int64]float64{1: 2.14 - .2, 2: 1.7, 3: 1.6, 4: .2}},
		"asks, small":            {func(w *world) { w.memos[3].asks = true }, "bridge", map[int64]float64{1: 2.14, 2: 1.7, 3: 1.6, 4: .1}},
		"asked about a question": {func(w *world) { w.memos[0].asks = true }, "who asked for the bridge", map[int64]float64{1: 2.14, 2: 1.7, 3: 1.6, 4: .2}},
		"speaker":                {func(*world) {}, "Bob's bridge", map[int64]float64{1: 2.14 + .4*.2, 2: 1.7 + .2, 3: 1.6 + .4*.2, 4: .2}},
		"when":                   {func(w *world) { w.memos[3].time = true }, "when did the bridge open?", map[int64]float64{1: 2.14, 2: 1.7, 3: 1.6, 4: .5}},
		"date": {func(w *world) { w.memos[3].at = time.Date(2023, 5, 9, 8, 0, 0, 0, time.UTC) }, "bridge in May 2023",
			map[int64]float64{1: 2.14, 2: 1.7, 3: 1.6, 4: .4}},
		"first person":  {func(w *world) { w.memos[3].first = true }, "bridge", map[int64]float64{1: 2.14, 2: 1.7, 3: 1.6, 4: .4}},
		"second person": {func(w *world) { w.memos[2].second = true }, "bridge", map[int64]float64{1: 2.14, 2: 1.7, 3: 1.55, 4: .2}},
		"second, small": {func(w *world) { w.memos[3].second, w.memos[3].keyword = true, .4 }, "bridge", map[int64]float64{1: 2.14, 2: 1.7, 3: 1.6, 4: .02}},
		"persons of a chat": {func(w *world) {
			w.memos[3].speaker, w.memos[3].first, w.memos[2].second = "assistant", true, true
		}, "bridge", map[int64]float64{1: 2.14, 2: 1.7, 3: 1.6, 4: .12}},
		"assistant": {func(w *world) { w.memos[1].speaker, w.memos[1].keyword, w.memos[0].asks = "assistant", 10, true }, "bridge", map[int64]float64{
			1: 1 + .9 + .4*.6 + .3*.4 + .12, 2: .6 + .9 + .4 + .4, 3: .4 + .9 + .4*.6 + .3*1, 4: .2}},
		"asks the assistant": {func(w *world) { w.memos[1].speaker, w.memos[1].keyword = "assistant", 10 }, "what did you suggest about the bridge?", map[int64]float64{
			1: 1 + .9 + .4 + .3*.4 + .12, 2: 1 + .9 + .4 + .4, 3: .4 + .9 + .4 + .3*1, 4: .2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := conversation()
			c.change(w)
			sp := w.space()
			sp.DenseOff = true
			a, err := engine().Search(t.Context(), sp, Request{Part: memories, Question: engine().Ask(c.query, time.Time{}, language.AllCues), K: 10, Alpha: balanced})
			require.NoError(t, err)
			same(t, c.want, a)
		})
	}
}

// TestExchange checks that in a chat of short messages the two sides of an exchange count for each other. A side counts by .6 of its own score,
// which is .7 for the assistant and .4 for the user, and the rest of the user's context by a fifth. In a chat of long messages none of this holds.
func TestExchange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		avg   float32
		query string
		want  map[int64]float64
	}{
		"short":              {20, "bridge", map[int64]float64{1: .4 + 1.2*.2*(.26*.7+.17+.208*.7+.078) + .6*.7, 2: .7 + .6*.4, 3: .5}},
		"long":               {200, "bridge", map[int64]float64{1: .4 + .2*(.26*.46+.17+.208*.46+.078), 2: .46 + .2*(.26*.4+.17+.208*.46), 3: .5}},
		"asks the assistant": {20, "what did you suggest about the bridge?", map[int64]float64{1: .4 + 1.2*(.26+.17+.208+.078), 2: 1 + 1.2*(.26*.4+.17+.208), 3: .5}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &world{avg: c.avg, sessions: map[int64]float32{7: 4}, memos: []memo{
				{chunk: 1, source: 1, session: 7, keyword: 4, speaker: "Ann", text: "Ann: so that is that"},
				{chunk: 2, source: 2, session: 7, keyword: 10, speaker: "assistant", text: "assistant: the new bridge it is"},
				{chunk: 3, source: 3, keyword: 5, text: "bridge"},
			}}
			e := engine()
			e.Unrelated = &Spread{Mean: .1, Std: .1}
			sp := w.space()
			sp.DenseOff = true
			a, err := e.Search(t.Context(), sp, Request{Part: memories, Question: e.Ask(c.query, time.Time{}, language.AllCues), K: 10, Alpha: balanced})
			require.NoError(t, err)
			same(t, c.want, a)
			hits := slices.Clone(a.Best(10))
			of := a.Of([]int64{1, 2, 9})
			require.Len(t, of, 2, "of a source that is not there nothing is found")
			for i, s := range of {
				require.EqualValues(t, i+1, s.Source)
				require.Contains(t, hits, s)
			}
			answered, sides := map[int64]int64{}, map[int64][2]int64{}
			for _, h := range hits {
				if n := a.Answered(&h); n != 0 {
					answered[h.Source] = n
				}
				message, answer := a.Exchange(&h)
				sides[h.Chunk] = [2]int64{message, answer}
			}
			if name == "short" {
				require.Equal(t, 1.0, a.Talk())
				require.Equal(t, map[int64]int64{1: 2}, answered)
				require.Equal(t, map[int64][2]int64{1: {1, 2}, 2: {1, 2}, 3: {3, 0}}, sides)
			} else {
				require.Zero(t, a.Talk())
				require.Empty(t, answered)
				require.Equal(t, map[int64][2]int64{1: {}, 2: {}, 3: {}}, sides)
			}
		})
	}
}

// TestAskedBefore checks that in a chat of short messages the assistant's question counts for the message that answers it, and other replies do not.
func TestAskedBefore(t *testing.T) {
	t.Parallel()
	for asks, want := range map[bool]float64{true: .2 + 1.2*.2*(.26*.7+.234*.7+.17+.208*.7) + .4*.7, false: .2 + 1.2*.2*(.26*.7+.17+.208*.7)} {
		t.Run(strconv.FormatBool(asks), func(t *testing.T) {
			t.Parallel()
			w := &world{avg: 20, sessions: map[int64]float32{7: 4}, memos: []memo{
				{chunk: 1, source: 1, session: 7, keyword: 10, speaker: "assistant", question: asks, text: "assistant: what does the bridge cost?"},
				{chunk: 2, source: 2, session: 7, keyword: 2, speaker: "Ann", text: "Ann: 96 and a parking space"},
			}}
			e := engine()
			e.Unrelated = &Spread{Mean: .1, Std: .1}
			sp := w.space()
			sp.DenseOff = true
			a, err := e.Search(t.Context(), sp, Request{Part: memories, Question: e.Ask("bridge", time.Time{}, language.AllCues), K: 10, Alpha: balanced})
			require.NoError(t, err)
			same(t, map[int64]float64{1: .7, 2: want}, a)
		})
	}
}

// TestOpening checks that a session of one memory has no opening.
func TestOpening(t *testing.T) {
	t.Parallel()
	w := conversation()
	w.memos = w.memos[:1]
	sp := w.space()
	sp.DenseOff = true
	a, err := engine().Search(t.Context(), sp, Request{Part: memories, Question: engine().Ask("bridge", time.Time{}, language.AllCues), K: 10, Alpha: balanced})
	require.NoError(t, err)
	same(t, map[int64]float64{1: 1 + .9}, a)
}

// TestSpread asks for a list. Each memory loses a tenth of the best score for each better one of its
// session, but at most half of its own score. Chunk 4 is in no session and loses nothing. For
// other questions no memory loses anything.
func TestSpread(t *testing.T) {
	t.Parallel()
	plain := map[int64]float64{1: 2.14, 2: 1.7, 3: 1.6, 4: .2}
	for name, c := range map[string]struct {
		query  string
		change func(*world)
		want   map[int64]float64
	}{
		"list":        {"which bridges did they see?", func(*world) {}, map[int64]float64{1: 2.14, 2: 1.7 - .214, 3: 1.6 - 2*.214, 4: .2}},
		"single fact": {"where is the bridge?", func(*world) {}, plain},
		"long":        {"which bridges did they see?", func(w *world) { w.avg = 50 }, map[int64]float64{1: 1.57, 2: .85 - 2*.0785, 3: 1 - .0785, 4: .2}},
		"chat":        {"which bridges did they see?", func(w *world) { w.memos[3].speaker = "assistant" }, map[int64]float64{1: 2.14, 2: 1.7, 3: 1.6, 4: .12}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := conversation()
			c.change(w)
			sp := w.space()
			sp.DenseOff = true
			a, err := engine().Search(t.Context(), sp, Request{Part: memories, Question: engine().Ask(c.query, time.Time{}, language.AllCues), K: 10, Alpha: balanced})
			require.NoError(t, err)
			same(t, c.want, a)
			for _, h := range hitsOf(a) {
				p := a.Parts(&h)
				assert.InDelta(t, h.Score, p.Keyword+p.Semantic+p.Context+p.Speaker+p.Time, 1e-9, "the parts explain chunk %d", h.Chunk)
			}
		})
	}
}

// TestFilterKeepsNeighboursOut checks that context adds no candidate that the filter rejects.
func TestFilterKeepsNeighboursOut(t *testing.T) {
	t.Parallel()
	a := search(t, engine(), conversation(), Request{Part: memories, K: 10, Alpha: balanced, Filter: backend.Filter{All: [][]uint64{{1}}}})
	assert.NotContains(t, scores(a), int64(2))
	assert.Contains(t, scores(a), int64(1))
}
