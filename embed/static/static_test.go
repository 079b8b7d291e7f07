package static

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

//go:embed testdata/reference.json
var reference []byte

func TestBundledFile(t *testing.T) {
	t.Parallel()
	sum := sha256.Sum256(bundled)
	assert.Equal(t, "1c7b1372a314ecba79370c1d14749f8da09ef6e69357ecd7b7198540d4f14872", hex.EncodeToString(sum[:]),
		"the bytes changed: give the model another number")
	e := New()
	assert.Equal(t, "static-en-128/1", e.Model())
	assert.Equal(t, 128, e.Dim())
	require.NoError(t, e.check(), "New trusts what Open checks")
}

// The reference is computed by testdata/reference.py from the description of
// the format, without the file's own hash index and in double precision.
func TestAgainstReference(t *testing.T) {
	t.Parallel()
	var cases []struct {
		Text            string
		Query, Document []float32
	}
	require.NoError(t, json.Unmarshal(reference, &cases))
	require.GreaterOrEqual(t, len(cases), 40)
	e := New()
	texts := make([]string, len(cases))
	for i, c := range cases {
		texts[i] = c.Text
	}
	docs, err := e.EmbedDocuments(t.Context(), texts)
	require.NoError(t, err)
	require.Len(t, docs, len(cases))
	for i, c := range cases {
		q, err := e.EmbedQuery(t.Context(), c.Text)
		require.NoError(t, err)
		requireClose(t, c.Query, q, "query %d", i)
		requireClose(t, c.Document, docs[i], "document %d", i)
	}
}

func requireClose(t *testing.T, want, got []float32, format string, args ...any) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		if d := math.Abs(float64(want[i]) - float64(got[i])); !(d <= 1e-5) {
			require.Failf(t, "vectors differ", format+": dimension %d is %v, want %v", append(args, i, got[i], want[i])...)
		}
	}
}

func TestNorms(t *testing.T) {
	t.Parallel()
	e := New()
	docs, err := e.EmbedDocuments(t.Context(), []string{"", "of the", "The bakery opens at seven and sells rye bread, rolls and cake."})
	require.NoError(t, err)
	assert.Zero(t, norm(docs[0]))
	short, long := norm(docs[1]), norm(docs[2])
	assert.Greater(t, long, short)
	assert.Less(t, long, 1.0)
	assert.Less(t, short, 0.3)
	q, err := e.EmbedQuery(t.Context(), "rye bread")
	require.NoError(t, err)
	assert.InDelta(t, 1, norm(q), 1e-6)
	empty, err := e.EmbedQuery(t.Context(), "")
	require.NoError(t, err)
	assert.Equal(t, make([]float32, 128), empty)
}

func TestMeaning(t *testing.T) {
	t.Parallel()
	e := New()
	texts := []string{
		"The kitten slept on the sofa all afternoon.",
		"Interest rates were raised by the central bank.",
		"The server crashed because the disk was full.",
	}
	docs, err := e.EmbedDocuments(t.Context(), texts)
	require.NoError(t, err)
	for query, want := range map[string]int{
		"where does the cat nap":            0,
		"monetary policy and inflation":     1,
		"computer outage for lack of space": 2,
	} {
		t.Run(query, func(t *testing.T) {
			q, err := e.EmbedQuery(t.Context(), query)
			require.NoError(t, err)
			best := 0
			for i := range docs {
				if inner(q, docs[i]) > inner(q, docs[best]) {
					best = i
				}
			}
			assert.Equal(t, want, best, query)
		})
	}
}

func TestUnknownWordsMatchThemselves(t *testing.T) {
	t.Parallel()
	e := New()
	docs, err := e.EmbedDocuments(t.Context(), []string{"ticket QXRV7719", "ticket QXRV7720"})
	require.NoError(t, err)
	q, err := e.EmbedQuery(t.Context(), "qxrv7719")
	require.NoError(t, err)
	assert.Greater(t, inner(q, docs[0]), inner(q, docs[1])+0.1)
}

