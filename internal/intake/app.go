package intake

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/metadata"
)

// appText lists the searchable fields of each kind of item, in order.
var appText = map[content.AppKind][]string{
	content.AppEmail:         {"subject", "body"},
	content.AppMessage:       {"body"},
	content.AppTicket:        {"title", "description"},
	content.AppKnowledgeBase: {"title", "body"},
	content.AppComment:       {"body"},
	content.AppCustom:        {"data"},
}

// appActors lists the fields of each kind of item that name people.
var appActors = map[content.AppKind][]string{
	content.AppEmail:         {"from", "to", "cc", "bcc"},
	content.AppMessage:       {"author", "mentions"},
	content.AppTicket:        {"assignee", "reporter"},
	content.AppKnowledgeBase: {"created_by", "updated_by"},
	content.AppComment:       {"author"},
}

// app adds an app item to the batch. An error in the item's content fails only that item. An
// error in the request fails the whole call.
func (in *batch) app(field string, a *content.AppItem, b Knowledge) error {
	id, err := in.id(field+"ID", a.ID)
	if err != nil {
		return err
	}
	fail := func(format string, args ...any) {
		in.fail(Item{ID: id, Title: a.Title}, fault.Fieldf(in.op, fault.KindUnprocessed, fault.Source, strings.TrimSuffix(field, "."), format, args...))
	}
	if a.Fault != nil {
		in.fail(Item{ID: id, Title: a.Title}, fault.Wrap(in.op, fault.Source, id, a.Fault))
		return nil
	}
	kind := a.Kind
	if fk, ok := a.Fields["kind"].(string); !ok && a.Fields["kind"] != nil {
		fail("fields.kind: want a string, got %s", metadata.JSONType(a.Fields["kind"]))
		return nil
	} else if fk != "" {
		if kind != "" && content.AppKind(fk) != kind {
			fail("fields.kind %q differs from kind %q", fault.ShortID(fk), fault.ShortID(string(kind)))
			return nil
		}
		kind = content.AppKind(fk)
	}
	if kind == "" {
		kind = content.AppCustom
	}
	if _, ok := appText[kind]; !ok {
		fail("unknown kind %q", fault.ShortID(string(kind)))
		return nil
	}
	text, markdown, alone, err := in.appContent(field, kind, a)
	if err != nil {
		return err
	}
	if alone != nil {
		in.fail(Item{ID: id, Title: a.Title}, alone)
		return nil
	}
	if strings.TrimSpace(text) == "" {
		fail("has no searchable text: neither in fields, content, attachments nor comments")
		return nil
	}
	if int64(len(text)) > in.MaxFileBytes {
		return &fault.Error{Op: in.op, Kind: fault.KindTooLarge, Resource: fault.File, ID: fault.ShortID(id), Err: fmt.Errorf("item is over the limit of %d bytes", in.MaxFileBytes)}
	}
	if err := fault.CheckText(in.op, field+"Fields", text, len(text)); err != nil {
		return err
	}
	str := func(name string) string { s, _ := a.Fields[name].(string); return s }
	at, stamp := appTime(a)
	app := &item.App{Kind: string(kind), Provider: a.Provider, ExternalID: a.ExternalID, ParentID: firstOf(a.ParentExternalID, str("parent_id")),
		ThreadID: firstOf(a.ThreadID, str("thread_id")), Status: str("status"), Priority: str("priority"), Actors: actorsOf(kind, a)}
	for _, s := range [...]string{a.Provider, a.ExternalID, app.ParentID, app.ThreadID, app.Status, app.Priority} {
		if err := fault.CheckText(in.op, field+"ExternalID", s, MaxSourceIDBytes); err != nil {
			return err
		}
	}
	for _, m := range []struct {
		to *json.RawMessage
		v  any
		n  int
	}{{&app.Fields, a.Fields, len(a.Fields)}, {&app.Attachments, a.Attachments, len(a.Attachments)}, {&app.Comments, a.Comments, len(a.Comments)}} {
		if m.n == 0 {
			continue
		}
		if *m.to, err = metadata.CompactJSON(m.v); err != nil {
			return in.bad(fault.KindInvalid, field+"Fields", "can't be written as JSON")
		}
	}
	title := firstOf(a.Title, str("subject"), str("title"), item.ShortTitle(text))
	inc := backend.Incoming{Source: backend.Source{ID: id, Title: title, Kind: firstOf(a.Type, a.Provider, string(kind)), MediaType: "text/plain", SizeBytes: int64(len(text)), Time: at},
		Blobs: []backend.Blob{{Kind: backend.Original, Data: []byte(text)}}}
	if markdown {
		inc.MediaType = "text/markdown"
	}
	doc := &item.Doc{URL: firstOf(a.URL, str("url")), Description: a.Description, Note: a.Note, Timestamp: stamp, App: app, NamedTitle: true, ACL: a.ACL}
	if len(a.Meta) > 0 {
		if doc.Meta, err = metadata.CompactJSON(a.Meta); err != nil {
			return in.bad(fault.KindInvalid, field+"Meta", "can't be written as JSON")
		}
	}
	rel := derivedLinks(kind, app, a)
	if err := in.relate(field, rel, doc); err != nil {
		return err
	}
	if err := in.common(field, &inc, doc, b.Metadata, a.Metadata, b.Additional, a.Additional); err != nil {
		return err
	}
	in.add(inc, Item{ID: id, Title: title}, a.ForcefulRelations)
	return nil
}

