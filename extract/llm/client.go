package llm

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/modelhttp"
)

// Reasons why an item's output comes from the fallback extractor.
const (
	reasonEmpty     = "empty"     // nothing to send
	reasonTooLong   = "too_long"  // longer than MaxItemBytes
	reasonBudget    = "budget"    // today's tokens are used up
	reasonTimeout   = "timeout"   // no answer within Timeout
	reasonNetwork   = "network"   // the endpoint cannot be reached, or the connection broke
	reasonThrottled = "throttled" // 429 on the last attempt
	reasonServer    = "server"    // 5xx on the last attempt
	reasonRefused   = "refused"   // another 4xx, such as a bad key or an unknown model
	reasonTruncated = "truncated" // the answer was cut off
	reasonMalformed = "malformed" // the answer does not have the requested form
	reasonTooLarge  = "too_large" // the answer is longer than maxAnswerBytes
	reasonMissing   = "missing"   // the answer leaves the item out
	reasonCanceled  = "canceled"  // the caller's context ended
)

// maxAnswerBytes bounds a response body.
const maxAnswerBytes = 4 << 20

// maxRetryWait is the maximum wait between attempts.
const maxRetryWait = 30 * time.Second

// bytesPerToken estimates the tokens of a text before a call. English has about 4, so this overestimates; other scripts may have
// fewer.
const bytesPerToken = 3

// Answer formats, best first. When an endpoint refuses one, all later requests use the next.
const (
	formatSchema int32 = iota
	formatObject
	formatPlain
)

