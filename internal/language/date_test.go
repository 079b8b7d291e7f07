package language

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/contextmem/contextmem/extract"
	"github.com/stretchr/testify/assert"
)

// spans lists dates as "surface=from..to precision", with "*" behind relative ones; to is the last day.
// today is a reference time.
var today = time.Date(2023, 5, 8, 13, 0, 0, 0, time.UTC)

func spans(ds []extract.DateRef) []string {
	out := []string{}
	for _, d := range ds {
		s := fmt.Sprintf("%s=%s..%s %s", d.Surface, d.From.Format(time.DateOnly), d.To.AddDate(0, 0, -1).Format(time.DateOnly), d.Precision)
		if d.Relative {
			s += "*"
		}
		out = append(out, s)
	}
	return out
}

func TestAbsoluteDates(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"We met on May 8, 2023.":              {"May 8, 2023=2023-05-08..2023-05-08 day"},
		"We met on 8 May 2023.":               {"8 May 2023=2023-05-08..2023-05-08 day"},
		"We met on the 8th of May, 2023.":     {"8th of May, 2023=2023-05-08..2023-05-08 day"},
		"We met on Sept. 3rd 2021.":           {"Sept. 3rd 2021=2021-09-03..2021-09-03 day"},
		"Due 2023-05-08, then 2024-02.":       {"2023-05-08=2023-05-08..2023-05-08 day", "2024-02=2024-02-01..2024-02-29 month"},
		"At 2023-05-08T10:00:00Z it broke.":   {"2023-05-08T10:00:00Z=2023-05-08..2023-05-08 day"},
		"On 3/14/2022 and 14/3/2022.":         {"3/14/2022=2022-03-14..2022-03-14 day", "14/3/2022=2022-03-14..2022-03-14 day"},
		"Am 14.3.2022 war es kalt.":           {"14.3.2022=2022-03-14..2022-03-14 day"},
		"Wir trafen uns am 8. Mai 2023.":      {"8. Mai 2023=2023-05-08..2023-05-08 day"},
		"Nos vimos el 8 de mayo de 2023.":     {"8 de mayo de 2023=2023-05-08..2023-05-08 day"},
		"In March 2021 it snowed.":            {"March 2021=2021-03-01..2021-03-31 month"},
		"It opened in 1969.":                  {"1969=1969-01-01..1969-12-31 year"},
		"From 1998-2004 he taught.":           {"1998=1998-01-01..1998-12-31 year", "2004=2004-01-01..2004-12-31 year"},
		"In the 1990s and the 80s.":           {"1990s=1990-01-01..1999-12-31 year", "80s=1980-01-01..1989-12-31 year"},
		"A 19th century house.":               {"19th century=1801-01-01..1900-12-31 year"},
		"我在2023年5月8日去了，2021年也去过。":             {"2023年5月8日=2023-05-08..2023-05-08 day", "2021年=2021-01-01..2021-12-31 year"},
		"It weighs 2000 kg and costs $1999.":  {},
		"Feb 30, 2023 and 2023-13-45 are no.": {},
		"Mark may march on.":                  {},
	} {
		t.Run(text, func(t *testing.T) {
			assert.Equal(t, want, spans(Dates(text, time.Time{})), text)
		})
	}
}

