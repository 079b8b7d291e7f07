package rules

import (
	"fmt"
	"strings"
	"testing"

	"github.com/contextmem/contextmem/extract"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// triples lists relations as "source predicate target", with "!" before negated ones; co-occurrence is left out.
func triples(rs []extract.Relation) []string {
	out := []string{}
	for _, r := range rs {
		if r.Predicate == "related_to" {
			continue
		}
		s := fmt.Sprintf("%s %s %s", r.Source, r.Predicate, r.Target)
		if r.Negated {
			s = "!" + s
		}
		out = append(out, s)
	}
	return out
}

func TestRelations(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		// verbs and prepositions
		"Anna Lind lives in Porto and works for Zorblax.": {"anna lind lives_in porto", "anna lind works_at zorblax"},
		"Anna moved from Oslo to Porto in 2021.":          {"anna lives_in porto", "anna moved_from oslo"},
		"Service Foo depends on PostgreSQL and Redis.":    {"service foo depends_on postgresql", "service foo depends_on redis"},
		"Dora reports to Boris.":                          {"dora reports_to boris"},
		"Boris never visited Lisbon.":                     {"!boris visited lisbon"},
		"Anna no longer works at Zorblax.":                {"!anna works_at zorblax"},
		"Anna used to live in Oslo.":                      {"!anna lives_in oslo"},
		"Boris graduated from Harbor University in 2012.": {"boris studied_at harbor university", "boris graduated_in 2012"},
		// passive
		"Zorblax was founded by Anna Lind and Boris Gray.": {"anna lind founded zorblax", "boris gray founded zorblax"},
		"Zorblax was acquired by Initech.":                 {"initech acquired zorblax"},
		"Emil Voss was born in Porto on 3 March 1990.":     {"emil voss born_in porto", "emil voss born_on 1990-03-03"},
		"Initech is headquartered in Austin, Texas.":       {"initech located_in austin", "initech located_in texas", "austin located_in texas"},
		// nouns
		"Boris is the founder of Grey Labs.":                           {"boris founded grey labs", "boris has_role founder"},
		"Anna Lind, the founder of Zorblax, lives in Porto.":           {"anna lind lives_in porto", "anna lind founded zorblax", "anna lind has_role founder"},
		"The Grey River is a river in Northland.":                      {"grey river located_in northland", "grey river is_a river"},
		"World Seed Bank (WSB) is based in Geneva.":                    {"world seed bank located_in geneva", "world seed bank also_known_as wsb"},
		"Anna's sister Dora works for Initech.":                        {"dora works_at initech", "dora sibling_of anna"},
		"Tom is Anna's brother.":                                       {"tom sibling_of anna"},
		"Zorblax is a firm based in Porto.":                            {"zorblax located_in porto", "zorblax is_a firm"},
		"Walden is a village in the Canadian province of Nova Scotia.": {"walden located_in nova scotia", "walden is_a village"},
		"Emil Voss (born 12 May 1986 in Porto) is a chess player.":     {"emil voss born_on 1986-05-12", "emil voss born_in porto", "emil voss has_role chess player"},
		"Emil Voss (3 May 1921 – 8 June 2001), a poet, lived in Oslo.": {"emil voss born_on 1921-05-03", "emil voss died_on 2001-06-08", "emil voss lives_in oslo"},
		"They flew to Belgium, Canada, Denmark and France.":            {},
		"She lives near Porto, Portugal.":                              {"porto located_in portugal"},
		// objects and subjects that only look like names or verbs
		"Anna wants to visit Oslo.":                     {},
		"Anna went to a Harbor Street bakery.":          {"anna went_to harbor street bakery"},
		"Anna sings for the Korean band Nightfall.":     {},
		"Dora played for the Norwegian club Nightfall.": {"dora plays_for nightfall"},
		"The old engine of Zorblax uses Kafka.":         {},
		// reference
		"Emil Voss wrote Night Boats. He studied at Harbor College.": {"emil voss wrote night boats", "emil voss studied_at harbor college"},
		"Initech sells pumps. It uses Kafka.":                        {"initech sold pumps", "initech uses kafka"},
		// nothing is stated
		"Did Anna move to Oslo?":                          {},
		"If Anna moved to Oslo, Boris would visit Porto.": {},
		"The mayor of Berlin visited Paris.":              {},
	} {
		t.Run(text, func(t *testing.T) {
			assert.ElementsMatch(t, want, triples(one(t, extract.Input{Text: text}).Relations), text)
		})
	}
}

func TestRelationsOfSpeaker(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"I moved to Berlin.":                 {"alex lives_in berlin"},
		"I bought a house in Oslo.":          {"alex bought house"},
		"My wife Clara likes green tea.":     {"clara likes green tea", "clara married_to alex"},
		"My brother's name is Tom.":          {"tom sibling_of alex"},
		"I have a dog named Rex.":            {"alex has dog", "rex pet_of alex"},
		"I don't like mushrooms.":            {"!alex likes mushrooms"},
		"Dora: I joined the Harbor Choir!":   {"dora member_of harbor choir"},
		"I like tea, coffee and dark bread.": {"alex likes tea", "alex likes coffee", "alex likes dark bread"},
	} {
		t.Run(text, func(t *testing.T) {
			assert.ElementsMatch(t, want, triples(one(t, extract.Input{Text: text, Memory: true, Speaker: "Alex"}).Relations), text)
		})
	}
	assert.Equal(t, []string{"user lives_in berlin"}, triples(one(t, extract.Input{Text: "I live in Berlin.", Memory: true}).Relations))
}

