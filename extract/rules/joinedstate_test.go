package rules

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestJoinedStates(t *testing.T) {
	t.Parallel()
	const (
		vegetarian = "preference: Alex|diet|vegetarian"
		vegan      = "preference: Alex|diet|vegan"
		nuts       = "fact: Alex|allergic_to|nuts"
		lactose    = "fact: Alex|is|lactose intolerant"
	)
	for text, want := range map[string][]string{
		"I'm vegetarian and allergic to nuts.":                 {vegetarian, nuts},
		"I'm vegetarian but allergic to nuts.":                 {vegetarian, nuts},
		"I'm allergic to nuts and vegetarian.":                 {nuts, vegetarian},
		"I'm vegan and lactose intolerant.":                    {vegan, lactose},
		"I'm lactose intolerant and allergic to nuts.":         {lactose, nuts},
		"I'm 34, vegetarian and allergic to nuts.":             {"fact: Alex|age|34", vegetarian, nuts},
		"I'm a nurse and allergic to nuts.":                    {"fact: Alex|has_role|nurse", nuts},
		"I'm diabetic and coeliac.":                            {"fact: Alex|has_condition|diabetes", "fact: Alex|has_condition|celiac disease"},
		"I'm from Oslo and allergic to nuts.":                  {"fact: Alex|from|Oslo", nuts},
		"I'm scared of dogs and allergic to nuts.":             {"preference: Alex|fears|dogs", nuts},
		"I'm not vegetarian but allergic to nuts.":             {"!" + vegetarian, nuts},
		"I'm no longer vegan but allergic to nuts.":            {"-" + vegan, nuts},
		"I've been vegan and allergic to nuts for years.":      {vegan, nuts},
		"My sister is vegan and allergic to nuts.":             {"preference: Alex's sister|diet|vegan", "fact: Alex's sister|allergic_to|nuts"},
		"My son is five and allergic to nuts.":                 {"fact: Alex's son|allergic_to|nuts"},
		"Tom is vegan and allergic to nuts.":                   {"preference: Tom|diet|vegan", "fact: Tom|allergic_to|nuts"},
		"I'm allergic to nuts and milk, and vegan.":            {nuts, "fact: Alex|allergic_to|milk", vegan},
		"Hi, I'm Alex, I run a shop.":                          {"fact: Alex|runs|shop"},
		"I'm vegetarian and my sister is allergic to nuts.":    {vegetarian, "fact: Alex's sister|allergic_to|nuts"},
		"I'm not vegetarian and allergic to nuts.":             {"!" + vegetarian},
		"I was vegetarian and allergic to nuts as a kid.":      {},
		"If I were vegetarian and allergic to nuts, I'd cope.": {},
		"Maybe I'm vegetarian and allergic to nuts.":           {},
		"I'm either coeliac or allergic to wheat.":             {},
		"I'm vegetarian and allergic to nothing.":              {vegetarian},
		"I'm after something cheap and vegan.":                 {},
		"I'm between vegetarian and vegan.":                    {},
		"I'm torn between keto and vegan.":                     {"fact: Alex|is|torn between keto and vegan"},
		"I'm off to Rome, vegan or not.":                       {},
		"I'm sure it's cheap and vegan.":                       {},
		"I'm with someone vegan and allergic to everything.":   {},
		"I'm a nurse, and allergic reactions are my thing.":    {"fact: Alex|has_role|nurse"},
		"I'm reading about keto and vegan diets.":              {"fact: Alex|read_about|keto", "fact: Alex|read_about|vegan diets"},
	} {
		assert.Equal(t, want, lines(facts(t, text)), text)
	}
}

func TestStateEndsBeforeAnd(t *testing.T) {
	t.Parallel()
	is := func(values ...string) []string {
		out := []string{}
		for _, v := range values {
			out = append(out, "fact: Alex|is|"+v)
		}
		return out
	}
	for text, want := range map[string][]string{
		"I'm allergic to nuts and my sister to cats":                    {"fact: Alex|allergic_to|nuts"},
		"I'm colour-blind and colour-blind people shouldn't wire plugs": is("colour-blind"),
		"I'm lactose intolerant and an idiot for ordering the lasagne":  is("lactose intolerant"),
		"I'm new here and not sure where the toilets are":               is("new here"),
		"I'm ginger and burn easily":                                    is("ginger"),
		"I'm short-sighted and wear contacts":                           is("short-sighted"),
		"I'm scared of heights and I climb anyway":                      {"preference: Alex|fears|heights"},
		"I'm allergic to pollen and Tom to cats.":                       {"fact: Alex|allergic_to|pollen"},
		"I'm intolerant to gluten and my dad to lactose.":               {"fact: Alex|intolerant_to|gluten"},
		"I'm scared of spiders and my sister of snakes.":                {"preference: Alex|fears|spiders"},
		"I'm interested in chess and my son in trains.":                 {"preference: Alex|interested_in|chess"},
		"I'm deaf and deaf people sign.":                                is("deaf"),
		"I'm dyslexic and dyslexic kids need time.":                     is("dyslexic"),
		"I'm gluten intolerant and a fool for eating that bread.":       is("gluten intolerant"),
		"I'm shy and a coward for not asking.":                          is("shy"),
		"I'm pale and tan slowly.":                                      is("pale"),
		"I'm tall and hit my head a lot.":                               is("tall"),
		"I'm nearsighted and use glasses.":                              is("nearsighted"),
		"I'm right-handed and play guitar.":                             is("right-handed"),
		"I'm hard of hearing and wear hearing aids.":                    is("hard of hearing"),
		"I'm scared of water and I swim anyway.":                        {"preference: Alex|fears|water"},
		"I'm afraid of flying and I fly anyway.":                        {"preference: Alex|fears|flying"},
		"I'm short and stocky.":                                         is("short", "stocky"),
		"I'm left-handed and dyslexic.":                                 is("left-handed", "dyslexic"),
		"I'm half deaf and half blind.":                                 is("half deaf", "half blind"),
		"I'm hopeless at maths and physics.":                            is("hopeless at maths and physics"),
		"I'm bald and shy.":                                             is("bald", "shy"),
		"I'm bald and panic.":                                           is("bald"),
		"I'm not tall and athletic.":                                    {"!fact: Alex|is|tall"},
		"I'm interested in art and going to museums.":                   {"preference: Alex|interested_in|art", "preference: Alex|interested_in|going to museums"},
		"I'm scared of spiders and the smell of fire.":                  {"preference: Alex|fears|spiders", "preference: Alex|fears|smell of fire"},
	} {
		assert.Equal(t, want, lines(facts(t, text)), text)
	}
}
