package metadata

import (
	"strings"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/internal/item"
)

// Declared returns the part of metadata that the schema declares. An empty schema declares everything.
func Declared(schema []content.Field, meta map[string]any) map[string]any {
	if len(schema) == 0 {
		return meta
	}
	out := make(map[string]any, len(schema))
	for _, f := range schema {
		if v, ok := meta[f.Name]; ok {
			out[f.Name] = v
		}
	}
	return out
}

// Embedded returns the values of metadata fields that are searched: by vectors (dense) and by keywords (sparse).
func Embedded(schema []content.Field, meta map[string]any) (dense, sparse []string) {
	for _, f := range schema {
		v, _ := meta[f.Name].(string)
		if v == "" {
			continue
		}
		if f.Dense {
			dense = append(dense, v)
		}
		if f.Sparse {
			sparse = append(sparse, v)
		}
	}
	return dense, sparse
}

// Tags returns all tags of a source that filters can match.
func Tags(src backend.Source, doc *item.Doc, meta, add map[string]any) []uint64 {
	tags := []uint64{item.IDTag(src.ID)}
	tags = append(tags, item.TitleTags(src.Title)...)
	if !doc.NamedTitle && src.Filename != src.Title { // the document has its own title
		tags = append(tags, item.TitleTags(src.Filename)...)
	}
	layer := func(layer string, m map[string]any) {
		for k, v := range m { // no bound needed: the size of the map bounds their number
			if t, ok := item.TagValue(layer, k, v); ok {
				tags = append(tags, t)
			}
		}
	}
	layer(item.LayerMetadata, meta)
	layer(item.LayerAdditional, add)
	for _, f := range [...]struct{ name, value string }{{"type", src.Kind}, {"description", doc.Description}, {"url", doc.URL}, {"timestamp", doc.Timestamp}} {
		if f.value != "" {
			tags = append(tags, item.Tag(item.LayerField, f.name, f.value))
		}
	}
	if a := doc.App; a != nil {
		for _, f := range [...]struct{ name, value string }{{"kind", a.Kind}, {"provider", a.Provider}, {"external", a.ExternalID}, {"parent", a.ParentID},
			{"thread", a.ThreadID}, {"status", strings.ToLower(a.Status)}, {"priority", strings.ToLower(a.Priority)}} {
			if f.value != "" {
				tags = append(tags, item.Tag(item.LayerApp, f.name, f.value))
			}
		}
		if a.Provider != "" {
			for _, f := range [...]struct{ name, value string }{{"pexternal", a.ExternalID}, {"pparent", a.ParentID}, {"pthread", a.ThreadID}} {
				if f.value != "" {
					tags = append(tags, item.Tag(item.LayerApp, f.name, a.Provider+"\x00"+f.value))
				}
			}
		}
	}
	tags = append(tags, doc.Linked().Tags()...)
	if len(doc.ACL) == 0 {
		tags = append(tags, backend.Everybody)
	}
	for _, p := range doc.ACL {
		tags = append(tags, item.Tag(item.LayerACL, "", p))
	}
	return tags
}
