package rules

import (
	"strings"
	"testing"
	"time"

	"github.com/contextmem/contextmem/extract"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFactsOfNotes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Birthday: May 8.":          {"fact: Alex|birthday|May 8"},
		"Allergies: nuts, milk.":    {"fact: Alex|allergic_to|nuts", "fact: Alex|allergic_to|milk"},
		"Favourite color: blue":     {"preference: Alex|favorite_color|blue"},
		"Likes hiking; hates rain.": {"preference: Alex|likes|hiking", "preference: Alex|dislikes|rain"},
		"Works at Zorblax.":         {"fact: Alex|works_at|Zorblax"},
		"Vegetarian":                {"preference: Alex|diet|vegetarian"},
		"User lives in Oslo.":       {"fact: Alex|lives_in|Oslo"},
		"Alex likes boats.":         {"preference: Alex|likes|boats"},
		"Reminder: I like tea.":     {"preference: Alex|likes|tea"},
	} {
		t.Run(text, func(t *testing.T) {
			assert.ElementsMatch(t, want, lines(facts(t, text)), text)
		})
	}
}

func TestStandingOrders(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Always add units when I ask about lengths.": "Alex wants the assistant to always add units when Alex asks about lengths.",
		"From now on, answer in French.":             "Alex wants the assistant to answer in French.",
		"Please never suggest seafood":               "Alex wants the assistant to never suggest seafood.",
		"Call me Fitz.":                              "Alex wants the assistant to call Alex Fitz.",
		"Please answer in plain prose from now on.":  "Alex wants the assistant to answer in plain prose.",
		"Please don't use bullet points any more.":   "Alex wants the assistant not to use bullet points.",
		"don't suggest seafood anymore":              "Alex wants the assistant not to suggest seafood.",
	} {
		t.Run(text, func(t *testing.T) {
			fs := facts(t, text)
			require.Len(t, fs, 1, text)
			assert.Equal(t, want, fs[0].Text)
			assert.Equal(t, extract.KindPreference, fs[0].Kind)
		})
	}
	for _, text := range []string{"Always.", "Never mind.", "Always the best!", "call me tomorrow", "Call me when you are done.", "don't know any more", "Things change from now on."} {
		t.Run(text, func(t *testing.T) {
			assert.Empty(t, facts(t, text), text)
		})
	}
}

func TestMoreStates(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"I'm Anna.":                                  {"fact: Alex|name|Anna"},
		"I am called Bo.":                            {"fact: Alex|name|Bo"},
		"I'm based in Lisbon.":                       {"fact: Alex|lives_in|Lisbon"},
		"I'm a student at Harbor University.":        {"fact: Alex|studied_at|Harbor University", "fact: Alex|has_role|student"},
		"I'm not married.":                           {"!fact: Alex|marital_status|married"},
		"I'm married to Clara.":                      {"fact: Alex|married_to|Clara", "fact: Alex|marital_status|married"},
		"I'm retired from Zorblax.":                  {"fact: Alex|employment_status|retired"},
		"I'm pregnant.":                              {"event: Alex|expects|a child"},
		"I'm good with animals.":                     {"fact: Alex|good_at|animals"},
		"I'm excited to sail.":                       {"fact: Alex|is|excited to sail"},
		"I'm worried about my garden, so that's it.": {"fact: Alex|worried_about|garden"},
		"I was fired last week.":                     {"event: Alex|was|fired last week"},
		"I'm happy here.":                            {"fact: Alex|is|happy here"},
		"I'm sure.":                                  {},
		"My phone number is 555-1234.":               {"fact: Alex|phone_number|555-1234"},
		"My job is teaching.":                        {"fact: Alex|has_role|teaching"},
		"My goal is to run a marathon.":              {"goal: Alex|goal|to run a marathon"},
		"My sister is Dora.":                         {"relationship: Dora|sibling_of|Alex"},
		"My old car broke down.":                     {"event: Alex's old car|break|down"},
		"My garden is big.":                          {"fact: Alex's garden|is|big"},
		"My parents don't eat meat.":                 {"!relationship: Alex's parents|eats|meat"},
	} {
		t.Run(text, func(t *testing.T) {
			assert.ElementsMatch(t, want, lines(facts(t, text)), text)
		})
	}
}

func TestMoreVerbs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"I left Zorblax Inc in 2020.":             {"-fact: Alex|works_at|Zorblax Inc"},
		"I stopped working at Initech.":           {"-fact: Alex|works_at|Initech"},
		"I gave up smoking.":                      {"-fact: Alex|does|smoking"},
		"I can speak Spanish.":                    {"fact: Alex|speaks|Spanish"},
		"I know how to sail.":                     {"fact: Alex|knows|how to sail"},
		"I know that.":                            {},
		"I love it.":                              {},
		"I put my keys on the shelf.":             {"fact: Alex|put|my keys on the shelf"},
		"I've worked on boats for ten years.":     {"fact: Alex|works_on|boats"},
		"I've tinkered with radios since 2010.":   {"fact: Alex|tinkered_with|radios since 2010"},
		"I was thinking about buying a boat.":     {"goal: Alex|considers|buying a boat"},
		"I'm looking for a new flat.":             {"goal: Alex|looks_for|a new flat"},
		"I'm trying to learn Greek.":              {"goal: Alex|tries|learn Greek"},
		"I would rather walk.":                    {"goal: Alex|wants|walk"},
		"I'll call Boris tomorrow.":               {"goal: Alex|plans|call Boris"},
		"I returned two boots due to their size.": {"event: Alex|return|two boots due to their size"},
		"I went to a poetry reading last week.":   {"event: Alex|went_to|poetry reading"},
		"I'm not sure if this will work with it.": {},
	} {
		t.Run(text, func(t *testing.T) {
			assert.ElementsMatch(t, want, lines(facts(t, text)), text)
		})
	}
}

