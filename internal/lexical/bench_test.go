package lexical

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"
)

// benchDocs returns the lines of the file that CONTEXTMEM_BENCH_CORPUS names, or 20,000
// documents of a made-up language whose words follow Zipf's law.
func benchDocs(b *testing.B) []string {
	if path := os.Getenv("CONTEXTMEM_BENCH_CORPUS"); path != "" {
		data, err := os.ReadFile(path)
		require.NoError(b, err)
		return strings.Split(strings.TrimSpace(string(data)), "\n")
	}
	r := rand.New(rand.NewPCG(1, 1))
	words := make([]string, 20_000)
	for i := range words {
		words[i] = fmt.Sprintf("w%xq", r.Uint32())
	}
	zipf := rand.NewZipf(r, 1.1, 8, uint64(len(words)-1))
	docs := make([]string, 20_000)
	for i := range docs {
		some := make([]string, 5+r.IntN(26))
		for j := range some {
			some[j] = words[zipf.Uint64()]
		}
		docs[i] = strings.Join(some, " ")
	}
	return docs
}

// benchQueries draws queries of 1 to 5 words, each from one document, without question words.
func benchQueries(docs []string, n int) []string {
	r := rand.New(rand.NewPCG(1, 3))
	out := make([]string, 0, n)
	for len(out) < n {
		words := strings.FieldsFunc(strings.ToLower(docs[r.IntN(len(docs))]), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
		r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		words = slices.DeleteFunc(words, func(w string) bool { return len(w) < 2 || IsQuestionWord(w) || IsStopWord(w) })
		if want := 1 + len(out)%5; len(words) >= want {
			out = append(out, strings.Join(words[:want], " "))
		}
	}
	return out
}

func BenchmarkParse(b *testing.B) {
	texts := []string{
		"When did Anna Lind move to the Grey River valley with her sister?",
		"who repaired the anchor chain on day 812?",
		"what did Maria do at the ferry terminal on day 45?",
		"hours that Jonas logged for the cargo hatch on day 6",
		"when was the life raft inspected at dry dock two, on day 103?",
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		ParseQuery(texts[i%len(texts)], Or)
	}
}

// BenchmarkSegmentSearch runs 1,000 queries of 1 to 5 words for ten hits each, including the
// parsing of the query. Beside the mean it reports the median and the 99th percentile. It also takes
// the quickest run of each query, and reports their median, overall and by number of words.
func BenchmarkSegmentSearch(b *testing.B) {
	docs := benchDocs(b)
	mem := NewMem()
	for i, d := range docs {
		require.NoError(b, mem.Add(uint32(i), Doc{Fields: []Field{{Text: d, Weight: 1}}}))
	}
	var file bytes.Buffer
	require.NoError(b, WriteSegment(b.Context(), &file, mem))
	seg, err := OpenSegment(file.Bytes())
	require.NoError(b, err)
	queries := benchQueries(docs, 1000)
	best := make([]time.Duration, len(queries))
	var each []time.Duration
	n := 0
	for b.Loop() {
		q := n % len(queries)
		n++
		start := time.Now()
		_, err := Search(b.Context(), ParseQuery(queries[q], Or), 10, []View{{Part: seg}})
		took := time.Since(start)
		if err != nil {
			b.Fatal(err)
		}
		each = append(each, took)
		if best[q] == 0 || took < best[q] {
			best[q] = took
		}
	}
	report := func(name string, of []time.Duration, share float64) {
		slices.SortFunc(of, func(x, y time.Duration) int { return cmp.Compare(x, y) })
		b.ReportMetric(float64(of[int(share*float64(len(of)))].Nanoseconds())/1e3, name)
	}
	for terms := range 5 {
		var of []time.Duration
		for q := terms; q < len(best); q += 5 {
			of = append(of, best[q])
		}
		report(fmt.Sprintf("µs-%d", terms+1), of, .5)
	}
	report("µs-p50", each, .5)
	report("µs-best-p50", best, .5)
	report("µs-p99", each, .99)
}

// BenchmarkMemSearch scores all documents of small indexes, as a survey does.
func BenchmarkMemSearch(b *testing.B) {
	for _, n := range []int{50, 200, 2000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			docs := benchDocs(b)[:n]
			mem := NewMem()
			for i, d := range docs {
				require.NoError(b, mem.Add(uint32(i), Doc{Fields: []Field{{Text: d, Weight: 1}}}))
			}
			var queries []*Query
			for _, text := range benchQueries(docs, 1000) {
				queries = append(queries, ParseQuery(text, Or))
			}
			scores := make([]float32, n)
			var count Counts
			i := 0
			for b.Loop() {
				clear(scores)
				if err := Score(b.Context(), scores, queries[i%len(queries)], []View{{Part: mem}}, &count); err != nil {
					b.Fatal(err)
				}
				i++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/row")
		})
	}
}

// BenchmarkIndex indexes 5,000 documents of 20 to 120 words, and writes them as a segment.
func BenchmarkIndex(b *testing.B) {
	short := benchDocs(b)
	docs := make([]string, len(short)/4)
	for i := range docs {
		docs[i] = strings.Join(short[4*i:4*i+4], " ")
	}
	for _, name := range []string{"add", "write"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				mem := NewMem()
				if name == "add" {
					b.StartTimer()
				}
				_, err := mem.AddAll(0, len(docs), func(i int) Doc { return Doc{Fields: []Field{{Text: docs[i], Weight: 1}}} })
				require.NoError(b, err)
				if name == "write" {
					b.StartTimer()
					require.NoError(b, WriteSegment(b.Context(), io.Discard, mem))
				}
			}
		})
	}
}
