package contextmem

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// DataType is the type of a metadata field.
type DataType string

// Data types of schema fields. ARRAY does not exist: a field with several values
// is a VARCHAR with comma-joined values.
const (
	Bool              DataType = "BOOL"
	Int8              DataType = "INT8"
	Int16             DataType = "INT16"
	Int32             DataType = "INT32"
	Int64             DataType = "INT64"
	Float             DataType = "FLOAT"
	Double            DataType = "DOUBLE"
	Varchar           DataType = "VARCHAR"
	JSON              DataType = "JSON"
	FloatVector       DataType = "FLOAT_VECTOR"
	SparseFloatVector DataType = "SPARSE_FLOAT_VECTOR"
)

// friendlyTypes are the lower-case names that the API accepts beside the exact ones.
var friendlyTypes = map[string]DataType{
	"string": Varchar, "integer": Int64, "float": Float, "boolean": Bool, "object": JSON,
}

// Field declares a tenant-level metadata field, which every item of the tenant may carry.
type Field struct {
	Name      string   // a letter or _, then letters, digits, _; unique without regard to case
	Type      DataType // default Varchar; "string", "integer", "float", "boolean", "object" are accepted too
	MaxLength int      // longest value of a Varchar in characters, 1 to 65535; default 1024
	Match     bool     // usable as an exact-match key in filters
	Dense     bool     // joins semantic search; Varchar only
	Sparse    bool     // joins keyword search; Varchar only
	Required  bool     // null is refused; by default a field may be null
	Analyzer  bool     // accepted for compatibility and shown again; every Sparse field is analysed
}

var fieldName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// reservedNames is the union of the names that the published service refuses (behaviour 3).
var reservedNames = []string{"id", "source_id", "source_title", "source_url", "source_type", "source_collection",
	"source_owner", "source_collaborator", "source_upload_time", "source_last_updated_time", "chunk_id", "chunk_uuid",
	"chunk_content", "metadata", "document_metadata", "additional_metadata", "base_metadata", "layout", "description"}

// completeSchema fills defaults and checks that added fields fit beside existing ones; list names
// the added ones in errors.
func completeSchema(op, list string, existing, added []Field) ([]Field, error) {
	bad := func(i int, member string, kind Kind, format string, args ...any) error {
		return fieldError(op, kind, ResourceSchema, fmt.Sprintf("%s[%d].%s", list, i, member), format, args...)
	}
	if len(existing)+len(added) > maxSchemaFields {
		return nil, fieldError(op, KindInvalid, ResourceSchema, list, "%d fields are over the limit of %d", len(existing)+len(added), maxSchemaFields)
	}
	taken, flags := map[string]bool{}, 0
	count := func(f Field) {
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
			return nil, bad(i, "name", KindInvalid, "is required")
		}
		if len(f.Name) > 255 || !fieldName.MatchString(f.Name) {
			return nil, bad(i, "name", KindInvalid, "must be a letter or _ followed by letters, digits or _, at most 255")
		}
		if slices.Contains(reservedNames, strings.ToLower(f.Name)) {
			return nil, bad(i, "name", KindInvalid, "%q is reserved", f.Name)
		}
		if taken[strings.ToLower(f.Name)] {
			kind := KindInvalid
			for _, e := range existing {
				if strings.EqualFold(e.Name, f.Name) {
					kind = KindConflict
				}
			}
			return nil, bad(i, "name", kind, "%q exists already (names are compared without case)", f.Name)
		}
		if f.Type == "" {
			f.Type = Varchar
		}
		if t, ok := friendlyTypes[string(f.Type)]; ok {
			f.Type = t
		}
		switch f.Type {
		case Bool, Int8, Int16, Int32, Int64, Float, Double, Varchar, JSON, FloatVector, SparseFloatVector:
		case "ARRAY", "array":
			return nil, bad(i, "data_type", KindInvalid, "ARRAY is not supported: use VARCHAR with comma-joined values")
		default:
			return nil, bad(i, "data_type", KindUnprocessed, "unknown type %q", shortID(string(f.Type)))
		}
		if f.MaxLength == 0 {
			f.MaxLength = defaultVarcharLen
		}
		if f.MaxLength < 1 || f.MaxLength > maxVarcharLength {
			return nil, bad(i, "max_length", KindInvalid, "%d is outside 1 to %d", f.MaxLength, maxVarcharLength)
		}
		for _, flag := range [...]struct {
			name string
			set  bool
		}{{"enable_dense_embedding", f.Dense}, {"enable_sparse_embedding", f.Sparse}} {
			if flag.set && f.Type != Varchar {
				return nil, bad(i, flag.name, KindInvalid, "needs data_type VARCHAR, not %s", f.Type)
			}
		}
		count(*f)
	}
	if flags > maxEmbeddingFlags {
		return nil, fieldError(op, KindInvalid, ResourceSchema, list, "%d embedding flags are over the limit of %d (dense and sparse count one each)", flags, maxEmbeddingFlags)
	}
	return out, nil
}

