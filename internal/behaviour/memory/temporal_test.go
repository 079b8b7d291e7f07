package memory_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/servicetest"
)

func asOf(day string) func(*contextmem.Recall) {
	return func(q *contextmem.Recall) { q.AsOf = servicetest.OnDay(day) }
}

func knownAt(day string) func(*contextmem.Recall) {
	return func(q *contextmem.Recall) { q.KnownAt = servicetest.OnDay(day) }
}

func TestNewerFactRetiresTheOlder(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		for _, infer := range []bool{false, true} {
			t.Run(fmt.Sprint("infer ", infer), func(t *testing.T) {
				c := servicetest.NewStory(t, tn, contextmem.Memory{Text: "I live in Lisbon.", Time: servicetest.OnDay("2020-03-01"), Infer: infer},
					contextmem.Memory{Text: "I moved to Porto.", Time: servicetest.OnDay("2022-06-01"), Infer: infer})
				require.Equal(t, []string{"user porto"}, c.GraphStates("lives_in", nil))
				require.Equal(t, []string{"user lisbon"}, c.GraphStates("lives_in", asOf("2021-01-01")), "history is read as of a day")
				require.Equal(t, []string{"user lisbon"}, c.GraphStates("lives_in", asOf("2019-01-01")), "nothing says since when")
				require.Equal(t, []string{"user porto"}, c.GraphStates("lives_in", asOf("2023-01-01")))
				require.Equal(t, []string{"user lisbon"}, c.GraphStates("lives_in", knownAt("2021-01-01")))
				require.Empty(t, c.GraphStates("lives_in", knownAt("2020-02-01")), "not told yet")
				p, err := c.GraphRelations(t.Context(), contextmem.GraphRelationsRequest{Class: contextmem.ClassMemory})
				require.NoError(t, err)
				retired := map[string]bool{}
				for _, g := range p.Groups {
					for _, e := range g.Relations {
						retired[g.Target.Name] = e.Superseded
					}
				}
				require.Equal(t, map[string]bool{"lisbon": true, "porto": false}, retired, "nothing is deleted")
			})
		}
	})
}

func TestFactsOfOneDayFollowIngestion(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		c := servicetest.NewStory(t, tn, contextmem.Memory{Text: "I live in Lisbon.", Time: servicetest.OnDay("2020-03-01")}, contextmem.Memory{Text: "I live in Porto now.", Time: servicetest.OnDay("2020-03-01")},
			contextmem.Memory{Text: "I work at Acme. Actually, I work at Initech now.", Time: servicetest.OnDay("2020-03-01")})
		require.Equal(t, []string{"user porto"}, c.GraphStates("lives_in", nil))
		require.Equal(t, []string{"user initech"}, c.GraphStates("works_at", nil), "within a memory the text counts")
		servicetest.Remember(t, c.Sub, contextmem.Memory{ID: "m1", Text: "I live in Faro.", Time: servicetest.OnDay("2020-03-01")})
		require.Equal(t, []string{"user faro"}, c.GraphStates("lives_in", nil), "an update is told anew")
	})
}

func TestOldFactStoredLateRetiresNothing(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		c := servicetest.NewStory(t, tn, contextmem.Memory{Text: "I live in Porto.", Time: servicetest.OnDay("2020-03-01")}, contextmem.Memory{Text: "In 2015 I moved to Lisbon.", Time: servicetest.OnDay("2022-06-01")})
		require.Equal(t, []string{"user porto"}, c.GraphStates("lives_in", nil), "what is about 2015 says nothing about 2020")
		require.Equal(t, []string{"user lisbon"}, c.GraphStates("lives_in", asOf("2016-01-01")))
		require.Equal(t, []string{"user porto"}, c.GraphStates("lives_in", asOf("2021-01-01")))
		both := func(day, known string) []string {
			return c.GraphStates("lives_in", func(q *contextmem.Recall) { q.AsOf, q.KnownAt = servicetest.OnDay(day), servicetest.OnDay(known) })
		}
		require.Equal(t, []string{"user porto"}, both("2016-01-01", "2021-01-01"), "of 2015 nothing was known in 2021")
		require.Equal(t, []string{"user lisbon"}, both("2016-01-01", "2022-07-01"))
		// Ingested last, but said first.
		servicetest.Remember(t, c.Sub, contextmem.Memory{ID: "log", Text: "I live in Faro.", Time: servicetest.OnDay("2018-01-01")})
		require.Equal(t, []string{"user porto"}, c.GraphStates("lives_in", nil))
		require.Equal(t, []string{"user faro"}, c.GraphStates("lives_in", asOf("2019-01-01")))
		require.Equal(t, []string{"user faro"}, c.GraphStates("lives_in", knownAt("2019-01-01")))
	})
}

