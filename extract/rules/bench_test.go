package rules

import (
	"context"
	"strconv"
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

// BenchmarkLongMemory reads memories of 100 KB and 1 MB, full of what rules look up in lists of the whole text: quotations, dates, phrases of
// other languages. Ten times the text has to take about ten times the time.
func BenchmarkLongMemory(b *testing.B) {
	for name, unit := range map[string]string{
		"quotations": "„Ich wohne in Bonn“, sagte er. Ich wohne in Köln. Ich mag \"Tee\" Nummer #. ",
		"lowercase":  "vivo en cádiz y trabajo en una tienda de ropa. me gusta el té número #. ",
		"dates":      "We're moving to Bonn on 3 October. I start at Acme in December. She comes back on 4 November with # boxes. ",
		"names":      "Anna Lind wohnt in Bonn. Ute Kranz arbeitet bei Siemens #. ",
		"japanese":   "「東京に住んでいます」と言う人です。私は大阪に住んでいます。#番の猫が好きです。",
		"russian":    "Олег переехал в Казань. Живу в Перми. Раньше работал в Омске номер #. ",
		"open":       "Er sagt \"ich wohne in Bonn #. ",
	} {
		for _, size := range []int{100 << 10, 1 << 20} {
			b.Run(name+"/"+strconv.Itoa(size>>10)+"KB", func(b *testing.B) {
				var text strings.Builder
				for n := 0; text.Len() < size; n++ {
					text.WriteString(strings.ReplaceAll(unit, "#", strconv.Itoa(n)))
				}
				in := []extract.Input{{Text: text.String(), Time: ref, Speaker: "Alex", Memory: true, Infer: true}}
				x := New()
				b.SetBytes(int64(len(in[0].Text)))
				for b.Loop() {
					if _, err := x.Extract(context.Background(), in); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