func findField(schema []Field, name string) *Field {
	for i := range schema {
		if schema[i].Name == name {
			return &schema[i]
		}
	}
	return nil
}

// checkValue tells whether v, decoded from JSON or given by a Go caller, fits the field.
func (f *Field) checkValue(v any) error {
	if v == nil {
		if f.Required {
			return fmt.Errorf("must not be null")
		}
		return nil
	}
	switch f.Type {
	case Bool:
		if _, ok := v.(bool); !ok {
			return fmt.Errorf("want BOOL, got %s", jsonType(v))
		}
	case Int8, Int16, Int32, Int64:
		n, ok := asInteger(v)
		if !ok {
			return fmt.Errorf("want %s, got %s", f.Type, jsonType(v))
		}
		bits := map[DataType]int{Int8: 7, Int16: 15, Int32: 31, Int64: 63}[f.Type]
		if bits < 63 && (n < -(1<<bits) || n > 1<<bits-1) {
			return fmt.Errorf("value is out of range for %s", f.Type)
		}
	case Float, Double:
		x, ok := asFloat(v)
		if !ok {
			return fmt.Errorf("want %s, got %s", f.Type, jsonType(v))
		}
		if f.Type == Float && math.Abs(x) > math.MaxFloat32 {
			return fmt.Errorf("value is out of range for FLOAT")
		}
	case Varchar:
		s, ok := v.(string)
		if !ok {
			return fmt.Errorf("want VARCHAR, got %s", jsonType(v))
		}
		if n := utf8.RuneCountInString(s); n > f.MaxLength {
			return fmt.Errorf("%d characters are over max_length %d", n, f.MaxLength)
		}
	case JSON:
	case FloatVector:
		a, ok := v.([]any)
		if !ok {
			return fmt.Errorf("want FLOAT_VECTOR, got %s", jsonType(v))
		}
		for _, x := range a {
			if _, ok := asFloat(x); !ok {
				return fmt.Errorf("want numbers in FLOAT_VECTOR, got %s", jsonType(x))
			}
		}
	case SparseFloatVector:
		m, ok := v.(map[string]any)
		if !ok {
			return fmt.Errorf("want an object for SPARSE_FLOAT_VECTOR, got %s", jsonType(v))
		}
		for _, x := range m {
			if _, ok := asFloat(x); !ok {
				return fmt.Errorf("want numbers in SPARSE_FLOAT_VECTOR, got %s", jsonType(x))
			}
		}
	}
	return nil
}

func jsonType(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number, float64, float32, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return "number"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	default:
		return fmt.Sprintf("%T", v)
	}
}

func asFloat(v any) (float64, bool) {
	switch n := v.(type) {
	case json.Number:
		f, err := n.Float64()
		return f, err == nil && !math.IsInf(f, 0)
	case float64:
		return n, !math.IsNaN(n) && !math.IsInf(n, 0)
	case float32:
		return asFloat(float64(n))
	}
	n, ok := asInteger(v)
	return float64(n), ok
}

func asInteger(v any) (int64, bool) {
	switch n := v.(type) {
	case json.Number:
		if i, err := n.Int64(); err == nil {
			return i, true
		}
		f, err := n.Float64()
		if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
			return 0, false
		}
		return int64(f), true
	case float64:
		if n != math.Trunc(n) || math.Abs(n) > 1<<53 {
			return 0, false
		}
		return int64(n), true
	case float32:
		return asInteger(float64(n))
	case int:
		return int64(n), true
	case int8:
		return int64(n), true
	case int16:
		return int64(n), true
	case int32:
		return int64(n), true
	case int64:
		return n, true
	case uint:
		return int64(n), n <= math.MaxInt64
	case uint8:
		return int64(n), true
	case uint16:
		return int64(n), true
	case uint32:
		return int64(n), true
	case uint64:
		return int64(n), n <= math.MaxInt64
	}
	return 0, false
}

// checkMetadata checks the tenant-level metadata of an item against the schema.
// partial leaves out the check of required fields, for edits. Without a schema
// anything goes.
func checkMetadata(op, field string, schema []Field, m map[string]any, partial bool) error {
	if len(schema) == 0 {
		return nil
	}
	for k, v := range m {
		f := findField(schema, k)
		if f == nil {
			return fieldError(op, KindUnprocessed, ResourceSchema, field+"."+shortID(k), "is not declared in the metadata schema")
		}
		if err := f.checkValue(v); err != nil {
			return fieldError(op, KindUnprocessed, ResourceSchema, field+"."+k, "%w", err)
		}
	}
	if !partial {
		for _, f := range schema {
			if _, ok := m[f.Name]; f.Required && !ok {
				return fieldError(op, KindUnprocessed, ResourceSchema, field+"."+f.Name, "is required by the metadata schema")
			}
		}
	}
	return nil
}
