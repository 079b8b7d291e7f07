package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"mime"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/contextmem/contextmem"
)

// input is what a request says, whether in its query string, JSON body or
// multipart form, under canonical names.
type input struct {
	fields     fields
	text       bool // values came as text (query, form): booleans and numbers are read from strings
	deprecated []alias
	files      []*filePart
	held       int // bytes of the body in memory
	fieldBytes int // of a form, files apart
	form       bool
}

// alias is an older or other name of a field.
type alias struct {
	canonical, alias string
	deprecated       bool // its use is reported
}

// aliasesOf lists the aliases of a family. A map at deeper levels has its own
// aliases, which its decoder knows.
var aliasesOf = map[family][]alias{
	gen1: {
		{"tenant_id", "database", false}, {"sub_tenant_id", "collection", false},
		{"tenant_metadata_schema", "database_metadata_schema", false}, {"app_knowledge", "app_sources", false},
	},
	gen2: {
		{"database", "tenant_id", true}, {"collection", "sub_tenant_id", true}, {"collections", "sub_tenant_ids", true},
		{"database_metadata_schema", "tenant_metadata_schema", true}, {"database_metadata_schema", "database_metadata", false},
		{"query_forceful_relations", "search_forceful_relations", false}, {"query_apps", "search_apps", false}, {"app_knowledge", "app_sources", false},
		{"document_metadata", "file_metadata", false},
	},
	connectors: {{"database", "tenant_id", true}, {"collection", "sub_tenant_id", true}, {"database_override", "tenant_id_override", true}, {"collection_override", "sub_tenant_id_override", true}},
	webhooks:   {},
}

func init() { aliasesOf[aliases] = aliasesOf[gen2] }

// decode reads the request into c.in.
func (c *call) decode() error {
	switch c.rt.body {
	case bodyMultipart:
		if err := c.inTime(c.decodeMultipart, false); err != nil {
			c.cleanup()
			return err
		}
	case bodyJSON, bodyOptional:
		if err := c.inTime(c.decodeJSON, true); err != nil {
			c.cleanup()
			return err
		}
	default:
		c.in.text = true
	}
	if err := c.decodeQuery(); err != nil {
		c.cleanup()
		return err
	}
	if err := c.in.reconcile(aliasesOf[c.rt.family], c.rt); err != nil {
		c.cleanup()
		return err
	}
	return nil
}

// decodeQuery adds the query string's values. Those that a body gives too must agree.
func (c *call) decodeQuery() error {
	if c.r.URL.RawQuery == "" {
		return nil
	}
	vs, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return bad(contextmem.KindInvalid, "query string", "is malformed")
	}
	for k, list := range vs {
		for _, v := range list {
			if err := checkString(k, v); err != nil {
				return err
			}
		}
		var value any = list[len(list)-1]
		if len(list) > 1 {
			value = list
		}
		if c.in.fields.has(k) && !c.in.text {
			if s, isText := c.in.fields.get(k).(string); isText && value != any(s) {
				return bad(contextmem.KindInvalid, k, "differs between query string and body")
			}
			continue
		}
		c.in.fields.set(k, value)
	}
	return nil
}

func (c *call) decodeJSON() error {
	b, over, err := c.readHeld(c.r.Body, DefaultMaxJSONBytes)
	if err != nil {
		return c.bodyError(err, "could not be read")
	}
	if over {
		return errBodyTooLarge(DefaultMaxJSONBytes)
	}
	if len(bytes.TrimSpace(b)) == 0 {
		if c.rt.body == bodyOptional {
			c.in.text = true
			return nil
		}
		return bad(contextmem.KindInvalid, "body", "a JSON object is required")
	}
	if t := c.r.Header.Get("Content-Type"); t != "" && c.rt.body != bodyOptional {
		if mt, _, err := mime.ParseMediaType(t); err == nil && strings.HasPrefix(mt, "multipart/") {
			return bad(contextmem.KindUnprocessed, "body", "must be JSON, not %s", mt)
		}
	}
	if err := parseMembers("body", b, c.api.o.MaxJSONDepth, c.in.fields.set); err != nil {
		return err
	}
	if inner, ok := c.in.fields.get("request").(map[string]any); ok && c.rt.unwrapRequest {
		c.in.fields.drop(func(name string, _ any) bool { return name == "request" })
		for k, v := range inner {
			if !c.in.fields.has(k) {
				c.in.fields.set(k, v)
			}
		}
	}
	return nil
}

// bodyError is what to answer when a body could not be read.
func (c *call) bodyError(err error, what string) error {
	var big *http.MaxBytesError
	switch {
	case errors.As(err, &big), err == errHeld:
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &statusError{http.StatusRequestTimeout, "REQUEST_TIMEOUT", "the body did not arrive in time"}
	}
	return bad(contextmem.KindInvalid, "body", "%s", what)
}

// parseObject reads a JSON object with its bounds; field names it in errors.
func parseObject(field string, b []byte, depth int) (map[string]any, error) {
	m := map[string]any{}
	if err := parseMembers(field, b, depth, func(name string, v any) { m[name] = v }); err != nil {
		return nil, err
	}
	return m, nil
}

