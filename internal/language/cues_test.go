package language

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/extract"
)

func TestQueryCuesForms(t *testing.T) {
	t.Parallel()
	for q, want := range map[string]string{
		"When did Anna visit Lisbon?":                       "when",
		"What year was the bridge opened?":                  "when",
		"Did Boris like the soup?":                          "yesno",
		"is the cabin heated":                               "yesno",
		"What books has Clara read?":                        "list",
		"List all hikes that Dora went on.":                 "list",
		"What are Anna's hobbies?":                          "list",
		"How many cups did she buy?":                        "count",
		"Does he prefer tea or coffee?":                     "yesno comparison",
		"Which of the two is taller than the tower?":        "list comparison",
		"What was the first race that Anna ran?":            "first",
		"Which song moves Anna?":                            "",
		"What news did Anna share?":                         "",
		"Can you tell me about the boat?":                   "",
		"Where does Boris live?":                            "",
		"Tell me about the lighthouse.":                     "",
		"Who painted the ceiling of the chapel?":            "",
		"What is the status of the boat?":                   "",
		"What is the date of the launch and who was there?": "",
	} {
		t.Run(q, func(t *testing.T) {
			c := QueryCues(q, today)
			var got []string
			for _, f := range []struct {
				on   bool
				name string
			}{{c.When, "when"}, {c.YesNo, "yesno"}, {c.List, "list"}, {c.Count, "count"}, {c.Comparison, "comparison"}, {c.First, "first"}} {
				if f.on {
					got = append(got, f.name)
				}
			}
			assert.Equal(t, want, strings.Join(got, " "), q)
		})
	}
}

func TestQueryCuesTime(t *testing.T) {
	t.Parallel()
	day := func(s string) time.Time {
		v, err := time.Parse(time.DateOnly, s)
		require.NoError(t, err)
		return v
	}
	for _, c := range []struct {
		q          string
		intent     Intent
		start, end string
	}{
		{"What did Anna do in March 2022?", IntentRange, "2022-03-01", "2022-04-01"},
		{"What happened between 2019 and 2021?", IntentRange, "2019-01-01", "2022-01-01"},
		{"What changed since May 2, 2023?", IntentRange, "2023-05-02", ""},
		{"Where did he work before 2020?", IntentRange, "", "2020-01-01"},
		{"What did I buy last week?", IntentRange, "2023-05-01", "2023-05-08"},
		{"Where does Boris live now?", IntentCurrent, "", ""},
		{"What trips are upcoming?", IntentUpcoming, "2023-05-08", ""},
		{"What are Anna's plans for the summer?", IntentUpcoming, "2023-05-08", ""},
		{"What did we say about travel plans?", IntentNone, "", ""},
		{"Who is Boris?", IntentNone, "", ""},
	} {
		t.Run(c.q, func(t *testing.T) {
			got := QueryCues(c.q, day("2023-05-08"))
			assert.Equal(t, c.intent, got.Intent, c.q)
			for _, b := range []struct {
				want string
				got  time.Time
			}{{c.start, got.WindowStart}, {c.end, got.WindowEnd}} {
				if b.want == "" {
					assert.Zero(t, b.got, c.q)
				} else {
					assert.Equal(t, day(b.want), b.got, c.q)
				}
			}
		})
	}
	asOf := QueryCues("Where did Boris live as of June 2021?", today)
	assert.Equal(t, IntentAsOf, asOf.Intent)
	assert.Equal(t, day("2021-07-01"), asOf.Cutoff)
}

func TestQueryCuesNamesAndGrams(t *testing.T) {
	t.Parallel()
	c := QueryCues(`Who wrote "The Grey River" for the university of göttingen, see ERR-1042 by Anna Lind?`, today)
	assert.Equal(t, []string{"The Grey River"}, c.Quoted)
	assert.Equal(t, []string{"err-1042"}, c.Identifiers)
	var persons []string
	for _, m := range c.Names {
		if m.Type == extract.TypePerson {
			persons = append(persons, m.Key)
		}
	}
	assert.Equal(t, []string{"anna lind"}, persons)
	keys := map[string]Gram{}
	for g := range c.EachGram {
		assert.LessOrEqual(t, g.Words, 6)
		keys[g.Key] = g
	}
	for _, want := range []string{"grey river", "university of gottingen", "anna lind", "err-1042"} {
		t.Run(want, func(t *testing.T) {
			assert.Contains(t, keys, want)
		})
	}
	assert.NotContains(t, keys, "who", "a question word alone names nothing")
	assert.False(t, keys["anna lind"].Common)
	assert.True(t, keys["wrote"].Common)
	long := QueryCues(strings.Repeat("word ", 100000), today)
	assert.LessOrEqual(t, len(slices.Collect(long.EachGram)), maxGramWords*maxGramLength)
}

