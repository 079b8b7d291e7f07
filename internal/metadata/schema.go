// Package metadata handles the metadata of items: the schema of a tenant, checks against the schema, the tags that filters match, and the
// times and sessions that metadata name.
package metadata

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
)

// Limits of a schema.
const (
	maxSchemaFields   = 32
	maxEmbeddingFlags = 6
	maxVarcharLength  = 65535
	defaultVarcharLen = 1024
)

// friendlyTypes maps the lower-case type names that the API also accepts to the types.
var friendlyTypes = map[string]content.DataType{
	"string": content.Varchar, "integer": content.Int64, "float": content.Float, "boolean": content.Bool, "object": content.JSON,
}

var fieldName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// ReservedNames are all field names that the published service refuses (behaviour 3).
var ReservedNames = []string{"id", "source_id", "source_title", "source_url", "source_type", "source_collection",
	"source_owner", "source_collaborator", "source_upload_time", "source_last_updated_time", "chunk_id", "chunk_uuid",
	"chunk_content", "metadata", "document_metadata", "additional_metadata", "base_metadata", "layout", "description"}

// CompleteSchema fills in defaults and checks that the added fields are compatible with the existing ones.
// list is the name of the added fields in errors.
func CompleteSchema(op, list string, existing, added []content.Field) ([]content.Field, error) {
	bad := func(i int, member string, kind fault.Kind, format string, args ...any) error {
		return fault.Fieldf(op, kind, fault.Schema, fmt.Sprintf("%s[%d].%s", list, i, member), format, args...)
	}
	if len(existing)+len(added) > maxSchemaFields {
		return nil, fault.Fieldf(op, fault.KindInvalid, fault.Schema, list, "%d fields are over the limit of %d", len(existing)+len(added), maxSchemaFields)
	}
	taken, flags := map[string]bool{}, 0
	count := func(f content.Field) {
		taken[strings.ToLower(f.Name)] = true
		if f.Dense {
			flags++
		}
		if f.Sparse {
			flags++
		}
	}
	for _, f := range existing {
		count(f)
	}
	out := slices.Clone(added)
	for i := range out {
		f := &out[i]
		if f.Name == "" {
			return nil, bad(i, "Name", fault.KindInvalid, "is required")
		}
		if len(f.Name) > 255 || !fieldName.MatchString(f.Name) {
			return nil, bad(i, "Name", fault.KindInvalid, "must be a letter or _ followed by letters, digits or _, at most 255")
		}
		if slices.Contains(ReservedNames, strings.ToLower(f.Name)) {
			return nil, bad(i, "Name", fault.KindInvalid, "%q is reserved", f.Name)
		}
		if taken[strings.ToLower(f.Name)] {
			kind := fault.KindInvalid
			for _, e := range existing {
				if strings.EqualFold(e.Name, f.Name) {
					kind = fault.KindConflict
				}
			}
			return nil, bad(i, "Name", kind, "%q exists already (names are compared without case)", f.Name)
		}
		if f.Type == "" {
			f.Type = content.Varchar
		}
		if t, ok := friendlyTypes[string(f.Type)]; ok {
			f.Type = t
		}
		switch f.Type {
		case content.Bool, content.Int8, content.Int16, content.Int32, content.Int64, content.Float, content.Double, content.Varchar, content.JSON, content.FloatVector, content.SparseFloatVector:
		case "ARRAY", "array":
			return nil, bad(i, "Type", fault.KindInvalid, "ARRAY is not supported: use VARCHAR with comma-joined values")
		default:
			return nil, bad(i, "Type", fault.KindUnprocessed, "unknown type %q", fault.ShortID(string(f.Type)))
		}
		if f.MaxLength == 0 {
			f.MaxLength = defaultVarcharLen
		}
		if f.MaxLength < 1 || f.MaxLength > maxVarcharLength {
			return nil, bad(i, "MaxLength", fault.KindInvalid, "%d is outside 1 to %d", f.MaxLength, maxVarcharLength)
		}
		for _, flag := range [...]struct {
			name string
			set  bool
		}{{"Dense", f.Dense}, {"Sparse", f.Sparse}} {
			if flag.set && f.Type != content.Varchar {
				return nil, bad(i, flag.name, fault.KindInvalid, "needs data_type VARCHAR, not %s", f.Type)
			}
		}
		count(*f)
	}
	if flags > maxEmbeddingFlags {
		return nil, fault.Fieldf(op, fault.KindInvalid, fault.Schema, list, "%d embedding flags are over the limit of %d (dense and sparse count one each)", flags, maxEmbeddingFlags)
	}
	return out, nil
}

