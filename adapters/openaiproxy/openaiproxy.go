// Package openaiproxy gives memory to any client of the OpenAI chat API. A [Proxy] forwards requests to an upstream base URL. It
// adds recalled passages to a chat request, and stores the exchange when the answer is complete. It forwards everything else
// unchanged, streams included.
package openaiproxy

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/chat"
)

// Proxy is an http.Handler. All fields but Upstream and Memories have defaults.
type Proxy struct {
	Upstream *url.URL // base URL of /chat/completions, such as https://api.openai.com/v1, for requests below /v1
	// Memories returns the partition of a request, by its key or a header. If it returns nil, nil, the request is forwarded unchanged.
	Memories  func(r *http.Request) (contextmem.Memories, error)
	Max       int               // maximum passages added to a request; default 6
	Transport http.RoundTripper // default http.DefaultTransport
	Logger    *slog.Logger      // logs failures of the memory, never content; the request is forwarded without memory. Default: no logging
}

const (
	maxRequest = 32 << 20 // larger requests are forwarded without memory
	maxAnswer  = 4 << 20  // maximum bytes of an answer that is stored
	patience   = 30 * time.Second
)

const preface = "From your long-term memory; it may be incomplete or out of date. Use it where it helps:\n"

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rp := &httputil.ReverseProxy{Transport: p.Transport, FlushInterval: -1, Rewrite: func(pr *httputil.ProxyRequest) {
		pr.Out.URL.Path, pr.Out.URL.RawPath = strings.TrimPrefix(pr.In.URL.Path, "/v1"), ""
		pr.SetURL(p.Upstream)
	}}
	var heard *answer
	if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/chat/completions") {
		heard = p.prepare(r)
	}
	if heard == nil {
		rp.ServeHTTP(w, r)
		return
	}
	r.Header.Del("Accept-Encoding") // the transport asks for gzip itself and decompresses it
	rp.ModifyResponse = func(res *http.Response) error {
		if res.StatusCode == http.StatusOK {
			heard.stream = strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream")
			heard.ReadCloser, res.Body = res.Body, heard
		}
		return nil
	}
	rp.ServeHTTP(w, r)
	p.remember(r.Context(), heard)
}

func (p *Proxy) fail(what string, err error) {
	cmp.Or(p.Logger, slog.New(slog.DiscardHandler)).Warn("openaiproxy: "+what, "err", err)
}

// prepare adds recalled passages to the request. It returns nil if the request is forwarded unchanged.
func (p *Proxy) prepare(r *http.Request) *answer {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest+1))
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), r.Body)) // the server closes the original body
	if err != nil || len(body) > maxRequest {
		return nil
	}
	req, err := chat.Parse(body)
	if err != nil {
		return nil
	}
	heard := &answer{question: req.Question()}
	if heard.to, err = p.Memories(r); err != nil {
		p.fail("no partition", err)
	}
	if err != nil || heard.to == nil || heard.question == "" {
		return nil
	}
	q := []rune(heard.question)
	res, err := heard.to.Recall(r.Context(), contextmem.Recall{Query: string(q[:min(len(q), 8000)]), Class: contextmem.ClassAll, MaxResults: cmp.Or(max(p.Max, 0), 6)})
	if err != nil {
		p.fail("recall", err)
	}
	if err != nil || len(res.Chunks) == 0 {
		return heard
	}
	text := preface
	for _, c := range res.Chunks {
		text += "- " + strings.Join(strings.Fields(c.Text), " ") + "\n"
	}
	body = req.Body(text)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header.Del("Content-Length")
	return heard
}

// answer is an exchange. It wraps the answer's body and records it while the client reads.
type answer struct {
	io.ReadCloser
	to       contextmem.Memories
	question string
	stream   bool
	whole    bool // the answer was read to its end
	body     bytes.Buffer
}

// Read implements io.Reader.
func (a *answer) Read(b []byte) (int, error) {
	n, err := a.ReadCloser.Read(b)
	if a.body.Len() <= maxAnswer {
		a.body.Write(b[:n])
	}
	a.whole = a.whole || err == io.EOF
	return n, err
}

// remember stores the exchange. Storing the same exchange again does not add a memory.
func (p *Proxy) remember(ctx context.Context, a *answer) {
	if !a.whole || a.body.Len() > maxAnswer {
		return
	}
	said := chat.Answer(a.body.Bytes(), a.stream)
	if said == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	id := sha256.Sum256([]byte(a.question + "\x00" + said))
	_, err := a.to.AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: fmt.Sprintf("chat-%x", id[:16]), Time: time.Now(), Pairs: []contextmem.Pair{{User: a.question, Assistant: said}}}}})
	if err != nil {
		p.fail("remember", err)
	}
}