func TestRetirementRules(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	for name, c := range map[string]struct {
		told      []string
		predicate string
		want      []string
	}{
		"preference":         {[]string{"My favourite colour is blue.", "My favorite color is green now."}, "favorite_color", []string{"user green"}},
		"employer":           {[]string{"I work at Acme.", "I work for Initech.", "I'm a nurse at Globex."}, "works_at", []string{"user globex"}},
		"marital status":     {[]string{"I'm single.", "I got married to Tom yesterday."}, "marital_status", []string{"user married"}},
		"status of a thing":  {[]string{"The status of project Apollo is delayed.", "Apollo's status is on hold.", "Apollo has been shipped."}, "status", []string{"apollo shipped"}},
		"other subjects":     {[]string{"I live in Lisbon.", "Anna lives in Oslo.", "Boris lives in Rome.", "Anna moved to Bergen."}, "lives_in", []string{"anna bergen", "boris rome", "user lisbon"}},
		"several values":     {[]string{"I like tea.", "I like coffee.", "I like green tea."}, "likes", []string{"user coffee", "user green tea", "user tea"}},
		"taken back":         {[]string{"I like tea.", "I like coffee.", "I don't like tea anymore."}, "likes", []string{"user coffee"}},
		"the opposite":       {[]string{"I love hiking.", "I hate hiking."}, "likes", []string{}},
		"and back":           {[]string{"I hate hiking.", "I love hiking."}, "dislikes", []string{}},
		"ended":              {[]string{"I work at Acme.", "I no longer work at Acme."}, "works_at", []string{}},
		"ended and begun":    {[]string{"I work at Acme.", "I no longer work at Acme.", "I work at Acme."}, "works_at", []string{"user acme"}},
		"left":               {[]string{"I work at Acme Inc.", "I quit my job at Acme Inc."}, "works_at", []string{}},
		"the past":           {[]string{"I live in Porto.", "I lived in Rome in 2010."}, "lives_in", []string{"user porto", "user rome"}},
		"the future":         {[]string{"I live in Porto.", "I will move to Rome next year."}, "lives_in", []string{"user porto", "user rome"}},
		"a question":         {[]string{"I live in Porto.", "Should I move to Rome?"}, "lives_in", []string{"user porto"}},
		"a condition":        {[]string{"I live in Porto.", "If I lived in Rome, I would eat better."}, "lives_in", []string{"user porto"}},
		"since long ago":     {[]string{"I live in Porto.", "I've lived in Rome since 2010."}, "lives_in", []string{"user rome"}},
		"another name of it": {[]string{"Location: Porto", "Location: Rome"}, "lives_in", []string{"user rome"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var ms []contextmem.Memory
			for i, text := range c.told {
				ms = append(ms, contextmem.Memory{Text: text, Infer: true, Time: servicetest.OnDay("2020-01-01").AddDate(i, 0, 0)})
			}
			require.Equal(t, c.want, servicetest.NewStory(t, acme, ms...).GraphStates(c.predicate, nil))
		})
	}
}

func TestDeletingTheNewerRevivesTheOlder(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		c := servicetest.NewStory(t, tn, contextmem.Memory{Text: "I live in Lisbon.", Time: servicetest.OnDay("2020-03-01")}, contextmem.Memory{Text: "I moved to Porto.", Time: servicetest.OnDay("2021-03-01")},
			contextmem.Memory{Text: "I live in Faro.", Time: servicetest.OnDay("2022-03-01")})
		del := func(id string) {
			_, err := c.DeleteItems(t.Context(), contextmem.DeleteItemsRequest{IDs: []string{id}})
			require.NoError(t, err)
		}
		del("m2")
		require.Equal(t, []string{"user faro"}, c.GraphStates("lives_in", nil))
		require.Equal(t, []string{"user lisbon"}, c.GraphStates("lives_in", asOf("2021-06-01")), "nothing retired it in between")
		del("m3")
		require.Equal(t, []string{"user lisbon"}, c.GraphStates("lives_in", nil))
		servicetest.Remember(t, c.Sub, contextmem.Memory{ID: "m4", Text: "I live in Rome.", Time: servicetest.OnDay("2023-03-01")})
		require.Equal(t, []string{"user rome"}, c.GraphStates("lives_in", nil))
		servicetest.Remember(t, c.Sub, contextmem.Memory{ID: "m4", Text: "The weather is fine.", Time: servicetest.OnDay("2023-03-01")})
		require.Equal(t, []string{"user lisbon"}, c.GraphStates("lives_in", nil), "the update says nothing of it")
	})
}

