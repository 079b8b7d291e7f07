package httpapi

import (
	"math"
	"strconv"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/wire"
)

// recallAnswer is a recall result in the shape of a generation. It is the only response that is not written by
// encoding/json, which would take a fifth of the time of a recall; see docs/decisions/0004-json.md. Members are sorted. A
// graph context that was not requested is empty in the first generation and missing in the second. Only the second
// generation has the parts of scores.
type recallAnswer struct {
	res *contextmem.Result
	f   family
}

// writeTo writes the answer as JSON.
func (a recallAnswer) writeTo(to *buffer) error {
	w, res := writer{out: to}, a.res
	b := to.b
	b = append(b, `{"additional_context":{`...)
	var room [32]string
	for i, k := range sortedKeys(room[:0], res.Additional) {
		ch := res.Additional[k]
		b = append(appendString(comma(b, i), k), ':')
		b = w.chunk(b, &ch, false)
	}
	b = append(b, `},"chunks":[`...)
	for i := range res.Chunks {
		b = w.chunk(comma(b, i), &res.Chunks[i], a.f != gen1)
	}
	b = append(b, ']')
	if res.Graph != nil || a.f == gen1 {
		b = w.graph(append(b, `,"graph_context":`...), res.Graph)
	}
	b = append(b, `,"sources":[`...)
	for i := range res.Sources {
		b = w.source(comma(b, i), &res.Sources[i])
	}
	b = append(b, ']')
	if res.Temporal != nil {
		b = w.temporal(b, res.Temporal, len(res.Chunks))
	}
	if a.f == gen1 && len(res.Warnings) > 0 { // the first generation has no meta to contain warnings
		b = w.value(append(b, `,"warnings":`...), warnings(res.Warnings))
	}
	to.b = append(b, '}')
	return w.err
}

// meta appends the meta of a response without warnings. It returns false if the meta has other content, or a number without a JSON form.
func (to *buffer) meta(m *meta) bool {
	if len(m.Deprecation)+len(m.Warnings) > 0 || m.Alpha != nil && !(math.Abs(*m.Alpha) <= 1) || m.By != "" || m.Operator != "" || m.Results != nil {
		return false
	}
	b := appendString(append(to.b, `{"api_version":`...), m.APIVersion)
	member := func(name, text string) {
		if text != "" {
			b = appendString(append(b, name...), text)
		}
	}
	member(`,"collection":`, m.Collection)
	member(`,"database":`, m.Database)
	b = strconv.AppendFloat(append(b, `,"latency_ms":`...), m.Latency, 'f', -1, 64)
	b = appendString(append(b, `,"request_id":`...), m.RequestID)
	member(`,"sub_tenant_id":`, m.SubTenant)
	member(`,"tenant_id":`, m.TenantID)
	if m.GraphContext != nil {
		b = strconv.AppendBool(append(b, `,"graph_context":`...), *m.GraphContext)
	}
	if m.Alpha != nil {
		b = strconv.AppendFloat(append(b, `,"resolved_alpha":`...), *m.Alpha, 'f', -1, 64)
	}
	member(`,"resolved_mode":`, m.Mode)
	to.b = append(b, '}')
	return true
}

// writer appends JSON. To save calls, its constants contain everything between two values, including the quotes of
// texts.
type writer struct {
	out *buffer
	err error // error of the first value without a JSON form

	at       time.Time // last time written, as b[from:to]
	from, to int

	last                 string // last layout written, as b[layoutFrom:layoutTo]
	layoutFrom, layoutTo int

	inGraph graphWriter
}

// comma appends the separator before element i.
func comma(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return b
}

// textOrNull appends a text, or null if it is empty.
func textOrNull(b []byte, s string) []byte {
	if s == "" {
		return append(b, "null"...)
	}
	return appendString(b, s)
}

func (w *writer) time(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(b, `""`...)
	}
	if t == w.at {
		return append(b, b[w.from:w.to]...)
	}
	from, second := len(b), t.Unix()
	b = append(b, '"')
	if w.to > 0 && second == w.at.Unix() && fourDigits(second) { // same second as the previous time, as with items stored together
		b = appendFraction(append(b, b[w.from+1:w.from+1+len("2006-01-02T15:04:05")]...), t.Nanosecond())
	} else {
		b = t.UTC().AppendFormat(b, time.RFC3339Nano)
	}
	b = append(b, '"')
	w.at, w.from, w.to = t, from, len(b)
	return b
}

// fourDigits reports whether a Unix second is in the years 1 to 9999.
func fourDigits(second int64) bool { return second >= -62135596800 && second <= 253402300799 }

// appendFraction appends the part of a UTC time after the seconds, in RFC 3339 with nanoseconds.
func appendFraction(b []byte, nanos int) []byte {
	if nanos > 0 {
		b = append(b, ".000000000"...)
		digits := b[len(b)-9:]
		for i := 8; nanos > 0; i-- {
			digits[i] = byte('0' + nanos%10)
			nanos /= 10
		}
		for b[len(b)-1] == '0' {
			b = b[:len(b)-1]
		}
	}
	return append(b, 'Z')
}

