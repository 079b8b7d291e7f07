package httpapi

import (
	"maps"
	"slices"
)

// fields are the values of a request by name. As long as they are few, as is usual, they need no map.
type fields struct {
	few  []field        // at most maxFew
	many map[string]any // all of them, once there are more
}

const maxFew = 16

type field struct {
	name  string
	value any
}

// at returns the place of a name among few, -1 when it is not there.
func (f *fields) at(name string) int {
	for i := range f.few {
		if f.few[i].name == name {
			return i
		}
	}
	return -1
}

// get returns a value, nil when there is none.
func (f *fields) get(name string) any {
	if f.many != nil {
		return f.many[name]
	}
	if i := f.at(name); i >= 0 {
		return f.few[i].value
	}
	return nil
}

// has reports whether there is a value, which may be nil.
func (f *fields) has(name string) bool {
	if f.many != nil {
		_, ok := f.many[name]
		return ok
	}
	return f.at(name) >= 0
}

// set gives a name a value in place of the one that it has.
func (f *fields) set(name string, v any) {
	if f.many == nil {
		if i := f.at(name); i >= 0 {
			f.few[i].value = v
			return
		}
		if len(f.few) < maxFew {
			if f.few == nil {
				f.few = make([]field, 0, maxFew/2)
			}
			f.few = append(f.few, field{name, v})
			return
		}
		f.many = f.object()
	}
	f.many[name] = v
}

// drop takes the fields out that test is true of.
func (f *fields) drop(test func(name string, v any) bool) {
	if f.many != nil {
		maps.DeleteFunc(f.many, test)
		return
	}
	f.few = slices.DeleteFunc(f.few, func(x field) bool { return test(x.name, x.value) })
}

// object returns all fields as a map.
func (f *fields) object() map[string]any {
	if f.many != nil {
		return f.many
	}
	m := make(map[string]any, len(f.few))
	for _, x := range f.few {
		m[x.name] = x.value
	}
	return m
}
