package recall

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLogRepeats checks which replies are likely to answer what the message before them answers.
func TestLogRepeats(t *testing.T) {
	t.Parallel()
	const message = "Ann: The choir moves to Mondays from next week, 7 pm."
	told := math.Exp(logRepeats(message, "Assistant: Choir on Mondays at 7 from next week."))
	require.Greater(t, told, .7, "it repeats what was told")
	require.Greater(t, math.Exp(logRepeats("安：合唱团改到星期一了", "助手：好的，合唱团星期一。")), math.Exp(logRepeats("安：合唱团改到星期一了", "助手：你喜欢唱什么歌？")))
	for _, reply := range []string{"Assistant: What silenced you?", "Assistant: Poor Ife!", "Assistant: هل أنت بخير؟"} {
		got := logRepeats(message, reply)
		require.Less(t, got, -answerLess, "%q says nothing of it", reply)
		require.Less(t, math.Exp(got), told/2)
	}
	require.Less(t, logRepeats(message, "Assistant: Choir on Mondays. Who conducts?"), logRepeats(message, "Assistant: Choir on Mondays."), "it asks in part")
	require.Less(t, logRepeats(message, ""), -answerLess)
}

// TestAsking checks the share of a text that asks.
func TestAsking(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"": 0, "Fine.": 0, "Who?": 1, "No. Who?": 5. / 8, "Who? No.": 4. / 8, "对。谁？": .5} {
		require.InDelta(t, want, asking(text), .01, text)
	}
}

// TestEmptyAnswer checks that an answer which repeats nothing falls behind a message that its own message stood before, and that one which repeats all follows its message.
func TestEmptyAnswer(t *testing.T) {
	t.Parallel()
	for _, repeats := range []float64{-.1, -2.5} {
		hit := func(score float64) weighed { return weighed{Hit: &Hit{Score: score}} }
		all := []weighed{hit(1), hit(.55), hit(.5)}
		all[0].answer, all[1].repeats = &all[1], repeats
		s := &succession{run: &run{Request: &Request{}}}
		require.True(t, s.value(nil, all, 1, func(h *Hit) float64 { return h.Score }))
		require.Equal(t, repeats > -1, all[1].value > all[2].value, "%v", repeats)
	}
}
