package httpapi

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/wire"
)

// document is the part of an OpenAPI document that the tests read.
type document struct {
	Paths      map[string]map[string]operation `json:"paths"`
	Components struct {
		Schemas map[string]map[string]any `json:"schemas"`
	} `json:"components"`
}

type operation struct {
	OperationID string      `json:"operationId"`
	Summary     string      `json:"summary"`
	Deprecated  bool        `json:"deprecated"`
	Parameters  []parameter `json:"parameters"`
	RequestBody struct {
		Content map[string]media `json:"content"`
	} `json:"requestBody"`
	Responses map[string]struct {
		Content map[string]media `json:"content"`
	} `json:"responses"`
}

type parameter struct {
	Name string `json:"name"`
	In   string `json:"in"`
}

type media struct {
	Schema map[string]any `json:"schema"`
}

func readDocument(t *testing.T, name string) *document {
	t.Helper()
	b, err := os.ReadFile("openapi/" + name + ".json")
	require.NoError(t, err)
	var d document
	require.NoError(t, json.Unmarshal(b, &d))
	return &d
}

// documents returns both documents. The key is true for the first generation.
func documents(t *testing.T) map[bool]*document {
	t.Helper()
	return map[bool]*document{true: readDocument(t, "v1"), false: readDocument(t, "v2")}
}

func TestOpenAPICoversTheRoutes(t *testing.T) {
	t.Parallel()
	docs := documents(t)
	for gen, d := range docs {
		ids := map[string]bool{}
		for path, ops := range d.Paths {
			for method, op := range ops {
				i := slices.IndexFunc(routes, func(r route) bool {
					return r.path == path && strings.EqualFold(r.method, method) && (r.family == gen1) == gen
				})
				if !assert.GreaterOrEqual(t, i, 0, "%s %s is documented but no route", method, path) {
					continue
				}
				assert.Equal(t, routes[i].family == aliases, op.Deprecated, path)
				assert.NotEmpty(t, op.Summary, path)
				assert.False(t, ids[op.OperationID], "%s stands twice", op.OperationID)
				ids[op.OperationID] = true
				for _, m := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(path, -1) {
					assert.Contains(t, op.Parameters, parameter{m[1], "path"}, path)
				}
			}
		}
	}
	for _, r := range routes {
		_, ok := docs[r.family == gen1].Paths[r.path][strings.ToLower(r.method)]
		assert.True(t, ok, "%s %s is not documented", r.method, r.path)
	}
}

func TestOpenAPIIsServed(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	for _, path := range []string{"/openapi.json", "/v2/openapi.json"} {
		t.Run(path, func(t *testing.T) {
			w := f.do(t, http.MethodGet, path, "")
			require.Equal(t, http.StatusOK, w.Code)
			require.Equal(t, "application/json; charset=utf-8", w.Header().Get("Content-Type"))
			var d document
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &d))
			require.NotEmpty(t, d.Paths)
		})
	}
}

// TestTranscriptsFitOpenAPI checks the response of every transcript, and each successful request, against the
// documents.
func TestTranscriptsFitOpenAPI(t *testing.T) {
	t.Parallel()
	docs := documents(t)
	mux := routeMux()
	checked := 0
	for _, file := range transcriptFiles(t) {
		_, list := readTranscript(t, file)
		for _, x := range list {
			i := slices.IndexFunc(routes, func(r route) bool { return r.method+" "+r.path == x.routeOf(t, mux) })
			if i < 0 {
				continue
			}
			r := &routes[i]
			d := docs[r.family == gen1]
			op := d.Paths[r.path][strings.ToLower(r.method)]
			at := file + ": " + x.name
			res, ok := op.Responses[fmt.Sprint(x.status(t))]
			if assert.True(t, ok, "%s: the status is not documented", at) {
				assert.NoError(t, d.check(res.Content["application/json"].Schema, x.body(t), "response"), at)
			}
			if x.status(t) < 300 {
				d.checkRequest(t, &op, &x, at)
			}
			checked++
		}
	}
	require.Greater(t, checked, 2*len(routes))
}

