package lexical

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/bitset"
)

// model is a list of documents that it searches one by one. It is the oracle of the tests.
type model struct {
	docs map[uint32]modelDoc
}

type modelDoc struct {
	terms  map[string]*modelTerm
	length int
}

type modelTerm struct {
	tf        int
	positions []int
}

func newModelDoc(d Doc) modelDoc {
	m := modelDoc{terms: make(map[string]*modelTerm)}
	base := 0
	var texts []string
	for _, f := range d.Fields {
		texts = append(texts, f.Text)
	}
	in := StemLanguageOf(texts...)
	for _, f := range d.Fields {
		end := base
		for _, t := range AnalyzeDocument(nil, f.Text, in) {
			e := m.terms[t.Term]
			if e == nil {
				e = new(modelTerm)
				m.terms[t.Term] = e
			}
			e.tf += max(f.Weight, 1)
			e.positions = append(e.positions, base+t.Pos)
			if !t.Uncounted() {
				m.length += max(f.Weight, 1)
			}
			end = base + t.Pos + 1
		}
		base = end + fieldGap
	}
	return m
}

// statistics are Stats together with the number of live rows that have each term of a query.
type statistics struct {
	Stats
	DF map[string]int
}

// collect returns the statistics of q over views.
func collect(tb testing.TB, q *Query, views []View) *statistics {
	tb.Helper()
	r := newRun(q, 0, len(views))
	defer r.release()
	require.NoError(tb, r.count(views))
	st := &statistics{r.stats, make(map[string]int, len(r.terms))}
	for i, t := range r.terms {
		st.DF[t.term] = r.df[i]
	}
	return st
}

func (m *model) stats(q *Query) *statistics {
	st := &statistics{Stats: Stats{Docs: len(m.docs)}}
	for _, d := range m.docs {
		st.TotalLen += int64(d.length)
	}
	st.DF = make(map[string]int)
	eachTerm(q, func(term string) {
		for _, d := range m.docs {
			if d.terms[term] != nil {
				st.DF[term]++
			}
		}
		st.DF[term] += 0
	})
	return st
}

// eachTerm calls f for every term of the query, and of the phrases that must match.
func eachTerm(q *Query, f func(term string)) {
	seen := make(map[string]bool)
	visit := func(term string) {
		if !seen[term] {
			seen[term] = true
			f(term)
		}
	}
	for _, t := range q.Terms {
		visit(t.Term)
	}
	for _, p := range q.Phrases {
		for _, t := range p {
			if q.Op != Or {
				visit(t.Term)
			}
		}
	}
}

// runWith returns a run with the given statistics.
func runWith(q *Query, st *statistics, k, parts int) *run {
	r := newRun(q, k, parts)
	r.stats = st.Stats
	for i, t := range r.terms {
		r.df[i] = st.DF[t.term]
	}
	r.weigh()
	return r
}

// searchWith searches a part under the given statistics.
func searchWith(tb testing.TB, q *Query, st *statistics, k int, v View) []Hit {
	tb.Helper()
	scrap := newRun(q, k, 1)
	require.NoError(tb, v.Part.count(scrap, scrap.idsOf(0)))
	r := runWith(q, st, k, 1)
	require.NoError(tb, v.Part.search(tb.Context(), r, scrap.idsOf(0), v.Accept))
	slices.Sort(r.top.keys)
	return r.top.appendHits(nil, r.unit)
}

func (d *modelDoc) hasPhrase(phrase []PhraseTerm) bool {
	if d.terms[phrase[0].Term] == nil {
		return false
	}
next:
	for _, p := range d.terms[phrase[0].Term].positions {
		for _, t := range phrase {
			if d.terms[t.Term] == nil || !slices.Contains(d.terms[t.Term].positions, p+t.Offset-phrase[0].Offset) {
				continue next
			}
		}
		return true
	}
	return false
}

func (d *modelDoc) matches(q *Query) bool {
	some, required := false, false
	for _, t := range q.Terms {
		has := d.terms[t.Term] != nil
		some = some || has
		if q.Op != Or && !t.Optional {
			required = true
			if !has {
				return false
			}
		}
	}
	if q.Op == Or {
		return some
	}
	for _, p := range q.Phrases {
		required = true
		if !d.hasPhrase(p) {
			return false
		}
	}
	return some || required
}

