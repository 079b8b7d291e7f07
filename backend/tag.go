package backend

// Tag returns the tag of a value; see [Filter]. It is the 64-bit FNV-1a hash of layer, field and value,
// each followed by the byte 0xff, which UTF-8 never has. Stored data has tags, so the hash cannot change.
func Tag(layer, field, value string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for _, s := range [...]string{layer, field, value} {
		for i := 0; i < len(s); i++ {
			h = (h ^ uint64(s[i])) * prime
		}
		h = (h ^ 0xff) * prime
	}
	return h
}

// IDTag returns the tag of a source's id, with which a search can be limited to ids. Lists
// use [ListQuery].IDs instead, so that a Store need not find sources by this tag.
func IDTag(id string) uint64 { return Tag("i", "", id) }

// Everybody is the tag of a source that all callers may see. All callers may see all
// sources of class [Raw], so that a Store need not find those by this tag. For a group with
// this tag it may read the whole list.
var Everybody = Tag("ac", "", "*")