// parseMembers is parseObject that hands the members over as they come, of equal names too.
func parseMembers(field string, b []byte, depth int, set func(name string, v any)) error {
	s := string(b)
	if err := checkJSON(field, s, depth); err != nil {
		return err
	}
	r := newJSONReader(s)
	if r.take('{') {
		r.depth++
		return r.end(field, r.members(set))
	}
	v, ok := r.value()
	if err := r.end(field, ok); err != nil {
		return err
	}
	return bad(contextmem.KindUnprocessed, field, "want an object, got %s", typeName(v))
}

// parseJSON reads one JSON value: UTF-8, without NUL, of bounded depth.
func parseJSON(field string, b []byte, depth int) (any, error) {
	s := string(b)
	if err := checkJSON(field, s, depth); err != nil {
		return nil, err
	}
	r := newJSONReader(s)
	v, ok := r.value()
	if err := r.end(field, ok); err != nil {
		return nil, err
	}
	return v, nil
}

// end returns the error of a text from which one value was read, or was not.
func (r *jsonReader) end(field string, ok bool) error {
	if !ok {
		return bad(contextmem.KindInvalid, field, "is not valid JSON")
	}
	if r.space(); r.i < len(r.s) {
		return bad(contextmem.KindInvalid, field, "holds more than one JSON value")
	}
	return nil
}

// checkJSON bounds nesting before anything is built, and refuses what is not UTF-8 and an escaped NUL.
func checkJSON(field, s string, limit int) error {
	if !utf8.ValidString(s) {
		return bad(contextmem.KindInvalid, field, "is not valid UTF-8")
	}
	depth, inString := 0, false
	for i := 0; i < len(s); i++ {
		if inString {
			if i += plain(s[i:]); i == len(s) {
				break
			}
		}
		switch ch := s[i]; {
		case inString && ch == '\\':
			if strings.HasPrefix(s[i:], `\u0000`) {
				return bad(contextmem.KindInvalid, field, "holds a NUL character")
			}
			i++
		case ch == '"':
			inString = !inString
		case inString:
		case ch == '{' || ch == '[':
			if depth++; depth > limit {
				return bad(contextmem.KindInvalid, field, "is nested deeper than %d levels", limit)
			}
		case ch == '}' || ch == ']':
			depth--
		}
	}
	return nil
}

func checkString(field, s string) error {
	if !utf8.ValidString(s) {
		return bad(contextmem.KindInvalid, field, "is not valid UTF-8")
	}
	if strings.IndexByte(s, 0) >= 0 {
		return bad(contextmem.KindInvalid, field, "holds a NUL character")
	}
	return nil
}

// reconcile moves values from aliases to canonical names. Both with different
// values is an error. It happens once, before anything is validated.
func (in *input) reconcile(list []alias, rt *route) error {
	in.fields.drop(func(_ string, v any) bool { return v == nil }) // null equals absence
	for _, a := range list {
		v := in.fields.get(a.alias)
		if v == nil || a.alias == a.canonical || slices.Contains(rt.keep, a.alias) {
			continue
		}
		if have := in.fields.get(a.canonical); have != nil {
			if !sameValue(have, v) {
				return bad(contextmem.KindInvalid, a.alias, "differs from %s: they are names of one field", a.canonical)
			}
		} else {
			in.fields.set(a.canonical, v)
		}
		in.fields.drop(func(name string, _ any) bool { return name == a.alias })
		if a.deprecated {
			in.deprecated = append(in.deprecated, a)
		}
	}
	return nil
}

func sameValue(a, b any) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
}

// unite returns the value of a field under the first of several names; different values are an error.
func unite(m map[string]any, field string, names ...string) (any, error) {
	var out any
	found := ""
	for _, n := range names {
		v, ok := m[n]
		if !ok || v == nil {
			continue
		}
		if found != "" && !sameValue(out, v) {
			return nil, bad(contextmem.KindInvalid, field+n, "differs from %s: they are names of one field", found)
		}
		out, found = v, n
	}
	return out, nil
}

func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		return "number"
	case []any, []string:
		return "array"
	case map[string]any:
		return "object"
	}
	return "value"
}

func (in *input) str(name string) (string, error) { return toString(name, in.fields.get(name)) }

func toString(field string, v any) (string, error) {
	switch x := v.(type) {
	case nil:
		return "", nil
	case string:
		return x, nil
	case []string: // a repeated query parameter: the last counts
		return x[len(x)-1], nil
	}
	return "", bad(contextmem.KindUnprocessed, field, "want a string, got %s", typeName(v))
}

func (in *input) required(name string) (string, error) {
	s, err := in.str(name)
	if err == nil && strings.TrimSpace(s) == "" {
		err = bad(contextmem.KindInvalid, name, "is required")
	}
	return s, err
}