// score is BM25 as the literature writes it.
func (d *modelDoc) score(q *Query, st *statistics) float64 {
	total := 0.0
	for _, t := range q.Terms {
		if e := d.terms[t.Term]; e != nil {
			tf := float64(e.tf)
			n, df := float64(st.Docs), float64(st.DF[t.Term])
			idf := math.Log(1 + (n-df+0.5)/(df+0.5))
			total += float64(t.Boost) * idf * tf / (tf + 1.2*(1-0.75+0.75*float64(d.length)*n/float64(st.TotalLen)))
		}
	}
	return total
}

// search scores every document and rounds scores to the units of the index.
func (m *model) search(q *Query, st *statistics, k int, accept func(uint32) bool) []Hit {
	s := &runWith(q, st, k, 1).scorer
	var hits []Hit
	for row, d := range m.docs {
		if !d.matches(q) || !accept(row) {
			continue
		}
		score := uint32(0)
		for _, t := range s.terms {
			if e := d.terms[t.term]; e != nil {
				score += t.units(uint32(e.tf), s.norm(uint32(d.length)))
			}
		}
		hits = append(hits, Hit{row, float32(score) * s.unit})
	}
	slices.SortFunc(hits, CompareHits)
	return hits[:min(k, len(hits))]
}

// zipfText returns text over a small vocabulary, with some compounds and words of other scripts.
func zipfText(r *rand.Rand, vocabulary, words int) string {
	var b strings.Builder
	for range words {
		w := int(math.Pow(float64(vocabulary), r.Float64())) - 1
		switch w % 17 {
		case 3:
			fmt.Fprintf(&b, "the ")
		case 7:
			fmt.Fprintf(&b, "Id_%d ", w)
		case 11:
			fmt.Fprintf(&b, "東京%c ", '一'+rune(w))
		default:
			fmt.Fprintf(&b, "w%sx ", strings.Repeat(string(rune('a'+w%13)), 1+w/13%5)+string(rune('a'+w/65%26)))
		}
	}
	return b.String()
}

func randomDoc(r *rand.Rand, vocabulary int) Doc {
	var d Doc
	for range r.IntN(3) {
		d.Fields = append(d.Fields, Field{Text: zipfText(r, vocabulary, r.IntN(20)), Weight: r.IntN(4)})
	}
	return d
}

// segmentOf merges parts into a new segment.
func segmentOf(t testing.TB, parts ...Part) *Segment {
	t.Helper()
	var buf bytes.Buffer
	require.NoError(t, WriteSegment(t.Context(), &buf, parts...))
	s, err := OpenSegment(buf.Bytes())
	require.NoError(t, err)
	require.NoError(t, s.Verify())
	return s
}

// checkParts compares searches of the parts with those of the model.
func checkParts(t *testing.T, r *rand.Rand, m *model, parts []Part, rows, vocabulary int) {
	t.Helper()
	live := 0
	for _, p := range parts {
		live += p.Len()
	}
	require.Equal(t, len(m.docs), live)
	for range 12 {
		text := zipfText(r, vocabulary, 1+r.IntN(5))
		if r.IntN(3) == 0 {
			text += ` "` + zipfText(r, vocabulary/8+2, 2) + `"`
		}
		q := ParseQuery(text, Operator(r.IntN(3)))
		if q.Op == Phrase {
			q = ParseQuery(zipfText(r, vocabulary/8+2, 2), Phrase)
		}
		if r.IntN(4) == 0 && len(q.Terms) > 0 {
			q.Terms = append(q.Terms, QueryTerm{Term: q.Terms[0].Term, Boost: r.Float32() * 3})
		}
		var accept *bitset.Set
		accepts := func(uint32) bool { return true }
		if r.IntN(2) == 0 {
			accept = bitset.New(rows)
			for i := range rows {
				if r.IntN(3) > 0 {
					accept.Add(uint32(i))
				}
			}
			accepts = accept.Has
		}
		views := make([]View, len(parts))
		for i, p := range parts {
			views[i] = View{Part: p, Accept: accept}
		}
		k := 1 + r.IntN(30)
		hits, err := Search(t.Context(), q, k, views)
		require.NoError(t, err)
		st := collect(t, q, views)
		require.Equal(t, m.stats(q), st, text)
		want := m.search(q, st, k, accepts)
		require.Equal(t, len(want), len(hits), "%q %v", text, q)
		for i := range want {
			require.Equal(t, want[i], hits[i], "%q, hit %d", text, i)
			d := m.docs[hits[i].Row]
			require.InEpsilon(t, d.score(q, st)+1, float64(hits[i].Score)+1, 1e-5)
		}
		checkScores(t, q, m, views, accepts, rows)
		checkPostings(t, q, m, views, accepts)
	}
}

