// Package openaiproxy gives any client of the OpenAI chat API a memory: a [Proxy] stands in front of a base URL, puts what it
// recalls into a request, and remembers the exchange when the answer has passed. Everything else, streams too, goes through
// untouched.
package openaiproxy

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"github.com/contextmem/contextmem"
)

// Proxy is an http.Handler. All fields but Upstream and Memories have defaults.
type Proxy struct {
	Upstream *url.URL // base URL in front of /chat/completions, such as https://api.openai.com/v1, for requests below /v1
	// Memories returns the partition of a request, by its key or a header; nil, nil: none, the request goes through as it is.
	Memories  func(r *http.Request) (contextmem.Memories, error)
	Max       int               // passages that are put into a request; default 6
	Transport http.RoundTripper // default http.DefaultTransport
	Logger    *slog.Logger      // told of failures of the memory, never of content; a request goes on without it. Default silent
}

const (
	maxRequest = 32 << 20 // larger requests go through without a memory
	maxAnswer  = 4 << 20  // of an answer that is remembered
	patience   = 30 * time.Second
)

const preface = "From your long-term memory; it may be incomplete or out of date. Use it where it helps:\n"

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var heard *answer
	if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/chat/completions") {
		heard = p.prepare(r)
	}
	rp := &httputil.ReverseProxy{Transport: p.Transport, FlushInterval: -1, Rewrite: func(pr *httputil.ProxyRequest) {
		pr.Out.URL.Path, pr.Out.URL.RawPath = strings.TrimPrefix(pr.In.URL.Path, "/v1"), ""
		pr.SetURL(p.Upstream)
		if heard != nil {
			pr.Out.Header.Del("Accept-Encoding") // the transport asks for gzip itself and gives plain text
		}
	}, ModifyResponse: func(res *http.Response) error {
		if heard != nil && res.StatusCode == http.StatusOK {
			heard.stream = strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream")
			res.Body = &tee{res.Body, heard}
		}
		return nil
	}}
	rp.ServeHTTP(w, r)
	if heard != nil {
		p.remember(r.Context(), heard)
	}
}

// answer is an exchange, as far as it has passed.
type answer struct {
	to       contextmem.Memories
	question string
	stream   bool
	whole    bool // the answer was read to its end
	body     bytes.Buffer
}

// tee copies an answer while it passes.
type tee struct {
	io.ReadCloser
	to *answer
}

// Read implements io.Reader.
func (t *tee) Read(b []byte) (int, error) {
	n, err := t.ReadCloser.Read(b)
	if t.to.body.Len() <= maxAnswer {
		t.to.body.Write(b[:n])
	}
	t.to.whole = t.to.whole || err == io.EOF
	return n, err
}

func (p *Proxy) fail(what string, err error) {
	if p.Logger != nil {
		p.Logger.Warn("openaiproxy: "+what, "err", err)
	}
}

// prepare puts what memory holds into the request. nil: it goes through as it is.
func (p *Proxy) prepare(r *http.Request) *answer {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest+1))
	rest := r.Body
	set := func(b []byte) {
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(b), rest), rest}
	}
	set(body)
	if err != nil || len(body) > maxRequest {
		return nil
	}
	var req map[string]json.RawMessage
	var messages []json.RawMessage
	if json.Unmarshal(body, &req) != nil || json.Unmarshal(req["messages"], &messages) != nil {
		return nil
	}
	question := lastQuestion(messages)
	m, err := p.Memories(r)
	if err != nil || m == nil || question == "" {
		if err != nil {
			p.fail("no partition", err)
		}
		return nil
	}
	heard := &answer{to: m, question: question}
	q := []rune(question)
	res, err := m.Recall(r.Context(), contextmem.Recall{Query: string(q[:min(len(q), 8000)]), Class: contextmem.ClassAll, MaxResults: cmp.Or(max(p.Max, 0), 6)})
	if err != nil {
		p.fail("recall", err)
		return heard
	}
	if len(res.Chunks) == 0 {
		return heard
	}
	var text strings.Builder
	text.WriteString(preface)
	for _, c := range res.Chunks {
		text.WriteString("- " + strings.Join(strings.Fields(c.Text), " ") + "\n")
	}
	system, _ := json.Marshal(map[string]string{"role": "system", "content": text.String()})                                 // texts have a JSON form
	req["messages"], _ = json.Marshal(append(messages[:len(messages)-1:len(messages)-1], system, messages[len(messages)-1])) // so have these
	b, _ := json.Marshal(req)
	set(b)
	r.ContentLength = int64(len(b))
	r.Header.Del("Content-Length")
	return heard
}

// lastQuestion is the text of the last message when a user wrote it.
func lastQuestion(messages []json.RawMessage) string {
	var m struct {
		Role    string
		Content json.RawMessage
	}
	if len(messages) == 0 || json.Unmarshal(messages[len(messages)-1], &m) != nil || m.Role != "user" {
		return ""
	}
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return strings.TrimSpace(text)
	}
	var parts []struct{ Type, Text string }
	_ = json.Unmarshal(m.Content, &parts) // content of another form has no text
	for _, x := range parts {
		if x.Type == "text" {
			text += x.Text + "\n"
		}
	}
	return strings.TrimSpace(text)
}

// said is the assistant's text in an answer, "" when it was cut off or is a call of a tool.
func (a *answer) said() string {
	if !a.whole || a.body.Len() > maxAnswer {
		return ""
	}
	type choices struct {
		Choices []struct{ Message, Delta struct{ Content string } }
	}
	var c choices
	if !a.stream {
		if json.Unmarshal(a.body.Bytes(), &c) != nil || len(c.Choices) == 0 {
			return ""
		}
		return c.Choices[0].Message.Content
	}
	var b strings.Builder
	for line := range strings.Lines(a.body.String()) {
		c = choices{}
		if data, ok := strings.CutPrefix(line, "data:"); ok && json.Unmarshal([]byte(data), &c) == nil && len(c.Choices) > 0 {
			b.WriteString(c.Choices[0].Delta.Content)
		}
	}
	return b.String()
}

// remember keeps the exchange. The same one again is the same memory.
func (p *Proxy) remember(ctx context.Context, a *answer) {
	said := strings.TrimSpace(a.said())
	if said == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	id := sha256.Sum256([]byte(a.question + "\x00" + said))
	_, err := a.to.AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "chat-" + hex.EncodeToString(id[:16]), Time: time.Now(), Pairs: []contextmem.Pair{{User: a.question, Assistant: said}}}}})
	if err != nil {
		p.fail("remember", err)
	}
}
