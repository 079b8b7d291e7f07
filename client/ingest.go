package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/wire"
)

// memory is a memory in its JSON form.
type memory struct {
	ID           string         `json:"source_id"`
	Text         string         `json:"text,omitempty"`
	Title        string         `json:"title,omitempty"`
	UserName     string         `json:"user_name,omitempty"`
	Instructions string         `json:"custom_instructions,omitempty"`
	Markdown     bool           `json:"is_markdown,omitempty"`
	Infer        bool           `json:"infer,omitempty"`
	Expiry       int            `json:"expiry_time,omitempty"`
	Pairs        []pair         `json:"user_assistant_pairs,omitempty"`
	Messages     []message      `json:"messages,omitempty"`
	EachMessage  bool           `json:"each_message,omitempty"`
	Metadata     map[string]any `json:"metadata,omitempty"`
	Additional   map[string]any `json:"additional_metadata,omitempty"`
	Relations    any            `json:"relations,omitempty"`
}

type pair struct {
	User      string `json:"user"`
	Assistant string `json:"assistant"`
}

type message struct {
	Role content.Role `json:"role"`
	Name string       `json:"name,omitempty"`
	Text string       `json:"content"`
	Time string       `json:"timestamp,omitempty"`
}

// WithIDs returns the batch with an id for every memory without one, so that it may be sent again without being stored twice.
func WithIDs(b contextmem.MemoryBatch) contextmem.MemoryBatch {
	b.Memories = slices.Clone(b.Memories)
	for i := range b.Memories {
		if b.Memories[i].ID == "" {
			b.Memories[i].ID = contextmem.NewRequestID()
		}
	}
	return b
}

// KnowledgeWithIDs is [WithIDs] for knowledge. Files with a name need no id, because their id is derived from the name. It reads the
// contents that [content.File.Open] returns.
func KnowledgeWithIDs(b contextmem.KnowledgeBatch) (contextmem.KnowledgeBatch, error) {
	b.Files, b.Apps = slices.Clone(b.Files), slices.Clone(b.Apps)
	for i := range b.Files {
		f := &b.Files[i]
		if f.ID == "" && f.Name == "" {
			f.ID = contextmem.NewRequestID()
		}
		if f.Data == nil && f.Open != nil {
			data, err := readAll(f.Open)
			if err != nil {
				return b, &fault.Error{Op: "add knowledge", Kind: fault.KindInvalid, Resource: fault.File, Field: fmt.Sprintf("Files[%d].Open", i), Err: errors.New("could not be read")}
			}
			f.Data, f.Open = data, nil
		}
	}
	for i := range b.Apps {
		if b.Apps[i].ID == "" {
			b.Apps[i].ID = contextmem.NewRequestID()
		}
	}
	return b, nil
}

func readAll(open func() (io.ReadCloser, error)) ([]byte, error) {
	r, err := open()
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(r)
	return b, errors.Join(err, r.Close())
}

// AddMemories implements contextmem.Memories. Memories without an id get one before they are sent.
func (s scope) AddMemories(ctx context.Context, b contextmem.MemoryBatch) (*contextmem.IngestResult, error) {
	const op = "add memories"
	if b.Progress != nil {
		return nil, notOverREST(op, "Progress")
	}
	b = WithIDs(b)
	list := make([]memory, len(b.Memories))
	for i, m := range b.Memories {
		if m.TTL%time.Second != 0 {
			return nil, &fault.Error{Op: op, Kind: fault.KindInvalid, Field: fmt.Sprintf("Memories[%d].TTL", i), Err: errors.New("whole seconds are carried over REST")}
		}
		list[i] = memory{ID: m.ID, Text: m.Text, Title: m.Title, UserName: m.UserName, Instructions: m.Instructions, Markdown: m.Markdown, Infer: m.Infer,
			Expiry: int(m.TTL / time.Second), Metadata: m.Metadata, Additional: noted(m), Relations: relations(m.ForcefulRelations)}
		for _, p := range m.Pairs {
			list[i].Pairs = append(list[i].Pairs, pair(p))
		}
		for _, x := range m.Messages {
			list[i].Messages = append(list[i].Messages, message{x.Role, x.Name, x.Text, timeText(x.Time)})
		}
		list[i].EachMessage = m.EachMessage
	}
	f := s.form(op, "memory", b.FailIfExists, b.Metadata, b.Additional, b.Graphs)
	f.json("memories", list)
	return f.send(ctx, s.c, b)
}

