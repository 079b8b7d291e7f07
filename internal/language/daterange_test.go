package language

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestMonthsWithoutAYear(t *testing.T) {
	t.Parallel()
	// today is Monday, 8 May 2023.
	for text, want := range map[string]string{
		"We're moving to Utrecht in December.":       "December=2023-12-01..2023-12-31 month*",
		"I'm starting in February.":                  "February=2024-02-01..2024-02-29 month*",
		"We will be in Rome in March.":               "March=2024-03-01..2024-03-31 month*",
		"I moved here in August.":                    "August=2022-08-01..2022-08-31 month*",
		"I was in Oslo in March.":                    "March=2023-03-01..2023-03-31 month*",
		"I've been here since November.":             "November=2022-11-01..2022-11-30 month*",
		"I live here until October.":                 "October=2023-10-01..2023-10-31 month*",
		"I left in November, now I work in Bonn.":    "November=2022-11-01..2022-11-30 month*",
		"I'm leaving on 3 February.":                 "3 February=2024-02-03..2024-02-03 day*",
		"I arrived on 3 June.":                       "3 June=2022-06-03..2022-06-03 day*",
		"The exam is on 12 June.":                    "12 June=2023-06-12..2023-06-12 day*",
		"Moving to a new flat is what I did in May.": "May=2023-05-01..2023-05-31 month*",
	} {
		t.Run(text, func(t *testing.T) {
			assert.Equal(t, []string{want}, spans(Dates(text, today)), text)
		})
	}
}

func TestRanges(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"I'm in Rome 3-7 June.":                       {"3-7 June=2023-06-03..2023-06-07 day*"},
		"I was in Rome from 3 to 7 June 2021.":        {"3 to 7 June 2021=2021-06-03..2021-06-07 day"},
		"It rained between 3 and 7 June 2021.":        {"3 and 7 June 2021=2021-06-03..2021-06-07 day"},
		"Closed June 3-7, 2021.":                      {"June 3-7, 2021=2021-06-03..2021-06-07 day"},
		"Closed June 3rd to 7th, 2021.":               {"June 3rd to 7th, 2021=2021-06-03..2021-06-07 day"},
		"I worked there from March to June 2021.":     {"March=2021-03-01..2021-03-31 month", "June 2021=2021-06-01..2021-06-30 month"},
		"I worked there from October to March 2021.":  {"October=2020-10-01..2020-10-31 month", "March 2021=2021-03-01..2021-03-31 month"},
		"I was in Bonn from November to February.":    {"November=2022-11-01..2022-11-30 month*", "February=2023-02-01..2023-02-28 month*"},
		"I will be away from December until January.": {"December=2023-12-01..2023-12-31 month*", "January=2024-01-01..2024-01-31 month*"},
		"Version 3-7 June is out.":                    {"3-7 June=2023-06-03..2023-06-07 day*"},
		"Take 3 and 7 June 2021.":                     {"7 June 2021=2021-06-07..2021-06-07 day"},
		"See pages 3-7.":                              {},
		"The score was 3-7 in June 2021.":             {"June 2021=2021-06-01..2021-06-30 month"},
	} {
		t.Run(text, func(t *testing.T) {
			assert.Equal(t, want, spans(Dates(text, today)), text)
		})
	}
}

func TestHabitsAreNoDates(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"I swim every Monday.", "I swim on Mondays.", "I swim on wednesdays.", "We meet every other Friday.", "Yoga each Tuesday.", "I run most Sundays.",
		"I cook on Thursday evenings.", "I paint every Monday and Friday.", "Choir is every second Tuesday."} {
		t.Run(text, func(t *testing.T) {
			assert.Empty(t, Dates(text, today), text)
		})
	}
	assert.Equal(t, []string{"Friday=2023-05-05..2023-05-05 day*"}, spans(Dates("I swam on Friday.", today)))
}

func TestDatesCountFromTheCallersClock(t *testing.T) {
	t.Parallel()
	late := time.Date(2023, 5, 8, 23, 30, 0, 0, time.UTC) // already the 9th in Tokyo
	assert.Equal(t, []string{"yesterday=2023-05-07..2023-05-07 day*"}, spans(Dates("I left yesterday.", late)))
	assert.Equal(t, []string{"yesterday=2023-05-08..2023-05-08 day*"}, spans(Dates("I left yesterday.", late.In(time.FixedZone("JST", 9*3600)))))
}
