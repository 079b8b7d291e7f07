package rules

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/extract"
)

// shown is a statement as a user sees it: with its kind, its status and its time.
type shown struct{ statement, as string }

// whatIsShown lists what was extracted, each once, in the form of the files of times.
func whatIsShown(out *extract.Output) []shown {
	var list []shown
	seen := make(map[shown]bool)
	add := func(b believed, kind string, mode extract.Mode, from, to time.Time) {
		s := shown{b.String(), kind}
		if mode != "" && mode != extract.ModeAsserted {
			s.as += " " + string(mode)
		}
		if !from.IsZero() {
			s.as += from.Format(" from 2006-01-02")
		}
		if !to.IsZero() {
			s.as += to.Format(" to 2006-01-02")
		}
		if !seen[s] {
			seen[s] = true
			list = append(list, s)
		}
	}
	for _, f := range out.Facts {
		add(believedFact(&f), "F", f.Mode, f.ValidFrom, f.ValidTo)
	}
	for _, r := range out.Relations {
		if b := relationsBelieved(&extract.Output{Relations: []extract.Relation{r}}); len(b) == 1 {
			add(b[0], "R", r.Mode, r.ValidFrom, r.ValidTo)
		}
	}
	return list
}

// TestTimes measures how much of what is shown is right in its words, its time and its status together. A statement whose words are wrong
// is wrong, and a time or a status that no reader has seen is unknown.
func TestTimes(t *testing.T) {
	t.Parallel()
	for set, precision := range map[string]float64{"folk": .91, "folkheld": .85, "everyday": .79, "trades": .89, "tradesheld": .91} {
		type message struct{ conversation, text string }
		times := make(map[message]map[string]bool)
		for _, j := range readJudgements(t, set+"times.txt") {
			times[message{j.conversation, j.text}] = j.right
		}
		var c tally
		for _, j := range readJudgements(t, set+"strict.txt") {
			out, err := (&Extractor{}).Extract(t.Context(), []extract.Input{j.input()})
			require.NoError(t, err)
			for _, s := range whatIsShown(&out[0]) {
				right, known := times[message{j.conversation, j.text}][s.statement+" | "+s.as]
				if words, ok := j.right[s.statement]; ok && !words {
					right, known = false, true
				}
				switch {
				case !known:
					c.unknown++
				case right:
					c.right++
				default:
					c.wrong++
				}
			}
		}
		t.Logf("%s: right in words, time and status %.3f (%d of %d), unknown %d", set, c.precision(), c.right, c.right+c.wrong, c.unknown)
		assert.GreaterOrEqual(t, c.precision(), precision, set)
		assert.LessOrEqual(t, c.unknown*20, c.right, "too much has no label: %s", set)
	}
}
