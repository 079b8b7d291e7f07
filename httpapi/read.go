package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/contextmem/contextmem"
)

// errorText is the message of an item that failed.
func errorText(err error) string {
	var ce *contextmem.Error
	if errors.As(err, &ce) {
		return ce.Message()
	}
	return "internal error"
}

func itemCode(err error) string {
	var ce *contextmem.Error
	if errors.As(err, &ce) {
		return lookup(ce.Kind, ce.Resource, gen2).code
	}
	return "INTERNAL_ERROR"
}

// schemaFields reads schema entries.
func schemaFields(field string, v any) ([]contextmem.Field, error) {
	list, err := toList(field, v)
	if err != nil {
		return nil, err
	}
	var out []contextmem.Field
	for i, e := range list {
		at := field + "[" + strconv.Itoa(i) + "]"
		m, err := toObject(at, e)
		if err != nil || m == nil {
			return nil, bad(contextmem.KindUnprocessed, at, "want an object, got %s", typeName(e))
		}
		var f contextmem.Field
		if f.Name, err = toString(at+".name", m["name"]); err != nil {
			return nil, err
		}
		typ, err := toString(at+".data_type", m["data_type"])
		if err != nil {
			return nil, err
		}
		f.Type = contextmem.DataType(typ)
		if v, ok := m["max_length"]; ok && v != nil {
			if f.MaxLength, err = toInt(at+".max_length", v, false); err != nil {
				return nil, err
			}
			if f.MaxLength == 0 {
				return nil, bad(contextmem.KindInvalid, at+".max_length", "must be at least 1")
			}
		}
		var filterable, searchable, nullable bool
		for _, b := range []struct {
			name string
			to   *bool
			def  bool
		}{{"enable_match", &f.Match, false}, {"filterable", &filterable, false}, {"enable_dense_embedding", &f.Dense, false}, {"enable_sparse_embedding", &f.Sparse, false},
			{"searchable", &searchable, false}, {"enable_analyzer", &f.Analyzer, false}, {"nullable", &nullable, true}} {
			if *b.to, err = toBool(at+"."+b.name, m[b.name], b.def, false); err != nil {
				return nil, err
			}
		}
		f.Match = f.Match || filterable
		if searchable && m["enable_dense_embedding"] == nil && m["enable_sparse_embedding"] == nil {
			f.Dense, f.Sparse = true, true
		}
		f.Required = !nullable
		out = append(out, f)
	}
	return out, nil
}

func schemaJSON(fs []contextmem.Field) []map[string]any {
	out := make([]map[string]any, len(fs))
	for i, f := range fs {
		out[i] = map[string]any{"name": f.Name, "data_type": string(f.Type), "max_length": f.MaxLength, "enable_match": f.Match, "enable_dense_embedding": f.Dense,
			"enable_sparse_embedding": f.Sparse, "enable_analyzer": f.Analyzer, "nullable": !f.Required}
	}
	return out
}

// metadataMap reads a metadata object that may also come as a JSON string.
func metadataMap(field string, v any) (map[string]any, error) {
	if s, ok := v.(string); ok {
		if strings.TrimSpace(s) == "" {
			return nil, nil
		}
		return parseObject(field, []byte(s), DefaultMaxJSONDepth)
	}
	return toObject(field, v)
}

// itemMaps reads the two metadata maps of an item under all their names.
func itemMaps(at string, m map[string]any) (meta, additional map[string]any, err error) {
	v, err := unite(m, at, "metadata", "tenant_metadata", "database_metadata")
	if err != nil {
		return nil, nil, err
	}
	if meta, err = metadataMap(at+"metadata", v); err != nil {
		return nil, nil, err
	}
	if v, err = unite(m, at, "additional_metadata", "document_metadata"); err != nil {
		return nil, nil, err
	}
	additional, err = metadataMap(at+"additional_metadata", v)
	return meta, additional, err
}

// relations reads forceful relations: an object with ids, or an array of typed links.
func relations(at string, v any) (*contextmem.Relations, error) {
	switch x := v.(type) {
	case nil:
		return nil, nil
	case []any:
		out := &contextmem.Relations{}
		for i, e := range x {
			l, err := link(at+"["+strconv.Itoa(i)+"]", e)
			if err != nil {
				return nil, err
			}
			out.Links = append(out.Links, l)
		}
		return out, nil
	case map[string]any:
		out := &contextmem.Relations{}
		for _, name := range []string{"ids", "source_ids", "cortex_source_ids", "hydradb_source_ids"} {
			ids, err := toStrings(at+"."+name, x[name])
			if err != nil {
				return nil, err
			}
			for _, id := range ids {
				if !slices.Contains(out.IDs, id) {
					out.IDs = append(out.IDs, id)
				}
			}
		}
		var err error
		out.Properties, err = toObject(at+".properties", x["properties"])
		return out, err
	}
	return nil, bad(contextmem.KindUnprocessed, at, "want an object or an array, got %s", typeName(v))
}

