package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/contextmem/contextmem/fault"
)

// member is a value of a request: JSON from a body, or text from a query string or a form.
type member struct {
	json  json.RawMessage // valid; nil: text
	raw   string          // the same as json; empty if the body is large
	texts []string        // all values of a repeated query parameter; where one value is expected, the last one counts
	form  bool            // the value is the text of a form field, which may contain JSON
}

// absent reports whether the value is null, which is treated as missing.
func (m member) absent() bool { return string(m.json) == "null" || m.json == nil && m.texts == nil }

func (m member) text() string { return m.texts[len(m.texts)-1] }

// typeName returns the JSON type of the value.
func (m member) typeName() string {
	if m.json == nil {
		return "string"
	}
	switch m.json[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// find returns the value of a field under any of its names, and that name. It returns an error if two names have different values.
func (ms *members) find(at string, f *planned) (m member, name string, err error) {
	m, ok := ms.get(f.name)
	if ok {
		name = f.name
	}
	for _, other := range f.also {
		x, ok := ms.get(other)
		switch {
		case !ok:
		case name == "":
			m, name = x, other
		case !m.same(x):
			return m, name, bad(fault.KindInvalid, at+other, "differs from %s: they are names of one field", name)
		}
	}
	return m, name, nil
}

// same reports whether two values are equal, regardless of their notation.
func (m member) same(other member) bool {
	var a, b any
	if m.json == nil || other.json == nil || decodeNumbers(m.json, &a) != nil || decodeNumbers(other.json, &b) != nil {
		return slices.Equal(m.plain(), other.plain())
	}
	return reflect.DeepEqual(a, b)
}

// plain returns the texts of the value.
func (m member) plain() []string {
	switch {
	case m.json == nil:
		return m.texts
	case m.json[0] == '"':
		return []string{textOf(m.json)}
	}
	return []string{string(m.json)}
}

// decodeNumbers is like json.Unmarshal, but keeps the text of numbers.
func decodeNumbers(b []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode(to)
}

// reader is implemented by field types that decode their own value. at is the name for errors.
type reader interface {
	read(d *decoder, at string, m member) error
}

// decoder fills structs from requests. The tags of a field define its rules:
//
//	json     the name
//	also     further names, separated by commas; the values must agree
//	was      a further name that is deprecated
//	default  the value if there is none, as text
//	need     "text", "number" or "list": a missing value is refused, and a blank text, 0 or null
//	oneof    the values of a string, separated by commas; an empty one is the default
//	range    the bounds of a number, "1,100"; the upper one may be missing
type decoder struct {
	depth int    // nesting depth of JSON inside texts
	in    *input // counts the values built, and collects deprecated names at the top level of the request
	top   bool   // the struct is the request
}

// decoder returns a decoder of values inside the request.
func (c *call) decoder() *decoder { return &c.inner }

// valueOf returns the value that the pointer refers to, so that it can be filled.
func valueOf(to any) reflect.Value { return reflect.ValueOf(to).Elem() }

// indexed returns the name of element i of a list.
func indexed(at string, i int) string { return at + "[" + strconv.Itoa(i) + "]" }

// object fills the struct v. It visits only the fields present in the request, in the order of the struct.
func (d *decoder) object(at string, ms *members, v reflect.Value) error {
	p := planOf(v.Type())
	v.Set(p.defaults)
	var given, several uint64 // bit sets of fields
	var place [maxFields]int  // indexes of the fields in the members
	if ms != nil {
		for i := range ms.list {
			m := &ms.list[i]
			k, ok := p.places[m.name]
			if !ok && d.in.tell && !m.deleted {
				d.in.keepUnknown(at + cut(m.name))
			}
			if !ok || m.deleted || m.value.absent() {
				continue
			}
			several |= given & (1 << k)
			given |= 1 << k
			place[k] = i
		}
	}
	for left := given | p.must; left != 0; left &= left - 1 {
		i := bits.TrailingZeros64(left)
		f := &p.fields[i]
		var m member
		name := ""
		switch {
		case several>>i&1 != 0:
			var err error
			if m, name, err = ms.find(at, f); err != nil {
				return err
			}
		case given>>i&1 != 0:
			m, name = ms.list[place[i]].value, ms.list[place[i]].name
		}
		to := v.FieldByIndex(f.index)
		if m.json == nil && name != "" && to.Kind() == reflect.Bool && strings.TrimSpace(m.text()) == "" {
			name = "" // a blank name in a form is treated as missing
		}
		if name == "" && !f.preset.absent() {
			m, name = f.preset, f.name
		}
		if name != "" {
			if err := d.value(at+name, m, to); err != nil {
				return err
			}
			if d.top && at == "" && name == f.was {
				d.in.deprecated = append(d.in.deprecated, alias{f.name, name, true})
			}
		}
		if err := f.check(at, to); err != nil {
			return err
		}
	}
	return nil
}

// value decodes one value into v.
func (d *decoder) value(at string, m member, v reflect.Value) error {
	if r, ok := v.Addr().Interface().(reader); ok {
		return r.read(d, at, m)
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return d.value(at, m, v.Elem())
	case reflect.String:
		s, err := m.string(at)
		v.SetString(s)
		return err
	case reflect.Bool:
		b, err := m.bool(at)
		v.SetBool(b)
		return err
	case reflect.Int:
		n, err := m.int(at)
		v.SetInt(int64(n))
		return err
	case reflect.Float64:
		f, err := m.float(at)
		v.SetFloat(f)
		return err
	}
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.String {
		return d.strings(at, m, v)
	}
	m, err := d.structured(at, m)
	if err != nil || m.absent() {
		return err
	}
	switch v.Kind() {
	case reflect.Slice:
		return d.list(at, m, v)
	case reflect.Struct:
		ms, err := m.members(at)
		if err != nil {
			return err
		}
		return d.object(at+".", ms, v)
	}
	panic(fmt.Sprintf("httpapi: no rule reads a %s", v.Type()))
}

// structured returns the JSON that a form field contains as text. A blank text is treated as missing.
func (d *decoder) structured(at string, m member) (member, error) {
	if m.json != nil || !m.form {
		return m, nil
	}
	s := strings.TrimSpace(m.text())
	if s == "" {
		return member{}, nil
	}
	if !json.Valid([]byte(s)) {
		return m, bad(fault.KindUnprocessed, at, "must be a JSON string")
	}
	return member{json: json.RawMessage(s)}, checkJSON(at, []byte(s), d.depth)
}

// strings reads an array of strings, or the values of a query parameter.
func (d *decoder) strings(at string, m member, v reflect.Value) error {
	list := m.texts
	if len(list) > maxElements {
		return tooMany(at)
	}
	if m.json != nil {
		if err := m.elements(at, "an array of strings", func(at string, e member) error {
			s, err := e.string(at)
			if err == nil && e.json[0] != '"' {
				err = e.want(at, "a string")
			}
			list = append(list, s)
			return err
		}); err != nil {
			return err
		}
	}
	out := reflect.MakeSlice(v.Type(), len(list), len(list))
	for i, s := range list {
		out.Index(i).SetString(s)
	}
	v.Set(out)
	return nil
}

// list decodes an array of objects or of types that implement reader.
func (d *decoder) list(at string, m member, v reflect.Value) error {
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	return m.elements(at, "an array", func(at string, e member) error {
		one := reflect.New(v.Type().Elem()).Elem()
		if err := d.value(at, e, one); err != nil {
			return err
		}
		v.Set(reflect.Append(v, one))
		return nil
	})
}

// want returns the error for a value of the wrong type.
func (m member) want(at, what string) error {
	return bad(fault.KindUnprocessed, at, "want %s, got %s", what, m.typeName())
}

// Bounds of the values built from a request.
const (
	maxElements = 10_000  // of an array; also the maximal number of members of an object
	maxValues   = 500_000 // total of values inside objects with arbitrary members, such as metadata, in one request
)

// commas counts the commas of JSON outside of texts, down to a depth; depth 0 means any depth.
func commas(b []byte, depth int) (n, opened int) {
	at := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			at++
			opened++
		case '}', ']':
			at--
		case ',':
			if depth == 0 || at <= depth {
				n++
			}
		}
	}
	return n, opened
}

