package httpapi

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// schemaOf is a JSON schema.
type schemaOf map[string]any

// readSchemas holds the schemas of types that implement reader.
var readSchemas = map[reflect.Type]func() schemaOf{
	reflect.TypeFor[object]():    func() schemaOf { return schemaOf{"type": "object", "additionalProperties": true} },
	reflect.TypeFor[metadata]():  func() schemaOf { return schemaOf{"type": "object", "additionalProperties": true} },
	reflect.TypeFor[filterMap](): func() schemaOf { return schemaOf{"type": "object", "additionalProperties": true} },
	reflect.TypeFor[related]():   func() schemaOf { return schemaOf{"type": "object", "additionalProperties": true} },
	reflect.TypeFor[moment]():    timeSchema,
	reflect.TypeFor[clock]():     timeSchema,
	reflect.TypeFor[day]():       func() schemaOf { return schemaOf{"type": "string", "format": "date"} },
}

// elementsRead holds the element types of lists that implement reader.
var elementsRead = map[reflect.Type]reflect.Type{reflect.TypeFor[pairs](): reflect.TypeFor[pairItem](), reflect.TypeFor[turns](): reflect.TypeFor[turnItem](),
	reflect.TypeFor[memoryItems](): reflect.TypeFor[memoryItem](), reflect.TypeFor[schemaEntries](): reflect.TypeFor[schemaEntry]()}

// pairItem describes an element of user_assistant_pairs.
type pairItem struct {
	User      string `json:"user"`
	Assistant string `json:"assistant"`
}

func timeSchema() schemaOf { return schemaOf{"type": "string", "format": "date-time"} }

func listSchema(t reflect.Type) schemaOf { return schemaOf{"type": "array", "items": typeSchema(t)} }

// typeSchema returns the schema of a type in requests or responses.
func typeSchema(t reflect.Type) schemaOf {
	if f := readSchemas[t]; f != nil {
		return f()
	}
	if e := elementsRead[t]; e != nil {
		return listSchema(e)
	}
	switch t.Kind() {
	case reflect.Pointer:
		s := typeSchema(t.Elem())
		if name, ok := s["type"].(string); ok {
			s["type"] = []string{name, "null"}
		}
		return s
	case reflect.String:
		return schemaOf{"type": "string"}
	case reflect.Bool:
		return schemaOf{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return schemaOf{"type": "integer"}
	case reflect.Float64:
		return schemaOf{"type": "number"}
	case reflect.Slice:
		return listSchema(t.Elem())
	case reflect.Map, reflect.Interface:
		return schemaOf{"type": "object", "additionalProperties": true}
	}
	props := schemaOf{}
	addFields(props, t)
	return schemaOf{"type": "object", "properties": props}
}

// addFields adds the members of a struct, including those of embedded structs.
func addFields(props schemaOf, t reflect.Type) {
	for f := range fieldsOf(t) {
		s := typeSchema(f.Type)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if v := f.Tag.Get("default"); v != "" {
			s["default"] = constant(v)
		}
		if v := f.Tag.Get("oneof"); v != "" {
			s["enum"] = strings.Split(v, ",")
		}
		if lo, hi, ok := strings.Cut(f.Tag.Get("range"), ","); ok {
			s["minimum"] = constant(lo)
			if hi != "" {
				s["maximum"] = constant(hi)
			}
		}
		if f.Tag.Get("need") == "text" {
			s["minLength"] = 1
		}
		props[name] = s
		if also := f.Tag.Get("also"); also != "" {
			for other := range strings.SplitSeq(also, ",") {
				again := maps.Clone(s)
				again["description"] = "Another name of " + name + "."
				props[other] = again
			}
		}
	}
}

// fieldsOf yields the fields of a struct that have a name in JSON.
func fieldsOf(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			f := t.Field(i)
			switch {
			case f.Anonymous && f.Tag.Get("json") == "" && f.Type.Kind() == reflect.Struct:
				for inner := range fieldsOf(f.Type) {
					if !yield(inner) {
						return
					}
				}
			case f.Tag.Get("json") != "" && f.Tag.Get("json") != "-":
				if !yield(f) {
					return
				}
			}
		}
	}
}

// constant converts the value of a tag to JSON.
func constant(s string) any {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	if b, err := strconv.ParseBool(s); err == nil {
		return b
	}
	return s
}