func TestVectorsDoNotOverlap(t *testing.T) {
	t.Parallel()
	docs, err := New().EmbedDocuments(t.Context(), []string{"one apple", "two pears"})
	require.NoError(t, err)
	before := append([]float32(nil), docs[1]...)
	_ = append(docs[0], 42)
	assert.Equal(t, before, docs[1])
}

// Many texts, which all processors embed, get the vectors that each gets alone.
func TestManyTogether(t *testing.T) {
	t.Parallel()
	e := New()
	for _, n := range []int{2*alone - 1, 2 * alone, 8*alone + 3} {
		texts := make([]string, n)
		for i := range texts {
			texts[i] = strings.Repeat(fmt.Sprintf("Ticket %d of the bakery at harbour %d. ", i, i%7), i%5)
		}
		all, err := e.EmbedDocuments(t.Context(), texts)
		require.NoError(t, err)
		require.Len(t, all, n)
		for i := range texts {
			one, err := e.EmbedDocuments(t.Context(), texts[i:i+1])
			require.NoError(t, err)
			require.Equal(t, one[0], all[i], "text %d of %d", i, n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = e.EmbedDocuments(ctx, texts)
		require.ErrorIs(t, err, context.Canceled)
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := New().EmbedDocuments(ctx, []string{"text"})
	require.ErrorIs(t, err, context.Canceled)
	_, err = New().EmbedQuery(ctx, "text")
	require.ErrorIs(t, err, context.Canceled)
	none, err := New().EmbedDocuments(t.Context(), nil)
	require.NoError(t, err)
	assert.Empty(t, none)
}

func TestAppendWord(t *testing.T) {
	t.Parallel()
	e := New()
	v, ok := e.AppendWord(nil, "Coffee")
	require.True(t, ok)
	assert.InDelta(t, 1, norm(v), 1e-6)
	q, err := e.EmbedQuery(t.Context(), "coffee")
	require.NoError(t, err)
	requireClose(t, q, v, "coffee")

	both, ok := e.AppendWord(v, "tea")
	require.True(t, ok)
	require.Len(t, both, 256)
	assert.Equal(t, v, both[:128])
	for _, w := range []string{"", "zzxqv", "two words", "caf\u00e9", "mustn"} {
		t.Run(w, func(t *testing.T) {
			got, ok := e.AppendWord(both, w)
			assert.False(t, ok, w)
			assert.Len(t, got, 256, w)
		})
	}
	// Memory that is reused must not shine through.
	again, ok := e.AppendWord(both[:0], "Coffee")
	require.True(t, ok)
	requireClose(t, q, again, "coffee, reused")
}

func TestCoverage(t *testing.T) {
	t.Parallel()
	e := New()
	for _, c := range []struct {
		text string
		want float64
	}{
		{"", 0},
		{" ... ", 0},
		{"who is it and why didn't they", 0},
		{"green tea", 1},
		{"What is Green TEA?", 1},
		{"green zzxqv", 0.5},
		{"zzxqv qqwrtp", 0},
		{"caf\u00e9", 0},
		{"tea in the caf\u00e9", 0.5},
		{"\u6771\u4eac\u9996\u90fd", 0},
		{"\u6211\u559c\u6b22 Python", 0.25},
		{"\u6211\u559c\u6b22Python\u3002", 0.25},
		{"Python\u7f16", 0.5},
		{"\u041f\u0440\u0438\u0432\u0435\u0442 tea", 0.5},
		{"\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35", 0},
		{"tea\U0001f600tea", 1},
		{"\xff\xfe tea \xc3", 1},
		{"x y tea", 1},
	} {
		t.Run(c.text, func(t *testing.T) {
			assert.InDelta(t, c.want, e.Coverage(c.text), 1e-9, "Coverage(%q)", c.text)
		})
	}
}

func TestStopWords(t *testing.T) {
	t.Parallel()
	for _, w := range []string{"The", "SHOULDN", "between", "a", "ll"} {
		t.Run(w, func(t *testing.T) {
			h, _ := hash(w)
			assert.True(t, isStopWord(w, h), w)
		})
	}
	for w := range strings.FieldsSeq(stopWords) {
		h, _ := hash(strings.ToUpper(w))
		assert.True(t, isStopWord(strings.ToUpper(w), h), w)
	}
	for _, w := range []string{"tea", "shouldnt", "thermostat", ""} {
		t.Run(w, func(t *testing.T) {
			h, _ := hash(w)
			assert.False(t, isStopWord(w, h), w)
		})
	}
	h, _ := hash("the")
	assert.False(t, isStopWord("tea", h), "another word of the same hash")
}

// TestReadQuery checks that ReadQuery, in one pass, gives the same as the two calls that it replaces.
func TestReadQuery(t *testing.T) {
	t.Parallel()
	e := New()
	for _, text := range []string{"", sample, strings.Repeat(sample+" QXRV7719 ", 20), "tea", "the", "7 a x", "東京 tea", "caf\u00e9 au lait", "na\u00efve", "tea\xff"} {
		t.Run(text, func(t *testing.T) {
			want, err := e.EmbedQuery(t.Context(), text)
			require.NoError(t, err)
			vec, coverage := e.ReadQuery(text)
			assert.Equal(t, want, vec, text)
			assert.Equal(t, e.Coverage(text), coverage, text)
		})
	}
}

// Not parallel: other tests would be counted.
func TestAllocations(t *testing.T) {
	e := New()
	texts := []string{"the first of several short texts", "MUSTN and QXRV7719", "", "tea"}
	ctx := t.Context()
	assert.LessOrEqual(t, testing.AllocsPerRun(50, func() { _, _ = e.EmbedDocuments(ctx, texts) }), 2.0)
	assert.LessOrEqual(t, testing.AllocsPerRun(50, func() { _, _ = e.EmbedQuery(ctx, texts[0]) }), 1.0)
	assert.LessOrEqual(t, testing.AllocsPerRun(50, func() { _, _ = e.ReadQuery(texts[0]) }), 1.0)
	assert.Zero(t, testing.AllocsPerRun(50, func() { e.Coverage(texts[0]) }))
	buf := make([]float32, 0, 128)
	assert.Zero(t, testing.AllocsPerRun(50, func() { _, _ = e.AppendWord(buf, "tea") }))
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	e := New()
	want, err := e.EmbedQuery(t.Context(), "a walk along the river")
	require.NoError(t, err)
	for range 4 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for range 50 {
				got, err := e.EmbedQuery(t.Context(), "a walk along the river")
				require.NoError(t, err)
				require.Equal(t, want, got)
			}
		})
	}
}

