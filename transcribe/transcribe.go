// Package transcribe converts recorded speech to text with any server that implements OpenAI's transcription API
// (POST /audio/transcriptions): OpenAI itself, whisper.cpp, faster-whisper, LocalAI, vLLM and others.
//
// Transient failures are retried with growing, jittered pauses. Answers are validated before use. Errors never contain the key
// or any text.
package transcribe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"time"

	"github.com/hashicorp/go-multierror"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/faults"
	"github.com/contextmem/contextmem/internal/modelhttp"
)

// Defaults of [Config].
const (
	DefaultBaseURL    = "https://api.openai.com/v1"
	DefaultModel      = "whisper-1"
	DefaultTimeout    = 10 * time.Minute
	DefaultMaxRetries = 2
)

const (
	// maxAnswer bounds an answer, in bytes. A day of speech has about one million.
	maxAnswer = 32 << 20
	// longestRecording bounds the times in an answer.
	longestRecording = 1000 * time.Hour
)

// Config configures the server connection. A zero field has the default of the same name.
type Config struct {
	// BaseURL is the URL to which /audio/transcriptions is appended, such as http://localhost:8080/v1.
	BaseURL string
	// Model is the name of the model on the server.
	Model string
	// APIKey is sent as a bearer token. Empty: none is sent.
	APIKey string
	// Language is the language of the recordings as an ISO 639-1 code. Empty: the server detects it.
	Language string
	// HTTPClient sends the requests. nil: a client that follows no redirects, so that no other server receives the key.
	HTTPClient *http.Client
	// Timeout bounds one request. Negative: only the context does.
	Timeout time.Duration
	// MaxRetries is the number of retries of a failed request. Negative: none.
	MaxRetries int
}

// Client is a [document.Transcriber]. It is safe for concurrent use and needs no closing.
type Client struct {
	http            modelhttp.Client
	model, language string
}

var _ document.Transcriber = (*Client)(nil)

// New returns a client. The error lists all faults of c.
func New(c Config) (*Client, error) {
	if c.BaseURL == "" {
		c.BaseURL = DefaultBaseURL
	}
	if c.Model == "" {
		c.Model = DefaultModel
	}
	t := &Client{model: c.Model, language: c.Language, http: modelhttp.Client{Name: "transcribe", APIKey: c.APIKey, HTTP: c.HTTPClient, Timeout: c.Timeout,
		MaxRetries: c.MaxRetries, FirstPause: time.Second, MaxPause: 30 * time.Second, MaxRetryAfter: time.Minute}}
	var wrong *multierror.Error
	wrong = multierror.Append(wrong, t.http.Complete(c.BaseURL, "/audio/transcriptions", DefaultTimeout, DefaultMaxRetries)...)
	if l := c.Language; l != "" && (len(l) < 2 || len(l) > 3 || strings.Trim(l, "abcdefghijklmnopqrstuvwxyz") != "") {
		wrong = multierror.Append(wrong, errors.New("transcribe: language is no ISO 639 code"))
	}
	return t, faults.Joined(wrong)
}

// endings maps media types to file name endings. Servers detect the format by the name's ending.
var endings = map[string]string{"audio/mpeg": "mp3", "audio/wav": "wav", "audio/x-wav": "wav", "audio/flac": "flac", "audio/ogg": "ogg", "audio/mp4": "m4a",
	"audio/x-m4a": "m4a", "audio/webm": "webm", "video/mp4": "mp4", "video/webm": "webm", "video/x-matroska": "webm", "video/mpeg": "mpeg", "audio/aac": "aac"}

// Transcribe returns the speech in a recording as text.
func (t *Client) Transcribe(ctx context.Context, data []byte, mediaType string) ([]document.Utterance, error) {
	ending := endings[mediaType]
	if ending == "" {
		return nil, fmt.Errorf("transcribe: no server reads %s", mediaType)
	}
	body, contentType, err := t.form(data, mediaType, "recording."+ending)
	if err != nil {
		return nil, errors.New("transcribe: cannot write the request")
	}
	var out []document.Utterance
	err = t.http.PostBody(ctx, contentType, body, maxAnswer, func(answer []byte) (err error) {
		out, err = t.decode(answer)
		return err
	})
	return out, err
}

func (t *Client) form(data []byte, mediaType, name string) ([]byte, string, error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	fields := [][2]string{{"model", t.model}, {"response_format", "verbose_json"}, {"timestamp_granularities[]", "segment"}}
	if t.language != "" {
		fields = append(fields, [2]string{"language", t.language})
	}
	for _, f := range fields {
		if err := w.WriteField(f[0], f[1]); err != nil {
			return nil, "", err
		}
	}
	part, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {`form-data; name="file"; filename="` + name + `"`}, "Content-Type": {mediaType}})
	if err != nil {
		return nil, "", err
	}
	if _, err := part.Write(data); err != nil {
		return nil, "", err
	}
	if err := w.Close(); err != nil {
		return nil, "", err
	}
	return b.Bytes(), w.FormDataContentType(), nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// decode returns the segments of an answer, or its text if there are none.
func (t *Client) decode(data []byte) ([]document.Utterance, error) {
	var answer struct {
		Text     *string `json:"text"`
		Segments []struct {
			Start   float64 `json:"start"`
			End     float64 `json:"end"`
			Text    string  `json:"text"`
			Speaker string  `json:"speaker"`
		} `json:"segments"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, t.http.Malformed(err, len(data))
	}
	if answer.Text == nil && answer.Segments == nil {
		return nil, t.http.Bad("it has neither text nor segments")
	}
	var out []document.Utterance
	for _, s := range answer.Segments {
		if text := strings.TrimSpace(s.Text); text != "" {
			if s.Start < 0 || s.Start > longestRecording.Seconds() || s.End > longestRecording.Seconds() {
				return nil, t.http.Bad("a segment is at no time of a recording")
			}
			out = append(out, document.Utterance{Start: seconds(s.Start), End: seconds(s.End), Speaker: strings.TrimSpace(s.Speaker), Text: text})
		}
	}
	if len(out) == 0 && answer.Text != nil && strings.TrimSpace(*answer.Text) != "" {
		out = []document.Utterance{{Text: strings.TrimSpace(*answer.Text)}}
	}
	return out, nil
}