func TestKnownAtLeavesLaterSourcesOut(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	c := servicetest.NewStory(t, acme, contextmem.Memory{ID: "old", Text: "The kettle is on the shelf.", Time: servicetest.OnDay("2020-03-01"), ForcefulRelations: &contextmem.ForcefulRelations{IDs: []string{"new"}}},
		contextmem.Memory{ID: "new", Text: "The kettle is in the cellar.", Time: servicetest.OnDay("2022-03-01")})
	at := func(day string, mode contextmem.Mode) *contextmem.Result {
		res, err := c.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "kettle", KnownAt: servicetest.OnDay(day), Mode: mode, MaxResults: 1})
		require.NoError(t, err)
		return res
	}
	for _, mode := range []contextmem.Mode{contextmem.ModeFast, contextmem.ModeThinking} {
		t.Run(string(mode), func(t *testing.T) {
			res := at("2021-01-01", mode)
			require.Len(t, res.Chunks, 1)
			require.Equal(t, "old", res.Chunks[0].SourceID)
			require.Empty(t, res.Additional)
			require.Len(t, at("2023-01-01", mode).Chunks, 1)
			require.Empty(t, at("2019-01-01", mode).Chunks)
		})
	}
	require.Len(t, at("2023-01-01", contextmem.ModeThinking).Additional, 1)
}

func TestRelativeDatesAreThoseOfTheSource(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	c := servicetest.NewStory(t, acme,
		contextmem.Memory{Text: "I met Bob last Friday.", Time: servicetest.OnDay("2022-05-04")},
		contextmem.Memory{Text: "I bought a car three days ago.", Time: servicetest.OnDay("2022-05-04")},
		contextmem.Memory{Text: "I will visit Rome next month.", Time: servicetest.OnDay("2022-05-04")},
		contextmem.Memory{Text: "I flew to Paris in March.", Metadata: map[string]any{"timestamp": "2022-05-04T10:00:00Z"}},
		contextmem.Memory{Text: "I moved to Porto in 2019.", Time: servicetest.OnDay("2022-05-04")},
		contextmem.Memory{Text: "The kettle boils."})
	facts, info := c.DatedFacts("Bob, car, Rome, Paris, Porto, kettle", contextmem.Temporal{Now: servicetest.OnDay("2022-05-10")})
	require.Equal(t, []string{"lives_in porto 2019-01-01.. year current", "flew_to paris 2022-03-01..2022-04-01 month past", "met bob 2022-04-29..2022-04-30 day past",
		"bought car 2022-05-01..2022-05-02 day past", "visited rome 2022-06-01..2022-07-01 month upcoming"}, facts)
	require.Equal(t, "none", info.Mode)
	require.False(t, info.Applied)

	// Without a time of its own a memory was said when it was ingested.
	before := time.Now().UTC()
	s := acme.Sub("without a time")
	servicetest.Remember(t, s, contextmem.Memory{ID: "now", Text: "I met Clara yesterday."})
	res, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "Clara", Temporal: &contextmem.Temporal{}})
	require.NoError(t, err)
	require.Len(t, res.Temporal.Facts, 1)
	yesterday := []string{before.AddDate(0, 0, -1).Format(time.DateOnly), time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly)}
	require.Contains(t, yesterday, res.Temporal.Facts[0].Start.Format(time.DateOnly))
}