// choice reads an enumeration.
func (in *input) choice(name, def string, allowed ...string) (string, error) {
	s, err := in.str(name)
	if err != nil || s == "" {
		return def, err
	}
	if !slices.Contains(allowed, s) {
		return "", bad(contextmem.KindInvalid, name, "must be one of %s", strings.Join(allowed, ", "))
	}
	return s, nil
}

func (in *input) boolean(name string, def bool) (bool, error) {
	return toBool(name, in.fields.get(name), def, in.text || in.form)
}

func toBool(field string, v any, def, text bool) (bool, error) {
	switch x := v.(type) {
	case nil:
		return def, nil
	case bool:
		return x, nil
	case []string:
		return toBool(field, x[len(x)-1], def, text)
	case string:
		if text {
			switch strings.ToLower(strings.TrimSpace(x)) {
			case "":
				return def, nil
			case "true", "1":
				return true, nil
			case "false", "0":
				return false, nil
			}
			return false, bad(contextmem.KindInvalid, field, "must be true or false")
		}
	}
	return false, bad(contextmem.KindUnprocessed, field, "want a boolean, got %s", typeName(v))
}

// integer reads a number without fraction; absent is def.
func (in *input) integer(name string, def int) (int, error) {
	v := in.fields.get(name)
	if v == nil {
		return def, nil
	}
	return toInt(name, v, in.text || in.form)
}

func toInt(field string, v any, text bool) (int, error) {
	switch x := v.(type) {
	case json.Number:
		if n, err := strconv.ParseInt(x.String(), 10, 64); err == nil && n >= math.MinInt32 && n <= math.MaxInt32 {
			return int(n), nil
		}
		if f, err := x.Float64(); err == nil && f == math.Trunc(f) && math.Abs(f) <= math.MaxInt32 {
			return int(f), nil
		} else if err == nil && f == math.Trunc(f) {
			return 0, bad(contextmem.KindInvalid, field, "is out of range")
		}
		return 0, bad(contextmem.KindUnprocessed, field, "want an integer")
	case []string:
		return toInt(field, x[len(x)-1], text)
	case string:
		if text {
			n, err := strconv.ParseInt(strings.TrimSpace(x), 10, 32)
			if err != nil {
				return 0, bad(contextmem.KindInvalid, field, "must be an integer")
			}
			return int(n), nil
		}
	}
	return 0, bad(contextmem.KindUnprocessed, field, "want an integer, got %s", typeName(v))
}

func toFloat(field string, v any) (float64, error) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, bad(contextmem.KindUnprocessed, field, "want a number, got %s", typeName(v))
	}
	f, err := n.Float64()
	if err != nil || math.IsInf(f, 0) {
		return 0, bad(contextmem.KindInvalid, field, "is out of range")
	}
	return f, nil
}

// ranged refuses a number outside lo to hi.
func ranged(field string, n, lo, hi int) error {
	if n < lo || n > hi {
		return bad(contextmem.KindInvalid, field, "must be between %d and %d", lo, hi)
	}
	return nil
}

func toObject(field string, v any) (map[string]any, error) {
	switch x := v.(type) {
	case nil:
		return nil, nil
	case map[string]any:
		return x, nil
	}
	return nil, bad(contextmem.KindUnprocessed, field, "want an object, got %s", typeName(v))
}

func (in *input) object(name string) (map[string]any, error) {
	return toObject(name, in.fields.get(name))
}

func toList(field string, v any) ([]any, error) {
	switch x := v.(type) {
	case nil:
		return nil, nil
	case []any:
		return x, nil
	}
	return nil, bad(contextmem.KindUnprocessed, field, "want an array, got %s", typeName(v))
}

func (in *input) list(name string) ([]any, error) { return toList(name, in.fields.get(name)) }

// strings reads an array of strings, a repeated query parameter, or one value.
func (in *input) strings(name string) ([]string, error) { return toStrings(name, in.fields.get(name)) }

func toStrings(field string, v any) ([]string, error) {
	switch x := v.(type) {
	case nil:
		return nil, nil
	case []string:
		return x, nil
	case string:
		return []string{x}, nil
	case []any:
		out := make([]string, len(x))
		for i, e := range x {
			s, ok := e.(string)
			if !ok {
				return nil, bad(contextmem.KindUnprocessed, field+"["+strconv.Itoa(i)+"]", "want a string, got %s", typeName(e))
			}
			out[i] = s
		}
		return out, nil
	}
	return nil, bad(contextmem.KindUnprocessed, field, "want an array of strings, got %s", typeName(v))
}

// jsonField reads a form field that holds JSON text.
func (in *input) jsonField(name string, depth int) (any, error) {
	v := in.fields.get(name)
	s, ok := v.(string)
	if !ok {
		return v, nil
	}
	if strings.TrimSpace(s) == "" {
		return nil, nil
	}
	out, err := parseJSON(name, []byte(s), depth)
	var ce *contextmem.Error
	if errors.As(err, &ce) && !json.Valid([]byte(s)) {
		return nil, bad(contextmem.KindUnprocessed, name, "must be a JSON string")
	}
	return out, err
}