// checkRequest checks query parameters and the body of a successful request.
func (d *document) checkRequest(t *testing.T, op *operation, x *exchange, at string) {
	t.Helper()
	r := new(fixture).build(t, variable.ReplaceAllString(x.request, "x"))
	for name := range r.URL.Query() {
		assert.Contains(t, op.Parameters, parameter{name, "query"}, "%s: %s is not documented", at, name)
	}
	mt, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil { // no body
		return
	}
	content, ok := op.RequestBody.Content[mt]
	if !ok && mt == "application/json" && len(op.RequestBody.Content) == 0 { // what the query string says may stand in a body
		return
	}
	require.True(t, ok, "%s: a body of type %s is not documented", at, mt)
	if mt == "application/json" {
		var body any
		dec := json.NewDecoder(r.Body)
		dec.UseNumber()
		require.NoError(t, dec.Decode(&body))
		assert.NoError(t, d.check(content.Schema, body, "request"), at)
		assert.NoError(t, known(content.Schema, body), at)
		return
	}
	if mt == "application/x-www-form-urlencoded" {
		require.NoError(t, r.ParseForm())
		fields := map[string]any{}
		for k := range r.PostForm {
			fields[k] = nil
		}
		assert.NoError(t, known(content.Schema, fields), at)
		return
	}
	form, err := multipart.NewReader(r.Body, params["boundary"]).ReadForm(1 << 20)
	require.NoError(t, err)
	defer func() { assert.NoError(t, form.RemoveAll()) }()
	fields := map[string]any{}
	for k := range form.Value {
		fields[k] = nil
	}
	for k := range form.File {
		fields[k] = nil
	}
	assert.NoError(t, known(content.Schema, fields), at)
}

// known returns an error for members of an object that its schema does not name.
func known(schema map[string]any, v any) error {
	props, _ := schema["properties"].(map[string]any)
	m, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("want an object, got %T", v)
	}
	for k := range m {
		if _, ok := props[k]; !ok && schema["additionalProperties"] != true {
			return fmt.Errorf("%s is not documented", k)
		}
	}
	return nil
}

