package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/contextmem/contextmem/fault"
)

// input holds the values of a request from its query string, JSON body or multipart form.
type input struct {
	members    *members // nil: none
	deprecated []alias
	files      []*filePart
	held       int      // bytes of the body in memory
	fieldBytes int      // bytes of form fields, not counting files
	built      int      // number of values built; see decoder
	tell       bool     // unknown members of objects are kept in unknown
	unknown    []string // at most maxUnknown
}

// alias is an older or alternative name of a scope field.
type alias struct {
	canonical, alias string
	deprecated       bool // its use is reported
}

// scopeAliases lists the names of the scope fields in each family. The names of other fields are in their struct tags.
var scopeAliases = map[family][]alias{
	gen1:       {{"tenant_id", "database", false}, {"sub_tenant_id", "collection", false}},
	gen2:       {{"database", "tenant_id", true}, {"collection", "sub_tenant_id", true}},
	aliases:    {{"database", "tenant_id", true}, {"collection", "sub_tenant_id", true}},
	connectors: {{"database", "tenant_id", true}, {"collection", "sub_tenant_id", true}},
}

// plainBody returns an error if the route reads a body and the client has compressed it.
func (c *call) plainBody() error {
	if c.rt.body == bodyNone {
		return nil
	}
	for _, v := range c.r.Header.Values("Content-Encoding") {
		for e := range strings.SplitSeq(v, ",") {
			if e = strings.TrimSpace(e); e != "" && !strings.EqualFold(e, "identity") {
				return &statusError{http.StatusUnsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE", "the body must not be compressed: send it without Content-Encoding"}
			}
		}
	}
	return nil
}

// decode reads the request into c.in.
func (c *call) decode() (err error) {
	defer func() {
		if err != nil {
			c.cleanup()
		}
	}()
	if err = c.plainBody(); err != nil {
		return err
	}
	switch c.rt.body {
	case bodyMultipart:
		err = c.inTime(c.decodeForm, false)
	case bodyJSON, bodyOptional:
		err = c.inTime(c.decodeJSON, true)
	}
	if err == nil {
		err = c.decodeQuery()
	}
	if err == nil {
		err = c.in.reconcile(scopeAliases[c.rt.family])
	}
	return err
}

// read fills a struct from the request; see decoder.
func (c *call) read(to any) error {
	return c.outer.object("", c.in.members, valueOf(to))
}

// has reports whether the request contains a value under a name.
func (in *input) has(name string) bool {
	_, ok := in.members.get(name)
	return ok
}

// telling makes objects tell of unknown members until the returned function is called.
func (in *input) telling() func() {
	before := in.tell
	in.tell = true
	return func() { in.tell = before }
}

// keepUnknown keeps the name of a member that no field has. The scope of a request is read beside its fields.
func (in *input) keepUnknown(name string) {
	if len(in.unknown) < maxUnknown && name != "database" && name != "collection" {
		in.unknown = append(in.unknown, name)
	}
}

// string returns the text under a name, or "" if the name is missing.
func (in *input) string(name string) (string, error) {
	m, _ := in.members.get(name)
	return m.string(name)
}

// set sets the value of a name.
func (in *input) set(name string, m member) {
	if in.members == nil {
		in.members = newMembers(8)
	}
	in.members.set(name, m)
}

// decodeQuery adds the values of the query string. A value that the body also contains must be equal.
func (c *call) decodeQuery() error {
	if c.r.URL.RawQuery == "" {
		return nil
	}
	vs, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return bad(fault.KindInvalid, "query string", "is malformed")
	}
	for k, list := range vs {
		for _, v := range list {
			if err := checkString(k, v); err != nil {
				return err
			}
		}
		m := member{texts: list}
		if old, ok := c.in.members.named(k); ok {
			if s := old.plain(); old.typeName() == "string" && (len(list) > 1 || s[0] != list[0]) {
				return bad(fault.KindInvalid, k, "differs between query string and body")
			}
			continue
		}
		c.in.set(k, m)
	}
	return nil
}