func TestRelativeDates(t *testing.T) {
	t.Parallel()
	// today is Monday, 8 May 2023.
	for text, want := range map[string]string{
		"I went yesterday.":                        "yesterday=2023-05-07..2023-05-07 day*",
		"I go tomorrow.":                           "tomorrow=2023-05-09..2023-05-09 day*",
		"It is tonight.":                           "tonight=2023-05-08..2023-05-08 day*",
		"I went the day before yesterday.":         "the day before yesterday=2023-05-06..2023-05-06 day*",
		"I went two weeks ago.":                    "two weeks ago=2023-04-24..2023-04-24 day*",
		"I went 3 days ago.":                       "3 days ago=2023-05-05..2023-05-05 day*",
		"I went a month ago.":                      "a month ago=2023-04-01..2023-04-30 month*",
		"I went a couple of years ago.":            "a couple of years ago=2021-01-01..2021-12-31 year*",
		"I will go in two weeks.":                  "in two weeks=2023-05-22..2023-05-22 day*",
		"I go a year from now.":                    "a year from now=2024-01-01..2024-12-31 year*",
		"I went last week.":                        "last week=2023-05-01..2023-05-07 day*",
		"I go next month.":                         "next month=2023-06-01..2023-06-30 month*",
		"I went this year.":                        "this year=2023-01-01..2023-12-31 year*",
		"I went last weekend.":                     "last weekend=2023-05-06..2023-05-07 day*",
		"I went last Friday.":                      "last Friday=2023-05-05..2023-05-05 day*",
		"I went on Friday.":                        "Friday=2023-05-05..2023-05-05 day*",
		"I'm having lunch on Friday.":              "Friday=2023-05-12..2023-05-12 day*",
		"I have a meeting on Friday.":              "Friday=2023-05-12..2023-05-12 day*",
		"We've got a gig on the 21st.":             "the 21st=2023-05-21..2023-05-21 day*",
		"It was due on Friday.":                    "Friday=2023-05-05..2023-05-05 day*",
		"It's due on 28 April and I've got a page": "28 April=2024-04-28..2024-04-28 day*",
		"I will go on Friday.":                     "Friday=2023-05-12..2023-05-12 day*",
		"I go next Friday.":                        "next Friday=2023-05-12..2023-05-12 day*",
		"I go next Tuesday.":                       "next Tuesday=2023-05-16..2023-05-16 day*",
		"I went last summer.":                      "last summer=2022-06-01..2022-08-31 month*",
		"I went last March.":                       "last March=2023-03-01..2023-03-31 month*",
		"I went in December.":                      "December=2022-12-01..2022-12-31 month*",
		"I booked a cruise from 9 July.":           "9 July=2023-07-09..2023-07-09 day*",
		"I booked it for the August weekend.":      "August=2023-08-01..2023-08-31 month*",
		"It was postponed to 2 June.":              "2 June=2023-06-02..2023-06-02 day*",
		"I worked there from 9 July.":              "9 July=2022-07-09..2022-07-09 day*",
		"I went on March 3rd.":                     "March 3rd=2023-03-03..2023-03-03 day*",
		"I went over the past three years.":        "the past three years=2020-05-08..2023-05-08 year*",
		"I went last night.":                       "last night=2023-05-07..2023-05-07 day*",
		"I jog this morning and see the 2 of you.": "this morning=2023-05-08..2023-05-08 day*",
	} {
		t.Run(text, func(t *testing.T) {
			assert.Equal(t, []string{want}, spans(Dates(text, today)), text)
			assert.Empty(t, Dates(text, time.Time{}), "without a timestamp: "+text)
		})
	}
	for _, text := range []string{"I jog on Mondays.", "May I go?", "The last of us.", "He finished in two days flat.", "Next to the house."} {
		t.Run(text, func(t *testing.T) {
			assert.Empty(t, Dates(text, today), text)
		})
	}
}

func TestReferenceKeepsItsOwnCalendarDay(t *testing.T) {
	t.Parallel()
	late := time.Date(2023, 5, 8, 23, 30, 0, 0, time.FixedZone("far west", -10*3600))
	ds := Dates("I went yesterday.", late)
	assert.Equal(t, []string{"yesterday=2023-05-07..2023-05-07 day*"}, spans(ds))
	assert.Equal(t, time.UTC, ds[0].From.Location())
}

// TestMayBeginDate holds what is skipped against the rules asked at every word, in sentences of the words that dates are made of.
func TestMayBeginDate(t *testing.T) {
	t.Parallel()
	words := strings.Fields(`the The a an on in at of to from for with this that last Last past previous next coming upcoming earlier later within ago back before after until since by
		day days week weekend month years decade century hour night morning Friday fridays mon summer winters fall spring May may march June jun mai 3 3rd 17 2023 1990s 5th 10:30 2023-05-08
		one two twenty-five Thirty-one forty-winks hundred couple few several some half another other both early mid late beginning end first second third yesterday today tomorrow now
		and early Christmas eve new year's valentine's was did will going inspected lighthouse Anna - , . ' 's 天前 K`)
	r := rand.New(rand.NewPCG(5, 6))
	dates := 0
	for range 30000 {
		from := words
		if r.IntN(2) == 0 {
			from = []string{"half a", "an", "the", "in", "within", "couple", "few", "of", "this", "earlier", "later", "last", "next", "coming", "week ago", "week", "winter", "ago", "3"}
		}
		some := make([]string, 2+r.IntN(7))
		for i := range some {
			some[i] = from[r.IntN(len(from))]
		}
		d := newDocument(strings.Join(some, " "), today)
		d.SplitText()
		for k := range d.Sentences {
			s := &d.Sentences[k]
			for i := s.Lo; i < s.Hi; i++ {
				_, found := d.dateAt(s, i)
				if found && !d.mayBeginDate(s, i) {
					t.Fatalf("a date is skipped at %q of %q", d.TokenText(i), d.Text)
				}
				if kind := d.Tokens[i].Kind; kind == KindWord || kind == KindNumber {
					_, ago := d.amountAgo(s, i)
					_, in := d.inAmount(s, i)
					_, adjacent := d.adjacent(s, i)
					_, relative := d.relativeDate(s, i)
					if (ago || in || adjacent && !d.Tokens[i].Is(TimeUnit)) && !relative {
						t.Fatalf("no relative date at %q of %q", d.TokenText(i), d.Text)
					}
					if relative {
						dates++
					}
				}
			}
		}
		d.free()
	}
	assert.Greater(t, dates, 5000)
}
