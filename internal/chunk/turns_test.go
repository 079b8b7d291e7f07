package chunk

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPairs(t *testing.T) {
	t.Parallel()
	text, turns := Pairs([]Pair{
		{"I moved to Lisbon.\n", " How nice!\nWhen?"},
		{"", "Are you there?"},
		{" ", ""},
		{"Yes, in May.", ""},
	}, " Ana ")
	assert.Equal(t, "user: I moved to Lisbon.\nassistant: How nice!\nWhen?\nassistant: Are you there?\nuser: Yes, in May.", text)
	var got [][2]string
	for _, turn := range turns {
		got = append(got, [2]string{turn.Role, text[turn.Start:turn.End]})
	}
	assert.Equal(t, [][2]string{
		{"Ana", "I moved to Lisbon."}, {"assistant", "How nice!\nWhen?"}, {"assistant", "Are you there?"}, {"Ana", "Yes, in May."},
	}, got)

	_, turns = Pairs([]Pair{{User: "hi"}}, "")
	assert.Equal(t, "user", turns[0].Role)
	text, turns = Pairs(nil, "Ana")
	assert.Empty(t, text)
	assert.Empty(t, turns)
}

func TestConversation(t *testing.T) {
	t.Parallel()
	answer := strings.TrimSpace(strings.Repeat("A fine answer. ", 4)) // 59 bytes
	pairs := []Pair{
		{"First question?", answer}, {"Second question?", answer}, {"Third?", answer + "\n\n# Not a section\n\n" + answer + " " + answer + " " + answer},
		{"Fourth?", answer},
	}
	src, _ := Pairs(pairs, "")
	for _, md := range []bool{true, false} {
		t.Run(fmt.Sprint(md), func(t *testing.T) {
			chunks := Split(src, md, nil, small)
			check(t, src, chunks, small)
			require.Greater(t, len(chunks), 3)
			assert.Equal(t, "user: First question?\nassistant: "+answer, chunks[0].Text)
			assert.Equal(t, "user: Second question?\nassistant: "+answer, chunks[1].Text)
			assert.True(t, strings.HasPrefix(chunks[2].Text, "user: Third?\nassistant: A fine"), "a short question stays with the answer: %q", chunks[2].Text)
			last := chunks[len(chunks)-1]
			assert.Equal(t, "user: Fourth?\nassistant: "+answer, last.Text)
			for _, c := range chunks {
				assert.Empty(t, c.Heading)
			}
		})
	}
	one := "user: " + strings.Repeat("only one message here. ", 20)
	check(t, one, Split(one, false, nil, small), small)
	two := "user: a\nuser: b\nassistant: c\n" + strings.Repeat("more text\n", 9) + "system: d"
	chunks := Split(two, false, nil, small)
	check(t, two, chunks, small)
	assert.Len(t, chunks, 1, "a question in two parts and all replies are one pair")
}