// check returns an error if v does not match the schema: $ref, anyOf, type, const, enum, required, properties,
// additionalProperties and items. The text "*" matches everything.
func (d *document) check(schema map[string]any, v any, at string) error {
	if v == "*" || len(schema) == 0 {
		return nil
	}
	if ref, ok := schema["$ref"].(string); ok {
		s, ok := d.Components.Schemas[strings.TrimPrefix(ref, "#/components/schemas/")]
		if !ok {
			return fmt.Errorf("%s: %s is not in the document", at, ref)
		}
		return d.check(s, v, at)
	}
	if alternatives, ok := schema["anyOf"].([]any); ok {
		var last error
		for _, s := range alternatives {
			if last = d.check(s.(map[string]any), v, at); last == nil {
				return nil
			}
		}
		return last
	}
	if c, ok := schema["const"]; ok && c != v {
		return fmt.Errorf("%s: want %v, got %v", at, c, v)
	}
	if enum, ok := schema["enum"].([]any); ok && v != nil && !slices.Contains(enum, v) {
		return fmt.Errorf("%s: %v is not one of %v", at, v, enum)
	}
	if err := checkType(schema["type"], v, at); err != nil {
		return err
	}
	switch x := v.(type) {
	case map[string]any:
		return d.checkObject(schema, x, at)
	case []any:
		items, _ := schema["items"].(map[string]any)
		for i, e := range x {
			if err := d.check(items, e, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *document) checkObject(schema map[string]any, m map[string]any, at string) error {
	required, _ := schema["required"].([]any)
	for _, k := range required {
		if _, ok := m[k.(string)]; !ok {
			return fmt.Errorf("%s: %s is missing", at, k)
		}
	}
	props, _ := schema["properties"].(map[string]any)
	further, open := schema["additionalProperties"].(map[string]any)
	if anything, ok := schema["additionalProperties"].(bool); ok {
		open = anything
	}
	for k, e := range m {
		s, ok := props[k].(map[string]any)
		switch {
		case ok:
		case open:
			s = further
		case at == "request": // known looks at these
			continue
		default:
			return fmt.Errorf("%s: %s is not documented", at, k)
		}
		if err := d.check(s, e, at+"."+k); err != nil {
			return err
		}
	}
	return nil
}

func checkType(want, v any, at string) error {
	var types []any
	switch x := want.(type) {
	case nil:
		return nil
	case string:
		types = []any{x}
	case []any:
		types = x
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	got := member{json: b}.typeName()
	if n, ok := v.(json.Number); ok {
		if _, err := n.Int64(); err == nil && slices.Contains(types, any("integer")) {
			return nil
		}
	}
	if !slices.Contains(types, any(got)) {
		return fmt.Errorf("%s: want %v, got %s", at, types, got)
	}
	return nil
}

func TestSchemaCheckerRefuses(t *testing.T) {
	t.Parallel()
	d := &document{}
	d.Components.Schemas = map[string]map[string]any{"A": {"type": "object", "required": []any{"x"}, "properties": map[string]any{"x": map[string]any{"type": []any{"integer", "null"}}}}}
	ref := map[string]any{"$ref": "#/components/schemas/A"}
	require.NoError(t, d.check(ref, map[string]any{"x": json.Number("1")}, ""))
	require.NoError(t, d.check(ref, map[string]any{"x": nil}, ""))
	for _, v := range []any{nil, []any{}, map[string]any{}, map[string]any{"x": "1"}, map[string]any{"x": json.Number("1.5")}, map[string]any{"x": nil, "y": nil}} {
		require.Error(t, d.check(ref, v, ""), "%v", v)
	}
	require.Error(t, d.check(map[string]any{"enum": []any{"a"}}, "b", ""))
	require.Error(t, d.check(map[string]any{"type": "array", "items": ref}, []any{json.Number("1")}, ""))
	require.Error(t, d.check(map[string]any{"$ref": "#/components/schemas/B"}, nil, ""))
}

// filled returns a value of T with every field set. Lists and maps have one member.
func filled[T any]() T {
	var v T
	fill(reflect.ValueOf(&v).Elem(), 0)
	return v
}

func fill(v reflect.Value, depth int) {
	if depth > 8 || !v.CanSet() {
		return
	}
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)))
		return
	case map[string]any:
		v.Set(reflect.ValueOf(map[string]any{"k": "v"}))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth+1)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), depth+1)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth+1)
	case reflect.Map:
		e := reflect.New(v.Type().Elem()).Elem()
		fill(e, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("k").Convert(v.Type().Key()), e)
	}
}

