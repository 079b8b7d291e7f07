package httpapi

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/contextmem/contextmem"
)

// entryKeys are the keys of a document_metadata entry.
var entryKeys = []string{"id", "file_id", "source_id", "title", "type", "metadata", "tenant_metadata", "additional_metadata", "document_metadata", "relations", "infer", "url", "timestamp", "description"}

// knowledgeBatch reads files, their entries and app items from a form.
func (c *call) knowledgeBatch(entriesField string) (contextmem.KnowledgeBatch, error) {
	var b contextmem.KnowledgeBatch
	upsert, err := c.in.boolean("upsert", true)
	if err != nil {
		return b, err
	}
	b.FailIfExists = !upsert
	v, err := c.in.jsonField(entriesField, c.api.o.MaxJSONDepth)
	if err != nil {
		return b, err
	}
	var entries []any
	if v != nil {
		if entries, err = toList(entriesField, v); err != nil {
			return b, err
		}
		if len(entries) != len(c.in.files) {
			return b, bad(contextmem.KindUnprocessed, entriesField, "has %d entries for %d files", len(entries), len(c.in.files))
		}
	}
	for i, part := range c.in.files {
		f := contextmem.File{Name: part.name, ContentType: part.contentType, Data: part.data}
		if part.spooled != "" {
			f.Data, f.Open = nil, part.open
		} else if f.Data == nil {
			f.Data = []byte{}
		}
		if f.ContentType == "application/octet-stream" { // what clients send when they don't know
			f.ContentType = ""
		}
		if entries != nil {
			if err := c.fileEntry(entriesField+"["+strconv.Itoa(i)+"]", entries[i], &f); err != nil {
				return b, err
			}
		}
		b.Files = append(b.Files, f)
	}
	if b.Apps, err = c.appItems(); err != nil {
		return b, err
	}
	if b.Metadata, err = c.formMap("metadata"); err != nil {
		return b, err
	}
	if b.AdditionalMetadata, err = c.formMap("additional_metadata"); err != nil {
		return b, err
	}
	v, err = c.in.jsonField("graph_payload", c.api.o.MaxJSONDepth)
	if err != nil {
		return b, err
	}
	b.Graphs, err = graphs(v)
	return b, err
}

func (c *call) formMap(name string) (map[string]any, error) {
	v, err := c.in.jsonField(name, c.api.o.MaxJSONDepth)
	if err != nil {
		return nil, err
	}
	return toObject(name, v)
}

func (c *call) fileEntry(at string, v any, f *contextmem.File) error {
	if v == nil {
		return nil
	}
	m, ok := v.(map[string]any)
	if !ok {
		return bad(contextmem.KindUnprocessed, at, "want an object, got %s", typeName(v))
	}
	if c.rt.family != gen1 {
		for k := range m {
			if !slices.Contains(entryKeys, k) {
				return bad(contextmem.KindInvalid, at+"."+cut(k), "is not a key of an entry")
			}
		}
	}
	at += "."
	id, err := unite(m, at, "id", "file_id", "source_id")
	if err != nil {
		return err
	}
	var stamp string
	for _, s := range []struct {
		name string
		v    any
		to   *string
	}{{"id", id, &f.ID}, {"title", m["title"], &f.Title}, {"type", m["type"], &f.Kind}, {"url", m["url"], &f.URL}, {"description", m["description"], &f.Description}, {"timestamp", m["timestamp"], &stamp}} {
		if *s.to, err = toString(at+s.name, s.v); err != nil {
			return err
		}
	}
	if err := c.noComma(at+"id", f.ID); err != nil {
		return err
	}
	if stamp != "" {
		if f.Time, err = readTime(at+"timestamp", stamp); err != nil {
			return err
		}
	}
	if f.Metadata, f.AdditionalMetadata, err = itemMaps(at, m); err != nil {
		return err
	}
	f.Relations, err = relations(at+"relations", m["relations"])
	return err
}

func cut(s string) string {
	if len(s) > 100 {
		return strings.ToValidUTF8(s[:100], "") + "…"
	}
	return s
}

// noComma refuses ids that the status endpoint of the second generation would split.
func (c *call) noComma(field, id string) error {
	if c.rt.family != gen1 && strings.Contains(id, ",") {
		return bad(contextmem.KindInvalid, field, "must not hold a comma: commas separate ids in status requests")
	}
	return nil
}