type chatRequest struct {
	Model          string          `json:"model"`
	Messages       []chatMessage   `json:"messages"`
	Temperature    float64         `json:"temperature"`
	MaxTokens      int             `json:"max_tokens"`
	ResponseFormat json.RawMessage `json:"response_format,omitempty"`
}

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type chatResponse struct {
	Choices []struct {
		Message struct {
			Content *string `json:"content"`
			Refusal *string `json:"refusal"`
		} `json:"message"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		PromptTokens     int64 `json:"prompt_tokens"`
		CompletionTokens int64 `json:"completion_tokens"`
	} `json:"usage"`
}

// attempt is the outcome of one request.
type attempt struct {
	content string
	cut     bool // the answer hit the token limit
	prompt  int64
	answer  int64
	reason  string // empty for success
	again   bool   // a retry may succeed
	wait    time.Duration
	lower   bool // the answer format was refused
}

// ask sends a batch until it gets a valid answer or has used all attempts. answers is parallel to batch; an entry is nil when the
// model left out the item.
func (e *Extractor) ask(ctx context.Context, in []extract.Input, out []extract.Output, batch []int) (answers []*itemAnswer, reason string) {
	messages := messagesFor(in, batch)
	size := 0
	for _, m := range messages {
		size += len(m.Content)
	}
	estimate := int64(size/bytesPerToken + e.cfg.MaxAnswerTokens)
	delay := e.cfg.RetryDelay
	for try := 0; ; {
		if !e.budget.Reserve(estimate) {
			return nil, reasonBudget
		}
		format := e.format.Load()
		a := e.send(ctx, messages, format)
		used := a.prompt + a.answer
		if used == 0 && a.reason != reasonThrottled && a.reason != reasonServer && a.reason != reasonRefused {
			// a broken request was charged as well
			used = int64((size + len(a.content)) / bytesPerToken)
		}
		e.budget.Settle(estimate, used)
		charge(in, out, batch, a.prompt, a.answer)
		if a.reason == "" {
			answers, a.reason = parseAnswer(a.content, len(batch), in, batch)
			if a.reason == reasonMalformed && a.cut {
				a.reason = reasonTruncated
			}
			a.again = a.reason == reasonMalformed
		}
		if a.reason == "" {
			return answers, ""
		}
		if ctx.Err() != nil {
			return nil, reasonCanceled
		}
		e.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "extraction request failed", slog.String("reason", a.reason), slog.Int("items", len(batch)), slog.Int("attempt", try+1))
		if a.lower && format < formatPlain {
			e.format.CompareAndSwap(format, format+1)
			continue
		}
		if try++; !a.again || try > e.cfg.MaxRetries {
			return nil, a.reason
		}
		wait := delay + rand.N(delay/2+1)
		if a.wait > 0 {
			wait = a.wait
		}
		if !sleep(ctx, min(wait, maxRetryWait)) {
			return nil, reasonCanceled
		}
		delay = min(2*delay, maxRetryWait)
	}
}

// charge divides the tokens of a request among its items, in proportion to the length of their texts.
func charge(in []extract.Input, out []extract.Output, batch []int, prompt, answer int64) {
	total := 0
	for _, i := range batch {
		total += len(in[i].Text)
	}
	leftPrompt, leftAnswer := int(prompt), int(answer)
	for k, i := range batch {
		u := out[i].Usage
		u.Calls++
		p, a := leftPrompt, leftAnswer
		if k < len(batch)-1 {
			p = int(prompt) * len(in[i].Text) / total
			a = int(answer) * len(in[i].Text) / total
		}
		u.PromptTokens += p
		u.CompletionTokens += a
		leftPrompt -= p
		leftAnswer -= a
	}
}

// send makes one request.
func (e *Extractor) send(ctx context.Context, messages []chatMessage, format int32) attempt {
	body, err := json.Marshal(chatRequest{Model: e.cfg.Model, Messages: messages, MaxTokens: e.cfg.MaxAnswerTokens, ResponseFormat: responseFormat(format)})
	if err != nil {
		return attempt{reason: reasonMalformed}
	}
	ctx, cancel := context.WithTimeout(ctx, e.cfg.Timeout)
	defer cancel()
	req, err := modelhttp.NewRequest(ctx, e.endpoint, e.cfg.APIKey, body)
	if err != nil {
		return attempt{reason: reasonRefused}
	}
	resp, err := e.cfg.HTTPClient.Do(req)
	if err != nil {
		return transportFailure(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // so that the connection can be reused
		return statusFailure(resp, format)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes+1))
	switch {
	case err != nil:
		return transportFailure(err)
	case len(raw) > maxAnswerBytes:
		return attempt{reason: reasonTooLarge}
	}
	return readResponse(raw)
}

// readResponse extracts the answer from a chat response.
func readResponse(raw []byte) attempt {
	var r chatResponse
	if err := json.Unmarshal(raw, &r); err != nil || len(r.Choices) == 0 {
		return attempt{reason: reasonMalformed, again: true}
	}
	const most = 1 << 30 // larger reports are clamped: no request uses more
	a := attempt{prompt: min(max(r.Usage.PromptTokens, 0), most), answer: min(max(r.Usage.CompletionTokens, 0), most)}
	c := &r.Choices[0]
	switch {
	case c.Message.Refusal != nil && *c.Message.Refusal != "", c.FinishReason == "content_filter":
		a.reason = reasonRefused
	case c.Message.Content == nil || *c.Message.Content == "":
		a.reason, a.again = reasonMalformed, true
		if c.FinishReason == "length" {
			a.reason, a.again = reasonTruncated, false
		}
	default:
		a.content, a.cut = *c.Message.Content, c.FinishReason == "length"
	}
	return a
}

func transportFailure(err error) attempt {
	if errors.Is(err, context.DeadlineExceeded) {
		return attempt{reason: reasonTimeout, again: true}
	}
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return attempt{reason: reasonTimeout, again: true}
	}
	return attempt{reason: reasonNetwork, again: true}
}

func statusFailure(resp *http.Response, format int32) attempt {
	a := attempt{wait: min(max(0, modelhttp.RetryAfter(resp.Header, time.Now())), maxRetryWait)}
	switch s := resp.StatusCode; {
	case s == http.StatusTooManyRequests:
		a.reason, a.again = reasonThrottled, true
	case s == http.StatusRequestTimeout:
		a.reason, a.again = reasonTimeout, true
	case s >= 500:
		a.reason, a.again = reasonServer, true
	default:
		a.reason = reasonRefused
		a.lower = (s == http.StatusBadRequest || s == http.StatusUnprocessableEntity) && format < formatPlain
	}
	return a
}

// sleep waits for d and returns true, or returns false when ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
