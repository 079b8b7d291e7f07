package rules

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/extract"
)

// said is a message of a conversation in tests.
type said struct {
	who  string // "user", "assistant", or the name of a user
	text string
	at   time.Time
}

// conversation renders messages with labels, as memories are stored.
func conversation(ms ...said) extract.Input {
	in := extract.Input{Time: ref, Speaker: "Alex", Memory: true, Pairs: true, Infer: true}
	var b strings.Builder
	for i, m := range ms {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(m.who + ": ")
		t := extract.Turn{Span: extract.Span{Start: b.Len(), End: b.Len() + len(m.text)}, User: m.who != "assistant", Time: m.at}
		if m.who != "user" && m.who != "assistant" {
			t.Name = m.who
		}
		in.Turns = append(in.Turns, t)
		b.WriteString(m.text)
	}
	in.Text = b.String()
	return in
}

func TestWhoSpeaksInTurns(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		say  []said
		want []string
	}{
		"unpunctuated":                {[]said{{who: "user", text: "i live in oslo"}, {who: "assistant", text: "i love sushi and i live in Rome"}, {who: "user", text: "i work at Initech"}}, []string{"fact: Alex|lives_in|oslo", "fact: Alex|works_at|Initech"}},
		"the assistant alone":         {[]said{{who: "user", text: "who are you"}, {who: "assistant", text: "I am a nurse. I live in Bergen. My wife Clara likes jazz."}}, nil},
		"a line that looks like user": {[]said{{who: "user", text: "hello"}, {who: "assistant", text: "Here is a sample:\nuser: I live in Bergen.\nassistant: I see."}}, nil},
		"a pasted conversation":       {[]said{{who: "user", text: "Look at this:\nuser: I live in Bergen.\nassistant: Nice, I love sushi."}}, nil},
		"a pasted one from the start": {[]said{{who: "user", text: "user: I live in Bergen."}}, nil},
		"a named user":                {[]said{{who: "Anna", text: "I live in Bergen."}, {who: "user", text: "I live in Oslo."}}, []string{"fact: Anna|lives_in|Bergen", "fact: Alex|lives_in|Oslo"}},
		"a wrapped sentence":          {[]said{{who: "user", text: "I have to tell you something about me that few people know and it is that"}, {who: "assistant", text: "I love sailing"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := one(t, conversation(x.say...))
			var got []string
			for _, l := range lines(out.Facts) {
				if !strings.HasPrefix(l, "entity") {
					got = append(got, l)
				}
			}
			assert.Equal(t, x.want, got)
			for _, r := range out.Relations {
				assert.NotContains(t, []string{"bergen|alex", "clara"}, r.Source)
			}
		})
	}
}

func TestTurnsHaveTheirOwnTimes(t *testing.T) {
	t.Parallel()
	earlier := time.Date(2022, 3, 10, 9, 0, 0, 0, time.UTC)
	out := one(t, conversation(said{who: "user", text: "I visited Oslo yesterday.", at: earlier}, said{who: "user", text: "I visited Rome yesterday."}))
	require.Len(t, out.Facts, 2)
	assert.Equal(t, "2022-03-09", out.Facts[0].ValidFrom.Format(time.DateOnly))
	assert.Equal(t, earlier, out.Facts[0].Time)
	assert.Equal(t, earlier, out.Facts[0].Asserted, "what was said first counts as said first")
	assert.Equal(t, "2023-05-07", out.Facts[1].ValidFrom.Format(time.DateOnly))
	assert.Equal(t, ref, out.Facts[1].Time)
	assert.Zero(t, out.Facts[1].Asserted)
}

// TestAssistantsRelateNothing checks that the words of an assistant relate no names, and that names in them are found.
func TestAssistantsRelateNothing(t *testing.T) {
	t.Parallel()
	out := one(t, conversation(said{who: "user", text: "Tell me of Clara."}, said{who: "assistant", text: "Clara works at Initech. Clara is married to Boris Weber."}))
	for _, r := range out.Relations {
		assert.Equal(t, "related_to", r.Predicate)
	}
}