// checkScores compares the scores of all rows with a search for all, and says of the first rows that they are accepted where they are.
func checkScores(t *testing.T, q *Query, m *model, views []View, accepts func(uint32) bool, rows int) {
	t.Helper()
	below := uint32(0)
	for accepts(below) && int(below) < rows {
		below++
	}
	for i := range views {
		views[i].Below = below
	}
	want, got := make([]float32, rows), make([]float32, rows)
	hits, err := Search(t.Context(), q, rows+1, views)
	require.NoError(t, err)
	for _, h := range hits {
		want[h.Row] = h.Score
	}
	var c Counts
	require.NoError(t, Score(t.Context(), got, q, views, &c))
	require.Equal(t, want, got)
	require.Equal(t, m.stats(q).Stats, c.Stats)
}

func checkPostings(t *testing.T, q *Query, m *model, views []View, accepts func(uint32) bool) {
	t.Helper()
	eachTerm(q, func(term string) {
		want, got := make(map[uint32]uint32), make(map[uint32]uint32)
		for row, d := range m.docs {
			if e := d.terms[term]; e != nil && accepts(row) {
				want[row] = uint32(e.tf)
			}
		}
		for _, v := range views {
			last := int64(-1)
			require.NoError(t, v.Part.EachPosting(term, v.Accept, func(rows, tfs []uint32) {
				require.NotEmpty(t, rows)
				require.Len(t, tfs, len(rows))
				for i, row := range rows {
					require.Greater(t, int64(row), last)
					last = int64(row)
					got[row] += tfs[i]
				}
			}))
		}
		require.Equal(t, want, got, term)
	})
}

func TestModel(t *testing.T) {
	t.Parallel()
	seeds := 30
	if testing.Short() {
		seeds = 5
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(seed), 7))
			vocabulary := 10 + r.IntN(400)
			m := &model{make(map[uint32]modelDoc)}
			mem := NewMem()
			parts := []Part{mem}
			row := uint32(r.IntN(100))
			for range 6 {
				for range r.IntN(300) {
					d := randomDoc(r, vocabulary)
					require.NoError(t, mem.Add(row, d))
					m.docs[row] = newModelDoc(d)
					row += 1 + uint32(r.IntN(1+seed%3))
				}
				for range r.IntN(200) {
					victim := uint32(r.IntN(int(row) + 1))
					_, want := m.docs[victim]
					delete(m.docs, victim)
					got := false
					for _, p := range parts {
						ok, err := p.Delete(victim)
						require.NoError(t, err)
						got = got || ok
						require.False(t, p.Has(victim))
					}
					require.Equal(t, want, got)
				}
				checkParts(t, r, m, parts, int(row), vocabulary)
				switch r.IntN(3) {
				case 0: // flush the memory
					parts[0] = segmentOf(t, mem)
					mem = NewMem()
					parts = append([]Part{mem}, parts...)
				case 1: // merge everything
					mem = NewMem()
					parts = []Part{mem, segmentOf(t, parts...)}
				}
				checkParts(t, r, m, parts, int(row), vocabulary)
				checkForward(t, m, parts)
			}
		})
	}
}

// checkFindAny checks which rows have one of terms.
func checkFindAny(t *testing.T, m *model, parts []Part, terms []string) {
	t.Helper()
	var rows []uint32
	var want []bool
	for row, d := range m.docs {
		has := false
		for _, term := range terms {
			_, ok := d.terms[term]
			has = has || ok
		}
		rows, want = append(rows, row), append(want, has)
	}
	rows, want = append(rows, 1<<30), append(want, false)
	has, known := make([]bool, len(rows)), make([]bool, len(rows))
	for _, p := range parts {
		require.NoError(t, p.FindAny(terms, rows, has, known))
	}
	require.Equal(t, want, has)
	require.False(t, known[len(rows)-1])
	require.NotContains(t, known[:len(rows)-1], false)
}

func checkForward(t *testing.T, m *model, parts []Part) {
	t.Helper()
	for row, d := range m.docs {
		got := make(map[string]int)
		length := int64(0)
		for _, p := range parts {
			terms, err := p.Forward(row, nil)
			require.NoError(t, err)
			for _, e := range terms {
				got[e.Term] = int(e.TF)
			}
			length += p.Length(row)
		}
		want := make(map[string]int)
		for term, e := range d.terms {
			want[term] = e.tf
		}
		require.Equal(t, want, got)
		assert.Equal(t, int64(d.length), length)
		for term := range want {
			checkFindAny(t, m, parts, []string{"no such term", term})
			break
		}
	}
}
