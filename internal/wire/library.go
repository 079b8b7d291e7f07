package wire

import (
	"reflect"

	"strings"

	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// fieldOfMessage matches the beginning of an error message that names a field, as fault.Error writes it.
var fieldOfMessage = lazyregexp.New(`^field "((?:[^"\\]|\\.)*)": `)

// CutField splits the message of an error into the field that it names, if any, and the rest.
func CutField(message string) (field, rest string) {
	m := fieldOfMessage.Compiled().FindStringSubmatch(message)
	if m == nil {
		return "", message
	}
	return m[1], message[len(m[0]):]
}

// LibraryField returns the path of the field for which a name of the second generation stands in requests of a type. It is the inverse of
// [Field]; where several fields have one name it is the one that contains the others. It returns the name if there is no such field.
func LibraryField(name string, of reflect.Type) string {
	given := strings.Split(name, ".")
	var best string
	var taken, steps int
	for _, n := range wireNames {
		as := n.gen2
		if as == "" {
			as = n.gen1
		}
		parts := strings.Split(as, ".")
		if n.request != "" && n.request != of.Name() || !leads(parts, given) {
			continue
		}
		path := filled(n.path, parts, given, of)
		if long := strings.Count(n.path, "."); hasField(of, path) && (len(parts) > taken || len(parts) == taken && long < steps) {
			best, taken, steps = path, len(parts), long
		}
	}
	if taken == 0 {
		return name
	}
	return strings.Join(append([]string{best}, given[taken:]...), ".")
}

// filled returns a path of the table with the indexes and keys that a name has where parts, the row's own name, leave them open.
func filled(path string, parts, given []string, of reflect.Type) string {
	var indexes, keys []string
	tail := ""
	for i, p := range parts {
		own, index, found := strings.Cut(given[i], "[")
		part, open := strings.CutSuffix(p, "[]")
		switch {
		case open:
			indexes = append(indexes, "["+index)
		case found: // the row's name ends before the index
			tail = "[" + index
		}
		switch {
		case part == "*" && open:
			keys = append(keys, LibraryField(own, of))
		case part == "*":
			keys = append(keys, own)
		}
	}
	for _, k := range keys {
		path = strings.Replace(path, "*", k, 1)
	}
	for _, i := range indexes {
		path = strings.Replace(path, "[]", i, 1)
	}
	return path + tail
}

// hasField reports whether a type has a field at a path with indexes and keys.
func hasField(of reflect.Type, path string) bool {
	for part := range strings.SplitSeq(path, ".") {
		for of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		if of.Kind() == reflect.Map { // part is a key
			of = of.Elem()
			continue
		}
		own, _, indexed := strings.Cut(part, "[")
		if of.Kind() != reflect.Struct {
			return false
		}
		f, ok := of.FieldByName(own)
		if !ok {
			return false
		}
		if of = f.Type; indexed && of.Kind() == reflect.Slice {
			of = of.Elem()
		}
	}
	return true
}
