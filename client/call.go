package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/wire"
)

// request is one call of the server.
type request struct {
	op, method, path string
	query            url.Values
	json             any    // the body as JSON; nil: body
	body             []byte // the body in the format contentType
	contentType      string
	header           http.Header
	once             bool // the call must not be repeated after a lost answer, since it may then act differently
	bare             bool // the answer has no envelope
	of               any  // the library's request, whose fields errors and warnings name; nil: there is none
}

// field returns the library's name of a field of the request.
func (r *request) field(name string) string {
	if name == "" || r.of == nil {
		return name
	}
	return wire.LibraryField(name, reflect.TypeOf(r.of))
}

// meta is the description of the request in a response.
type meta struct {
	RequestID string          `json:"request_id"`
	Mode      string          `json:"resolved_mode"`
	Alpha     float64         `json:"resolved_alpha"`
	Warnings  []fault.Warning `json:"warnings"`
}

// maxAnswer bounds an answer: a file of 50 MiB in base64, with room to spare.
const maxAnswer = 256 << 20

// send sends the request, and repeats it after failures if that is safe. It decodes the data of the response into to, unless to is nil.
func (c *Client) send(ctx context.Context, r request, to any) (meta, error) {
	if r.json != nil {
		b, err := json.Marshal(r.json)
		if err != nil {
			return meta{}, &fault.Error{Op: r.op, Kind: fault.KindUnprocessed, Err: errors.New("a value has no JSON form")}
		}
		r.body, r.contentType = b, "application/json"
	}
	for try := 0; ; try++ {
		m, err := c.once(ctx, &r, to)
		if err == nil || try >= c.retries || ctx.Err() != nil || !repeatable(err, r.once) {
			return m, err
		}
		wait := min(c.pause<<try, maxPause)
		wait = wait/2 + rand.N(wait/2+1)
		var fe *fault.Error
		if errors.As(err, &fe) && fe.RetryAfter > 0 {
			wait = min(fe.RetryAfter, maxPause)
		}
		if pause(ctx, wait) != nil {
			return m, err
		}
	}
}

// lost is the failure of a connection: it is unknown whether the server acted.
type lost struct{ err error }

// Error implements error.
func (l *lost) Error() string { return "no answer from the server: " + l.err.Error() }

// Unwrap returns the cause.
func (l *lost) Unwrap() error { return l.err }

// refusal is an error response of the server, with its status.
type refusal struct {
	status  int
	message string
}

// Error implements error.
func (r *refusal) Error() string { return r.message }

// Lost reports whether err is the failure of a connection, so that it is unknown whether the server acted.
func Lost(err error) bool {
	var l *lost
	return errors.As(err, &l)
}

// repeatable reports whether a call may be repeated after an error. After the statuses 429 and 503 it may, since the server has done nothing.
func repeatable(err error, once bool) bool {
	var r *refusal
	if errors.As(err, &r) {
		switch r.status {
		case http.StatusTooManyRequests, http.StatusServiceUnavailable:
			return true
		case http.StatusBadGateway, http.StatusGatewayTimeout:
			return !once
		}
		return false
	}
	return Lost(err) && !once
}

// pause waits, unless ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// until calls done repeatedly, with pauses that grow to one second, until it returns true.
func (c *Client) until(ctx context.Context, done func() (bool, error)) error {
	for wait := 5 * time.Millisecond; ; wait = min(wait*2, time.Second) {
		ok, err := done()
		if ok || err != nil {
			return err
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}

// once makes the call.
func (c *Client) once(ctx context.Context, r *request, to any) (m meta, err error) {
	address := c.base + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, address, bytes.NewReader(r.body))
	if err != nil {
		return m, &fault.Error{Op: r.op, Kind: fault.KindInvalid, Err: errors.New("the request has no form that can be sent")}
	}
	for k, v := range r.header {
		req.Header[k] = v
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	if r.contentType != "" {
		req.Header.Set("Content-Type", r.contentType)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return m, c.cut(ctx, r.op, err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return m, c.cut(ctx, r.op, err)
	}
	if len(b) > maxAnswer {
		return m, &fault.Error{Op: r.op, Kind: fault.KindTooLarge, Err: fmt.Errorf("the answer is over %d bytes", maxAnswer)}
	}
	if res.StatusCode/100 != 2 {
		return m, refused(r, res, b)
	}
	if r.bare {
		return m, decode(r.op, b, to)
	}
	var e struct {
		Data json.RawMessage `json:"data"`
		Meta meta            `json:"meta"`
	}
	if err := decode(r.op, b, &e); err != nil {
		return m, err
	}
	for i := range e.Meta.Warnings {
		w := &e.Meta.Warnings[i]
		w.Field, w.Message = r.field(w.Field), wire.Tenants(w.Message)
	}
	return e.Meta, decode(r.op, e.Data, to)
}

// cut returns the error of a call without a response.
func (c *Client) cut(ctx context.Context, op string, err error) error {
	if ctx.Err() != nil {
		return &fault.Error{Op: op, Kind: fault.KindUnavailable, Err: ctx.Err()}
	}
	var u *url.Error
	if errors.As(err, &u) { // its text holds the address with the names of the query
		err = u.Err
	}
	return &fault.Error{Op: op, Kind: fault.KindUnavailable, Err: &lost{err}}
}

var errAnswer = errors.New("the answer is not one of a contextmem server")

// decode reads a response. Numbers in metadata keep their written form.
func decode(op string, b []byte, to any) error {
	if to == nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(to); err != nil {
		return &fault.Error{Op: op, Kind: fault.KindUpstream, Err: errAnswer}
	}
	return nil
}

// refused makes an error of an error response.
func refused(r *request, res *http.Response, b []byte) error {
	var body struct {
		Error *struct {
			Code    string `json:"code"`
			Message string `json:"message"`
			Results []wire.DeletedRow
		} `json:"error"`
		Detail *struct {
			Code    string `json:"error_code"`
			Message string `json:"message"`
		} `json:"detail"`
	}
	_ = json.Unmarshal(b, &body) // without JSON there is still the status
	code, text := "", "the server answered "+strconv.Itoa(res.StatusCode)
	switch {
	case body.Error != nil:
		code, text = body.Error.Code, body.Error.Message
	case body.Detail != nil:
		code, text = body.Detail.Code, body.Detail.Message
	}
	if said, unknown := strings.CutSuffix(text, wire.WhereIDsAre); unknown { // callers know neither the field nor the route
		text = strings.TrimPrefix(said, `field "id": `)
	}
	field, text := wire.CutField(text)
	e := &fault.Error{Op: r.op, Field: r.field(field), Err: &refusal{res.StatusCode, wire.Tenants(text)}}
	e.Kind, e.Resource = kindOf(code, res.StatusCode)
	if s, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && s > 0 {
		e.RetryAfter = time.Duration(s) * time.Second
	}
	if body.Error != nil && body.Error.Results != nil {
		return &strictRefusal{e, body.Error.Results}
	}
	return e
}