func (c *call) decodeJSON() error {
	limit := DefaultMaxQueryBytes
	if c.rt.scope == ingest {
		limit = DefaultMaxJSONBytes
	}
	b, over, err := c.readHeld(c.r.Body, limit)
	if err != nil {
		return c.bodyError(err, "could not be read")
	}
	if over {
		return errBodyTooLarge(int64(limit))
	}
	if len(bytes.TrimSpace(b)) == 0 {
		if c.rt.body == bodyOptional {
			return nil
		}
		return bad(fault.KindInvalid, "body", "a JSON object is required")
	}
	if t := c.r.Header.Get("Content-Type"); t != "" && c.rt.body != bodyOptional {
		if mt, _, err := mime.ParseMediaType(t); err == nil && strings.HasPrefix(mt, "multipart/") {
			return bad(fault.KindUnprocessed, "body", "must be JSON, not %s", mt)
		}
	}
	if c.in.members, err = parseObject("body", b, c.api.o.MaxJSONDepth, &c.given); err != nil {
		return err
	}
	if inner, ok := c.in.members.named("request"); ok && c.rt.unwrapRequest && inner.typeName() == "object" {
		ms, err := inner.members("request")
		if err != nil {
			return err
		}
		c.in.members.delete("request")
		for k, v := range ms.all() {
			if _, ok := c.in.members.named(k); !ok {
				c.in.members.set(k, v)
			}
		}
	}
	return nil
}

// bodyError returns the error for a body that could not be read.
func (c *call) bodyError(err error, what string) error {
	var big *http.MaxBytesError
	switch {
	case errors.As(err, &big), err == errHeld:
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &statusError{http.StatusRequestTimeout, "REQUEST_TIMEOUT", "the body did not arrive in time"}
	}
	return bad(fault.KindInvalid, "body", "%s", what)
}

// smallBody is the size up to which the strings of a body share one copy of it. Keeping one string keeps at most so many bytes in memory.
const smallBody = 2 << 10

// parseObject parses a JSON object and checks its bounds. It uses into, or a new object if into is nil or the object is large. Errors name the field.
func parseObject(field string, b []byte, depth int, into *members) (*members, error) {
	b = bytes.TrimSpace(b)
	if depth < 1 || !isFlatObject(b) {
		if err := checkJSON(field, b, depth); err != nil {
			return nil, err
		}
		if !json.Valid(b) {
			return nil, bad(fault.KindInvalid, field, "is not valid JSON")
		}
	}
	m := member{json: b}
	if len(b) <= smallBody {
		m.raw = string(b)
	}
	return m.membersInto(field, into)
}

// checkJSON checks JSON before it is decoded. It returns an error for too deep nesting, invalid UTF-8 and escaped NUL.
func checkJSON(field string, b []byte, limit int) error {
	if !utf8.Valid(b) {
		return bad(fault.KindInvalid, field, "is not valid UTF-8")
	}
	depth, inString := 0, false
	for i := 0; i < len(b); i++ {
		switch ch := b[i]; {
		case inString && ch == '\\':
			if bytes.HasPrefix(b[i:], []byte(`\u0000`)) {
				return bad(fault.KindInvalid, field, "holds a NUL character")
			}
			i++
		case ch == '"':
			inString = !inString
		case inString:
		case ch == '{' || ch == '[':
			if depth++; depth > limit {
				return bad(fault.KindInvalid, field, "is nested deeper than %d levels", limit)
			}
		case ch == '}' || ch == ']':
			depth--
		}
	}
	return nil
}

func checkString(field, s string) error {
	if !utf8.ValidString(s) {
		return bad(fault.KindInvalid, field, "is not valid UTF-8")
	}
	if strings.IndexByte(s, 0) >= 0 {
		return bad(fault.KindInvalid, field, "holds a NUL character")
	}
	return nil
}

// reconcile renames the scope fields to their canonical names before any checks. It returns an error if two names of a field have different values.
func (in *input) reconcile(list []alias) error {
	for _, a := range list {
		v, ok := in.members.get(a.alias)
		if !ok {
			continue
		}
		if have, ok := in.members.get(a.canonical); ok && !have.same(v) {
			return &statusError{http.StatusBadRequest, "INVALID_PARAMETERS", fmt.Sprintf("field %q: differs from %s: they are names of one field", a.alias, a.canonical)}
		}
		in.set(a.canonical, v)
		in.members.delete(a.alias)
		if a.deprecated {
			in.deprecated = append(in.deprecated, a)
		}
	}
	return nil
}
