package item

import (
	"cmp"
	"strings"
)

// MaxIdentified bounds the bytes of namespace and identifier of an entity together: backends keep keys of up to 512.
const MaxIdentified = 500

// identified begins the key of an entity that has an identifier, and ends its namespace there. No key of a name holds it.
const identified = "\x1f"

// IdentifiedKey returns the key of an entity that a supplied graph identifies in a namespace, which holds no unit
// separator (U+001F). Empty stands for the namespace "default".
func IdentifiedKey(namespace, identifier string) string {
	return identified + cmp.Or(namespace, "default") + identified + identifier
}

// Identified returns what IdentifiedKey made a key of; false: it is that of a name.
func Identified(key string) (namespace, identifier string, ok bool) {
	rest, ok := strings.CutPrefix(key, identified)
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, identified)
}

// ShownKey returns a key as users see it: the name that it stands for, else the identifier.
func ShownKey(key string) string {
	if _, id, ok := Identified(key); ok {
		return id
	}
	return key
}