func link(at string, v any) (contextmem.Link, error) {
	var l contextmem.Link
	m, ok := v.(map[string]any)
	if !ok {
		return l, bad(contextmem.KindUnprocessed, at, "want an object, got %s", typeName(v))
	}
	target, err := toObject(at+".target", m["target"])
	if err != nil {
		return l, err
	}
	id, err := unite(target, at+".target.", "id", "source_id")
	if err != nil {
		return l, err
	}
	for _, s := range []struct {
		name string
		v    any
		to   *string
	}{{"predicate", m["predicate"], &l.Predicate}, {"target.id", id, &l.TargetID}, {"target.provider", target["provider"], &l.Provider}, {"target.external_id", target["external_id"], &l.ExternalID}} {
		if *s.to, err = toString(at+"."+s.name, s.v); err != nil {
			return l, err
		}
	}
	l.Properties, err = toObject(at+".properties", m["properties"])
	return l, err
}

// memories reads memory items.
func memories(field string, v any) ([]contextmem.Memory, error) {
	list, err := toList(field, v)
	if err != nil {
		return nil, err
	}
	out := make([]contextmem.Memory, len(list))
	for i, e := range list {
		at := field + "[" + strconv.Itoa(i) + "]."
		m, ok := e.(map[string]any)
		if !ok {
			return nil, bad(contextmem.KindUnprocessed, strings.TrimSuffix(at, "."), "want an object, got %s", typeName(e))
		}
		if out[i], err = memory(at, m); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func memory(at string, m map[string]any) (contextmem.Memory, error) {
	var x contextmem.Memory
	id, err := unite(m, at, "source_id", "id", "memory_id")
	if err != nil {
		return x, err
	}
	var date string
	for _, s := range []struct {
		name string
		v    any
		to   *string
	}{{"source_id", id, &x.ID}, {"text", m["text"], &x.Text}, {"title", m["title"], &x.Title}, {"user_name", m["user_name"], &x.UserName},
		{"custom_instructions", m["custom_instructions"], &x.Instructions}, {"observation_date", m["observation_date"], &date}} {
		if *s.to, err = toString(at+s.name, s.v); err != nil {
			return x, err
		}
	}
	if x.Markdown, err = toBool(at+"is_markdown", m["is_markdown"], false, false); err != nil {
		return x, err
	}
	if x.Infer, err = toBool(at+"infer", m["infer"], false, false); err != nil {
		return x, err
	}
	if v := m["expiry_time"]; v != nil {
		n, err := toInt(at+"expiry_time", v, false)
		if err != nil {
			return x, err
		}
		if n < 1 {
			return x, bad(contextmem.KindInvalid, at+"expiry_time", "must be at least 1 second")
		}
		x.TTL = time.Duration(n) * time.Second
	}
	if date != "" {
		if x.Time, err = time.Parse(time.DateOnly, date); err != nil {
			return x, bad(contextmem.KindInvalid, at+"observation_date", "must have the form YYYY-MM-DD")
		}
	}
	if x.Pairs, err = pairs(at+"user_assistant_pairs", m["user_assistant_pairs"]); err != nil {
		return x, err
	}
	if x.Metadata, x.AdditionalMetadata, err = itemMaps(at, m); err != nil {
		return x, err
	}
	x.Relations, err = relations(at+"relations", m["relations"])
	return x, err
}

func pairs(field string, v any) ([]contextmem.Pair, error) {
	wrong := func(format string, args ...any) error {
		return &contextmem.Error{Kind: contextmem.KindUnprocessed, Resource: contextmem.ResourceMemory, Field: field, Err: fmt.Errorf(format, args...)}
	}
	if v == nil {
		return nil, nil
	}
	list, ok := v.([]any)
	if !ok {
		return nil, wrong("want an array, got %s", typeName(v))
	}
	out := make([]contextmem.Pair, len(list))
	for i, e := range list {
		m, ok := e.(map[string]any)
		if !ok {
			return nil, wrong("entry %d: want an object with user and assistant, got %s", i, typeName(e))
		}
		for _, s := range []struct {
			name string
			to   *string
		}{{"user", &out[i].User}, {"assistant", &out[i].Assistant}} {
			switch t := m[s.name].(type) {
			case nil:
			case string:
				*s.to = t
			default:
				return nil, wrong("entry %d: %s: want a string, got %s", i, s.name, typeName(t))
			}
		}
	}
	return out, nil
}

// filters reads metadata_filters: top-level keys are tenant-level, a nested map is document-level.
func filters(in *input, field string) (contextmem.Filters, error) {
	var f contextmem.Filters
	var err error
	if f.Strict, err = in.boolean("strict_filters", false); err != nil {
		return f, err
	}
	m, err := in.object(field)
	if err != nil || m == nil {
		return f, err
	}
	for _, name := range []string{"additional_metadata", "document_metadata"} {
		nested, err := toObject(field+"."+name, m[name])
		if err != nil {
			return f, err
		}
		for k, v := range nested {
			if old, ok := f.Additional[k]; ok && !sameValue(old, v) {
				return f, bad(contextmem.KindInvalid, field+"."+name+"."+k, "differs between the two names of the nested map")
			}
			if f.Additional == nil {
				f.Additional = map[string]any{}
			}
			f.Additional[k] = v
		}
	}
	for k, v := range m {
		if k == "additional_metadata" || k == "document_metadata" {
			continue
		}
		if f.Metadata == nil {
			f.Metadata = map[string]any{}
		}
		f.Metadata[k] = v
	}
	return f, nil
}

// scalarsOnly refuses lists, which the first generation does not know.
func scalarsOnly(field string, f contextmem.Filters) error {
	for _, m := range []map[string]any{f.Metadata, f.Additional} {
		for k, v := range m {
			if _, ok := v.([]any); ok {
				return bad(contextmem.KindInvalid, field+"."+k, "only equality with one value is supported")
			}
		}
	}
	return nil
}

// alpha reads a number or "auto".
func alpha(in *input) (contextmem.Alpha, error) {
	v := in.fields.get("alpha")
	if v == nil {
		return contextmem.Alpha{}, nil
	}
	if s, ok := v.(string); ok {
		if s == "auto" {
			return contextmem.AutoAlpha(), nil
		}
		return contextmem.Alpha{}, bad(contextmem.KindInvalid, "alpha", `must be a number from 0 to 1, or "auto"`)
	}
	f, err := toFloat("alpha", v)
	return contextmem.FixedAlpha(f), err
}

// expiry reads expiry_seconds.
func expiry(in *input) (time.Duration, error) {
	n, err := in.integer("expiry_seconds", 3600)
	if err != nil {
		return 0, err
	}
	return time.Duration(n) * time.Second, ranged("expiry_seconds", n, 60, 604800)
}

// graphs reads graph_payload.
func graphs(v any) (map[string]contextmem.SuppliedGraph, error) {
	if v == nil {
		return nil, nil
	}
	m, err := toObject("graph_payload", v)
	if err != nil {
		return nil, err
	}
	type entity struct{ Name, Type, Namespace, Identifier *string }
	type relation struct {
		Source, Target, Predicate string
		Context                   *string
		Temporal                  *string `json:"temporal_details"`
	}
	str := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	out := map[string]contextmem.SuppliedGraph{}
	for id, g := range m {
		b, err := json.Marshal(g)
		if err != nil {
			return nil, bad(contextmem.KindInvalid, "graph_payload", "is not valid JSON")
		}
		var p struct {
			Entities  map[string]entity
			Relations []relation
		}
		if err := json.Unmarshal(b, &p); err != nil {
			return nil, bad(contextmem.KindUnprocessed, "graph_payload", "an entry has members of the wrong type")
		}
		sg := contextmem.SuppliedGraph{Entities: map[string]contextmem.SuppliedEntity{}}
		for h, e := range p.Entities {
			sg.Entities[h] = contextmem.SuppliedEntity{Name: str(e.Name), Type: str(e.Type), Namespace: str(e.Namespace), Identifier: str(e.Identifier)}
		}
		for _, r := range p.Relations {
			sg.Relations = append(sg.Relations, contextmem.SuppliedRelation{Source: r.Source, Target: r.Target, Predicate: r.Predicate, Context: str(r.Context), Temporal: str(r.Temporal)})
		}
		out[id] = sg
	}
	return out, nil
}

// splitIDs splits comma-joined ids that name no item as a whole.
func splitIDs(ids []string, known func(id string) bool) []string {
	var out []string
	for _, id := range ids {
		if strings.TrimSpace(id) == "" {
			continue
		}
		if !strings.Contains(id, ",") || known(id) {
			out = append(out, id)
			continue
		}
		for _, p := range strings.Split(id, ",") {
			if p = strings.TrimSpace(p); p != "" {
				out = append(out, p)
			}
		}
	}
	return out
}
