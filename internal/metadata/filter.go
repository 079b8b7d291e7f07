package metadata

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/item"
)

// Limits of filters.
const (
	maxFilterBytes  = 65536 // bytes of the compact JSON of a filter
	maxFilterValues = 500   // values in one list
)

// Filter turns conditions into tags. lists allows a list of values, of which one
// has to match. Fields that cannot be filtered on are left out with a warning, or
// refused if f is strict. So are, but for being left out, values that the type of
// their field can never have.
func Filter(op string, schema []content.Field, f content.Filters, lists bool) (backend.Filter, []fault.Warning, error) {
	var out backend.Filter
	var warnings []fault.Warning
	if len(f.Metadata) == 0 && len(f.Additional) == 0 {
		return out, nil, nil
	}
	b, err := CompactJSON(map[string]any{"m": f.Metadata, "additional_metadata": f.Additional})
	if err != nil {
		return out, nil, fault.Fieldf(op, fault.KindInvalid, fault.Search, "Filters", "can't be written as JSON")
	}
	if len(b) > maxFilterBytes {
		return out, nil, fault.Fieldf(op, fault.KindInvalid, fault.Search, "Filters", "%d bytes of compact JSON are over the limit of %d", len(b), maxFilterBytes)
	}
	group := func(layer, field, key string, v any, varchar bool) error {
		vals := []any{v}
		switch x := anyList(v).(type) {
		case map[string]any:
			return fault.Fieldf(op, fault.KindInvalid, fault.Search, field, "operators and objects are not supported: only equality")
		case nil:
			return fault.Fieldf(op, fault.KindInvalid, fault.Search, field, "null can't be matched")
		case []any:
			if !lists {
				return fault.Fieldf(op, fault.KindInvalid, fault.Search, field, "a list is not supported here: give one value")
			}
			if !varchar {
				return fault.Fieldf(op, fault.KindInvalid, fault.Search, field, "a list needs a VARCHAR field")
			}
			if len(x) > maxFilterValues {
				return fault.Fieldf(op, fault.KindInvalid, fault.Search, field, "%d values are over the limit of %d", len(x), maxFilterValues)
			}
			vals = x
		}
		tags := []uint64{}
		for _, v := range vals {
			t, ok := item.TagValue(layer, key, v)
			if !ok {
				return fault.Fieldf(op, fault.KindInvalid, fault.Search, field, "want a string, number or boolean, got %s", JSONType(v))
			}
			tags = append(tags, t)
		}
		out.All = append(out.All, tags)
		return nil
	}
	for _, key := range SortedKeys(f.Metadata) {
		fd := FindField(schema, key)
		field := "Filters.Metadata." + fault.ShortID(key)
		if fd == nil || !fd.Match {
			why := "is not declared in the metadata schema"
			if fd != nil {
				why = "is declared without enable_match"
			}
			if f.Strict {
				return out, nil, fault.Fieldf(op, fault.KindInvalid, fault.Search, field, "%s", why)
			}
			warnings = append(warnings, fault.Warning{Code: "ignored_filter", Field: field, Message: fmt.Sprintf("filter %q was ignored: it %s", fault.ShortID(key), why)})
			continue
		}
		if err := group(item.LayerMetadata, field, key, f.Metadata[key], fd.Type == content.Varchar); err != nil {
			return out, nil, err
		}
		if why := neverMatches(fd, f.Metadata[key]); why != "" {
			if f.Strict {
				return out, nil, fault.Fieldf(op, fault.KindInvalid, fault.Search, field, "%s", why)
			}
			warnings = append(warnings, fault.Warning{Code: "unmatched_filter", Field: field, Message: fmt.Sprintf("filter %q matches nothing: %s", fault.ShortID(key), why)})
		}
	}
	for _, key := range SortedKeys(f.Additional) {
		if err := group(item.LayerAdditional, "Filters.Additional."+fault.ShortID(key), key, f.Additional[key], true); err != nil {
			return out, nil, err
		}
	}
	return out, warnings, nil
}

// neverMatches says why no item can have the value of a condition, or any of its values; empty: one can.
func neverMatches(f *content.Field, v any) string {
	vals, ok := anyList(v).([]any)
	if !ok {
		vals = []any{v}
	}
	why := ""
	for _, v := range vals {
		err := checkValue(f, v)
		if err == nil {
			return ""
		}
		why = err.Error()
	}
	return why
}

// anyList returns a list of a Go caller, such as []string, as []any, and other values as they are.
func anyList(v any) any {
	l := reflect.ValueOf(v)
	if l.Kind() != reflect.Slice || l.Type().Elem().Kind() == reflect.Uint8 {
		return v // bytes are no list
	}
	if x, ok := v.([]any); ok {
		return x
	}
	out := make([]any, l.Len())
	for i := range out {
		out[i] = l.Index(i).Interface()
	}
	return out
}

// SortedKeys returns the keys of m, sorted.
func SortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
