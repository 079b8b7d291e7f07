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
		{"my brother's a pilot with Lufthansa or was until the spring now he drives a tram", "alex brother/is: pilot with lufthansa", "alex brother/is: pilot with lufthansa or was"},
		{"my dog is a lab cross hes deaf", "alex dog/is: lab cross", ""},
		{"my car is a 2012 polo needs a clutch", "alex car/is: 2012 polo", ""},
		{"I like the ferry more than I like most people.", "alex/likes: ferry", "alex/likes: people"},
		{"my sister is moving to Wales in the spring", "", "alex sister/lives_in: wales"},
		{"My sister moved to Wales in the spring.", "alex sister/lives_in: wales", ""},
		{"I think I have ADHD", "", "alex/has: adhd"},
		{"I think I like jazz", "alex/likes: jazz", ""},
		{"I guess I like jazz", "", "alex/likes: jazz"},
		{"I had the same on mine, it was a wet terminal.", "", "alex/had: same on mine"},
		{"I hope this finds you well.", "", "alex/hopes: finds"},
		{"i maintain the parser and Kofi does the frontend, docs are orphaned", "alex/maintain: parser", ""},
		{"I have given up the Thursday club, since Mavis took the chair.", "", "alex/-does: the"},
	} {
		out, err := New().Extract(t.Context(), []extract.Input{{Text: c.text, Time: ref, Speaker: "Alex", Memory: true, Infer: true}})
		require.NoError(t, err)
		var got []string
		for _, b := range slices.Concat(factsBelieved(&out[0]), relationsBelieved(&out[0])) {
			got = append(got, b.String())
		}
		if c.found != "" {
			assert.Contains(t, got, c.found, c.text)
		}
		if c.absent != "" {
			assert.NotContains(t, got, c.absent, c.text)
		}
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