func TestTemporalModes(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	c := servicetest.NewStory(t, acme,
		contextmem.Memory{Text: "I moved to Lisbon in May 2019.", Time: servicetest.OnDay("2019-06-01")},
		contextmem.Memory{Text: "I moved to Porto in March 2021.", Time: servicetest.OnDay("2021-04-01")},
		contextmem.Memory{Text: "I visited Rome in June 2020.", Time: servicetest.OnDay("2020-07-01")},
		contextmem.Memory{Text: "I will visit Oslo next month.", Time: servicetest.OnDay("2022-05-04")})
	const lisbon, rome, porto, oslo = "lives_in lisbon 2019-05-01.. month superseded", "visited rome 2020-06-01..2020-07-01 month past",
		"lives_in porto 2021-03-01.. month current", "visited oslo 2022-06-01..2022-07-01 month upcoming"
	now := servicetest.OnDay("2022-05-10")
	for name, x := range map[string]struct {
		query string
		in    contextmem.Temporal
		want  []string
		mode  string
	}{
		"all":                {"Lisbon Porto Rome Oslo", contextmem.Temporal{}, []string{lisbon, rome, porto, oslo}, "none"},
		"current":            {"Lisbon Porto Rome Oslo", contextmem.Temporal{Mode: "current"}, []string{porto}, "current"},
		"as of":              {"Lisbon Porto Rome Oslo", contextmem.Temporal{Mode: "as_of", End: servicetest.OnDay("2020-06-15")}, []string{lisbon, rome}, "as_of"},
		"range":              {"Lisbon Porto Rome Oslo", contextmem.Temporal{Mode: "range", Start: servicetest.OnDay("2020-01-01"), End: servicetest.OnDay("2020-12-31")}, []string{rome}, "range"},
		"upcoming":           {"Lisbon Porto Rome Oslo", contextmem.Temporal{Mode: "upcoming"}, []string{oslo}, "upcoming"},
		"phrases":            {"Lisbon Porto Rome Oslo", contextmem.Temporal{Events: []string{"ROME"}}, []string{rome}, "none"},
		"an unknown mode":    {"Lisbon Porto Rome Oslo", contextmem.Temporal{Mode: "sideways"}, []string{lisbon, rome, porto, oslo}, "none"},
		"read from question": {"What did I visit in June 2020: Rome, Oslo?", contextmem.Temporal{}, []string{rome}, "range"},
		"now, by question":   {"Where do I live now, Lisbon or Porto?", contextmem.Temporal{}, []string{porto}, "current"},
	} {
		t.Run(name, func(t *testing.T) {
			x.in.Now = now
			facts, info := c.DatedFacts(x.query, x.in)
			require.Equal(t, x.want, facts, name)
			require.Equal(t, x.mode, info.Mode, name)
			require.Equal(t, x.mode != "none", info.Applied, name)
			require.False(t, info.Truncated, name)
		})
	}
}

func TestTemporalFactsAreCapped(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	s := acme.Sub("many")
	var text strings.Builder
	for i := range 60 {
		fmt.Fprintf(&text, "I bought item A%d on %s. ", i, servicetest.OnDay("2020-01-01").AddDate(0, 0, i).Format("2 January 2006"))
	}
	servicetest.Remember(t, s, contextmem.Memory{Text: text.String(), Time: servicetest.OnDay("2021-01-01")})
	res, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "bought item", PerSource: 50, Temporal: &contextmem.Temporal{}, MaxResults: 50})
	require.NoError(t, err)
	require.Len(t, res.Temporal.Facts, 50)
	require.True(t, res.Temporal.Truncated)
}

func TestDurations(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	c := servicetest.NewStory(t, acme, contextmem.Memory{Text: "I bought the boat on 1 March 2022.", Time: servicetest.OnDay("2022-03-01")},
		contextmem.Memory{Text: "I sold the boat on 11 March 2022.", Time: servicetest.OnDay("2022-03-11")}, contextmem.Memory{Text: "I moved to Porto in 2019.", Time: servicetest.OnDay("2022-03-11")})
	now := servicetest.OnDay("2022-03-21")
	span := func(query string, in contextmem.Temporal) *contextmem.TemporalDuration {
		in.Now = now
		_, info := c.DatedFacts(query, in)
		return info.Duration
	}
	d := span("How long ago did I move to Porto?", contextmem.Temporal{})
	require.NotNil(t, d)
	require.Equal(t, "porto", d.From.Object)
	require.Nil(t, d.To, "now")
	require.Equal(t, []any{servicetest.OnDay("2019-01-01"), now, true}, []any{d.FromDate, d.ToDate, d.Approximate}, "a year is no day")
	require.Equal(t, 1175, d.Days)
	require.InDelta(t, .5, d.Confidence, .5)
	d = span("How many days passed between buying and selling the boat?", contextmem.Temporal{})
	require.NotNil(t, d)
	require.Equal(t, []any{10, false}, []any{d.Days, d.Approximate})
	require.Equal(t, []any{d.FromDate, d.ToDate}, []any{d.From.Start, d.To.Start}, "the earlier fact comes first")
	require.Nil(t, span("How long is the river?", contextmem.Temporal{}), "no word is shared")
	require.Nil(t, span("Where is the boat?", contextmem.Temporal{}), "no span is asked for")
	d = span("the boat", contextmem.Temporal{DurationToNow: true, Events: []string{"sold"}})
	require.NotNil(t, d)
	require.Equal(t, 10, d.Days)
	require.Nil(t, d.To)
}
