package block

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestTokens(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 0, "tea": 1, "coffee": 2, "I like tea.": 4, "2024": 2, "东京都": 3, "größe": 3, "a\nb": 3, "  ": 0} {
		t.Run(text, func(t *testing.T) {
			assert.Equal(t, want, Tokens(text), text)
		})
	}
}

func TestBlock(t *testing.T) {
	t.Parallel()
	day := time.Date(2024, 3, 2, 9, 0, 0, 0, time.UTC)
	entries := []Entry{{Source: "a", Time: day, Title: "Chess", Text: "Dora plays chess.\n"}, {Source: "b", Text: strings.Repeat("word ", 200)}, {Source: "c", Text: "Gerd sails.", Superseded: "superseded by a"}, {Source: "d", Text: strings.Repeat("long ", 300)}}
	b := Build([]string{"Always answer in French."}, entries, 80)
	assert.True(t, strings.HasPrefix(b.Text, "Always answer in French.\n[1] 2024-03-02 Chess\nDora plays chess.\n[2]\nword word"), b.Text)
	assert.Contains(t, b.Text, "word…\n")
	assert.Equal(t, Tokens(b.Text), b.Tokens)
	assert.LessOrEqual(t, b.Tokens, 80)
	assert.Equal(t, []string{"a", "b"}, b.Sources)
	assert.Equal(t, []string{"c", "d"}, []string{b.Dropped[0].SourceID, b.Dropped[1].SourceID})
	b = Build(nil, entries, 40)
	assert.Equal(t, []string{"a", "c"}, b.Sources, "what fits still comes in")
	assert.Contains(t, b.Text, "[2] (superseded by a)\nGerd sails.")
	assert.Empty(t, Build(nil, entries, 0).Text)
	assert.Len(t, Build(nil, entries, 0).Dropped, 4)
	for most := range 120 {
		assert.LessOrEqual(t, Build([]string{"Lead."}, []Entry{{Text: "东京都に住んでいます。とても良い所です。"}, {Text: strings.Repeat("größe ", 90)}}, most).Tokens, most)
	}
}
