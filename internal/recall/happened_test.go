package recall

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/contextmem/contextmem/backend"
)

func TestQuestionsForWhatHappened(t *testing.T) {
	t.Parallel()
	for _, q := range []string{
		"how old was I when I stopped eating meat?", "What did I pay for the bicycle?", "Who did my daughter marry?", "which bone did I break, and on what side?",
		"When did we hand in our notice?", "where were the keys", "What colour was the bicycle that got stolen?",
	} {
		assert.True(t, asksWhatHappened(q), q)
	}
	for _, q := range []string{
		"where do I live?", "What's the name of the school I went to?", "Did I get my driving licence?", "so was the appointment kept?", "Which town did we end up in?",
		"How many cores did I actually send?", "When was the hearing in Paris?", "How was the book fair for me?", "which insurance have I had since I moved?", "what must I do", "on which day was the wedding?",
	} {
		assert.False(t, asksWhatHappened(q), q)
	}
}

// TestHintsOfWhatHappened checks that an uncertain hint counts unless the question asks what happened, and a certain one always.
func TestHintsOfWhatHappened(t *testing.T) {
	t.Parallel()
	told := func(num int64, day int) *weighed {
		src := &backend.Source{Num: num, Time: time.Date(2024, 1, day, 0, 0, 0, 0, time.UTC), Part: backend.Partition{Class: backend.Memory}}
		return &weighed{Hit: &Hit{Row: &backend.Hydrated{Src: src}}, own: true}
	}
	for _, happened := range []bool{false, true} {
		s := &succession{run: &run{Request: &Request{}}, happened: happened}
		assert.Equal(t, !happened, s.counts(&backend.Succession{Earlier: 1, Later: 2, Confidence: .3}, told(1, 1), told(2, 5)))
		assert.True(t, s.counts(&backend.Succession{Earlier: 1, Later: 2, Confidence: .9}, told(1, 1), told(2, 5)))
	}
}
