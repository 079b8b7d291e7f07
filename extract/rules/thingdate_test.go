package rules

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/extract"
)

// TestDatesOfThings measures whether a date without a year is that of a thing which is over or lies ahead: "I know Ana from a course in February".
func TestDatesOfThings(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/thingdates.txt")
	require.NoError(t, err)
	right, all := 0, 0
	for line := range strings.SplitSeq(string(b), "\n") {
		text, want, ok := strings.Cut(line, " => ")
		if !ok || line[0] == '#' {
			continue
		}
		out := one(t, extract.Input{Text: text, Time: time.Date(2026, 9, 16, 10, 0, 0, 0, time.UTC), Speaker: "Alex", Memory: true, Infer: true})
		got := ""
		if len(out.Dates) > 0 {
			got = out.Dates[0].From.Format(time.DateOnly)
		}
		if all++; strings.HasPrefix(got, want) {
			right++
		} else {
			t.Logf("%s: %s, want %s", text, got, want)
		}
	}
	t.Logf("right %d of %d", right, all)
	assert.GreaterOrEqual(t, right*100, all*92)
}
