package recall

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestQuestionsAboutThePast(t *testing.T) {
	t.Parallel()
	for _, q := range []string{
		"where did I use to live, before I moved to Leeds?", "which doctor did I see before the one at Malago?", "what was my previous job?",
		"what did I used to drink", "wo habe ich früher gewohnt?", "где я жил раньше?", "以前どこに住んでいた？", "what pet did we have before byte and nibble?",
		"önceden nerede oturuyordum?", "Which car had we BEFORE THE Skoda?", "jaka była moja poprzednia praca?", "unused tools used to be where?", "what did we run CI on before?",
	} {
		t.Run(q, func(t *testing.T) {
			assert.True(t, asksOfPast(q), q)
		})
	}
	for _, q := range []string{
		"where do I live?", "what's on before lunch tomorrow?", "what must I do before Friday?", "who is my doctor now?", "what salary am I on before tax?",
		"wo wohne ich?", "when is standup?", "which performer is on?", "what did I say about the unused tokens?", "aboriginally speaking, which?", "did I mention this before?", "which form do I fill in before?",
	} {
		t.Run(q, func(t *testing.T) {
			assert.False(t, asksOfPast(q), q)
		})
	}
}
