package httpapi

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
)

// object is a JSON object with arbitrary members. Its numbers keep their text, as json.Number.
type object map[string]any

func (o *object) read(d *decoder, at string, m member) error {
	m, err := d.structured(at, m)
	if err != nil || m.absent() {
		return err
	}
	if m.json == nil || m.json[0] != '{' {
		return m.want(at, "an object")
	}
	if err := d.spend(at, m); err != nil {
		return err
	}
	if decodeNumbers(m.json, (*map[string]any)(o)) != nil {
		return bad(fault.KindInvalid, at, "is not valid JSON")
	}
	return nil
}

// metadata is an object that may also be given as a string containing JSON.
type metadata map[string]any

func (o *metadata) read(d *decoder, at string, m member) error {
	if m.json != nil && m.json[0] == '"' {
		s := []byte(m.plain()[0])
		if len(bytes.TrimSpace(s)) == 0 {
			return nil
		}
		if err := checkJSON(at, s, DefaultMaxJSONDepth); err != nil {
			return err
		}
		if !json.Valid(s) {
			return bad(fault.KindInvalid, at, "is not valid JSON")
		}
		m = member{json: bytes.TrimSpace(s)}
	}
	return (*object)(o).read(d, at, m)
}

// layers holds the two metadata maps of an item under all their names.
type layers struct {
	Metadata   metadata `json:"metadata" also:"tenant_metadata,database_metadata"`
	Additional metadata `json:"additional_metadata" also:"document_metadata"`
}

// objects is an array of objects.
type objects []map[string]any

func (o *objects) read(d *decoder, at string, m member) error {
	*o = objects{}
	return m.elements(at, "an array", func(at string, e member) error {
		var one object
		err := one.read(d, at, e)
		if err == nil && one == nil {
			err = e.want(at, "an object")
		}
		*o = append(*o, one)
		return err
	})
}

// anything is an array of arbitrary values.
type anything []any

func (a *anything) read(d *decoder, at string, m member) error {
	if m.json == nil || m.json[0] != '[' {
		return m.want(at, "an array")
	}
	if err := d.spend(at, m); err != nil {
		return err
	}
	if decodeNumbers(m.json, (*[]any)(a)) != nil {
		return bad(fault.KindInvalid, at, "is not valid JSON")
	}
	return nil
}

// item is an element of a list that is decoded later, with its name for errors.
type item struct {
	at string
	m  member
}

// items is an array of objects. A single object is decoded as an array with one element.
type items []item

func (l *items) read(d *decoder, at string, m member) error {
	m, err := d.structured(at, m)
	if err != nil || m.absent() {
		return err
	}
	*l = items{}
	if m.typeName() == "object" {
		*l = items{{at + "[0]", m}}
		return nil
	}
	return m.elements(at, "an array", func(at string, e member) error {
		*l = append(*l, item{at, e})
		return nil
	})
}

// array is an array whose elements are decoded later.
type array []item

func (l *array) read(d *decoder, at string, m member) error {
	if m, err := d.structured(at, m); err == nil && m.typeName() == "object" && m.json != nil {
		return m.want(at, "an array")
	}
	return (*items)(l).read(d, at, m)
}

// texts is an object whose values are strings.
type texts map[string]string

func (t *texts) read(d *decoder, at string, m member) error {
	ms, err := m.members(at)
	if err != nil {
		return err
	}
	*t = texts{}
	for k, v := range ms.all() {
		if (*t)[k], err = v.string(at + "." + cut(k)); err != nil {
			return err
		}
	}
	return nil
}

// moment is a time in one of the ISO 8601 formats.
type moment time.Time

func (t *moment) read(_ *decoder, at string, m member) error {
	s, err := m.string(at)
	if err != nil || s == "" {
		return err
	}
	parsed, err := readTime(at, s)
	*t = moment(parsed)
	return err
}

