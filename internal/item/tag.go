package item

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/contextmem/contextmem/backend"
)

// Layers of tags. A tag is a 64-bit FNV-1a hash of layer, field and value.
const (
	LayerID         = "i"  // the source id
	LayerTitle      = "t"  // the title, lower case
	LayerMetadata   = "m"  // tenant-level metadata
	LayerAdditional = "a"  // document-level metadata
	LayerField      = "f"  // other fields of a source: kind, url, description, timestamp
	LayerApp        = "x"  // provider, kind, external id, thread, parent, status
	LayerLink       = "l"  // targets of a source's relations
	LayerACL        = "ac" // a principal that may see the source; "*" when everybody may
)

// Tag returns the tag of a text value.
func Tag(layer, field, value string) uint64 { return backend.Tag(layer, field, value) }

// TagValue returns the tag of a JSON scalar. It returns false for null, arrays and objects, which
// filters cannot name. Equal numbers have equal tags, however they are written.
func TagValue(layer, field string, v any) (uint64, bool) {
	switch x := v.(type) {
	case string:
		return Tag(layer, field, "s"+x), true
	case bool:
		return Tag(layer, field, "b"+strconv.FormatBool(x)), true
	case json.Number:
		if i, err := x.Int64(); err == nil {
			return Tag(layer, field, "n"+strconv.FormatInt(i, 10)), true
		}
		f, err := x.Float64()
		if err != nil {
			return 0, false
		}
		return TagValue(layer, field, f)
	case float64:
		if x == math.Trunc(x) && math.Abs(x) < 1<<63 {
			return Tag(layer, field, "n"+strconv.FormatInt(int64(x), 10)), true
		}
		return Tag(layer, field, "n"+strconv.FormatFloat(x, 'g', -1, 64)), true
	case float32:
		return TagValue(layer, field, float64(x))
	case int:
		return Tag(layer, field, "n"+strconv.FormatInt(int64(x), 10)), true
	case int8:
		return TagValue(layer, field, int(x))
	case int16:
		return TagValue(layer, field, int(x))
	case int32:
		return TagValue(layer, field, int(x))
	case int64:
		return Tag(layer, field, "n"+strconv.FormatInt(x, 10)), true
	case uint:
		return Tag(layer, field, "n"+strconv.FormatUint(uint64(x), 10)), true
	case uint8:
		return TagValue(layer, field, uint(x))
	case uint16:
		return TagValue(layer, field, uint(x))
	case uint32:
		return TagValue(layer, field, uint(x))
	case uint64:
		return Tag(layer, field, "n"+strconv.FormatUint(x, 10)), true
	}
	return 0, false
}

// TitleTag returns the tag of a whole title; case does not matter.
func TitleTag(title string) uint64 {
	return Tag(LayerTitle, "", strings.ToLower(strings.TrimSpace(title)))
}

// TitleTags returns the tags of a title: that of TitleTag and that of the title as a field. An empty title has none.
func TitleTags(title string) []uint64 {
	if title == "" {
		return nil
	}
	return []uint64{TitleTag(title), Tag(LayerField, "title", title)}
}

// IDTag returns the tag of a source id.
func IDTag(id string) uint64 { return backend.IDTag(id) }

// Visible returns a group of tags. A caller with the given principals may see the sources that have
// at least one of them. Without principals the group is nil, and the caller sees everything.
func Visible(principals []string) []uint64 {
	if len(principals) == 0 {
		return nil
	}
	g := []uint64{backend.Everybody}
	for _, p := range principals {
		g = append(g, Tag(LayerACL, "", p))
	}
	return g
}

// Live reports whether a filter allows a source with the given tags.
func Live(f backend.Filter, tags []uint64) bool {
	has := func(t uint64) bool {
		for _, x := range tags {
			if x == t {
				return true
			}
		}
		return false
	}
	for _, group := range f.All {
		ok := false
		for _, t := range group {
			if has(t) {
				ok = true
				break
			}
		}
		if !ok {
			return false
		}
	}
	for _, t := range f.Not {
		if has(t) {
			return false
		}
	}
	return true
}

// VisibleTo returns the filter of what a caller with the given principals may see. Without principals it allows everything.
func VisibleTo(principals []string) (f backend.Filter) {
	if g := Visible(principals); g != nil {
		f.All = append(f.All, g)
	}
	return f
}