// TestSomeCues holds that what is wanted of a question does not depend on what else is, and
// that a window has the key of its words as they stand there.
func TestSomeCues(t *testing.T) {
	t.Parallel()
	now := time.Date(2024, 5, 8, 0, 0, 0, 0, time.UTC)
	var noWindows windows
	for _, q := range []string{
		"When did J. K. Rowling leave The Ritz's BAR in New York?", "was the ERR-1042 of api.Example.com fixed in v1.2.3?", "Wo wohnt Jürgen ÖZDEMIR seit März?",
		"did U.S. Steel buy AT&T or 'Kelvin K's' shop", "an Apple a day", "ΑΘΗΝΑ and İstanbul, ＦＵＬＬ Width", "", "?", "How long ago, on May 3rd 2021, did Anna pay $5,000 for 3 tickets?",
		"what did I say last week? And when was it before 10:30 on 2023-05-08?", "on day 17 Maria noted 3 hours in the log", "「東京」 は いつ 2024年5月 ですか", `which "big cats" live in May or in the Second World War era`,
		"List all hikes since next Tuesday that she'll do @home #12 /etc/hosts",
	} {
		t.Run(q, func(t *testing.T) {
			all := QueryCues(q, now)
			grams := slices.Collect(all.EachGram)
			for _, g := range grams {
				assert.Equal(t, extract.Key(q[g.Start:g.End]), g.Key, q)
			}
			times := SomeCues(q, now, CueTimes)
			assert.Equal(t, all.Dates, times.Dates, q)
			assert.Equal(t, all.When, times.When, q)
			for _, kinds := range []CueKind{CueWindows, CueWindows | CueTimes} {
				some := SomeCues(q, now, kinds)
				assert.Equal(t, grams, slices.Collect(some.EachGram), q)
			}
			all.windows = noWindows
			assert.Equal(t, all, SomeCues(q, now, CueRest|CueTimes|CueIntent), q)
			intent := SomeCues(q, now, CueIntent)
			assert.Equal(t, []any{all.Dates, all.Intent, all.Cutoff, all.WindowStart, all.WindowEnd},
				[]any{intent.Dates, intent.Intent, intent.Cutoff, intent.WindowStart, intent.WindowEnd}, q)
			all.Intent, all.Cutoff, all.WindowStart, all.WindowEnd = "", time.Time{}, time.Time{}, time.Time{}
			assert.Equal(t, all, SomeCues(q, now, CueRest), q)
		})
	}
}

// TestGramKeys holds the keys of windows to extract.Key, whatever stands in and between the words.
func TestGramKeys(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the The a an An of Anna lind x J. K. U.S. 7 23 1,234 5kg Jürgen ＦＵＬＬ 東京 ERR-1042 v1.2.3 @home #12 twenty-five & - ' /etc/hosts I Kelvin\u212a who's \u0301")
	between := []string{" ", " ", " ", " ", "", ",", ", ", ". ", "? ", "?", "  ", "\n\n", "\t", "; ", " (", ") ", "! ", "-", " - ", "/", "'s ", "’s ", "'S ", "'s, ", "'", "\x00", "\u00a0", ": ", " \"", " & ", strings.Repeat(" ", 300), strings.Repeat(" ", 2000)}
	parts := 0
	for range 20000 {
		var b strings.Builder
		for range 1 + r.IntN(9) {
			b.WriteString(words[r.IntN(len(words))])
			b.WriteString(between[r.IntN(len(between))])
		}
		q := b.String()
		c := SomeCues(q, today, CueWindows)
		for g := range c.EachGram {
			if want := extract.Key(q[g.Start:g.End]); g.Key != want {
				t.Fatalf("%q at %d of %q has the key %q, want %q", q[g.Start:g.End], g.Start, q, g.Key, want)
			}
			if g.Words > 1 {
				parts++
			}
		}
	}
	assert.Greater(t, parts, 20000)
}
