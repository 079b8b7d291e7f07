package httpapi

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/contextmem/contextmem/fault"
)

// plan holds the decoding rules of a struct's fields, including those of embedded structs.
type plan struct {
	fields   []planned
	names    map[string]bool // all accepted names
	places   map[string]int  // field index by name
	defaults reflect.Value   // the struct decoded from an empty request
	must     uint64          // bit set of the fields that have a check or a default value
}

// maxFields is the maximal number of fields of a struct, including those of embedded structs.
const maxFields = 64

// planned is the rule of one field, derived from the tags that decoder describes.
type planned struct {
	name    string
	also    []string
	was     string
	preset  member // default value; absent: there is none
	need    bool
	oneOf   []string
	bounded bool
	lo, hi  int
	index   []int
}

var plans sync.Map // reflect.Type to *plan

// planFor returns the plan of T, and builds it at the first use.
func planFor[T any]() *plan { return planOf(reflect.TypeFor[T]()) }

func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	p := &plan{names: map[string]bool{}, places: map[string]int{}}
	p.add(t, nil)
	if len(p.fields) > maxFields {
		panic("httpapi: too many fields in " + t.String())
	}
	for i := range p.fields {
		for _, n := range append([]string{p.fields[i].name}, p.fields[i].also...) {
			if p.names[n] {
				panic("httpapi: two fields of " + t.String() + " have the name " + n)
			}
			p.names[n], p.places[n] = true, i
		}
	}
	p.preset(t)
	plans.Store(t, p)
	return p
}

// preset builds the struct decoded from an empty request.
func (p *plan) preset(t reflect.Type) {
	p.defaults = reflect.New(t).Elem()
	d := &decoder{in: new(input)}
	for i := range p.fields {
		f := &p.fields[i]
		to := p.defaults.FieldByIndex(f.index)
		own := false
		if !f.preset.absent() {
			switch to.Kind() {
			case reflect.Pointer, reflect.Slice, reflect.Map: // requests must not share the value
				own = true
			default:
				own = d.value(f.name, f.preset, to) != nil
			}
		}
		if own || f.check("", to) != nil {
			p.must |= 1 << i
		}
	}
}

func (p *plan) add(t reflect.Type, above []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		index := append(slices.Clone(above), i)
		name, ok := f.Tag.Lookup("json")
		if f.Anonymous && !ok {
			p.add(f.Type, index)
			continue
		}
		if !ok {
			continue
		}
		x := planned{name: name, was: f.Tag.Get("was"), need: f.Tag.Get("need") != "", index: index}
		x.also = list(f.Tag.Get("also"))
		if x.was != "" {
			x.also = append(x.also, x.was)
		}
		if text, ok := f.Tag.Lookup("default"); ok {
			x.preset = member{texts: []string{text}}
		}
		x.oneOf = list(f.Tag.Get("oneof"))
		if lo, hi, ok := strings.Cut(f.Tag.Get("range"), ","); ok {
			x.bounded = true
			x.lo, _ = strconv.Atoi(lo)
			x.hi, _ = strconv.Atoi(hi)
		}
		p.fields = append(p.fields, x)
	}
}

func list(tag string) []string {
	if tag == "" {
		return nil
	}
	return strings.Split(tag, ",")
}

// isMissing reports whether a needed value is a blank text, no number or no list.
func isMissing(v reflect.Value) bool {
	if v.Kind() == reflect.String {
		return strings.TrimSpace(v.String()) == ""
	}
	return v.IsZero()
}

// check returns an error if a value violates the rule. Missing numbers, which are zero or nil, are not checked.
func (f *planned) check(at string, v reflect.Value) error {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	switch {
	case f.need && isMissing(v):
		return bad(fault.KindInvalid, at+f.name, "is required")
	case f.oneOf != nil && v.String() == "":
		if !f.preset.absent() {
			v.SetString(f.preset.text())
		}
	case f.oneOf != nil && !slices.Contains(f.oneOf, v.String()):
		return bad(fault.KindInvalid, at+f.name, "must be one of %s", strings.Join(f.oneOf, ", "))
	case f.bounded:
		n := int(v.Int())
		switch {
		case f.hi == 0 && n < f.lo:
			return bad(fault.KindInvalid, at+f.name, "must be at least %d", f.lo)
		case f.hi > 0 && (n < f.lo || n > f.hi):
			return bad(fault.KindInvalid, at+f.name, "must be between %d and %d", f.lo, f.hi)
		}
	}
	return nil
}
