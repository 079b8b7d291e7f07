package backend

// Tag makes a tag, see [Filter], of what a value is: the 64-bit FNV-1a hash of its layer, its
// field and the value, each ended by a byte that no UTF-8 has. Its values are in stored data.
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

// IDTag is the tag of a source's id: searches can be limited to ids by it. Lists have
// [ListQuery].IDs for that, so that a Store need not find sources by this tag.
func IDTag(id string) uint64 { return Tag("i", "", id) }

// Everybody is the tag of a source that all callers may see. Those of class [Raw] know no
// other callers, so that a Store need not find them by it: for a group with this tag it may
// read the whole list.
var Everybody = Tag("ac", "", "*")
