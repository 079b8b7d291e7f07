package rules

import (
	"testing"

	"github.com/contextmem/contextmem/extract"
	"github.com/stretchr/testify/assert"
)

// sameAs lists aliases as "short = full", with "?" before likely ones.
func sameAs(as []extract.Alias) []string {
	out := []string{}
	for _, a := range as {
		s := a.Name + " = " + a.Of
		if a.Likely {
			s = "? " + s
		}
		out = append(out, s)
	}
	return out
}

func TestStatedAliases(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Robert Smith, also known as Bob, works at Zorblax.":       {"bob = robert smith"},
		"We met Bob (Robert Smith) in Oslo.":                       {"bob = robert smith"},
		"We met Robert Smith (Bob) in Oslo.":                       {"bob = robert smith"},
		"Robert \"Bob\" Smith came.":                               {},
		"Liz (Elizabeth Gray) came.":                               {"liz = elizabeth gray"},
		"Alexander Gray (Alex) came.":                              {"alex = alexander gray"},
		"Peter Parker aka Spiderman came.":                         {"spiderman = peter parker"},
		"Peter Parker (a.k.a. Spiderman) came.":                    {"spiderman = peter parker"},
		"Bob, better known as Robert Smith, came.":                 {"bob = robert smith"},
		"Anna Lind, nicknamed Nanna, came.":                        {"nanna = anna lind"},
		"Zorblax (formerly Quuxly) hired Anna Lind.":               {"quuxly = zorblax"},
		"Zorblax, formerly known as Quuxly Industries, grew.":      {"quuxly industries = zorblax"},
		"International Business Machines (IBM) sells computers.":   {"ibm = international business machines"},
		"IBM (International Business Machines) sells computers.":   {"ibm = international business machines"},
		"The United States Department of Energy (DOE) paid.":       {"doe = department of energy"},
		"The Food and Drug Administration (FDA) said so.":          {"fda = food and drug administration"},
		"Robert Schmidt, auch bekannt als Bob, kam nach Berlin.":   {"bob = robert schmidt"},
		"Roberto Gómez, también conocido como Beto, vive en Lima.": {"beto = roberto gomez"},
		"Is Robert Smith also known as Bob?":                       {},
		"Anna (Zorblax) came.":                                     {},
		"Anna Lind (Zorblax) and Boris Gray (Acme) met.":           {},
		"Michael Jordan (Chicago) won.":                            {},
		"Anna, formerly Zorblax, joined us.":                       {},
		"Paris (France) is large.":                                 {},
		"Anna (Boris Gray) came.":                                  {},
		"The World Trade Center (NYC) fell.":                       {},
		"Anna Lind and Boris Gray came.":                           {},
		"We ate (IBM) there (a":                                    {},
	} {
		t.Run(text, func(t *testing.T) {
			assert.Equal(t, want, sameAs(one(t, extract.Input{Text: text}).Aliases), text)
		})
	}
	a := one(t, extract.Input{Text: "Hello. We met Bob (Robert Smith) in Oslo. Bye."}).Aliases
	assert.Equal(t, "We met Bob (Robert Smith) in Oslo.", a[0].Context)
}

func TestLikelyAliases(t *testing.T) {
	t.Parallel()
	memory := func(text, speaker string) []string {
		return sameAs(one(t, extract.Input{Text: text, Memory: true, Speaker: speaker}).Aliases)
	}
	assert.Equal(t, []string{"? anna = anna lind"}, memory("I met Anna Lind.", "Alex"))
	assert.Equal(t, []string{"? anna = anna lind", "? anna = anna berg"}, memory("I met Anna Lind and Anna Berg.", "Alex"))
	assert.Empty(t, memory("I met Anna Lind.", "Anna"), "who speaks is another Anna")
	assert.Empty(t, memory("I met Dr. Lind and visited Paris Saint-Germain in April Falls.", "Alex"))
	assert.Empty(t, one(t, extract.Input{Text: "I met Anna Lind."}).Aliases, "documents speak of many people")
}