// extensionDocument describes the extensions.
func extensionDocument() map[string]any {
	paths, refused := map[string]map[string]any{}, map[string]any{"$ref": "#/components/responses/Error"}
	for i := range extensions {
		x := &extensions[i]
		props, required := schemaOf{}, []string{}
		named := strings.Contains(x.path, "{database}")
		if !x.wholeOrg && !named {
			props["database"], required = schemaOf{"type": "string", "minLength": 1, "description": "Database to work in."}, []string{"database"}
		}
		if !x.wholeOrg && !named && !strings.HasSuffix(x.path, "/databases") {
			props["collection"] = schemaOf{"type": "string", "description": "Collection to work in; default the database's own."}
		}
		addFields(props, reflect.TypeOf(x.in))
		for f := range fieldsOf(reflect.TypeOf(x.in)) {
			if f.Tag.Get("need") != "" {
				required = append(required, f.Tag.Get("json"))
			}
		}
		op := map[string]any{"operationId": "ext" + strings.ToUpper(x.method[:1]) + strings.ToLower(x.method[1:]) + operationName(x.path), "summary": x.summary}
		var params []map[string]any
		for part := range strings.SplitSeq(x.path, "/") {
			if name, ok := strings.CutPrefix(part, "{"); ok {
				params = append(params, map[string]any{"name": strings.TrimSuffix(name, "}"), "in": "path", "required": true, "schema": schemaOf{"type": "string"}})
			}
		}
		if x.body == bodyNone {
			for _, name := range slices.Sorted(maps.Keys(props)) {
				params = append(params, map[string]any{"name": name, "in": "query", "required": slices.Contains(required, name), "schema": props[name]})
			}
		} else {
			op["requestBody"] = map[string]any{"required": true, "content": jsonContent(schemaOf{"type": "object", "properties": props, "required": required})}
		}
		if params != nil {
			op["parameters"] = params
		}
		code := strconv.Itoa(max(x.status, http.StatusOK))
		op["responses"] = map[string]any{
			code: map[string]any{"description": "Success.", "content": jsonContent(schemaOf{"type": "object", "properties": schemaOf{"data": typeSchema(reflect.TypeOf(x.out)),
				"error": schemaOf{"type": "null"}, "meta": schemaOf{"type": "object", "additionalProperties": true}, "success": schemaOf{"type": "boolean"}}})},
			"4XX": refused, "default": refused,
		}
		if paths[x.path] == nil {
			paths[x.path] = map[string]any{}
		}
		paths[x.path][strings.ToLower(x.method)] = op
	}
	return map[string]any{"openapi": "3.1.0", "info": map[string]any{"title": "contextmem, extensions", "version": openAPIVersion, "license": map[string]any{"name": "Apache-2.0", "identifier": "Apache-2.0"}},
		"servers": []any{map[string]any{"url": "/"}}, "security": []any{map[string]any{"key": []string{}}}, "paths": paths,
		"components": map[string]any{"securitySchemes": map[string]any{"key": map[string]any{"type": "http", "scheme": "bearer"}},
			"responses": map[string]any{"Error": errorResponse()}}}
}

// errorResponse describes the response of a failed call.
func errorResponse() map[string]any {
	return map[string]any{"description": "An error in the shape of the second generation.", "content": jsonContent(schemaOf{"type": "object", "properties": schemaOf{
		"data": schemaOf{"type": "null"}, "error": schemaOf{"type": "object", "properties": schemaOf{"code": schemaOf{"type": "string"}, "message": schemaOf{"type": "string"}}},
		"message": schemaOf{"type": "string"}, "meta": schemaOf{"type": "object", "additionalProperties": true}, "success": schemaOf{"type": "boolean"}}})}
}

func jsonContent(s schemaOf) map[string]any {
	return map[string]any{"application/json": map[string]any{"schema": s}}
}

// operationName converts a path to a part of an operation id.
func operationName(path string) (name string) {
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "/ext/"), "/") {
		part = strings.Trim(part, "{}")
		for word := range strings.SplitSeq(part, "_") {
			name += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return name
}

// serveExtensions serves the OpenAPI document of the extensions, which is built at the first request.
func serveExtensions() http.HandlerFunc {
	document := sync.OnceValues(func() ([]byte, error) { return marshal(extensionDocument()) })
	return func(w http.ResponseWriter, _ *http.Request) {
		b, err := document()
		if err != nil {
			http.Error(w, "not found", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = w.Write(b)
	}
}
