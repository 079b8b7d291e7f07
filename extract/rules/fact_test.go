package rules

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/contextmem/contextmem/extract"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lines lists facts as "kind: subject|predicate|object", with "!" before negated and "-" before retracting ones.
func lines(fs []extract.Fact) []string {
	out := []string{}
	for _, f := range fs {
		predicate, denied := strings.CutPrefix(f.Predicate, extract.NotPrefix)
		s := fmt.Sprintf("%s: %s|%s|%s", f.Kind, f.Subject, predicate, f.Object)
		if f.Negated && denied {
			s = "!" + s
		}
		if f.Retracts {
			s = "-" + s
		}
		out = append(out, s)
	}
	return out
}

func facts(t testing.TB, text string) []extract.Fact {
	t.Helper()
	return one(t, extract.Input{Text: text, Time: ref, Speaker: "Alex", Memory: true, Infer: true}).Facts
}

func TestFacts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		// preferences
		"I prefer tea to coffee.":              {"preference: Alex|prefers|tea to coffee"},
		"I love hiking and swimming.":          {"preference: Alex|likes|hiking", "preference: Alex|likes|swimming"},
		"I don't like mushrooms.":              {"preference: Alex|dislikes|mushrooms"},
		"I can't stand loud music.":            {"preference: Alex|dislikes|loud music"},
		"I hate flying, but I enjoy trains.":   {"preference: Alex|dislikes|flying", "preference: Alex|likes|trains"},
		"I'm a big fan of jazz.":               {"preference: Alex|likes|jazz"},
		"My favourite color is blue.":          {"preference: Alex|favorite_color|blue"},
		"I'm vegetarian and I never eat fish.": {"preference: Alex|diet|vegetarian", "!preference: Alex|eats|fish"},
		"I'm interested in machine learning.":  {"preference: Alex|interested_in|machine learning"},
		"Prefers window seats.":                {"preference: Alex|prefers|window seats"},
		"The user likes dark mode.":            {"preference: Alex|likes|dark mode"},
		"I think I like jazz.":                 {"preference: Alex|likes|jazz"},
		// facts and possessions
		"I'm 34 and I live in Berlin.":              {"fact: Alex|age|34", "fact: Alex|lives_in|Berlin"},
		"I'm allergic to nuts and milk.":            {"fact: Alex|allergic_to|nuts", "fact: Alex|allergic_to|milk"},
		"Allergic to peanuts.":                      {"fact: Alex|allergic_to|peanuts"},
		"I'm a nurse at Harbor Hospital.":           {"fact: Alex|works_at|Harbor Hospital", "fact: Alex|has_role|nurse"},
		"My name is Alexandra.":                     {"fact: Alex|name|Alexandra"},
		"I speak German and French.":                {"fact: Alex|speaks|German", "fact: Alex|speaks|French"},
		"I own a red bicycle.":                      {"fact: Alex|owns|red bicycle"},
		"I moved to Oslo, do you know a gym there?": {"fact: Alex|lives_in|Oslo"},
		"I've lived in Porto since 2016.":           {"fact: Alex|lives_in|Porto"},
		// events
		"We visited Paris in 2019.":                 {"event: Alex|visited|Paris"},
		"I've been to Iceland twice.":               {"event: Alex|visited|Iceland"},
		"I fixed the leaking sink with duct tape.":  {"event: Alex|fixed|leaking sink"},
		"I adopted a kitten because I felt lonely.": {"event: Alex|adopted|kitten", "event: Alex|feel|lonely"},
		"I got married in June 2020.":               {"fact: Alex|marital_status|married"},
		// goals
		"I want to visit Japan.":             {"goal: Alex|wants|visit Japan"},
		"I'm planning to run a marathon.":    {"goal: Alex|plans|run a marathon"},
		"I'd love to learn the piano.":       {"goal: Alex|wants|learn the piano"},
		"I'm going to sell my car.":          {"goal: Alex|plans|sell my car"},
		"I have to finish the report.":       {"goal: Alex|needs|finish the report"},
		"I'm looking forward to the summer.": {"goal: Alex|looks_forward_to|the summer"},
		// relationships and others
		"My wife Clara likes jazz.":          {"relationship: Clara|likes|jazz", "relationship: Clara|married_to|Alex"},
		"My mother is a nurse.":              {"relationship: Alex's mother|is|nurse"},
		"I have a dog named Rex.":            {"fact: Alex|has|dog", "relationship: Rex|pet_of|Alex"},
		"Boris is the founder of Grey Labs.": {"entity: Boris|founded|Grey Labs", "entity: Boris|has_role|founder"},
		// what ends
		"I no longer work at Zorblax.":     {"-fact: Alex|works_at|Zorblax"},
		"I used to live in Rome.":          {"-fact: Alex|lives_in|Rome"},
		"I don't work at Zorblax anymore.": {"-fact: Alex|works_at|Zorblax"},
		"I stopped eating meat.":           {"-preference: Alex|eats|meat"},
		"I gave up coffee.":                {"-fact: Alex|does|coffee"},
		"I quit my job at Initech.":        {"-fact: Alex|works_at|Initech"},
		// nothing is stated
		"If I win the lottery I'll buy a boat.": {},
		"Maybe I should move.":                  {},
		"Do I like tea?":                        {},
		"I could visit Oslo.":                   {},
		"I need help with my code.":             {},
		"I want to know the time.":              {},
		"I think so.":                           {},
		"Thanks, that is great!":                {},
	} {
		t.Run(text, func(t *testing.T) {
			assert.ElementsMatch(t, want, lines(facts(t, text)), text)
		})
	}
}

