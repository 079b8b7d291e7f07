package language

import "testing"

// asked are questions of the usual length.
var asked = []string{
	"When did Anna Lind move to the Grey River valley with her sister?",
	"who repaired the anchor chain on day 812?",
	"what did Maria do at the ferry terminal on day 45?",
	"hours that Jonas logged for the cargo hatch on day 6",
	"when was the life raft inspected at dry dock two, on day 103?",
}

func BenchmarkQueryCues(b *testing.B) {
	for _, bc := range []struct {
		name  string
		kinds CueKind
	}{{"all", AllCues}, {"windows", CueWindows}, {"times", CueTimes}, {"rest", CueRest}} {
		b.Run(bc.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				SomeCues(asked[i%len(asked)], today, bc.kinds)
			}
		})
	}
}