func firstOf(s ...string) string {
	for _, x := range s {
		if x != "" {
			return x
		}
	}
	return ""
}

// appContent renders the searchable text of an item. alone is an error that fails only the item, err one that fails the call.
func (in *batch) appContent(field string, kind content.AppKind, a *content.AppItem) (text string, markdown bool, alone, err error) {
	var parts []string
	if c := a.Content; c != nil {
		set := 0
		for _, s := range []string{c.Text, c.Markdown, c.HTMLBase64, c.CSVBase64} {
			if s != "" {
				set++
			}
		}
		for _, l := range [][]any{c.Files, c.Layout} {
			if len(l) > 0 {
				set++
			}
		}
		if set > 1 {
			return "", false, nil, in.bad(fault.KindUnprocessed, field+"Content", "only one content kind may be set")
		}
		switch {
		case c.Text != "":
			parts = append(parts, c.Text)
		case c.Markdown != "":
			parts, markdown = append(parts, c.Markdown), true
		case c.HTMLBase64 != "" || c.CSVBase64 != "":
			s, alone := in.decodeContent(field, c)
			if alone != nil {
				return "", false, alone, nil
			}
			parts, markdown = append(parts, s), true
		}
	}
	for _, name := range appText[kind] {
		if name == "data" {
			parts = append(parts, flatten("", a.Fields["data"], 0))
			continue
		}
		switch v := a.Fields[name].(type) {
		case nil:
		case string:
			parts = append(parts, v)
		default:
			return "", false, in.bad(fault.KindUnprocessed, field+"Fields."+name, "want a string, got %s", metadata.JSONType(v)), nil
		}
	}
	for _, at := range a.Attachments {
		c, _ := at["content"].(map[string]any)
		s, _ := c["text"].(string)
		if s == "" {
			s, _ = c["markdown"].(string)
		}
		parts = append(parts, s)
	}
	for _, c := range a.Comments {
		body, _ := c["body"].(string)
		if author := actorName(c["author"]); author != "" && body != "" {
			body = author + ": " + body
		}
		parts = append(parts, body)
	}
	parts = slices.DeleteFunc(parts, func(s string) bool { return strings.TrimSpace(s) == "" })
	return strings.Join(parts, "\n\n"), markdown, nil, nil
}