func TestFactTexts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"I prefer tea to coffee.":                   "Alex prefers tea to coffee.",
		"I'm allergic to nuts.":                     "Alex is allergic to nuts.",
		"I've got two cats and my car is red.":      "Alex has got two cats.",
		"I love my dog.":                            "Alex loves their dog.",
		"I don't eat meat.":                         "Alex doesn't eat meat.",
		"I usually wake up at six and run.":         "Alex usually wakes up at six and runs.",
		"I visited Oslo yesterday.":                 "Alex visited Oslo yesterday (7 May 2023).",
		"I visited Oslo last week.":                 "Alex visited Oslo last week (1 May 2023 to 7 May 2023).",
		"I moved here last month with my sister":    "Alex moved here last month (April 2023) with their sister.",
		"We visited Paris in 2019.":                 "Alex and others visited Paris in 2019.",
		"My mother is a nurse.":                     "Alex's mother is a nurse.",
		"I no longer work at Zorblax.":              "Alex no longer works at Zorblax.",
		"I'll visit Boris tomorrow.":                "Alex will visit Boris tomorrow (9 May 2023).",
		"Prefers window seats":                      "Alex prefers window seats.",
		"Well, I hate rain!":                        "Alex hates rain.",
		"I was born in Porto.":                      "Alex was born in Porto.",
		"I carry my bike upstairs and watch birds.": "Alex carries their bike upstairs and watches birds.",
	} {
		t.Run(text, func(t *testing.T) {
			fs := facts(t, text)
			if assert.NotEmpty(t, fs, text) {
				assert.Equal(t, want, fs[0].Text)
				assert.Equal(t, text[fs[0].Start:fs[0].End], fs[0].Evidence)
			}
		})
	}
}

func TestEveryFactHasItsOwnText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"I'm a nurse at Harbor Hospital.":  {"Alex is a nurse at Harbor Hospital.", "Alex is a nurse."},
		"I'm allergic to nuts and milk.":   {"Alex is allergic to nuts and milk.", "Alex is allergic to milk."},
		"I speak German and French.":       {"Alex speaks German.", "Alex speaks French."},
		"I moved from Oslo to Porto.":      {"Alex moved from Oslo to Porto.", "Alex moved from Oslo."},
		"I was born in Porto in May 1990.": {"Alex was born in Porto in May 1990."},
	} {
		t.Run(text, func(t *testing.T) {
			var got []string
			for _, f := range facts(t, text) {
				got = append(got, f.Text)
			}
			assert.Equal(t, want, got)
		})
	}
}

