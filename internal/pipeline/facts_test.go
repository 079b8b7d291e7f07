package pipeline

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestPersons(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]bool{
		"Ann: I went to the fair.":         {true, false},
		"Ours is the red one":              {true, false},
		"We're late":                       {true, false},
		"They moved to the US in May":      {false, false},
		"she told us":                      {true, false},
		"You'd like my garden":             {true, true},
		"Is this YOURS?":                   {false, true},
		"Youth, myth, ibis and wet meadow": {false, false},
		"名前は何ですか":                          {false, false},
		"":                                 {false, false},
	} {
		t.Run(text, func(t *testing.T) {
			first, second := grammaticalPersons(text)
			assert.Equal(t, want, [2]bool{first, second}, text)
		})
	}
}

func TestHasTime(t *testing.T) {
	t.Parallel()
	at := time.Date(2023, 5, 8, 13, 56, 0, 0, time.UTC)
	for text, want := range map[string][2]bool{ // results with and without the memory's time
		"I saw it last Friday":       {true, true},
		"We met in 2019":             {true, true},
		"We left on 3 June":          {true, true},
		"Call me before you come":    {false, true},
		"It was a beautiful evening": {false, true},
		"I like tea":                 {false, false},
	} {
		t.Run(text, func(t *testing.T) {
			assert.Equal(t, want, [2]bool{hasTime(text, at), hasTime(text, time.Time{})}, text)
		})
	}
}