func TestMoreTexts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"My boss gave me a raise.":            "Alex's boss gave Alex a raise.",
		"I bought myself a boat.":             "Alex bought themselves a boat.",
		"We've moved to Porto with our cats.": "Alex and others have moved to Porto with their cats.",
		"We'll sail home on Friday.":          "Alex and others will sail home on Friday (12 May 2023).",
		"I read a book yesterday.":            "Alex read a book yesterday (7 May 2023).",
		"I like tea, and it likes me.":        "Alex likes tea.",
		"I speak German, French and Dutch.":   "Alex speaks German.",
		"The boat is mine and I paint it red": "",
		"I sort mail into \"urgent.\"":        "Alex sorts mail into \"urgent.\"",
		"I'd visited Oslo before.":            "Alex had visited Oslo before.",
		"im allergic to nuts":                 "Alex is allergic to nuts.",
		"ive visited Oslo":                    "Alex has visited Oslo.",
		"I haven't visited Oslo.":             "Alex hasn't visited Oslo.",
		"I moved here in the spring of 2020.": "Alex moved here in the spring of 2020.",
		"I was sick this year.":               "Alex was sick this year (2023).",
	} {
		t.Run(text, func(t *testing.T) {
			fs := facts(t, text)
			if want == "" {
				assert.Empty(t, fs, text)
				return
			}
			if assert.NotEmpty(t, fs, text) {
				assert.Equal(t, want, fs[0].Text, text)
			}
		})
	}
}

func TestEndsAreDated(t *testing.T) {
	t.Parallel()
	f := facts(t, "I left Zorblax Inc in March 2020.")[0]
	assert.True(t, f.Retracts)
	assert.Zero(t, f.ValidFrom)
	assert.Equal(t, "2020-03-01", f.ValidTo.Format(time.DateOnly))
	f = facts(t, "I gave up coffee.")[0]
	assert.Equal(t, "2023-05-08", f.ValidTo.Format(time.DateOnly))
	f = facts(t, "I worked at Initech for three years.")[0]
	assert.False(t, f.Functional, "what was does not replace what is")
	f = facts(t, "My birthday is May 8.")[0]
	assert.Zero(t, f.ValidFrom)
}

func TestRepliesOfAllForms(t *testing.T) {
	t.Parallel()
	reply := func(question, answer string) string {
		return strings.Join(lines(one(t, extract.Input{Text: "assistant: " + question + "\nuser: " + answer, Speaker: "Alex", Memory: true, Pairs: true, Infer: true}).Facts), "; ")
	}
	for _, c := range [][3]string{
		{"Do you own a boat?", "yes", "fact: Alex|owns|boat"},
		{"Do you own a boat?", "no", "!fact: Alex|owns|boat"},
		{"Did you visit Oslo?", "Yep!", "event: Alex|visited|Oslo"},
		{"Did you visit Oslo?", "No.", "!event: Alex|visited|Oslo"},
		{"Are you vegan?", "Yes.", "preference: Alex|diet|vegan"},
		{"Are you vegan?", "No.", "!preference: Alex|diet|vegan"},
		{"Were you born in Porto?", "Yes", "fact: Alex|born_in|Porto"},
		{"Have you visited Oslo?", "Yes", "event: Alex|visited|Oslo"},
		{"Will you sell your boat?", "Yes", "goal: Alex|plans|sell my boat"},
		{"Will you sell your boat?", "No", "!goal: Alex|plans|sell my boat"},
		{"Can you swim?", "Yes", ""},
		{"Do you own a boat?", "Maybe.", ""},
	} {
		t.Run(c[0], func(t *testing.T) {
			assert.Equal(t, c[2], reply(c[0], c[1]), c[0]+" "+c[1])
		})
	}
}

func TestNameOfExtractor(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "rules-5", New().Name())
}

// TestRangesKeepBothEnds: of a plan that has a first and a last day both are kept; what begins on a day has no end.
func TestRangesKeepBothEnds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"I'm going to Crete from 3 to 12 September.": {"2023-09-03", "2023-09-13"},
		"I worked at Acme from 2019 to 2021.":        {"2019-01-01", "2022-01-01"},
		"I've lived in Leeds since 3 March.":         {"2023-03-03", "0001-01-01"},
	} {
		t.Run(text, func(t *testing.T) {
			out := one(t, extract.Input{Text: text, Time: time.Date(2023, 6, 1, 9, 0, 0, 0, time.UTC), Speaker: "Alex", Memory: true, Infer: true})
			require.NotEmpty(t, out.Facts, text)
			for _, f := range out.Facts {
				assert.Equal(t, want, [2]string{f.ValidFrom.Format(time.DateOnly), f.ValidTo.Format(time.DateOnly)}, "%s: %s", text, f.Text)
			}
		})
	}
}
