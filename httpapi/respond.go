package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/wire"
)

// buffer collects a response before it is sent.
type buffer struct {
	b   []byte
	enc *json.Encoder // writes to b
}

// Write implements io.Writer.
func (b *buffer) Write(p []byte) (int, error) {
	b.b = append(b.b, p...)
	return len(p), nil
}

var buffers = sync.Pool{New: func() any {
	b := new(buffer)
	b.enc = json.NewEncoder(b)
	b.enc.SetEscapeHTML(false)
	return b
}}

// maxPooledBuffer is the capacity above which a buffer is not returned to the pool.
const maxPooledBuffer = 1 << 20

func newBuffer() *buffer { return buffers.Get().(*buffer) }

func (b *buffer) release() {
	if cap(b.b) <= maxPooledBuffer {
		b.b = b.b[:0]
		buffers.Put(b)
	}
}

// encode appends v as JSON. Only recall responses, with or without an envelope, are not written by encoding/json.
func (b *buffer) encode(v any) (err error) {
	switch x := v.(type) {
	case recallAnswer:
		return x.writeTo(b)
	case *envelope:
		if a, ok := x.Data.(recallAnswer); ok {
			return b.recall(a, &x.Meta)
		}
	}
	err = b.enc.Encode(v)
	b.b = bytes.TrimSuffix(b.b, []byte("\n"))
	return err
}

// recall appends an envelope that contains a recall response.
func (b *buffer) recall(a recallAnswer, m *meta) (err error) {
	b.b = append(b.b, `{"data":`...)
	if err := a.writeTo(b); err != nil {
		return err
	}
	b.b = append(b.b, `,"error":null,"meta":`...)
	if !b.meta(m) {
		err = b.encode(m)
	}
	b.b = append(b.b, `,"success":true}`...)
	return err
}

// marshal is like json.Marshal, but does not escape <, > and &.
func marshal(v any) ([]byte, error) {
	b := newBuffer()
	defer b.release()
	err := b.encode(v)
	return bytes.Clone(b.b), err
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	b := newBuffer()
	defer b.release()
	if err := b.encode(body); err != nil {
		status = http.StatusInternalServerError
		b.b = append(b.b[:0], `{"detail":{"success":false,"message":"internal error","error_code":"INTERNAL_ERROR"}}`...)
	}
	b.b = append(b.b, '\n')
	h := w.Header()
	h["Content-Type"], h["Content-Length"] = jsonType, []string{strconv.Itoa(len(b.b))}
	w.WriteHeader(status)
	_, _ = w.Write(b.b)
}

// Values of headers that many responses share. The code that uses them writes header names in canonical form.
var (
	jsonType = []string{"application/json; charset=utf-8"}
	noSniff  = []string{"nosniff"}
	version  = []string{apiVersion}
)

// succeed writes a success response in the format of the route's family.
func (c *call) succeed(data any) {
	status := c.rt.status
	if status == 0 {
		status = http.StatusOK
	}
	c.answered(status)
	c.deprecationHeaders()
	if c.rt.family == gen1 || c.rt.family == connectors {
		if len(c.warn) > 0 {
			data = warned{data, warnings(c.warn)}
		}
		writeJSON(c.w, status, data)
		return
	}
	if c.rt.family != webhooks {
		c.w.Header()["X-Api-Version"] = version
	}
	e := &c.success
	*e = envelope{Data: data, Meta: c.meta(c.scope), Success: true}
	if m, ok := data.(mirrored); ok {
		e.mirror = m.mirrored()
	}
	if c.rt.family == webhooks {
		writeJSON(c.w, status, bothShapes{*e})
		return
	}
	writeJSON(c.w, status, e)
}

// warned is a response of the first generation with warnings. It has no meta, so they are a member beside its own.
type warned struct {
	data any
	list []wire.Warning
}

// MarshalJSON implements json.Marshaler.
func (w warned) MarshalJSON() ([]byte, error) {
	data, err := marshal(w.data)
	if err != nil || len(data) < 3 || data[0] != '{' {
		return data, err
	}
	list, err := marshal(w.list)
	if err != nil {
		return nil, err
	}
	return append(append(append(data[:len(data)-1], `,"warnings":`...), list...), '}'), nil
}

// bothShapes is a response whose data is inside the envelope and also beside it, since webhook clients read either.
type bothShapes struct{ envelope }

