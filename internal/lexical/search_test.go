package lexical

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/bitset"
)

// zipf draws word numbers below n with probabilities of about 1/rank.
type zipf struct {
	r *rand.Rand
	n float64
}

func (z zipf) word() string {
	return fmt.Sprintf("q%dz", int(math.Pow(z.n, z.r.Float64())))
}

// zipfMem returns docs documents of about 15 distinct words.
func zipfMem(tb testing.TB, docs, vocabulary int) *Mem {
	tb.Helper()
	z := zipf{rand.New(rand.NewPCG(uint64(docs), 1)), float64(vocabulary)}
	m := NewMem()
	var text strings.Builder
	for row := range docs {
		text.Reset()
		for range 5 + z.r.IntN(20) {
			text.WriteString(z.word())
			text.WriteByte(' ')
		}
		require.NoError(tb, m.Add(uint32(row), Doc{Fields: []Field{{Text: text.String()}}}))
	}
	return m
}

func zipfQuery(z zipf, terms int) *Query {
	words := make([]string, terms)
	for i := range words {
		words[i] = z.word()
	}
	return ParseQuery(strings.Join(words, " "), Or)
}

// TestSegmentEqualsMem compares the pruned search of a segment of many windows with the exhaustive
// search of a Mem, which TestModel checks.
func TestSegmentEqualsMem(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("computes in one goroutine: left out with -short")
	}
	const docs = 30_000
	mem := zipfMem(t, docs, 5000)
	seg := segmentOf(t, mem)
	z := zipf{rand.New(rand.NewPCG(3, 3)), 5000}
	for i := range 400 {
		if i == 200 {
			for range docs / 5 {
				row := z.r.Uint32N(docs)
				_, err := mem.Delete(row)
				require.NoError(t, err)
				_, err = seg.Delete(row)
				require.NoError(t, err)
			}
		}
		q := zipfQuery(z, 1+i%7)
		q.Op = Operator(i / 7 % 2)
		if i%5 == 0 {
			q.Terms[0].Boost = 10 * z.r.Float32()
		}
		var accept *bitset.Set
		if i%3 == 0 {
			accept = bitset.New(docs)
			for row := range uint32(docs) {
				if z.r.IntN(1+i%40) == 0 {
					accept.Add(row)
				}
			}
		}
		k := []int{1, 10, 100, 1000}[i%4]
		want, err := Search(t.Context(), q, k, []View{{Part: mem, Accept: accept}})
		require.NoError(t, err)
		got, err := Search(t.Context(), q, k, []View{{Part: seg, Accept: accept}})
		require.NoError(t, err)
		require.Equal(t, want, got, "query %d: %v", i, q)
		// The partition may have other parts, with longer or shorter documents.
		st := collect(t, q, []View{{Part: mem}})
		st.TotalLen = st.TotalLen * int64(1+i%6) / 3
		require.Equal(t, searchWith(t, q, st, k, View{Part: mem, Accept: accept}), searchWith(t, q, st, k, View{Part: seg, Accept: accept}), "query %d: %v", i, q)
	}
}

// TestPartsShareAThreshold searches parts with interleaving rows and many equal scores. The
// threshold of one part must not exclude a row of another that has the same score and a smaller number.
func TestPartsShareAThreshold(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 5))
	whole, mems := NewMem(), []*Mem{NewMem(), NewMem(), NewMem()}
	z := zipf{r, 40}
	for row := range uint32(6000) {
		words := z.word() + " " + z.word()
		if r.IntN(4) == 0 {
			words += " " + z.word()
		}
		d := Doc{Fields: []Field{{Text: words}}}
		require.NoError(t, whole.Add(row, d))
		require.NoError(t, mems[r.IntN(len(mems))].Add(row, d))
	}
	parts := []Part{segmentOf(t, mems[0]), mems[1], segmentOf(t, mems[2])}
	for i := range 200 {
		q := zipfQuery(z, 1+i%4)
		q.Op = Operator(i / 4 % 2)
		var accept *bitset.Set
		if i%3 == 0 {
			accept = bitset.New(6000)
			for row := range uint32(6000) {
				if r.IntN(3) > 0 {
					accept.Add(row)
				}
			}
		}
		views := make([]View, len(parts))
		for j, at := range r.Perm(len(parts)) {
			views[j] = View{Part: parts[at], Accept: accept}
		}
		k := []int{1, 10, 77, 100, 101}[i%5]
		want, err := Search(t.Context(), q, k, []View{{Part: whole, Accept: accept}})
		require.NoError(t, err)
		got, err := Search(t.Context(), q, k, views)
		require.NoError(t, err)
		require.Equal(t, want, got, "query %d: %v", i, q)
	}
}

func TestSearchOfNothing(t *testing.T) {
	t.Parallel()
	mem := zipfMem(t, 50, 10)
	for _, p := range []Part{mem, segmentOf(t, mem)} {
		q := ParseQuery("q1z", Or)
		for _, k := range []int{0, -1} {
			hits, err := Search(t.Context(), q, k, []View{{Part: p}})
			require.NoError(t, err)
			require.Empty(t, hits)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := Search(ctx, q, 3, []View{{Part: p}})
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, WriteSegment(ctx, new(bytes.Buffer), p), context.Canceled)
	}
}