func (in *batch) decodeContent(field string, c *content.AppContent) (string, error) {
	name, enc, mediaType := "HTMLBase64", c.HTMLBase64, "text/html"
	if enc == "" {
		name, enc, mediaType = "CSVBase64", c.CSVBase64, "text/csv"
	}
	data, err := base64.StdEncoding.DecodeString(enc)
	if err != nil {
		return "", in.bad(fault.KindUnprocessed, field+"Content."+name, "is not valid base64")
	}
	d, err := in.Parsers.Parse(in.Life, document.Input{ContentType: mediaType, Data: data}, document.Limits{Timeout: in.ParseTimeout})
	if err != nil {
		return "", in.bad(fault.KindUnprocessed, field+"Content."+name, "can't be read as %s", mediaType)
	}
	return d.Text, nil
}

// flatten renders any JSON as lines of "path: value".
func flatten(path string, v any, depth int) string {
	if depth > 32 {
		return ""
	}
	line := func(s string) string {
		if path == "" {
			return s
		}
		return path + ": " + s
	}
	var parts []string
	switch x := v.(type) {
	case nil:
	case string:
		return line(x)
	case bool, json.Number, float64, int, int64:
		return line(fmt.Sprint(x))
	case []any:
		for _, e := range x {
			parts = append(parts, flatten(path, e, depth+1))
		}
	case map[string]any:
		keys := make([]string, 0, len(x))
		for k := range x {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		for _, k := range keys {
			p := strings.ReplaceAll(k, "_", " ")
			if path != "" {
				p = path + " " + p
			}
			parts = append(parts, flatten(p, x[k], depth+1))
		}
	}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return strings.Join(parts, "\n")
}

// actorName reads a person from a string or from an object with a name or e-mail.
func actorName(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case map[string]any:
		for _, k := range []string{"name", "display_name", "username", "email", "id"} {
			if s, ok := x[k].(string); ok && s != "" {
				return s
			}
		}
	}
	return ""
}

func actorsOf(kind content.AppKind, a *content.AppItem) []string {
	var out []string
	add := func(v any) {
		if s := actorName(v); s != "" && len(s) <= 256 && len(out) < 100 && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for _, name := range appActors[kind] {
		if list, ok := a.Fields[name].([]any); ok {
			for _, v := range list {
				add(v)
			}
			continue
		}
		add(a.Fields[name])
	}
	for _, c := range a.Comments {
		add(c["author"])
	}
	return out
}

// derivedLinks returns the item's own links and those that its fields imply.
func derivedLinks(kind content.AppKind, app *item.App, a *content.AppItem) *content.ForcefulRelations {
	var r content.ForcefulRelations
	if a.ForcefulRelations != nil {
		r = *a.ForcefulRelations
		r.Links = slices.Clone(r.Links)
	}
	link := func(predicate, external string) {
		if external != "" && app.Provider != "" {
			r.Links = append(r.Links, content.Link{Predicate: predicate, Provider: app.Provider, ExternalID: external})
		}
	}
	switch kind {
	case content.AppMessage:
		link("reply_to", app.ParentID)
	case content.AppComment:
		link("comment_on", app.ParentID)
	default:
		link("child_of", app.ParentID)
	}
	for _, f := range []struct{ field, predicate string }{{"reply_to_id", "reply_to"}, {"forwarded_from_id", "forwarded_from"}} {
		s, _ := a.Fields[f.field].(string)
		link(f.predicate, s)
	}
	if list, ok := a.Fields["linked_issue_ids"].([]any); ok {
		for _, v := range list {
			s, _ := v.(string)
			link("linked_to", s)
		}
	}
	if len(r.IDs) == 0 && len(r.Links) == 0 && a.ForcefulRelations == nil {
		return nil
	}
	return &r
}

// appTime returns the time of an item for recency, taken from its time fields.
func appTime(a *content.AppItem) (time.Time, string) {
	for _, v := range []any{a.Timestamp, a.Fields["updated_at"], a.Fields["created_at"]} {
		if s, ok := v.(string); ok && s != "" {
			if t, ok := metadata.ParseTime(s); ok {
				return t, s
			}
		}
	}
	return time.Time{}, a.Timestamp
}