// layout appends the layout of a chunk. It reuses the previous output, since consecutive layouts are often equal.
func (w *writer) layout(b []byte, s string) []byte {
	if s == w.last && s != "" {
		return append(b, b[w.layoutFrom:w.layoutTo]...)
	}
	w.last, w.layoutFrom = s, len(b)
	b = textOrNull(b, s)
	w.layoutTo = len(b)
	return b
}

// value appends a rarely used value through encoding/json.
func (w *writer) value(b []byte, v any) []byte {
	w.out.b = b
	w.fail(w.out.encode(v))
	return w.out.b
}

// temporal appends a comma and the dated facts.
func (w *writer) temporal(b []byte, t *contextmem.TemporalResult, chunks int) []byte {
	if !t.Applied && !t.Degraded && !t.Truncated && len(t.Facts) == 0 && t.Duration == nil { // the question contains no date
		b = strconv.AppendInt(append(b, `,"temporal_facts":[],"temporal_filter":{"applied":false,"chunk_scope":`...), int64(chunks), 10)
		b = appendText(append(b, `,"degraded":false,"matched_facts":0,"mode":"`...), t.Mode)
		return append(b, `","promoted":0,"scope":"","truncated":false}`...)
	}
	start := len(b)
	b = w.value(b, wire.OfTemporal(t, chunks))
	if w.err == nil {
		b[start] = ','
		b = b[:len(b)-1]
	}
	return b
}

func (w *writer) score(b []byte, f float64) []byte {
	b, err := appendScore(b, f)
	w.fail(err)
	return b
}