func TestExtremeBoosts(t *testing.T) {
	t.Parallel()
	mem := zipfMem(t, 300, 10)
	seg := segmentOf(t, mem)
	for _, boost := range []float32{0, -1, math.MaxFloat32, math.SmallestNonzeroFloat32, float32(math.NaN()), float32(math.Inf(1)), 1e-20, 1e20} {
		t.Run(fmt.Sprint(boost), func(t *testing.T) {
			for _, op := range []Operator{Or, And} {
				q := &Query{Terms: []QueryTerm{{Term: "q1z", Boost: boost}, {Term: "q2z", Boost: boost}}, Op: op}
				want, err := Search(t.Context(), q, 10, []View{{Part: mem}})
				require.NoError(t, err)
				got, err := Search(t.Context(), q, 10, []View{{Part: seg}})
				require.NoError(t, err)
				require.Equal(t, want, got)
				for _, h := range got {
					require.False(t, math.IsNaN(float64(h.Score)) || math.IsInf(float64(h.Score), 0))
				}
			}
		})
	}
}

func TestRowsMustRise(t *testing.T) {
	t.Parallel()
	m := NewMem()
	require.NoError(t, m.Add(5, Doc{}))
	require.ErrorIs(t, m.Add(5, Doc{}), ErrOrder)
	require.ErrorIs(t, m.Add(4, Doc{}), ErrOrder)
	require.ErrorIs(t, m.Add(math.MaxUint32, Doc{}), ErrOrder)
	require.NoError(t, m.Add(6, Doc{}))
	other := NewMem()
	require.NoError(t, other.Add(6, Doc{}))
	require.ErrorIs(t, WriteSegment(t.Context(), new(bytes.Buffer), m, other), ErrOrder)
}

func TestEmptySegment(t *testing.T) {
	t.Parallel()
	for _, parts := range [][]Part{nil, {NewMem()}} {
		s := segmentOf(t, parts...)
		require.Zero(t, s.Len())
		hits, err := Search(t.Context(), ParseQuery("x", Or), 5, []View{{Part: s}})
		require.NoError(t, err)
		require.Empty(t, hits)
		ok, err := s.Delete(0)
		require.NoError(t, err)
		require.False(t, ok)
	}
}

