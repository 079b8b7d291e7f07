package language

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAsksWhatHappened(t *testing.T) {
	t.Parallel()
	for q, want := range map[string]bool{
		"When did the parcel arrive?":                  true,
		"Has the new boiler been put in?":              true,
		"Where were we on New Year's Eve?":             true,
		"When did she plan to open the shop?":          false,
		"What would she have done if it had rained?":   false,
		"Under which condition was the loan granted?":  false,
		"What did the doctor say?":                     false,
		"Where do I live?":                             false,
		"DID it rain":                                  true,
		"didn't it rain":                               false,
		"didn’t it rain":                               false,
		"Did the word ’would’ stand there?":            true,
		"Did the word –would– stand there?":            false,
		"where was the considerationsandmore":          true,
		"was it intentions":                            false,
		"was it the intentionsx":                       true,
		"Wann kam das Paket?":                          false,
		"":                                             false,
		"When will the shop open?":                     false,
		"What had to be the case, if he was to agree?": false,
	} {
		t.Run(q, func(t *testing.T) { assert.Equal(t, want, AsksWhatHappened(q)) })
	}
}

func TestConditional(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"Mia: In March, if the teacher thinks that I'm ready by then.":    1,
		"If the landlord agrees I'd get a greyhound.":                     1,
		"They'd permit it if the fire brigade has no objection.":          1,
		"I hope to start in April, provided that they find a second oven": 1,
		"We leave on Monday unless it snows.":                             1,
		"If I remember right, we moved in May.":                           0,
		"She asked if I moved.":                                           0,
		"I wonder if they came.":                                          0,
		"He provided the food.":                                           0,
		"We moved in May.":                                                0,
		"It looks as if it was painted.":                                  0,
		"":                                                                0,
		"We sold the old car. If it rains, take the tram.":                .5,
	} {
		t.Run(text, func(t *testing.T) { assert.InDelta(t, want, Conditional(text), .15) })
	}
}

func TestNamesCondition(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": false, "if": true, "If so": true, "so if, then": true, "unless it rains": true, "Unless": true, "provided (that)": true,
		"gift": false, "iffy": false, "half of it": false, "cliff": false, "f": false, "_if": false, "if_": false, "unlessen": false, "reprovided": false,
		"a cliff, if you like": true, "of if": true,
	} {
		assert.Equal(t, want, NamesCondition(text), text)
	}
}
