package rules

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/extract"
)

// TestSayable reads sentences in which a statement looks complete and is not, and sentences like them in which it is.
func TestSayable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, found, absent string
	}{
		{"my brother's a pilot with Lufthansa or was until the spring now he drives a tram", "", "alex brother/is: pilot with lufthansa"},
		{"my dog is a lab cross hes deaf", "alex dog/is: lab cross", ""},
		{"my car is a 2012 polo needs a clutch", "alex car/is: 2012 polo", ""},
		{"I like the ferry more than I like most people.", "alex/likes: ferry", "alex/likes: people"},
		{"My sister moved to Wales in the spring.", "alex sister/lives_in: wales", ""},
		{"I think I have ADHD", "", "alex/has: adhd"},
		{"I think I like jazz", "alex/likes: jazz", ""},
		{"I guess I like jazz", "", "alex/likes: jazz"},
		{"I had the same on mine, it was a wet terminal.", "", "alex/had: same on mine"},
		{"I hope this finds you well.", "", "alex/hopes: finds"},
		{"i maintain the parser and Kofi does the frontend, docs are orphaned", "alex/maintain: parser", ""},
		{"I have given up the Thursday club, since Mavis took the chair.", "", "alex/-does: the"},
		{"my dad never eats fish", "alex dad/not_eats: fish", "alex dad/eats: fish"},
		{"my sister-in-law never visits, thank heaven", "alex sister-in-law/not_visit: ", "alex sister-in-law/visit: "},
		{"my daughter she is a dentist", "alex daughter/is: dentist", "alex daughter she/is: dentist"},
		{"my brother's just had twins, boys", "alex brother/had: twins", "alex brother/is: had twins"},
		{"I left Lisbon in May", "alex/left: lisbon", "alex/-works_at: lisbon"},
		{"I left Siemens in May", "alex/-works_at: siemens", ""},
		{"every time I switch from wifi to mobile data it dies", "", "alex/switched_to: mobile data"},
		{"I switched from wifi to mobile data", "alex/switched_to: mobile data", ""},
		{"so we're four at standup and it takes nine minutes", "", "alex/takes: nine minutes"},
		{"dreamt i was married to my geography teacher", "", "alex/married_to: geography teacher"},
		{"i was married to my geography teacher", "alex/married_to: geography teacher", ""},
		{"my accountant Declan retired & his son is useless", "", "alex accountant declan/retire: his son is useless"},
		{"i was diagnosed autistic in november at 33 and honestly it explains the tone", "alex/was: diagnosed autistic in november at 33", ""},
		{"we share one bathroom its literally war", "alex/share: one bathroom", ""},
		{"we re-tiled the bathroom ourselves", "alex/re_tiled: bathroom", ""},
		{"my daughter is beside herself", "alex daughter/is: beside herself", ""},
		{"we did three years at Bretton Hall back when it was a college", "alex/do: three years at bretton hall", ""},
		{"my mother still bakes without, out of habit", "", "alex mother/bake: "},
		{"my cat walked across the keyboard in the middle of 'where do you see yourself'", "", "alex cat/walk: across the keyboard in the middle"},
		{"my dog swims better than I do", "", "alex dog/swim: better"},
		{"my address has changed since the order", "", "alex address/change: since the order"},
		{"it screams, I run every time", "", "alex/runs: time"},
		{"root beer is disgusting and I'll die on that hill", "", "alex/plans: die on that hill"},
		{"sold my soul: gave the newsletter to Doreen", "", "alex/sold: my soul"},
		{"sold my bike: gave the newsletter to Doreen", "alex/sold: my bike", ""},
		{"my son's going to be a vet", "alex son/is: vet", ""},
		{"my supervisor's own book is four years late", "alex supervisor own book/is: four years late", ""},
		{"I drive the school run in a twenty year old Corolla with a door that opens from the inside only", "", "alex/drives: school run in a twenty year old corolla with a door that opens from"},
		{"my nan goes to me u should marry a doctor", "", "alex nan/goes_to: me u should marry a doctor"},
		{"my nan goes to church", "alex nan/goes_to: church", ""},
		{"my landlord say he will sell house", "", "alex landlord say/sold: house"},
		{"i arrived in September 2022 with student visa", "", "alex/arrived_in: september 2022 with student visa"},
		{"i arrived in Leeds in September", "alex/arrived_in: leeds", ""},
		{"I fear the cellarer is part of the cause", "", "alex/fears: cellarer"},
		{"I fear the dentist", "alex/fears: dentist", ""},
		{"we had wanted a third, but it did not happen", "", "alex/wants: third"},
		{"i'm basically vegan", "", "alex/is_a: vegan"},
		{"im vegan except for eggs", "", "alex/diet: vegan"},
		{"I am vegan except at Christmas", "alex/diet: vegan", ""},
		{"i'm 95 and a half right now", "", "alex/age: 95"},
		{"i'm 41 and divorced", "alex/age: 41", ""},
		{"i have three hundred and twenty ewes", "", "alex/has: twenty ewes"},
		{"i have two hundred ewes", "alex/has: two hundred ewes", ""},
		{"stopped taking creatine in january it gave me stomach cramps", "alex/-took: creatine", ""},
		{"i need a new collie mine is called Fly", "alex/needs: new collie", ""},
		{"my nan makes the best jollof in Brum no cap", "alex nan/makes: best jollof in brum", ""},
		{"my coach trained me for 2 years man", "", "alex coach/trained: me for 2 years man"},
		{"i sat there like an idiot", "", "alex/sit: there like an idiot"},
		{"we just high five in the hallway", "", "alex/high: five in the hallway"},
		{"I want to be left alone", "alex/wants: be left alone", ""},
		{"I was small enough", "", "alex/was: small enough"},
		{"I started at Siemens on the first", "alex/started_at: siemens", ""},
		{"i drove the number nine for twenty six years", "", "alex/drove: number"},
		{"my lad's just passed his test", "alex lad/pass: his test", "alex lad/is: passed his test"},
		{"my daughter is first in her class", "alex daughter/is: first in her class", "alex daughter/is: in her class"},
		{"we live in one room with kitchen", "", "alex/lives_with: kitchen"},
		{"i have two direct reports", "alex/has: two direct reports", "alex/directs: reports"},
		{"she was like i have three cats", "", "alex/has: three cats"},
		{"i'm basically a professional napper", "", "alex/is_a: professional napper"},
		{"my mum is a nurse not a doctor", "alex mum/is: nurse", ""},
		{"my uncle who died in 2003 owned a pub", "", "alex uncle/died_in: 2003 owned a pub"},
		{"my avatar lives in Tokyo", "", "alex avatar/moved_to: tokyo"},
		{"i'm a morning person said no one ever", "", "alex/is_a: morning person"},
		{"you can deliver any day i have dialysis wednesdays", "alex/has: dialysis", "alex/has: dialysis wednesdays"},
		{"i cried for like a week", "", "alex/cry_for: like a week"},
		{"finally got vodafone to accept that it's over", "", "alex/got: vodafone to accept"},
		{"i failed chemistry and my mum doesnt know yet", "alex/failed: chemistry", "alex/failed: chemistry and my mum"},
		{"my sister's getting married in july", "", "alex sister getting/marry: in july"},
		{"im allergic to kiwi my lips go massive", "alex/allergic_to: kiwi", ""},
		{"allergic to shellfish which is hilarious for a cook", "alex/allergic_to: shellfish", ""},
		{"I have given up port until my birthday", "", "alex/-does: port until my birthday"},
		{"my daughter Hodan want to be pharmacist", "", "alex daughter hodan want/is: pharmacist"},
		{"we don't deploy on fridays", "", "alex/not_deployed_to: fridays"},
		{"ok so i passed my mocks and my dads taking my phone", "alex/pass: my mocks", ""},
		{"non mangio carne dal 2018", "alex/not_eats: carne", ""},
	} {
		requireBelieved(t, c.text, ref, c.found, c.absent)
	}
}