func TestFactTimes(t *testing.T) {
	t.Parallel()
	f := facts(t, "I moved to Oslo in March 2021.")[0]
	assert.True(t, f.Functional)
	assert.Equal(t, "2021-03-01", f.ValidFrom.Format(time.DateOnly))
	assert.Zero(t, f.ValidTo, "moving somewhere lasts")
	assert.Equal(t, extract.PrecisionMonth, f.Precision)
	assert.Equal(t, ref, f.Time)

	f = facts(t, "I bought a red boat yesterday.")[0]
	assert.False(t, f.Functional)
	assert.Equal(t, "2023-05-07 2023-05-08", f.ValidFrom.Format(time.DateOnly)+" "+f.ValidTo.Format(time.DateOnly))

	f = facts(t, "I no longer work at Zorblax.")[0]
	assert.Equal(t, "2023-05-08", f.ValidTo.Format(time.DateOnly), "what ends has ended by now")
}

func TestFactsFromPairs(t *testing.T) {
	t.Parallel()
	pairs := func(text string) []string {
		return lines(one(t, extract.Input{Text: text, Time: ref, Speaker: "Alex", Memory: true, Pairs: true, Infer: true}).Facts)
	}
	assert.Equal(t, []string{"fact: Alex|lives_in|Oslo"}, pairs("user: I live in Oslo.\nassistant: I love Oslo too! I visited Paris once."), "only the user states facts")
	assert.Equal(t, []string{"preference: Alex|likes|green tea"}, pairs("user: Suggest a drink.\nassistant: Do you like green tea?\nuser: Yes."))
	assert.Equal(t, []string{"preference: Alex|dislikes|green tea"}, pairs("user: Suggest a drink.\nassistant: Do you like green tea?\nuser: No"))
	assert.Equal(t, []string{"fact: Alex|allergic_to|nuts", "preference: Alex|dislikes|milk"}, pairs("assistant: Are you allergic to nuts?\nuser: Yes, and I don't like milk."))
	assert.Equal(t, []string{"!event: Alex|visited|Japan"}, pairs("assistant: Have you ever visited Japan?\nuser: Nope."))
	assert.Empty(t, pairs("assistant: What do you like?\nuser: Yes."))
	assert.Empty(t, pairs("user: Do you like tea?\nassistant: Yes."))
}

func TestInstructions(t *testing.T) {
	t.Parallel()
	text := "I'm vegetarian. I work at Initech. I have a dog named Rex. I love sailing. I want to buy a car."
	for instructions, want := range map[string][]string{
		"only extract dietary preferences":         {"preference: Alex|diet|vegetarian"},
		"Ignore work.":                             {"preference: Alex|diet|vegetarian", "fact: Alex|has|dog", "preference: Alex|likes|sailing", "goal: Alex|wants|buy a car", "relationship: Rex|pet_of|Alex"},
		"Focus on goals":                           {"goal: Alex|wants|buy a car"},
		"Only hobbies and goals, ignore sailing":   {"goal: Alex|wants|buy a car"},
		"Do not store anything about cars or dogs": {"preference: Alex|diet|vegetarian", "fact: Alex|works_at|Initech", "preference: Alex|likes|sailing", "relationship: Rex|pet_of|Alex"},
		"Be brief.":                                {"preference: Alex|diet|vegetarian", "fact: Alex|works_at|Initech", "fact: Alex|has|dog", "preference: Alex|likes|sailing", "goal: Alex|wants|buy a car", "relationship: Rex|pet_of|Alex"},
	} {
		t.Run(instructions, func(t *testing.T) {
			out := one(t, extract.Input{Text: text, Speaker: "Alex", Memory: true, Infer: true, Instructions: instructions})
			assert.ElementsMatch(t, want, lines(out.Facts), instructions)
		})
	}
}