// clock is a time in its given zone. A time without a zone is in UTC.
type clock time.Time

func (t *clock) read(_ *decoder, at string, m member) error {
	s, err := m.string(at)
	if err != nil || s == "" {
		return err
	}
	parsed, err := readClock(at, s)
	*t = clock(parsed)
	return err
}

// readTime parses a time and converts it to UTC. A time without a zone is in UTC.
func readTime(field, s string) (time.Time, error) {
	t, err := readClock(field, s)
	return t.UTC(), err
}

func readClock(field, s string) (time.Time, error) {
	for _, l := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", time.DateOnly} {
		if t, err := time.Parse(l, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, bad(fault.KindInvalid, field, "must be an ISO 8601 time")
}

// day is a date of the form YYYY-MM-DD.
type day time.Time

func (t *day) read(_ *decoder, at string, m member) error {
	s, err := m.string(at)
	if err != nil || s == "" {
		return err
	}
	parsed, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return bad(fault.KindInvalid, at, "must have the form YYYY-MM-DD")
	}
	*t = day(parsed)
	return nil
}

// weight is the weight of semantic search: a number, or "auto".
type weight struct{ contextmem.Alpha }

func (w *weight) read(_ *decoder, at string, m member) error {
	if m.typeName() == "string" {
		if m.plain()[0] != "auto" {
			return bad(fault.KindInvalid, at, `must be a number from 0 to 1, or "auto"`)
		}
		w.Alpha = contextmem.AutoAlpha()
		return nil
	}
	f, err := m.float(at)
	w.Alpha = contextmem.FixedAlpha(f)
	return err
}

// weights is a list of names, or a map of names to weights with at most one decimal.
type weights map[string]float64

func (w *weights) read(d *decoder, at string, m member) error {
	*w = weights{}
	if m.typeName() == "object" {
		ms, err := m.members(at)
		if err != nil {
			return err
		}
		for name, v := range ms.all() {
			if v.typeName() != "number" {
				return v.want(at+"."+cut(name), "a number")
			}
			f, err := strconv.ParseFloat(string(v.json), 64)
			if err != nil || f <= 0 || math.Abs(f*10-math.Round(f*10)) > 1e-9 {
				return bad(fault.KindInvalid, at+"."+cut(name), "a weight must be above 0 with at most one decimal")
			}
			(*w)[name] = f
		}
	} else {
		var names []string
		if err := d.value(at, m, valueOf(&names)); err != nil {
			return err
		}
		for _, n := range names {
			(*w)[n] = 1
		}
	}
	if len(*w) < 1 || len(*w) > 100 {
		return bad(fault.KindInvalid, at, "needs 1 to 100 entries")
	}
	return nil
}

// related holds explicit relations: an object with ids, or an array of typed links.
type related struct{ *contextmem.ForcefulRelations }

// relationIDs are the names of members that contain ids of related sources.
type relationIDs struct {
	IDs        []string `json:"ids"`
	SourceIDs  []string `json:"source_ids"`
	CortexIDs  []string `json:"cortex_source_ids"`
	HydraIDs   []string `json:"hydradb_source_ids"`
	Properties object   `json:"properties"`
}

type typedLink struct {
	Predicate string `json:"predicate"`
	Target    struct {
		ID         string `json:"id" also:"source_id"`
		Provider   string `json:"provider"`
		ExternalID string `json:"external_id"`
	} `json:"target"`
	Properties object `json:"properties"`
}

