package httpapi

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/contextmem/contextmem"
)

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxPooledBuffer keeps a rare large answer from staying in memory.
const maxPooledBuffer = 1 << 20

func writeJSON(w http.ResponseWriter, status int, body any) {
	buf := buffers.Get().(*[]byte)
	b, err := appendJSON((*buf)[:0], body)
	if err != nil {
		status = http.StatusInternalServerError
		b = append(b[:0], `{"detail":{"success":false,"message":"internal error","error_code":"INTERNAL_ERROR"}}`...)
	}
	b = append(b, '\n')
	h := w.Header()
	h["Content-Type"], h["Content-Length"] = jsonType, []string{strconv.Itoa(len(b))}
	w.WriteHeader(status)
	_, _ = w.Write(b)
	if cap(b) <= maxPooledBuffer {
		*buf = b
		buffers.Put(buf)
	}
}

// Values of headers that many answers have. Names are written in canonical form here.
var (
	jsonType = []string{"application/json; charset=utf-8"}
	noSniff  = []string{"nosniff"}
	version  = []string{apiVersion}
)

// succeed answers with a success in the shape of the route's family.
func (c *call) succeed(data any) {
	status := c.rt.status
	if status == 0 {
		status = http.StatusOK
	}
	if c.status != 0 {
		status = c.status
	}
	c.answered(status)
	c.deprecationHeaders()
	switch c.rt.family {
	case gen2, aliases:
		c.w.Header()["X-Api-Version"] = version
		writeJSON(c.w, status, envelope{c, data})
	default:
		writeJSON(c.w, status, data)
	}
	if a, ok := data.(recallAnswer); ok {
		a.res.Release()
	}
}

// envelope is data as the second generation sends it.
type envelope struct {
	c    *call
	data any
}

// appendTo appends the envelope as JSON.
func (e envelope) appendTo(b []byte) ([]byte, error) {
	var w writer
	m, mirror := e.data.(map[string]any)
	mirror = mirror && e.c.rt.mirror // an answer that public clients read without the envelope too
	b = append(b, '{')
	if mirror {
		b = append(w.value(append(b, `"added_fields":`...), m["added_fields"]), ',')
	}
	b = w.value(append(b, `"data":`...), e.data)
	if mirror {
		b = w.value(append(b, `,"database":`...), m["database"])
	}
	b, err := meta{e.c, e.c.scope}.appendTo(append(b, `,"error":null,"meta":`...))
	w.fail(err)
	b = append(b, `,"success":true`...)
	if mirror {
		b = w.value(append(b, `,"tenant_id":`...), m["tenant_id"])
	}
	return append(b, '}'), w.err
}

// meta is what an answer of the second generation says of its request. Errors do not tell the scope.
type meta struct {
	c     *call
	scope scopeNames
}

// queryMeta is how a query was understood.
type queryMeta struct {
	by string // "hybrid" or "text"; empty: the request is no query

	// Of a hybrid query.
	graph bool
	alpha float64
	mode  string

	// Of a query for text.
	operator string
	results  int
}

// appendTo appends the object of meta, members sorted.
func (m meta) appendTo(b []byte) ([]byte, error) {
	c, w := m.c, writer{}
	b = append(b, `{"api_version":"`+openAPIVersion+`"`...)
	b = named(b, `,"collection":"`, m.scope.collection)
	b = named(b, `,"database":"`, m.scope.database)
	if d := c.deprecations(); len(d) > 0 {
		b = w.value(append(b, `,"deprecation":`...), d)
	}
	if c.query.by == "hybrid" {
		b = strconv.AppendBool(append(b, `,"graph_context":`...), c.query.graph)
	}
	b = appendMillionths(append(b, `,"latency_ms":`...), 1000*time.Since(c.started).Microseconds())
	if c.query.by == "text" {
		b = appendText(append(b, `,"operator":"`...), c.query.operator)
		b = append(b, `","query_by":"text"`...)
	}
	b = appendText(append(b, `,"request_id":"`...), c.id)
	b = append(b, '"')
	switch c.query.by {
	case "hybrid":
		b = w.number(append(b, `,"resolved_alpha":`...), c.query.alpha)
		b = appendString(append(b, `,"resolved_mode":`...), c.query.mode)
	case "text":
		b = strconv.AppendInt(append(b, `,"results":`...), int64(c.query.results), 10)
	}
	b = named(b, `,"sub_tenant_id":"`, m.scope.collection)
	b = named(b, `,"tenant_id":"`, m.scope.database)
	if len(c.warn) > 0 {
		b = w.value(append(b, `,"warnings":`...), warnings(c.warn))
	}
	return append(b, '}'), w.err
}

// named appends a member of a text, given with its first quote, unless the text is empty.
func named(b []byte, member, text string) []byte {
	if text == "" {
		return b
	}
	return append(appendText(append(b, member...), text), '"')
}

func warnings(ws []contextmem.Warning) []map[string]any {
	out := make([]map[string]any, len(ws))
	for i, w := range ws {
		out[i] = map[string]any{"code": w.Code, "field": w.Field, "message": w.Message}
	}
	return out
}

const deprecatedSince = "2.0.1"

// deprecation notice of a route or field.
type deprecation struct {
	Deprecated bool   `json:"deprecated"`
	Message    string `json:"message"`
	Since      string `json:"deprecated_since"`
	Field      string `json:"deprecated_field,omitempty"`
	Preferred  string `json:"preferred_field,omitempty"`
}

// deprecations lists the notices of the request: one for a legacy route, one for each legacy field.
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

// timeText is a time on the wire: RFC 3339, UTC, empty when unknown.
func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// timeOrNull is a time that may be null.
func timeOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return timeText(t)
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

func textOrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