func TestInstructionsCountAndUnheeded(t *testing.T) {
	t.Parallel()
	text := "I'm vegetarian. I work at Initech. I have a dog named Rex. I love sailing. I want to buy a car."
	for instructions, want := range map[string]struct {
		facts    int
		unheeded []string
	}{
		"At most 2 facts.":                     {2, nil},
		"Keep no more than three statements":   {3, nil},
		"at most 1 fact about food":            {1, nil},
		"Only preferences/events.":             {2, nil},
		"Be brief. Ignore work.":               {5, []string{"Be brief"}},
		"Answer in French; only goals":         {1, []string{"Answer in French"}},
		"Use Bullet Points!\nAt most 10 facts": {6, []string{"Use Bullet Points"}},
		"Write everything in the style of a poet, " + strings.Repeat("é", 300): {6, []string{"Write everything in the style of a poet, " + strings.Repeat("é", 79)}},
	} {
		t.Run(instructions, func(t *testing.T) {
			out := one(t, extract.Input{Text: text, Speaker: "Alex", Memory: true, Infer: true, Instructions: instructions})
			assert.Len(t, out.Facts, want.facts, instructions)
			assert.Equal(t, want.unheeded, out.Unheeded, instructions)
		})
	}
	many := one(t, extract.Input{Text: text, Memory: true, Infer: true, Instructions: strings.Repeat("Be kind. ", 50)})
	assert.Len(t, many.Unheeded, maxUnheeded)
	assert.Empty(t, one(t, extract.Input{Text: text, Memory: true, Instructions: "Be brief."}).Unheeded, "without inference they guide nothing")
}

func TestNoFactsUnasked(t *testing.T) {
	t.Parallel()
	assert.Empty(t, one(t, extract.Input{Text: "I live in Oslo.", Memory: true, Speaker: "Alex"}).Facts)
	assert.Empty(t, one(t, extract.Input{Text: "I live in Oslo.", Infer: true}).Facts, "a document has no speaker")
}

func TestEqualFactsMerge(t *testing.T) {
	t.Parallel()
	fs := facts(t, "I live in Oslo. As I said, we live in Oslo. I live in Oslo!")
	require.Len(t, fs, 1)
	assert.InDelta(t, confVerb, fs[0].Confidence, 0.001, "the surest one stays")
}

func TestRelativeDatesFollowTheLocation(t *testing.T) {
	t.Parallel()
	late := time.Date(2023, 5, 8, 23, 30, 0, 0, time.UTC) // already the 9th in Tokyo
	in := extract.Input{Text: "I bought a canoe yesterday.", Time: late, Speaker: "Alex", Memory: true, Infer: true}
	assert.Equal(t, "2023-05-07", one(t, in).Dates[0].From.Format(time.DateOnly))
	in.Location = time.FixedZone("JST", 9*3600)
	out := one(t, in)
	assert.Equal(t, "2023-05-08", out.Dates[0].From.Format(time.DateOnly))
	assert.Equal(t, "2023-05-08", out.Facts[0].ValidFrom.Format(time.DateOnly))
	assert.Equal(t, late, out.Facts[0].Time)
}

func TestModesOfStatements(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]extract.Mode{
		"I live in Oslo.":                           extract.ModeAsserted,
		"I moved to Oslo last year.":                extract.ModeAsserted,
		"I moved to Oslo when I was six.":           extract.ModePast,
		"I moved to Oslo in 1998.":                  extract.ModePast,
		"I don't eat meat.":                         extract.ModeNegated,
		"I no longer work at Zorblax.":              extract.ModeEnded,
		"I want to visit Iceland.":                  extract.ModeWish,
		"We're moving to Oslo in December.":         extract.ModePlan,
		"Actually I work at Zorblax, not at Acme.":  extract.ModeCorrected,
		"I'm starting a job at Zorblax in October.": extract.ModePlan,
	} {
		t.Run(text, func(t *testing.T) {
			fs := facts(t, text)
			if assert.NotEmpty(t, fs, text) {
				assert.Equal(t, want, fs[0].Mode, text)
			}
		})
	}
	moving := facts(t, "We're moving to Oslo in December.")[0]
	assert.Equal(t, "2023-12-01", moving.ValidFrom.Format(time.DateOnly))
	assert.False(t, moving.Functional, "a plan takes the place of nothing")
	married := facts(t, "I married last summer.")[0]
	assert.Equal(t, "marital_status", married.Predicate)
	assert.Equal(t, "2022-06-01", married.ValidFrom.Format(time.DateOnly))
	assert.True(t, married.ValidTo.IsZero(), "it lasts")
}