// FindField returns the declaration of a field by its exact name, nil where there is none.
func FindField(schema []content.Field, name string) *content.Field {
	for i := range schema {
		if schema[i].Name == name {
			return &schema[i]
		}
	}
	return nil
}

// checkValue returns an error if v, decoded from JSON or given by a Go caller, does not fit the field.
func checkValue(f *content.Field, v any) error {
	if v == nil {
		if f.Required {
			return fmt.Errorf("must not be null")
		}
		return nil
	}
	switch f.Type {
	case content.Bool:
		if _, ok := v.(bool); !ok {
			return fmt.Errorf("want BOOL, got %s", JSONType(v))
		}
	case content.Int8, content.Int16, content.Int32, content.Int64:
		n, ok := AsInteger(v)
		if !ok {
			return fmt.Errorf("want %s, got %s", f.Type, JSONType(v))
		}
		bits := map[content.DataType]int{content.Int8: 7, content.Int16: 15, content.Int32: 31, content.Int64: 63}[f.Type]
		if bits < 63 && (n < -(1<<bits) || n > 1<<bits-1) {
			return fmt.Errorf("value is out of range for %s", f.Type)
		}
	case content.Float, content.Double:
		x, ok := AsFloat(v)
		if !ok {
			return fmt.Errorf("want %s, got %s", f.Type, JSONType(v))
		}
		if f.Type == content.Float && math.Abs(x) > math.MaxFloat32 {
			return fmt.Errorf("value is out of range for FLOAT")
		}
	case content.Varchar:
		s, ok := v.(string)
		if !ok {
			return fmt.Errorf("want VARCHAR, got %s", JSONType(v))
		}
		if n := utf8.RuneCountInString(s); n > f.MaxLength {
			return fmt.Errorf("%d characters are over max_length %d", n, f.MaxLength)
		}
	case content.JSON:
	case content.FloatVector:
		a, ok := v.([]any)
		if !ok {
			return fmt.Errorf("want FLOAT_VECTOR, got %s", JSONType(v))
		}
		for _, x := range a {
			if _, ok := AsFloat(x); !ok {
				return fmt.Errorf("want numbers in FLOAT_VECTOR, got %s", JSONType(x))
			}
		}
	case content.SparseFloatVector:
		m, ok := v.(map[string]any)
		if !ok {
			return fmt.Errorf("want an object for SPARSE_FLOAT_VECTOR, got %s", JSONType(v))
		}
		for _, x := range m {
			if _, ok := AsFloat(x); !ok {
				return fmt.Errorf("want numbers in SPARSE_FLOAT_VECTOR, got %s", JSONType(x))
			}
		}
	}
	return nil
}

// Check checks the tenant-level metadata of an item against the schema.
// partial skips the check of required fields, for edits. An empty schema
// allows everything.
func Check(op, field string, schema []content.Field, m map[string]any, partial bool) error {
	if len(schema) == 0 {
		return nil
	}
	for k, v := range m {
		f := FindField(schema, k)
		if f == nil {
			return fault.Fieldf(op, fault.KindUnprocessed, fault.Schema, field+"."+fault.ShortID(k), "is not declared in the metadata schema")
		}
		if err := checkValue(f, v); err != nil {
			return fault.Fieldf(op, fault.KindUnprocessed, fault.Schema, field+"."+k, "%w", err)
		}
	}
	if !partial {
		for _, f := range schema {
			if _, ok := m[f.Name]; f.Required && !ok {
				return fault.Fieldf(op, fault.KindUnprocessed, fault.Schema, field+"."+f.Name, "is required by the metadata schema")
			}
		}
	}
	return nil
}