func inner(a, b []float32) float64 {
	var s float64
	for i := range a {
		s += float64(a[i]) * float64(b[i])
	}
	return s
}

// sample has 24 words.
const sample = "Her sister moved to Lisbon last spring and works as a nurse in the large hospital near the river, close to the old market"

func BenchmarkEmbedQuery(b *testing.B) {
	e := New()
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		_, _ = e.EmbedQuery(ctx, sample)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "texts/s")
}

// BenchmarkEmbedDocuments uses other words in each text, as real documents do,
// so rows come from outer caches.
func BenchmarkEmbedDocuments(b *testing.B) {
	e := New()
	texts := make([]string, 256)
	at := func(i int) uint32 { return binary.LittleEndian.Uint32(e.offsets[4*i:]) }
	for i := range texts {
		var s strings.Builder
		for k := range 24 {
			id := (i*7919 + k*k*613) % 20000
			s.Write(e.words[at(id):at(id+1)])
			s.WriteByte(' ')
		}
		texts[i] = s.String()
	}
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		_, _ = e.EmbedDocuments(ctx, texts)
	}
	b.ReportMetric(float64(b.N*len(texts))/b.Elapsed().Seconds(), "texts/s")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(texts)), "ns/text")
}

func BenchmarkCoverage(b *testing.B) {
	e := New()
	for b.Loop() {
		e.Coverage(sample)
	}
}

func BenchmarkReadQuery(b *testing.B) {
	e := New()
	for b.Loop() {
		e.ReadQuery(sample)
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		New()
	}
}