func (w *writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// object appends a map. A nil map becomes {}.
func (w *writer) object(b []byte, m map[string]any) []byte {
	if len(m) == 0 {
		return append(b, "{}"...)
	}
	b, err := appendObject(b, m)
	w.fail(err)
	return b
}

func appendTexts(b []byte, list []string) []byte {
	b = append(b, '[')
	for i, s := range list {
		b = appendString(comma(b, i), s)
	}
	return append(b, ']')
}

// chunk appends a chunk in the format of both generations. Each metadata map is written under two names.
func (w *writer) chunk(b []byte, ch *contextmem.Chunk, explain bool) []byte {
	b = append(b, `{"additional_metadata":`...)
	additional := len(b)
	b = w.object(b, ch.Additional)
	additionalEnd := len(b)
	if len(ch.AlsoFrom) > 0 {
		b = appendTexts(append(b, `,"also_source_ids":`...), ch.AlsoFrom)
	}
	b = append(b, `,"chunk_content":"`...)
	text := len(b)
	b = appendText(b, ch.Text)
	textEnd := len(b)
	b = appendText(append(b, `","chunk_uuid":"`...), ch.ID)
	b = append(b, `","collection":"`...)
	sub := len(b)
	b = appendText(b, ch.Sub)
	subEnd := len(b)
	b = append(b, `","document_metadata":`...)
	b = append(b, b[additional:additionalEnd]...)
	b = appendTexts(append(b, `,"extra_context_ids":`...), ch.ExtraContextIDs)
	if ch.Heading != "" {
		b = appendString(append(b, `,"heading":`...), ch.Heading)
	}
	b = append(b, `,"id":"`...)
	id := len(b)
	b = appendText(b, ch.SourceID)
	idEnd := len(b)
	b = w.layout(append(b, `","layout":`...), ch.Layout)
	b = append(b, `,"metadata":`...)
	metadata := len(b)
	b = w.object(b, ch.Metadata)
	metadataEnd := len(b)
	if ch.Newer != "" {
		b = appendText(append(b, `,"newer_version_status":"`...), string(ch.Newer))
		b = append(b, '"')
	}
	if ch.Page > 0 {
		b = strconv.AppendInt(append(b, `,"page":`...), int64(ch.Page), 10)
	}
	if p := &ch.Passage; p.End > 0 {
		b = strconv.AppendInt(append(b, `,"passage":{"end":`...), int64(p.End), 10)
		b = strconv.AppendInt(append(b, `,"start":`...), int64(p.Start), 10)
		b = append(b, `,"text":"`...)
		if p.Start == 0 && p.End == len(ch.Text) {
			b = append(b, b[text:textEnd]...)
		} else {
			b = appendText(b, p.Text)
		}
		b = append(b, `"}`...)
	}
	if explain && ch.Explain != nil {
		b = w.score(append(b, `,"relevance":`...), ch.Relevance)
	}
	b = w.score(append(b, `,"relevancy_score":`...), ch.Score)
	if explain && ch.Explain != nil {
		b = w.parts(append(b, `,"score_parts":{`...), ch.Explain)
	}
	if ch.SupersededBy != nil && ch.Retracted {
		b = append(b, `,"retracted":true`...)
	}
	b = append(b, `,"source_id":"`...)
	b = append(b, b[id:idEnd]...)
	b = w.time(append(b, `","source_last_updated_time":`...), ch.UpdatedAt)
	b = appendText(append(b, `,"source_title":"`...), ch.Title)
	b = appendText(append(b, `","source_type":"`...), ch.Kind)
	b = w.time(append(b, `","source_upload_time":`...), ch.CreatedAt)
	if len(ch.Statements) > 0 {
		b = appendTexts(append(b, `,"statements":`...), ch.Statements)
	}
	b = append(b, `,"sub_tenant_id":"`...)
	b = append(b, b[sub:subEnd]...)
	b = append(b, '"')
	if ch.SupersededBy != nil {
		b = w.supersession(append(b, `,"superseded_by":{`...), ch.SupersededBy)
	}
	b = append(b, `,"tenant_metadata":`...)
	b = append(b, b[metadata:metadataEnd]...)
	if ch.ToldLater {
		b = append(b, `,"told_later":true`...)
	}
	if ch.SupersededBy != nil {
		b = w.time(append(b, `,"valid_from":`...), ch.ValidFrom)
		if !ch.SupersededBy.Partly {
			b = w.time(append(b, `,"valid_to":`...), ch.ValidTo)
		}
	} else if (explain || ch.ToldLater) && !ch.ValidFrom.IsZero() {
		b = w.time(append(b, `,"valid_from":`...), ch.ValidFrom)
	}
	return append(b, '}')
}

// supersession appends the members that describe the superseding item, and closes the object.
func (w *writer) supersession(b []byte, s *contextmem.Supersession) []byte {
	b = w.score(append(b, `"confidence":`...), s.Confidence)
	b = appendText(append(b, `,"decider":"`...), s.Decider)
	b = appendText(append(b, `","evidence":"`...), s.Evidence)
	b = appendText(append(b, `","id":"`...), s.ID)
	b = appendText(append(b, `","matter":"`...), s.Matter)
	b = append(b, '"')
	if s.Partly {
		b = append(b, `,"partly":true`...)
	}
	b = w.time(append(b, `,"time":`...), s.Time)
	return append(b, '}')
}

// parts appends the applicable parts of a score, and closes the object.
func (w *writer) parts(b []byte, e *contextmem.Explain) []byte {
	start := len(b)
	for _, p := range [...]struct {
		name string
		v    float64
	}{{`"app":`, e.App}, {`"bridge":`, e.Bridge}, {`"context":`, e.Context}, {`"entity":`, e.Entity}, {`"expansion":`, e.Expansion},
		{`"feedback":`, e.Feedback}, {`"forgetting":`, e.Forgetting}, {`"graph":`, e.Graph}, {`"keyword":`, e.Keyword}, {`"late_interaction":`, e.Late}, {`"recency":`, e.Recency},
		{`"rerank":`, e.Rerank}, {`"semantic":`, e.Semantic}, {`"speaker":`, e.Speaker}, {`"succession":`, e.Succession}, {`"time":`, e.Time}} {
		if p.v != 0 {
			b = w.score(append(comma(b, len(b)-start), p.name...), p.v)
		}
	}
	return append(b, '}')
}

// source appends a source of a recall result.
func (w *writer) source(b []byte, s *contextmem.SourceInfo) []byte {
	b = append(b, `{"additional_metadata":`...)
	additional := len(b)
	b = w.object(b, s.Additional)
	additionalEnd := len(b)
	if s.App == nil {
		b = append(b, `,"app_external_id":null,"app_kind":null,"app_provider":null`...)
	} else {
		b = textOrNull(append(b, `,"app_external_id":`...), s.App.ExternalID)
		b = textOrNull(append(b, `,"app_kind":`...), string(s.App.Kind))
		b = textOrNull(append(b, `,"app_provider":`...), s.App.Provider)
	}
	b = append(b, `,"collection":"`...)
	sub := len(b)
	b = appendText(b, s.Sub)
	subEnd := len(b)
	b = appendText(append(b, `","description":"`...), s.Description)
	b = append(b, `","document_metadata":`...)
	b = append(b, b[additional:additionalEnd]...)
	b = appendText(append(b, `,"id":"`...), s.ID)
	b = append(b, `","metadata":`...)
	metadata := len(b)
	b = w.object(b, s.Metadata)
	metadataEnd := len(b)
	if s.Partial != "" {
		b = appendString(append(b, `,"partial":`...), s.Partial)
	}
	b = append(b, `,"sub_tenant_id":"`...)
	b = append(b, b[sub:subEnd]...)
	b = append(b, `","tenant_metadata":`...)
	b = append(b, b[metadata:metadataEnd]...)
	b = w.time(append(b, `,"timestamp":`...), firstTime(s.Timestamp, s.CreatedAt))
	b = appendText(append(b, `,"title":"`...), s.Title)
	b = appendText(append(b, `","type":"`...), s.Kind)
	b = appendText(append(b, `","url":"`...), s.URL)
	return append(b, `"}`...)
}