func TestRelationEvidence(t *testing.T) {
	t.Parallel()
	text := "Rain fell. Anna lived in Porto from 2010 to March 2015. Boris works at Zorblax since May 2, 2019."
	out := one(t, extract.Input{Text: text, Chunks: []extract.Span{{Start: 0, End: 56}, {Start: 56, End: len(text)}}})
	require.Len(t, out.Relations, 2)
	a, b := out.Relations[0], out.Relations[1]
	assert.Equal(t, "Anna lived in Porto from 2010 to March 2015.", a.Context)
	assert.Equal(t, "from 2010; to March 2015", a.Temporal)
	assert.Equal(t, "2010-01-01 2015-04-01 year", a.ValidFrom.Format("2006-01-02 ")+a.ValidTo.Format("2006-01-02 ")+a.Precision)
	assert.Equal(t, "lived in", a.Raw)
	assert.Equal(t, 0, a.Chunk)
	assert.Equal(t, "2019-05-02", b.ValidFrom.Format("2006-01-02"))
	assert.Zero(t, b.ValidTo)
	assert.Equal(t, extract.PrecisionDay, b.Precision)
	assert.Equal(t, 1, b.Chunk)
	assert.Greater(t, a.Confidence, float32(0.5))

	types := map[string]string{}
	for _, m := range out.Mentions {
		types[m.Key] = m.Type
	}
	assert.Equal(t, extract.TypeOrganization, types["zorblax"], "the verb tells what the name is")
}

func TestShortNamesStandForFullOnes(t *testing.T) {
	t.Parallel()
	text := "Emil Voss was born in Porto. Much later Voss moved to Oslo. Dora Lind and Anna Lind met there. Lind visited Turin."
	cut := strings.Index(text, "Much")
	out := one(t, extract.Input{Text: text, Chunks: []extract.Span{{Start: 0, End: cut}, {Start: cut, End: len(text)}}})
	assert.Contains(t, triples(out.Relations), "emil voss lives_in oslo")
	assert.Contains(t, triples(out.Relations), "lind visited turin", "two people have that name")
	other := one(t, extract.Input{Text: "Anna London visited Oslo. Boris moved to London."})
	assert.Contains(t, triples(other.Relations), "boris lives_in london")
	chunks := map[string][]int{}
	for _, m := range out.Mentions {
		chunks[m.Key] = append(chunks[m.Key], m.Chunk)
		if m.Key == "voss" {
			assert.True(t, m.Part)
			assert.Equal(t, extract.TypePerson, m.Type)
		}
	}
	assert.Equal(t, []int{0, 1}, chunks["emil voss"], "the second chunk is about the same person")
	assert.Equal(t, []int{1}, chunks["voss"])
}

func TestNamesTogether(t *testing.T) {
	t.Parallel()
	out := one(t, extract.Input{Text: "Much was said about Anna Lind, Boris Gray, Clara Hall, Dora Frost, Emil Voss and Fred Moss."})
	require.NotEmpty(t, out.Relations)
	assert.LessOrEqual(t, len(out.Relations), maxTogether)
	for _, r := range out.Relations {
		assert.Equal(t, "related_to", r.Predicate)
		assert.Less(t, r.Confidence, float32(0.5))
	}
}

// TestNamesTogetherInLongTexts checks that a long text does not produce too many pairs of names: only repeated pairs become relations, and
// one pair of each chunk.
func TestNamesTogetherInLongTexts(t *testing.T) {
	t.Parallel()
	name := func(i int) string { return string(rune('A'+i/26)) + "orvik " + string(rune('A'+i%26)) + "andel" }
	var text strings.Builder
	var chunks []extract.Span
	const perChunk, count = 10, 100
	for c := range count {
		start := text.Len()
		for i := range perChunk {
			fmt.Fprintf(&text, "Much was said of %s and %s. ", name((c*perChunk+i)%676), name((c*perChunk*7+i*31+1)%676))
		}
		if c < 3 || c > count-3 {
			text.WriteString("Much was said of Anna Lind and Boris Gray. ")
		}
		chunks = append(chunks, extract.Span{Start: start, End: text.Len()})
	}
	in := extract.Input{Text: text.String(), Chunks: chunks}
	out := one(t, in)
	each, again := make([]int, count), make([]int, count)
	for _, r := range out.Relations {
		require.Equal(t, "related_to", r.Predicate)
		each[r.Chunk]++
		if r.Source == "anna lind" && r.Target == "boris gray" {
			again[r.Chunk]++
		}
	}
	assert.Less(t, len(out.Relations), fewTogether+2*count)
	for c := range count {
		assert.NotZero(t, each[c], "chunk %d", c)
		if c < 3 || c == count-2 {
			assert.Equal(t, 1, again[c], "chunk %d", c)
		}
	}
	assert.Equal(t, perChunk+1, each[0], "the first ones are all told")

	in = extract.Input{Text: text.String(), Memory: true, Speaker: "Alex"}
	assert.Greater(t, len(one(t, in).Relations), count*perChunk*9/10, "a memory tells all")
}

func TestRelationEndsAreMentions(t *testing.T) {
	t.Parallel()
	out := one(t, extract.Input{Memory: true, Speaker: "Alex Gray", Text: strings.Repeat("I moved to Berlin. My wife Clara likes green tea and she works at Initech. ", 3)})
	keys := map[string]bool{}
	for _, m := range out.Mentions {
		keys[m.Key] = true
	}
	require.NotEmpty(t, out.Relations)
	for _, r := range out.Relations {
		assert.True(t, keys[r.Source], r.Source)
		assert.True(t, keys[r.Target], r.Target)
	}
}