// TestOpenAPIHoldsWhatEncodersEmit encodes values with all fields set and with none. The documents must name every
// member of an answer, and allow null or absent members where they occur.
func TestOpenAPIHoldsWhatEncodersEmit(t *testing.T) {
	t.Parallel()
	docs := documents(t)
	c := &call{api: &api{o: Options{Logger: slog.New(slog.DiscardHandler)}}, rt: &route{family: gen2}}
	item := filled[contextmem.IngestItem]()
	item.Status, item.Err, item.Skipped = contextmem.StatusFailed, constError("x"), contextmem.SkippedUnchanged
	status := filled[contextmem.ItemStatus]()
	status.Status = contextmem.StatusErrored
	delivery := filled[contextmem.Delivery]()
	delivery.Status = contextmem.DeliveryFailed
	source := filled[contextmem.SourceInfo]()
	first := filled[contextmem.Result]()
	first.Temporal = nil // the first generation does not ask for it
	for _, x := range []struct {
		route string // method and path, the answer; or a schema
		v     any
	}{
		{"POST /recall/full_recall", resultJSON(&contextmem.Result{}, gen1)},
		{"POST /recall/full_recall", resultJSON(&first, gen1)},
		{"POST /recall/boolean_recall", resultJSON(&contextmem.Result{}, gen1)},
		{"POST /recall/recall_preferences", resultJSON(&first, gen1)},
		{"POST /query", resultJSON(&contextmem.Result{}, gen2)},
		{"POST /query", resultJSON(new(filled[contextmem.Result]()), gen2)},
		{"POST /fetch/content", fetchedJSON(new(filled[contextmem.Fetched]()), contextmem.FetchBoth)},
		{"POST /fetch/content", fetchedJSON(&contextmem.Fetched{Class: contextmem.ClassMemory}, contextmem.FetchURL)},
		{"GET /context/inspect", fetchedJSON(new(filled[contextmem.Fetched]()), contextmem.FetchBoth)},
		{"GET /context/inspect", fetchedJSON(&contextmem.Fetched{Class: contextmem.ClassMemory}, contextmem.FetchURL)},
		{"POST /memories/add_memory", c.ingestJSON(&contextmem.IngestResult{Items: []contextmem.IngestItem{item}}, "x")},
		{"POST /ingestion/upload_knowledge", c.ingestJSON(&contextmem.IngestResult{Items: []contextmem.IngestItem{{Status: contextmem.StatusQueued}, item}}, "x")},
		{"POST /context/ingest", c.ingestJSON(&contextmem.IngestResult{Items: []contextmem.IngestItem{{Status: contextmem.StatusQueued}, item}}, "x")},
		{"v1 Status", statusJSON(status, gen1)},
		{"v2 Status", statusJSON(status, gen2)},
		{"v1 MemoryRow", wire.OfMemory("acme", &source)},
		{"v2 MemoryRow", wire.OfMemory("acme", &contextmem.SourceInfo{})},
		{"v1 Source", rowJSON("acme", &source, nil)},
		{"v2 Source", rowJSON("acme", &source, append([]string{"title"}, listFields...))},
		{"v2 Source", rowJSON("acme", &contextmem.SourceInfo{}, nil)},
		{"v1 RelationGroup", groupsJSON([]contextmem.RelationGroup{filled[contextmem.RelationGroup]()})[0]},
		{"v2 RelationGroup", groupsJSON([]contextmem.RelationGroup{{Relations: []contextmem.Evidence{{}}}})[0]},
		{"v2 Delivery", deliveryJSON(delivery)},
		{"v2 Delivery", deliveryJSON(contextmem.Delivery{Status: contextmem.DeliveryPending})},
		{"v2 Connector", connectorJSON(filled[contextmem.Connector]())},
		{"v2 ConnectorResource", resourceJSON(filled[contextmem.ConnectorResource]())},
		{"v2 ConnectorResource", resourceJSON(contextmem.ConnectorResource{})},
		{"POST /webhooks/indexing", webhookJSON(filled[contextmem.Webhook](), "x")},
		{"GET /webhooks/indexing", webhookJSON(contextmem.Webhook{}, "x")},
	} {
		t.Run(x.route, func(t *testing.T) {
			b, err := marshal(x.v)
			require.NoError(t, err, x.route)
			method, path, _ := strings.Cut(x.route, " ")
			if method == "v1" || method == "v2" {
				assert.NoError(t, docs[method == "v1"].check(map[string]any{"$ref": "#/components/schemas/" + path}, decodeAny(t, b), path), x.route)
				return
			}
			i := slices.IndexFunc(routes, func(r route) bool { return r.method+" "+r.path == x.route })
			require.GreaterOrEqual(t, i, 0, x.route)
			r := &routes[i]
			code := max(r.status, http.StatusOK)
			d := docs[r.family == gen1]
			schema := d.Paths[r.path][strings.ToLower(method)].Responses[fmt.Sprint(code)].Content["application/json"].Schema
			if r.family == gen2 || r.family == webhooks {
				schema = schema["properties"].(map[string]any)["data"].(map[string]any)
			}
			assert.NoError(t, d.check(schema, decodeAny(t, b), "response"), x.route)
		})
	}
}
