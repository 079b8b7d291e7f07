package rules

import (
	"testing"
	"time"
)

// TestUnsaid leaves out what the speaker takes back, limits or takes up again, and keeps what only looks like it.
func TestUnsaid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, found, absent string }{
		{"I drive for the depot in Slough no sorry Staines", "", "alex/drives_for: depot"},
		{"i live in leeds no wait bradford now", "", "alex/lives_in: leeds"},
		{"my sister Karen works at the post office no the bank", "", "karen/works_at: post office"},
		{"I drive a Volvo no hang on it's a Saab now", "", "alex/drives: volvo"},
		{"My brother lives in Hull, sorry, Grimsby.", "", "alex brother/lives_in: hull"},
		{"I've got two kids no three kids", "", "alex/not_got: three kids"},
		{"I'm allergic to penicillin I mean amoxicillin", "", "alex/allergic_to: penicillin"},
		{"I'm allergic to penicillin I mean I nearly died", "alex/allergic_to: penicillin", ""},
		{"I like jazz, sorry, it is what it is", "alex/likes: jazz", ""},
		{"I have a job but no car", "alex/has: job", ""},
		{"I don't drink coffee on weekdays", "", "alex/not_drinks: coffee"},
		{"we don't use the car during the week", "", "alex/not_uses: car"},
		{"I don't drink coffee any more", "alex/-drinks: coffee", ""},
		{"I don't eat pork in any form", "alex/not_eats: pork", ""},
		{"I gave up the choir at forty and took it up again at sixty", "", "alex/-does: choir"},
		{"I gave up the choir and I'll never do it again", "alex/-does: choir", ""},
		{"I quit smoking and I feel great again", "alex/-does: smoking", ""},
		{"I quit smoking and now I smoke again", "", "alex/-does: smoking"},
		{"I'm allergic to nuts, I mean really allergic", "alex/allergic_to: nuts", ""},
		{"I'm allergic to nuts, I mean actually almonds", "", "alex/allergic_to: nuts"},
		{"I moved the office from Kano to Jos", "", "alex/moved_from: kano"},
		{"I moved from Kano to Jos", "alex/moved_from: kano", ""},
		{"We hired a new, younger cook", "", "alex/hired: new"},
		{"I started seeing someone his name is Karl", "", "alex/started: karl"},
		{"i used to be a plumber can you believe it", "", "alex/-is_a: plumber can you believe it"},
		{"I'm moving to the Dublin office in May", "", "alex/lives_in: dublin office"},
	} {
		requireBelieved(t, c.text, time.Date(2026, 9, 16, 10, 0, 0, 0, time.UTC), c.found, c.absent)
	}
}
