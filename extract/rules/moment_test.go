package rules

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/extract"
)

// TestMoments gives statements the status and the time that their words tell, on Wednesday, 16 September 2026. A statement is shown as in the
// files of times; "absent" is one that must not be shown.
func TestMoments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, statement, as, absent string }{
		// Months and days without a year take the next one in the present tense.
		{"I sing the solo in February and I've forgotten the second verse", "alex/sing: solo in february", "F from 2027-02-01", ""},
		{"I don't eat bread until the end of October, I promised the dentist", "alex/not_eats: bread", "F negated to 2026-11-01", ""},
		{"Our boiler service is on the third of October", "alex boiler service/is: on the third of october", "F from 2026-10-03", ""},
		{"I sang the solo in February and I still shake", "alex/sing: solo in february", "F past from 2026-02-01 to 2026-03-01", ""},
		{"I have lived in Kotor since the start of March", "alex/lives_in: kotor", "F from 2026-03-01", ""},
		{"I've enrolled on a pottery course in November", "alex/enroll_on: pottery course in november", "F from 2026-11-01 to 2026-12-01", ""},
		// Years and days in words.
		{"I have played the oboe since nineteen eighty four", "alex/plays: oboe", "F from 1984-01-01", ""},
		{"I bought the boat in two thousand and eleven", "alex/bought: boat", "F past from 2011-01-01 to 2012-01-01", ""},
		{"I shall sell the shop on the twenty-second of December", "alex/plans: sell the shop on the twenty-second of december", "F plan from 2026-12-22", ""},
		// What is arranged is a plan that starts when it says; what goes on until its day is none.
		{"My manager Edda is transferring to Lyon in January", "edda/manages: alex", "F", ""},
		{"My nephew Bo flies home on 4 October", "bo/relative_of: alex", "F", ""},
		{"My wife Ines and I are emigrating next spring", "ines/married_to: alex", "F", ""},
		{"I'm getting a puppy called Nelson on 2 October", "nelson/pet_of: alex", "", "alex/has: puppy | F"},
		{"I'm training for the Lyon half marathon in December", "alex/trains_for: lyon half marathon", "F wish from 2026-12-01", "alex/plans: training for the lyon half marathon in december | F plan from 2026-12-01"},
		{"We're opening the café on 7 October", "alex/plans: opening the cafe on 7 october", "F plan from 2026-10-07", ""},
		{"I'm playing darts on Thursdays", "alex/plays: darts", "F", "alex/plans: playing darts on thursdays | F plan"},
		{"My brother is working in the kitchen in the night", "", "", "alex brother/works_in: kitchen | F plan"},
		{"Background for planning: I'm a dentist", "alex/has_role: dentist", "F", ""},
		{"I'm sitting next to the radiator", "", "", "alex/plans: sitting next to the radiator | F plan"},
		// What began recently holds.
		{"I joined a bell ringing group", "alex/member_of: bell ringing group", "F", ""},
		{"I joined the army in 1981", "alex/member_of: army", "F past from 1981-01-01 to 1982-01-01", ""},
		{"I joined a union and then left it again", "", "", "alex/member_of: union | F"},
		{"I moved to Ghent in April for the opera", "alex/lives_in: ghent", "F from 2026-04-01", ""},
		{"I moved to Ghent for a year", "alex/lives_in: ghent", "F past", ""},
		{"my best friend Ota moved to Ghent and I miss her", "ota/friend_of: alex", "F", ""},
		{"my boss Ota moved to another team", "ota/manages: alex", "F past", ""},
		// Dates of other things.
		{"I have a lodger who moved in on 2 May", "alex/has: lodger", "F", ""},
		{"We own two flats which are let until March", "alex/owns: two flats", "F", ""},
		{"I mix my songs on a laptop from 2013", "", "", "alex/mix: my songs on a laptop from 2013 | F from 2013-01-01"},
		{"I was a printer until the works closed in 2009", "alex/was: printer", "F past to 2010-01-01", ""},
		{"We have vouchers and they expire in January", "alex/has: vouchers", "F", ""},
		{"I own a barn I bought in 2004", "alex/owns: barn", "F", ""},
		{"I own a barn and I've had goats since 2004", "alex/owns: barn", "F", ""},
		{"I've owned the barn since I retired in 2004", "alex/owned: barn", "", "alex/owned: barn | F from 2004-01-01 to 2005-01-01"},
		{"I booked a cabin for October", "alex/booked: cabin", "F past from 2026-10-01 to 2026-11-01", ""},
		{"I drive a 2016 Yaris2", "alex/drives: 2016 yaris2", "F", ""},
		{"I coach the juniors mon wed fri", "alex/coaches: juniors", "", "alex/coaches: juniors | F from 2026-09-14"},
		{"I'm flying to Accra on Thursday 15 October", "alex/plans: flying to accra on thursday 15 october", "F plan from 2026-10-15", ""},
		// Ranges keep both ends.
		{"We're staying in Bari from the 9th to the 14th of October", "alex/plans: staying in bari from the 9th to the 14th of october", "F plan from 2026-10-09 to 2026-10-15", ""},
		{"I had jury service from the third to the seventh of August", "alex/had: jury service", "F past from 2026-08-03 to 2026-08-08", ""},
		{"I used to rent a mill, from 1991 until the fire in 2003", "alex/-rent: mill", "F ended from 1991-01-01 to 2004-01-01", ""},
		{"My sister Uma is doing her residency with the county until next June", "", "", "alex sister uma/do: her residency with the county until next june | F plan to 2027-07-01"},
		{"We're flying to Bari next June", "alex/plans: flying to bari next june", "F plan from 2027-06-01", ""},
		// How long something has gone on.
		{"I have been living in Derby for three months", "alex/lives_in: derby", "F from 2026-06-01", ""},
		{"I've had hay fever for two years and it never gets better", "alex/had: hay fever", "F from 2024-01-01", ""},
		{"I've booked a hut for two weeks", "alex/booked: hut", "F", ""},
		{"I have a hut for two weeks", "alex/has: hut", "F", ""},
		{"I work in Graz since four years", "alex/works_in: graz", "F from 2022-01-01", ""},
		{"I own a kiln and my sister has had hers for two years", "alex/owns: kiln", "F", ""},
		{"I was a ranger for two years", "alex/was: ranger", "F past", ""},
		{"We got married in 2019", "alex/marital_status: married", "F from 2019-01-01", ""},
		{"I've worked on ferries for nine years, now I'm ashore", "", "", "alex/works_on: ferries | F from 2017-01-01"},
		{"I retire at the end of the year", "alex/plans: retire at the end of the year", "F plan from 2026-12-01", ""},
		{"My husband is in Oslo until the end of the month", "alex husband/is: in oslo until the end of the month", "F to 2026-10-01", ""},
		{"I've lived in Graz since I was ten", "alex/lives_in: graz", "F", "alex/lives_in: graz | F past"},
		{"I've been a nurse for eight years", "alex/has_role: nurse", "F from 2018-01-01", ""},
		{"We're closed from the 4th to the 12th of October", "alex/is: closed", "F from 2026-10-04 to 2026-10-13", ""},
		{"I had my tonsils out in May", "", "", "alex/had: tonsils | F past from 2026-05-01 to 2026-06-01"},
		{"I had my hip replaced in May", "alex/had: my hip replaced in may", "F past from 2026-05-01 to 2026-06-01", ""},
		{"I qualified in 2018 from Graz", "", "", "alex/qualified_in: 2018 from graz | F past from 2018-01-01 to 2019-01-01"},
		{"Mila's allergic to kiwi, we found out in the car", "mila/allergic_to: kiwi", "F", ""},
		{"Mila is vegan but Tom isn't", "mila/diet: vegan", "F", "tom/diet: vegan | F"},
		{"If Mila is allergic to kiwi we need another cake", "", "", "mila/allergic_to: kiwi | F"},
		{"Mila says Tom is allergic to kiwi", "", "", "tom/allergic_to: kiwi | F"},
		{"Mila is vegan friendly", "", "", "mila/diet: vegan | F"},
		{"I help at the Sunday school", "", "", "alex/help_at: sunday school | F from 2026-09-13"},
	} {
		out, err := New().Extract(t.Context(), []extract.Input{{Text: c.text, Time: time.Date(2026, 9, 16, 10, 0, 0, 0, time.UTC), Speaker: "Alex", Memory: true, Infer: true}})
		require.NoError(t, err)
		var shown []string
		for _, s := range whatIsShown(&out[0]) {
			shown = append(shown, s.statement+" | "+s.as)
		}
		if c.statement != "" && c.as != "" {
			assert.Contains(t, shown, c.statement+" | "+c.as, c.text)
		}
		if c.absent != "" {
			assert.NotContains(t, shown, c.absent, c.text)
		}
	}
}