func TestMemory(t *testing.T) {
	t.Parallel()
	m := NewMem()
	z := zipf{rand.New(rand.NewPCG(1, 1)), 100_000}
	const docs = 20_000
	for row := range docs {
		var text strings.Builder
		for range 25 {
			text.WriteString(z.word() + " ")
		}
		require.NoError(t, m.Add(uint32(row), Doc{Fields: []Field{{Text: text.String()}}}))
	}
	// The bound is 600 bytes a document, 60 MB for 100,000.
	require.Less(t, m.SizeBytes(), int64(docs*600))
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	m := zipfMem(t, 500, 200)
	seg := segmentOf(t, m)
	var wg sync.WaitGroup
	for g := range 3 {
		wg.Go(func() {
			z := zipf{rand.New(rand.NewPCG(uint64(g), 9)), 200}
			for i := range 150 {
				q := zipfQuery(z, 3)
				q.Op = Operator(i % 2)
				for _, p := range []Part{m, seg} {
					_, err := Search(t.Context(), q, 10, []View{{Part: p}})
					if err != nil {
						t.Error(err)
					}
					if err := p.EachPosting("q1z", nil, func([]uint32, []uint32) {}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Go(func() {
		for i := range 600 {
			if err := m.Add(uint32(500+i), Doc{Fields: []Field{{Text: "q1z q2z added"}}}); err != nil {
				t.Error(err)
			}
			for _, p := range []Part{m, seg} {
				if _, err := p.Delete(uint32(i)); err != nil {
					t.Error(err)
				}
			}
		}
	})
	wg.Go(func() {
		for range 20 {
			var buf bytes.Buffer
			if err := WriteSegment(t.Context(), &buf, m); err != nil {
				t.Error(err)
			}
			if _, err := OpenSegment(buf.Bytes()); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	require.Equal(t, 500, m.Len())
	require.Zero(t, seg.Len())
}

func TestDamage(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("computes in one goroutine: left out with -short")
	}
	data := segmentBytes(t)
	s, err := OpenSegment(data)
	require.NoError(t, err)
	require.NoError(t, s.Verify())
	for i := range len(data) - footerBytes {
		damaged := slices.Clone(data)
		damaged[i] ^= 0x55
		s, err := OpenSegment(damaged)
		require.NoError(t, err)
		if i < int(s.sections[secForward].offset+s.sections[secForward].length) && !padding(s, i) {
			require.ErrorIs(t, s.Verify(), ErrCorrupt, "byte %d", i)
		}
		exercise(t, s)
	}
	for i := len(data) - footerBytes; i < len(data); i++ {
		damaged := slices.Clone(data)
		damaged[i] ^= 0x55
		_, err := OpenSegment(damaged)
		require.Error(t, err)
	}
	for i := range data {
		_, err := OpenSegment(data[:i])
		require.ErrorIs(t, err, ErrCorrupt)
	}
}

// padding reports whether byte i lies between two sections.
func padding(s *Segment, i int) bool {
	for _, sec := range s.sections {
		if uint64(i) >= sec.offset && uint64(i) < sec.offset+sec.length {
			return false
		}
	}
	return true
}

// segmentBytes returns a small segment that has packed and varint blocks, frequencies above 1,
// and gaps between rows.
func segmentBytes(tb testing.TB) []byte {
	tb.Helper()
	m := NewMem()
	for i := range 150 {
		text := "alpha " + strings.Repeat("beta ", i%3) + "Gamma_" + fmt.Sprint(i%7)
		require.NoError(tb, m.Add(uint32(3*i), Doc{Fields: []Field{{Text: text, Weight: i % 4}}}))
	}
	var buf bytes.Buffer
	require.NoError(tb, WriteSegment(tb.Context(), &buf, m))
	return buf.Bytes()
}

// exercise calls all methods of a segment. They may return errors but must not panic.
func exercise(tb testing.TB, s *Segment) {
	for _, text := range []string{"alpha", "beta gamma", `"alpha beta"`, "gamma_3 beta absent"} {
		for _, op := range []Operator{Or, And, Phrase} {
			q := ParseQuery(text, op)
			_, _ = Search(tb.Context(), q, 5, []View{{Part: s}})
		}
	}
	_ = s.EachPosting("alpha", nil, func([]uint32, []uint32) {})
	_, _ = s.Forward(9, nil)
	_ = s.Has(30)
	_, _ = s.Delete(12)
	_ = WriteSegment(tb.Context(), new(bytes.Buffer), s)
}

func FuzzSegment(f *testing.F) {
	data := segmentBytes(f)
	f.Add(uint16(0), byte(1), uint16(100), byte(255), uint16(20), byte(0x80))
	f.Fuzz(func(t *testing.T, i uint16, x byte, j uint16, y byte, k uint16, z byte) {
		damaged := slices.Clone(data)
		n := len(damaged) - 4
		damaged[int(i)%n] ^= x
		damaged[int(j)%n] ^= y
		damaged[n-1-int(k)%(footerBytes-4)] ^= z
		sum := crc32.Checksum(damaged[len(damaged)-footerBytes:n], castagnoli)
		binary.LittleEndian.PutUint32(damaged[n:], sum) // a correct checksum, so that OpenSegment reads the footer
		if s, err := OpenSegment(damaged); err == nil {
			exercise(t, s)
		}
	})
}

func FuzzOpenSegment(f *testing.F) {
	f.Add(segmentBytes(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, err := OpenSegment(data); err == nil {
			_ = s.Verify()
			exercise(t, s)
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	for _, docs := range []int{5_000, 100_000} {
		mem := zipfMem(b, docs, 50_000)
		for name, p := range map[string]Part{"mem": mem, "segment": segmentOf(b, mem)} {
			for _, terms := range []int{1, 3, 5} {
				b.Run(fmt.Sprintf("%s/docs=%d/terms=%d", name, docs, terms), func(b *testing.B) {
					z := zipf{rand.New(rand.NewPCG(1, 2)), 50_000}
					queries := make([]*Query, 200)
					for i := range queries {
						queries[i] = zipfQuery(z, terms)
					}
					views := []View{{Part: p}}
					b.ReportAllocs()
					i := 0
					for b.Loop() {
						if _, err := Search(b.Context(), queries[i%len(queries)], 10, views); err != nil {
							b.Fatal(err)
						}
						i++
					}
				})
			}
		}
	}
}

// BenchmarkSmall parses and searches one query in a small partition.
func BenchmarkSmall(b *testing.B) {
	mem := zipfMem(b, 48, 200)
	for name, p := range map[string]Part{"mem": mem, "segment": segmentOf(b, mem)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				q := ParseQuery("What did q3z say about q17z and q40z?", Or)
				if _, err := Search(b.Context(), q, 10, []View{{Part: p}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAdd(b *testing.B) {
	z := zipf{rand.New(rand.NewPCG(1, 1)), 50_000}
	texts := make([]string, 1000)
	for i := range texts {
		words := make([]string, 25)
		for j := range words {
			words[j] = z.word()
		}
		texts[i] = strings.Join(words, " ")
	}
	m := NewMem()
	b.ReportAllocs()
	row := uint32(0)
	for b.Loop() {
		if err := m.Add(row, Doc{Fields: []Field{{Text: texts[row%1000]}}}); err != nil {
			b.Fatal(err)
		}
		row++
	}
}

func BenchmarkWriteSegment(b *testing.B) {
	mem := zipfMem(b, 20_000, 20_000)
	for b.Loop() {
		require.NoError(b, WriteSegment(b.Context(), new(bytes.Buffer), mem))
	}
	b.ReportMetric(20_000*float64(b.N)/b.Elapsed().Seconds(), "docs/s")
}
