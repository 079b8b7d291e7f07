package rules

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestWhatMoved checks that who moved something else moved nowhere, and that the fact says what moved.
func TestWhatMoved(t *testing.T) {
	t.Parallel()
	lives := func(place string) []string { return []string{"fact: Alex|lives_in|" + place} }
	for text, want := range map[string][]string{
		"I moved the studio to Sheffield.":      {"event: Alex|move|the studio"},
		"I moved my savings to Monzo.":          {"event: Alex|move|my savings"},
		"We moved production to Porto.":         {"event: Alex|move|production"},
		"We moved Grandpa to Oslo.":             {"event: Alex|move|Grandpa"},
		"I moved companies to Acme.":            {"event: Alex|move|companies"},
		"We moved everything to Sheffield.":     {},
		"I moved back to Leeds.":                lives("Leeds"),
		"We moved house to York.":               lives("York"),
		"I moved abroad to Spain.":              lives("Spain"),
		"I moved yesterday to Hull.":            lives("Hull"),
		"I moved downtown to Pike Street.":      lives("Pike Street"),
		"I moved to Sheffield with the studio.": lives("Sheffield"),
	} {
		assert.Equal(t, want, lines(facts(t, text)), text)
	}
}

// TestRegardless checks that "regardless" and what it is said of are no part of an object.
func TestRegardless(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"I want to fly regardless.":                {"goal: Alex|wants|fly"},
		"I love her regardless.":                   {},
		"I drive regardless.":                      {},
		"I use Vim regardless.":                    {"fact: Alex|uses|Vim"},
		"I teach regardless of pay.":               {},
		"I prefer tea regardless of the weather.":  {"preference: Alex|prefers|tea"},
		"I play chess nonetheless.":                {"preference: Alex|plays|chess"},
		"I hate flying, but I fly regardless.":     {"preference: Alex|dislikes|flying"},
		"Regardless, I live in Cork.":              {"fact: Alex|lives_in|Cork"},
		"I eat meat regardless of what she says.":  {"preference: Alex|eats|meat"},
		"I'm hoping to visit Japan, nevertheless.": {"goal: Alex|hopes|visit Japan"},
		"I cycle to work every day, regardless.":   {"fact: Alex|cycle_to|work every day"},
	} {
		assert.Equal(t, want, lines(facts(t, text)), text)
	}
}

// TestLastingQualityIsJoined checks that a quality that lasts is a fact of its own behind another state, and nothing behind what is no state of somebody.
func TestLastingQualityIsJoined(t *testing.T) {
	t.Parallel()
	is := func(what string) string { return "fact: Alex|is|" + what }
	for text, want := range map[string][]string{
		"I'm asthmatic and left-handed.":                     {is("asthmatic"), is("left-handed")},
		"I'm asthmatic, left-handed and short-sighted.":      {is("asthmatic"), is("left-handed"), is("short-sighted")},
		"I'm a plumber and left-handed.":                     {"fact: Alex|has_role|plumber", is("left-handed")},
		"I'm diabetic and colour-blind.":                     {"fact: Alex|has_condition|diabetes", is("colour-blind")},
		"I'm deaf in one ear and epileptic.":                 {is("deaf in one ear"), is("epileptic")},
		"I'm proud of my son, clever and left-handed.":       {"preference: Alex|proud_of|son"},
		"I'm scared of dogs, big and short-sighted.":         {"preference: Alex|fears|dogs"},
		"I'm after something cheap and left-handed.":         {},
		"I'm married to a man who is bald and colour-blind.": {"fact: Alex|marital_status|married", "fact: Alex|married_to|man who is bald"},
		"Maybe I'm asthmatic and left-handed.":               {},
	} {
		assert.Equal(t, want, lines(facts(t, text)), text)
	}
}
