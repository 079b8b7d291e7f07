package contextmem

import (
	"fmt"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
)

// filter turns conditions into tags. lists allows a list of values, of which one
// has to match. Fields that can't be filtered on are left out and reported, or
// refused when the caller asked for that.
func (s *Service) filter(op string, schema []Field, f Filters, lists bool) (backend.Filter, []Warning, error) {
	var out backend.Filter
	var warnings []Warning
	if len(f.Metadata) == 0 && len(f.Additional) == 0 {
		return out, nil, nil
	}
	b, err := compactJSON(map[string]any{"m": f.Metadata, "additional_metadata": f.Additional})
	if err != nil {
		return out, nil, fieldError(op, KindInvalid, ResourceSearch, "metadata_filters", "can't be written as JSON")
	}
	if len(b) > maxFilterBytes {
		return out, nil, fieldError(op, KindInvalid, ResourceSearch, "metadata_filters", "%d bytes of compact JSON are over the limit of %d", len(b), maxFilterBytes)
	}
	group := func(layer, field, key string, v any, varchar bool) error {
		vals := []any{v}
		switch x := v.(type) {
		case map[string]any:
			return fieldError(op, KindInvalid, ResourceSearch, field, "operators and objects are not supported: only equality")
		case nil:
			return fieldError(op, KindInvalid, ResourceSearch, field, "null can't be matched")
		case []any:
			if !lists {
				return fieldError(op, KindInvalid, ResourceSearch, field, "a list is not supported here: give one value")
			}
			if !varchar {
				return fieldError(op, KindInvalid, ResourceSearch, field, "a list needs a VARCHAR field")
			}
			if len(x) > maxFilterValues {
				return fieldError(op, KindInvalid, ResourceSearch, field, "%d values are over the limit of %d", len(x), maxFilterValues)
			}
			vals = x
		}
		tags := []uint64{}
		for _, v := range vals {
			t, ok := item.TagValue(layer, key, v)
			if !ok {
				return fieldError(op, KindInvalid, ResourceSearch, field, "want a string, number or boolean, got %s", jsonType(v))
			}
			tags = append(tags, t)
		}
		out.All = append(out.All, tags)
		return nil
	}
	for _, key := range sortedKeys(f.Metadata) {
		fd := findField(schema, key)
		field := "metadata_filters." + shortID(key)
		if fd == nil || !fd.Match {
			why := "is not declared in the metadata schema"
			if fd != nil {
				why = "is declared without enable_match"
			}
			if f.Strict {
				return out, nil, fieldError(op, KindInvalid, ResourceSearch, field, "%s", why)
			}
			warnings = append(warnings, Warning{Code: "ignored_filter", Field: field, Message: fmt.Sprintf("filter %q was ignored: it %s", shortID(key), why)})
			continue
		}
		if err := group(item.LayerMetadata, field, key, f.Metadata[key], fd.Type == Varchar); err != nil {
			return out, nil, err
		}
	}
	for _, key := range sortedKeys(f.Additional) {
		if err := group(item.LayerAdditional, "metadata_filters.additional_metadata."+shortID(key), key, f.Additional[key], true); err != nil {
			return out, nil, err
		}
	}
	return out, warnings, nil
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
