package recall

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/contextmem/contextmem/internal/language"
)

func TestAskedOf(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.November, 14, 10, 0, 0, 0, time.UTC)
	month := func(m time.Month) string { return time.Date(2026, m+1, 1, 0, 0, 0, 0, time.UTC).Format(time.DateOnly) }
	for q, want := range map[string]string{
		"who looked after the ledger in August?":                   month(time.August),
		"In July, how did I get around town?":                      month(time.July),
		"What did the landlord get from me in May 2026?":           month(time.May),
		"which Postgres were we on in June?":                       month(time.June),
		"where was I living before June?":                          "2026-06-01",
		"how do I get around town?":                                "",
		"how did I get around town?":                               "", // no time
		"Did I get to Portugal in May?":                            "", // told or taken back later
		"In May, did I get to Portugal?":                           "",
		"Was I operated on in May?":                                "",
		"on what day in May does our ship leave?":                  "", // not in the past
		"what will we have paid in July?":                          "",
		"what did I plan for December?":                            "", // not over
		"what did I hand on to others since May?":                  "", // holds until now
		"how many hours were we asked to work this year?":          "",
		"¿Con qué vehículo me movía en junio?":                     "", // English only
		"which years did Marta and I live in the flat on Rua Nova": "",
	} {
		t.Run(q, func(t *testing.T) {
			c := language.SomeCues(q, now, language.CueTimes)
			got := ""
			if at := askedOf(q, &c, now); !at.IsZero() {
				got = at.UTC().Add(time.Second).Format(time.DateOnly)
			}
			assert.Equal(t, want, got)
		})
	}
}
