package transcribe

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/document"
)

// server answers transcription requests and records them.
func server(t *testing.T, answers ...func(w http.ResponseWriter)) (*Client, *[]map[string]string) {
	t.Helper()
	var asked []map[string]string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := map[string]string{"path": r.URL.Path, "authorization": r.Header.Get("Authorization")}
		if assert.NoError(t, r.ParseMultipartForm(1<<20)) {
			for k, v := range r.MultipartForm.Value {
				got[k] = v[0]
			}
			for _, h := range r.MultipartForm.File["file"] {
				f, err := h.Open()
				if assert.NoError(t, err) {
					b, _ := io.ReadAll(f)
					got["file"] = h.Filename + " " + h.Header.Get("Content-Type") + " " + string(b)
				}
			}
		}
		asked = append(asked, got)
		answers[min(len(asked), len(answers))-1](w)
	}))
	t.Cleanup(s.Close)
	c, err := New(Config{BaseURL: s.URL + "/v1", APIKey: "secret", Language: "en", Model: "base.en"})
	require.NoError(t, err)
	c.http.FirstPause = time.Millisecond
	return c, &asked
}

func says(body string) func(w http.ResponseWriter) {
	return func(w http.ResponseWriter) { _, _ = io.WriteString(w, body) }
}

func TestTranscribe(t *testing.T) {
	t.Parallel()
	c, asked := server(t, func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) },
		says(`{"text":"Rake it. Sow it.","segments":[{"start":0,"end":2.5,"text":" Rake it."},{"start":2.5,"end":4,"text":" Sow it.","speaker":"Ann"},{"start":4,"end":5,"text":" "}]}`))
	said, err := c.Transcribe(t.Context(), []byte("ID3sound"), "audio/mpeg")
	require.NoError(t, err)
	assert.Equal(t, []document.Utterance{{End: 2500 * time.Millisecond, Text: "Rake it."}, {Start: 2500 * time.Millisecond, End: 4 * time.Second, Speaker: "Ann", Text: "Sow it."}}, said)
	require.Len(t, *asked, 2, "a failure that may pass is tried again")
	assert.Equal(t, map[string]string{"path": "/v1/audio/transcriptions", "authorization": "Bearer secret", "model": "base.en", "language": "en",
		"response_format": "verbose_json", "timestamp_granularities[]": "segment", "file": "recording.mp3 audio/mpeg ID3sound"}, (*asked)[1])
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer string
		want   int // utterances; negative: an error
	}{
		"text alone":      {`{"text":"Rake it."}`, 1},
		"silence":         {`{"text":"","segments":[]}`, 0},
		"no JSON":         {`Rake it.`, -1},
		"something else":  {`{"error":"x"}`, -1},
		"before the time": {`{"text":"x","segments":[{"start":-1,"text":"x"}]}`, -1},
		"beyond the time": {`{"text":"x","segments":[{"start":1e300,"text":"x"}]}`, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cl, _ := server(t, says(c.answer))
			said, err := cl.Transcribe(t.Context(), []byte("x"), "audio/wav")
			if c.want < 0 {
				require.Error(t, err)
				assert.NotContains(t, err.Error(), "secret")
				return
			}
			require.NoError(t, err)
			assert.Len(t, said, c.want)
		})
	}
	cl, asked := server(t, says(`{}`))
	_, err := cl.Transcribe(t.Context(), nil, "audio/midi")
	require.Error(t, err)
	assert.Empty(t, *asked)
}

func TestConfig(t *testing.T) {
	t.Parallel()
	_, err := New(Config{BaseURL: "localhost", Language: "English"})
	require.Error(t, err)
	assert.Contains(t, err.Error(), "base URL")
	assert.Contains(t, err.Error(), "language")
	_, err = New(Config{})
	require.NoError(t, err)
}
