package contextmem

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
)

// encodeMap returns the compact JSON of a metadata map, with the request's map
// under it, or nil when there is nothing.
func (in *intake) encodeMap(field string, base, own map[string]any, limit int) (map[string]any, []byte, error) {
	m := own
	if len(base) > 0 {
		m = maps.Clone(base)
		maps.Copy(m, own)
	}
	if len(m) == 0 {
		return nil, nil, nil
	}
	for k := range m {
		if err := checkText(in.op, field, k, 1024); err != nil {
			return nil, nil, err
		}
	}
	plain, why := plainJSON(m, 0)
	if why != "" {
		return nil, nil, in.bad(KindInvalid, field, "%s", why)
	}
	b, err := compactJSON(m)
	if err != nil {
		return nil, nil, in.bad(KindInvalid, field, "can't be written as JSON")
	}
	if len(b) > limit {
		return nil, nil, in.bad(KindInvalid, field, "%d bytes of compact JSON are over the maximum of %d%s", len(b), limit, bytesPerKey(m))
	}
	if !plain { // so that schema and filters see what is stored
		if m, err = decodeMap(b); err != nil {
			return nil, nil, in.bad(KindInvalid, field, "can't be written as JSON")
		}
		if _, why := plainJSON(m, 0); why != "" {
			return nil, nil, in.bad(KindInvalid, field, "%s", why)
		}
	}
	return m, b, nil
}

const maxJSONDepth = 100

// defaultUserName is who speaks in memories that name no one.
const defaultUserName = "User"

// plainJSON tells whether v consists of the types that JSON decodes to and integers;
// fault says what can't be stored of it.
func plainJSON(v any, depth int) (plain bool, fault string) {
	if depth > maxJSONDepth {
		return false, fmt.Sprintf("is nested over %d levels deep", maxJSONDepth)
	}
	switch x := v.(type) {
	case nil, bool, float64, json.Number, int, int64:
		return true, ""
	case string:
		switch {
		case !utf8.ValidString(x):
			return true, "holds text that is not valid UTF-8"
		case strings.IndexByte(x, 0) >= 0:
			return true, "holds a NUL character"
		}
		return true, ""
	case []any:
		plain = true
		for _, e := range x {
			p, why := plainJSON(e, depth+1)
			if why != "" {
				return p, why
			}
			plain = plain && p
		}
		return plain, ""
	case map[string]any:
		plain = true
		for k, e := range x {
			if _, why := plainJSON(k, depth); why != "" {
				return true, why
			}
			p, why := plainJSON(e, depth+1)
			if why != "" {
				return p, why
			}
			plain = plain && p
		}
		return plain, ""
	case []string:
		for _, s := range x {
			if _, why := plainJSON(s, depth); why != "" {
				return false, why
			}
		}
	}
	return false, ""
}

// bytesPerKey lists the largest members of a map that is too large.
func bytesPerKey(m map[string]any) string {
	size := map[string]int{}
	for k, v := range m {
		if j, err := compactJSON(v); err == nil {
			size[k] = len(j) + len(k) + len(`"":,`)
		}
	}
	keys := slices.SortedFunc(maps.Keys(size), func(a, b string) int { return cmp.Or(cmp.Compare(size[b], size[a]), cmp.Compare(a, b)) })
	parts := make([]string, 0, 8)
	for _, k := range keys[:min(len(keys), 8)] {
		parts = append(parts, fmt.Sprintf("%q %d", shortID(k), size[k]))
	}
	return " (bytes by key: " + strings.Join(parts, ", ") + ")"
}

func compactJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// declaredMetadata is the part of metadata that a schema knows; without a schema that is all.
func declaredMetadata(schema []Field, meta map[string]any) map[string]any {
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

// embeddedFields returns the values of metadata fields that join the searches.
func embeddedFields(schema []Field, meta map[string]any) (dense, sparse []string) {
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

// sourceTags is everything that filters can match a source on.
func sourceTags(src backend.Source, doc *item.Doc, meta, add map[string]any) []uint64 {
	tags := []uint64{item.IDTag(src.ID)}
	if src.Title != "" {
		tags = append(tags, item.TitleTag(src.Title))
	}
	layer := func(layer string, m map[string]any) {
		for k, v := range m { // their number is bounded by the size of the map
			if t, ok := item.TagValue(layer, k, v); ok {
				tags = append(tags, t)
			}
		}
	}
	layer(item.LayerMetadata, meta)
	layer(item.LayerAdditional, add)
	for _, f := range [...]struct{ name, value string }{{"type", src.Kind}, {"title", src.Title}, {"description", doc.Description}, {"url", doc.URL}, {"timestamp", doc.Timestamp}} {
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
	tags = append(tags, backTags(decodeRelations(doc))...)
	if len(doc.ACL) == 0 {
		tags = append(tags, backend.Everybody)
	}
	for _, p := range doc.ACL {
		tags = append(tags, item.Tag(item.LayerACL, "", p))
	}
	return tags
}