// spend counts the values built from an object or array with arbitrary members.
func (d *decoder) spend(at string, m member) error {
	n, opened := commas(m.json, 0)
	if d.in.built += n + opened; d.in.built > maxValues {
		return bad(fault.KindInvalid, at, "holds, with what stands before it, over %d values", maxValues)
	}
	return nil
}

// elements calls a function for each element of an array. what is the array's name in errors.
func (m member) elements(at, what string, each func(at string, e member) error) error {
	if m.json == nil || m.json[0] != '[' {
		return m.want(at, what)
	}
	return elementsOf(m.json, func(i int, value json.RawMessage) error {
		if i == maxElements {
			return tooMany(at)
		}
		return each(indexed(at, i), member{json: value})
	})
}

// members reads an object.
func (m member) members(at string) (*members, error) { return m.membersInto(at, nil) }

// membersInto is like members but fills the given empty object, unless it is nil or there are many members.
func (m member) membersInto(at string, ms *members) (*members, error) {
	if m.json == nil || m.json[0] != '{' {
		return nil, m.want(at, "an object")
	}
	n, _ := commas(m.json, 1)
	if n >= maxElements {
		return nil, tooMany(at)
	}
	if ms == nil || n+1 >= manyMembers {
		ms = newMembers(n + 1)
	}
	split(m.json, m.raw, ms.set)
	return ms, nil
}

