package chat_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/chat"
)

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "no JSON", "[]", "null", "{}", `{"messages":"x"}`, `{"messages":[]}`, `{"messages":null}`} {
		t.Run(body, func(t *testing.T) {
			_, err := chat.Parse([]byte(body))
			require.Error(t, err, body)
		})
	}
}

func TestQuestion(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		`{"role":"user","content":" Who? "}`: "Who?",
		`{"role":"user","content":[{"type":"text","text":"Who"},{"type":"image_url","image_url":{"url":"x"}},{"type":"text","text":"is it?"},{"type":"text"},7]}`: "Who\nis it?",
		`{"role":"user","content":null}`:        "",
		`{"role":"user","content":7}`:           "",
		`{"role":"assistant","content":"Anna"}`: "",
		`{"role":"tool","content":"Anna"}`:      "",
		`7`:                                     "",
	} {
		t.Run(message, func(t *testing.T) {
			r, err := chat.Parse([]byte(`{"messages":[{"role":"user","content":"earlier"},` + message + `]}`))
			require.NoError(t, err)
			require.Equal(t, want, r.Question(), message)
		})
	}
}

func TestBody(t *testing.T) {
	t.Parallel()
	r, err := chat.Parse([]byte(`{"seed":12345678901234567890,"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Who?","name":"a"}]}`))
	require.NoError(t, err)
	for range 2 { // a body does not change the request
		require.Equal(t, `{"messages":[{"role":"system","content":"Be brief."},{"content":"It is \"Anna\".","role":"system"},{"role":"user","content":"Who?","name":"a"}],"seed":12345678901234567890}`, string(r.Body(`It is "Anna".`)))
	}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	require.Equal(t, "Anna.", chat.Answer([]byte("{\"choices\":[\n{\"message\":{\"content\":\"Anna. \"}},{\"message\":{\"content\":\"Olga.\"}}]}"), false))
	require.Equal(t, "It is Anna.", chat.Answer([]byte("data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n: ping\n\ndata:{\"choices\":[{\"delta\":{\"content\":\"It is\"}}]}\r\n\r\ndata: {\"choices\":[{\"delta\":{\"content\":\" Anna.\"}}]}\n\ndata: {\"choices\":[]}\n\ndata: [DONE]\n\n"), true))
	for _, body := range []string{"", "no JSON", `{"choices":[]}`, `{"choices":[{"message":{"content":null,"tool_calls":[{}]}}]}`, `{"choices":[{"message":{"content":"cut`} {
		t.Run(body, func(t *testing.T) {
			require.Empty(t, chat.Answer([]byte(body), false), body)
			require.Empty(t, chat.Answer([]byte("data: "+body+"\n\n"), true), body)
		})
	}
}
