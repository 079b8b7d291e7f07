package rules

import (
	"context"
	"strings"
	"testing"

	"github.com/contextmem/contextmem/extract"
)

// short is about 25 words, the size of a conversation turn.
const short = "I moved from Oslo to Berlin last month with my sister Clara, and we both joined a small choir at Harbor Church on Friday evenings, which I love."

func BenchmarkShortMemory(b *testing.B) {
	for name, infer := range map[string]bool{"raw": false, "infer": true} {
		b.Run(name, func(b *testing.B) {
			in := []extract.Input{{Text: short, Time: ref, Speaker: "Alex", Memory: true, Infer: infer}}
			x := New()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := x.Extract(context.Background(), in); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "texts/s")
		})
	}
}

func BenchmarkDocument(b *testing.B) {
	text := strings.Repeat("Anna Lind, the founder of Zorblax, was born in Porto in 1961. She studied physics at the University of Göttingen and later moved to the Grey River valley, where the company built its first plant on 3 March 1999.\n\n", 50)
	in := []extract.Input{{Title: "Zorblax, company", Text: text}}
	x := New()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := x.Extract(context.Background(), in); err != nil {
			b.Fatal(err)
		}
	}
}
