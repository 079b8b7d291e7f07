package item

import (
	"cmp"
	"strings"
)

// MaxIdentified is the maximum length in bytes of namespace and identifier together. Backends store keys of up to 512 bytes.
const MaxIdentified = 500

// identified begins the key of an entity with an identifier, and separates namespace and identifier. Keys of names never contain it.
const identified = "\x1f"

// IdentifiedKey returns the key of an entity that a supplied graph identifies in a namespace.
// The namespace must not contain a unit separator (U+001F); empty means "default".
func IdentifiedKey(namespace, identifier string) string {
	return identified + cmp.Or(namespace, "default") + identified + identifier
}

// Identified splits a key that IdentifiedKey made. It returns false for the key of a name.
func Identified(key string) (namespace, identifier string, ok bool) {
	rest, ok := strings.CutPrefix(key, identified)
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, identified)
}

// ShownKey returns a key as users see it: the identifier if there is one, else the name.
func ShownKey(key string) string {
	if _, id, ok := Identified(key); ok {
		return id
	}
	return key
}