func readTime(field, s string) (time.Time, error) {
	for _, l := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", time.DateOnly} {
		if t, err := time.Parse(l, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, bad(contextmem.KindInvalid, field, "must be an ISO 8601 time")
}

// appItems reads app_knowledge: one object or an array of them.
func (c *call) appItems() ([]contextmem.AppItem, error) {
	v, err := c.in.jsonField("app_knowledge", c.api.o.MaxJSONDepth)
	if err != nil || v == nil {
		return nil, err
	}
	if m, ok := v.(map[string]any); ok {
		v = []any{m}
	}
	list, err := toList("app_knowledge", v)
	if err != nil {
		return nil, err
	}
	out := make([]contextmem.AppItem, len(list))
	for i, e := range list {
		at := "app_knowledge[" + strconv.Itoa(i) + "]"
		m, ok := e.(map[string]any)
		if !ok {
			return nil, bad(contextmem.KindUnprocessed, at, "want an object, got %s", typeName(e))
		}
		if out[i], err = c.appItem(at+".", m); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// appItem reads an item. What refuses the whole call is an error: metadata, a scope or an id
// against the rules. A scope that is missing and a member of the wrong type fail the item alone.
func (c *call) appItem(at string, m map[string]any) (contextmem.AppItem, error) {
	a, err := c.appFields(at, m)
	var ce *contextmem.Error
	if errors.As(err, &ce) && ce.Kind == contextmem.KindUnprocessed {
		a.Fault, err = err, nil
	}
	if err != nil {
		return a, err
	}
	if err := c.noComma(at+"id", a.ID); err != nil {
		return a, err
	}
	a.Metadata, a.AdditionalMetadata, err = itemMaps(at, m)
	return a, err
}

func (c *call) appFields(at string, m map[string]any) (contextmem.AppItem, error) {
	var a contextmem.AppItem
	var kind string
	var err error
	for _, s := range []struct {
		name string
		to   *string
	}{{"id", &a.ID}, {"title", &a.Title}, {"type", &a.Type}, {"kind", &kind}, {"provider", &a.Provider}, {"external_id", &a.ExternalID}, {"parent_external_id", &a.ParentExternalID},
		{"thread_id", &a.ThreadID}, {"description", &a.Description}, {"note", &a.Note}, {"url", &a.URL}, {"timestamp", &a.Timestamp}} {
		if *s.to, err = toString(at+s.name, m[s.name]); err != nil {
			return a, err
		}
	}
	if err := c.appScope(at, m); err != nil {
		return a, err
	}
	a.Kind = contextmem.AppKind(kind)
	if src, _ := m["source"].(string); src != "" && a.Provider == "" {
		a.Provider = src
	}
	if a.Fields, err = toObject(at+"fields", m["fields"]); err != nil {
		return a, err
	}
	if a.Content, err = appContent(at+"content", m["content"]); err != nil {
		return a, err
	}
	for _, l := range []struct {
		name string
		to   *[]map[string]any
	}{{"attachments", &a.Attachments}, {"comments", &a.Comments}} {
		if *l.to, err = objects(at+l.name, m[l.name]); err != nil {
			return a, err
		}
	}
	if a.Meta, err = toObject(at+"meta", m["meta"]); err != nil {
		return a, err
	}
	if a.ACL, err = toStrings(at+"acl", m["acl"]); err != nil {
		return a, err
	}
	a.Relations, err = relations(at+"relations", m["relations"])
	return a, err
}

// appScope checks the scope that an item names against the form's; the first generation wants one in every item.
func (c *call) appScope(at string, m map[string]any) error {
	for _, f := range []struct{ field, a, b string }{{c.scopeField(), "tenant_id", "database"}, {c.subField(), "sub_tenant_id", "collection"}} {
		v, err := unite(m, at, f.a, f.b)
		if err != nil {
			return err
		}
		own, err := toString(at+f.a, v)
		if err != nil {
			return err
		}
		want, err := c.in.str(f.field)
		if err != nil {
			return err
		}
		if v == nil {
			if c.rt.family == gen1 {
				return bad(contextmem.KindUnprocessed, at+f.a, "is required in every item")
			}
			continue
		}
		if own != want {
			return bad(contextmem.KindInvalid, at+f.a, "differs from the request's %s", f.field)
		}
	}
	return nil
}

func objects(field string, v any) ([]map[string]any, error) {
	list, err := toList(field, v)
	if err != nil {
		return nil, err
	}
	out := make([]map[string]any, len(list))
	for i, e := range list {
		m, ok := e.(map[string]any)
		if !ok {
			return nil, bad(contextmem.KindUnprocessed, field+"["+strconv.Itoa(i)+"]", "want an object, got %s", typeName(e))
		}
		out[i] = m
	}
	return out, nil
}

func appContent(field string, v any) (*contextmem.AppContent, error) {
	m, err := toObject(field, v)
	if err != nil || len(m) == 0 {
		return nil, err
	}
	var a contextmem.AppContent
	for _, s := range []struct {
		name string
		to   *string
	}{{"text", &a.Text}, {"markdown", &a.Markdown}, {"html_base64", &a.HTMLBase64}, {"csv_base64", &a.CSVBase64}} {
		if *s.to, err = toString(field+"."+s.name, m[s.name]); err != nil {
			return nil, err
		}
	}
	if a.Files, err = toList(field+".files", m["files"]); err != nil {
		return nil, err
	}
	a.Layout, err = toList(field+".layout", m["layout"])
	return &a, err
}
