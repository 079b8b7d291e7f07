package metadata

import (
	"errors"
	"strings"

	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
)

// Missing returns the fields of want that schema lacks. It returns fault.ErrConflict if schema has one of them with another type.
func Missing(op string, schema, want []content.Field) (missing []content.Field, err error) {
	for _, f := range want {
		have := FindField(schema, f.Name)
		typ, ok := friendlyTypes[strings.ToLower(string(f.Type))]
		if !ok {
			typ = f.Type
		}
		switch {
		case have == nil:
			missing = append(missing, f)
		case typ != "" && !strings.EqualFold(string(typ), string(have.Type)):
			return nil, &fault.Error{Op: op, Kind: fault.KindConflict, Resource: fault.Schema, ID: fault.ShortID(f.Name), Field: "Schema", Err: errors.New("a field is there with another type")}
		}
	}
	return missing, nil
}
