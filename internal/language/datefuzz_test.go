package language

import (
	"testing"
	"time"

	"github.com/contextmem/contextmem/extract"
)

func FuzzDates(f *testing.F) {
	for _, text := range []string{"", "\x00\xff", "I went yesterday, on 8 May 2023 and 3 weeks ago; on the 5th.", "昨日 2023年5月8日 三天前", "vor drei Wochen, hace dos años, le mois dernier"} {
		f.Add(text, int64(1_684_000_000))
	}
	f.Add("two and a half decades before the second Friday of the week after next May", int64(0))
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		if len(text) > 1<<16 || unix < -60_000_000_000 || unix > 250_000_000_000 {
			return
		}
		last := 0
		for _, d := range Dates(text, time.Unix(unix, 0)) {
			if d.Start < last || d.End <= d.Start || d.Surface != text[d.Start:d.End] || !d.From.Before(d.To) || d.Precision == "" {
				t.Fatalf("date %+v behind %d", d, last)
			}
			if _, err := d.From.MarshalJSON(); err != nil {
				t.Fatal(err)
			}
			last = d.End
		}
	})
}

func FuzzQueryCues(f *testing.F) {
	for _, q := range []string{"", "When did Anna Lind move?", "東京 ERR-1042 \xff J. K.'s"} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := QueryCues(text, today)
		for g := range c.EachGram {
			if g.Key == "" || g.Key != extract.Key(text[g.Start:g.End]) || g.Words < 1 || g.Words > maxGramLength || g.End <= g.Start {
				t.Fatalf("gram %+v", g)
			}
		}
	})
}