// TestScheduled gives a change that is told in the present tense, with a time, the mode of a plan and a start that lies ahead.
func TestScheduled(t *testing.T) {
	t.Parallel()
	for text, ahead := range map[string]bool{"Maya starts school in September.": true, "Maya started school in September.": false} {
		out, err := New().Extract(t.Context(), []extract.Input{{Text: text, Time: time.Date(2026, 2, 5, 10, 0, 0, 0, time.UTC), Speaker: "Alex", Memory: true, Infer: true}})
		require.NoError(t, err)
		require.NotEmpty(t, out[0].Relations, text)
		for _, r := range out[0].Relations {
			assert.Equal(t, ahead, r.Mode == extract.ModePlan, text)
			assert.Equal(t, ahead, r.ValidFrom.Year() == 2026, text)
		}
	}
}

// TestBygone tells what somebody has lived or worked in as past, unless the words say that it goes on.
func TestBygone(t *testing.T) {
	t.Parallel()
	for text, past := range map[string]bool{
		"I've lived in Rome": true, "I have worked at Siemens.": true, "my brother has lived in Leeds": true,
		"I've lived in Rome since 2014": false, "I've lived in Rome my whole life": false, "I've worked at Siemens ten years": false, "I've always lived in Rome": false, "I live in Rome": false,
	} {
		out, err := New().Extract(t.Context(), []extract.Input{{Text: text, Time: ref, Speaker: "Alex", Memory: true, Infer: true}})
		require.NoError(t, err)
		require.NotEmpty(t, out[0].Facts, text)
		for _, f := range out[0].Facts {
			assert.Equal(t, past, f.Mode == extract.ModePast && !f.Functional, text)
		}
		for _, r := range out[0].Relations {
			assert.Equal(t, past, r.Mode == extract.ModePast && !r.Functional, text)
		}
	}
}

