package rules

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/extract"
)

// TestOwnDate gives a statement the dates of its own clause only.
func TestOwnDate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, statement, from, to string
	}{
		{"i am a nurse, i qualified in 2010", "alex/has_role: nurse", "", ""},
		{"I have a Junak from 1961", "alex/has: junak", "", ""},
		{"We have goats, organic since 2012", "alex/has: goats", "", ""},
		{"I have had goats since 2012", "alex/has: goats", "2012-01-01", ""},
		{"I have worked at Siemens from 2012", "alex/works_at: siemens", "2012-01-01", ""},
		{"Tomorrow the inspector comes; I have 26 forms", "alex/has: 26 forms", "", ""},
		{"In 2015 I moved to Oslo and I have two kids", "alex/has: two kids", "", ""},
		{"In 2015 I moved to Oslo and I have two kids", "alex/lives_in: oslo", "2015-01-01", ""},
		{"I have two kids and in 2015 we moved to Oslo", "alex/has: two kids", "", ""},
		{"I have two kids and in 2015 we moved to Oslo", "alex/lives_in: oslo", "2015-01-01", ""},
		{"I was a baker until my back gave out in 2019", "alex/was: baker", "", "2020-01-01"},
		{"my thesis is due on 28 May and I've got one chapter out of five", "alex thesis/is: due on 28 may", "2026-05-28", ""},
		{"booked Kos with the girls 18-25 August", "alex/booked: kos with the girls 18-25 august", "2026-08-18", "2026-08-26"},
		{"booked Kos in February", "alex/booked: kos in february", "2026-02-01", "2026-03-01"},
		{"since 2010 i have lived in York and my brother has a boat", "alex/lives_in: york", "2010-01-01", ""},
		{"since 2010 i have lived in York and my brother has a boat", "alex brother/has: boat", "", ""},
		{"last week my sister had a baby and i have two nephews", "alex/has: two nephews", "", ""},
		{"we holiday in Crail every August", "alex/holiday_in: crail every august", "", ""},
		{"i grow leeks my best was nine pound in 1983", "alex/grows: leeks", "", ""},
		{"I am writing a history of the regiment, 1939 to 1945", "alex/writes: history of the regiment", "", ""},
		{"I don't do on-call in August, it's agreed with Pieter", "alex/not_do: on-call in august", "2026-08-01", ""},
		{"I have the dentist Wednesday", "alex/has: dentist", "2026-03-11", ""},
		{"I play football on Wednesday with the cooks", "alex/plays: football", "", ""},
		{"I played football on Wednesday with the cooks", "alex/played: football", "2026-03-04", "2026-03-05"},
	} {
		out, err := New().Extract(t.Context(), []extract.Input{{Text: c.text, Time: time.Date(2026, 3, 10, 10, 0, 0, 0, time.UTC), Speaker: "Alex", Memory: true, Infer: true}})
		require.NoError(t, err)
		day := func(at time.Time) string {
			if at.IsZero() {
				return ""
			}
			return at.Format(time.DateOnly)
		}
		found := false
		for _, f := range out[0].Facts {
			if believedFact(&f).String() == c.statement {
				found = true
				assert.Equal(t, c.from, day(f.ValidFrom), c.text)
				assert.Equal(t, c.to, day(f.ValidTo), c.text)
			}
		}
		for _, r := range out[0].Relations {
			if r.Source+"/"+r.Predicate+": "+r.Target == c.statement {
				found = true
				assert.Equal(t, c.from, day(r.ValidFrom), c.text)
				assert.Equal(t, c.to, day(r.ValidTo), c.text)
			}
		}
		assert.True(t, found, "%s: %v", c.text, out[0].Facts)
	}
}

// TestModelYear takes the year of a thing for no date of what is said of it.
func TestModelYear(t *testing.T) {
	t.Parallel()
	for text, dated := range map[string]bool{"I run a 2019 Peterbilt": false, "I drive my 2008 Corolla": false, "I bought a Corolla in 2008": true} {
		out := one(t, extract.Input{Text: text, Time: ref, Speaker: "Alex", Memory: true, Infer: true})
		require.NotEmpty(t, out.Facts, text)
		assert.Equal(t, dated, !out.Facts[0].ValidFrom.IsZero(), text)
	}
}
