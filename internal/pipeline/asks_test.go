package pipeline

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAsks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"What pets do you have?":                        true,
		"Ann: Nice! What pets do you have?":             true,
		"Ann Lee: How are you? [a photo of two dogs]":   true,
		"I bought a red car last week. And you?":        false,
		"I moved. Did you know?":                        true, // three of five words
		"No question at all.":                           false,
		"See https://example.org/find?q=1 for the list": false,
		"???":          false,
		"":             false,
		"你叫什么名字？":      true,
		"我昨天买了一辆车。你呢？": false,
		"متى وصلت؟":    true,
	} {
		t.Run(text, func(t *testing.T) {
			assert.Equal(t, want, mostlyQuestions(text), text)
		})
	}
}
