package language

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestWeekdaysWithDates reads days of the week with a date as one date, and those in a row as none.
func TestWeekdaysWithDates(t *testing.T) {
	t.Parallel()
	ref := time.Date(2026, 9, 16, 10, 0, 0, 0, time.UTC) // a Wednesday
	for text, want := range map[string]string{
		"We sail on Saturday 17 October": "2026-10-17", "The hearing is on Monday, 2 November 2026": "2026-11-02", "It rained on Sunday the 6th": "2026-09-06", "the do is on Friday the second of October": "2026-10-02",
		"I fence mon wed fri": "", "from the 9th to the 14th of October": "2026-10-09", "the third to the ninth of May 2024": "2024-05-03", "the first to arrive": "", "the second to last of May": "2026-05-01", "I fence Tuesday/Thursday": "", "the roof was done in May last year": "2025-05-01", "we marry on 3 April next year": "2027-04-03", "the first time in ten years": "",
		"We've got tickets for 6 March": "2027-03-06", "he got tickets for 6 March": "2026-03-06", "Sunday the second eleven play": "2026-09-13",
	} {
		got := ""
		if dates := Dates(text, ref); len(dates) > 0 {
			got = dates[0].From.Format(time.DateOnly)
		}
		assert.Equal(t, want, got, text)
	}
}