func (r *related) read(d *decoder, at string, m member) error {
	switch m.typeName() {
	case "array":
		var links []typedLink
		if err := d.value(at, m, valueOf(&links)); err != nil {
			return err
		}
		r.ForcefulRelations = &contextmem.ForcefulRelations{}
		for _, l := range links {
			r.Links = append(r.Links, content.Link{Predicate: l.Predicate, TargetID: l.Target.ID, Provider: l.Target.Provider, ExternalID: l.Target.ExternalID, Properties: l.Properties})
		}
		return nil
	case "object":
		var ids relationIDs
		if err := d.value(at, m, valueOf(&ids)); err != nil {
			return err
		}
		r.ForcefulRelations = &contextmem.ForcefulRelations{Properties: ids.Properties}
		seen := map[string]bool{}
		for _, id := range slices.Concat(ids.IDs, ids.SourceIDs, ids.CortexIDs, ids.HydraIDs) {
			if !seen[id] {
				seen[id] = true
				r.IDs = append(r.IDs, id)
			}
		}
		return nil
	}
	return m.want(at, "an object or an array")
}

// pairs is a list of exchanges of a conversation.
type pairs []contextmem.Pair

func (p *pairs) read(_ *decoder, at string, m member) error {
	wrong := func(format string, args ...any) error {
		e := bad(fault.KindUnprocessed, at, format, args...)
		e.Resource = fault.Memory
		return e
	}
	if m.typeName() != "array" {
		return wrong("want an array, got %s", m.typeName())
	}
	*p = pairs{}
	return m.elements(at, "an array", func(_ string, e member) error {
		i := len(*p)
		ms, err := e.members(at)
		if err != nil {
			return wrong("entry %d: want an object with user and assistant, got %s", i, e.typeName())
		}
		var one contextmem.Pair
		for _, x := range []struct {
			name string
			to   *string
		}{{"user", &one.User}, {"assistant", &one.Assistant}} {
			s, ok := ms.get(x.name)
			if !ok {
				return wrong("entry %d: %s is required", i, x.name)
			}
			if *x.to, err = s.string(at); err != nil {
				return wrong("entry %d: %s: want a string, got %s", i, x.name, s.typeName())
			}
		}
		*p = append(*p, one)
		return nil
	})
}

// vector is an array of numbers.
type vector []float32

func (v *vector) read(_ *decoder, at string, m member) error {
	if m.typeName() != "array" {
		return embeddingError(at, "want an array of numbers, got "+m.typeName())
	}
	if n, _ := commas(m.json, 1); n >= maxElements {
		return embeddingError(at, "has over "+strconv.Itoa(maxElements)+" numbers")
	}
	if bytes.IndexByte(m.json, 'n') < 0 && json.Unmarshal(m.json, (*[]float32)(v)) == nil { // null elements would become zeros
		return nil
	}
	if err := m.elements(at, "an array of numbers", func(_ string, e member) error {
		if e.typeName() != "number" {
			return embeddingError(at, "want numbers, got "+e.typeName())
		}
		return nil
	}); err != nil {
		return err
	}
	return embeddingError(at, "holds a number out of range")
}

func embeddingError(field, message string) error {
	return &contextmem.Error{Kind: fault.KindUnprocessed, Resource: fault.Embedding, Field: field, Err: constError(message)}
}

// cut shortens a caller-chosen name for use in an error.
func cut(s string) string {
	if len(s) > 100 {
		return strings.ToValidUTF8(s[:100], "") + "…"
	}
	return s
}

// ignored is a field that is accepted and has no effect.
type ignored struct{}

func (*ignored) read(*decoder, string, member) error { return nil }

// synonym is a text field that stays empty if the value has another type.
type synonym string

func (s *synonym) read(_ *decoder, at string, m member) error {
	if m.typeName() == "string" {
		*s = synonym(m.plain()[0])
	}
	return nil
}

// unite adds the members of more to *all. It returns an error if a member has two different values.
func unite(all *map[string]any, more map[string]any, at string) error {
	for k, v := range more {
		if old, ok := (*all)[k]; ok && !reflect.DeepEqual(old, v) {
			return bad(fault.KindInvalid, at+"."+cut(k), "differs between the two names of the map")
		}
		if *all == nil {
			*all = map[string]any{}
		}
		(*all)[k] = v
	}
	return nil
}
