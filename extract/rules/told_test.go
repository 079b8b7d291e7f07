package rules

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/contextmem/contextmem/extract"
)

// TestSubjectsAndAges measures what is read of Korean, of ages, of verbs that do not tell the person, of subjects with "too", and of what is taken back.
func TestSubjectsAndAges(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]struct{ precision, recall float64 }{"ages.txt": {.97, .95}, "russianpast.txt": {.93, .9}, "japanesetoo.txt": {.95, .95}, "takenback.txt": {.85, .85}, "korean.txt": {.97, .9}} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			var all score
			for _, l := range readLabelled(t, "testdata/"+file) {
				out := one(t, extract.Input{Text: l.text, Time: ref, Speaker: "Alex", Memory: true, Infer: true})
				all.add(t, "statement", &l, append(factsBelieved(&out), relationsBelieved(&out)...))
			}
			t.Logf("precision %.3f (%d of %d), found %.3f (%d of %d)", all.precision(), all.right, all.right+all.wrong, all.recall(), all.found, all.wanted)
			assert.GreaterOrEqual(t, all.precision(), want.precision)
			assert.GreaterOrEqual(t, all.recall(), want.recall)
		})
	}
}

// TestMovedLastYear gives a move on a day that lies ahead this year the day of last year.
func TestMovedLastYear(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"Ich bin am 3. Oktober nach Kiel gezogen", "Me mudé a Lugo el 3 de octubre", "Je me suis installé à Lille le 3 octobre"} {
		out := one(t, extract.Input{Text: text, Time: time.Date(2026, 9, 16, 10, 0, 0, 0, time.UTC), Speaker: "Alex", Memory: true, Infer: true})
		if assert.Len(t, out.Facts, 1, text) {
			assert.Equal(t, "2025-10-03", out.Facts[0].ValidFrom.Format(time.DateOnly), text)
		}
	}
}
