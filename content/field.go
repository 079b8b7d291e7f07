package content

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

// Filters limit recall by equality. All conditions hold together.
type Filters struct {
	// Metadata matches tenant-level fields declared with Match. A list, such as []string or []any, matches any of its
	// values (VARCHAR fields). Other fields are ignored (warning ignored_filter). A value that the type of its
	// field excludes, such as "2024" for an INT32, matches nothing (warning unmatched_filter).
	Metadata map[string]any
	// Additional matches document-level metadata; no declaration is needed.
	Additional map[string]any
	// Strict turns these two warnings into fault.ErrInvalid.
	Strict bool
}