// TestStillRelated tells that people are related as what holds, although what else is said of them is past, unless it ends the relation.
func TestStillRelated(t *testing.T) {
	t.Parallel()
	for text, past := range map[string]bool{
		"My wife Folake joined me in 2023.": false, "My daughter Kate won the race.": false, "My colleague Callum taught me Scottish words.": false, "My brother Cuthbert was afraid.": false,
		"My brother Tom died in March.": true, "My late husband Leonard kept the accounts.": true, "My boss Ruth left.": true, "My boss Ruth was great.": true,
	} {
		out, err := New().Extract(t.Context(), []extract.Input{{Text: text, Time: ref, Speaker: "Alex", Memory: true, Infer: true}})
		require.NoError(t, err)
		related := 0
		for _, r := range out[0].Relations {
			if r.Target == "alex" {
				related++
				assert.Equal(t, past, r.Mode == extract.ModePast, text)
			}
		}
		for _, f := range out[0].Facts {
			if f.Object == "Alex" && f.Predicate != "manages" {
				assert.Equal(t, past, f.Mode == extract.ModePast, text)
			}
		}
		assert.NotZero(t, related, text)
	}
}

// TestOtherTongue finds nothing by the rules of English in what is written in another language, and all of it in English with a few foreign words.
func TestOtherTongue(t *testing.T) {
	t.Parallel()
	for text, found := range map[string]bool{
		"I hab zwei Nächte geweint und einen Topf Gulasch gmacht": false, "L'affitto, che fine fa: il vecchio è andato in casa di riposo, i figli vendono.": false, "I mam psa, Grzanka, mieszaniec wszystkiego ze wszystkim": false,
		"Bahía Blanca, a la Marina, y la nena se fue": false, "Se mexo no preço, a dona Otília é a rainha": false,
		"i never seen snow until last january in Serra da Estrela": true, "im not moody": true, "ma sister Kelly-Anne's a hairdresser in East Kilbride, does ma roots fur nothin": true, "I eat la Quiche Lorraine de Maman": true, "I live in Baden bei Wien with Frau Huber": true,
	} {
		out, err := New().Extract(t.Context(), []extract.Input{{Text: text, Time: ref, Speaker: "Alex", Memory: true, Infer: true}})
		require.NoError(t, err)
		assert.Equal(t, found, len(out[0].Facts)+len(relationsBelieved(&out[0])) > 0, text)
	}
}

// TestArrived tells where somebody moved to as where he lives, unless the words leave open whether he still does.
func TestArrived(t *testing.T) {
	t.Parallel()
	for text, past := range map[string]bool{
		"My ex moved to Lisbon and posts tarts daily.": false, "Settled in Pune now, the flat is near the university": false, "I moved to Lyon last year": false,
		"I moved to Lyon in 1998": true, "I moved to Lyon when I was six": true, "I moved to Lyon for two years": true,
	} {
		out, err := New().Extract(t.Context(), []extract.Input{{Text: text, Time: ref, Speaker: "Alex", Memory: true, Infer: true}})
		require.NoError(t, err)
		homes := 0
		for _, f := range out[0].Facts {
			if f.Predicate == "lives_in" {
				homes++
				assert.Equal(t, past, f.Mode == extract.ModePast, text)
			}
		}
		for _, r := range out[0].Relations {
			if r.Predicate == "lives_in" {
				homes++
				assert.Equal(t, past, r.Mode == extract.ModePast, text)
			}
		}
		assert.NotZero(t, homes, text)
	}
}

// TestPresent tells what is so as what is so: who has got something, who is away, and what a verb that no table knows says.
func TestPresent(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"my sister's got six bantams", "my manager is off for six weeks with his back", "we shout in stereo", "my shrink is Dr Lindqvist, every first monday of the month at 14:00"} {
		out, err := New().Extract(t.Context(), []extract.Input{{Text: text, Time: ref, Speaker: "Alex", Memory: true, Infer: true}})
		require.NoError(t, err)
		require.NotEmpty(t, out[0].Facts, text)
		assert.Equal(t, extract.ModeAsserted, out[0].Facts[0].Mode, text)
		assert.True(t, out[0].Facts[0].ValidFrom.IsZero(), text)
	}
	for _, text := range []string{"made a dahl on a tuesday, burnt it", "we've decided to get married at the registry office in Cork in January"} {
		out, err := New().Extract(t.Context(), []extract.Input{{Text: text, Time: ref, Speaker: "Alex", Memory: true, Infer: true}})
		require.NoError(t, err)
		require.NotEmpty(t, out[0].Facts, text)
		assert.True(t, out[0].Facts[0].ValidFrom.IsZero() || out[0].Facts[0].ValidTo.After(ref), text)
	}
}

// requireBelieved checks that what Alex says at a time gives one statement and not another. "" is any.
func requireBelieved(t *testing.T, text string, at time.Time, found, absent string) {
	t.Helper()
	out, err := New().Extract(t.Context(), []extract.Input{{Text: text, Time: at, Speaker: "Alex", Memory: true, Infer: true}})
	require.NoError(t, err)
	var got []string
	for _, b := range slices.Concat(factsBelieved(&out[0]), relationsBelieved(&out[0])) {
		got = append(got, b.String())
	}
	if found != "" {
		assert.Contains(t, got, found, text)
	}
	if absent != "" {
		assert.NotContains(t, got, absent, text)
	}
}
