package rules

import (
	"testing"

	"github.com/contextmem/contextmem/extract"
	"github.com/stretchr/testify/assert"
)

func TestStatusOfThings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"The status of project Apollo is delayed.":   "apollo|status|delayed",
		"The status of Apollo is now on hold.":       "apollo|status|on hold",
		"Apollo's status is in progress.":            "apollo|status|in progress",
		"Apollo is at risk.":                         "apollo|status|at risk",
		"Apollo has been cancelled.":                 "apollo|status|cancelled",
		"The deadline of Apollo is 5 May 2023.":      "apollo|has_deadline|2023-05-05",
		"Apollo's priority is high.":                 "apollo|has_priority|high",
		"Apollo is a project of the harbour office.": "",
		"Apollo is not delayed.":                     "",
		"Apollo was happy.":                          "",
		"If Apollo is delayed, we wait.":             "",
	} {
		t.Run(text, func(t *testing.T) {
			got := ""
			for _, r := range one(t, extract.Input{Text: text, Time: ref}).Relations {
				if r.Functional {
					got = r.Source + "|" + r.Predicate + "|" + r.Target
				}
			}
			assert.Equal(t, want, got, text)
		})
	}
}