// noted returns the additional metadata of a memory, with its time and its session.
func noted(m contextmem.Memory) map[string]any {
	if m.Time.IsZero() && m.Session == "" {
		return m.Additional
	}
	out := maps.Clone(m.Additional)
	if out == nil {
		out = map[string]any{}
	}
	if !m.Time.IsZero() {
		out["timestamp"] = m.Time.Format(time.RFC3339Nano)
	}
	if m.Session != "" {
		out["session_id"] = m.Session
	}
	return out
}

// relations returns the JSON form of forceful relations: an object of ids, or a list of links.
func relations(r *contextmem.ForcefulRelations) any {
	if r == nil {
		return nil
	}
	if len(r.Links) == 0 {
		return map[string]any{"ids": r.IDs, "properties": r.Properties}
	}
	links := make([]map[string]any, len(r.Links))
	for i, l := range r.Links {
		target := map[string]any{"provider": l.Provider, "external_id": l.ExternalID}
		if l.TargetID != "" {
			target = map[string]any{"id": l.TargetID}
		}
		links[i] = map[string]any{"predicate": l.Predicate, "target": target, "properties": l.Properties}
	}
	return links
}

// fileEntry describes a file of the form.
type fileEntry struct {
	ID          string         `json:"id,omitempty"`
	Title       string         `json:"title,omitempty"`
	Type        string         `json:"type,omitempty"`
	URL         string         `json:"url,omitempty"`
	Description string         `json:"description,omitempty"`
	Timestamp   string         `json:"timestamp,omitempty"`
	Metadata    map[string]any `json:"metadata,omitempty"`
	Additional  map[string]any `json:"additional_metadata,omitempty"`
	Relations   any            `json:"relations,omitempty"`
	ACL         []string       `json:"acl,omitempty"`
}

// AddKnowledge implements contextmem.Memories. Contents are in memory while they are sent.
func (s scope) AddKnowledge(ctx context.Context, b contextmem.KnowledgeBatch) (*contextmem.IngestResult, error) {
	const op = "add knowledge"
	if b.Progress != nil {
		return nil, notOverREST(op, "Progress")
	}
	b, err := KnowledgeWithIDs(b)
	if err != nil {
		return nil, err
	}
	f := s.form(op, "knowledge", b.FailIfExists, b.Metadata, b.Additional, b.Graphs)
	if b.SkipUnsupported {
		f.field("skip_unsupported", "true")
	}
	if b.SkipUnchanged {
		f.field("skip_unchanged", "true")
	}
	var entries []fileEntry
	for _, file := range b.Files {
		e := fileEntry{ID: file.ID, Title: file.Title, Type: file.Kind, URL: file.URL, Description: file.Description, Metadata: file.Metadata, Additional: file.Additional, Relations: relations(file.ForcefulRelations),
			Timestamp: timeText(file.Time), ACL: file.ACL}
		entries = append(entries, e)
		f.file(file)
	}
	if entries != nil {
		f.json("document_metadata", entries)
	}
	if len(b.Apps) > 0 {
		apps := make([]map[string]any, len(b.Apps))
		for i, a := range b.Apps {
			if a.Fault != nil {
				return nil, notOverREST(op, fmt.Sprintf("Apps[%d].Fault", i))
			}
			apps[i] = app(a)
		}
		f.json("app_knowledge", apps)
	}
	return f.send(ctx, s.c, b)
}

// app is the JSON form of an app item.
func app(a contextmem.AppItem) map[string]any {
	m := map[string]any{"id": a.ID}
	for k, v := range map[string]string{"title": a.Title, "type": a.Type, "kind": string(a.Kind), "provider": a.Provider, "external_id": a.ExternalID,
		"parent_external_id": a.ParentExternalID, "thread_id": a.ThreadID, "description": a.Description, "note": a.Note, "url": a.URL, "timestamp": a.Timestamp} {
		if v != "" {
			m[k] = v
		}
	}
	for k, v := range map[string]map[string]any{"fields": a.Fields, "metadata": a.Metadata, "additional_metadata": a.Additional, "meta": a.Meta} {
		if v != nil {
			m[k] = v
		}
	}
	if a.Attachments != nil {
		m["attachments"] = a.Attachments
	}
	if a.Comments != nil {
		m["comments"] = a.Comments
	}
	if r := relations(a.ForcefulRelations); r != nil {
		m["relations"] = r
	}
	if a.ACL != nil {
		m["acl"] = a.ACL
	}
	if c := a.Content; c != nil {
		body := map[string]any{}
		for k, v := range map[string]string{"text": c.Text, "markdown": c.Markdown, "html_base64": c.HTMLBase64, "csv_base64": c.CSVBase64} {
			if v != "" {
				body[k] = v
			}
		}
		if c.Files != nil {
			body["files"] = c.Files
		}
		if c.Layout != nil {
			body["layout"] = c.Layout
		}
		m["content"] = body
	}
	return m
}