func tooMany(at string) error {
	return bad(fault.KindInvalid, at, "has over %d entries", maxElements)
}

func (m member) string(at string) (string, error) {
	switch {
	case m.absent():
		return "", nil
	case m.json == nil:
		return m.text(), nil
	case m.json[0] != '"':
		return "", m.want(at, "a string")
	case m.raw != "" && strings.IndexByte(m.raw, '\\') < 0:
		return m.raw[1 : len(m.raw)-1], nil
	}
	return textOf(m.json), nil
}

func (m member) bool(at string) (bool, error) {
	if m.json == nil {
		switch strings.ToLower(strings.TrimSpace(m.text())) {
		case "true", "1":
			return true, nil
		case "false", "0":
			return false, nil
		}
		return false, bad(fault.KindInvalid, at, "must be true or false")
	}
	switch string(m.json) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, m.want(at, "a boolean")
}

// int reads an integer in any JSON notation, such as 1e3.
func (m member) int(at string) (int, error) {
	if m.json == nil {
		n, err := strconv.ParseInt(strings.TrimSpace(m.text()), 10, 32)
		switch {
		case errors.Is(err, strconv.ErrRange):
			return 0, bad(fault.KindInvalid, at, "is out of range")
		case err != nil:
			return 0, bad(fault.KindInvalid, at, "must be an integer")
		}
		return int(n), nil
	}
	if m.typeName() != "number" {
		return 0, m.want(at, "an integer")
	}
	f, err := strconv.ParseFloat(string(m.json), 64)
	switch {
	case err != nil || f != math.Trunc(f):
		return 0, bad(fault.KindUnprocessed, at, "want an integer")
	case math.Abs(f) > math.MaxInt32:
		return 0, bad(fault.KindInvalid, at, "is out of range")
	}
	return int(f), nil
}

func (m member) float(at string) (float64, error) {
	if m.json == nil || m.typeName() != "number" {
		return 0, m.want(at, "a number")
	}
	f, err := strconv.ParseFloat(string(m.json), 64)
	if err != nil {
		return 0, bad(fault.KindInvalid, at, "is out of range")
	}
	return f, nil
}
