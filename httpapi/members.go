package httpapi

import "iter"

// manyMembers is the number of members from which an object uses a map. Below it, a linear search is faster and the list needs a third of
// the memory.
const manyMembers = 24

// members holds the values of an object by name. A nil members is empty. If a name is repeated, the last value counts.
type members struct {
	list []namedMember  // in the order of the JSON
	at   map[string]int // indexes in list; nil while there are few members
}

// namedMember is a value with its name.
type namedMember struct {
	name    string
	value   member
	deleted bool
}

// newMembers returns an object with room for n members.
func newMembers(n int) *members {
	ms := &members{list: make([]namedMember, 0, n)}
	if n >= manyMembers {
		ms.at = make(map[string]int, n)
	}
	return ms
}

// place returns the index of a name in the list, or -1 if it is missing.
func (ms *members) place(name string) int {
	if ms == nil {
		return -1
	}
	if ms.at != nil {
		if i, ok := ms.at[name]; ok && !ms.list[i].deleted {
			return i
		}
		return -1
	}
	for i := range ms.list {
		if ms.list[i].name == name && !ms.list[i].deleted {
			return i
		}
	}
	return -1
}

// named returns the value of a name, which may be null, and reports whether the name is present.
func (ms *members) named(name string) (member, bool) {
	if i := ms.place(name); i >= 0 {
		return ms.list[i].value, true
	}
	return member{}, false
}

// get returns the value of a name, and reports whether the name is present with a value other than null.
func (ms *members) get(name string) (member, bool) {
	m, ok := ms.named(name)
	if !ok || m.absent() {
		return m, false
	}
	return m, true
}

// set sets the value of a name.
func (ms *members) set(name string, m member) {
	if i := ms.place(name); i >= 0 {
		ms.list[i].value = m
		return
	}
	ms.list = append(ms.list, namedMember{name: name, value: m})
	switch {
	case ms.at != nil:
		ms.at[name] = len(ms.list) - 1
	case len(ms.list) >= manyMembers:
		ms.at = make(map[string]int, 2*len(ms.list))
		for i := range ms.list {
			if !ms.list[i].deleted {
				ms.at[ms.list[i].name] = i
			}
		}
	}
}

// delete removes a name.
func (ms *members) delete(name string) {
	if i := ms.place(name); i >= 0 {
		ms.list[i].deleted = true
	}
}

// all yields the names and values in the order of the JSON.
func (ms *members) all() iter.Seq2[string, member] {
	return func(yield func(string, member) bool) {
		if ms == nil {
			return
		}
		for i := range ms.list {
			if m := &ms.list[i]; !m.deleted && !yield(m.name, m.value) {
				return
			}
		}
	}
}
