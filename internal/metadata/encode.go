package metadata

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
	"github.com/contextmem/contextmem/fault"
)

// EncodeMap merges base and own, where own wins, and returns the map with its compact JSON,
// or nil if both are empty. It fails if the JSON is larger than limit bytes.
func EncodeMap(op, field string, base, own map[string]any, limit int) (map[string]any, []byte, error) {
	m := own
	if len(base) > 0 {
		m = maps.Clone(base)
		maps.Copy(m, own)
	}
	if len(m) == 0 {
		return nil, nil, nil
	}
	for k := range m {
		if err := fault.CheckText(op, field, k, 1024); err != nil {
			return nil, nil, err
		}
	}
	plain, why := plainJSON(m, 0)
	if why != "" {
		return nil, nil, fault.Fieldf(op, fault.KindInvalid, "", field, "%s", why)
	}
	b, err := CompactJSON(m)
	if err != nil {
		return nil, nil, fault.Fieldf(op, fault.KindInvalid, "", field, "can't be written as JSON")
	}
	if len(b) > limit {
		return nil, nil, fault.Fieldf(op, fault.KindInvalid, "", field, "%d bytes of compact JSON are over the maximum of %d%s", len(b), limit, bytesPerKey(m))
	}
	if !plain { // schema and filters have to see the stored values
		if m, err = DecodeMap(b); err != nil {
			return nil, nil, fault.Fieldf(op, fault.KindInvalid, "", field, "can't be written as JSON")
		}
		if _, why := plainJSON(m, 0); why != "" {
			return nil, nil, fault.Fieldf(op, fault.KindInvalid, "", field, "%s", why)
		}
	}
	return m, b, nil
}

const maxJSONDepth = 100

// plainJSON reports whether v consists of integers and the types that JSON decodes to.
// why says why v cannot be stored; empty if it can.
func plainJSON(v any, depth int) (plain bool, why string) {
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

// bytesPerKey lists the largest members of a map, for the error about a map that is too large.
func bytesPerKey(m map[string]any) string {
	size := map[string]int{}
	for k, v := range m {
		if j, err := CompactJSON(v); err == nil {
			size[k] = len(j) + len(k) + len(`"":,`)
		}
	}
	keys := slices.SortedFunc(maps.Keys(size), func(a, b string) int { return cmp.Or(cmp.Compare(size[b], size[a]), cmp.Compare(a, b)) })
	parts := make([]string, 0, 8)
	for _, k := range keys[:min(len(keys), 8)] {
		parts = append(parts, fmt.Sprintf("%q %d", fault.ShortID(k), size[k]))
	}
	return " (bytes by key: " + strings.Join(parts, ", ") + ")"
}

// CompactJSON returns v as JSON without white space and without HTML escapes.
func CompactJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// DecodeMap decodes a stored metadata map. Numbers keep their text; empty input decodes to nil.
func DecodeMap(b []byte) (map[string]any, error) {
	if len(b) == 0 {
		return nil, nil
	}
	var m map[string]any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&m); err != nil {
		return nil, fmt.Errorf("metadata of a source: %w", backend.ErrCorrupt)
	}
	return m, nil
}