// form is the multipart form of an addition.
type form struct {
	op   string
	b    bytes.Buffer
	w    *multipart.Writer
	once bool
	err  error
}

func (s scope) form(op, class string, failIfExists bool, metadata, additional map[string]any, graphs map[string]content.SuppliedGraph) *form {
	f := &form{op: op, once: failIfExists}
	f.w = multipart.NewWriter(&f.b)
	f.field("database", s.tenant)
	if s.sub != "" {
		f.field("collection", s.sub)
	}
	f.field("type", class)
	f.field("upsert", strconv.FormatBool(!failIfExists))
	if metadata != nil {
		f.json("metadata", metadata)
	}
	if additional != nil {
		f.json("additional_metadata", additional)
	}
	if len(graphs) > 0 {
		f.json("graph_payload", graphPayload(graphs))
	}
	return f
}

func graphPayload(graphs map[string]content.SuppliedGraph) map[string]any {
	out := map[string]any{}
	for id, g := range graphs {
		entities, list := map[string]any{}, []map[string]string{}
		for handle, e := range g.Entities {
			entities[handle] = map[string]string{"name": e.Name, "type": e.Type, "namespace": e.Namespace, "identifier": e.Identifier}
		}
		for _, r := range g.Relations {
			list = append(list, map[string]string{"source": r.Source, "target": r.Target, "predicate": r.Predicate, "context": r.Context, "temporal_details": r.Temporal})
		}
		out[id] = map[string]any{"entities": entities, "relations": list}
	}
	return out
}

func (f *form) field(name, value string) { f.err = errors.Join(f.err, f.w.WriteField(name, value)) }

func (f *form) json(name string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		f.err = errors.Join(f.err, &fault.Error{Op: f.op, Kind: fault.KindUnprocessed, Err: errors.New("a value has no JSON form")})
		return
	}
	f.field(name, string(b))
}

func (f *form) file(file contextmem.File) {
	name, mediaType := file.Name, file.ContentType
	if name == "" {
		name = file.ID
	}
	if mediaType == "" {
		mediaType = "application/octet-stream"
	}
	h := textproto.MIMEHeader{"Content-Disposition": {multipart.FileContentDisposition("documents", name)}, "Content-Type": {mediaType}}
	w, err := f.w.CreatePart(h)
	if err == nil {
		_, err = w.Write(file.Data)
	}
	f.err = errors.Join(f.err, err)
}

// send sends the form. of is the request whose fields errors name.
func (f *form) send(ctx context.Context, c *Client, of any) (*contextmem.IngestResult, error) {
	if err := errors.Join(f.err, f.w.Close()); err != nil {
		return nil, err
	}
	var a wire.Ingested
	q := request{op: f.op, method: http.MethodPost, path: "/context/ingest", body: f.b.Bytes(), contentType: f.w.FormDataContentType(), once: f.once, of: of}
	if _, err := c.send(ctx, q, &a); err != nil {
		return nil, err
	}
	res := &contextmem.IngestResult{Items: make([]contextmem.IngestItem, len(a.Results)), Accepted: a.Count, Failed: a.Failed, Skipped: a.Skipped}
	for i := range a.Results {
		r := &a.Results[i]
		res.Items[i] = ingestItem(r)
		if r.Error != nil || r.ErrorCode != nil {
			field, text := wire.CutField(wire.Text(r.Error))
			e := &fault.Error{Op: f.op, ID: fault.ShortID(r.ID), Field: q.field(field), Err: errors.New(text)}
			e.Kind, e.Resource = kindOf(wire.Text(r.ErrorCode), 0)
			if wire.Text(r.ErrorCode) == "CONFLICT" && f.once { // the code has two meanings; an addition has only this one
				e.Kind = fault.KindExists
			}
			res.Items[i].Err = e
		}
	}
	return res, nil
}

// ingestItem converts an item of a response, without its error.
func ingestItem(r *wire.ItemRow) contextmem.IngestItem {
	return contextmem.IngestItem{ID: r.ID, Filename: wire.Text(r.Filename), Title: wire.Text(r.Title), Status: contextmem.Status(r.Status), Infer: r.Infer,
		ForcefulRelationsCreated: r.RelationsCreated, ForcefulRelationsError: wire.Text(r.RelationsError), Skipped: r.Skipped}
}

// timeText returns the JSON form of a time, or "" if it is unknown.
func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339Nano)
}
