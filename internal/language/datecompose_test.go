package language

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestDatesFromDates(t *testing.T) {
	t.Parallel()
	wednesday := time.Date(2023, 6, 14, 10, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"I moved the week before 9 June 2023.":    "the week before 9 June 2023=2023-06-02..2023-06-08 day",
		"Week before the 9th of June, I think.":   "Week before the 9th of June=2023-06-02..2023-06-08 day*",
		"I left the day after 9 June 2023.":       "the day after 9 June 2023=2023-06-10..2023-06-10 day",
		"Two days before 9 June 2023 it rained.":  "Two days before 9 June 2023=2023-06-07..2023-06-07 day",
		"The weekend before 10 July 2023 was ok.": "The weekend before 10 July 2023=2023-07-08..2023-07-09 day",
		"The weekend after 9 July 2023 was ok.":   "The weekend after 9 July 2023=2023-07-15..2023-07-16 day",
		"It rained the month after March 2022.":   "the month after March 2022=2022-04-01..2022-04-30 month",
		"It rained the year before 2022.":         "the year before 2022=2021-01-01..2021-12-31 year",
		"See the Friday before 15 July 2023.":     "the Friday before 15 July 2023=2023-07-14..2023-07-14 day",
		"See the Saturday before 15 July 2023.":   "the Saturday before 15 July 2023=2023-07-08..2023-07-08 day",
		"See the Sunday after 15 July 2023.":      "the Sunday after 15 July 2023=2023-07-16..2023-07-16 day",
		"See the week of 23 August 2023.":         "the week of 23 August 2023=2023-08-21..2023-08-27 day",
		"See the weekend of 15 July.":             "the weekend of 15 July=2023-07-15..2023-07-16 day*",
		"I came Monday last week.":                "Monday last week=2023-06-05..2023-06-05 day*",
		"Tuesday of last week was fun.":           "Tuesday of last week=2023-06-06..2023-06-06 day*",
		"I came last week Tuesday.":               "last week Tuesday=2023-06-06..2023-06-06 day*",
		"It broke the night before last.":         "the night before last=2023-06-12..2023-06-12 day*",
		"It broke the week before last.":          "the week before last=2023-05-29..2023-06-04 day*",
		"It broke the year before last.":          "the year before last=2021-01-01..2021-12-31 year*",
		"It is the week after next.":              "the week after next=2023-06-26..2023-07-02 day*",
		"It was at the end of last month.":        "the end of last month=2023-05-21..2023-05-31 day*",
		"It is at the beginning of next week.":    "the beginning of next week=2023-06-19..2023-06-20 day*",
		"It was in early June.":                   "early June=2023-06-01..2023-06-10 day*",
		"It was in late 2021.":                    "late 2021=2021-09-01..2021-12-31 month",
		"It was the last week of May 2023.":       "the last week of May 2023=2023-05-25..2023-05-31 day",
		"It is the first weekend of August 2023.": "the first weekend of August 2023=2023-08-05..2023-08-06 day",
		"It is the second Monday of August 2023.": "the second Monday of August 2023=2023-08-14..2023-08-14 day",
		"It was the last Friday in May 2023.":     "the last Friday in May 2023=2023-05-26..2023-05-26 day",
		"It was the summer of 2021.":              "the summer of 2021=2021-06-01..2021-08-31 month",
		"It was winter 2021.":                     "winter 2021=2021-12-01..2022-02-28 month",
		"I saw him the other day.":                "the other day=2023-06-07..2023-06-13 day*",
		"I saw him on the 5th.":                   "the 5th=2023-06-05..2023-06-05 day*",
		"I saw him on the 31st.":                  "the 31st=2023-05-31..2023-05-31 day*",
		"I will see him on the 5th.":              "the 5th=2023-07-05..2023-07-05 day*",
		"I saw him 3 hours ago.":                  "3 hours ago=2023-06-14..2023-06-14 day*",
		"I saw him 12 hours ago.":                 "12 hours ago=2023-06-13..2023-06-13 day*",
		"I saw him half a year ago.":              "half a year ago=2022-12-01..2022-12-31 month*",
		"A year and a half ago I met him.":        "A year and a half ago=2021-12-01..2021-12-31 month*",
		"We met two and a half years ago.":        "two and a half years ago=2020-12-01..2020-12-31 month*",
		"We met two summers ago.":                 "two summers ago=2021-06-01..2021-08-31 month*",
		"We met three Fridays ago.":               "three Fridays ago=2023-05-26..2023-05-26 day*",
		"We meet in 2 weeks' time.":               "in 2 weeks' time=2023-06-28..2023-06-28 day*",
		"We meet within a month.":                 "within a month=2023-06-14..2023-07-14 month*",
		"We met a few days ago.":                  "a few days ago=2023-06-10..2023-06-12 day*",
		"We met several weeks ago.":               "several weeks ago=2023-05-03..2023-05-31 day*",
		"We met twenty-five days ago.":            "twenty-five days ago=2023-05-20..2023-05-20 day*",
		"We met a week ago yesterday.":            "a week ago yesterday=2023-06-06..2023-06-06 day*",
		"We meet a week from Friday.":             "a week from Friday=2023-06-23..2023-06-23 day*",
		"We met last Christmas.":                  "last Christmas=2022-12-25..2022-12-25 day*",
		"It was two days before last Friday.":     "two days before last Friday=2023-06-07..2023-06-07 day*",
		"It was 5000 years ago.":                  "",
		"It is on the 5th floor.":                 "",
		"It was on the early side of things.":     "",
		"He came the week after the party.":       "",
		"The other days were fine.":               "",
		"the end of the road in the first place":  "",
	} {
		t.Run(text, func(t *testing.T) {
			got := spans(Dates(text, wednesday))
			if want == "" {
				assert.Empty(t, got, text)
			} else {
				assert.Equal(t, []string{want}, got, text)
			}
			assert.Equal(t, got, spans(Dates(text, wednesday)), text)
		})
	}
}

func TestDatesWithoutReference(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{"the day after 9 June 2023=2023-06-10..2023-06-10 day"}, spans(Dates("Yesterday, or the day after 9 June 2023, or the week before 9 June.", time.Time{})))
	assert.Empty(t, Dates("", time.Now()))
}

// TestSpelledDays reads days that are written in words, and leaves ordinal numbers of other things alone.
func TestSpelledDays(t *testing.T) {
	t.Parallel()
	ref := time.Date(2026, 9, 16, 10, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"The fair opens on the thirtieth of October": "2026-10-30", "We sail on the twenty-third of November": "2026-11-23", "Her birthday was the twelfth of August": "2026-08-12", "the roof comes off on the twenty fifth": "2026-09-25",
		"I saw him on the ninth": "2026-09-09", "she rings on the third i think": "2026-10-03", "the first of May 2019": "2019-05-01",
		"He lives on the fifth floor": "", "we won on the second attempt": "", "the third of five brothers": "", "a tenth of my wages": "", "my twentieth birthday": "", "one third of March was wet": "2026-03-01",
	} {
		got := ""
		if dates := Dates(text, ref); len(dates) > 0 {
			got = dates[0].From.Format(time.DateOnly)
		}
		assert.Equal(t, want, got, text)
	}
}
