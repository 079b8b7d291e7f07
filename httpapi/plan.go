package httpapi

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/contextmem/contextmem/fault"
)

// plan is how a struct is read: the rules of its fields and of those of the structs that it embeds.
type plan struct {
	fields []planned
	names  map[string]bool // all names that it reads
}

// planned is the rule of one field; see decoder for the tags that it is made from.
type planned struct {
	name    string
	also    []string
	was     string
	preset  member // of a request that gives none; absent: there is none
	need    bool
	oneOf   []string
	bounded bool
	lo, hi  int
	index   []int
}

var plans sync.Map // of reflect.Type to *plan

// planFor returns the plan of T.
func planFor[T any]() *plan { return planOf(reflect.TypeFor[T]()) }

func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	p := &plan{names: map[string]bool{}}
	p.add(t, nil)
	for i := range p.fields {
		p.names[p.fields[i].name] = true
		for _, n := range p.fields[i].also {
			p.names[n] = true
		}
	}
	plans.Store(t, p)
	return p
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

// check holds what was read against the rule. Numbers that were left out, which are zero or nil, have no bounds.
func (f *planned) check(at string, v reflect.Value) error {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	switch {
	case f.need && strings.TrimSpace(v.String()) == "":
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