// MarshalJSON implements json.Marshaler.
func (b bothShapes) MarshalJSON() ([]byte, error) {
	data, err := marshal(b.Data)
	if err != nil {
		return nil, err
	}
	rest, err := marshal(b.envelope)
	if err != nil {
		return nil, err
	}
	return append(append(data[:len(data)-1], ','), rest[1:]...), nil
}

// envelope is a response of the second generation.
type envelope struct {
	Data    any          `json:"data"`
	Error   *errorDetail `json:"error"`
	Meta    meta         `json:"meta"`
	Success bool         `json:"success"`
	*mirror
	Detail  *failure `json:"detail,omitempty"`
	Message string   `json:"message,omitempty"` // error message
}

// mirrored is implemented by data whose members are repeated outside the envelope, where public clients read them.
type mirrored interface{ mirrored() *mirror }

// mirror returns the members that are repeated outside the data.
type mirror struct {
	scoped
	Added  []string   `json:"added_fields"`
	Fields []fieldRow `json:"fields,omitempty"`
}

// meta is the description of the request in a response of the second generation.
type meta struct {
	APIVersion  string         `json:"api_version"`
	Collection  string         `json:"collection,omitempty"`
	Database    string         `json:"database,omitempty"`
	Deprecation []deprecation  `json:"deprecation,omitempty"`
	Latency     float64        `json:"latency_ms"`
	RequestID   string         `json:"request_id"`
	SubTenant   string         `json:"sub_tenant_id,omitempty"`
	TenantID    string         `json:"tenant_id,omitempty"`
	Warnings    []wire.Warning `json:"warnings,omitempty"`
	queryMeta
}

// queryMeta describes how the service interpreted a query.
type queryMeta struct {
	// Hybrid queries only.
	GraphContext *bool    `json:"graph_context,omitempty"`
	Alpha        *float64 `json:"resolved_alpha,omitempty"`
	Mode         string   `json:"resolved_mode,omitempty"`

	// Text queries only.
	By       string `json:"query_by,omitempty"`
	Operator string `json:"operator,omitempty"`
	Results  *int   `json:"results,omitempty"`
}

// meta returns the description of the request. In error responses it has no scope.
func (c *call) meta(s scopeNames) meta {
	return meta{APIVersion: openAPIVersion, Collection: s.collection, Database: s.database, Deprecation: c.deprecations(), Latency: float64(time.Since(c.started).Microseconds()) / 1000,
		RequestID: c.id, SubTenant: s.collection, TenantID: s.database, Warnings: warnings(c.warn), queryMeta: c.query}
}

func warnings(ws []fault.Warning) []wire.Warning {
	var out []wire.Warning
	for _, w := range ws {
		out = append(out, wire.Warning(w))
	}
	return out
}

// warns adds warnings of the library to the response.
func (c *call) warns(ws []fault.Warning) { c.warn = append(c.warn, c.rename(ws)...) }

// rename replaces field names in warnings by their REST names, and the words of the library by those of the generation.
func (c *call) rename(ws []fault.Warning) []fault.Warning {
	for i := range ws {
		ws[i].Field, ws[i].Message = c.wireField(ws[i].Field), c.rt.family.words(ws[i].Message)
	}
	return ws
}

const deprecatedSince = "2.0.1"

// deprecation is the notice for a deprecated route or field.
type deprecation struct {
	Deprecated bool   `json:"deprecated"`
	Message    string `json:"message"`
	Since      string `json:"deprecated_since"`
	Field      string `json:"deprecated_field,omitempty"`
	Preferred  string `json:"preferred_field,omitempty"`
}

// deprecations returns the notices for the request: one for a legacy route and one for each legacy field.
func (c *call) deprecations() []deprecation {
	if c.rt.family == gen1 {
		return nil
	}
	var out []deprecation
	if c.rt.family == aliases {
		out = append(out, deprecation{true, "the route " + c.rt.path + " is deprecated: use " + c.rt.successor, deprecatedSince, "", ""})
	}
	for _, a := range c.in.deprecated {
		out = append(out, deprecation{true, "the field " + a.alias + " is deprecated: use " + a.canonical, deprecatedSince, a.alias, a.canonical})
	}
	return out
}

func (c *call) deprecationHeaders() {
	ds := c.deprecations()
	if len(ds) == 0 {
		return
	}
	var texts []string
	for _, d := range ds {
		texts = append(texts, d.Message)
	}
	c.w.Header().Set("Deprecation", "true")
	c.w.Header().Set("Warning", `299 contextmem "`+strings.ReplaceAll(strings.Join(texts, "; "), `"`, "'")+`"`)
}
